//! Formats that are left out by Cargo features: their files are refused by an error that names the feature.
//!
//! A binary of its own, as it is also built without any feature: `cargo test -p sememe --no-default-features --test features`.

use std::path::Path;

use sememe::Error;
use sememe::vectors;

/// A file of each format that has a feature, and whether the feature is on.
const FILES: [(&str, &str, bool); 5] = [
    ("safetensors/valid.zst", "zstd", cfg!(feature = "zstd")),
    ("detect/word2vec.xz", "xz", cfg!(feature = "xz")),
    ("fasttext/valid", "fasttext", cfg!(feature = "fasttext")),
    ("parquet/valid", "parquet", cfg!(feature = "parquet")),
    ("arrow/valid-stream", "parquet", cfg!(feature = "parquet")),
];

fn read(file: &str) -> sememe::Result<usize> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(file);
    Ok(vectors::read(&path, &Default::default(), &())?.embeddings.len())
}

#[test]
fn a_file_of_a_format_that_is_left_out_names_the_feature() {
    for (file, needed, is_on) in FILES {
        match read(file) {
            Ok(words) => assert!(is_on && words > 0, "{file} was read without {needed}"),
            Err(error) => {
                assert!(!is_on, "{error}");
                let message = error.to_string();
                assert!(message.contains(file) && message.contains(&format!("feature `{needed}`")), "{message}");
                assert!(matches!(error, Error::MissingFeature { feature, .. } if feature == needed));
            }
        }
    }
}

#[test]
fn gzip_and_plain_files_need_no_feature() {
    for file in ["text/valid", "text/valid.gz", "safetensors/valid", "word2vec/valid"] {
        assert!(read(file).unwrap() > 0);
    }
}
