//! Languages, read and prepared once; models and results, computed when they are first asked for.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use sememe::lexicon::{self, Lexicon, Shared, Tuples};
use sememe::model::{Method, Model, Options, Shrinkage};
use sememe::normalize::{Normalizer, Step};
use sememe::preparation::Casing;
use sememe::retrieve::Criterion;
use sememe::vectors::{Embeddings, Vocabulary};

use super::data::{Data, DictionaryFile, language};
use super::three::Trilingual;
use crate::arguments::{Global, Reproduce};
use crate::commands::experiment::{self, Experiment, Scores};
use crate::commands::read_vectors;
use crate::output;

/// Which pairs a model is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dictionary {
    /// A training dictionary of 5,000 words.
    Expert,
    /// Strings that both languages have.
    Pseudo,
    /// All of MUSE's dictionary.
    Whole,
    /// What Dinu et al. trained on.
    Dinu,
}

/// How a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recipe {
    method: &'static str,
    /// With automatic shrinkage, as `sememe align` does by default; the paper's models have none.
    is_shrunk: bool,
}

impl Recipe {
    pub fn plain(method: Method) -> Self {
        Recipe { method: method.name(), is_shrunk: false }
    }

    pub fn shrunk(method: Method) -> Self {
        Recipe { method: method.name(), is_shrunk: true }
    }

    fn options(self) -> sememe::Result<Options> {
        let shrinkage = if self.is_shrunk { Shrinkage::Auto } else { Shrinkage::None };
        Ok(Options { method: Some(self.method.parse()?), shrinkage, ..Options::default() })
    }
}

/// A model of two languages: from, to, what it is fitted to, and how.
pub type Bilingual = (String, String, Dictionary, Recipe);

/// What was computed, or why it could not be.
pub type Outcome<T> = Result<T, String>;

/// The words of two languages in a latent space.
type Latent = Rc<[Embeddings; 2]>;

pub struct Lab<'a> {
    pub data: &'a Data,
    pub languages: &'a BTreeMap<String, Embeddings>,
    pub casing: Casing,
    pub steps: &'a [Step],
    pub seed: u64,
    models: RefCell<HashMap<Bilingual, Outcome<Rc<Model>>>>,
    /// Of the space that was used last: several criteria are asked for in a row.
    latent: RefCell<Option<(Bilingual, Latent)>>,
    scores: RefCell<HashMap<(Bilingual, String), Outcome<Scores>>>,
    trilingual: OnceCell<Outcome<Trilingual<'a>>>,
}

/// Reads and prepares the vectors of every language that is there.
pub fn read_languages(
    data: &Data,
    arguments: &Reproduce,
    global: &Global,
) -> anyhow::Result<BTreeMap<String, Embeddings>> {
    let mut languages = BTreeMap::new();
    for (code, path) in &data.vectors {
        let read = read_vectors(path, None, &arguments.reading(), global)?;
        let mut embeddings = arguments.casing().of_embeddings(read.embeddings);
        Normalizer::fit_apply(&arguments.normalize.0, &mut embeddings);
        output::note(global, format_args!("{}: {} words", language(code), output::count(embeddings.len())));
        languages.insert(code.clone(), embeddings);
    }
    Ok(languages)
}

impl<'a> Lab<'a> {
    pub fn new(
        data: &'a Data,
        languages: &'a BTreeMap<String, Embeddings>,
        arguments: &'a Reproduce,
        seed: u64,
    ) -> Self {
        Lab {
            data,
            languages,
            casing: arguments.casing(),
            steps: &arguments.normalize.0,
            seed,
            models: RefCell::default(),
            latent: RefCell::default(),
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
        Ok(self.casing.of_lexicon(read.map_err(|error| error.to_string())?))
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

    /// The three languages that are aligned together.
    pub fn trilingual(&self) -> &Outcome<Trilingual<'a>> {
        self.trilingual.get_or_init(|| Trilingual::gather(self))
    }

    /// A model of two languages.
    pub fn model(&self, key: &Bilingual) -> Outcome<Rc<Model>> {
        if let Some(known) = self.models.borrow().get(key) {
            return known.clone();
        }
        let fit = || -> Outcome<Rc<Model>> {
            let (from, to, dictionary, recipe) = key;
            let views = [(from.as_str(), self.words(from)?), (to.as_str(), self.words(to)?)];
            let experiment = Experiment::new(&views, self.tuples(from, to, *dictionary)?);
            let fitted = recipe.options().and_then(|options| experiment.fit(&options));
            fitted.map(Rc::new).map_err(|error| error.to_string())
        };
        let fitted = fit();
        self.models.borrow_mut().insert(key.clone(), fitted.clone());
        fitted
    }

    /// The words of both languages where a model puts them.
    pub fn latent(&self, key: &Bilingual) -> Outcome<Latent> {
        if let Some((known, latent)) = &*self.latent.borrow()
            && known == key
        {
            return Ok(latent.clone());
        }
        let model = self.model(key)?;
        let project = |view: usize, code: &str| {
            experiment::latent(&model, view, self.words(code)?).map_err(|error| error.to_string())
        };
        let latent: Latent = Rc::new([project(0, &key.0)?, project(1, &key.1)?]);
        *self.latent.borrow_mut() = Some((key.clone(), latent.clone()));
        Ok(latent)
    }

    /// How well words are translated.
    pub fn scores(&self, key: &Bilingual, criterion: Criterion) -> Outcome<Scores> {
        let of_criterion = (key.clone(), criterion.to_string());
        if let Some(known) = self.scores.borrow().get(&of_criterion) {
            return known.clone();
        }
        let measure = || -> Outcome<Scores> {
            // Asked first: without test words there is no need to fit.
            let (source, target) = (self.words(&key.0)?, self.words(&key.1)?);
            debug_assert!(!source.is_empty() && !target.is_empty());
            let gold = self.gold(&key.0, &key.1, key.2)?;
            let latent = self.latent(key)?;
            let scores = experiment::translate(&latent[0], &latent[1], &gold, criterion, self.seed);
            scores.map_err(|error| error.to_string())
        };
        let measured = measure();
        self.scores.borrow_mut().insert(of_criterion, measured.clone());
        measured
    }
}
