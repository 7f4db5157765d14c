//! Prepared languages, and models and results, which are computed on first use and cached.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use sememe::align::AlignOptions;
use sememe::learn::{LearnOptions, Trust};
use sememe::lexicon::{self, Lexicon, Shared, Tuples};
use sememe::model::{self, Method, Model, Shrinkage};
use sememe::observe::Observer;
use sememe::retrieve::Criterion;
use sememe::vectors::{Embeddings, Vocabulary};

use super::data::{Data, DictionaryFile, language};
use super::three::Trilingual;
use super::{Options, Part};
use crate::experiment::{self, Experiment, Scores};

/// Why rows with self-learning are missing.
const LEFT_OUT: &str = "left out, as it takes long: ask for “learned” among the tables";
/// Why results of a later stage are missing.
const NOT_YET: &str = "not computed yet";

/// Which pairs a model is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dictionary {
    /// A training dictionary of 5,000 words.
    Expert,
    /// Strings that both languages have.
    Pseudo,
    /// All of MUSE's dictionary.
    Whole,
    /// The training dictionary of Dinu et al.
    Dinu,
}

/// How a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recipe {
    method: &'static str,
    way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    /// As in the paper: covariances are not shrunk.
    Plain,
    /// With automatic shrinkage: `sememe align --finish none`.
    Shrunk,
    /// With automatic shrinkage and the discriminative finish, as `sememe align` does by default.
    Finished,
    /// Self-learning from the pairs: `sememe align --refine`.
    Refined,
    /// Self-learning from the vectors alone: `sememe align --unsupervised`.
    Unsupervised,
}

impl Recipe {
    pub fn plain(method: Method) -> Self {
        Recipe { method: method.name(), way: Way::Plain }
    }

    pub fn shrunk(method: Method) -> Self {
        Recipe { method: method.name(), way: Way::Shrunk }
    }

    pub fn finished(method: Method) -> Self {
        Recipe { method: method.name(), way: Way::Finished }
    }

    pub fn refined(method: Method) -> Self {
        Recipe { method: method.name(), way: Way::Refined }
    }

    pub fn unsupervised(method: Method) -> Self {
        Recipe { method: method.name(), way: Way::Unsupervised }
    }

    /// Whether it uses self-learning, which takes long.
    pub fn is_learned(self) -> bool {
        matches!(self.way, Way::Refined | Way::Unsupervised)
    }

    /// Whether the model of two languages is the same in both directions if its pairs are.
    fn is_symmetric(self) -> bool {
        let symmetric = [Method::Ibfa, Method::Cca, Method::Svd];
        self.is_learned() || symmetric.iter().any(|method| method.name() == self.method)
    }

    fn options(self) -> sememe::Result<model::FitOptions> {
        let shrinkage = if self.way == Way::Plain { Shrinkage::None } else { Shrinkage::Auto };
        Ok(model::FitOptions::default().with_method(Some(self.method.parse()?)).with_shrinkage(shrinkage))
    }
}

/// A model of two languages: from, to, dictionary and recipe.
pub type Bilingual = (String, String, Dictionary, Recipe);

/// A result, or the reason why it is missing.
pub type Outcome<T> = Result<T, String>;

/// The key under which a model is cached: that of everything that shares it.
fn shared((from, to, dictionary, recipe): &Bilingual) -> Bilingual {
    // Shrunk rows ignore the finish of a model.
    let way = if recipe.way == Way::Shrunk { Way::Finished } else { recipe.way };
    // The unsupervised model uses no dictionary, so that all tables share it.
    let dictionary = if way == Way::Unsupervised { Dictionary::Pseudo } else { *dictionary };
    // Expert dictionaries have a direction: models of one would know test words of the other.
    let is_reversed = to == "en" && dictionary == Dictionary::Pseudo && recipe.is_symmetric();
    let (from, to) = if is_reversed { (to, from) } else { (from, to) };
    (from.clone(), to.clone(), dictionary, Recipe { way, ..*recipe })
}

/// Everything that a fit needs.
struct Input<'a> {
    views: [(String, &'a Embeddings); 2],
    tuples: Tuples,
    recipe: Recipe,
    trust: Trust,
    seed: u64,
}

impl Input<'_> {
    fn fit(&self, observer: &dyn Observer) -> Outcome<Model> {
        let Input { views, tuples, recipe, trust, seed } = self;
        let views = [0, 1].map(|view| (views[view].0.as_str(), views[view].1));
        let fitted = recipe.options().and_then(|fit| match recipe.way {
            Way::Plain => Experiment::new(&views, tuples.clone())?.fit(&fit, observer),
            Way::Shrunk | Way::Finished => experiment::aligned(&views, tuples, fit, observer),
            Way::Refined | Way::Unsupervised => {
                let options = LearnOptions::default()
                    .with_align(AlignOptions::default().with_fit(fit))
                    .with_unsupervised(recipe.way == Way::Unsupervised)
                    .with_trust(*trust)
                    .with_seed(*seed);
                experiment::learned(&views, tuples, options, observer)
            }
        });
        fitted.map_err(|error| error.to_string())
    }
}

/// The words of two languages in the coordinates in which they are compared.
type Compared = Rc<[Embeddings; 2]>;

/// The data, models and results that all sections share.
pub struct Lab<'a> {
    pub data: &'a Data,
    pub languages: &'a BTreeMap<String, Embeddings>,
    pub options: &'a Options,
    models: RefCell<HashMap<Bilingual, Outcome<Rc<Model>>>>,
    /// The space that was used last: several criteria are evaluated on it in a row.
    compared: RefCell<Option<(Bilingual, Compared)>>,
    scores: RefCell<HashMap<(Bilingual, String), Outcome<Scores>>>,
    trilingual: OnceCell<Outcome<Trilingual<'a>>>,
}

impl<'a> Lab<'a> {
    pub fn new(data: &'a Data, languages: &'a BTreeMap<String, Embeddings>, options: &'a Options) -> Self {
        Lab {
            data,
            languages,
            options,
            models: RefCell::default(),
            compared: RefCell::default(),
            scores: RefCell::default(),
            trilingual: OnceCell::new(),
        }
    }

    /// The prepared words of a language.
    pub fn words(&self, code: &str) -> Outcome<&'a Embeddings> {
        self.languages.get(code).ok_or_else(|| format!("no vectors of {} ({code})", language(code)))
    }

    /// A dictionary from one language to another.
    pub fn lexicon(&self, file: &DictionaryFile, from: &str, to: &str) -> Outcome<Lexicon> {
        let options = lexicon::ReadOptions::default();
        let read = match file.is_reversed {
            false => lexicon::read_pairs(&file.path, from, to, &options).map(|read| read.lexicon),
            true => lexicon::read_pairs(&file.path, to, from, &options)
                .and_then(|read| read.lexicon.restricted(&[from, to])),
        };
        Ok(self.options.casing.of_lexicon(read.map_err(|error| error.to_string())?))
    }

    /// The words that translations from one language to another are tested on.
    pub fn gold(&self, from: &str, to: &str, dictionary: Dictionary) -> Outcome<Lexicon> {
        let file = match dictionary {
            Dictionary::Dinu => self.data.dinu(from, to, true)?,
            _ => self.data.test(from, to)?,
        };
        self.lexicon(&file, from, to)
    }

    /// The pairs that a model is fitted to.
    pub fn tuples(&self, from: &str, to: &str, dictionary: Dictionary) -> Outcome<Tuples> {
        let vocabularies: [&Vocabulary; 2] = [self.words(from)?.vocabulary(), self.words(to)?.vocabulary()];
        let file = match dictionary {
            Dictionary::Pseudo => return Ok(lexicon::identical(&vocabularies, Shared::Strings)),
            Dictionary::Expert => self.data.train(from, to)?,
            Dictionary::Whole => self.data.whole(from, to)?,
            Dictionary::Dinu => self.data.dinu(from, to, false)?,
        };
        let lexicon = self.lexicon(&file, from, to)?;
        let mut tuples = Tuples::new(2);
        let matched = tuples.add_lexicon(&lexicon, &[(from, vocabularies[0]), (to, vocabularies[1])]);
        matched.map_err(|error| error.to_string())?;
        Ok(tuples)
    }

    /// Whether models of English and another language can be fitted to a dictionary and tested on another.
    pub fn can_be_tested(&self, code: &str) -> bool {
        code != "en"
            && self.tuples("en", code, Dictionary::Expert).is_ok()
            && self.gold("en", code, Dictionary::Expert).is_ok()
    }

    /// The three languages that are aligned together.
    pub fn trilingual(&self) -> &Outcome<Trilingual<'a>> {
        self.trilingual.get_or_init(|| Trilingual::gather(self))
    }

    /// A model of two languages, fitted once for everything that shares it.
    pub fn model(&self, key: &Bilingual, observer: &dyn Observer) -> Outcome<Rc<Model>> {
        let key = shared(key);
        if let Some(known) = self.models.borrow().get(&key) {
            return known.clone();
        }
        let fitted = self.input(&key).and_then(|input| input.fit(observer)).map(Rc::new);
        self.models.borrow_mut().insert(key, fitted.clone());
        fitted
    }

    /// Fits models, several at a time: some methods use one thread. `advance` is called after each with the number of those
    /// that are fitted and of all.
    pub fn fit_all(&self, keys: &[Bilingual], observer: &dyn Observer, advance: &(dyn Fn(usize, usize) + Sync)) {
        let mut inputs: Vec<(Bilingual, Outcome<Input>)> = Vec::new();
        for key in keys.iter().map(shared) {
            if !self.models.borrow().contains_key(&key) && !inputs.iter().any(|(known, _)| *known == key) {
                inputs.push((key.clone(), self.input(&key)));
            }
        }
        let (done, total) = (AtomicUsize::new(0), inputs.len());
        let fit = |(key, input): (Bilingual, Outcome<Input>)| {
            let fitted = input.and_then(|input| input.fit(observer));
            advance(done.fetch_add(1, Ordering::Relaxed) + 1, total);
            (key, fitted)
        };
        let fitted: Vec<(Bilingual, Outcome<Model>)> = inputs.into_par_iter().map(fit).collect();
        self.models.borrow_mut().extend(fitted.into_iter().map(|(key, model)| (key, model.map(Rc::new))));
    }

    fn input(&self, (from, to, dictionary, recipe): &Bilingual) -> Outcome<Input<'a>> {
        let views = [(from.clone(), self.words(from)?), (to.clone(), self.words(to)?)];
        if recipe.is_learned() && !self.options.wants(Part::Learned) {
            return Err(LEFT_OUT.to_owned());
        }
        let tuples = match recipe.way {
            Way::Unsupervised => Tuples::new(2),
            _ => self.tuples(from, to, *dictionary)?,
        };
        // As `sememe align`, which doubts identical strings and keeps the entries of dictionaries.
        let trust = if *dictionary == Dictionary::Pseudo { Trust::Doubt } else { Trust::Keep };
        Ok(Input { views, tuples, recipe: *recipe, trust, seed: self.options.seed })
    }

    /// The projected words of both languages.
    pub fn latent(&self, key: &Bilingual, observer: &dyn Observer) -> Outcome<[Embeddings; 2]> {
        let model = self.model(key, observer)?;
        Ok([self.project(&model, &key.0)?, self.project(&model, &key.1)?])
    }

    /// The words of both languages in the coordinates in which the recipe compares them.
    fn compared(&self, key: &Bilingual, observer: &dyn Observer) -> Outcome<Compared> {
        if let Some((known, compared)) = &*self.compared.borrow()
            && known == key
        {
            return Ok(compared.clone());
        }
        let compared = match key.3.way {
            Way::Plain | Way::Shrunk => self.latent(key, observer)?,
            _ => self.pair_in(&*self.model(key, observer)?, &key.0, &key.1)?,
        };
        let compared = Rc::new(compared);
        *self.compared.borrow_mut() = Some((key.clone(), compared.clone()));
        Ok(compared)
    }

    /// The words of two languages of a model in the coordinates in which `sememe align` compares them.
    pub fn pair_in(&self, model: &Model, from: &str, to: &str) -> Outcome<[Embeddings; 2]> {
        let views = [view_of(model, from)?, view_of(model, to)?];
        let latent = [self.project(model, from)?, self.project(model, to)?];
        experiment::compared(model, views, latent).map_err(|error| error.to_string())
    }

    /// The projected words of a language.
    fn project(&self, model: &Model, code: &str) -> Outcome<Embeddings> {
        experiment::latent(model, view_of(model, code)?, self.words(code)?).map_err(|error| error.to_string())
    }

    /// The precision of word translation.
    pub fn scores(&self, key: &Bilingual, criterion: Criterion, observer: &dyn Observer) -> Outcome<Scores> {
        let of_criterion = (key.clone(), criterion.to_string());
        if let Some(known) = self.scores.borrow().get(&of_criterion) {
            return known.clone();
        }
        let measure = || -> Outcome<Scores> {
            // First, because without test words there is no need to fit.
            let gold = self.gold(&key.0, &key.1, key.2)?;
            let compared = self.compared(key, observer)?;
            let scores = experiment::translate(&compared[0], &compared[1], &gold, criterion, self.options.seed);
            scores.map_err(|error| error.to_string())
        };
        let measured = measure();
        self.scores.borrow_mut().insert(of_criterion, measured.clone());
        measured
    }

    /// The precision of word translation if it was computed, or the reason why it is missing.
    pub fn known_scores(&self, key: &Bilingual, criterion: Criterion) -> Outcome<Scores> {
        self.words(&key.0).and(self.words(&key.1))?;
        let known = self.scores.borrow().get(&(key.clone(), criterion.to_string())).cloned();
        let is_left_out = key.3.is_learned() && !self.options.wants(Part::Learned);
        known.unwrap_or_else(|| Err(if is_left_out { LEFT_OUT } else { NOT_YET }.to_owned()))
    }
}

fn view_of(model: &Model, code: &str) -> Outcome<usize> {
    let view = model.views.iter().position(|view| view.name == code);
    view.ok_or_else(|| format!("{} is not part of that model", language(code)))
}
