//! One entry of a dictionary.

use std::sync::Arc;

/// Words with the same meaning, at most one per view. A view without a word is a hole.
///
/// Holes are not stored, so they cost nothing however many views there are. Clones share the words.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Sorted by view.
    words: Arc<[(u32, Box<str>)]>,
}

impl Entry {
    /// The word of a view.
    pub fn word(&self, view: usize) -> Option<&str> {
        self.words().find(|&(of, _)| of == view).map(|(_, word)| word)
    }

    /// The words and their views, sorted by view.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (usize, &str)> {
        self.words.iter().map(|(view, word)| (*view as usize, &**word))
    }

    pub(super) fn lowercased(&self) -> Self {
        self.words().map(|(view, word)| (view, word.to_lowercase())).collect()
    }
}

impl<W: Into<Box<str>>> FromIterator<(usize, W)> for Entry {
    /// An entry from words and their views. Panics if a view occurs twice.
    fn from_iter<I: IntoIterator<Item = (usize, W)>>(words: I) -> Self {
        let view_number = |view: usize| u32::try_from(view).expect("there are under 2³² views");
        let mut words: Vec<(u32, Box<str>)> =
            words.into_iter().map(|(view, word)| (view_number(view), word.into())).collect();
        words.sort_by_key(|(view, _)| *view);
        assert!(words.windows(2).all(|two| two[0].0 < two[1].0), "one word per view");
        Entry { words: words.into() }
    }
}
