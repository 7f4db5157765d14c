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
fn rows_that_do_not_belong_together_fail_after_the_map_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 600);
    let mut random = Random::new(5);
    let other: Vec<Vec<f32>> = (0..600).map(|_| (0..24).map(|_| random.normal() as f32).collect()).collect();
    write_npy(&folder.join("new.npy"), &other);
    let fitted = sememe(folder, &[&FIT[..], &["-q"]].concat());
    assert_eq!(fitted.status.code(), Some(1));
    assert!(text(&fitted.stderr).contains("NO BETTER THAN CHANCE"), "{}", text(&fitted.stderr));
    assert!(folder.join("map.safetensors").exists());
}

#[test]
fn queries_that_are_not_trusted_are_listed_for_the_new_index() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 600);
    json(folder, &FIT);
    let apply = ["migrate", "apply", "map.safetensors", "new=new.npy", "-o", "asked.npy", "--confidence", "which.tsv"];
    let applied = json(folder, &[&apply[..], &["--index", "old.npy", "--min-confidence", "0.4"]].concat());
    let table = fs::read_to_string(folder.join("which.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!((table.lines().next(), rows.len()), (Some("row\tconfidence\task"), 600));
    for row in &rows {
        let ask = if row[1].parse::<f64>().unwrap() >= 0.4 { "old" } else { "new" };
        assert_eq!(row[2], ask);
    }
    let of_old = rows.iter().filter(|row| row[2] == "old").count();
    assert_eq!((&applied["asked"]["old"], &applied["asked"]["new"]), (&of_old.into(), &(600 - of_old).into()));
    assert!(refused(folder, &apply).contains("--index"));
    let wrong = [&apply[..], &["--index", "old.npy", "--min-confidence", "2"]].concat();
    assert!(refused(folder, &wrong).contains("from 0 to 1"));
}

#[test]
fn a_plan_tells_what_to_expect() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 1200);
    let plan = ["migrate", "plan", "old=old.npy", "new=new.npy"];
    let expected = json(folder, &plan);
    let curve = expected["curve"].as_array().unwrap();
    let pairs = |point: &serde_json::Value| point["pairs"].as_u64().unwrap();
    assert!(curve.len() >= 3 && curve.windows(2).all(|two| pairs(&two[0]) < pairs(&two[1])), "{curve:?}");
    // What the new model finds is the answer.
    assert_eq!(expected["expected"]["new"]["recall"]["1"], 100.0);
    let labelled = ["--queries", "queries.tsv", "--report", "report", "--rows-to-migrate", "1000000"];
    let labelled = [&plan[..], &labelled, &["--rows-per-second", "500", "--price-per-million", "20"]].concat();
    let expected = json(folder, &labelled);
    assert_eq!(expected["expected"]["questions"], 400);
    let costs = &expected["costs"];
    assert_eq!((&costs["embedding_seconds"], &costs["embedding_price"]), (&2000.0.into(), &20.0.into()));
    assert!(costs["index_seconds"].as_f64().unwrap() > 0.0);
    let page = fs::read_to_string(folder.join("report/index.html")).unwrap();
    for part in ["How many pairs are needed", "What to expect", "What it takes", "<svg"] {
        assert!(page.contains(part), "{part}");
    }
    let shown = sememe(folder, &labelled);
    for part in ["pairs", "recall@10", "(`", "embed 1,000,000 rows again"] {
        assert!(text(&shown.stdout).contains(part), "{part}: {}", text(&shown.stdout));
    }
    fs::write(folder.join("rows.txt"), "1\n2\n").unwrap();
    assert!(refused(folder, &[&plan[..], &["--rows", "rows.txt"]].concat()).contains("a plan needs"));
}

#[test]
fn a_map_is_adapted_and_its_model_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 900);
    json(folder, &[&FIT[..], &["--new-model", "v2"]].concat());
    let adapt = ["migrate", "adapt", "map.safetensors", "old=old.npy", "new=new.npy", "-o", "adapted.safetensors"];
    let adapted = json(folder, &adapt);
    assert!(adapted["learned"].as_u64().unwrap() > 100, "{adapted}");
    let apply = |map: &'static str, model: &'static str| {
        ["migrate", "apply", map, "new=new.npy", "--to", "indexed", "--model", model, "-o", "asked.npy"]
    };
    let applied = json(folder, &apply("adapted.safetensors", "v2"));
    assert_eq!(applied["dimension"], adapted["dimension"]);
    assert!(refused(folder, &apply("map.safetensors", "v2")).contains("adapt"));
    assert!(refused(folder, &apply("adapted.safetensors", "v3")).contains("v2"));
}

#[test]
fn models_without_anything_in_common_are_refused_without_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut random = Random::new(7);
    for (name, dim) in [("old.npy", 8), ("new.npy", 9)] {
        let rows: Vec<Vec<f32>> = (0..700).map(|_| (0..dim).map(|_| random.normal() as f32).collect()).collect();
        write_npy(&folder.join(name), &rows);
    }
    let fitted = sememe(folder, &[&FIT[..], &["--unsupervised"]].concat());
    assert_eq!(fitted.status.code(), Some(1));
    assert!(text(&fitted.stderr).contains("no better than chance"), "{}", text(&fitted.stderr));
    assert!(!folder.join("map.safetensors").exists());
}

/// Writes the header of an array of zeros; the file system stores none of its numbers.
fn write_zeros(path: &Path, rows: u64, dim: u64) {
    let mut header = format!("{{'descr': '<f2', 'fortran_order': False, 'shape': ({rows}, {dim}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    fs::write(path, &bytes).unwrap();
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_len(bytes.len() as u64 + 2 * rows * dim).unwrap();
}

#[test]
fn a_killed_command_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_models(folder, 300);
    json(folder, &FIT);
    // A segment has 64 MB, and these are two and a half.
    write_zeros(&folder.join("big.npy"), 4_200_000, 24);
    let apply = |output: &'static str| {
        ["migrate", "apply", "map.safetensors", "new=big.npy", "--force", "--threads", "1", "-o", output]
    };
    let whole = json(folder, &apply("whole.npy"));
    let parts = folder.join("killed.npy.parts");
    let is_part = |entry: fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "part");
    let has_part = || fs::read_dir(&parts).is_ok_and(|entries| entries.flatten().any(is_part));
    for _ in 0..5 {
        let mut process = std::process::Command::new(env!("CARGO_BIN_EXE_sememe"))
            .current_dir(folder)
            .args(apply("killed.npy"))
            .args(["-q"])
            .spawn()
            .unwrap();
        while process.try_wait().unwrap().is_none() && !has_part() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        // SIGKILL, where there are signals.
        process.kill().unwrap();
        process.wait().unwrap();
        if !folder.join("killed.npy").exists() {
            break;
        }
        fs::remove_file(folder.join("killed.npy")).unwrap();
    }
    assert!(has_part());
    // A segment without its content, as after a power failure, is made again.
    fs::write(parts.join(format!("00000001-{:032}.part", 0)), "").unwrap();
    let resumed = json(folder, &apply("killed.npy"));
    assert!(resumed["resumed"].as_u64().unwrap() > 0);
    assert_eq!((&resumed["checksum"], &resumed["rows"]), (&whole["checksum"], &4_200_000.into()));
    assert!(!parts.exists());
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
