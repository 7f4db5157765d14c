//! How the command allocates memory.

/// Blocks of this size and larger are given back to the system as soon as they are freed: the vectors of a view are; matrices
/// of 300 x 300 numbers, blocks of rows and the tiles of a search are used again. Where each of these gets its memory from the
/// system, the system takes a sixth of the processor time of `align`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GIVEN_BACK: libc::c_int = 4 << 20;
/// Freed memory of smaller blocks that is kept.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 64 << 20;

/// The same numbers for self-learning, whose rounds need blocks of the same sizes again and again: those of 4,000 x 4,000
/// words, and of 40,000 words of 300 numbers.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GIVEN_BACK_BY_ROUNDS: libc::c_int = 65 << 20;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BY_ROUNDS: libc::c_int = 256 << 20;

/// Makes the memory of one stage free for the next one.
///
/// glibc gives large blocks back when they are freed. But each of them raises the size that it calls large, up to 32 MiB.
/// Matrices of later stages then leave holes that stay: 220 MB where 500,000 words are aligned. A size that is set stays.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    give_back(GIVEN_BACK, KEPT);
}

/// Makes the memory of one round of self-learning that of the next one: where every round gets its memory from the system
/// and gives it back, the system takes a third of the time on 16 cores.
pub fn keep_blocks_of_rounds() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    give_back(GIVEN_BACK_BY_ROUNDS, KEPT_BY_ROUNDS);
}

/// Makes the many threads of a server share few pools of memory: as many as there are cores.
///
/// glibc has up to eight pools (arenas) for each core, and each keeps what is free in it. The threads of a server come and go, and
/// their work moves from one to the other, so that all pools grow to the size of the largest work.
pub fn share_pools() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        // SAFETY: this only sets a number of the allocator. If that fails, more memory is taken.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, libc::c_int::try_from(cores).unwrap_or(libc::c_int::MAX)) };
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back(blocks: libc::c_int, kept: libc::c_int) {
    // SAFETY: both only set numbers of the allocator. If that fails, more memory is taken.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, blocks);
        libc::mallopt(libc::M_TRIM_THRESHOLD, kept);
    }
}
