//! A tiny file that declares enormous sizes must not get them: every allocation is counted, in a binary of its own.

#[path = "../../../fuzz/targets.rs"]
mod targets;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The files take under 2 KB each; what is left is for buffers of fixed size and for threads.
const LIMIT: usize = 16 << 20;

struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(IN_USE.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the memory came from `alloc` above, so from the system.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One test, so that no other allocates at the same time.
#[test]
fn declared_sizes_are_not_believed() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut read = 0;
    for (target, outcome) in targets::ALL {
        for file in std::fs::read_dir(corpus.join(target)).unwrap().map(|entry| entry.unwrap().path()) {
            if !file.file_name().unwrap().to_string_lossy().starts_with("huge-") {
                continue;
            }
            let data = std::fs::read(&file).unwrap();
            let before = IN_USE.load(Relaxed);
            PEAK.store(before, Relaxed);
            drop(outcome(&data));
            let peak = PEAK.load(Relaxed) - before;
            assert!(peak < LIMIT, "{} bytes were asked for to read {}", peak, file.display());
            read += 1;
        }
    }
    assert!(read >= 15, "only {read} files declare huge sizes");
}
