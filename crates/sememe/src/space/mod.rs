//! A space is a folder: the model, and for each view its words and their latent vectors.
//!
//! ```text
//! SPACE/model.safetensors        parameters, and how and from what they were fitted
//! SPACE/model.1.safetensors      the same with a view that was added later; the last one counts
//! SPACE/en.safetensors           `vectors` (F32, words x latent), `words` (UTF-8, one a line) and, for generative models,
//!                                `log_density` (F64, log p(x) of each word's vector)
//! SPACE/fr.safetensors
//! SPACE/csls.en+fr.terms         cached retrieval terms of the words of fr; can be deleted at any time
//! SPACE/tsne.layout              a cached layout of all words in the plane; can be deleted at any time
//! ```

mod export;
mod extension;
mod files;
mod layout;
mod open_view;
mod retrievers;
mod summary;
mod terms;
mod view_file;

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

pub use self::extension::Reservation;
use self::files::{check_replaceable, extensions, file_stem, model_file, view_files};
use self::open_view::OpenView;
use self::retrievers::{Kept, Pair};
pub use self::summary::{SpaceSummary, SpaceView};
use crate::align::{Alignment, Fitted};
use crate::error::{Error, Place, Result};
use crate::files::{OutputFolder, sampled_hash};
use crate::model::LatentView;
use crate::retrieve::{Criterion, get_or_compute};
use crate::tensors::TensorFile;
use crate::vectors::{Embeddings, View};

const MODEL: &str = "model.safetensors";
/// File extension of cached retrieval terms.
const TERMS: &str = ".terms";
/// File extension of cached layouts.
const LAYOUT: &str = ".layout";
/// Kind of these files in their metadata.
pub(crate) const TERMS_KIND: &str = "terms";
const LAYOUT_KIND: &str = "layout";

/// An aligned space on disk.
///
/// Views are read on first use and stay open, together with the data that searches prepare for them. A space can be
/// shared between threads.
pub struct Space {
    path: PathBuf,
    /// Whether views are mapped instead of read.
    mmap: bool,
    /// Number of views that had been added when the space was opened, which tells the file of the model.
    extensions: usize,
    /// A hash of the model file.
    model_hash: String,
    alignment: Arc<Alignment>,
    /// One per view of the model, empty until the view is opened.
    views: Vec<OnceLock<OpenView>>,
    retrievers: Mutex<Kept>,
    /// The coordinates of pairs of views, by the source and the target.
    pairs: Vec<Vec<OnceLock<Pair>>>,
    /// The criteria whose terms are cached in the folder; `None` for all.
    cached: Option<Vec<Criterion>>,
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
        Self::write_each(path, alignment.clone(), latent.iter().map(|latent| Ok(latent.as_ref().map(Cow::Borrowed))))
    }

    /// Projects the views of a fit and writes the space that they make, like [`Space::write`] of
    /// [`Fitted::project`]. One view after another is projected and written, so that of [spilled
    /// views](crate::gather::GatherOptions::spill) one at a time is in memory.
    pub fn write_fitted(path: &Path, fitted: Fitted) -> Result<()> {
        let Fitted { alignment, prepared, .. } = fitted;
        let model = alignment.model.clone();
        let project = |(place, view): (usize, View)| Ok(Some(Cow::Owned(model.latent_view(place, view)?)));
        Self::write_each(path, alignment, prepared.into_iter().enumerate().map(project))
    }

    /// Writes views one after another.
    fn write_each<'a>(
        path: &Path,
        mut alignment: Alignment,
        latent: impl Iterator<Item = Result<Option<Cow<'a, LatentView>>>>,
    ) -> Result<()> {
        let folder = OutputFolder::create(path)?;
        check_replaceable(path, path)?;
        let write_files = || {
            (alignment.words, alignment.file_hashes) = (Vec::new(), Vec::new());
            for (file, latent) in view_files(&alignment).into_iter().zip(latent) {
                let latent = latent?;
                alignment.words.push(latent.as_ref().map_or(0, |latent| latent.view.len()));
                let write = |latent: Cow<LatentView>| view_file::write(&latent, &folder.path().join(file));
                alignment.file_hashes.push(latent.map(write).transpose()?);
            }
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

    /// Opens a space. Only the model is read. Views are memory-mapped on first use, and stay so: while the space is
    /// open, their files must not be overwritten in place. sememe itself never does that.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, true)
    }

    /// [`Space::open`]. Without `mmap`, views are read into memory on first use, and nothing that happens to their files
    /// later matters.
    pub fn open_with(path: &Path, mmap: bool) -> Result<Self> {
        if !Self::is_space(path) {
            let problem = match fs::metadata(path).map_err(|e| Error::read(path, e))?.is_dir() {
                true => format!("is no sememe space: it has no {MODEL}; make one with `sememe align`"),
                false => "is a file, and a sememe space is a folder; make one with `sememe align`".to_owned(),
            };
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        let extensions = extensions(path);
        let file = TensorFile::open(&path.join(model_file(extensions)))?;
        let alignment = Alignment::read_file(&file)?;
        Ok(Space {
            path: path.to_owned(),
            mmap,
            extensions,
            model_hash: sampled_hash(file.content()),
            pairs: alignment.model.views.iter().map(|_| cells(&alignment)).collect(),
            views: cells(&alignment),
            alignment: Arc::new(alignment),
            retrievers: Mutex::default(),
            cached: None,
        })
    }

    /// The same space, which caches the terms of these criteria only in its folder. For a program in which anybody may
    /// choose the criterion, and nobody may fill the disk.
    pub fn caching_only(self, criteria: &[Criterion]) -> Self {
        Space { cached: Some(criteria.to_vec()), ..self }
    }

    /// Every view with its latent vectors; `None` for views without vectors in the space.
    pub fn latent_views(&self) -> Result<Vec<Option<View>>> {
        let views = self.alignment.model.views.iter().zip(&self.alignment.words);
        let open = |name: &str| Ok(View::from_embeddings(name, self.view(name)?));
        views.map(|(view, &words)| (words > 0).then(|| open(&view.name)).transpose()).collect()
    }

    /// The folder of the space.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The fitted model and its preparation, sources and calibrations.
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

    /// A hash of the model file, as it was when the space was opened. Another fit, and the same with a further view, have
    /// another one.
    pub fn fingerprint(&self) -> &str {
        &self.model_hash
    }

    /// The file that caches the terms of a criterion for targets of `to` and sources of `from`.
    pub(crate) fn terms_file(&self, criterion: &str, from: &str, to: &str) -> PathBuf {
        // `file_stem` escapes plus signs, so the name is unambiguous.
        self.path.join(format!("{}.{}+{}{TERMS}", file_stem(criterion), file_stem(from), file_stem(to)))
    }

    /// `log p(x)` of every word of a view under the model; `None` if the space was written without it.
    pub fn log_density(&self, view: &str) -> Result<Option<Arc<[f64]>>> {
        self.open_view(view)?.log_density()
    }

    /// The words of a view with their latent vectors. Clones share both.
    pub fn view(&self, name: &str) -> Result<Embeddings> {
        Ok(self.open_view(name)?.embeddings().clone())
    }

    fn open_view(&self, name: &str) -> Result<&OpenView> {
        let (index, path) = self.view_file(name)?;
        get_or_compute(&self.views[index], || self.read_view(index, &path))
    }

    fn read_view(&self, index: usize, path: &Path) -> Result<OpenView> {
        let name = &self.alignment.model.views[index].name;
        if self.alignment.words[index] == 0 {
            let problem = format!(
                "has no words of view {name:?}, as it was fitted from moments alone; \
                 align again with {name}=FILE, or use `sememe project`"
            );
            return Err(Error::malformed(&self.path, Place::Whole, problem));
        }
        let file = if self.mmap { TensorFile::map(path)? } else { TensorFile::open(path)? };
        let embeddings = view_file::read(&file)?;
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
        // Spaces that were written before hashes were recorded have none.
        let written = self.alignment.file_hashes[index].as_deref();
        if written.is_some_and(|written| written != sampled_hash(file.content())) {
            let problem = format!(
                "is not the file that this space was written with: it is of another space, or was changed; \
                 put the right one of view {name:?} back, or align again"
            );
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        Ok(OpenView::new(file, embeddings))
    }
}

/// An empty cell for each view.
fn cells<T>(alignment: &Alignment) -> Vec<OnceLock<T>> {
    alignment.model.views.iter().map(|_| OnceLock::new()).collect()
}
