//! Finding datasets in folders.

use std::path::{Path, PathBuf};

use super::{ScoredPairs, SentencePairs};
use crate::error::{Error, Result};

impl ScoredPairs {
    /// Returns the given files and, for given folders, the datasets of these views, sorted by name: `EN_*.txt` for the
    /// view `en`, `EN_DE_*.txt` for `en` and `de`, ignoring case.
    ///
    /// ```
    /// use sememe::evaluate::ScoredPairs;
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// for name in ["EN_SIMLEX.txt", "EN_RG.txt", "DE_RG.txt", "readme.txt"] {
    ///     std::fs::write(folder.path().join(name), "").unwrap();
    /// }
    /// let files = ScoredPairs::files(&[folder.path().to_owned()], &["en"])?;
    /// let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap()).collect();
    /// assert_eq!(names, ["EN_RG.txt", "EN_SIMLEX.txt"]);
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn files(given: &[PathBuf], views: &[&str]) -> Result<Vec<PathBuf>> {
        let beginning: String = views.iter().map(|name| format!("{name}_")).collect();
        let wanted = format!("whose name begins with {:?} and ends with .txt", beginning.to_uppercase());
        files_of(given, |folder| sets_in(folder, &beginning.to_lowercase()), &wanted)
    }
}

impl SentencePairs {
    /// Returns the given files and, for given folders, [the datasets in them](SentencePairs::files_in).
    pub fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
        files_of(given, SentencePairs::files_in, "called STS*.tsv or STS.input.*.txt")
    }
}

/// Returns the given files and, for given folders, the files that `pick` finds in them.
fn files_of(given: &[PathBuf], pick: impl Fn(&Path) -> Result<Vec<PathBuf>>, wanted: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let found = pick(path)?;
        if found.is_empty() {
            return Err(Error::Request(format!("the folder {} has no file {wanted}", path.display())));
        }
        files.extend(found);
    }
    Ok(files)
}

/// The text files of a folder whose names begin with `beginning`, ignoring case, sorted by name.
fn sets_in(folder: &Path, beginning: &str) -> Result<Vec<PathBuf>> {
    if beginning.is_empty() {
        let problem = "name a view: the sets of en are those called EN_*.txt";
        return Err(Error::Request(format!("which files of {} are meant? {problem}", folder.display())));
    }
    let is_set = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.starts_with(beginning) && name.ends_with(".txt")
    };
    let entries = std::fs::read_dir(folder).map_err(|error| Error::read(folder, error))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_set).collect();
    found.sort();
    Ok(found)
}
