//! Maps between two embedding models, applied to files.

use std::fs;
use std::path::{Path, PathBuf};

use sememe::migrate::{self, MapMethod, MigrateOptions, Precision, Side, StreamOptions};
use sememe::vectors::{self, Matrix, ReadOptions};

use crate::migrating::{FITTED, Models, NEW, OLD, pairs, write_npy};

#[test]
fn files_of_every_format_are_mapped_alike() {
    let (models, map) = &*FITTED;
    let texts = models.texts(1000, 6);
    let expected = map.apply(Side::New, Side::Old, &texts.new).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    write_npy(&file("queries.npy"), &texts.new);
    let options = StreamOptions::new(Side::New, Side::Old);
    for name in ["a.npy", "a.safetensors", "a.parquet", "a.arrow"] {
        let streamed = map.apply_file(&file("queries.npy"), &file(name), &options, &()).unwrap();
        assert_eq!((streamed.rows, streamed.dimension, streamed.resumed), (1000, OLD, 0));
        let read = vectors::read_matrix(&file(name), &ReadOptions::default(), &()).unwrap();
        assert_eq!(read.as_slice(), expected.as_slice(), "{name}");
        assert_eq!(streamed.checksum, checksum_of(&file(name)), "{name}");
        // Every format is read as well as written.
        let latent = file(&format!("latent-{name}"));
        let back = StreamOptions::new(Side::Old, Side::Latent).with_force(true);
        map.apply_file(&file(name), &latent, &back, &()).unwrap();
        let read = vectors::read_matrix(&latent, &ReadOptions::default(), &()).unwrap();
        assert_eq!(read.as_slice(), map.apply(Side::Old, Side::Latent, &expected).unwrap().as_slice(), "{name}");
        let half = file(&format!("half-{name}"));
        let options = options.clone().with_precision(Some(Precision::F16));
        assert_eq!(map.apply_file(&file("queries.npy"), &half, &options, &()).unwrap().precision, Precision::F16);
        let half = vectors::read_matrix(&half, &ReadOptions::default(), &()).unwrap();
        assert!(half.as_slice().iter().zip(expected.as_slice()).all(|(a, b)| (a - b).abs() < 1e-3), "{name}");
    }
    assert!(!file("a.npy.parts").exists());
}

fn checksum_of(path: &Path) -> String {
    blake3::hash(&fs::read(path).unwrap()).to_hex().to_string()
}

#[test]
fn an_interrupted_stream_goes_on_with_the_same_result() {
    let (models, map) = &*FITTED;
    let texts = models.texts(1000, 6);
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("q.npy"), folder.path().join("out.npy"));
    write_npy(&input, &texts.new);
    let options = StreamOptions::new(Side::New, Side::Old);
    let whole = map.apply_file(&input, &output, &options, &()).unwrap();
    fs::remove_file(&output).unwrap();
    // Stopped at once: nothing is under the final name.
    let stop = |_event: sememe::observe::Event| std::ops::ControlFlow::Break(());
    assert!(matches!(map.apply_file(&input, &output, &options, &stop), Err(sememe::Error::Stopped)));
    assert!(!output.exists() && folder.path().join("out.npy.parts").exists());
    // A segment of another map is not taken for one of this.
    let only = MigrateOptions::default().with_method(Some(MapMethod::Procrustes));
    let other = migrate::fit(&pairs(models, 200), None, &only, &()).unwrap();
    assert!(other.apply_file(&input, &output, &options.clone().with_force(true), &()).is_ok());
    let again = map.apply_file(&input, &output, &options, &()).unwrap();
    assert_eq!(again.checksum, whole.checksum);
}

#[test]
fn wrong_files_are_refused_with_their_rows() {
    let (models, map) = &*FITTED;
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("q.npy"), folder.path().join("out.npy"));
    let options = StreamOptions::new(Side::New, Side::Old);
    let refused = |rows: &Matrix, options: &StreamOptions| {
        write_npy(&input, rows);
        let error = map.apply_file(&input, &output, options, &()).unwrap_err();
        assert!(!output.exists());
        format!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string))
    };
    let texts = models.texts(1000, 6);
    let mut wrong = texts.new.clone();
    wrong.as_mut_slice()[NEW * 700] = f32::NAN;
    let error = refused(&wrong, &options);
    assert!(error.contains("row 700"), "{error}");
    let error = refused(&texts.old, &options);
    assert!(error.contains("length"), "{error}");
    let error = refused(&Models::new(55).texts(1000, 6).new, &options);
    assert!(error.contains("new model"), "{error}");
    write_npy(&input, &Models::new(55).texts(1000, 6).new);
    assert!(map.apply_file(&input, &output, &options.with_force(true), &()).is_ok());
    assert!(
        map.apply_file(&input, &folder.path().join("out.vec"), &StreamOptions::new(Side::New, Side::Old), &()).is_err()
    );
}
