//! A space that was opened, with everything that requests prepare in it.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use sememe::lexicon::find_word;
use sememe::model::FactorStrengths;
use sememe::observe::Observer;
use sememe::retrieve::{Criterion, Retriever};
use sememe::space::Space;
use sememe::translate::{Completions, Induced, TranslateOptions, Translator, closest_spellings};
use sememe::vectors::Embeddings;

use crate::app::shortened;
use crate::http::Problem;
use crate::map::Layouts;
use crate::options::LONGEST_WORD;
use crate::trained::Trained;

/// Translators that are kept: they are small, but criteria have any number of parameters.
const MOST_TRANSLATORS: usize = 64;
/// Prepared retrievers that are remembered; the space keeps fewer.
const MOST_PREPARED: usize = 256;
/// Spelling suggestions for an unknown word.
const SUGGESTIONS: usize = 3;

/// An open space. It stays as it is when another one takes its place on disk.
pub(crate) struct Opened {
    /// Differs from that of every other opened space.
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) views: Vec<Words>,
    pub(crate) layouts: Layouts,
    /// Held while a retriever from one view to another is prepared, so that it is done once.
    preparing: Vec<Arc<tokio::sync::Mutex<()>>>,
    /// Retrievers that were prepared before. The space keeps those that were used last.
    prepared: Mutex<HashSet<(usize, usize, String)>>,
    translators: Mutex<HashMap<Direction, Arc<Translator>>>,
    hubs: Mutex<HashMap<(usize, usize), Arc<Hubs>>>,
    /// By the views, and whether pairs are mutual.
    induced: Mutex<HashMap<(usize, usize, bool), Dictionary>>,
    factors: OnceLock<Factors>,
    trained: OnceLock<Option<Trained>>,
}

/// The latent variables of a model.
pub(crate) struct Factors {
    /// Their columns in latent vectors, the strongest first.
    pub(crate) order: Vec<usize>,
    /// How strongly each column joins the views, if the method says so.
    pub(crate) strengths: Option<FactorStrengths>,
}

impl Factors {
    fn of(space: &Space) -> sememe::Result<Self> {
        let model = &space.alignment().model;
        let strengths = model.factor_strengths()?;
        let mut order: Vec<usize> = (0..model.factors()).collect();
        if let Some(FactorStrengths { correlations, .. }) = &strengths {
            order.sort_by(|&a, &b| correlations[b].total_cmp(&correlations[a]));
        }
        Ok(Factors { order, strengths })
    }

    /// The correlations of all of them, the strongest first.
    pub(crate) fn correlations(&self) -> Option<Vec<f64>> {
        let strengths = self.strengths.as_ref()?;
        Some(self.order.iter().map(|&column| strengths.correlations[column]).collect())
    }
}

/// A view, those that it is translated to, and the name of the criterion.
type Direction = (usize, Vec<usize>, String);
/// An induced dictionary.
type Dictionary = Arc<Vec<Induced>>;

/// The words of a view with their latent vectors.
pub(crate) struct Words {
    pub(crate) name: String,
    /// Without words, if the space was fitted from moments.
    embeddings: Option<Embeddings>,
    completions: OnceLock<Completions>,
    lengths: OnceLock<Vec<f32>>,
}

/// How near words are to those of another view on average, sorted.
pub(crate) struct Hubs(Vec<f64>);

impl Hubs {
    /// The share of words whose mean similarity is lower.
    pub(crate) fn percentile(&self, mean: f64) -> f64 {
        self.0.partition_point(|&other| other < mean) as f64 / self.0.len().max(1) as f64
    }
}

impl Words {
    /// The words, or what to tell those who ask for them.
    pub(crate) fn embeddings(&self) -> Result<&Embeddings, Problem> {
        self.embeddings.as_ref().ok_or_else(|| {
            let message = format!("this space has no words of {:?}: it was fitted from moments alone", self.name);
            Problem::not_found("no_words", message)
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.embeddings.as_ref().map_or(0, Embeddings::len)
    }

    pub(crate) fn completions(&self) -> Result<&Completions, Problem> {
        let words = self.embeddings()?;
        Ok(self.completions.get_or_init(|| Completions::of(words.vocabulary())))
    }

    /// The length of every latent vector.
    pub(crate) fn lengths(&self) -> Result<&[f32], Problem> {
        let matrix = self.embeddings()?.matrix();
        let length = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt();
        Ok(self.lengths.get_or_init(|| matrix.as_slice().par_chunks(matrix.cols()).map(length).collect()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Opened {
    /// Opens all views, so that nothing is read later from a folder that may be another space by then.
    pub(crate) fn open(name: &str, path: &std::path::Path) -> sememe::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let space = Space::open(path)?.caching_only(&[Criterion::CSLS]);
        let model = &space.alignment().model;
        let names = model.views.iter().map(|view| view.name.clone()).zip(space.alignment().words.clone());
        let open = |(name, words): (String, usize)| {
            let embeddings = (words > 0).then(|| space.view(&name)).transpose()?;
            Ok(Words { name, embeddings, completions: OnceLock::new(), lengths: OnceLock::new() })
        };
        let views = names.collect::<Vec<_>>().into_par_iter().map(open).collect::<sememe::Result<Vec<_>>>()?;
        let preparing = (0..views.len() * views.len()).map(|_| Arc::default()).collect();
        let opened = Opened {
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            name: name.to_owned(),
            views,
            layouts: Layouts::default(),
            preparing,
            prepared: Mutex::default(),
            translators: Mutex::default(),
            hubs: Mutex::default(),
            induced: Mutex::default(),
            factors: OnceLock::new(),
            trained: OnceLock::new(),
            space,
        };
        opened.layouts.take_kept(&opened);
        Ok(opened)
    }

    pub(crate) fn latent(&self) -> usize {
        self.space.alignment().model.latent()
    }

    /// The latent variables of the model, computed on first use.
    pub(crate) fn factors(&self) -> Result<&Factors, Problem> {
        if let Some(known) = self.factors.get() {
            return Ok(known);
        }
        let factors = Factors::of(&self.space).map_err(|error| Problem::of(&error))?;
        Ok(self.factors.get_or_init(|| factors))
    }

    /// The index of a view.
    pub(crate) fn view(&self, name: &str) -> Result<usize, Problem> {
        let found = self.space.alignment().model.view_index(name);
        found.map_err(|_| {
            let known: Vec<String> = self.views.iter().map(|view| format!("{:?}", view.name)).collect();
            let message = format!("there is no view named {:?}; there are {}", shortened(name), known.join(", "));
            Problem::not_found("unknown_view", message)
        })
    }

    /// The index of a view that has words.
    pub(crate) fn view_with_words(&self, name: &str) -> Result<usize, Problem> {
        let view = self.view(name)?;
        self.views[view].embeddings()?;
        Ok(view)
    }

    /// All other views that have words.
    pub(crate) fn others(&self, view: usize) -> Vec<usize> {
        (0..self.views.len()).filter(|&other| other != view && self.views[other].len() > 0).collect()
    }

    /// The row of a word as people write it.
    pub(crate) fn row(&self, view: usize, word: &str) -> Result<Option<usize>, Problem> {
        let spelled = self.space.alignment().preparation.casing.of_word(word);
        Ok(find_word(self.views[view].embeddings()?.vocabulary(), &spelled))
    }

    /// The row of a word, or what to tell those who ask for it.
    pub(crate) fn known_row(&self, view: usize, word: &str) -> Result<usize, Problem> {
        check_word(word)?;
        self.row(view, word)?.ok_or_else(|| {
            let close = self.spellings(view, word);
            let also = match &close[..] {
                [] => String::new(),
                close => format!("; did you mean {}?", close.join(" or ")),
            };
            let message = format!("{:?} is not in the vocabulary of {}{also}", shortened(word), self.views[view].name);
            Problem::not_found("unknown_word", message).suggesting(close)
        })
    }

    /// The closest spellings of an unknown word.
    pub(crate) fn spellings(&self, view: usize, word: &str) -> Vec<String> {
        let spelled = self.space.alignment().preparation.casing.of_word(word);
        let Ok(words) = self.views[view].embeddings() else { return Vec::new() };
        closest_spellings(words.vocabulary(), &spelled, SUGGESTIONS).into_iter().map(str::to_owned).collect()
    }

    /// Whether two words were a pair in the data that the model was fitted to; `None` if the space does not know.
    pub(crate) fn is_trained(&self, [from, to]: [usize; 2], [word, translation]: [&str; 2]) -> Option<bool> {
        let trained = self.space.alignment().trained.as_ref()?;
        let (from, to) = (self.views[from].name.as_str(), self.views[to].name.as_str());
        Some(trained.contains([(from, word), (to, translation)]))
    }

    /// The pairs of words that the model was fitted to; `None` if the space does not know.
    pub(crate) fn trained(&self) -> Option<&Trained> {
        let words = || self.views.iter().map(Words::len).collect::<Vec<_>>();
        let rows = self.space.alignment().trained_rows.as_ref();
        self.trained.get_or_init(|| rows.map(|rows| Trained::of(rows, &words()))).as_ref()
    }

    /// The point of a word on the map, where the words of one view follow those of another.
    pub(crate) fn point(&self, view: usize, row: usize) -> usize {
        self.views[..view].iter().map(Words::len).sum::<usize>() + row
    }

    /// Whether confidences come with the usual criterion.
    pub(crate) fn has_confidences(&self) -> bool {
        let alignment = self.space.alignment();
        alignment.calibrations.iter().any(|pair| pair.criterion == alignment.usual_criterion())
    }

    /// Waits until nobody else prepares a retriever between two views. Others that need the same one wait for it.
    pub(crate) async fn turn(&self, from: usize, to: usize) -> tokio::sync::OwnedMutexGuard<()> {
        self.preparing[from * self.views.len() + to].clone().lock_owned().await
    }

    pub(crate) fn retriever(
        &self,
        from: usize,
        to: usize,
        criterion: Criterion,
        observer: &dyn Observer,
    ) -> Result<Retriever, Problem> {
        let names = [from, to].map(|view| self.views[view].name.as_str());
        let retriever = self.space.retriever(names[0], names[1], criterion, observer);
        let retriever = retriever.map_err(|error| Problem::of(&error))?;
        let mut prepared = locked(&self.prepared);
        if prepared.len() >= MOST_PREPARED {
            prepared.clear();
        }
        prepared.insert((from, to, criterion.to_string()));
        Ok(retriever)
    }

    /// Whether a retriever was prepared before, so that it takes no time.
    pub(crate) fn is_prepared(&self, from: usize, to: usize, criterion: Criterion) -> bool {
        locked(&self.prepared).contains(&(from, to, criterion.to_string()))
    }

    /// A translator that was prepared before.
    pub(crate) fn known_translator(&self, from: usize, to: &[usize], criterion: Criterion) -> Option<Arc<Translator>> {
        locked(&self.translators).get(&(from, to.to_vec(), criterion.to_string())).cloned()
    }

    /// Prepares a translator.
    pub(crate) fn translator(
        &self,
        from: usize,
        to: &[usize],
        criterion: Criterion,
        observer: &dyn Observer,
    ) -> Result<Arc<Translator>, Problem> {
        let names: Vec<&str> = to.iter().map(|&view| self.views[view].name.as_str()).collect();
        let options = TranslateOptions::default().with_criterion(criterion);
        let translator = Translator::open(&self.space, &self.views[from].name, &names, &options, observer);
        let translator = Arc::new(translator.map_err(|error| Problem::of(&error))?);
        let mut known = locked(&self.translators);
        if known.len() >= MOST_TRANSLATORS {
            known.clear();
        }
        known.insert((from, to.to_vec(), criterion.to_string()), translator.clone());
        Ok(translator)
    }

    /// How near words of `to` are to words of `from` on average: the `r` of CSLS, of which the terms are the negative.
    pub(crate) fn hubs(&self, from: usize, to: usize, csls: &Retriever) -> Arc<Hubs> {
        if let Some(known) = locked(&self.hubs).get(&(from, to)) {
            return known.clone();
        }
        let mut means: Vec<f64> = csls.terms().iter().map(|term| -term).collect();
        means.par_sort_unstable_by(f64::total_cmp);
        let hubs = Arc::new(Hubs(means));
        locked(&self.hubs).insert((from, to), hubs.clone());
        hubs
    }

    /// The induced dictionary of two views, computed on first use.
    pub(crate) fn induced(
        &self,
        key: (usize, usize, bool),
        induce: impl FnOnce() -> Result<Vec<Induced>, Problem>,
    ) -> Result<Dictionary, Problem> {
        if let Some(known) = locked(&self.induced).get(&key) {
            return Ok(known.clone());
        }
        let induced = Arc::new(induce()?);
        locked(&self.induced).insert(key, induced.clone());
        Ok(induced)
    }
}

/// Refuses words that no vocabulary has.
pub(crate) fn check_word(word: &str) -> Result<(), Problem> {
    match word.len() > LONGEST_WORD {
        true => {
            let message = format!("a word has {} bytes; at most {LONGEST_WORD} are looked up", word.len());
            Err(Problem::bad("word_too_long", message))
        }
        false => Ok(()),
    }
}
