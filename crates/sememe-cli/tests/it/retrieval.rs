//! Criteria and neighbours as the command gives them.

use std::path::Path;

use serde_json::json as value;

use super::{DEMO, json, refused, sememe, text};

/// A `.npy` file of rows.
pub(crate) fn write_npy(path: &Path, rows: &[Vec<f32>]) {
    let columns = rows.first().map_or(5, Vec::len);
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {columns}), }}\n", rows.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    rows.iter().flatten().for_each(|x| bytes.extend(x.to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

fn rows(count: usize, turn: f32) -> Vec<Vec<f32>> {
    (0..count).map(|i| (0..5).map(|j| ((i * 7 + j * 13) as f32 * 0.37 + turn).sin()).collect()).collect()
}

/// What an array of numbers of so many bytes holds.
fn read_npy<const BYTES: usize>(path: &Path, dtype: &str) -> Vec<[u8; BYTES]> {
    let bytes = std::fs::read(path).unwrap();
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(String::from_utf8_lossy(&bytes[..start]).contains(dtype));
    assert_eq!(start % 64, 0);
    bytes[start..].chunks_exact(BYTES).map(|chunk| chunk.try_into().unwrap()).collect()
}

#[test]
fn neighbors_of_arrays_without_words_are_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let (queries, targets) = (rows(40, 0.1), rows(700, 0.0));
    write_npy(&folder.path().join("q.npy"), &queries);
    write_npy(&folder.path().join("t.npy"), &targets);
    let find = ["neighbors", "q.npy", "t.npy", "-k", "3"];
    let result = json(folder.path(), &[&find[..], &["--criterion", "dot", "-o", "out"]].concat());
    assert_eq!((&result["queries"], &result["targets"], &result["k"]), (&40.into(), &700.into(), &3.into()));
    let ids: Vec<i64> =
        read_npy(&folder.path().join("out.ids.npy"), "<i8").into_iter().map(i64::from_le_bytes).collect();
    let scores: Vec<f32> =
        read_npy(&folder.path().join("out.scores.npy"), "<f4").into_iter().map(f32::from_le_bytes).collect();
    assert_eq!((ids.len(), scores.len()), (120, 120));
    for (query, (ids, scores)) in queries.iter().zip(ids.chunks(3).zip(scores.chunks(3))) {
        let dot = |target: &Vec<f32>| query.iter().zip(target).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
        let mut expected: Vec<(f64, i64)> = targets.iter().map(dot).zip(0..).collect();
        expected.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (at, (score, id)) in expected.into_iter().take(3).enumerate() {
            assert_eq!((ids[at], scores[at]), (id, score as f32));
        }
    }
    for criterion in ["nn", "csls", "l2"] {
        json(folder.path(), &[&find[..], &["--criterion", criterion, "-o", criterion]].concat());
    }
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_ne!(bytes("nn.scores.npy"), bytes("csls.scores.npy"));
    // On any number of threads the same.
    json(folder.path(), &[&find[..], &["--criterion", "csls", "-o", "one", "--threads", "1"]].concat());
    assert_eq!((bytes("one.ids.npy"), bytes("one.scores.npy")), (bytes("csls.ids.npy"), bytes("csls.scores.npy")));
}

#[test]
fn neighbors_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_npy(&folder.path().join("q.npy"), &rows(4, 0.1));
    write_npy(&folder.path().join("narrow.npy"), &[vec![1.0, 2.0]]);
    let mut broken = rows(20, 0.0);
    broken[6][2] = f32::NAN;
    write_npy(&folder.path().join("broken.npy"), &broken);
    write_npy(&folder.path().join("empty.npy"), &[]);
    for (arguments, said) in [
        (&["q.npy", "empty.npy", "-k", "1"][..], "empty.npy: holds an array without"),
        (&["q.npy", "narrow.npy", "-k", "1"], "length of the queries is 5"),
        (&["q.npy", "broken.npy", "-k", "1"], "not finite in row 7"),
        (&["q.npy", "q.npy", "-k", "5"], "only 4 targets"),
        (&["q.npy", "q.npy", "-k", "0"], "-k"),
        (&["q.npy", "q.npy", "-k", "1", "--criterion", "pmi"], "nn, csls, dot or l2"),
        (&["q.npy", "missing.npy"], "cannot read missing.npy"),
    ] {
        let output = sememe(folder.path(), &[&["neighbors", "-o", "out"], arguments].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
    assert!(!folder.path().join("out.ids.npy").exists());
}

#[test]
fn zero_rows_are_skipped_with_a_warning_and_arrays_keep_their_shape() {
    let folder = tempfile::tempdir().unwrap();
    let (mut queries, mut targets) = (rows(20, 0.1), rows(30, 0.0));
    (queries[3], targets[6]) = (vec![0.0; 5], vec![0.0; 5]);
    write_npy(&folder.path().join("q.npy"), &queries);
    write_npy(&folder.path().join("t.npy"), &targets);
    for criterion in ["nn", "csls"] {
        let output =
            sememe(folder.path(), &["neighbors", "q.npy", "t.npy", "-k", "30", "--criterion", criterion, "-o", "out"]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{message}");
        assert!(message.contains("1 targets are zero") && message.contains("1 queries are zero"), "{message}");
        let ids: Vec<i64> =
            read_npy(&folder.path().join("out.ids.npy"), "<i8").into_iter().map(i64::from_le_bytes).collect();
        let scores: Vec<f32> =
            read_npy(&folder.path().join("out.scores.npy"), "<f4").into_iter().map(f32::from_le_bytes).collect();
        for (query, (ids, scores)) in ids.chunks(30).zip(scores.chunks(30)).enumerate() {
            let found = if query == 3 { 0 } else { 29 };
            assert!(ids[..found].iter().all(|&id| (0..30).contains(&id) && id != 6), "{criterion}, query {query}");
            assert!(ids[found..].iter().all(|&id| id == -1) && scores[found..].iter().all(|score| score.is_nan()));
            assert!(scores[..found].iter().all(|score| score.is_finite()));
        }
    }
}

#[test]
fn every_criterion_translates() {
    let folder = DEMO.folder();
    let translate = ["translate", "space", "--from", "en", "--to", "fr", "dog", "--criterion"];
    for criterion in
        ["nn", "csls", "csls:k=5,words=2000", "isf", "isf:sample=500", "corrected:pool=1000", "dot", "l2", "pmi"]
    {
        let translated = json(folder, &[&translate[..], &[criterion]].concat());
        assert_eq!(translated["criterion"], criterion);
        let words: Vec<&str> = translated["translations"][0]["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|candidate| candidate["word"].as_str().unwrap())
            .collect();
        assert!(words.contains(&"chien"), "{criterion}: {words:?}");
    }
    let refused = sememe(folder, &[&translate[..], &["magic"]].concat());
    assert!(text(&refused.stderr).contains("nn, csls, isf"));
}

#[test]
fn all_views_are_exported_as_files_of_vectors() {
    let folder = DEMO.folder();
    for (format, extension) in [("vec", "vec"), ("npy", "npy"), ("text", "vec")] {
        let exported = json(folder, &["export", "space", "--format", format, "-o", "aligned"]);
        let expected: Vec<String> = ["en", "fr", "ru", "fi"].map(|view| format!("aligned/{view}.{extension}")).to_vec();
        assert_eq!(exported["files"], value!(expected));
    }
    // They can be evaluated as MUSE evaluates them, and give what the space gives.
    std::fs::write(folder.join("gold.txt"), "dog chien\nseven sept\nking roi\nwater eau\n").unwrap();
    let gold = ["--from", "en", "--to", "fr", "--gold", "gold.txt", "--criterion", "nn"];
    let files = ["evaluate", "translation", "aligned/en.vec", "--with", "aligned/fr.vec"];
    let [of_files, of_space] =
        [&files[..], &["evaluate", "translation", "space"]].map(|what| json(folder, &[what, &gold].concat()));
    assert_eq!((&of_files["precision"], &of_files["queries"]), (&of_space["precision"], &of_space["queries"]));
    for (more, said) in [
        (&["--format", "vec", "--view", "en"][..], "cannot be used with"),
        (&["--format", "doc"], "vec, txt, bin, npy, safetensors"),
        (&[], "--view"),
    ] {
        let message = refused(folder, &[&["export", "space", "-o", "out"], more].concat());
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn exported_vectors_rank_like_the_criterion() {
    let folder = DEMO.folder();
    let export = ["export", "space", "--view", "fr", "-o", "fr.npy", "--queries", "en.npy"];
    let which = sememe(folder, &export);
    assert!(text(&which.stderr).contains("--from en or ru or fi"), "{}", text(&which.stderr));
    let exported = json(folder, &[&export[..], &["--from", "en", "--for", "csls", "--metric", "l2"]].concat());
    assert_eq!(exported["words"], 5000);
    assert_eq!(exported["files"].as_array().unwrap().len(), 4);
    let found = json(folder, &["neighbors", "en.npy", "fr.npy", "-k", "3", "--criterion", "l2", "-o", "found"]);
    assert_eq!(found["dimension"], exported["dimension"]);
    let ids: Vec<i64> = read_npy(&folder.join("found.ids.npy"), "<i8").into_iter().map(i64::from_le_bytes).collect();
    let words = |name: &str| -> Vec<String> {
        std::fs::read_to_string(folder.join(name)).unwrap().lines().map(str::to_owned).collect()
    };
    let (en, fr) = (words("en.words.txt"), words("fr.words.txt"));
    let translate =
        ["translate", "space", "--from", "en", "--to", "fr", "-k", "3", "--criterion", "csls", "dog", "seven", "king"];
    for translation in json(folder, &translate)["translations"].as_array().unwrap() {
        let row = en.iter().position(|word| word == translation["word"].as_str().unwrap()).unwrap();
        let by_index: Vec<&str> = ids[3 * row..3 * row + 3].iter().map(|&id| fr[id as usize].as_str()).collect();
        let candidates = translation["candidates"].as_array().unwrap();
        let by_criterion: Vec<&str> = candidates.iter().map(|found| found["word"].as_str().unwrap()).collect();
        assert_eq!(by_index, by_criterion);
    }
}
