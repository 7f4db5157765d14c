// Rows on the card: directions in half precision, lengths, bounds.

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
