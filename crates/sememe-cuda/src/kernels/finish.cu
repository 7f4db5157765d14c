// The discriminative finish: images of words, cosines of pairs of them, and the gradient of a loss for the maps.

// Rows scaled to length 1, and their lengths. One warp a row, as in all kernels of rows below.
extern "C" __global__ void unit_rows(float *values, u32 rows, u32 dim, float *lengths) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    if (row >= rows) return;
    float *own = values + row * dim;
    double square = 0.0;
    for (u32 at = lane; at < dim; at += 32) square += (double)own[at] * own[at];
    for (int step = 16; step; step /= 2) square += __shfl_xor_sync(~0u, square, step);
    float length = fmaxf((float)sqrt(square), 1.17549435e-38f);
    for (u32 at = lane; at < dim; at += 32) own[at] /= length;
    if (lane == 0) lengths[row] = length;
}

// The inner products of pairs of rows.
extern "C" __global__ void products_of_pairs(const float *a, const float *b, const u32 *pairs, u32 count, u32 dim,
                                             double *products) {
    u64 pair = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    if (pair >= count) return;
    const float *own = a + (u64)pairs[2 * pair] * dim, *other = b + (u64)pairs[2 * pair + 1] * dim;
    double sum = 0.0;
    for (u32 at = lane; at < dim; at += 32) sum += (double)own[at] * other[at];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) products[pair] = sum;
}

// For every row, the sum of the unit vectors of the other side that it is paired with, each times the slope of the pair; what
// is along the own unit vector is left out, and the rest divided by the own length. The pairs of row `i` are those at
// `starts[i]` to `starts[i + 1]` of `of_rows`.
extern "C" __global__ void slopes_of_rows(const float *own, const float *lengths, const float *other, const u32 *pairs,
                                          u32 side, const u32 *starts, const u32 *of_rows, const float *slopes,
                                          u32 rows, u32 dim, float *out) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *unit = own + row * dim;
    float *sums = out + row * dim;
    u32 first = starts[row], last = starts[row + 1];
    double along = 0.0;
    for (u32 at = lane; at < dim; at += 32) {
        float sum = 0.0f;
        for (u32 place = first; place < last; place++) {
            u32 pair = of_rows[place];
            sum = fmaf(slopes[pair], other[(u64)pairs[2 * pair + 1 - side] * dim + at], sum);
        }
        sums[at] = sum;
        along += (double)sum * unit[at];
    }
    for (int step = 16; step; step /= 2) along += __shfl_xor_sync(~0u, along, step);
    float part = (float)along, length = lengths[row];
    for (u32 at = lane; at < dim; at += 32) sums[at] = (sums[at] - part * unit[at]) / length;
}
