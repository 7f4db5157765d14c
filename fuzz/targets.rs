//! One function per reader: takes any bytes, and where reading succeeds checks what readers promise.
//!
//! The fuzzer runs these through `fuzz_targets/`, and the tests of the library run them over `corpus/`. An error is a
//! good outcome; it is returned so that a test can look at its message. What the fuzzer finds belongs beside the corpus,
//! whose files have names that say what is wrong with them:
//!
//! ```text
//! mkdir -p fuzz/found/text && cargo +nightly fuzz run text fuzz/found/text fuzz/corpus/text
//! ```

#![allow(dead_code, reason = "each fuzz target uses one of these functions")]

use std::collections::HashSet;

use sememe::align::Alignment;
use sememe::files::Input;
use sememe::lexicon::{self, Lexicon};
use sememe::linalg::Mat;
use sememe::model;
use sememe::moments::{Evidence, Moments};
use sememe::vectors::{self, Embeddings, Format, Matrix, Read, ReadOptions};
use sememe::{Error, Result};

/// A target takes a file's bytes and returns what the reader made of them.
pub type Target = fn(&[u8]) -> Result<()>;

/// All targets by name; a target's corpus is the folder of its name.
pub const ALL: [(&str, Target); 13] = [
    ("text", text),
    ("glove", glove),
    ("word2vec", word2vec),
    ("fasttext", fasttext),
    ("npy", npy),
    ("safetensors", safetensors),
    ("parquet", parquet),
    ("arrow", arrow),
    ("lexicon_pairs", lexicon_pairs),
    ("lexicon_tuples", lexicon_tuples),
    ("moments", moments),
    ("model", model),
    ("detect", detect),
];

/// Larger inputs are read but not written again, which would only make the fuzzer slow.
const LARGEST_WRITTEN: usize = 4096;

pub fn text(data: &[u8]) -> Result<()> {
    vectors_of("text", data, None, Some(Format::Text))
}

pub fn glove(data: &[u8]) -> Result<()> {
    vectors_of("glove", data, None, Some(Format::Glove))
}

pub fn word2vec(data: &[u8]) -> Result<()> {
    vectors_of("word2vec", data, None, Some(Format::Word2vec))
}

pub fn fasttext(data: &[u8]) -> Result<()> {
    vectors_of("fasttext", data, None, Some(Format::FastText))
}

/// Two bytes with the length of the array, the array, and its word list.
pub fn npy(data: &[u8]) -> Result<()> {
    let Some((&len, files)) = data.split_first_chunk() else { return Ok(()) };
    let (array, words) = files.split_at(usize::from(u16::from_le_bytes(len)).min(files.len()));
    vectors_of("npy", array, Some(words), Some(Format::Npy))
}

pub fn safetensors(data: &[u8]) -> Result<()> {
    vectors_of("safetensors", data, None, Some(Format::Safetensors))
}

pub fn parquet(data: &[u8]) -> Result<()> {
    vectors_of("parquet", data, None, Some(Format::Parquet))
}

/// A file or a stream.
pub fn arrow(data: &[u8]) -> Result<()> {
    vectors_of("arrow", data, None, Some(Format::Arrow))
}

pub fn detect(data: &[u8]) -> Result<()> {
    vectors_of("detect", data, None, None)
}

pub fn lexicon_pairs(data: &[u8]) -> Result<()> {
    let read = lexicon::read_pairs_input(&input("lexicon_pairs", data)?, "en", "fr", &Default::default())?;
    check_lexicon(&read.lexicon);
    Ok(())
}

pub fn lexicon_tuples(data: &[u8]) -> Result<()> {
    let read = lexicon::read_tuples_input(&input("lexicon_tuples", data)?, &Default::default())?;
    check_lexicon(&read.lexicon);
    Ok(())
}

pub fn moments(data: &[u8]) -> Result<()> {
    let mut moments = Moments::read_input(&input("moments", data)?)?;
    let width = |pattern: &[usize]| pattern.iter().map(|&view| moments.views()[view].dim).sum::<usize>();
    for (pattern, of_pattern) in moments.patterns() {
        assert_eq!(of_pattern.mean.len(), width(pattern));
        assert!(of_pattern.n > 0.0 && of_pattern.mean.iter().all(|x| x.is_finite()) && is_finite(&of_pattern.scatter));
    }
    if data.len() <= LARGEST_WRITTEN {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("moments.safetensors");
        moments.write(&path)?;
        let again = Moments::read(&path)?;
        assert_eq!(again.views(), moments.views());
        for (pattern, of_pattern) in moments.patterns() {
            let same = &again.patterns()[pattern];
            assert_eq!((same.n, &same.mean, &same.scatter), (of_pattern.n, &of_pattern.mean, &of_pattern.scatter));
        }
        // Numbers that no data ever gave must end as errors, not as a model of NaN.
        let mut mbfa = model::FitOptions::default().with_method(Some(model::Method::Mbfa));
        mbfa.mbfa.evaluations = 8;
        for options in [model::FitOptions::default(), mbfa] {
            if let Ok((model, _)) = model::fit(&moments, &options, &()) {
                assert!(model.rho.iter().all(|rho| (0.0..=1.0).contains(rho)));
                assert!(model.views.iter().all(|view| is_finite(&view.projection)));
            }
        }
        if let Ok(evidence) = Evidence::read_input(&input("moments", data)?) {
            evidence.write(&path)?;
            assert_eq!(Evidence::read(&path)?.sources, evidence.sources);
            assert!(Evidence::check_distinct(&[evidence.clone(), evidence]).is_err(), "the same twice");
        }
        moments.merge(&again)?;
    }
    Ok(())
}

pub fn model(data: &[u8]) -> Result<()> {
    let alignment = Alignment::read_input(&input("model", data)?)?;
    let model = &alignment.model;
    assert!(model.latent() > 0 && model.views.len() >= 2);
    if data.len() > LARGEST_WRITTEN {
        return Ok(());
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.safetensors");
    alignment.write(&path)?;
    let again = Alignment::read(&path)?;
    assert_eq!((&again.model.rho, &again.sources), (&model.rho, &alignment.sources));
    assert_eq!(again.preparation, alignment.preparation);
    for (index, (view, same)) in model.views.iter().zip(&again.model.views).enumerate() {
        assert_eq!((&same.name, &same.mu, &same.projection), (&view.name, &view.mu, &view.projection));
        assert_eq!(same.emission, view.emission);
        let vectors = Embeddings::new(["a"].into_iter().collect(), Matrix::new(vec![1.0; view.dim()], view.dim()));
        let projected = alignment.project(index, vectors)?;
        assert_eq!(projected.view.dim(), model.latent());
    }
    // A covariance that is none must be refused, not turned into NaN.
    if let Ok(covariance) = model.posterior_covariance(&[0, 1]) {
        assert!(is_finite(&covariance));
    }
    Ok(())
}

/// The folder does not exist, so that no word list is found beside the file.
fn input(target: &str, data: &[u8]) -> Result<Input> {
    Input::from_bytes(format!("fuzzed/{target}"), data.to_vec())
}

fn vectors_of(target: &str, data: &[u8], words: Option<&[u8]>, format: Option<Format>) -> Result<()> {
    let file = input(target, data)?;
    let words = words.map(|words| input("words", words)).transpose()?;
    let read_as = |options: ReadOptions| vectors::read_input(&file, words.as_ref(), &options, &());

    let read = read_as(ReadOptions::default().with_format(format))?;
    check_embeddings(&read.embeddings);
    if let Some(subwords) = read.embeddings.subwords() {
        assert!(subwords.vector("unseen").is_none_or(|vector| vector.iter().all(|x| x.is_finite())));
    }
    let named = read_as(ReadOptions::default().with_format(Some(read.format)))?;
    assert_same("read again as the format that was found", &named, &read.embeddings);
    if let Ok(first) = read_as(ReadOptions::default().with_format(format).with_max_words(Some(1))) {
        assert_eq!((first.embeddings.len(), first.embeddings.word(0)), (1, read.embeddings.word(0)));
    }
    if let Ok(strict) = read_as(ReadOptions::default().with_format(format).with_strict(true)) {
        assert_eq!((strict.skipped.total(), strict.embeddings.len()), (0, read.embeddings.len()));
    }
    if data.len() <= LARGEST_WRITTEN {
        check_written(&read.embeddings)?;
    }
    Ok(())
}

fn check_embeddings(embeddings: &Embeddings) {
    assert!(!embeddings.is_empty() && embeddings.dim() > 0);
    assert_eq!(embeddings.matrix().rows(), embeddings.len());
    let mut distinct = HashSet::new();
    for (index, word) in embeddings.vocabulary().iter().enumerate() {
        assert!(!word.is_empty() && !word.contains('\n') && distinct.insert(word), "{word:?}");
        let vector = embeddings.vector(index);
        assert!(vector.iter().all(|x| x.is_finite()) && vector.iter().any(|&x| x != 0.0), "{word:?} {vector:?}");
        assert_eq!(embeddings.get(word), Some(vector));
    }
}

/// Writes every format that can hold these words, and reads them back.
fn check_written(embeddings: &Embeddings) -> Result<()> {
    // A text file says only by counting where a word with spaces ends, and any file may begin with a byte order mark.
    let has_space = embeddings.vocabulary().iter().any(|word| word.contains(' '));
    let begins_with_mark = embeddings.word(0).starts_with('\u{feff}');
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, format) in Format::ALL {
        let can_hold = match format {
            Format::Text | Format::Word2vec => !has_space,
            Format::Glove => !has_space && !begins_with_mark,
            Format::Npy | Format::Safetensors => !begins_with_mark,
            Format::Parquet | Format::Arrow => true,
            _ => false,
        };
        if can_hold {
            let path = folder.path().join(name);
            vectors::write(embeddings, &path, format).unwrap_or_else(|error| panic!("{error}"));
            let options = ReadOptions::default().with_format(Some(format)).with_strict(true);
            let again = vectors::read(&path, &options, &());
            assert_same(name, &again.unwrap_or_else(|error| panic!("{error}")), embeddings);
        }
    }
    Ok(())
}

fn assert_same(how: &str, read: &Read, expected: &Embeddings) {
    let words = |embeddings: &Embeddings| embeddings.vocabulary().iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&read.embeddings), words(expected), "{how}");
    assert_eq!(read.embeddings.matrix().as_slice(), expected.matrix().as_slice(), "{how}");
}

fn check_lexicon(lexicon: &Lexicon) {
    assert!(!lexicon.entries().is_empty());
    let mut distinct = HashSet::new();
    for entry in lexicon.entries() {
        assert!(entry.words().len() >= 2);
        assert!(entry.words().all(|(view, word)| view < lexicon.views().len() && !word.is_empty()));
        assert!(distinct.insert(entry), "{entry:?}");
    }
    let views: Vec<&str> = lexicon.views().iter().map(String::as_str).collect();
    assert_eq!(lexicon.restricted(&views).map(|same| same.entries().len()).ok(), Some(lexicon.entries().len()));
    assert!(lexicon.lowercased().entries().len() <= lexicon.entries().len());
    let unknown = lexicon.restricted(&["no view has this name\n"]);
    assert!(matches!(unknown, Err(Error::UnknownView { .. })));
}

fn is_finite(matrix: &Mat) -> bool {
    (0..matrix.ncols()).all(|col| (0..matrix.nrows()).all(|row| matrix[(row, col)].is_finite()))
}
