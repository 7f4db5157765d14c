//! Spelling suggestions for unknown words.

use rayon::prelude::*;

use crate::vectors::Vocabulary;

/// Words that one thread compares at a time.
const WORDS: usize = 4096;
/// Shortest prefix that is completed to longer words.
const SHORTEST_BEGINNING: usize = 3;

/// The words most similar in spelling to `word`, at most `limit`: first by edit distance, ignoring case, then longer
/// words with this prefix. Two neighbouring letters in the wrong order are one edit. Ties keep the order of the vocabulary,
/// which is usually by frequency.
///
/// ```
/// use sememe::{translate::closest_spellings, vectors::Vocabulary};
///
/// let words: Vocabulary = ["horse", "house", "mouse", "House", "household"].into_iter().collect();
/// assert_eq!(closest_spellings(&words, "hose", 2), ["horse", "house"]);
/// assert_eq!(closest_spellings(&words, "HOUSE", 2), ["house", "House"]);
/// assert_eq!(closest_spellings(&words, "hosue", 2), ["house", "House"]);
/// assert_eq!(closest_spellings(&words, "househ", 9), ["house", "House", "horse", "mouse", "household"]);
/// ```
pub fn closest_spellings<'a>(vocabulary: &'a Vocabulary, word: &str, limit: usize) -> Vec<&'a str> {
    let wanted: Vec<char> = folded(word).collect();
    let most = match wanted.len() {
        0 => return Vec::new(),
        1..=3 => 1,
        4..=8 => 2,
        _ => 3,
    };
    let chunks: Vec<usize> = (0..vocabulary.len()).step_by(WORDS).collect();
    let mut found: Vec<(usize, usize)> = chunks
        .into_par_iter()
        .flat_map_iter(|first| {
            let mut spelled = Vec::new();
            let mut rows = Rows::default();
            let mut near = Vec::new();
            for index in first..vocabulary.len().min(first + WORDS) {
                // A cheap filter by bytes: a character takes at most four bytes in UTF-8, and its lower case may take
                // another number.
                if vocabulary.word(index).len() > 4 * (wanted.len() + most) + LONGER {
                    continue;
                }
                spelled.clear();
                spelled.extend(folded(vocabulary.word(index)));
                let begins = wanted.len() >= SHORTEST_BEGINNING
                    && spelled.len() <= wanted.len() + LONGER
                    && spelled.starts_with(&wanted);
                match rows.distance(&wanted, &spelled, most) {
                    Some(distance) => near.push((distance, index)),
                    None if begins => near.push((most + 1, index)),
                    None => {}
                }
            }
            near
        })
        .collect();
    found.sort_unstable();
    found.truncate(limit);
    found.into_iter().map(|(_, index)| vocabulary.word(index)).collect()
}

/// How many letters a word may have beyond the prefix.
const LONGER: usize = 8;

/// The characters in lower case.
pub(super) fn folded(word: &str) -> impl Iterator<Item = char> {
    word.chars().flat_map(char::to_lowercase)
}

/// Computes edit distances up to a limit, with reusable buffers: Levenshtein's, and swaps of neighbouring letters that are
/// not edited again (optimal string alignment).
#[derive(Default)]
struct Rows {
    row: Vec<usize>,
    before: Vec<usize>,
    earlier: Vec<usize>,
}

impl Rows {
    fn distance(&mut self, a: &[char], b: &[char], most: usize) -> Option<usize> {
        if a.len().abs_diff(b.len()) > most {
            return None;
        }
        let too_many = most + 1;
        for row in [&mut self.row, &mut self.before, &mut self.earlier] {
            row.clear();
            row.resize(b.len() + 1, too_many);
        }
        // `row[j]` is the distance between the first `i` letters of `a` and the first `j` of `b`. Only cells near the
        // diagonal can be within the limit; the others stay too far.
        self.row.iter_mut().take(most + 1).enumerate().for_each(|(j, cell)| *cell = j);
        let mut least_before = 0;
        for i in 1..=a.len() {
            std::mem::swap(&mut self.earlier, &mut self.before);
            std::mem::swap(&mut self.before, &mut self.row);
            let (first, last) = (i.saturating_sub(most).max(1), b.len().min(i + most));
            self.row[first - 1] = if first == 1 { i.min(too_many) } else { too_many };
            let mut least = self.row[first - 1];
            for j in first..=last {
                let change = self.before[j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swap = if is_swap { self.earlier[j - 2] + 1 } else { too_many };
                self.row[j] = change.min(swap).min(self.before[j] + 1).min(self.row[j - 1] + 1).min(too_many);
                least = least.min(self.row[j]);
            }
            if let Some(after) = self.row.get_mut(last + 1) {
                *after = too_many;
            }
            if least.min(least_before) > most {
                return None;
            }
            least_before = least;
        }
        Some(self.row[b.len()]).filter(|&distance| distance <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook algorithm, with the whole table.
    fn edits(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => {
                        let change = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                        let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                        let swap = if is_swap { table[i - 2][j - 2] + 1 } else { usize::MAX };
                        change.min(swap).min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
                    }
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn the_band_loses_no_near_word() {
        let word = |seed: usize| -> Vec<char> {
            (0..seed % 8).map(|i| ['a', 'b', 'ж'][(seed / 8 + i * i * seed) % 5 % 3]).collect()
        };
        let mut rows = Rows::default();
        for (i, j) in (0..160).flat_map(|i| (0..160).map(move |j| (i * 3, j * 5))) {
            let (a, b) = (word(i), word(j));
            let expected = edits(&a, &b);
            for most in 0..4 {
                assert_eq!(rows.distance(&a, &b, most), (expected <= most).then_some(expected), "{a:?} {b:?} {most}");
            }
        }
    }

    #[test]
    fn any_script_and_no_script_at_all() {
        let words: Vocabulary = ["дом", "дома", "дым", "кот", "东京", "ΟΔΟΣ"].into_iter().collect();
        assert_eq!(closest_spellings(&words, "Дом", 9), ["дом", "дома", "дым"]);
        assert_eq!(closest_spellings(&words, "东京都", 9), ["东京"]);
        assert!(closest_spellings(&words, "", 3).is_empty());
        assert!(closest_spellings(&Vocabulary::new(), "дом", 3).is_empty());
        assert!(closest_spellings(&words, &"x".repeat(10_000), 3).is_empty());
    }
}
