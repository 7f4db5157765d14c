//! One line of a dictionary.

use std::sync::Arc;

/// Words that mean the same, at most one per view; a view without a word is a hole.
///
/// Only words are stored, so a hole costs nothing however many views there are, and clones share them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// By ascending view.
    words: Arc<[(u32, Box<str>)]>,
}

impl Entry {
    /// The word of a view.
    pub fn word(&self, view: usize) -> Option<&str> {
        self.words().find(|&(of, _)| of == view).map(|(_, word)| word)
    }

    /// The words and their views, by ascending view.
    pub fn words(&self) -> impl ExactSizeIterator<Item = (usize, &str)> {
        self.words.iter().map(|(view, word)| (*view as usize, &**word))
    }

    pub(super) fn lowercased(&self) -> Self {
        self.words().map(|(view, word)| (view, word.to_lowercase())).collect()
    }
}

impl<W: Into<Box<str>>> FromIterator<(usize, W)> for Entry {
    /// From words and their views. Panics when a view is named twice.
    fn from_iter<I: IntoIterator<Item = (usize, W)>>(words: I) -> Self {
        let view_number = |view: usize| u32::try_from(view).expect("there are under 2³² views");
        let mut words: Vec<(u32, Box<str>)> =
            words.into_iter().map(|(view, word)| (view_number(view), word.into())).collect();
        words.sort_by_key(|(view, _)| *view);
        assert!(words.windows(2).all(|two| two[0].0 < two[1].0), "one word per view");
        Entry { words: words.into() }
    }
}
