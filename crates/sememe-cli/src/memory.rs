//! How the command allocates memory.

/// Blocks of this size and larger are given back to the system as soon as they are freed: matrices of 300 x 300 numbers
/// are, the tiles of a search are used again.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GIVEN_BACK: libc::c_int = 640 << 10;
/// Freed memory of smaller blocks that is kept.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 4 << 20;

/// Makes the memory of one stage free for the next one.
///
/// glibc gives large blocks back when they are freed. But each of them raises the size that it calls large, up to 32 MiB.
/// Matrices of later stages then leave holes that stay: 220 MB where 500,000 words are aligned. A size that is set stays.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: both only set numbers of the allocator. If that fails, more memory is taken.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, GIVEN_BACK);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}
