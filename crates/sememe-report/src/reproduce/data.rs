//! The files in the folders of data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::lab::Outcome;
use crate::error::{Error, Result};

/// The files of the data.
#[derive(Debug)]
pub struct Data {
    folder: PathBuf,
    /// Languages by code, each with its vectors.
    vectors: BTreeMap<String, PathBuf>,
}

/// Two files whose lines are translations of each other.
#[derive(Clone)]
pub(super) struct ParallelText {
    pub name: String,
    pub languages: [String; 2],
    pub files: [PathBuf; 2],
}

/// A dictionary file, and whether its columns must be swapped.
pub(super) struct DictionaryFile {
    pub path: PathBuf,
    pub is_reversed: bool,
}

impl Data {
    /// Finds the vectors; other files are found when they are needed.
    pub fn open(folder: &Path, vectors: Option<&Path>) -> Result<Self> {
        let searched = vectors.unwrap_or(folder);
        let entries =
            fs::read_dir(searched).map_err(|error| sememe::Error::Read { path: searched.to_owned(), source: error })?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
        // Folders first: arrays are read faster than text.
        for path in paths.iter().filter(|path| path.is_dir()).chain(paths.iter().filter(|path| path.is_file())) {
            if let Some((language, file)) = vectors_at(path) {
                found.entry(language).or_insert(file);
            }
        }
        if found.is_empty() {
            return Err(Error::NoVectors { folder: searched.to_owned() });
        }
        Ok(Data { folder: folder.to_owned(), vectors: found })
    }

    /// The languages by code, each with its file of vectors.
    pub fn vectors(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.vectors.iter().map(|(code, path)| (code.as_str(), path.as_path()))
    }

    fn first(&self, candidates: &[String]) -> Option<PathBuf> {
        candidates.iter().map(|name| self.folder.join(name)).find(|path| path.is_file())
    }

    /// MUSE's dictionary with this ending, in any of its folders.
    fn muse(&self, from: &str, to: &str, endings: &[&str]) -> Option<PathBuf> {
        let folders = ["dictionaries/muse", "crosslingual/dictionaries", "dictionaries"];
        let names = endings.iter().flat_map(|ending| folders.map(|folder| format!("{folder}/{from}-{to}.{ending}")));
        self.first(&names.collect::<Vec<_>>())
    }

    fn xling(&self, from: &str, to: &str, ending: &str) -> Option<DictionaryFile> {
        let one = |from: &str, to: &str| self.first(&[format!("dictionaries/xling/{from}-{to}.{ending}")]);
        let straight = one(from, to).map(|path| DictionaryFile { path, is_reversed: false });
        straight.or_else(|| one(to, from).map(|path| DictionaryFile { path, is_reversed: true }))
    }

    /// The training dictionary: MUSE's first 5,000 words, or XLING's.
    pub(super) fn train(&self, from: &str, to: &str) -> Outcome<DictionaryFile> {
        let muse = self.muse(from, to, &["0-5000.txt"]).map(|path| DictionaryFile { path, is_reversed: false });
        muse.or_else(|| self.xling(from, to, "train.freq.5k.tsv"))
            .ok_or_else(|| missing(&format!("{from}-{to}.0-5000.txt")))
    }

    /// The test dictionary: MUSE's next 1,500 words, or XLING's.
    pub(super) fn test(&self, from: &str, to: &str) -> Outcome<DictionaryFile> {
        let muse = self.muse(from, to, &["5000-6500.txt"]).map(|path| DictionaryFile { path, is_reversed: false });
        muse.or_else(|| self.xling(from, to, "test.freq.2k.tsv"))
            .ok_or_else(|| missing(&format!("{from}-{to}.5000-6500.txt")))
    }

    /// MUSE's whole dictionary.
    pub(super) fn whole(&self, from: &str, to: &str) -> Outcome<DictionaryFile> {
        let path = self.muse(from, to, &["txt", "txt.gz"]).ok_or_else(|| missing(&format!("{from}-{to}.txt")))?;
        Ok(DictionaryFile { path, is_reversed: false })
    }

    /// The English-Italian training or test dictionary of Dinu et al.
    pub(super) fn dinu(&self, from: &str, to: &str, is_test: bool) -> Outcome<DictionaryFile> {
        let file = if is_test { "OPUS_en_it_europarl_test.txt" } else { "OPUS_en_it_europarl_train_5K.txt" };
        let path = self.first(&[format!("dictionaries/dinu/{file}"), format!("crosslingual/dictionaries/{file}")]);
        match path {
            Some(path) if (from, to) == ("en", "it") => Ok(DictionaryFile { path, is_reversed: false }),
            Some(path) if (from, to) == ("it", "en") => Ok(DictionaryFile { path, is_reversed: true }),
            _ => Err(missing(file)),
        }
    }

    /// A set of word similarities.
    pub(super) fn similarity(&self, file: &str) -> Outcome<PathBuf> {
        let candidates = [format!("similarity/{file}"), format!("monolingual/en/{file}")];
        self.first(&candidates).ok_or_else(|| format!("no {file} in similarity/"))
    }

    /// The folder of datasets of semantic textual similarity.
    pub(super) fn sts(&self) -> Outcome<PathBuf> {
        let folder = self.folder.join("sts");
        if folder.is_dir() { Ok(folder) } else { Err("no folder sts/".to_owned()) }
    }

    /// Tuples of words of several languages.
    pub(super) fn tuples(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(&self.folder).ok()?;
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_tuples = |path: &PathBuf| name(path).starts_with("triples.") && name(path).ends_with(".tsv");
        entries.flatten().map(|entry| entry.path()).filter(is_tuples).min()
    }

    /// Sentences: `NAME.A-B.A` and `NAME.A-B.B`, compressed or not.
    pub(super) fn parallel_texts(&self) -> Vec<ParallelText> {
        let folders = ["sentences", "crosslingual/europarl"].map(|folder| self.folder.join(folder));
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let mut texts: Vec<ParallelText> = Vec::new();
        for first in &paths {
            let Some((name, pair, language)) = sentence_file(first) else { continue };
            let Some((a, b)) = pair.split_once('-').filter(|(a, _)| *a == language) else { continue };
            let is_other = |path: &&PathBuf| sentence_file(path) == Some((name.clone(), pair.clone(), b.to_owned()));
            if let Some(second) = paths.iter().find(is_other) {
                let languages = [two_letters(a), two_letters(b)];
                texts.push(ParallelText {
                    name: format!("{name}.{pair}"),
                    languages,
                    files: [first.clone(), second.clone()],
                });
            }
        }
        texts
    }
}

fn missing(file: &str) -> String {
    format!("no dictionary {file}")
}

/// The name of a file without the ending of its compression.
fn uncompressed(name: &str) -> &str {
    [".gz", ".xz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The language and the file of vectors at a path.
fn vectors_at(path: &Path) -> Option<(String, PathBuf)> {
    let name = path.file_name()?.to_str()?;
    let is_language = |code: &str| (2..=3).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase());
    if path.is_dir() {
        let file = path.join("vectors.npy");
        return (is_language(name) && file.is_file()).then(|| (name.to_owned(), file));
    }
    let stem = uncompressed(name);
    let stem = [".vec", ".npy", ".safetensors", ".bin"].iter().find_map(|ending| stem.strip_suffix(ending))?;
    let code = stem.strip_prefix("wiki.").or_else(|| stem.strip_prefix("cc.")).unwrap_or(stem);
    let code = code.strip_suffix(".300").unwrap_or(code);
    is_language(code).then(|| (code.to_owned(), path.to_owned()))
}

/// The name, the pair and the language of a file such as `europarl.en-fr.en.xz`.
fn sentence_file(path: &Path) -> Option<(String, String, String)> {
    let (rest, language) = uncompressed(path.file_name()?.to_str()?).rsplit_once('.')?;
    let (name, pair) = rest.rsplit_once('.')?;
    pair.contains('-').then(|| (name.to_owned(), pair.to_owned(), language.to_owned()))
}

/// Codes of three letters that files of sentences use, as the two letters of everything else.
fn two_letters(code: &str) -> String {
    const KNOWN: [(&str, &str); 8] = [
        ("eng", "en"),
        ("fra", "fr"),
        ("rus", "ru"),
        ("fin", "fi"),
        ("deu", "de"),
        ("spa", "es"),
        ("ita", "it"),
        ("cmn", "zh"),
    ];
    KNOWN.iter().find(|(three, _)| *three == code).map_or(code, |(_, two)| two).to_owned()
}

/// The name of a language for people.
pub fn language(code: &str) -> &str {
    const NAMES: [(&str, &str); 9] = [
        ("en", "English"),
        ("fr", "French"),
        ("ru", "Russian"),
        ("fi", "Finnish"),
        ("de", "German"),
        ("es", "Spanish"),
        ("it", "Italian"),
        ("zh", "Chinese"),
        ("pt", "Portuguese"),
    ];
    NAMES.iter().find(|(known, _)| *known == code).map_or(code, |(_, name)| name)
}
