//! The files of a space: their names, and which folder may be replaced by a space.

use std::fs;
use std::io;
use std::path::Path;

use super::extension::lock;
use super::{LAYOUT, LAYOUT_KIND, MODEL, Space, TERMS, TERMS_KIND};
use crate::align::Alignment;
use crate::error::{Error, Place, Result};
use crate::files::is_temporary;
use crate::tensors::TensorFile;

/// Returns an error unless `path` is free, an empty folder, or a space without other files. A file called
/// `model.safetensors` alone does not make a space: many other programs use that name.
///
/// `path` is the folder to check, `name` its name in error messages.
pub(super) fn check_replaceable(path: &Path, name: &Path) -> Result<()> {
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
    // Held only for a moment, to know that no view is being added.
    drop(lock(path, name)?);
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
        (is_part || is_temporary(&name) || is_cache(&entry.path())) && !entry.path().is_dir()
    };
    match entries.iter().find(|entry| !is_own(entry)) {
        Some(other) => refused(format!("it holds {:?}, which is no part of the space in it", other.file_name())),
        None => Ok(()),
    }
}

/// The model file after `extensions` views were added.
pub(super) fn model_file(extensions: usize) -> String {
    match extensions {
        0 => MODEL.to_owned(),
        number => format!("model.{number}.safetensors"),
    }
}

/// Number of views that were added to a space.
pub(super) fn extensions(path: &Path) -> usize {
    (1..).take_while(|&number| path.join(model_file(number)).is_file()).count()
}

/// Whether a file holds cached retrieval terms or a cached layout, which are part of a space and can be recomputed.
fn is_cache(path: &Path) -> bool {
    let is_named = |ending: &str| path.to_str().is_some_and(|name| name.ends_with(ending));
    let kind = if is_named(TERMS) { TERMS_KIND } else { LAYOUT_KIND };
    let is_named_so = is_named(TERMS) || is_named(LAYOUT);
    is_named_so && TensorFile::open(path).is_ok_and(|file| file.is_of_kind(kind))
}

/// A unique file name for each view, its own name where possible.
pub(super) fn view_files(alignment: &Alignment) -> Vec<String> {
    file_names(&alignment.model.views.iter().map(|view| view.name.as_str()).collect::<Vec<_>>())
}

pub(super) fn file_names(views: &[&str]) -> Vec<String> {
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
pub(super) fn file_stem(name: &str) -> String {
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
