//! A space is a folder: the model, and for each view its words and their latent vectors.
//!
//! ```text
//! SPACE/model.safetensors        parameters, and how and from what they were fitted
//! SPACE/model.1.safetensors      the same with a view that was added later; the last one counts
//! SPACE/en.safetensors           `vectors` (F32, words x latent), `words` (UTF-8, one a line) and, for generative models,
//!                                `log_density` (F64, log p(x) of each word's vector)
//! SPACE/fr.safetensors
//! SPACE/csls.en+fr.terms         cached retrieval terms of the words of fr; can be deleted at any time
//! ```

mod export;
mod open_view;
mod summary;
mod terms;
mod view_file;

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use self::open_view::OpenView;
pub use self::summary::{SpaceSummary, SpaceView};
use self::terms::Cache;
use crate::align::Alignment;
use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input, OutputFolder, check_writable, is_temporary};
use crate::model::LatentView;
use crate::observe::Observer;
use crate::retrieve::{Criterion, Generative, Retriever, get_or_compute};
use crate::tensors::TensorFile;
use crate::vectors::{Embeddings, View};

const MODEL: &str = "model.safetensors";
/// File extension of cached retrieval terms.
const TERMS: &str = ".terms";
/// Kind of these files in their metadata.
pub(crate) const TERMS_KIND: &str = "terms";

/// An aligned space on disk.
///
/// Views are read on first use and stay open, together with the data that searches prepare for them. A space can be
/// shared between threads.
pub struct Space {
    path: PathBuf,
    alignment: Arc<Alignment>,
    /// One per view of the model, empty until the view is opened.
    views: Vec<OnceLock<OpenView>>,
    log_densities: Vec<OnceLock<Option<Arc<[f64]>>>>,
    /// Keyed by source view, target view and the name of the criterion.
    retrievers: Mutex<HashMap<(usize, usize, String), Retriever>>,
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let views: Vec<&str> = self.alignment.model.views.iter().map(|view| view.name.as_str()).collect();
        write!(f, "Space({:?}, {views:?})", self.path)
    }
}

impl Space {
    /// Writes a space. `latent` holds the projected vocabularies in the order of the model's views; some may be
    /// missing. The folder appears only when it is complete. An existing space or empty folder is replaced; anything
    /// else at `path` is an error.
    pub fn write(path: &Path, alignment: &Alignment, latent: &[Option<LatentView>]) -> Result<()> {
        assert_eq!(latent.len(), alignment.model.views.len(), "one vocabulary or none per view");
        let folder = OutputFolder::create(path)?;
        check_replaceable(path, path)?;
        let write_files = || {
            for (file, latent) in view_files(alignment).iter().zip(latent) {
                if let Some(latent) = latent {
                    view_file::write(latent, &folder.path().join(file))?;
                }
            }
            let words = latent.iter().map(|latent| latent.as_ref().map_or(0, |latent| latent.view.len()));
            let alignment = Alignment { words: words.collect(), ..alignment.clone() };
            alignment.write(&folder.path().join(MODEL))
        };
        write_files().map_err(|error| folder.with_final_name(error))?;
        folder.finish(|old| check_replaceable(old, path))
    }

    /// Checks that a space can be written here. Call it before long computations.
    pub fn check_writable(path: &Path) -> Result<()> {
        OutputFolder::create(path)?;
        check_replaceable(path, path)
    }

    /// Whether a folder looks like a space.
    pub fn is_space(path: &Path) -> bool {
        path.join(MODEL).is_file()
    }

    /// Opens a space. Only the model is read; views are read on first use.
    pub fn open(path: &Path) -> Result<Self> {
        if !Self::is_space(path) {
            let problem = match fs::metadata(path).map_err(|e| Error::read(path, e))?.is_dir() {
                true => format!("is no sememe space: it has no {MODEL}; make one with `sememe align`"),
                false => "is a file, and a sememe space is a folder; make one with `sememe align`".to_owned(),
            };
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        let alignment = Alignment::read(&path.join(model_file(extensions(path))))?;
        let count = alignment.model.views.len();
        Ok(Space {
            path: path.to_owned(),
            alignment: Arc::new(alignment),
            views: (0..count).map(|_| OnceLock::new()).collect(),
            log_densities: (0..count).map(|_| OnceLock::new()).collect(),
            retrievers: Mutex::default(),
        })
    }

    /// Every view with its latent vectors; `None` for views without vectors in the space.
    pub fn latent_views(&self) -> Result<Vec<Option<View>>> {
        let views = self.alignment.model.views.iter().zip(&self.alignment.words);
        let open = |name: &str| Ok(View::from_embeddings(name, self.view(name)?));
        views.map(|(view, &words)| (words > 0).then(|| open(&view.name)).transpose()).collect()
    }

    /// Checks that a view of this name can be added in place: no other file may have the name of its file.
    pub fn check_extendable(&self, name: &str) -> Result<()> {
        let mut names: Vec<&str> = self.alignment.model.views.iter().map(|view| view.name.as_str()).collect();
        names.push(name);
        let file = self.path.join(file_names(&names).pop().expect("a name for each view"));
        if file.exists() {
            let problem = "is there already and is no part of the space; move it away, or name another view";
            return Err(Error::malformed(&file, Place::Whole, problem));
        }
        check_writable(&file)
    }

    /// Adds the last view of `alignment`, whose other views are those of this space, in place or in a copy. Existing
    /// files stay unchanged.
    pub fn extend(&self, alignment: &Alignment, latent: &LatentView, copy: Option<&Path>) -> Result<()> {
        let mut words = self.alignment.words.clone();
        words.push(latent.view.len());
        let alignment = Alignment { words, ..alignment.clone() };
        let files = view_files(&alignment);
        let (new, old) = files.split_last().expect("a space has views");
        let write_files = |folder: &Path| {
            view_file::write(latent, &folder.join(new))?;
            // The model comes last, so that the space is valid at any time.
            alignment.write(&folder.join(model_file(extensions(&self.path) + 1)))
        };
        let Some(path) = copy else { return write_files(&self.path) };
        let folder = OutputFolder::create(path)?;
        check_replaceable(path, path)?;
        let models = (0..=extensions(&self.path)).map(model_file);
        for file in models.chain(old.iter().cloned()).filter(|file| self.path.join(file).exists()) {
            folder.copy(&self.path.join(&file))?;
        }
        write_files(folder.path()).map_err(|error| folder.with_final_name(error))?;
        folder.finish(|old| check_replaceable(old, path))
    }

    /// The folder of the space.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The fitted model and its preparation, sources and temperatures.
    pub fn alignment(&self) -> &Alignment {
        &self.alignment
    }

    /// [`Space::alignment`], shared.
    pub fn shared_alignment(&self) -> Arc<Alignment> {
        self.alignment.clone()
    }

    fn view_file(&self, name: &str) -> Result<(usize, PathBuf)> {
        let index = self.alignment.model.view_index(name)?;
        Ok((index, self.path.join(&view_files(&self.alignment)[index])))
    }

    /// The model file as it is stored.
    pub(crate) fn model_bytes(&self) -> Result<Bytes> {
        Input::open(&self.path.join(model_file(extensions(&self.path))))?.bytes()
    }

    /// The file that caches the terms of a criterion for targets of `to` and sources of `from`.
    pub(crate) fn terms_file(&self, criterion: &str, from: &str, to: &str) -> PathBuf {
        // `file_stem` escapes plus signs, so the name is unambiguous.
        self.path.join(format!("{}.{}+{}{TERMS}", file_stem(criterion), file_stem(from), file_stem(to)))
    }

    /// `log p(x)` of every word of a view under the model; `None` if the space was written without it.
    pub fn log_density(&self, view: &str) -> Result<Option<Arc<[f64]>>> {
        let (index, path) = self.view_file(view)?;
        let read = || Ok(view_file::log_density(&path, self.alignment.words[index])?.map(Arc::from));
        get_or_compute(&self.log_densities[index], read).cloned()
    }

    /// The words of a view with their latent vectors, which stay in the memory-mapped file. Clones share both.
    pub fn view(&self, name: &str) -> Result<Embeddings> {
        Ok(self.open_view(name)?.embeddings().clone())
    }

    /// Returns a retriever from words of the view `from` to words of the view `to`. It is prepared once. Expensive
    /// terms are also cached in the folder of the space.
    pub fn retriever(&self, from: &str, to: &str, criterion: Criterion, observer: &dyn Observer) -> Result<Retriever> {
        let model = &self.alignment.model;
        let (source, target) = (model.view_index(from)?, model.view_index(to)?);
        let key = (source, target, criterion.to_string());
        if let Some(known) = self.known_retrievers().get(&key) {
            return Ok(known.clone());
        }
        let (from_view, to_view) = rayon::join(|| self.open_view(from), || self.open_view(to));
        let (from_view, to_view) = (from_view?, to_view?);
        let mut builder = Retriever::between(from_view.side(), to_view.side(), criterion);
        if criterion.is_generative() {
            builder = builder.generative(Generative::new(model, source, target, self.log_density(to)?)?);
        }
        let cache = Cache::of(self, (from, from_view), (to, to_view), criterion)?;
        let terms = cache.as_ref().and_then(|cache| cache.read(to_view.embeddings().len()));
        let is_computed = terms.is_none();
        let builder = match terms {
            Some(terms) => builder.terms(terms),
            None => builder,
        };
        let retriever = builder.build(observer)?;
        if let Some(cache) = cache.filter(|_| is_computed) {
            cache.write(criterion, retriever.terms());
        }
        self.known_retrievers().insert(key, retriever.clone());
        Ok(retriever)
    }

    fn known_retrievers(&self) -> std::sync::MutexGuard<'_, HashMap<(usize, usize, String), Retriever>> {
        self.retrievers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_view(&self, name: &str) -> Result<&OpenView> {
        let (index, path) = self.view_file(name)?;
        get_or_compute(&self.views[index], || {
            let embeddings = self.read_view(index, &path)?;
            Ok(OpenView::new(path.clone(), embeddings))
        })
    }

    fn read_view(&self, index: usize, path: &Path) -> Result<Embeddings> {
        let name = &self.alignment.model.views[index].name;
        if self.alignment.words[index] == 0 {
            let problem = format!(
                "has no words of view {name:?}, as it was fitted from moments alone; \
                 align again with {name}=FILE, or use `sememe project`"
            );
            return Err(Error::malformed(&self.path, Place::Whole, problem));
        }
        let embeddings = view_file::open(path)?;
        let latent = self.alignment.model.latent();
        if embeddings.dim() != latent {
            let problem = format!("has vectors of length {}, but the model's are of length {latent}", embeddings.dim());
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        let fitted = self.alignment.words[index];
        if embeddings.len() != fitted {
            let problem = format!(
                "has {} words, but the view {name:?} of this space has {fitted}: the file is of another space; \
                 put the right one back or align again",
                embeddings.len()
            );
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        Ok(embeddings)
    }
}

/// Returns an error unless `path` is free, an empty folder, or a space without other files. A file called
/// `model.safetensors` alone does not make a space: many other programs use that name.
///
/// `path` is the folder to check, `name` its name in error messages.
fn check_replaceable(path: &Path, name: &Path) -> Result<()> {
    let refused = |why: String| {
        let problem = format!("is there already and is not replaced: {why}; name another folder, or remove this one");
        Err(Error::malformed(name, Place::Whole, problem))
    };
    if !path.exists() {
        return Ok(());
    }
    if !path.is_dir() {
        return refused("it is no folder".to_owned());
    }
    let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|e| Error::read(path, e))?;
    if entries.is_empty() {
        return Ok(());
    }
    if !Space::is_space(path) {
        return refused(format!("it is no sememe space, as it has no {MODEL}"));
    }
    let extensions = extensions(path);
    let alignment = match Alignment::read(&path.join(model_file(extensions))) {
        Ok(alignment) => alignment,
        Err(error @ Error::Read { .. }) => return Err(error),
        Err(Error::Malformed { problem, .. }) => {
            return refused(format!("it is no space of this sememe: its model {problem}"));
        }
        Err(error) => return refused(format!("it is no space of this sememe ({error})")),
    };
    let own = view_files(&alignment);
    let models: Vec<String> = (0..=extensions).map(model_file).collect();
    let is_own = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let is_part = models.iter().chain(&own).any(|file| name == file.as_str());
        (is_part || is_temporary(&name) || is_terms(&entry.path())) && !entry.path().is_dir()
    };
    match entries.iter().find(|entry| !is_own(entry)) {
        Some(other) => refused(format!("it holds {:?}, which is no part of the space in it", other.file_name())),
        None => Ok(()),
    }
}

/// The model file after `extensions` views were added.
fn model_file(extensions: usize) -> String {
    match extensions {
        0 => MODEL.to_owned(),
        number => format!("model.{number}.safetensors"),
    }
}

/// Number of views that were added to a space.
fn extensions(path: &Path) -> usize {
    (1..).take_while(|&number| path.join(model_file(number)).is_file()).count()
}

/// Whether a file holds cached retrieval terms, which are part of a space and can be recomputed.
fn is_terms(path: &Path) -> bool {
    let is_named_so = path.to_str().is_some_and(|name| name.ends_with(TERMS));
    is_named_so && TensorFile::open(path).is_ok_and(|file| file.is_of_kind(TERMS_KIND))
}

/// A unique file name for each view, its own name where possible.
fn view_files(alignment: &Alignment) -> Vec<String> {
    file_names(&alignment.model.views.iter().map(|view| view.name.as_str()).collect::<Vec<_>>())
}

fn file_names(views: &[&str]) -> Vec<String> {
    let mut taken = Vec::new();
    for view in views {
        let stem = file_stem(view);
        let names = std::iter::once(format!("{stem}.safetensors"))
            .chain((2..).map(|number| format!("{stem}~{number}.safetensors")));
        // Some file systems are case-insensitive.
        let is_model = |name: &String| {
            let lower = name.to_ascii_lowercase();
            let between = lower.strip_prefix("model.").and_then(|rest| rest.strip_suffix("safetensors"));
            between.is_some_and(|between| between.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit()))
        };
        let is_taken = |name: &String| taken.iter().any(|other: &String| other.eq_ignore_ascii_case(name));
        let is_free = |name: &String| !is_model(name) && !is_taken(name);
        let name = names.into_iter().find(is_free).expect("infinitely many names");
        taken.push(name);
    }
    taken
}

/// The name with everything but letters, digits and `._-` percent-encoded, cut to the limit of file systems.
fn file_stem(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let stem: String = name.bytes().take(60).map(escape).collect();
    stem.strip_prefix('.').map_or(stem.clone(), |rest| format!("%2E{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_view_name_makes_a_file_name() {
        assert_eq!(file_stem("en"), "en");
        assert_eq!(file_stem("../период 1"), "%2E.%2F%D0%BF%D0%B5%D1%80%D0%B8%D0%BE%D0%B4%201");
        assert!(file_stem(&"ж".repeat(1000)).len() < 200);
    }
}
