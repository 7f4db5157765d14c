// Which targets may be among the best: thresholds from a sample, and candidates from all.

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

// `margin` is the error times the length.
__device__ __forceinline__ float bound_of(float estimate, float margin, float length, float bias, float inverse) {
    return fmaf(bias, inverse, fmaf(estimate, length, margin));
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
        float length = of_columns[column], bias = of_columns[COLUMNS + column], margin = error * length;
        if (column >= left) continue;
#pragma unroll
        for (u32 at = 0; at < ROWS_OF_THREAD; at++) {
            float bound = bound_of(sums[at / 2][pair][at % 2 * 2 + side], margin, length, bias, inverses[at]);
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

// The tiles of columns that a launch multiplies, out of those of every `stride`-th column.
struct Tiles {
    u32 first;
    u32 last;
    u32 stride;
};

// Multiplies tiles of rows, one for each `blockIdx.x`, by tiles of columns: the part `blockIdx.y` of those of the launch.
// Rows and columns that complete the last tiles can be read, but are none.
// MAXIMA: the largest lower bound of the scores of each row within each GROUP columns.
// ONE_WAY, BOTH_WAYS: candidates of the rows, and of the columns.
template <Purpose PURPOSE>
__device__ __forceinline__ void multiply_tiles(const Queries &rows, const Targets &columns, const Tiles &tiles,
                                               const Screen &screen, float *maxima, u32 groups) {
    const u32 stride = tiles.stride;
    const u32 row_bytes = (STREAMED ? STAGES : STEPS) * ROWS_STEP_BYTES;
    u32 row_memory = shared_address(memory), column_memory = row_memory + row_bytes;
    // Of each column of the tile: its threshold, or its length and its bias.
    float *of_columns = (float *)(memory + row_bytes + STAGES * COLUMNS_STEP_BYTES);
    Waiting *waiting = (Waiting *)(of_columns + 2 * COLUMNS);

    u64 tile_row = (u64)blockIdx.x * ROWS;
    u32 own_rows = (u32)min((u64)ROWS, rows.count - tile_row);
    u32 sampled = (columns.count + stride - 1) / stride;
    u32 count = tiles.last - tiles.first;
    u32 from = tiles.first + (u64)count * blockIdx.y / gridDim.y;
    u32 to = tiles.first + (u64)count * (blockIdx.y + 1) / gridDim.y;
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
                float margins[2] = {error * first.x, error * first.y};
                bool are_candidates = false;
                auto reaches = [&](u32 side, u32 at) {
                    float estimate = sums[at / 2][pair][at % 2 * 2 + side], number = side ? first.y : first.x;
                    if (PURPOSE == BOTH_WAYS) return estimate >= fminf(thresholds[at], number);
                    return bound_of(estimate, margins[side], number, side ? second.y : second.x, inverses[at]) >= thresholds[at];
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
    maxima_of_rows(Queries rows, Targets columns, Tiles tiles, float *maxima, u32 groups) {
    multiply_tiles<MAXIMA>(rows, columns, tiles, Screen(), maxima, groups);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    screen_one_way(Queries rows, Targets columns, Tiles tiles, Screen screen) {
    multiply_tiles<ONE_WAY>(rows, columns, tiles, screen, 0, 0);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    screen_both_ways(Queries rows, Targets columns, Tiles tiles, Screen screen) {
    multiply_tiles<BOTH_WAYS>(rows, columns, tiles, screen, 0, 0);
}
