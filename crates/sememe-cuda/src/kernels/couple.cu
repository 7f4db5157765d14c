// Self-learning: all similarities of the words of two views, and the moments of a soft coupling of them.

// Rows and columns of a product that a block of threads computes, coordinates at a time, and rows or columns of a thread.
#define SIDE 128
#define STEP 8
#define OWN 8
#define BLOCK 256

// Vector `i` has the number `p` at `values[i * vector + p * number]`.
struct Vectors {
    const float *values;
    u64 vector;
    u64 number;
};

// The inner products of `rows` and `columns` vectors of `count` numbers.
extern "C" __global__ void __launch_bounds__(BLOCK) products(Vectors a, Vectors b, u32 rows, u32 columns, u32 count,
                                                             float *out) {
    __shared__ float of_a[STEP][SIDE], of_b[STEP][SIDE];
    u32 first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    u32 across = threadIdx.x % 16, down = threadIdx.x / 16;
    float sums[OWN][OWN] = {};
    for (u32 from = 0; from < count; from += STEP) {
        for (u32 at = threadIdx.x; at < STEP * SIDE; at += BLOCK) {
            u32 step = at % STEP, vector = at / STEP, number = from + step;
            u64 row = first_row + vector, column = first_column + vector;
            of_a[step][vector] = number < count && row < rows ? a.values[row * a.vector + number * a.number] : 0.0f;
            of_b[step][vector] =
                number < count && column < columns ? b.values[column * b.vector + number * b.number] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (u32 step = 0; step < STEP; step++) {
            float own_a[OWN], own_b[OWN];
#pragma unroll
            for (u32 i = 0; i < OWN; i++) {
                own_a[i] = of_a[step][down + 16 * i];
                own_b[i] = of_b[step][across + 16 * i];
            }
#pragma unroll
            for (u32 at = 0; at < OWN * OWN; at++)
                sums[at / OWN][at % OWN] = fmaf(own_a[at / OWN], own_b[at % OWN], sums[at / OWN][at % OWN]);
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 at = 0; at < OWN * OWN; at++) {
        u64 row = first_row + down + 16 * (at / OWN), column = first_column + across + 16 * (at % OWN);
        if (row < rows && column < columns) out[row * columns + column] = sums[at / OWN][at % OWN];
    }
}

__device__ __forceinline__ float sum_of_warp(float x) {
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
    return x;
}

// The mean of the `k` largest values of every row. One warp a row, as in all kernels of rows below.
extern "C" __global__ void means_of_largest(const float *values, u32 rows, u32 columns, u32 k, float *means) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *own = values + row * columns;
    k = min(k, columns);
    float least = kth_largest(columns, k, [&](u32 at) { return own[at]; });
    float sum = 0.0f, larger = 0.0f;
    for (u32 at = lane; at < columns; at += 32) {
        bool is_larger = own[at] > least;
        sum += is_larger ? own[at] : 0.0f;
        larger += is_larger;
    }
    sum = sum_of_warp(sum);
    larger = sum_of_warp(larger);
    if (lane == 0) means[row] = (sum + (k - larger) * least) / k;
}

// CSLS in place of cosines, and the best of every row, of equal ones the first. `of_x` and `of_y` are the means of the
// words of the first and of the second view, of which one has the rows: for the same bits of the transpose, `of_x` is
// subtracted first.
extern "C" __global__ void similarities(float *cosines, const float *of_x, const float *of_y, u32 x_has_rows, u32 rows,
                                        u32 columns, float *scores, u32 *indices) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    if (row >= rows) return;
    float *own = cosines + row * columns, best = MINUS_INFINITY;
    u32 index = 0;
    for (u32 at = lane; at < columns; at += 32) {
        u64 x = x_has_rows ? row : at, y = x_has_rows ? at : row;
        float score = 2.0f * own[at] - of_x[x] - of_y[y];
        own[at] = score;
        if (score > best) {
            best = score;
            index = at;
        }
    }
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(~0u, best, step);
        u32 of_other = __shfl_xor_sync(~0u, index, step);
        if (other > best || (other == best && of_other < index)) {
            best = other;
            index = of_other;
        }
    }
    if (lane == 0) {
        scores[row] = best;
        indices[row] = index;
    }
}

// One by twice the sum of `exp((s - largest) / temperature)` over every row.
extern "C" __global__ void halves_of_sums(const float *scores, u32 rows, u32 columns, float largest, float temperature,
                                          float *halves) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const float *own = scores + row * columns;
    float sum = 0.0f;
    for (u32 at = threadIdx.x % 32; at < columns; at += 32) sum += expf((own[at] - largest) / temperature);
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) halves[row] = 0.5f / sum;
}

// Probabilities in place of scores, and their sum over every row.
extern "C" __global__ void probabilities(float *scores, const float *of_rows, const float *of_columns, u32 rows,
                                         u32 columns, float largest, float temperature, float *sums) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    float *own = scores + row * columns, half = of_rows[row], sum = 0.0f;
    for (u32 at = threadIdx.x % 32; at < columns; at += 32) {
        float probability = expf((own[at] - largest) / temperature) * (half + of_columns[at]);
        own[at] = probability;
        sum += probability;
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) sums[row] = sum;
}

// `Σ w aᵢ bⱼ` over all rows, in double precision: a block has 32 x 32 of these sums, a thread four.
#define PART 32
extern "C" __global__ void __launch_bounds__(BLOCK) weighted_products(const float *a, const float *b,
                                                                     const float *weights, u32 rows, u32 of_a,
                                                                     u32 of_b, double *out) {
    __shared__ double left[PART][PART], right[PART][PART];
    u32 i = blockIdx.y * PART, j = blockIdx.x * PART;
    u32 across = threadIdx.x % PART, down = threadIdx.x / PART;
    double sums[4] = {};
    for (u64 from = 0; from < rows; from += PART) {
        for (u32 at = threadIdx.x; at < PART * PART; at += BLOCK) {
            u64 row = from + at / PART;
            u32 place = at % PART;
            double weight = row < rows ? (weights ? weights[row] : 1.0f) : 0.0f;
            left[at / PART][place] = row < rows && i + place < of_a ? weight * a[row * of_a + i + place] : 0.0;
            right[at / PART][place] = row < rows && j + place < of_b ? b[row * of_b + j + place] : 0.0;
        }
        __syncthreads();
        for (u32 row = 0; row < PART; row++)
#pragma unroll
            for (u32 own = 0; own < 4; own++)
                sums[own] = __fma_rn(left[row][down + own * 8], right[row][across], sums[own]);
        __syncthreads();
    }
#pragma unroll
    for (u32 own = 0; own < 4; own++) {
        u64 row = i + down + own * 8;
        if (row < of_a && j + across < of_b) out[row * of_b + j + across] = sums[own];
    }
}

// `Σ w a` over all rows, a thread a number.
extern "C" __global__ void weighted_sums(const float *a, const float *weights, u32 rows, u32 count, double *out) {
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    double sum = 0.0;
#pragma unroll 8
    for (u64 row = 0; row < rows; row++) sum = __fma_rn((double)weights[row], (double)a[row * count + at], sum);
    out[at] = sum;
}

// Squares in place of numbers.
extern "C" __global__ void squares(float *values, u64 count) {
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) values[at] *= values[at];
}
