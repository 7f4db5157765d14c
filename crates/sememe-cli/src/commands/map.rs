//! A map of a latent space: everyday words of all views in the plane in which they differ most.

use sememe::lexicon::Tuples;
use sememe::linalg::{Mat, Svd};
use sememe::vectors::Embeddings;
use serde_json::json;

use crate::plots::{Group, Map};
use crate::report::Figure;

const SIZE: (f64, f64) = (860.0, 620.0);
const GROUPS: usize = 28;
/// Words by themes, which lie apart from each other in any space of meanings. If the first view does not have them, its most
/// frequent words are shown.
const EVERYDAY: [&str; 40] = [
    "king", "bread", "father", "seven", "monday", "water", "dog", "red", "music", "war", "queen", "milk", "mother", "twelve",
    "friday", "river", "cat", "green", "theatre", "army", "prince", "cheese", "brother", "hundred", "january", "mountain", "horse",
    "black", "song", "soldier", "wine", "sister", "nine", "summer", "sea", "bird", "white", "poem", "peace", "meat",
];

/// Draws words of tuples that have all views.
pub fn figure(views: &[(&str, &Embeddings)], tuples: &Tuples) -> anyhow::Result<Figure> {
    let groups = chosen(views, tuples);
    if groups.len() < 3 {
        anyhow::bail!("a map needs at least three tuples that have all views");
    }
    let places = principal_plane(views, &groups)?;
    let mut places = places.into_iter();
    let group = |tuple: &Vec<usize>| Group {
        words: (tuple.iter().enumerate())
            .map(|(view, &row)| (view, views[view].1.word(row).to_owned(), places.next().unwrap_or_default()))
            .collect(),
    };
    let map = Map {
        title: "Words of several languages in the latent space".to_owned(),
        views: views.iter().map(|(name, _)| (*name).to_owned()).collect(),
        groups: groups.iter().map(group).collect(),
    };
    let words = |group: &Group| group.words.iter().map(|(_, word, place)| json!({ "word": word, "place": place })).collect::<Vec<_>>();
    let data = json!(map.groups.iter().map(words).collect::<Vec<_>>());
    let caption = "Everyday words and their translations; lines join words of one dictionary entry. Labels that would lie on \
                   others are left out: point at a dot to see its word.";
    Ok(Figure { name: "map".to_owned(), caption: caption.to_owned(), data, svg: map.draw(SIZE) })
}

/// Complete tuples, the first one of each word of the first view.
fn chosen(views: &[(&str, &Embeddings)], tuples: &Tuples) -> Vec<Vec<usize>> {
    let complete: Vec<Vec<usize>> = tuples.iter().filter_map(|tuple| tuple.into_iter().collect()).collect();
    let everyday = EVERYDAY.iter().filter_map(|word| {
        let row = views[0].1.vocabulary().get(word)?;
        complete.iter().find(|tuple| tuple[0] == row).cloned()
    });
    let mut groups: Vec<Vec<usize>> = everyday.take(GROUPS).collect();
    let mut frequent = complete.clone();
    frequent.sort();
    for tuple in frequent {
        let is_known = groups.iter().any(|group| group.iter().zip(&tuple).any(|(a, b)| a == b));
        if groups.len() < GROUPS / 2 && !is_known {
            groups.push(tuple);
        }
    }
    groups
}

/// The directions of the words, group by group, along their first two principal components.
fn principal_plane(views: &[(&str, &Embeddings)], groups: &[Vec<usize>]) -> anyhow::Result<Vec<(f64, f64)>> {
    let unit = |(view, &row): (usize, &usize)| -> Vec<f64> {
        let vector: Vec<f64> = views[view].1.vector(row).iter().map(|&x| f64::from(x)).collect();
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        vector.into_iter().map(|x| x / length).collect()
    };
    let rows: Vec<Vec<f64>> = groups.iter().flat_map(|group| group.iter().enumerate().map(unit).collect::<Vec<_>>()).collect();
    let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64;
    let means: Vec<f64> = (0..rows[0].len()).map(mean).collect();
    let centred = Mat::from_fn(rows.len(), means.len(), |row, i| rows[row][i] - means[i]);
    let svd = Svd::new(&centred, "the words of a map").map_err(sememe::Error::from)?;
    let along = |row: usize, component: usize| match svd.s.get(component) {
        Some(s) => svd.u[(row, component)] * s,
        None => 0.0,
    };
    Ok((0..rows.len()).map(|row| (along(row, 0), along(row, 1))).collect())
}
