//! Hostile files: every reader over the seeds in `fuzz/corpus` and thousands of mutations of each; nothing panics, and
//! errors say where and why. The same targets run under `cargo fuzz` for as long as one likes.

#[path = "../../../../fuzz/targets.rs"]
mod targets;

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::random::Random;
use crate::seeds;

/// How often each seed is changed and read again: the whole must stay a matter of seconds.
const MUTATIONS: u64 = 1500;
/// A mutated file does not grow beyond this by spans repeated again and again.
const LARGEST: usize = 8192;

fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn seed(target: &str, name: &str) -> Vec<u8> {
    let file = corpus(target).into_iter().find(|file| file.ends_with(name));
    std::fs::read(file.unwrap_or_else(|| panic!("no seed {name} of {target}"))).unwrap()
}

fn outcome(target: &str, data: &[u8]) -> sememe::Result<()> {
    let (_, read) = targets::ALL.iter().find(|(name, _)| *name == target).unwrap();
    read(data)
}

/// Other numbers for every mutation of every file.
fn random(run: u64, name: &str, mutation: u64) -> Random {
    let mut hasher = std::hash::DefaultHasher::new();
    (run, name, mutation).hash(&mut hasher);
    Random::new(hasher.finish())
}

fn pick<'a, T>(among: &'a [T], random: &mut Random) -> &'a T {
    &among[random.below(among.len())]
}

/// Numbers at which sizes and signs turn over.
const NUMBERS: [i64; 12] =
    [0, 1, -1, 2, 127, 255, 65_536, i32::MAX as i64, i32::MIN as i64, 1 << 60, i64::MAX, i64::MIN];
/// What means something in one format or another.
const TOKENS: [&[u8]; 14] = [
    b" ",
    b"\n",
    b"\r\n",
    b"\t",
    b"\0",
    b",",
    b"\"",
    b"nan",
    b"1e39",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"-",
    b"{",
];

fn mutated(original: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = original.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(data.len() + 1);
        let span = at..(at + 1 + random.below(24)).min(data.len());
        match random.below(8) {
            0 | 1 if !data.is_empty() => {
                let at = random.below(data.len());
                data[at] ^= 1 << random.below(8);
            }
            2 => data.truncate(at),
            3 if data.len() < LARGEST => {
                let copy = data[span].to_vec();
                data.splice(at..at, copy);
            }
            4 => drop(data.drain(span)),
            5 => overwrite(&mut data, at, &pick(&NUMBERS, random).to_le_bytes()[..*pick(&[1, 2, 4, 8], random)]),
            6 => {
                let number = pick(&NUMBERS, random).to_string();
                let digits = data[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                data.splice(at..at + digits, number.into_bytes());
            }
            _ => {
                let token = *pick(&TOKENS, random);
                data.splice(at..at, token.iter().copied());
            }
        }
    }
    data
}

fn overwrite(data: &mut [u8], at: usize, bytes: &[u8]) {
    data[at..].iter_mut().zip(bytes).for_each(|(old, new)| *old = *new);
}

fn no_panic(target: &str, file: &Path, mutation: u64, data: &[u8]) {
    // A target that panics has printed why; this says on what, so that it can become a seed.
    if catch_unwind(AssertUnwindSafe(|| drop(outcome(target, data)))).is_err() {
        panic!("{target} panics on mutation {mutation} of {}: b\"{}\"", file.display(), data.escape_ascii());
    }
}

fn run(target: &str) {
    let run = seeds::seed();
    let files = corpus(target);
    assert!(files.len() >= 5, "the corpus of {target} is gone");
    for file in files {
        let original = std::fs::read(&file).unwrap();
        no_panic(target, &file, 0, &original);
        let name = file.file_name().unwrap().to_string_lossy();
        for mutation in 1..=MUTATIONS {
            let data = mutated(&original, &mut random(run, &name, mutation));
            no_panic(target, &file, mutation, &data);
        }
    }
}

macro_rules! no_panic_in {
    ($($target:ident)*) => {
        mod no_panic_in {
            $(#[test] fn $target() { super::run(stringify!($target)); })*

            #[test]
            fn any_target_left_out_here() {
                assert_eq!(super::targets::ALL.map(|(name, _)| name), [$(stringify!($target)),*]);
            }
        }
    };
}

no_panic_in!(text glove word2vec fasttext npy safetensors parquet arrow lexicon_pairs lexicon_tuples moments model detect);

/// For seeds of every target: what the error must say beside the name of the file, the place first.
#[rustfmt::skip]
const MESSAGES: [(&str, &[(&str, &str)]); 13] = [
    ("text", &[
        ("cut-off.gz", ": cannot be decompressed"),
        ("cut-off.xz", ": cannot be decompressed"),
        ("cut-off.zst", ": cannot be decompressed"),
        ("dimension-of-lines-differs", ", line 1: declares vectors of dimension 4, but the lines below have 3 numbers"),
        ("dimension-zero", ": has vectors of dimension 0"),
        ("huge-dictionary.xz", ": cannot be decompressed (memory limit reached)"),
        ("huge-dimension", ": has vectors of dimension 1152921504606846976"),
        ("not-finite", "2 with NaN or infinity (first: line 3)"),
        ("only-a-header", ", line 2: has a header and nothing after it"),
        ("tab-separated", ", line 2: has no `word number number …` line; it seems to be separated by tabs"),
        ("wrong-field-count", "1 with too few or wrong fields (first: line 3)"),
        ("zero-vector", "1 all zero (first: line 3)"),
    ]),
    ("glove", &[
        ("last-line-cut", "1 with too few or wrong fields (first: line 3)"),
        ("only-words", ", line 1: is not `word number number …`"),
    ]),
    ("word2vec", &[
        ("cut-in-vector", ", byte 23: entry 2 of 2 is cut off"),
        ("dimension-above-limit", ": has vectors of dimension 100000"),
        ("huge-row-count", ", byte 58: entry 3 of 1152921504606846976 is cut off"),
        ("no-header", ", byte 0: does not begin with `count dimension`"),
        ("not-finite", "1 with NaN or infinity (first: entry 2)"),
    ]),
    ("fasttext", &[
        ("cut-in-arguments", ", byte 28: the fastText model is cut off"),
        ("huge-matrix", ", byte 151: the fastText model is cut off"),
        ("huge-ngrams", ", byte 64: declares n-grams of up to 2147483647 characters"),
        ("matrix-too-small", ", byte 151: has a matrix of 3 x 2 where 3 words, 4 buckets and dimension 2 are declared"),
        ("more-words-than-dictionary", ", byte 92: declares 9 words in a dictionary of 3"),
        ("quantised", ", byte 134: is a quantised fastText model"),
        ("version-99", ", byte 8: is a fastText model of version 99"),
    ]),
    ("npy", &[
        ("big-endian", ", byte 0: holds numbers of type '>f4'"),
        ("cut-off", ", byte 147: declares 2 x 3 numbers but ends before they do"),
        ("huge-shape-wraps-to-fit", ", byte 152: declares 4611686018427387904 x 4 numbers but ends before they do"),
        ("nested-parentheses", ", byte 0: holds an array of shape (((("),
        ("object-dtype", ", byte 0: holds numbers of type '|O'"),
        ("shape-of-three", ", byte 0: holds an array of shape (2, 1, 3)"),
        ("too-few-words", "words: has 1 words for an array of 2 rows"),
    ]),
    ("safetensors", &[
        ("cut-off", "is not a whole safetensors file"),
        ("huge-header-length", "(header too large)"),
        ("huge-offsets-overflow-together", ", byte 880: ends before its array \"t0\" does"),
        ("no-vectors", ": has no array with rows and columns"),
        ("no-words", ": holds numbers but no words"),
        ("overlapping-offsets", "invalid offset for tensor `words`"),
    ]),
    ("parquet", &[
        ("broken-footer", ": cannot be read as a table (EOF: Parquet file too small"),
        ("brotli", ": cannot be read: Disabled feature at compile time: brotli; write it without that"),
        ("corrupt-page", ": cannot be read as a table ("),
        ("cut-off", ": cannot be read as a table (Parquet error: Invalid Parquet file. Corrupt footer)"),
        ("footer-of-zeros", ": cannot be read as a table ("),
        ("no-rows", ": is a table without rows"),
        ("no-vectors", ": has no column of vectors, which would be lists of float32"),
        ("no-words", ": has no column of words (strings) or of integer ids; the columns are vector"),
        ("not-finite", "1 with NaN or infinity (first: row 3)"),
        ("null-vectors", "3 whose vector is null or has nulls (first: row 2)"),
        ("null-words", "2 without a usable word (first: row 2)"),
        ("ragged", ", row 3: the vector in the column \"vector\" has 2 numbers, those before it have 3"),
        ("two-candidates", ": has several columns that could be vectors (a, b); name the columns"),
    ]),
    ("arrow", &[
        ("cut-off", ": cannot be read as a table (it has no footer)"),
        ("huge-decompressed-size", "a record batch declares 175921860"),
        ("huge-footer", ": cannot be read as a table (its footer declares 2147483647 bytes)"),
        ("null-vectors", "3 whose vector is null or has nulls (first: row 2)"),
        ("ragged", ", row 3: the vector in the column \"vector\" has 2 numbers, those before it have 3"),
        ("stream-cut-off", ": cannot be read as a table (it ends within a message)"),
        ("wrong-type", ": has no column of vectors, which would be lists of float32"),
    ]),
    ("lexicon_pairs", &[
        ("three-columns-parquet", ": needs a column of words for each view, called like it (en, fr); its columns of strings are a, b, c"),
        ("comments-only", ": has no entries"),
        ("missing-translation", "1 with too few or wrong fields (first: line 2)"),
        ("utf16", ": is UTF-16 text; it must be UTF-8 text"),
    ]),
    ("lexicon_tuples", &[
        ("header-invalid-utf8", ", line 1: is not valid UTF-8"),
        ("separated-by-commas", ", line 1: \"en,fr\" is no header"),
        ("too-many-cells", "1 with too few or wrong fields (first: line 3)"),
        ("too-many-views", ", line 1: names 1001 views"),
        ("view-twice", ", line 1: names the view \"en\" twice"),
    ]),
    ("moments", &[
        ("count-negative", ": group 0 has a count of -9"),
        ("group-of-unknown-view", ": group 0 is over views [0, 7]"),
        ("group-twice", ": group 1 is over the same views"),
        ("mean-missing", ": has no array \"0.mean\""),
        ("not-finite", ": the array \"0.mean\" contains NaN"),
        ("scatter-negative", ": the array \"0.scatter\" is no sum of squares"),
        ("scatter-not-symmetric", ": the array \"0.scatter\" is no sum of squares"),
        ("view-twice", ": view \"en\" has no dimension, or is there twice"),
        ("scatter-transposed-shape", ": the array \"0.scatter\" is of shape [1, 9]"),
        ("wrong-kind", ": is a model, not"),
        ("wrong-version", "of format version 7"),
    ]),
    ("model", &[
        ("array-missing", ": has no array \"0.psi\""),
        ("deviation-zero", ": the array \"1.normalize.1\" is nothing that the step standardize can learn"),
        ("huge-latent-dimension-of-empty-views", "rows and columns are needed"),
        ("one-view", ": describes no model"),
        ("unknown-method", "unknown variant `magic`"),
        ("wrong-version", "of format version 3"),
    ]),
    ("detect", &[
        ("empty.zst", ": is empty after decompression"),
        ("html.vec", ", byte 0: is an HTML or XML page"),
        ("pickle", ", byte 0: is a Python pickle"),
        ("zip", ", byte 0: is a zip archive"),
    ]),
];

#[test]
fn errors_name_the_file_the_place_and_the_cause() {
    for (target, messages) in MESSAGES {
        for (name, expected) in messages {
            let Err(error) = outcome(target, &seed(target, name)) else { panic!("{target}/{name} was read") };
            let message = error.to_string();
            assert!(message.starts_with("fuzzed/") && message.contains(expected), "{target}/{name}: {message}");
            assert!(message.len() < 600, "{target}/{name}: {message}");
        }
    }
}

#[test]
fn valid_seeds_are_read() {
    let valid = targets::ALL.into_iter().flat_map(|(target, _)| corpus(target).into_iter().map(move |f| (target, f)));
    let valid = valid.filter(|(_, file)| file.file_name().unwrap().to_string_lossy().starts_with("valid"));
    let read =
        valid.map(|(target, file)| outcome(target, &std::fs::read(&file).unwrap()).unwrap_or_else(|e| panic!("{e}")));
    assert!(read.count() >= 20);
}
