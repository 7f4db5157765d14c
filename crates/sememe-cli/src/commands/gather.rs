//! Vectors and dictionaries from files, for the commands that fit something to them.

use std::path::Path;

use anyhow::Context;
use sememe::files::check_readable;
use sememe::lexicon::{self, Matched, Shared, Tuples};
use sememe::moments;
use sememe::prepare::Casing;
use sememe::vectors::{View, Vocabulary};
use serde_json::{Value, json};

use super::{describe_read, read_vectors};
use crate::arguments::{BadUsage, Gathering, Global, Named, Reading, Which, equals};
use crate::output::{self, count};

/// Views and the tuples over them.
pub struct Gathered {
    pub views: Vec<View>,
    pub tuples: Tuples,
    /// What was read for each view and each dictionary, for machines.
    pub views_read: Vec<Value>,
    pub lexicons_read: Vec<Value>,
}

impl Gathering {
    pub fn casing(&self) -> Casing {
        if self.lower { Casing::Lower } else { Casing::Kept }
    }

    pub fn options(&self) -> moments::EvidenceOptions {
        moments::EvidenceOptions {
            casing: self.casing(),
            normalize: self.normalize.0.clone(),
            monolingual: self.monolingual,
        }
    }
}

/// Reads everything that is to be fitted to.
pub fn gather(views: &[Named], gathering: &Gathering, reading: &Reading, global: &Global) -> anyhow::Result<Gathered> {
    if gathering.lexicon.is_empty() && gathering.identical.is_none() {
        let ways = "give --lexicon A-B=FILE, or --identical, or align with --unsupervised";
        return Err(BadUsage(format!("which words mean the same? {ways}")).into());
    }
    gather_whatever(views, gathering, reading, global)
}

/// The same where there need not be a dictionary.
pub fn gather_whatever(
    views: &[Named],
    gathering: &Gathering,
    reading: &Reading,
    global: &Global,
) -> anyhow::Result<Gathered> {
    let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
    if names.len() < 2 {
        return Err(
            BadUsage("one view cannot be aligned with itself: give at least two, NAME=FILE each".to_owned()).into()
        );
    }
    let dictionaries = Dictionary::parse_all(&gathering.lexicon, &names)?;
    let (views, views_read) = read_views(views, gathering, reading, global)?;
    let vocabularies: Vec<(&str, &Vocabulary)> =
        views.iter().filter_map(|view| Some((view.name(), view.words()?))).collect();
    let policy = Policy { casing: gathering.casing(), strict: reading.strict };
    let identical = gathering.identical.map(Shared::from);
    let (mut tuples, lexicons_read) = gather_tuples(&dictionaries, identical, &vocabularies, &policy, global)?;
    if gathering.tuples == Which::Complete {
        tuples = tuples.complete();
        output::note(global, format_args!("complete tuples: {}", count(tuples.len())));
        if tuples.is_empty() {
            return Err(
                BadUsage("the dictionaries make no tuple that has all views; use --tuples holes".to_owned()).into()
            );
        }
    }
    Ok(Gathered { views, tuples, views_read, lexicons_read })
}

/// Reads the vectors of every view.
pub fn read_views(
    named: &[Named],
    gathering: &Gathering,
    reading: &Reading,
    global: &Global,
) -> anyhow::Result<(Vec<View>, Vec<Value>)> {
    let names: Vec<&str> = named.iter().map(|view| view.name.as_str()).collect();
    if let Some(twice) = names.iter().enumerate().find_map(|(i, name)| names[..i].contains(name).then_some(name)) {
        return Err(BadUsage(format!("two views are named {twice:?}; each needs a name of its own")).into());
    }
    if let Some(unknown) = gathering.words.iter().find(|words| !names.contains(&words.name.as_str())) {
        return Err(BadUsage(format!("--words names the view {:?}, which is not given", unknown.name)).into());
    }
    gathering.words.iter().try_for_each(|words| check_readable(&words.path))?;
    let mut views = Vec::new();
    let mut reports = Vec::new();
    for view in named {
        let words = gathering.words.iter().find(|words| words.name == view.name).map(|words| words.path.clone());
        let read = read_vectors(&view.path, words, reading, global).with_context(|| format!("view {:?}", view.name))?;
        reports.push(describe_read(&read));
        views.push(View::from_embeddings(&*view.name, gathering.casing().of_embeddings(read.embeddings)));
    }
    Ok((views, reports))
}

/// How dictionaries are read.
pub struct Policy {
    pub casing: Casing,
    pub strict: bool,
}

/// A dictionary file and the views it is for. Tuples say it in their header; of just two views nobody needs to.
pub struct Dictionary<'a> {
    path: &'a Path,
    pair: Option<(&'a str, &'a str)>,
}

impl<'a> Dictionary<'a> {
    /// All that are given. That the files are there is checked before vectors are read, which takes long.
    pub fn parse_all(given: &'a [String], views: &[&str]) -> anyhow::Result<Vec<Self>> {
        let all = given.iter().map(|text| Self::parse(text, views)).collect::<anyhow::Result<Vec<_>>>()?;
        all.iter().try_for_each(|dictionary| check_readable(dictionary.path))?;
        Ok(all)
    }

    /// `A-B=FILE` or `FILE`. View names may themselves contain `-` and `=`, so every split is tried.
    fn parse(text: &'a str, views: &[&str]) -> anyhow::Result<Self> {
        let mut same = None;
        let mut readings: Vec<Dictionary> = Vec::new();
        for (pair, path) in equals(text).filter(|(_, path)| !path.is_empty()) {
            for (from, to) in pair.match_indices('-').map(|(at, _)| (&pair[..at], &pair[at + 1..])) {
                match views.contains(&from) && views.contains(&to) {
                    true if from == to => same = Some(from),
                    true => readings.push(Dictionary { path: Path::new(path), pair: Some((from, to)) }),
                    false => {}
                }
            }
        }
        // Of several ways to read it the one counts that leaves a file.
        if readings.iter().any(|reading| reading.path.exists()) {
            readings.retain(|reading| reading.path.exists());
        } else if !text.contains('=') || Path::new(text).exists() {
            return Ok(Dictionary { path: Path::new(text), pair: None });
        }
        let problem = match (&readings[..], same) {
            ([_], _) => return Ok(readings.remove(0)),
            ([], Some(view)) => {
                format!("a dictionary needs two different views of {}, not {view:?} twice", views.join(", "))
            }
            ([], None) => {
                let pair = text.split('=').next().unwrap_or(text);
                format!("{pair:?} does not name two of the views {}", views.join(", "))
            }
            _ => "can be read in several ways; rename the views".to_owned(),
        };
        Err(BadUsage(format!("--lexicon {text}: {problem}")).into())
    }

    /// Whether words of the view can be in it; tuples tell only when they are read.
    pub fn may_have(&self, view: &str) -> bool {
        self.pair.is_none_or(|(from, to)| from == view || to == view)
    }

    pub fn path(&self) -> &Path {
        self.path
    }

    /// Of tuples over more views than there are, the columns of these views.
    fn read(&self, views: &[(&str, &Vocabulary)], strict: bool) -> sememe::Result<lexicon::Read> {
        let options = lexicon::ReadOptions { strict, ..Default::default() };
        match self.pair {
            Some((from, to)) => lexicon::read_pairs(self.path, from, to, &options),
            None => lexicon::read(self.path, &views.iter().map(|(name, _)| *name).collect::<Vec<_>>(), &options),
        }
    }
}

/// Looks the words of all dictionaries up, and says what was found.
pub fn gather_tuples(
    dictionaries: &[Dictionary],
    identical: Option<Shared>,
    vocabularies: &[(&str, &Vocabulary)],
    policy: &Policy,
    global: &Global,
) -> anyhow::Result<(Tuples, Vec<Value>)> {
    let mut tuples = match identical {
        Some(which) => {
            lexicon::identical(&vocabularies.iter().map(|(_, vocabulary)| *vocabulary).collect::<Vec<_>>(), which)
        }
        None => Tuples::new(vocabularies.len()),
    };
    let mut reports = Vec::new();
    if identical.is_some() {
        output::note(global, format_args!("identical strings: {} pairs", count(tuples.len())));
        reports.push(json!({ "identical": tuples.len() }));
    }
    for dictionary in dictionaries {
        let read = dictionary.read(vocabularies, policy.strict)?;
        let name = dictionary.path.display().to_string();
        let mut report = report_read(&name, &read, global);
        let lexicon = policy.casing.of_lexicon(read.lexicon);
        let matched = tuples.add_lexicon(&lexicon, vocabularies).with_context(|| name.clone())?;
        report_matches(&name, &lexicon, &matched, global);
        let unknown: serde_json::Map<String, Value> = lexicon
            .views()
            .iter()
            .zip(&matched.unknown)
            .map(|(view, words)| (view.clone(), json!(words.len())))
            .collect();
        report["entries"] = json!(lexicon.entries().len());
        report["matched"] = json!(matched.entries);
        report["duplicates"] = json!(lexicon.duplicates());
        report["unknown_words"] = json!(unknown);
        reports.push(report);
    }
    Ok((tuples, reports))
}

/// Says what of a dictionary file did not become entries, to people now and to machines in what it returns.
pub fn report_read(name: &str, read: &lexicon::Read, global: &Global) -> Value {
    if read.skipped.total() > 0 {
        output::warn(global, format_args!("{name}: skipped {}", read.skipped));
    }
    if !read.ignored_views.is_empty() {
        let views = read.ignored_views.join(", ");
        output::note(global, format_args!("{name}: ignored the columns of views that are not given: {views}"));
    }
    if read.ignored_columns {
        output::note(global, format_args!("{name}: ignored the columns after the second"));
    }
    if read.single_cells > 0 {
        let rows = count(read.single_cells);
        output::note(global, format_args!("{name}: {rows} rows have fewer than two words of the views"));
    }
    if read.comments > 0 {
        output::detail(global, || format!("{name}: {} comment lines", count(read.comments)));
    }
    json!({
        "file": name,
        "skipped": read.skipped,
        "comments": read.comments,
        "single_cells": read.single_cells,
        "ignored_views": read.ignored_views,
        "ignored_columns": read.ignored_columns,
    })
}

fn report_matches(name: &str, lexicon: &lexicon::Lexicon, matched: &Matched, global: &Global) {
    let sides: Vec<String> = lexicon
        .views()
        .iter()
        .zip(&matched.unknown)
        .map(|(view, words)| format!("{} unknown in {view}", count(words.len())))
        .collect();
    let (found, all) = (count(matched.entries), count(lexicon.entries().len()));
    output::note(global, format_args!("{name}: {found} of {all} entries found ({})", sides.join(", ")));
    for (view, words) in lexicon.views().iter().zip(&matched.unknown) {
        if !words.is_empty() {
            output::detail(global, || format!("  not in {view}: {}", words.join(", ")));
        }
    }
}
