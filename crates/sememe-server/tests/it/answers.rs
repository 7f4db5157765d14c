//! Every answer is what the library computes, to the digit.

use sememe::evaluate::translation;
use sememe::lexicon::Lexicon;
use sememe::retrieve::{Criterion, Hit};
use sememe::translate::{InduceOptions, Induction, TranslateOptions, Translator};
use sememe::vectors::Matrix;
use serde_json::{Value, json};

use crate::fixture::{ODD, Running, WORDS, write_space};

#[test]
fn translations_are_those_of_the_command() {
    let server = Running::start();
    let space = server.space();
    let words = ["en3", "EN3", "en17", "nothing", "en18x", ODD[0], ODD[1]];
    for (to, criterion, k, sure) in [
        (&["fr"][..], "csls", 3, 0.05),
        (&["fr", "ru"], "auto", 1, 0.5),
        (&["ru"], "pmi", 30, 0.0),
        (&["fr"], "csls:k=3", 2, 0.1),
        (&["fr"], "corrected", 2, 0.1),
    ] {
        let options = TranslateOptions::default()
            .with_criterion(criterion.parse().unwrap())
            .with_candidates(k)
            .with_min_confidence(sure);
        let expected = Translator::open(&space, "en", to, &options, &()).unwrap().translate(&words, &()).unwrap();
        let asked =
            json!({ "from": "en", "to": to, "words": words, "k": k, "criterion": criterion, "min_confidence": sure });
        assert_eq!(server.client.ask("/v1/translate", &asked), json!(expected), "{criterion}");
    }
    let all = server.client.ask("/v1/translate", &json!({ "space": "small", "from": "fr", "words": ["fr1"] }));
    assert_eq!(all["to"], json!(["en", "ru"]));
    assert_eq!(all["translations"][0]["candidates"].as_array().unwrap().len(), 5);
    let nothing = server.client.ask("/v1/translate", &json!({ "from": "fr", "words": ["none"] }));
    assert_eq!((&nothing["translations"], &nothing["unknown"]), (&json!([]), &json!(["none"])));
}

fn listed(hits: &[Hit], word: impl Fn(usize) -> String) -> Value {
    hits.iter().map(|hit| json!({ "word": word(hit.index), "row": hit.index, "score": hit.score })).collect()
}

#[test]
fn neighbours_are_those_of_the_retriever() {
    let server = Running::start();
    let space = server.space();
    let (en, fr) = (space.view("en").unwrap(), space.view("fr").unwrap());
    let queries = en.matrix().select(&[3, 5]);
    let hits = space.retriever("en", "fr", Criterion::CSLS, &()).unwrap().nearest(&queries, 4, &()).unwrap();
    let asked = json!({ "from": "en", "to": "fr", "words": ["en3", "unheard", "en5"], "k": 4 });
    let found = server.client.ask("/v1/neighbors", &asked);
    for (at, hits) in hits.iter().enumerate() {
        assert_eq!(found["neighbors"][at]["hits"], listed(hits, |row| fr.word(row).to_owned()));
    }
    assert_eq!((&found["neighbors"][1]["word"], &found["unknown"]), (&json!("en5"), &json!(["unheard"])));
    let vectors: Vec<&[f32]> = (0..2).map(|row| queries.row(row)).collect();
    let by_vector =
        server.client.ask("/v1/neighbors", &json!({ "from": "en", "to": "fr", "vectors": vectors, "k": 4 }));
    assert_eq!(by_vector["neighbors"][1]["hits"], found["neighbors"][1]["hits"]);
    assert_eq!(by_vector["neighbors"][1]["word"], Value::Null);
    // Within a view, a word is no neighbour of itself.
    let own = server.client.ask("/v1/neighbors", &json!({ "from": "en", "words": ["en3"], "k": 2 }));
    let hits = space.retriever("en", "en", Criterion::Nn, &()).unwrap().nearest(&queries, 3, &()).unwrap();
    assert_eq!(hits[0][0].index, 3);
    assert_eq!(own["neighbors"][0]["hits"], listed(&hits[0][1..], |row| en.word(row).to_owned()));
}

#[test]
fn explanations_agree_with_every_criterion() {
    let server = Running::start();
    let space = server.space();
    let (en, fr) = (space.view("en").unwrap(), space.view("fr").unwrap());
    let found =
        server.client.ask("/v1/explain", &json!({ "from": "en", "word": "EN7".to_lowercase(), "to": "fr", "k": 6 }));
    assert_eq!((&found["row"], &found["training"]), (&json!(7), &json!(true)));
    let query = en.matrix().select(&[7]);
    let all = |criterion: Criterion| {
        space.retriever("en", "fr", criterion, &()).unwrap().nearest(&query, WORDS, &()).unwrap().remove(0)
    };
    let candidates = found["to"][0]["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 6);
    for (name, criterion) in [("nn", Criterion::Nn), ("csls", Criterion::CSLS), ("pmi", Criterion::Pmi)] {
        let ranked = all(criterion);
        for candidate in candidates {
            let rank = ranked.iter().position(|hit| json!(hit.index) == candidate["row"]).unwrap();
            assert_eq!(candidate["ranks"][name], json!(rank + 1), "{name} {candidate}");
            assert_eq!(candidate["scores"][name], json!(ranked[rank].score), "{name} {candidate}");
        }
    }
    let translated = server.client.ask("/v1/translate", &json!({ "from": "en", "to": "fr", "words": ["en7"], "k": 6 }));
    let back = space.retriever("fr", "en", Criterion::CSLS, &()).unwrap();
    for (at, candidate) in candidates.iter().enumerate() {
        assert_eq!(candidate["confidence"], translated["translations"][0]["candidates"][at]["confidence"]);
        let row = candidate["row"].as_u64().unwrap() as usize;
        let hit = back.nearest(&fr.matrix().select(&[row]), 1, &()).unwrap()[0][0];
        assert_eq!(candidate["back"]["row"], json!(hit.index));
        assert_eq!(candidate["training"], json!(row == 7));
    }
    assert_eq!((&candidates[0]["word"], &candidates[0]["mutual"]), (&json!("fr7"), &json!(true)));
    let unseen = server.client.ask("/v1/explain", &json!({ "from": "en", "word": ODD[0] }));
    assert_eq!((&unseen["training"], unseen["to"].as_array().unwrap().len()), (&json!(false), 2));
    let unknown = server.client.post("/v1/explain", &json!({ "from": "en", "word": "en77777" }));
    assert_eq!((unknown.status, unknown.problem().0.as_str()), (404, "unknown_word"));
}

#[test]
fn vectors_as_json_and_as_arrays() {
    let server = Running::start();
    let space = server.space();
    let en = space.view("en").unwrap();
    let found = server.client.ask("/v1/vectors", &json!({ "view": "en", "words": ["en2", "no", "en4"] }));
    assert_eq!(found, json!({ "vectors": [en.vector(2), null, en.vector(4)], "unknown": ["no"] }));
    let body = json!({ "view": "en", "words": ["en2", "no", "en4"] }).to_string();
    let array = server.client.send("POST", "/v1/vectors", &[("Accept", "application/x-npy")], body.as_bytes());
    assert_eq!(array.header("content-type"), "application/x-npy");
    assert_eq!(array.body, sememe::vectors::matrix_to_npy(&en.matrix().select(&[2, 4])));
    let rows = Matrix::new((0..24).map(|x| (x as f32).sin()).collect(), 12);
    let alignment = space.alignment();
    let latent = alignment.model.views[0].project(&alignment.prepare(0, rows.clone()).unwrap()).unwrap();
    let asked = json!({ "view": "en", "vectors": [rows.row(0), rows.row(1)] });
    assert_eq!(server.client.ask("/v1/project", &asked)["vectors"], json!([latent.row(0), latent.row(1)]));
    let headers = [("Content-Type", "application/x-npy"), ("Accept", "application/x-npy")];
    let bytes = sememe::vectors::matrix_to_npy(&rows);
    let array = server.client.send("POST", "/v1/project?view=en&compared_with=fr", &headers, &bytes);
    let compared = alignment.compared_with(0, 1, latent).unwrap();
    assert_eq!(array.body, sememe::vectors::matrix_to_npy(&compared), "{}", array.text());
}

#[test]
fn words_completions_and_spaces() {
    let server = Running::start();
    let words = server.client.get("/v1/words?view=fr").text();
    assert_eq!((words.lines().count(), words.lines().nth(5)), (WORDS, Some("fr5")));
    let found = server.client.look("/v1/complete?view=en&prefix=EN39&limit=3");
    let rows: Vec<u64> = found["completions"].as_array().unwrap().iter().map(|c| c["row"].as_u64().unwrap()).collect();
    assert_eq!(rows, [39, 390, 391]);
    let odd = server.client.look("/v1/complete?prefix=%3Cscr");
    assert_eq!(odd["completions"].as_array().unwrap().len(), 3, "in all views");
    let nothing = server.client.look("/v1/complete?view=en&prefix=em39");
    let closest = json!({ "view": "en", "word": "en39", "row": 39 });
    assert_eq!((&nothing["completions"], &nothing["suggestions"][0]), (&json!([]), &closest));
    let spaces = server.client.look("/v1/spaces");
    assert_eq!(spaces["spaces"][0]["views"][2], json!({ "name": "ru", "words": WORDS }));
    assert_eq!(spaces["spaces"][0]["criteria"], json!(["csls", "nn", "isf", "pmi", "logp"]));
    assert_eq!(server.client.look("/healthz"), json!({ "status": "ok" }));
    assert!(server.client.get("/").text().starts_with("<!doctype html>"));
}

#[test]
fn the_ends_of_factors_and_axes() {
    let server = Running::start();
    let space = server.space();
    let found = server.client.look("/v1/factors?from=1&count=2&top=3");
    assert_eq!((&found["latent"], found["factors"].as_array().unwrap().len()), (&json!(12), 2));
    // The strongest come first.
    let strengths = space.alignment().model.factor_strengths().unwrap().unwrap();
    let mut correlations = strengths.correlations.clone();
    correlations.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(found["correlations"], json!(correlations));
    let factor = &found["factors"][0];
    let column = factor["index"].as_u64().unwrap() as usize;
    assert_eq!(factor["correlation"], json!(correlations[1]));
    assert_eq!(factor["views"][2]["share"], json!(strengths.shares[2][column]));
    let en = space.view("en").unwrap();
    let value = |row: usize| {
        let vector = en.vector(row);
        vector[column] / vector.iter().map(|x| x * x).sum::<f32>().sqrt()
    };
    let highest = (0..WORDS).max_by(|&a, &b| value(a).total_cmp(&value(b))).unwrap();
    assert_eq!(found["factors"][0]["views"][0]["positive"][0]["row"], json!(highest));
    let asked = json!({ "positive": [{ "view": "en", "word": "en3" }, { "view": "en", "word": "no" }],
                        "negative": [{ "view": "fr", "word": "fr9" }], "top": 4 });
    let axis = server.client.ask("/v1/axis", &asked);
    let lists = |end: &Value, word: &str| end.as_array().unwrap().iter().any(|one| one["word"] == json!(word));
    assert!(lists(&axis["views"][0]["positive"], "en3") && lists(&axis["views"][1]["negative"], "fr9"), "{axis}");
    assert_eq!(axis["unknown"], json!([{ "view": "en", "word": "no" }]));
}

#[test]
fn errors_of_a_gold_dictionary() {
    let server = Running::start();
    let space = server.space();
    // The last entry is wrong on purpose.
    let mut entries: Vec<[String; 2]> = (100..300).map(|row| [format!("en{row}"), format!("fr{row}")]).collect();
    entries.push(["en5".to_owned(), "fr6".to_owned()]);
    entries.push(["unheard".to_owned(), "of".to_owned()]);
    let found = server.client.ask("/v1/errors", &json!({ "from": "en", "to": "fr", "entries": entries }));
    let mut lexicon = Lexicon::new(vec!["en".to_owned(), "fr".to_owned()]);
    entries.iter().for_each(|[a, b]| lexicon.add([(0, a.as_str()), (1, b.as_str())].into_iter().collect()));
    let retriever = space.retriever("en", "fr", Criterion::CSLS, &()).unwrap();
    let (en, fr) = (space.view("en").unwrap(), space.view("fr").unwrap());
    let expected = translation(&en, &fr, &lexicon, &retriever, &()).unwrap();
    assert_eq!(found["precision"]["1"], json!(expected.precision[&1]));
    assert_eq!((&found["asked"], &found["skipped"], &found["training"]), (&json!(201), &json!(1), &json!(100)));
    let error = &found["errors"][0];
    assert_eq!((&error["word"], &error["chosen"], &error["gold"]), (&json!("en5"), &json!("fr5"), &json!(["fr6"])));
    let scores = retriever.scores(&en.matrix().select(&[5]), &()).unwrap().remove(0);
    let rank = 1 + scores.iter().filter(|&&score| score > scores[6]).count();
    assert_eq!((&error["gold_rank"], &error["gold_score"]), (&json!(rank), &json!(scores[6] as f32)));
    assert!(error["margin"].as_f64().unwrap() > 0.0 && error["reason"].is_string(), "{error}");
}

#[test]
fn induced_dictionaries_and_comparisons() {
    let folder = tempfile::tempdir().unwrap();
    write_space(&folder.path().join("space"), 1);
    write_space(&folder.path().join("other"), 2);
    let server = Running::serving(folder, &[("a", "space"), ("b", "other")], |_| {});
    let space = server.space();
    let induction = Induction::open(&space, "en", "fr", &InduceOptions::default(), &()).unwrap();
    let induced = induction.run(&()).unwrap();
    let asked = json!({ "space": "a", "from": "en", "to": "fr", "limit": 1000 });
    let found = server.client.ask("/v1/induce", &asked);
    let pairs = found["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), induced.len());
    for pair in pairs {
        let expected = induced.iter().find(|one| json!(one.from) == pair["row"]).unwrap();
        assert_eq!((&pair["target_row"], &pair["score"]), (&json!(expected.to), &json!(expected.score)));
        assert_eq!(pair["confidence"], json!(expected.confidence));
    }
    let confidences: Vec<f64> = pairs.iter().map(|pair| pair["confidence"].as_f64().unwrap()).collect();
    assert!(confidences.is_sorted_by(|a, b| a >= b));
    let unseen = json!({ "space": "a", "from": "en", "to": "fr", "limit": 1000, "skip_training": true });
    let unseen = server.client.ask("/v1/induce", &unseen);
    assert!(unseen["pairs"].as_array().unwrap().iter().all(|pair| pair["training"] == json!(false)));
    let same = server.client.ask("/v1/compare", &json!({ "space": "a", "other": "a", "from": "en" }));
    assert_eq!(
        (&same["words"], &same["unchanged"], &same["mean_overlap"]),
        (&json!(WORDS), &json!(WORDS), &json!(1.0))
    );
    let other = json!({ "space": "a", "other": "b", "from": "en", "to": "fr", "k": 3, "limit": 5 });
    let other = server.client.ask("/v1/compare", &other);
    let changed = other["changed"].as_array().unwrap();
    assert!(changed.len() == 5 && other["mean_overlap"].as_f64().unwrap() < 1.0, "{other}");
    assert_eq!(changed[0]["before"].as_array().unwrap().len(), 3);
    let unnamed = server.client.post("/v1/induce", &json!({ "from": "en", "to": "fr" }));
    assert_eq!((unnamed.status, unnamed.problem().0.as_str()), (400, "no_space"));
}
