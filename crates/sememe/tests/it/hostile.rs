//! Hostile files: every reader over the seeds in `fuzz/corpus` and thousands of mutations of each; nothing panics, and
//! errors say where and why. The same targets run under `cargo fuzz` for as long as one likes.

#[path = "../../../../fuzz/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

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

/// xorshift64*: what is random here must be the same everywhere.
struct Random(u64);

impl Random {
    fn new(name: &str, mutation: u64) -> Self {
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Random((seed ^ mutation.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 32) as usize % limit.max(1)
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// Numbers at which sizes and signs turn over.
const NUMBERS: [i64; 12] =
    [0, 1, -1, 2, 127, 255, 65_536, i32::MAX as i64, i32::MIN as i64, 1 << 60, i64::MAX, i64::MIN];
/// What means something in one format or another.
const TOKENS: [&[u8]; 14] =
    [b" ", b"\n", b"\r\n", b"\t", b"\0", b",", b"\"", b"nan", b"1e39", b"\xff", b"\xef\xbb\xbf", b"\xc2\xa0", b"-", b"{"];

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
            5 => overwrite(&mut data, at, &random.pick(&NUMBERS).to_le_bytes()[..*random.pick(&[1, 2, 4, 8])]),
            6 => {
                let number = random.pick(&NUMBERS).to_string();
                let digits = data[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                data.splice(at..at + digits, number.into_bytes());
            }
            _ => {
                let token = *random.pick(&TOKENS);
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
    let files = corpus(target);
    assert!(files.len() >= 5, "the corpus of {target} is gone");
    for file in files {
        let original = std::fs::read(&file).unwrap();
        no_panic(target, &file, 0, &original);
        let name = file.file_name().unwrap().to_string_lossy();
        for mutation in 1..=MUTATIONS {
            let data = mutated(&original, &mut Random::new(&name, mutation));
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

no_panic_in!(text glove word2vec fasttext npy safetensors lexicon_pairs lexicon_tuples moments model detect);

#[test]
fn dump() {
    for (target, read) in targets::ALL {
        for file in corpus(target) {
            let r = catch_unwind(|| read(&std::fs::read(&file).unwrap()));
            eprintln!("{target}/{} => {}", file.file_name().unwrap().to_string_lossy(), match r { Ok(Ok(())) => "ok".into(), Ok(Err(e)) => e.to_string(), Err(_) => "PANIC".into() });
        }
    }
}
