//! Adding a view to a space, in place under a lock, or in a copy.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{check_replaceable, extensions, file_names, model_file, view_files};
use super::{MODEL, Space, view_file};
use crate::align::Alignment;
use crate::error::{Error, Place, Result};
use crate::files::{Lock, OutputFolder, check_writable, sampled_hash, try_lock};
use crate::model::LatentView;
use crate::tensors::TensorFile;

/// A place for one more view; see [`Space::reserve`]. Dropping it releases the space.
#[derive(Debug)]
pub struct Reservation {
    /// The folder of the copy, or `None` to add the view in place.
    copy: Option<PathBuf>,
    /// `None` for a copy, and if the file system has no locks.
    _lock: Option<File>,
    left_behind: Option<PathBuf>,
}

impl Reservation {
    /// The file of the new view that an earlier, killed extension left behind, and that will be replaced.
    pub fn left_behind(&self) -> Option<&Path> {
        self.left_behind.as_deref()
    }
}

impl Space {
    /// Prepares for adding a view of this name, in place or in a copy. Call it before long computations, and give the
    /// result to [`Space::extend`].
    ///
    /// In place it locks the space. It is an error if another process adds a view now, or has done so since this space
    /// was opened. It is also an error if another file has the name of the new view's file, unless a killed extension
    /// left that behind.
    pub fn reserve(&self, name: &str, copy: Option<&Path>) -> Result<Reservation> {
        if let Some(path) = copy {
            Space::check_writable(path)?;
            return Ok(Reservation { copy: Some(path.to_owned()), _lock: None, left_behind: None });
        }
        let lock = lock(&self.path, &self.path)?;
        self.check_current()?;
        let mut names: Vec<&str> = self.alignment.model.views.iter().map(|view| view.name.as_str()).collect();
        names.push(name);
        let file = self.path.join(file_names(&names).pop().expect("a name for each view"));
        let is_there = file.exists();
        if is_there && !self.is_left_behind(&file) {
            let problem = "is there already and is no part of the space; move it away, or name another view";
            return Err(Error::malformed(&file, Place::Whole, problem));
        }
        check_writable(&file)?;
        Ok(Reservation { copy: None, _lock: lock, left_behind: is_there.then_some(file) })
    }

    /// Adds the last view of `alignment`, whose other views are those of this space. Existing files stay unchanged.
    pub fn extend(&self, alignment: &Alignment, latent: &LatentView, reservation: Reservation) -> Result<()> {
        let Some(path) = &reservation.copy else {
            // True under the lock, unless the file system has none, or the folder was moved away.
            self.check_current()?;
            return self.write_extension(&self.path, alignment, latent);
        };
        let folder = OutputFolder::create(path)?;
        check_replaceable(path, path)?;
        let files = (0..=self.extensions).map(model_file).chain(view_files(&self.alignment));
        for file in files.map(|file| self.path.join(file)).filter(|file| file.exists()) {
            folder.copy(&file)?;
        }
        let written = self.write_extension(folder.path(), alignment, latent);
        written.map_err(|error| folder.with_final_name(error))?;
        folder.finish(|old| check_replaceable(old, path))
    }

    /// Writes the new view, and then the model, so that the space is valid at any time.
    fn write_extension(&self, folder: &Path, alignment: &Alignment, latent: &LatentView) -> Result<()> {
        let mut alignment = alignment.clone();
        let new = view_files(&alignment).pop().expect("a space has views");
        alignment.words = self.alignment.words.clone();
        alignment.words.push(latent.view.len());
        alignment.file_hashes = self.alignment.file_hashes.clone();
        alignment.file_hashes.push(Some(view_file::write(latent, &folder.join(new))?));
        alignment.write(&folder.join(model_file(self.extensions + 1)))
    }

    /// Checks that the model on disk is still the one that was opened.
    pub(super) fn check_current(&self) -> Result<()> {
        let model = self.path.join(model_file(self.extensions));
        let is_last = extensions(&self.path) == self.extensions;
        if is_last && sampled_hash(TensorFile::open(&model)?.content()) == self.model_hash {
            return Ok(());
        }
        let problem = "the space changed since it was opened, another process may have added a view; open it again";
        Err(Error::write(&self.path, io::Error::other(problem)))
    }

    /// Whether a file that is no part of the space looks like a view of it: an extension that was killed between
    /// writing its view and its model leaves one. Projected vectors, which somebody may keep here, have no densities.
    fn is_left_behind(&self, file: &Path) -> bool {
        let model = &self.alignment.model;
        let is_generative = model.views.iter().all(|view| view.emission.is_some());
        view_file::is_view(file, model.latent(), is_generative)
    }
}

/// Locks a space against extensions. `name` is what messages call it.
pub(super) fn lock(path: &Path, name: &Path) -> Result<Option<File>> {
    let file = path.join(MODEL);
    match try_lock(&file).map_err(|e| Error::read(&file, e))? {
        Lock::Held(file) => Ok(Some(file)),
        Lock::Unsupported => Ok(None),
        Lock::Busy => {
            let problem = "another process is adding a view to this space; wait until it is done, then try again";
            Err(Error::write(name, io::Error::new(io::ErrorKind::ResourceBusy, problem)))
        }
    }
}
