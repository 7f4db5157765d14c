//! Vectors and dictionaries in tables, beyond the files of `fuzz/corpus`, which other software has written.

use std::path::{Path, PathBuf};
use std::slice::from_ref;

use sememe::files::Input;
use sememe::lexicon;
use sememe::vectors::{self, Embeddings, Format, Matrix, ReadOptions};

fn corpus(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(file)
}

fn columns(names: &[&str]) -> ReadOptions {
    ReadOptions::default().with_columns(Some(names.iter().map(|&name| name.to_owned()).collect()))
}

/// Enough rows for several pages and row groups.
fn many(rows: usize, dim: usize) -> Embeddings {
    let words: Vec<String> = (0..rows).map(|row| format!("word {row}")).collect();
    let numbers = (0..rows * dim).map(|x| (x as f32 * 0.37).sin() + 2.0).collect();
    Embeddings::new(words.iter().map(String::as_str).collect(), Matrix::new(numbers, dim))
}

#[test]
fn rows_that_cross_pages_and_row_groups_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let written = many(70_000, 301);
    for format in [Format::Parquet, Format::Arrow] {
        let path = folder.path().join(format.extension());
        vectors::write(&written, &path, format).unwrap();
        for mmap in [false, true] {
            let options = ReadOptions::default().with_mmap(mmap).with_strict(true);
            let read = vectors::read(&path, &options, &()).unwrap();
            assert_eq!((read.format, read.embeddings.len()), (format, written.len()));
            assert!(read.embeddings.matrix().as_slice() == written.matrix().as_slice());
            assert_eq!(read.embeddings.word(69_999), "word 69999");
            let input = Input::open_with(&path, mmap).unwrap();
            let changed = vectors::read_to_change(input, &options, &()).unwrap();
            assert!(changed.embeddings.matrix().as_slice() == written.matrix().as_slice());
            let first = vectors::read(&path, &options.with_max_words(Some(10)), &()).unwrap();
            assert_eq!((first.embeddings.len(), first.embeddings.vector(9)), (10, written.vector(9)));
        }
        let rows = vectors::read_matrix(&path, &ReadOptions::default(), &()).unwrap();
        assert!(rows.as_slice() == written.matrix().as_slice());
    }
}

#[test]
fn tables_of_other_software_are_the_same_in_all_their_variants() {
    let read = |file: &str| vectors::read(&corpus(file), &Default::default(), &()).unwrap().embeddings;
    let expected = read("parquet/valid");
    assert_eq!(expected.vocabulary().iter().collect::<Vec<_>>(), ["house", "New York", "дом", "dog"]);
    for file in [
        "parquet/valid-snappy",
        "parquet/valid-zstd",
        "parquet/valid-lz4",
        "parquet/valid-gzip",
        "parquet/valid-v2",
        "parquet/valid-groups",
        "parquet/valid-byte-stream-split",
        "parquet/valid-lists",
        "parquet/valid-dictionary-words",
        "arrow/valid",
        "arrow/valid-lz4",
        "arrow/valid-zstd",
        "arrow/valid-stream",
        "arrow/valid-stream-zstd",
        "arrow/valid-views",
        "arrow/valid-dictionary-words",
    ] {
        assert_eq!(read(file).fingerprint(), expected.fingerprint(), "{file}");
    }
    let ids = read("parquet/valid-half-ids");
    assert_eq!((ids.word(0), ids.dim()), ("7", 3));
    assert!((ids.vector(0)[0] - expected.vector(0)[0]).abs() < 1e-3);
}

#[test]
fn columns_are_chosen_by_name() {
    let two = corpus("parquet/two-candidates");
    let named = |names: &[&str]| vectors::read(&two, &columns(names), &());
    assert_eq!(named(&["word", "b"]).unwrap().embeddings.word(3), "dog");
    assert_eq!(named(&["a"]).unwrap().embeddings.word(3), "dog");
    let message = |names: &[&str]| named(names).unwrap_err().to_string();
    assert!(message(&["word", "c"]).contains("has no column \"c\"; the columns are word (Utf8), a ("));
    assert!(message(&["a", "b"]).contains("the column \"a\" is of type FixedSizeList"), "{}", message(&["a", "b"]));
    assert!(message(&["word", "a", "b"]).contains("name the column of words and the one of vectors"));
    let rows = vectors::read_matrix(&two, &columns(&["b"]), &()).unwrap();
    assert_eq!((rows.rows(), rows.cols()), (4, 3));
    // Rows without words need no column of them.
    assert_eq!(vectors::read_matrix(&corpus("parquet/no-words"), &Default::default(), &()).unwrap().rows(), 4);
    let ragged = vectors::read_matrix(&corpus("parquet/null-vectors"), &Default::default(), &()).unwrap_err();
    assert!(ragged.to_string().contains(", row 2: the vector in the column \"vector\" is null"), "{ragged}");
}

#[test]
fn record_batches_share_vectors_both_ways() {
    let embeddings = many(100, 3);
    let batch = vectors::record_batch(&embeddings);
    let read = vectors::read_batches(Path::new("batch"), from_ref(&batch), &Default::default()).unwrap();
    assert_eq!(read.embeddings.matrix().as_slice().as_ptr(), embeddings.matrix().as_slice().as_ptr());
    let rows = vectors::read_batch_rows(Path::new("batch"), from_ref(&batch), &Default::default(), false).unwrap();
    assert_eq!(rows.as_slice().as_ptr(), embeddings.matrix().as_slice().as_ptr());
    // Two parts are put together.
    let parts = [batch.slice(0, 40), batch.slice(40, 60)];
    let read = vectors::read_batches(Path::new("batch"), &parts, &Default::default()).unwrap();
    assert_eq!(read.embeddings.fingerprint(), embeddings.fingerprint());
}

#[test]
fn dictionaries_are_columns_called_like_the_views() {
    let tuples = corpus("lexicon_tuples/valid-parquet");
    let read = lexicon::read(&tuples, &["fr", "en", "ru"], &Default::default()).unwrap();
    assert_eq!(
        (read.lexicon.entries().len(), read.single_cells, &read.ignored_views[..]),
        (2, 1, &["note".to_owned()][..])
    );
    let [en, fr] = ["en", "fr"].map(|name| read.lexicon.views().iter().position(|view| view == name).unwrap());
    assert_eq!((read.lexicon.entries()[1].word(en), read.lexicon.entries()[1].word(fr)), (Some("dog"), Some("chien")));
    // Pairs in the order of the columns, or by name.
    let pairs = lexicon::read_pairs(&corpus("lexicon_pairs/valid-arrow"), "en", "fr", &Default::default()).unwrap();
    assert_eq!(pairs.lexicon.entries()[0].word(1), Some("maison"));
    let three = corpus("lexicon_pairs/three-columns-parquet");
    let named = lexicon::ReadOptions::default().with_columns(Some(vec!["b".to_owned(), "a".to_owned()]));
    let pairs = lexicon::read_pairs(&three, "fr", "en", &named).unwrap();
    assert_eq!((pairs.lexicon.entries()[0].word(0), pairs.ignored_columns), (Some("maison"), true));
}

#[test]
fn a_dictionary_is_no_table_of_vectors() {
    let error = vectors::read(&corpus("lexicon_pairs/valid-arrow"), &Default::default(), &()).unwrap_err().to_string();
    assert!(error.contains("has several columns that could be words (from, to)"), "{error}");
}
