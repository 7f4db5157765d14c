// Sums in double precision: rows after a linear map, and second moments of rows. A block of threads computes a square of
// results, a thread 4 x 4 of them.

#define SQUARE 64
#define LINES 16
#define EACH 4
// One number more in a line than in the square, so that what neighbouring threads write is in different banks.
#define LINE (SQUARE + 1)

// Adds the products of numbers of two sides, which have one number of each of 64 vectors in a line.
__device__ __forceinline__ void add_products(const double (*left)[LINE], const double (*right)[LINE],
                                             double (*sums)[EACH]) {
    u32 across = threadIdx.x % 16, down = threadIdx.x / 16;
#pragma unroll
    for (u32 line = 0; line < LINES; line++) {
        double of_left[EACH], of_right[EACH];
#pragma unroll
        for (u32 i = 0; i < EACH; i++) {
            of_left[i] = left[line][down + 16 * i];
            of_right[i] = right[line][across + 16 * i];
        }
#pragma unroll
        for (u32 at = 0; at < EACH * EACH; at++)
            sums[at / EACH][at % EACH] = __fma_rn(of_left[at / EACH], of_right[at % EACH], sums[at / EACH][at % EACH]);
    }
}

// `map (x - shift)` of every row `x`. The map has `latent` rows of `dim` numbers.
struct LinearMap {
    const double *shift;
    const double *map;
    u32 dim;
    u32 latent;
};

// The images of 64 rows, of which a thread has 4, in 64 latent dimensions, of which it has 4, too.
__device__ __forceinline__ void add_images(const float *rows, u32 count, LinearMap linear, u64 first_row,
                                           u32 first_latent, double (*sums)[EACH]) {
    __shared__ double of_rows[LINES][LINE], of_map[LINES][LINE];
    for (u32 from = 0; from < linear.dim; from += LINES) {
        for (u32 at = threadIdx.x; at < LINES * SQUARE; at += BLOCK) {
            u32 line = at % LINES, vector = at / LINES, number = from + line;
            u64 row = first_row + vector, of_latent = first_latent + vector;
            bool is_number = number < linear.dim;
            of_rows[line][vector] =
                is_number && row < count ? rows[row * linear.dim + number] - linear.shift[number] : 0.0;
            of_map[line][vector] =
                is_number && of_latent < linear.latent ? linear.map[of_latent * linear.dim + number] : 0.0;
        }
        __syncthreads();
        add_products(of_rows, of_map, sums);
        __syncthreads();
    }
}

// The image of every row, in single precision.
extern "C" __global__ void __launch_bounds__(BLOCK) project_rows(const float *rows, u32 count, LinearMap linear,
                                                                float *images) {
    u64 first_row = (u64)blockIdx.x * SQUARE;
    u32 first_latent = blockIdx.y * SQUARE;
    double sums[EACH][EACH] = {};
    add_images(rows, count, linear, first_row, first_latent, sums);
#pragma unroll
    for (u32 at = 0; at < EACH * EACH; at++) {
        u64 row = first_row + threadIdx.x / 16 + 16 * (at / EACH);
        u32 column = first_latent + threadIdx.x % 16 + 16 * (at % EACH);
        if (row < count && column < linear.latent)
            images[row * linear.latent + column] = (float)sums[at / EACH][at % EACH];
    }
}

// The sum of the squares of the image of every row.
extern "C" __global__ void __launch_bounds__(BLOCK) squares_of_images(const float *rows, u32 count, LinearMap linear,
                                                                     double *squares) {
    u64 first_row = (u64)blockIdx.x * SQUARE;
    double own[EACH] = {};
    for (u32 first_latent = 0; first_latent < linear.latent; first_latent += SQUARE) {
        double sums[EACH][EACH] = {};
        add_images(rows, count, linear, first_row, first_latent, sums);
#pragma unroll
        for (u32 at = 0; at < EACH * EACH; at++)
            own[at / EACH] = __fma_rn(sums[at / EACH][at % EACH], sums[at / EACH][at % EACH], own[at / EACH]);
    }
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        for (int step = 8; step; step /= 2) own[i] += __shfl_xor_sync(~0u, own[i], step);
        u64 row = first_row + threadIdx.x / 16 + 16 * i;
        if (threadIdx.x % 16 == 0 && row < count) squares[row] = own[i];
    }
}

// Adds the weighted products of all numbers of a row, less `shift`, with a one after them, so that the last line has the
// weighted sums. Only squares that reach the diagonal or are below it are computed. Parts of the sums have blocks of rows in
// turn, and each is added up in the order of its rows: the bits do not depend on how many rows come at a time.
#define ROWS_OF_BLOCK 256
__device__ __forceinline__ double number_of_row(const float *rows, u32 count, u32 dim, const double *shift, u64 row,
                                                u32 place) {
    if (row >= count || place > dim) return 0.0;
    return place < dim ? rows[row * dim + place] - shift[place] : 1.0;
}

extern "C" __global__ void __launch_bounds__(BLOCK) add_second_moments(const float *rows, const double *weights,
                                                                      u32 count, u32 dim, const double *shift,
                                                                      double *parts) {
    __shared__ double left[LINES][LINE], right[LINES][LINE];
    if (blockIdx.x > blockIdx.y) return;
    u32 i = blockIdx.y * SQUARE, j = blockIdx.x * SQUARE;
    u64 size = dim + 1;
    double *part = parts + blockIdx.z * size * size;
    double sums[EACH][EACH];
#pragma unroll
    for (u32 at = 0; at < EACH * EACH; at++) {
        u64 row = i + threadIdx.x / 16 + 16 * (at / EACH), column = j + threadIdx.x % 16 + 16 * (at % EACH);
        sums[at / EACH][at % EACH] = row < size && column < size ? part[row * size + column] : 0.0;
    }
    for (u64 first = (u64)blockIdx.z * ROWS_OF_BLOCK; first < count; first += (u64)gridDim.z * ROWS_OF_BLOCK) {
        for (u64 from = first; from < first + ROWS_OF_BLOCK && from < count; from += LINES) {
            for (u32 at = threadIdx.x; at < LINES * SQUARE; at += BLOCK) {
                u32 line = at / SQUARE, vector = at % SQUARE;
                u64 row = from + line;
                double weight = row < count ? weights[row] : 0.0;
                left[line][vector] = weight * number_of_row(rows, count, dim, shift, row, i + vector);
                right[line][vector] = number_of_row(rows, count, dim, shift, row, j + vector);
            }
            __syncthreads();
            add_products(left, right, sums);
            __syncthreads();
        }
    }
#pragma unroll
    for (u32 at = 0; at < EACH * EACH; at++) {
        u64 row = i + threadIdx.x / 16 + 16 * (at / EACH), column = j + threadIdx.x % 16 + 16 * (at % EACH);
        if (row < size && column < size) part[row * size + column] = sums[at / EACH][at % EACH];
    }
}

// The sums of so many parts of `count` numbers, in place of the first part.
extern "C" __global__ void sums_of_parts(double *parts, u64 count, u32 number) {
    u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    double sum = parts[at];
    for (u32 part = 1; part < number; part++) sum += parts[part * count + at];
    parts[at] = sum;
}
