//! A map of a latent space: everyday words of all views, with neighbours close together.

mod layout;

use sememe::lexicon::Tuples;
use sememe::linalg::{Mat, Svd};
use sememe::vectors::Embeddings;
use serde::Serialize;

use self::layout::neighbourhoods;
use crate::error::Result;
use crate::plots::{Group, Map, Point};
use crate::report::Figure;

const SIZE: (f64, f64) = (960.0, 680.0);
const GROUPS: usize = 32;
/// Words by themes. If the first view does not have them, its most frequent words are shown.
const EVERYDAY: [&str; 44] = [
    "king", "bread", "father", "seven", "monday", "water", "dog", "red", "music", "war", "school", "queen", "milk",
    "mother", "twelve", "friday", "river", "cat", "green", "theatre", "army", "teacher", "prince", "cheese", "brother",
    "nine", "january", "mountain", "horse", "black", "song", "soldier", "student", "wine", "sister", "hundred",
    "summer", "sea", "bird", "white", "poem", "peace", "doctor", "meat",
];

/// Draws words of tuples that have all views.
pub fn figure(views: &[(&str, &Embeddings)], tuples: &Tuples) -> Result<Figure> {
    let groups = chosen(views, tuples);
    if groups.len() < 3 {
        let few = "a map needs at least three tuples that have all views".to_owned();
        return Err(sememe::Error::NotEnoughData(few).into());
    }
    let of_group =
        |group: &Vec<usize>| group.iter().enumerate().map(|(view, &row)| direction(views[view].1, row)).collect();
    let rows: Vec<Vec<f64>> = groups.iter().flat_map(|group| -> Vec<Vec<f64>> { of_group(group) }).collect();
    let squared = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let distances: Vec<Vec<f64>> = rows.iter().map(|a| rows.iter().map(|b| squared(a, b)).collect()).collect();
    let mut places = neighbourhoods(&distances, &principal_plane(&rows)?).into_iter();
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
    let words = |group: &'_ Group| -> Vec<Placed> {
        group.words.iter().map(|(_, word, place)| Placed { word: word.clone(), place: *place }).collect()
    };
    let data: Vec<Vec<Placed>> = map.groups.iter().map(words).collect();
    let caption = "Everyday words and their translations, laid out by t-SNE of their cosines: what is near here is near in the space, \
                   while long distances mean little. Lines join the words of a dictionary entry, of several entries the one \
                   whose words agree best. Labels that would lie on others are left out: point at a dot to see its word.";
    Ok(Figure::new("map", caption, data, map.draw(SIZE)))
}

/// A word on the map, for machines.
#[derive(Serialize)]
struct Placed {
    word: String,
    place: Point,
}

/// A vector scaled to length 1.
fn direction(embeddings: &Embeddings, row: usize) -> Vec<f64> {
    let vector: Vec<f64> = embeddings.vector(row).iter().map(|&x| f64::from(x)).collect();
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    vector.into_iter().map(|x| x / length).collect()
}

/// Complete tuples, one of each word of the first view: the one whose words are nearest to each other.
fn chosen(views: &[(&str, &Embeddings)], tuples: &Tuples) -> Vec<Vec<usize>> {
    let complete: Vec<Vec<usize>> = tuples.iter().filter_map(|tuple| tuple.into_iter().collect()).collect();
    let agreement = |tuple: &Vec<usize>| {
        let words: Vec<Vec<f64>> = tuple.iter().enumerate().map(|(view, &row)| direction(views[view].1, row)).collect();
        let sum = (0..words[0].len()).map(|i| words.iter().map(|word| word[i]).sum::<f64>());
        sum.map(|x| x * x).sum::<f64>()
    };
    let best_of = |row: usize| {
        let of_word = complete.iter().filter(|tuple| tuple[0] == row);
        of_word.max_by(|a, b| agreement(a).total_cmp(&agreement(b)).then(b.cmp(a))).cloned()
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let everyday = EVERYDAY.iter().filter_map(|word| views[0].1.vocabulary().get(word));
    let mut frequent: Vec<usize> = complete.iter().map(|tuple| tuple[0]).collect();
    frequent.sort_unstable();
    frequent.dedup();
    for (row, most) in everyday.map(|row| (row, GROUPS)).chain(frequent.iter().map(|&row| (row, GROUPS / 2))) {
        let is_new = |tuple: &Vec<usize>| !groups.iter().any(|group| group.iter().zip(tuple).any(|(a, b)| a == b));
        if groups.len() < most
            && let Some(tuple) = best_of(row).filter(is_new)
        {
            groups.push(tuple);
        }
    }
    groups
}

/// The first two principal components of the rows.
fn principal_plane(rows: &[Vec<f64>]) -> Result<Vec<(f64, f64)>> {
    let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64;
    let means: Vec<f64> = (0..rows[0].len()).map(mean).collect();
    let centred = Mat::from_fn(rows.len(), means.len(), |row, i| rows[row][i] - means[i]);
    let svd = Svd::new(&centred, "the words of a map").map_err(sememe::Error::from)?;
    let along = |row: usize, component: usize| svd.s.get(component).map_or(0.0, |s| svd.u[(row, component)] * s);
    Ok((0..rows.len()).map(|row| (along(row, 0), along(row, 1))).collect())
}
