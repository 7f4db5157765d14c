// Exact search on a GPU: estimates of all cosines in half precision, and exact scores of the few targets that may be
// among the best.
//
// The estimate of a cosine is the product of two unit vectors rounded to half precision, accumulated in single
// precision. `search.rs` says what the largest error of an estimate is and how the bounds follow from it. No score
// leaves the registers unless it reaches a threshold.
//
// Compiled by NVRTC, which has no headers of its own: everything is defined here. What depends on the card and on the rows
// comes from outside (`program.rs`): PADDED is the number of coordinates of a row, STREAMED is 1 where the rows of a tile
// are too long to stay in shared memory, STAGES is the number of steps that are in shared memory at a time, WAITING that
// of candidates that wait there to be written, and HOPPER is 1 where groups of four warps multiply out of shared memory.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

// A block of threads multiplies ROWS rows by COLUMNS columns at a time, DEPTH coordinates a step.
#define ROWS 256
#define COLUMNS 128
#define DEPTH 64
#define THREADS 256
// Columns that share a maximum.
#define GROUP 64

#define STEPS ((PADDED + DEPTH - 1) / DEPTH)
// Coordinates of the last step, in sixteens.
#define LAST_DEPTH ((PADDED - (STEPS - 1) * DEPTH) / 16)
#define ROW_BYTES (DEPTH * 2)
#define ROWS_STEP_BYTES (ROWS * ROW_BYTES)
#define COLUMNS_STEP_BYTES (COLUMNS * ROW_BYTES)

#define MINUS_INFINITY __int_as_float(0xff800000)

extern __shared__ __align__(1024) unsigned char memory[];

// ---------------------------------------------------------------------------------------------------------------------
// Rows

__device__ __forceinline__ u16 half_of(float x) {
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
}

__device__ __forceinline__ float float_of(u16 half) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
    return x;
}

__device__ __forceinline__ double sum_of_warp(double x) {
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    return x;
}

// Rounds unit vectors to half precision, with zeros at the end.
// `lengths` are those of the vectors times their factors, `residuals` the lengths of what rounding leaves out.
extern "C" __global__ void round_rows(const float *values, const double *factors, u32 count, u32 dim, u16 *halves,
                                      double *lengths, float *residuals) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    u16 *rounded = halves + row * PADDED;
    if (row >= count) return;
    const float *vector = values + row * dim;
    double square = 0.0;
    for (u32 at = lane; at < dim; at += 32) square += (double)vector[at] * vector[at];
    double length = sqrt(sum_of_warp(square));
    double inverse = length > 0.0 ? 1.0 / length : 0.0, lost = 0.0;
    for (u32 at = lane; at < PADDED; at += 32) {
        double exact = at < dim ? vector[at] * inverse : 0.0;
        u16 half = half_of((float)exact);
        double left = exact - float_of(half);
        lost += left * left;
        rounded[at] = half;
    }
    lost = sum_of_warp(lost);
    if (lane == 0) {
        lengths[row] = length * factors[row];
        residuals[row] = __double2float_ru(sqrt(lost) * 1.000001);
    }
}

// Bounds of the biases of targets. ROUNDING is larger than all roundings to single precision together, TINY covers
// numbers that have fewer digits.
#define ROUNDING 0x1p-20
#define TINY 1e-34
extern "C" __global__ void bounds_of_targets(const double *exact_lengths, const double *bias, u32 count, float *lengths,
                                             float *lower, float *upper) {
    u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count) return;
    double own = bias[row], margin = ROUNDING * fabs(own) + TINY;
    bool is_excluded = own == (double)MINUS_INFINITY;
    lengths[row] = (float)exact_lengths[row];
    lower[row] = is_excluded ? MINUS_INFINITY : __double2float_rd(own - margin);
    upper[row] = is_excluded ? MINUS_INFINITY : __double2float_ru(own + margin);
}

// What the biases of targets are multiplied by where scores are divided by the lengths of queries.
extern "C" __global__ void inverses_of_queries(const double *lengths, const u32 *list, u32 first, u32 count,
                                               double scale, float *inverses) {
    u64 row = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (row < count) inverses[row] = (float)(1.0 / (scale * lengths[list ? list[row] : first + row]));
}

// ---------------------------------------------------------------------------------------------------------------------
// Products of tiles

__device__ __forceinline__ u32 shared_address(const void *pointer) { return (u32)__cvta_generic_to_shared(pointer); }

__device__ __forceinline__ void copy_16_bytes(u32 to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void end_of_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int PENDING> __device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// Where 16 bytes of a row are: rotated by the row, so that the eight rows of a matrix are in different banks.
__device__ __forceinline__ u32 swizzled(u32 row, u32 unit) { return row * ROW_BYTES + ((unit ^ (row & 7)) << 4); }

#if HOPPER

// A group of four warps owns 128 rows and all columns, as two blocks of 64 rows. A thread has two rows of each block.
#define BLOCKS 2
#define PAIRS 16

__device__ __forceinline__ u32 row_of_thread(u32 at) {
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp / 4 * 128 + at / 2 * 64 + warp % 4 * 16 + at % 2 * 8 + lane / 4;
}
__device__ __forceinline__ u32 first_column_of_thread() { return threadIdx.x % 4 * 2; }
__device__ __forceinline__ u32 first_group_of_thread() { return 0; }

// What the tensor cores read: rows of 128 bytes, swizzled, eight of them every 1,024 bytes.
__device__ __forceinline__ u64 descriptor(u32 address) {
    return (u64)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define SUMS_4(i) "+f"(sum[i][0]), "+f"(sum[i][1]), "+f"(sum[i][2]), "+f"(sum[i][3])
__device__ __forceinline__ void multiply(float (&sum)[PAIRS][4], u64 rows, u64 columns, u32 is_added) {
    asm volatile("{\n.reg .pred added;\nsetp.ne.u32 added, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, added, 1, 1, 0, 0;\n}\n"
                 : SUMS_4(0), SUMS_4(1), SUMS_4(2), SUMS_4(3), SUMS_4(4), SUMS_4(5), SUMS_4(6), SUMS_4(7), SUMS_4(8),
                   SUMS_4(9), SUMS_4(10), SUMS_4(11), SUMS_4(12), SUMS_4(13), SUMS_4(14), SUMS_4(15)
                 : "l"(rows), "l"(columns), "r"(is_added));
}

template <int PENDING> __device__ __forceinline__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// Begins to multiply a step; what was begun before the last one is complete afterwards.
template <u32 OF_STEP>
__device__ __forceinline__ void multiply_step(float (&sums)[BLOCKS][PAIRS][4], u32 rows, u32 columns, bool is_first) {
    u32 group_rows = rows + threadIdx.x / 128 * 128 * ROW_BYTES;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (u32 inner = 0; inner < OF_STEP; inner++)
#pragma unroll
        for (u32 block = 0; block < BLOCKS; block++)
            multiply(sums[block], descriptor(group_rows + block * 64 * ROW_BYTES + inner * 32),
                     descriptor(columns + inner * 32), !is_first || inner > 0);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    wait_for_products<1>();
}
// Sums are not read before all products are complete.
__device__ __forceinline__ void finish_products(float (&sums)[BLOCKS][PAIRS][4]) {
    wait_for_products<0>();
#pragma unroll
    for (u32 at = 0; at < BLOCKS * PAIRS * 4; at++)
        asm volatile("" : "+f"(sums[at / 4 / PAIRS][at / 4 % PAIRS][at % 4])::"memory");
}
// Copies are visible to the tensor cores after it.
__device__ __forceinline__ void publish_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// The step before the last one may still be read.
#define LEAD (STAGES - 2)

#else

// A warp owns 64 rows and 64 columns, as four blocks of 16 rows. A thread has two rows of each block.
#define BLOCKS 4
#define PAIRS 8

__device__ __forceinline__ u32 row_of_thread(u32 at) {
    return threadIdx.x / 32 % 4 * 64 + at / 2 * 16 + at % 2 * 8 + threadIdx.x % 32 / 4;
}
__device__ __forceinline__ u32 first_column_of_thread() { return threadIdx.x / 128 * 64 + threadIdx.x % 4 * 2; }
__device__ __forceinline__ u32 first_group_of_thread() { return threadIdx.x / 128; }

__device__ __forceinline__ void load_matrices(u32 (&to)[4], u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&sum)[4], const u32 (&rows)[4], u32 low, u32 high) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(low), "r"(high));
}

// Sixteen coordinates of the rows and columns of a warp.
struct Fragments {
    u32 rows[4][4];
    u32 columns[4][4];
};

__device__ __forceinline__ void load_fragments(Fragments &to, u32 rows, u32 columns, u32 inner) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (u32 block = 0; block < 4; block++) {
        u32 row = warp % 4 * 64 + block * 16 + lane % 16, column = warp / 4 * 64 + block * 16 + lane % 8 + lane / 16 * 8;
        load_matrices(to.rows[block], rows + swizzled(row, inner * 2 + lane / 16));
        load_matrices(to.columns[block], columns + swizzled(column, inner * 2 + lane / 8 % 2));
    }
}

// Multiplies a step; fragments are loaded while those before them are multiplied.
template <u32 OF_STEP>
__device__ __forceinline__ void multiply_step(float (&sums)[BLOCKS][PAIRS][4], u32 rows, u32 columns, bool is_first) {
    if (is_first) {
#pragma unroll
        for (u32 at = 0; at < BLOCKS * PAIRS * 4; at++) sums[at / 4 / PAIRS][at / 4 % PAIRS][at % 4] = 0.0f;
    }
    Fragments fragments[2];
    load_fragments(fragments[0], rows, columns, 0);
#pragma unroll
    for (u32 inner = 0; inner < OF_STEP; inner++) {
        if (inner + 1 < OF_STEP) load_fragments(fragments[(inner + 1) % 2], rows, columns, inner + 1);
        const Fragments &own = fragments[inner % 2];
#pragma unroll
        for (u32 block = 0; block < BLOCKS; block++)
#pragma unroll
            for (u32 pair = 0; pair < PAIRS; pair++)
                multiply(sums[block][pair], own.rows[block], own.columns[pair / 2][pair % 2 * 2],
                         own.columns[pair / 2][pair % 2 * 2 + 1]);
    }
}
__device__ __forceinline__ void finish_products(float (&)[BLOCKS][PAIRS][4]) {}
__device__ __forceinline__ void publish_copies() {}
#define LEAD (STAGES - 1)

#endif

// Rows of a thread, and groups of columns.
#define ROWS_OF_THREAD (2 * BLOCKS)
#define GROUPS_OF_THREAD (PAIRS * 8 / GROUP)

// The columns of a search, the targets. The score of an estimate `e`, divided by the length of the row, is between
// `length (e - error) + lower inverse` and `length (e + error) + upper inverse`, where `inverse` is of the row.
struct Targets {
    const u16 *halves;
    const float *lengths;
    const float *lower;
    const float *upper;
    u32 count;
    float error;
};

__device__ __forceinline__ float bound_of(float estimate, float error, float length, float bias, float inverse) {
    return fmaf(bias, inverse, (estimate + error) * length);
}

// The rows of a search: those of a list, or `count` rows from `first` on, a multiple of ROWS. Thresholds, inverses and
// what is found are in this order.
struct Queries {
    const u16 *halves;
    const u32 *list;
    u32 first;
    u32 count;
    const float *inverses;
};

// Copies a step of COUNT rows, `pitch` numbers apart, or of those of a list from `first` on.
template <u32 COUNT>
__device__ __forceinline__ void copy_step(u32 to, const u16 *halves, u64 pitch, u32 step, const u32 *list = 0,
                                          u32 first = 0, u32 listed = 0) {
    u32 unit = threadIdx.x % (DEPTH / 8), row = threadIdx.x / (DEPTH / 8);
    if (step == STEPS - 1 && unit >= LAST_DEPTH * 2) return;
    const u16 *from = halves + step * DEPTH + unit * 8;
#pragma unroll
    for (u32 at = 0; at < COUNT; at += THREADS / (DEPTH / 8)) {
        u64 source = list ? list[min(first + row + at, listed - 1)] : row + at;
        copy_16_bytes(to + swizzled(row + at, unit), from + source * pitch);
    }
}

struct Candidate {
    float estimate;
    u32 index;
};

// What has been found for the rows of one side: for row `i`, `counts[i]` candidates, of which `capacity` are kept.
struct Lists {
    Candidate *candidates;
    u32 *counts;
    u32 capacity;
};

__device__ __forceinline__ void append(const Lists &lists, u64 row, float estimate, u32 index) {
    u32 at = atomicAdd(lists.counts + row, 1);
    if (at < lists.capacity) lists.candidates[row * lists.capacity + at] = {estimate, index};
}

// Which estimates are kept. One way, the upper bound of a score must reach the threshold of the row. Both ways is for
// unit vectors without a bias: the estimate must reach the threshold of the row or of the column, less the error.
struct Screen {
    const float *row_thresholds;
    const float *column_thresholds;
    Lists of_rows;
    Lists of_columns;
};

struct Waiting {
    u32 count;
    // The row of the tile in eight bits, and the column counted from the first of this block of threads.
    u32 places[WAITING];
    float estimates[WAITING];
};

// One instruction. The compiler would make a score of an addition, at each of the many places it is called from.
__device__ __forceinline__ u32 next_place(Waiting *waiting) {
    u32 place;
    asm volatile("atom.shared.inc.u32 %0, [%1], 0x7fffffff;"
                 : "=r"(place)
                 : "r"(shared_address(&waiting->count)) : "memory");
    return place;
}

enum Purpose { MAXIMA, ONE_WAY, BOTH_WAYS };

template <Purpose PURPOSE>
__device__ __forceinline__ void write_candidate(const Queries &rows, const Targets &columns, const Screen &screen,
                                                u64 row, u32 column, float estimate) {
    if (PURPOSE == ONE_WAY) {
        append(screen.of_rows, row, estimate, column);
    } else {
        if (estimate >= __fsub_rd(screen.row_thresholds[row], columns.error))
            append(screen.of_rows, row, estimate, column);
        if (estimate >= __fsub_rd(screen.column_thresholds[column], columns.error))
            append(screen.of_columns, column, estimate, rows.first + (u32)row);
    }
}

// The largest lower bound of each row of a tile within each GROUP columns, of which `left` exist.
__device__ __forceinline__ void write_maxima(const float (&sums)[BLOCKS][PAIRS][4], const float *of_columns, u32 left,
                                             float error, const float (&inverses)[ROWS_OF_THREAD], float *maxima,
                                             u32 groups, u32 rows) {
    float largest[ROWS_OF_THREAD][GROUPS_OF_THREAD];
#pragma unroll
    for (u32 at = 0; at < ROWS_OF_THREAD * GROUPS_OF_THREAD; at++)
        largest[at / GROUPS_OF_THREAD][at % GROUPS_OF_THREAD] = MINUS_INFINITY;
#pragma unroll
    for (u32 of_thread = 0; of_thread < PAIRS * 2; of_thread++) {
        u32 pair = of_thread / 2, side = of_thread % 2, column = first_column_of_thread() + pair * 8 + side;
        float length = of_columns[column], bias = of_columns[COLUMNS + column];
        if (column >= left) continue;
#pragma unroll
        for (u32 at = 0; at < ROWS_OF_THREAD; at++) {
            float bound = bound_of(sums[at / 2][pair][at % 2 * 2 + side], error, length, bias, inverses[at]);
            largest[at][pair * 8 / GROUP] = fmaxf(largest[at][pair * 8 / GROUP], bound);
        }
    }
#pragma unroll
    for (u32 at = 0; at < ROWS_OF_THREAD; at++)
#pragma unroll
        for (u32 group = 0; group < GROUPS_OF_THREAD; group++) {
            float most = fmaxf(largest[at][group], __shfl_xor_sync(~0u, largest[at][group], 1));
            most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
            u32 row = row_of_thread(at);
            if (threadIdx.x % 4 == 0 && row < rows) maxima[(u64)row * groups + first_group_of_thread() + group] = most;
        }
}

// Multiplies tiles of rows, one for each `blockIdx.x`, by tiles of columns: the part `blockIdx.y` of every `stride`-th
// column. Rows and columns that complete the last tiles can be read, but are none.
// MAXIMA: the largest lower bound of the scores of each row within each GROUP columns.
// ONE_WAY, BOTH_WAYS: candidates of the rows, and of the columns.
template <Purpose PURPOSE>
__device__ __forceinline__ void multiply_tiles(const Queries &rows, const Targets &columns, u32 stride,
                                               const Screen &screen, float *maxima, u32 groups) {
    const u32 row_bytes = (STREAMED ? STAGES : STEPS) * ROWS_STEP_BYTES;
    u32 row_memory = shared_address(memory), column_memory = row_memory + row_bytes;
    // Of each column of the tile: its threshold, or its length and its bias.
    float *of_columns = (float *)(memory + row_bytes + STAGES * COLUMNS_STEP_BYTES);
    Waiting *waiting = (Waiting *)(of_columns + 2 * COLUMNS);

    u64 tile_row = (u64)blockIdx.x * ROWS;
    u32 own_rows = (u32)min((u64)ROWS, rows.count - tile_row);
    u32 sampled = (columns.count + stride - 1) / stride;
    u32 tiles = (sampled + COLUMNS - 1) / COLUMNS;
    u32 from = (u64)tiles * blockIdx.y / gridDim.y, to = (u64)tiles * (blockIdx.y + 1) / gridDim.y;
    if (from >= to) return;
    u32 part_column = from * COLUMNS;

    if (threadIdx.x == 0) waiting->count = 0;
    auto copy_rows = [&](u32 to, u32 step) {
        if (rows.list)
            copy_step<ROWS>(to, rows.halves, PADDED, step, rows.list, (u32)tile_row, rows.count);
        else
            copy_step<ROWS>(to, rows.halves + (rows.first + tile_row) * PADDED, PADDED, step);
    };
    if (!STREAMED)
        for (u32 step = 0; step < STEPS; step++) copy_rows(row_memory + step * ROWS_STEP_BYTES, step);

    float thresholds[ROWS_OF_THREAD], inverses[ROWS_OF_THREAD];
#pragma unroll
    for (u32 at = 0; at < ROWS_OF_THREAD; at++) {
        u64 row = tile_row + row_of_thread(at);
        bool is_row = row_of_thread(at) < own_rows;
        thresholds[at] = -MINUS_INFINITY;
        if (PURPOSE == ONE_WAY && is_row) thresholds[at] = screen.row_thresholds[row];
        if (PURPOSE == BOTH_WAYS && is_row) thresholds[at] = __fsub_rd(screen.row_thresholds[row], columns.error);
        inverses[at] = PURPOSE != BOTH_WAYS && is_row ? rows.inverses[row] : 0.0f;
    }

    // What is copied next: a step of a tile.
    u32 next_tile = from, next_step = 0, next_stage = 0;
    auto copy_next = [&]() {
        if (next_tile < to) {
            if (STREAMED) copy_rows(row_memory + next_stage * ROWS_STEP_BYTES, next_step);
            copy_step<COLUMNS>(column_memory + next_stage * COLUMNS_STEP_BYTES,
                               columns.halves + (u64)next_tile * COLUMNS * stride * PADDED, (u64)stride * PADDED,
                               next_step);
            next_stage = next_stage + 1 == STAGES ? 0 : next_stage + 1;
            next_step++;
            if (next_step == STEPS) {
                next_step = 0;
                next_tile++;
            }
        }
        end_of_copies();
    };
#pragma unroll
    for (u32 number = 0; number < LEAD; number++) copy_next();

    // Called by all threads after a barrier; there must be another one before candidates are added again.
    auto write_waiting = [&](u32 count) {
        for (u32 at = threadIdx.x; at < min(count, (u32)WAITING); at += THREADS) {
            u32 place = waiting->places[at];
            write_candidate<PURPOSE>(rows, columns, screen, tile_row + (place & 255), part_column + (place >> 8),
                                     waiting->estimates[at]);
        }
    };

    float sums[BLOCKS][PAIRS][4];
    float error = PURPOSE == MAXIMA ? -columns.error : columns.error;
    u32 stage = 0;
    for (u32 tile = from; tile < to; tile++) {
        // Read now, needed after the products: half of the threads read one number of a column, half the other.
        u32 own_column = min(tile * COLUMNS + threadIdx.x % COLUMNS, sampled - 1) * stride;
        const float *own_numbers = PURPOSE == BOTH_WAYS   ? screen.column_thresholds
                                   : threadIdx.x < COLUMNS ? columns.lengths
                                   : PURPOSE == MAXIMA     ? columns.lower
                                                           : columns.upper;
        float own_number = own_numbers[own_column];

        auto next_products = [&]() {
            wait_for_copies<LEAD - 1>();
            publish_copies();
            __syncthreads();
            copy_next();
        };
        auto row_step = [&](u32 step) { return row_memory + (STREAMED ? stage : step) * ROWS_STEP_BYTES; };
        auto next = [&]() { stage = stage + 1 == STAGES ? 0 : stage + 1; };
#pragma unroll(STEPS <= 8 ? STEPS : 1)
        for (u32 step = 0; step < STEPS - 1; step++) {
            next_products();
            multiply_step<DEPTH / 16>(sums, row_step(step), column_memory + stage * COLUMNS_STEP_BYTES, step == 0);
            next();
        }
        next_products();
        multiply_step<LAST_DEPTH>(sums, row_step(STEPS - 1), column_memory + stage * COLUMNS_STEP_BYTES, STEPS == 1);
        next();
        // Both ways, the estimate itself is compared.
        of_columns[threadIdx.x] = PURPOSE == BOTH_WAYS ? __fsub_rd(own_number, error) : own_number;
        finish_products(sums);
        __syncthreads();

        u32 left = sampled - tile * COLUMNS;
        if (PURPOSE == MAXIMA) {
            write_maxima(sums, of_columns, left, error, inverses, maxima + tile_row * groups + tile * (COLUMNS / GROUP),
                         groups, own_rows);
            // The next tile's numbers of columns are not written before these were read.
            __syncthreads();
            continue;
        }
        // Candidates that there is no room for wait until the others were written.
        u32 added[BLOCKS * PAIRS * 4 / 32] = {}, count;
        do {
#pragma unroll
            for (u32 pair = 0; pair < PAIRS; pair++) {
                u32 column = first_column_of_thread() + pair * 8;
                float2 first = *(const float2 *)(of_columns + column);
                float2 second = *(const float2 *)(of_columns + COLUMNS + column);
                bool are_candidates = false;
                auto reaches = [&](u32 side, u32 at) {
                    float estimate = sums[at / 2][pair][at % 2 * 2 + side], number = side ? first.y : first.x;
                    if (PURPOSE == BOTH_WAYS) return estimate >= fminf(thresholds[at], number);
                    return bound_of(estimate, error, number, side ? second.y : second.x, inverses[at]) >= thresholds[at];
                };
#pragma unroll
                for (u32 at = 0; at < 2 * ROWS_OF_THREAD; at++) are_candidates |= reaches(at % 2, at / 2);
                if (!are_candidates) continue;
#pragma unroll
                for (u32 number = 0; number < 2 * ROWS_OF_THREAD; number++) {
                    u32 side = number % 2, at = number / 2, own = pair * 2 * ROWS_OF_THREAD + number;
                    u32 row = row_of_thread(at);
                    bool is_new = !(added[own / 32] >> own % 32 & 1);
                    if (!reaches(side, at) || !is_new || row >= own_rows || column + side >= left) continue;
                    u32 place = next_place(waiting);
                    if (place < WAITING) {
                        waiting->places[place] = row | (tile * COLUMNS + column + side - part_column) << 8;
                        waiting->estimates[place] = sums[at / 2][pair][at % 2 * 2 + side];
                        added[own / 32] |= 1u << own % 32;
                    }
                }
            }
            __syncthreads();
            count = waiting->count;
            if (count >= WAITING / 2) {
                write_waiting(count);
                __syncthreads();
                if (threadIdx.x == 0) waiting->count = 0;
                __syncthreads();
            }
        } while (count > WAITING);
    }
    wait_for_copies<0>();
    if (PURPOSE != MAXIMA) write_waiting(waiting->count);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    maxima_of_rows(Queries rows, Targets columns, u32 stride, float *maxima, u32 groups) {
    multiply_tiles<MAXIMA>(rows, columns, stride, Screen(), maxima, groups);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    screen_one_way(Queries rows, Targets columns, Screen screen) {
    multiply_tiles<ONE_WAY>(rows, columns, 1, screen, 0, 0);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    screen_both_ways(Queries rows, Targets columns, Screen screen) {
    multiply_tiles<BOTH_WAYS>(rows, columns, 1, screen, 0, 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Selection

// Numbers in the order of floats.
__device__ __forceinline__ u32 key_of(float x) {
    u32 bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ float float_of_key(u32 key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// The `k`-th largest of the values of a warp, minus infinity if there are fewer.
template <class Value> __device__ __forceinline__ float kth_largest(u32 count, u32 k, Value value) {
    u32 lane = threadIdx.x % 32, found = 0;
    if (count < k) return MINUS_INFINITY;
    for (u32 bit = 0x80000000u; bit; bit >>= 1) {
        u32 candidate = found | bit, reached = 0;
        for (u32 at = lane; at < count; at += 32) reached += key_of(value(at)) >= candidate;
        if (__reduce_add_sync(~0u, reached) >= k) found = candidate;
    }
    return float_of_key(found);
}

// The threshold of every row: the `k`-th largest of its maxima, which are lower bounds of different scores.
// Rows that are not estimated find nothing.
extern "C" __global__ void thresholds_of_rows(const float *maxima, u32 count, u32 groups, u32 k, const float *inverses,
                                              float *thresholds) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= count) return;
    const float *own = maxima + row * groups;
    float threshold = kth_largest(groups, k, [&](u32 at) { return own[at]; });
    if (threadIdx.x % 32 == 0) thresholds[row] = inverses[row] > 0.0f && inverses[row] < -MINUS_INFINITY ? threshold : -MINUS_INFINITY;
}

// The inner product in double precision, by sixteen lanes in the same order as on the CPU.
__device__ __forceinline__ double exact_product(const float *a, const float *b, u32 dim, u32 lane) {
    double sum = 0.0;
    for (u32 at = lane; at < dim; at += 16) sum = __fma_rn((double)a[at], (double)b[at], sum);
    double total = __shfl_sync(~0u, sum, 0, 16);
    for (int from = 1; from < 16; from++) total = __dadd_rn(total, __shfl_sync(~0u, sum, from, 16));
    return total;
}

// Whole numbers in the order of scores, in which -0 is before 0.
__device__ __forceinline__ long long order_of(double score) {
    long long bits = __double_as_longlong(score);
    return bits < 0 ? bits ^ 0x7fffffffffffffffll : bits;
}

struct Exact {
    const float *values;
    const double *factors;
};

// `states` of rows that have no result: candidates were lost, or too many are too close to each other.
#define LOST 0xffffffffu
#define CROWDED 0xfffffffeu

// The lower bounds of so many candidates are kept while the best are looked for.
#define KEPT_BOUNDS 256

// The best `k` of the candidates of every row, by exact scores, ties by the lower index. One warp a row, with room for
// `room` candidates that need exact scores. `states` are the numbers of targets found. Where candidates were lost, the
// threshold is raised to what is known now. If `means` are asked for, they are written instead of scores and indices.
extern "C" __global__ void settle(Lists lists, Queries rows, Exact exact_rows, Targets columns, Exact exact_columns,
                                  const double *bias, double scale, u32 dim, u32 k, u32 room, float *thresholds,
                                  double *scores, u32 *indices, double *means, u32 *states) {
    u32 warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    double *exact = (double *)memory + warp * room;
    double *ranked = (double *)memory + warps * room + warp * k;
    u32 *kept = (u32 *)((double *)memory + warps * (room + k)) + warp * room;
    float *bounds = (float *)((double *)memory + warps * (room + k)) + warps * room + warp * KEPT_BOUNDS;
    u64 row = (u64)blockIdx.x * warps + warp;
    if (row >= rows.count) return;
    u32 found = lists.counts[row], stored = min(found, lists.capacity);
    const Candidate *candidates = lists.candidates + row * lists.capacity;
    float inverse = rows.inverses[row];
    auto lower = [&](u32 at) {
        u32 target = candidates[at].index;
        return bound_of(candidates[at].estimate, -columns.error, columns.lengths[target], columns.lower[target], inverse);
    };
    auto upper = [&](u32 at) {
        u32 target = candidates[at].index;
        return bound_of(candidates[at].estimate, columns.error, columns.lengths[target], columns.upper[target], inverse);
    };
    for (u32 at = lane; at < min(stored, KEPT_BOUNDS); at += 32) bounds[at] = lower(at);
    __syncwarp();
    float threshold = kth_largest(stored, k, [&](u32 at) { return at < KEPT_BOUNDS ? bounds[at] : lower(at); });
    if (found > lists.capacity) {
        if (lane == 0) {
            thresholds[row] = fmaxf(thresholds[row], threshold);
            states[row] = LOST;
        }
        return;
    }
    u32 survivors = 0;
    for (u32 first = 0; first < stored; first += 32) {
        u32 at = first + lane;
        bool survives = at < stored && !(upper(at) < threshold);
        u32 all = __ballot_sync(~0u, survives);
        u32 place = survivors + __popc(all & ((1u << lane) - 1));
        if (survives && place < room) kept[place] = candidates[at].index;
        survivors += __popc(all);
    }
    if (survivors > room) {
        if (lane == 0) states[row] = CROWDED;
        return;
    }
    __syncwarp();
    u64 source = rows.list ? rows.list[row] : rows.first + row;
    const float *vector = exact_rows.values + source * dim;
    double factor = __dmul_rn(scale, exact_rows.factors[source]);
    for (u32 first = 0; first < survivors; first += 2) {
        u32 at = min(first + lane / 16, survivors - 1);
        u32 target = kept[at];
        double product = exact_product(vector, exact_columns.values + (u64)target * dim, dim, lane % 16);
        double of_both = __dmul_rn(factor, exact_columns.factors[target]);
        if (lane % 16 == 0) exact[at] = __dadd_rn(__dmul_rn(of_both, product), bias[target]);
    }
    __syncwarp();
    u32 valid = 0;
    for (u32 first = 0; first < survivors; first += 32) {
        u32 at = first + lane;
        bool is_valid = at < survivors && exact[at] > (double)MINUS_INFINITY;
        valid += __popc(__ballot_sync(~0u, is_valid));
        if (!is_valid) continue;
        long long order = order_of(exact[at]);
        u32 rank = 0, index = kept[at];
        for (u32 other = 0; other < survivors; other++) {
            long long of_other = order_of(exact[other]);
            rank += of_other > order || (of_other == order && kept[other] < index);
        }
        if (rank >= k) continue;
        if (means) {
            ranked[rank] = exact[at];
        } else {
            scores[row * k + rank] = exact[at];
            indices[row * k + rank] = index;
        }
    }
    valid = min(valid, k);
    __syncwarp();
    if (lane == 0) {
        states[row] = valid;
        // In the order of the CPU.
        double sum = -0.0;
        if (means) {
            for (u32 rank = 0; rank < valid; rank++) sum = __dadd_rn(sum, ranked[rank]);
            means[row] = __ddiv_rn(sum, (double)max(valid, 1u));
        }
    }
}
