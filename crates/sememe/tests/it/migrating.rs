//! Maps between two embedding models, on synthetic texts.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use sememe::migrate::{self, MapMethod, MigrateOptions, MigrationMap, Pairs, Question, Side, StreamOptions};
use sememe::vectors::{self, Matrix, ReadOptions};

use crate::random::Random;

pub const OLD: usize = 24;
pub const NEW: usize = 32;
const HIDDEN: usize = 16;

/// Texts as two models see them: noisy linear images of hidden vectors. Texts come in groups of four, which
/// are nearest to each other.
pub struct Texts {
    pub old: Matrix,
    pub new: Matrix,
}

/// What the models are, apart from the texts.
pub struct Models {
    old: Vec<f32>,
    new: Vec<f32>,
}

impl Models {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut loadings = |dim: usize| (0..dim * HIDDEN).map(|_| random.normal() as f32).collect();
        Models { old: loadings(OLD), new: loadings(NEW) }
    }

    pub fn texts(&self, count: usize, seed: u64) -> Texts {
        self.texts_in_groups(count, 4, seed)
    }

    fn texts_in_groups(&self, count: usize, size: usize, seed: u64) -> Texts {
        let mut random = Random::new(seed);
        let mut centre = vec![0.0; HIDDEN];
        let mut values = [Vec::new(), Vec::new()];
        for text in 0..count {
            if text % size == 0 {
                centre = (0..HIDDEN).map(|_| random.normal() as f32).collect();
            }
            let hidden: Vec<f32> = centre.iter().map(|x| x + 0.3 * random.normal() as f32).collect();
            for (loadings, values) in [&self.old, &self.new].into_iter().zip(&mut values) {
                for row in loadings.chunks_exact(HIDDEN) {
                    let image: f32 = row.iter().zip(&hidden).map(|(a, b)| a * b).sum();
                    values.push(1.0 + image + 0.3 * random.normal() as f32);
                }
            }
        }
        let [old, new] = values;
        Texts { old: Matrix::new(old, OLD), new: Matrix::new(new, NEW) }
    }
}

/// Two models and the map between them, which all tests share.
pub static FITTED: LazyLock<(Models, MigrationMap)> = LazyLock::new(|| {
    let models = Models::new(2);
    let map = migrate::fit(&pairs(&models, 1200), None, &Default::default(), &()).unwrap();
    (models, map)
});

pub fn pairs(models: &Models, count: usize) -> Pairs {
    let texts = models.texts(count, 1);
    Pairs::new(texts.old, texts.new).unwrap()
}

fn questions(count: usize) -> Vec<Question> {
    let of_group = |query: usize| (query + 1..query + 4).map(move |answer| Question { query, answer });
    (0..count).step_by(4).flat_map(of_group).collect()
}

pub fn write_npy(path: &Path, rows: &Matrix) {
    fs::write(path, vectors::matrix_to_npy(rows)).unwrap();
}

#[test]
fn a_map_answers_like_the_models_and_better_than_nothing() {
    let (models, map) = &*FITTED;
    let texts = models.texts(400, 2);
    let evaluation = map.evaluate(&texts.old, &texts.new, &questions(400), &Default::default(), &()).unwrap();
    let at = |name: &str| evaluation.ways().into_iter().find(|(way, _)| *way == name).unwrap().1.at(10);
    assert_eq!(evaluation.questions, 300);
    for way in ["old", "new", "mapped", "latent", "indexed"] {
        assert!(at(way) > 80.0, "{way}: {}", at(way));
    }
    // Vectors of different lengths cannot be asked as they are.
    assert!(evaluation.unmapped.is_none());
    let baselines = at("procrustes").max(at("ridge"));
    assert!(at("mapped") + 1.0 >= baselines, "{} against {baselines}", at("mapped"));
}

#[test]
fn rows_that_do_not_belong_together_are_told() {
    let (models, map) = &*FITTED;
    assert_eq!((map.at_chance, map.warning()), (None, None));
    let texts = models.texts(600, 3);
    let permuted: Vec<usize> = (0..600).map(|row| (row * 7 + 13) % 600).collect();
    let pairs = Pairs::new(texts.old.select(&permuted), texts.new).unwrap();
    let worthless = migrate::fit(&pairs, None, &Default::default(), &()).unwrap();
    assert_eq!(worthless.at_chance, Some(600));
    assert!(worthless.warning().unwrap().contains("NO BETTER THAN CHANCE"));
    // The map remembers.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.safetensors");
    worthless.write(&path).unwrap();
    assert_eq!(MigrationMap::open(&path).unwrap().warning(), worthless.warning());
}

#[test]
fn confidences_are_calibrated_and_tell_good_answers_from_bad_ones() {
    let (models, map) = &*FITTED;
    let texts = models.texts(1200, 12);
    let queries: Vec<usize> = (0..1200).step_by(3).collect();
    let asked = texts.new.select(&queries);
    let trusted = map.confidences(&texts.old, &asked, Some(&queries), &()).unwrap();
    let nearest = sememe::retrieve::nearest(&asked, &texts.new, 2, sememe::retrieve::Criterion::Nn).unwrap();
    let mut judged: Vec<(f64, bool)> = Vec::new();
    for ((one, hits), query) in trusted.iter().zip(&nearest).zip(&queries) {
        let answer = hits.iter().map(|hit| hit.index).find(|row| row != query);
        judged.push((one.confidence, one.row == answer));
    }
    judged.sort_by(|a, b| a.0.total_cmp(&b.0));
    let share = |some: &[(f64, bool)]| some.iter().filter(|one| one.1).count() as f64 / some.len() as f64;
    let expected = judged.iter().map(|one| one.0).sum::<f64>() / judged.len() as f64;
    assert!((expected - share(&judged)).abs() < 0.1, "{expected} {}", share(&judged));
    let (low, high) = judged.split_at(judged.len() / 2);
    assert!(share(high) > share(low) + 0.1, "{} {}", share(low), share(high));
    // A query without direction finds nothing.
    let none = map.confidences(&texts.old, &Matrix::new(vec![0.0; NEW], NEW), None, &()).unwrap();
    assert_eq!((none[0].row, none[0].confidence), (None, 0.0));
}

#[test]
fn asking_the_new_index_instead_is_counted() {
    let (models, map) = &*FITTED;
    let texts = models.texts(400, 2);
    let evaluation = map.evaluate(&texts.old, &texts.new, &questions(400), &Default::default(), &()).unwrap();
    let levels = &evaluation.confidence.levels;
    assert!(levels.windows(2).all(|two| two[0].kept >= two[1].kept), "{levels:?}");
    for level in levels {
        // The others are answered like by the new model.
        let (mapped, new) = (evaluation.mapped.at(10), evaluation.new.at(10));
        assert!(level.of_all[&10] >= mapped.min(new) - 5.0, "{level:?}");
    }
}

#[test]
fn a_map_survives_its_file_to_the_bit() {
    let (models, map) = &*FITTED;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.safetensors");
    map.write(&path).unwrap();
    let read = MigrationMap::open(&path).unwrap();
    let texts = models.texts(40, 9);
    for (from, to, rows) in [
        (Side::New, Side::Old, &texts.new),
        (Side::Old, Side::New, &texts.old),
        (Side::New, Side::Latent, &texts.new),
        (Side::Old, Side::Latent, &texts.old),
    ] {
        assert_eq!(map.apply(from, to, rows).unwrap().as_slice(), read.apply(from, to, rows).unwrap().as_slice());
    }
    let adapted =
        [map, &read].map(|map| map.adapt(&texts.old, &texts.new, None, &()).unwrap().index(&texts.old).unwrap());
    assert_eq!(adapted[0].as_slice(), adapted[1].as_slice());
    assert!(map.apply(Side::Old, Side::Old, &texts.old).is_err());
    // A file that is cut off, or of another kind, is refused.
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    assert!(MigrationMap::open(&path).is_err());
}

#[test]
fn latent_vectors_lead_back_to_both_models() {
    let (models, map) = &*FITTED;
    let texts = models.texts(100, 5);
    for (side, rows) in [(Side::Old, &texts.old), (Side::New, &texts.new)] {
        let back = map.apply(Side::Latent, side, &map.apply(side, Side::Latent, rows).unwrap()).unwrap();
        for row in 0..rows.rows() {
            let length = rows.row(row).iter().map(|x| x * x).sum::<f32>().sqrt();
            let cosine: f32 = rows.row(row).iter().zip(back.row(row)).map(|(a, b)| a * b / length).sum();
            assert!(cosine > 0.9, "{side} {row}: {cosine}");
        }
    }
}

#[test]
fn an_adapted_map_answers_by_inner_products_and_survives_its_file() {
    let (models, map) = &*FITTED;
    let texts = models.texts(1200, 5);
    let half: Vec<usize> = (0..600).collect();
    let (index, queries) = (&texts.old, texts.new.select(&half));
    assert!(!map.is_adapted() && map.route(Side::Old, Side::Indexed).is_err());
    let (adapted, learned) = map.adapted(index, &queries, &()).unwrap();
    assert!(learned > 300, "{learned}");
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    adapted.write(&file("adapted.map")).unwrap();
    let adapted = MigrationMap::open(&file("adapted.map")).unwrap();
    let rows = adapted.apply(Side::Old, Side::Indexed, index).unwrap();
    let asked = adapted.apply(Side::New, Side::Indexed, &queries).unwrap();
    assert_eq!((rows.cols(), asked.cols()), (map.latent_dim() + 1, map.latent_dim() + 1));
    let nearest = sememe::retrieve::nearest(&asked, &rows, 1, sememe::retrieve::Criterion::Dot).unwrap();
    let twins = nearest.iter().enumerate().filter(|(query, hits)| hits[0].index == *query).count();
    assert!(twins > 500, "{twins}");
    // Files are mapped alike, and the latent space leads back to the old model.
    write_npy(&file("index.npy"), index);
    let options = StreamOptions::new(Side::Old, Side::Indexed);
    adapted.apply_file(&file("index.npy"), &file("mapped.npy"), &options, &()).unwrap();
    let read = vectors::read_matrix(&file("mapped.npy"), &ReadOptions::default(), &()).unwrap();
    assert_eq!(read.as_slice(), rows.as_slice());
    let latent = adapted.apply(Side::Old, Side::Latent, index).unwrap();
    let back = adapted.apply(Side::Latent, Side::Old, &latent).unwrap();
    let cosine: f32 = back.row(0).iter().zip(index.row(0)).map(|(a, b)| a * b).sum::<f32>()
        / index.row(0).iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!(cosine > 0.9, "{cosine}");
    // Inner products of CSLS are for no other use.
    assert!(adapted.route(Side::Indexed, Side::Old).is_err());
    assert!(adapted.route(Side::New, Side::Indexed).unwrap().to_onnx().is_err());
}

#[test]
fn rows_of_both_models_are_found_in_one_index_during_a_backfill() {
    let (models, map) = &*FITTED;
    let texts = models.texts(400, 14);
    let even: Vec<usize> = (0..400).step_by(2).collect();
    // Every other row was embedded again.
    let mut mixed = map.apply(Side::Old, Side::Latent, &texts.old).unwrap();
    let again = map.apply(Side::New, Side::Latent, &texts.new.select(&even)).unwrap();
    let dim = mixed.cols();
    for (place, row) in even.iter().enumerate() {
        mixed.as_mut_slice()[row * dim..(row + 1) * dim].copy_from_slice(again.row(place));
    }
    for (side, rows) in [(Side::Old, &texts.old), (Side::New, &texts.new)] {
        let queries = map.apply(side, Side::Latent, rows).unwrap();
        let nearest = sememe::retrieve::nearest(&queries, &mixed, 1, sememe::retrieve::Criterion::Nn).unwrap();
        let found = |start: usize| (start..400).step_by(2).filter(|&row| nearest[row][0].index == row).count();
        assert!(found(0) > 160 && found(1) > 160, "{side}: {} {}", found(0), found(1));
    }
}

#[test]
fn vectors_that_are_mostly_their_mean_are_mapped_too() {
    let models = Models::new(2);
    let moved = |count: usize, seed: u64| {
        let mut texts = models.texts(count, seed);
        texts.old.as_mut_slice().iter_mut().for_each(|x| *x += 6.0);
        texts.new.as_mut_slice().iter_mut().for_each(|x| *x += 6.0);
        texts
    };
    let seen = moved(1200, 1);
    let map = migrate::fit(&Pairs::new(seen.old, seen.new).unwrap(), None, &Default::default(), &()).unwrap();
    let texts = moved(400, 2);
    let evaluation = map.evaluate(&texts.old, &texts.new, &questions(400), &Default::default(), &()).unwrap();
    let (mapped, best) = (evaluation.mapped.at(10), evaluation.old.at(10));
    assert!(mapped > best - 15.0, "{mapped} {best}");
}

#[test]
fn models_that_cannot_be_aligned_without_pairs_are_refused() {
    // That other models can be is shown on real vectors, by the manual.
    let mut random = Random::new(17);
    let mut normals = |dim: usize| Matrix::new((0..700 * dim).map(|_| random.normal() as f32).collect(), dim);
    let error = migrate::learn_pairs(&normals(8), &normals(9), 0, &()).unwrap_err();
    assert!(matches!(error, sememe::Error::NoBetterThanChance { .. }), "{error}");
}

#[test]
fn models_are_known_by_name_and_by_their_vectors() {
    let (models, map) = &*FITTED;
    assert_ne!(map.old.fingerprint, map.new.fingerprint);
    let only = MigrateOptions::default().with_method(Some(MapMethod::Procrustes)).with_new_model(Some("v2".to_owned()));
    let named = migrate::fit(&pairs(models, 1200), None, &only, &()).unwrap();
    // The same texts by the same models.
    assert_eq!((&named.old.fingerprint, &named.new.fingerprint), (&map.old.fingerprint, &map.new.fingerprint));
    assert!(named.check_name(Side::New, "v2").is_ok());
    let error = named.check_name(Side::New, "v3").unwrap_err().to_string();
    assert!(error.contains("v2") && error.contains("v3"), "{error}");
    assert!(named.check_name(Side::Old, "v1").is_err());
}

#[test]
fn constant_dimensions_and_duplicates_do_no_harm() {
    let models = Models::new(8);
    let mut texts = models.texts(400, 1);
    texts.new.as_mut_slice().chunks_exact_mut(NEW).for_each(|row| row[3] = 1e-33);
    let rows: Vec<usize> = (0..400).chain(0..100).collect();
    let pairs = Pairs::new(texts.old.select(&rows), texts.new.select(&rows)).unwrap();
    assert_eq!((pairs.len(), pairs.duplicates()), (400, 100));
    let only = MigrateOptions::default().with_method(Some(MapMethod::Ibfa));
    let map = migrate::fit(&pairs, None, &only, &()).unwrap();
    let mapped = map.apply(Side::New, Side::Old, pairs.new_rows()).unwrap();
    assert!(mapped.as_slice().iter().all(|x| x.is_finite()));
    // Too few pairs are refused.
    assert!(migrate::fit(&pairs.select(&[0, 1, 2]), None, &Default::default(), &()).is_err());
}

#[test]
fn another_model_of_the_same_dimension_is_refused_and_another_domain_is_not() {
    let (models, map) = &*FITTED;
    assert!(map.check_model(Side::New, &models.texts(200, 6).new).is_ok());
    let error = map.check_model(Side::New, &Models::new(55).texts(200, 6).new).unwrap_err().to_string();
    assert!(error.contains("new model"), "{error}");
    // One row tells nothing.
    assert!(map.check_model(Side::New, &Models::new(55).texts(1, 6).new).is_ok());
}

#[test]
fn the_alarm_rings_for_what_changed_and_rarely_for_what_did_not() {
    // The stated rate is that of rows that are drawn independently.
    let models = &FITTED.0;
    let texts = models.texts_in_groups(1200, 1, 1);
    let only = MigrateOptions::default().with_method(Some(MapMethod::Ibfa));
    let map = migrate::fit(&Pairs::new(texts.old, texts.new).unwrap(), None, &only, &()).unwrap();
    let share = 0.05;
    let rings = |texts: &Texts| map.monitor(&texts.new, Some(&texts.old), share).unwrap().rings;
    let false_alarms = (0..100).filter(|&batch| rings(&models.texts_in_groups(200, 1, 1000 + batch))).count();
    // At a rate of 5 % there are more than ten of a hundred in one of a hundred runs.
    assert!(false_alarms <= 10, "{false_alarms}");
    let clean = models.texts_in_groups(200, 1, 77);
    let shuffled: Vec<usize> = (0..200).map(|row| (row + 8) % 200).collect();
    let shuffled = Texts { old: clean.old.select(&shuffled), new: clean.new.clone() };
    assert!(rings(&shuffled));
    assert!(map.monitor(&Models::new(55).texts(200, 6).new, None, share).unwrap().rings);
    assert!(map.monitor(&clean.new, None, 0.9).is_err());
    assert!(map.monitor(&clean.new.select(&[0, 1]), None, share).is_err());
}
