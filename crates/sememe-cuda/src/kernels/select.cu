// The best of the candidates, by exact scores.

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

// The bounds of the scores of candidates of a row.
struct Bounds {
    const Candidate *candidates;
    Targets columns;
    float inverse;

    __device__ __forceinline__ float of(u32 at, float error, const float *bias) const {
        Candidate candidate = candidates[at];
        float length = columns.lengths[candidate.index];
        return bound_of(candidate.estimate, error * length, length, bias[candidate.index], inverse);
    }
    __device__ __forceinline__ float lower(u32 at) const { return of(at, -columns.error, columns.lower); }
    __device__ __forceinline__ float upper(u32 at) const { return of(at, columns.error, columns.upper); }

    // The `k`-th largest lower bound. A warp has room for KEPT_BOUNDS of them.
    __device__ __forceinline__ float threshold(u32 count, u32 k, float *kept) const {
        for (u32 at = threadIdx.x % 32; at < min(count, KEPT_BOUNDS); at += 32) kept[at] = lower(at);
        __syncwarp();
        return kth_largest(count, k, [&](u32 at) { return at < KEPT_BOUNDS ? kept[at] : lower(at); });
    }
};

// Raises the threshold of every row to what its candidates so far show.
extern "C" __global__ void raise_thresholds(Lists lists, Queries rows, Targets columns, u32 k, float *thresholds) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows.count) return;
    Bounds bounds = {lists.candidates + row * lists.capacity, columns, rows.inverses[row]};
    float *kept = (float *)memory + threadIdx.x / 32 * KEPT_BOUNDS;
    float threshold = bounds.threshold(min(lists.counts[row], lists.capacity), k, kept);
    if (threadIdx.x % 32 == 0) thresholds[row] = fmaxf(thresholds[row], threshold);
}

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
    float *kept_bounds = (float *)((double *)memory + warps * (room + k)) + warps * room + warp * KEPT_BOUNDS;
    u64 row = (u64)blockIdx.x * warps + warp;
    if (row >= rows.count) return;
    u32 found = lists.counts[row], stored = min(found, lists.capacity);
    Bounds bounds = {lists.candidates + row * lists.capacity, columns, rows.inverses[row]};
    float threshold = bounds.threshold(stored, k, kept_bounds);
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
        bool survives = at < stored && !(bounds.upper(at) < threshold);
        u32 all = __ballot_sync(~0u, survives);
        u32 place = survivors + __popc(all & ((1u << lane) - 1));
        if (survives && place < room) kept[place] = bounds.candidates[at].index;
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

// The sum of the squares of every row, with the bits of the CPU. One warp a row.
extern "C" __global__ void squares_of_rows(const float *values, u32 count, u32 dim, double *squares) {
    u64 row = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= count) return;
    u32 lane = threadIdx.x % 32;
    const float *own = values + row * dim;
    double square = exact_product(own, own, dim, lane % 16);
    if (lane == 0) squares[row] = square;
}
