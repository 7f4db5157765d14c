//! What files may ask of memory: every allocation is counted, in a binary of its own.

#[path = "../../../fuzz/targets.rs"]
mod targets;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use sememe::align::{AlignOptions, align};
use sememe::files::Input;
use sememe::lexicon::Tuples;
use sememe::model::{FitOptions, Shrinkage};
use sememe::moments::Evidence;
use sememe::vectors::{self, Embeddings, Format, Matrix, ReadOptions, View};

/// For buffers of fixed size and for threads: what is read here takes far less, or would take far more.
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

/// Held by each test, so that no other allocates at the same time.
static ALONE: Mutex<()> = Mutex::new(());

/// How much more memory was in use while `work` ran than before.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    (result, PEAK.load(Relaxed) - before)
}

/// A tiny file that declares enormous sizes must not get them.
#[test]
fn declared_sizes_are_not_believed() {
    let _alone = ALONE.lock();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut read = 0;
    for (target, outcome) in targets::ALL {
        for file in std::fs::read_dir(corpus.join(target)).unwrap().map(|entry| entry.unwrap().path()) {
            if !file.file_name().unwrap().to_string_lossy().starts_with("huge-") {
                continue;
            }
            let data = std::fs::read(&file).unwrap();
            let (_, peak) = peak_of(|| drop(outcome(&data)));
            assert!(peak < LIMIT, "{} bytes were asked for to read {}", peak, file.display());
            read += 1;
        }
    }
    assert!(read >= 15, "only {read} files declare huge sizes");
}

fn gzip(beginning: &[u8], repeated: &[u8], times: usize) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(beginning).unwrap();
    (0..times).for_each(|_| gzip.write_all(repeated).unwrap());
    gzip.finish().unwrap()
}

/// Whether a file holds moments is asked of every file that is inspected, also of vectors that fill the memory.
#[test]
fn files_that_hold_no_moments_are_not_decompressed_to_see_that() {
    let _alone = ALONE.lock();
    let text = Input::from_bytes("text.vec.gz", gzip(b"", b"word 0.25 0.5 0.75\n", 5_000_000)).unwrap();
    let header = br#"{"vectors":{"dtype":"F32","shape":[250000,100],"data_offsets":[0,100000000]}}"#;
    let beginning = [&(header.len() as u64).to_le_bytes(), &header[..]].concat();
    let array = Input::from_bytes("array.safetensors.gz", gzip(&beginning, &[0; 1_000_000], 100)).unwrap();
    for input in [&text, &array] {
        let (is_there, peak) = peak_of(|| Evidence::is_in(input).unwrap());
        assert!(!is_there && peak < LIMIT, "{peak} bytes were asked for to see what {:?} holds", input.path());
    }
    let (read, peak) = peak_of(|| Evidence::read_input(&text));
    assert!(read.is_err() && peak < LIMIT, "{peak} bytes were asked for to read moments from text");
}

/// An array is read, normalised, projected and written in the memory of one matrix.
#[test]
fn projecting_takes_the_memory_of_one_matrix() {
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("a.npy"), folder.path().join("out.npy"));
    let embeddings = |rows: usize, dim: usize| {
        let values = (0..rows * dim).map(|at| ((at * at % 10_007) as f32 * 0.37).sin()).collect();
        let words: Vec<String> = (0..rows).map(|row| format!("w{row}")).collect();
        Embeddings::new(words.iter().map(String::as_str).collect(), Matrix::new(values, dim))
    };
    let (rows, dim) = (200_000, 80);
    vectors::write(&embeddings(rows, dim), &input, Format::Npy).unwrap();
    let views = ["a", "b"].map(|name| View::from_embeddings(name, embeddings(500, dim)));
    let mut tuples = Tuples::new(2);
    (0..500).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
    let options = AlignOptions::default().with_fit(FitOptions::default().with_shrinkage(Shrinkage::By(0.5)));
    let alignment = align(views.to_vec(), &tuples, &options, &()).unwrap().alignment;
    let (_, peak) = peak_of(|| {
        let input = Input::open_with(&input, true).unwrap();
        let read = vectors::read_to_change(input, &ReadOptions::default(), &()).unwrap();
        let projected = alignment.project(0, read.embeddings).unwrap();
        vectors::write(&projected.view.named(), &output, Format::Npy).unwrap();
    });
    let matrix = rows * dim * size_of::<f32>();
    // The rest is words, densities, and blocks of fixed size.
    assert!(peak < matrix * 6 / 5 + LIMIT, "{peak} bytes for a matrix of {matrix}");
}
