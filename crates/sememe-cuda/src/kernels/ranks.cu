// The ranks of right pairs among all pairs of rows of two sides. `pairs` are the words of each right pair: other
// translations of a word are not compared. For every pair, how many products of its row and how many of its column exceed
// its own, and how many were compared. A warp a pair.
extern "C" __global__ void ranks_of_pairs(const float *products, const u32 *pairs, u32 count, u32 *ranks) {
    u64 pair = (u64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32, in_row = 0, in_column = 0, compared = 0;
    if (pair >= count) return;
    float own = products[pair * count + pair];
    for (u64 at = lane; at < count; at += 32) {
        bool is_compared = pairs[2 * at] != pairs[2 * pair] && pairs[2 * at + 1] != pairs[2 * pair + 1];
        in_row += is_compared && products[pair * count + at] > own;
        in_column += is_compared && products[at * count + pair] > own;
        compared += is_compared;
    }
    in_row = __reduce_add_sync(~0u, in_row);
    in_column = __reduce_add_sync(~0u, in_column);
    compared = __reduce_add_sync(~0u, compared);
    if (lane == 0) {
        ranks[3 * pair] = in_row;
        ranks[3 * pair + 1] = in_column;
        ranks[3 * pair + 2] = compared;
    }
}
