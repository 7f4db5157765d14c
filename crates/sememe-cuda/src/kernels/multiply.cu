// Products of tiles in shared memory, by the tensor cores.

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
