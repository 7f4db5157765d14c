//! What is written can be read back, and what is read says what was wrong with it.

use std::path::Path;

use proptest::prelude::*;
use sememe::Error;
use sememe::files::Input;
use sememe::vectors::{self, Embeddings, Format, Matrix, Read, ReadOptions, Reason, Vocabulary, Warning};

use crate::seeds::cases;

fn read_text(text: &str, options: &ReadOptions) -> sememe::Result<Read> {
    vectors::read_input(&Input::from_bytes("test.vec", text.as_bytes().to_vec())?, None, options, &())
}

fn message(text: &str) -> String {
    read_text(text, &ReadOptions::default()).unwrap_err().to_string()
}

/// Enough good lines for a bad one to be under 1 %.
fn with_good_lines(bad: &str) -> String {
    let good: String = (0..200).map(|i| format!("good{i} {i} 1\n")).collect();
    format!("{good}{bad}")
}

fn assert_same(found: &Embeddings, expected: &Embeddings) {
    assert_eq!(found.vocabulary().iter().collect::<Vec<_>>(), expected.vocabulary().iter().collect::<Vec<_>>());
    assert_eq!(found.matrix().as_slice(), expected.matrix().as_slice());
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zа-я]{1,8}", "[a-z][ \u{a0}\u{2009}_.0-9]{0,4}[a-z]", "\\PC{1,6}x"]
}

fn embeddings(words: impl Strategy<Value = String>) -> impl Strategy<Value = Embeddings> {
    let finite = prop_oneof![-2.0_f32..2.0, Just(1e-38), Just(-3.4e38), Just(0.1), Just(16_777_217.0)];
    (prop::collection::vec(words, 1..20), prop::collection::vec(finite, 60)).prop_map(|(words, values)| {
        let vocabulary: Vocabulary = words.iter().map(String::as_str).collect();
        let values = values[..3 * vocabulary.len()].to_vec();
        Embeddings::new(vocabulary, Matrix::new(values, 3))
    })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_format_gives_back_what_was_written(embeddings in embeddings(word())) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.vec", "a.txt", "a.bin", "a.npy", "a.safetensors", "a.parquet", "a.arrow"] {
            let path = folder.path().join(name);
            let format = Format::of_name(&path).unwrap();
            // A handful of floats can look like text: say what the file is.
            let options = ReadOptions::default().with_format(Some(format));
            match vectors::write(&embeddings, &path, format) {
                Ok(()) => assert_same(&vectors::read(&path, &options, &()).unwrap().embeddings, &embeddings),
                // word2vec's words end at a space.
                Err(error) => prop_assert!(format == Format::Word2vec && error.to_string().contains("space")),
            }
        }
    }
}

#[test]
fn formats_are_recognised_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vocabulary = ["a", "b"].into_iter().collect();
    let embeddings = Embeddings::new(words, Matrix::new(vec![1.0, 2.0, 3.0, 4.0], 2));
    for (_, format) in Format::ALL.into_iter().filter(|(_, format)| *format != Format::FastText) {
        let path = folder.path().join("same-name");
        vectors::write(&embeddings, &path, format).unwrap();
        assert_eq!(vectors::read(&path, &ReadOptions::default(), &()).unwrap().format, format);
    }
}

#[cfg(feature = "zstd")]
#[test]
fn compressed_text_is_read() {
    let text = "2 2\na 1 2\nb 3 4\n";
    let zstd = Input::from_bytes("a.vec.zst", zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    let read = vectors::read_input(&zstd, None, &ReadOptions::default(), &()).unwrap();
    assert_same(&read.embeddings, &read_text(text, &ReadOptions::default()).unwrap().embeddings);
}

#[test]
fn numpy_arrays_of_any_order_and_type_are_read() {
    let words = Input::from_bytes("words.txt", b"a\nb\n".to_vec()).unwrap();
    let npy = |descr: &str, fortran: &str, data: Vec<u8>| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (2, 3), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        let input = Input::from_bytes("a.npy", bytes).unwrap();
        vectors::read_input(&input, Some(&words), &ReadOptions::default(), &())
            .unwrap()
            .embeddings
            .matrix()
            .as_slice()
            .to_vec()
    };
    let f64s = |values: [f64; 6]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(npy("<f8", "False", f64s([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(npy("<f8", "True", f64s([1.0, 4.0, 2.0, 5.0, 3.0, 6.0])), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(npy("|i1", "False", vec![1, 255, 3, 4, 5, 128]), [1.0, -1.0, 3.0, 4.0, 5.0, -128.0]);
}

#[test]
fn unusable_lines_are_counted_by_reason_with_the_first_line_of_each() {
    let bad = "nan NaN 1\ngood3 9 9\nzero 0 0\nlate inf 0\n";
    let text = with_good_lines(bad) + &with_good_lines("").replace("good", "more");
    let read = read_text(&text, &ReadOptions::default()).unwrap();
    assert_eq!(read.embeddings.len(), 400);
    assert_eq!(read.skipped.count(Reason::NotFinite), 2);
    assert_eq!(read.skipped.count(Reason::Duplicate), 1);
    assert_eq!(read.skipped.count(Reason::ZeroVector), 1);
    let report = read.skipped.to_string();
    assert!(report.contains("1 duplicate (first: line 202)") && report.contains("(first: line 201)"), "{report}");
}

#[test]
fn invalid_utf8_words_are_read_past() {
    let mut bytes = b"201 2\n\xff\xfe 1 2\n".to_vec();
    bytes.extend((0..200).flat_map(|i| format!("ok{i} 3 4\n").into_bytes()));
    let options = ReadOptions::default().with_format(Some(Format::Text));
    let read = vectors::read_input(&Input::from_bytes("t", bytes).unwrap(), None, &options, &()).unwrap();
    assert_eq!(read.embeddings.len(), 200);
    assert_eq!(read.skipped.count(Reason::InvalidUtf8), 1);
}

#[test]
fn more_than_one_per_cent_bad_or_strict_reading_is_an_error() {
    let one_bad = with_good_lines("short 1\n");
    assert!(read_text(&one_bad, &ReadOptions::default()).is_ok());
    let strict = ReadOptions::default().with_strict(true);
    let error = read_text(&one_bad, &strict).unwrap_err();
    assert!(matches!(&error, Error::TooManySkipped { .. }) && error.to_string().contains("line 201"), "{error}");
    assert!(message(&with_good_lines(&"short 1\n".repeat(3))).contains("3 of 203"));
}

#[test]
fn a_header_may_be_wrong_about_the_count_but_not_about_the_dimension() {
    let read = read_text("9 2\na 1 2\nb 3 4\n", &ReadOptions::default()).unwrap();
    assert_eq!(read.warnings, [Warning::CountMismatch { declared: 9, found: 2 }]);
    let error = message("2 3\na 1 2\nb 3 4\n");
    assert!(
        error.contains("test.vec, line 1") && error.contains("dimension 3") && error.contains("2 numbers"),
        "{error}"
    );
}

#[test]
fn impossible_files_are_refused_with_a_reason() {
    for (text, reason) in [
        ("", "is empty"),
        ("<!DOCTYPE html><html>404</html>\n", "HTML"),
        ("5 300\n", "nothing after it"),
        ("3 0\na\nb\n", "dimension 0"),
        ("3 100000\na 1 2\n", "dimension 100000"),
        ("18446744073709551615 99999999\na 1\n", "dimension 99999999"),
        ("hello\nworld\n", "not a text file of word vectors"),
        ("a\t1\t2\nb\t3\t4\n", "tabs"),
    ] {
        let error = message(text);
        assert!(error.contains(reason) && error.starts_with("test.vec"), "{text:?}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(vectors::read(folder.path(), &ReadOptions::default(), &()).unwrap_err().to_string().contains("directory"));
    let missing = vectors::read(Path::new("no/such/file.vec"), &ReadOptions::default(), &()).unwrap_err();
    assert!(missing.to_string().contains("no/such/file.vec") && missing.is_bad_input());
}

#[test]
fn max_words_stops_early() {
    let text = with_good_lines("");
    let options = ReadOptions::default().with_max_words(Some(7)).with_strict(true);
    assert_eq!(read_text(&text, &options).unwrap().embeddings.len(), 7);
    // What comes after the words asked for is not looked at.
    assert_eq!(read_text(&(text + &"broken\n".repeat(500)), &options).unwrap().embeddings.len(), 7);
}

#[test]
fn lower_casing_keeps_the_first_of_equal_words() {
    let read = read_text("3 1\nThe 1\nthe 2\nDOG 3\n", &ReadOptions::default()).unwrap();
    let lower = read.embeddings.lowercased();
    assert_eq!(lower.vocabulary().iter().collect::<Vec<_>>(), ["the", "dog"]);
    assert_eq!(lower.matrix().as_slice(), [1.0, 3.0]);
}

#[test]
fn word_lists_are_found_beside_the_array_and_must_fit() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vocabulary = ["a", "b"].into_iter().collect();
    let embeddings = Embeddings::new(words, Matrix::new(vec![1.0, 2.0, 3.0, 4.0], 2));
    let path = folder.path().join("v.npy");
    vectors::write(&embeddings, &path, Format::Npy).unwrap();
    let list = folder.path().join("v.words.txt");
    for name in ["v.txt", "words.txt", "other.txt"] {
        std::fs::rename(&list, folder.path().join(name)).unwrap();
        let named = (name == "other.txt").then(|| folder.path().join(name));
        let options = ReadOptions::default().with_words(named);
        assert_same(&vectors::read(&path, &options, &()).unwrap().embeddings, &embeddings);
        std::fs::rename(folder.path().join(name), &list).unwrap();
    }
    std::fs::write(&list, "a\nb\nc\n").unwrap();
    let error = vectors::read(&path, &ReadOptions::default(), &()).unwrap_err().to_string();
    assert!(error.contains("3 words for an array of 2 rows"), "{error}");
    std::fs::remove_file(&list).unwrap();
    let error = vectors::read(&path, &ReadOptions::default(), &()).unwrap_err().to_string();
    assert!(error.contains("no word list"), "{error}");
}

#[test]
fn a_byte_order_mark_that_is_part_of_the_first_word_survives() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vocabulary = ["\u{feff}a", "b"].into_iter().collect();
    let embeddings = Embeddings::new(words, Matrix::new(vec![1.0, 2.0, 3.0, 4.0], 2));
    for name in ["a.vec", "a.txt", "a.bin", "a.npy", "a.safetensors", "a.parquet", "a.arrow"] {
        let path = folder.path().join(name);
        vectors::write(&embeddings, &path, Format::of_name(&path).unwrap()).unwrap();
        assert_same(&vectors::read(&path, &ReadOptions::default(), &()).unwrap().embeddings, &embeddings);
    }
}

#[test]
fn an_array_of_any_name_finds_the_words_written_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, word) in [("x.npy", "first"), ("x.npy.v2.npy", "second"), ("out.vec", "third")] {
        let words: Vocabulary = [word].into_iter().collect();
        let path = folder.path().join(name);
        vectors::write(&Embeddings::new(words, Matrix::new(vec![1.0], 1)), &path, Format::Npy).unwrap();
    }
    for (name, word) in [("x.npy", "first"), ("x.npy.v2.npy", "second"), ("out.vec", "third")] {
        let read = vectors::read(&folder.path().join(name), &ReadOptions::default(), &()).unwrap();
        assert_eq!(read.embeddings.word(0), word);
    }
}

#[test]
fn binary_rows_that_look_like_a_line_of_text_do_not_make_a_text_file() {
    // Bytes of the second vector are "\nab 1\n…": a line with a word and one number.
    let mut bytes = b"2 4\n".to_vec();
    bytes.extend(b"one ");
    bytes.extend([0.5_f32, -1.0, 2.0, 1e-9].iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend(b"two \nab 1\n<=\xcd\xcc\xcc\x3d\xcd\xcc\xcc\x3d");
    let read =
        vectors::read_input(&Input::from_bytes("t.bin", bytes).unwrap(), None, &ReadOptions::default(), &()).unwrap();
    assert_eq!((read.format, read.embeddings.len()), (Format::Word2vec, 2));
}

#[test]
fn a_file_in_another_encoding_is_refused() {
    // Words without accents look the same, so that most words of a French text may do.
    for one_in in [1, 4, 50] {
        let word = |i: usize| if i.is_multiple_of(one_in) { b"\xe9t\xe9".as_slice() } else { b"ete" };
        let latin1 = (0..200).flat_map(|i| [word(i), format!("{i} 1 2\n").as_bytes()].concat()).collect();
        let input = Input::from_bytes("l1.vec", latin1).unwrap();
        let error = vectors::read_input(&input, None, &ReadOptions::default(), &()).unwrap_err().to_string();
        assert!(error.contains("line 1: is one of") && error.contains("iconv"), "{error}");
    }
}

#[test]
fn lines_with_more_numbers_than_the_dimension_are_pointed_out() {
    let text: String = (0..100).map(|i| format!("w{i} 1 2 3{}\n", if i % 3 == 0 { " 4" } else { "" })).collect();
    let read = read_text(&format!("100 3\n{text}"), &ReadOptions::default()).unwrap();
    assert_eq!(read.warnings, [Warning::NumbersInWords { count: 34, first: 2 }]);
}
