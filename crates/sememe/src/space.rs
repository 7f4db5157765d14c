//! A space is a folder: the model, and for each view its words and their latent vectors.
//!
//! ```text
//! SPACE/model.safetensors        parameters, and how and from what they were fitted
//! SPACE/en.safetensors           `vectors` (F32, words x latent) and `words` (UTF-8, one a line)
//! SPACE/fr.safetensors
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};
use crate::files::OutputFolder;
use crate::model::Alignment;
use crate::vectors::{self, Embeddings, Format};

const MODEL: &str = "model.safetensors";

/// An aligned space on disk.
#[derive(Debug)]
pub struct Space {
    path: PathBuf,
    alignment: Alignment,
}

impl Space {
    /// Writes a space; `latent` are the projected vocabularies in the order of the model's views. The folder appears
    /// when it is complete. A space of that name is replaced, any other folder or file is left alone.
    pub fn write(path: &Path, alignment: &Alignment, latent: &[Embeddings]) -> Result<()> {
        assert_eq!(latent.len(), alignment.model.views.len(), "one vocabulary per view");
        Self::check_writable(path)?;
        let folder = OutputFolder::create(path)?;
        for (file, embeddings) in view_files(alignment).iter().zip(latent) {
            vectors::write(embeddings, &folder.path().join(file), Format::Safetensors)?;
        }
        alignment.write(&folder.path().join(MODEL))?;
        folder.finish()
    }

    /// Whether a space may be written here; worth asking before the work that leads up to it.
    pub fn check_writable(path: &Path) -> Result<()> {
        let is_empty_folder = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if !path.exists() || Self::is_space(path) || is_empty_folder() {
            return Ok(());
        }
        let problem = "is there already and is no sememe space, so it is not replaced; name another folder";
        Err(Error::malformed(path, Place::Whole, problem))
    }

    /// Whether a folder looks like a space.
    pub fn is_space(path: &Path) -> bool {
        path.join(MODEL).is_file()
    }

    /// Opens a space: reads the model, leaves the views where they are.
    pub fn open(path: &Path) -> Result<Self> {
        if path.is_dir() && !Self::is_space(path) {
            let problem = format!("is no sememe space: it has no {MODEL}; make one with `sememe align`");
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        Ok(Space { path: path.to_owned(), alignment: Alignment::read(&path.join(MODEL))? })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The fitted model and what belongs to it.
    pub fn alignment(&self) -> &Alignment {
        &self.alignment
    }

    /// The words of a view with their latent vectors, which stay in the mapped file.
    pub fn view(&self, name: &str) -> Result<Embeddings> {
        let index = self.alignment.model.view_index(name)?;
        let path = self.path.join(&view_files(&self.alignment)[index]);
        let embeddings = vectors::safetensors::open_own(&path)?;
        let latent = self.alignment.model.latent();
        if embeddings.dim() != latent {
            let problem = format!("has vectors of length {}, but the model's are of length {latent}", embeddings.dim());
            return Err(Error::malformed(&path, Place::Whole, problem));
        }
        Ok(embeddings)
    }
}

/// A file name for each view: its own name where a file can have it, and never the same twice.
fn view_files(alignment: &Alignment) -> Vec<String> {
    let mut taken = vec![MODEL.to_owned()];
    for view in &alignment.model.views {
        let stem = file_stem(&view.name);
        let names = std::iter::once(format!("{stem}.safetensors"))
            .chain((2..).map(|number| format!("{stem}~{number}.safetensors")));
        // Some file systems do not tell case apart.
        let is_free = |name: &String| !taken.iter().any(|other| other.eq_ignore_ascii_case(name));
        let name = names.into_iter().find(is_free).expect("infinitely many names");
        taken.push(name);
    }
    taken.split_off(1)
}

/// The name with everything but letters, digits and `._-` written as `%XX`, cut to what file systems take.
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
