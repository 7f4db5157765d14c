//! Maps between two embedding models as the command gives them.

use std::fs;
use std::path::Path;

use super::random::Random;
use super::retrieval::write_npy;
use super::{json, refused, sememe, text};

/// Vectors of the same texts by two models: `old.npy` (20 numbers), `new.npy` (24), and questions about texts that are near
/// to each other.
fn write_models(folder: &Path, texts: usize) {
    let mut random = Random::new(11);
    let mut normals = |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal() as f32).collect() };
    let loadings = [normals(20 * 12), normals(24 * 12)];
    let (mut models, mut centre, mut questions) = ([Vec::new(), Vec::new()], Vec::new(), String::new());
    for text in 0..texts {
        if text % 3 == 0 {
            centre = normals(12);
            questions += &format!("{text}\t{}\n", text + 1);
        }
        let hidden: Vec<f32> = centre.iter().zip(normals(12)).map(|(x, noise)| x + 0.3 * noise).collect();
        for (loadings, rows) in loadings.iter().zip(&mut models) {
            let image = |row: &[f32]| row.iter().zip(&hidden).map(|(a, b)| a * b).sum::<f32>();
            let noise = normals(loadings.len() / 12);
            rows.push(loadings.chunks_exact(12).zip(noise).map(|(row, noise)| image(row) + 0.2 * noise).collect());
        }
    }
    write_npy(&folder.join("old.npy"), &models[0]);
    write_npy(&folder.join("new.npy"), &models[1]);
    fs::write(folder.join("queries.tsv"), questions).unwrap();
}

const FIT: [&str; 6] = ["migrate", "fit", "old=old.npy", "new=new.npy", "-o", "map.safetensors"];
const EVALUATE: [&str; 5] = ["migrate", "evaluate", "map.safetensors", "old=old.npy", "new=new.npy"];

#[test]
fn a_model_is_changed_from_fit_to_export() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 900);
    let rows: String = (0..600).map(|row| format!("{row}\n")).collect();
    fs::write(folder.join("rows.txt"), rows).unwrap();
    let fitted = json(folder, &[&FIT[..], &["--rows", "rows.txt", "--new-model", "v2"]].concat());
    assert_eq!(
        (&fitted["pairs"], &fitted["new"]["name"], &fitted["old"]["dimension"]),
        (&600.into(), &"v2".into(), &20.into())
    );

    let evaluated = json(folder, &[&EVALUATE[..], &["--queries", "queries.tsv"]].concat());
    for way in ["old", "new", "mapped", "latent", "indexed", "procrustes", "ridge"] {
        let recall = &evaluated[way]["recall"];
        assert!(recall["1"].as_f64().unwrap() <= recall["10"].as_f64().unwrap(), "{way}");
        assert!(evaluated[way]["mrr"].as_f64().unwrap() > 10.0, "{way}: {evaluated}");
    }
    assert_eq!(evaluated["questions"], 300);
    let sampled = sememe(folder, &[&EVALUATE[..], &["--sample", "50"]].concat());
    assert!(text(&sampled.stdout).contains("50 questions"), "{}", text(&sampled.stdout));

    let apply = ["migrate", "apply", "map.safetensors"];
    let applied = json(folder, &[&apply[..], &["new=new.npy", "-o", "asked.parquet"]].concat());
    assert_eq!((&applied["rows"], &applied["dimension"], &applied["to"]), (&900.into(), &20.into(), &"old".into()));
    let latent =
        json(folder, &[&apply[..], &["old=old.npy", "--to", "latent", "--precision", "f16", "-o", "z.npy"]].concat());
    assert_eq!((&latent["precision"], &latent["checksum"].as_str().unwrap().len()), (&"f16".into(), &64));
    json(folder, &[&apply[..], &["latent=z.npy", "--to", "old", "-o", "back.npy"]].concat());

    let quiet = sememe(folder, &["migrate", "monitor", "map.safetensors", "old=old.npy", "new=new.npy"]);
    assert!(quiet.status.success(), "{}", text(&quiet.stderr));
    let exported = json(folder, &["migrate", "export", "map.safetensors", "--onnx", "map.onnx"]);
    assert_eq!((&exported["opset"], &exported["input"]["dimension"]), (&17.into(), &24.into()));
    assert!(fs::read(folder.join("map.onnx")).unwrap().len() > 20 * 24 * 4);
}

#[test]
fn another_model_is_refused_and_rings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 900);
    json(folder, &FIT);
    let mut random = Random::new(3);
    let other: Vec<Vec<f32>> = (0..300).map(|_| (0..24).map(|_| random.normal() as f32).collect()).collect();
    write_npy(&folder.join("other.npy"), &other);
    let apply = ["migrate", "apply", "map.safetensors", "new=other.npy", "-o", "out.npy"];
    assert!(refused(folder, &apply).contains("new model"));
    assert!(!folder.join("out.npy").exists());
    json(folder, &[&apply[..], &["--force"]].concat());
    let rung = sememe(folder, &["migrate", "monitor", "map.safetensors", "new=other.npy"]);
    assert_eq!(rung.status.code(), Some(1));
    assert!(text(&rung.stdout).contains("rings"));
}

#[test]
fn wrong_usage_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 300);
    fs::write(folder.join("rows.txt"), "1\n300\n").unwrap();
    assert!(refused(folder, &[&FIT[..], &["--rows", "rows.txt"]].concat()).contains("line 2"));
    assert!(refused(folder, &["migrate", "fit", "old=old.npy", "neu=new.npy", "-o", "map"]).contains("new is missing"));
    json(folder, &FIT);
    let apply =
        |vectors: &str, output: &str| refused(folder, &["migrate", "apply", "map.safetensors", vectors, "-o", output]);
    assert!(apply("new=old.npy", "out.npy").contains("length"));
    assert!(apply("newer=new.npy", "out.npy").contains("old, new or latent"));
    assert!(apply("new=new.npy", "out.vec").contains(".parquet"));
    fs::write(folder.join("wrong.tsv"), "1\t2\n5\n").unwrap();
    assert!(refused(folder, &[&EVALUATE[..], &["--queries", "wrong.tsv"]].concat()).contains("line 2"));
}
