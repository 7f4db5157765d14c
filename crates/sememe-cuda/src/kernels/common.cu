// What all kernels use. NVRTC has no headers of its own: everything is defined here.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

#define MINUS_INFINITY __int_as_float(0xff800000)

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
