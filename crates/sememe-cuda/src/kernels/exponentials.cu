// Sums of exponentials of products, with the bits of the CPU: each operation is the one that it does, in its order.

// Sources that are summed in single precision; also in `terms.rs` of the library.
#define SOURCES 128

// `exp(x)` for `x` up to 0, as `kernel.rs` of the library has it.
__device__ __forceinline__ float exponential(float x) {
    const float ROUND = 12582912.0f;
    x = x > -87.0f ? x : -87.0f;
    float rounded = __fadd_rn(__fmul_rn(x, 1.44269504f), ROUND), whole = __fsub_rn(rounded, ROUND);
    float rest = __fsub_rn(__fsub_rn(x, __fmul_rn(whole, 0.6933594f)), __fmul_rn(whole, -2.1219444e-4f));
    const float terms[7] = {1.0f / 720.0f, 1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f};
    float power = 0.0f;
#pragma unroll
    for (int at = 0; at < 7; at++) power = __fadd_rn(__fmul_rn(power, rest), terms[at]);
    u32 exponent = __float_as_uint(rounded) - __float_as_uint(ROUND) + 127;
    return __fmul_rn(power, __uint_as_float(exponent << 23));
}

// Adds the exponentials of the scores of `sources` sources to the sum of every target, a thread a target. A sum of
// exponentials is kept as `exp(largest) sum`.
extern "C" __global__ void add_exponentials(const float *products, const float *factors, u32 sources, u32 targets,
                                            float *largest, double *sums) {
    u64 target = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (target >= targets) return;
    float factor = factors[target], most = largest[target];
    double sum = sums[target];
    for (u32 first = 0; first < sources; first += SOURCES) {
        u32 last = min(sources, first + SOURCES);
        float before = most, of_block = 0.0f;
#pragma unroll 8
        for (u64 source = first; source < last; source++)
            most = fmaxf(most, __fmul_rn(products[source * targets + target], factor));
#pragma unroll 8
        for (u64 source = first; source < last; source++) {
            float score = __fmul_rn(products[source * targets + target], factor);
            of_block = __fadd_rn(of_block, exponential(__fsub_rn(score, most)));
        }
        sum = __dadd_rn(__dmul_rn(sum, (double)exponential(__fsub_rn(before, most))), (double)of_block);
    }
    largest[target] = most;
    sums[target] = sum;
}
