//! Reads vectors and dictionaries for the commands that fit models, and prints warnings about them.

use std::path::{Path, PathBuf};

use sememe::gather::{self, Dictionary, DictionaryRead, GatherOptions, Gathering, LexiconRead, ViewFile, ViewRead};
use sememe::lexicon::{LexiconReport, Shared};
use sememe::moments::EvidenceOptions;
use sememe::prepare::Casing;
use sememe::vectors::View;

use super::report_vectors;
use crate::arguments::{self, BadUsage, Global, Named, Reading, Which};
use crate::output::{self, count};
use crate::progress::Bar;

impl arguments::Gathering {
    pub fn casing(&self) -> Casing {
        if self.lower { Casing::Lower } else { Casing::Kept }
    }

    pub fn evidence_options(&self) -> EvidenceOptions {
        EvidenceOptions::default()
            .with_casing(self.casing())
            .with_normalize(self.normalize.0.clone())
            .with_monolingual(self.monolingual)
    }

    fn options(&self, reading: &Reading) -> GatherOptions {
        let mut options = GatherOptions::default();
        options.read = reading.options(None);
        options.casing = self.casing();
        options.identical = self.identical.map(Shared::from);
        options.complete = self.tuples == Which::Complete;
        options.lexicon_columns = self.lexicon_columns.clone();
        options
    }

    /// The files of the views, each with the word list that is given for it.
    fn files(&self, views: &[Named]) -> anyhow::Result<Vec<ViewFile>> {
        if let Some(unknown) = self.words.iter().find(|words| !views.iter().any(|view| view.name == words.name)) {
            return Err(BadUsage(format!("--words names the view {:?}, which is not given", unknown.name)).into());
        }
        let twice = |at: usize| self.words[..at].iter().any(|words| words.name == self.words[at].name);
        if let Some(at) = (0..self.words.len()).find(|&at| twice(at)) {
            return Err(BadUsage(format!("--words is given twice for the view {:?}", self.words[at].name)).into());
        }
        let file = |view: &Named| {
            let mut file = ViewFile::new(&*view.name, &*view.path);
            file.words = self.words.iter().find(|words| words.name == view.name).map(|words| words.path.clone());
            file
        };
        Ok(views.iter().map(file).collect())
    }
}

/// Reads the vectors and dictionaries. With a folder to spill to, one view at a time is in memory.
pub fn gather(
    views: &[Named],
    gathering: &arguments::Gathering,
    reading: &Reading,
    spill: Option<PathBuf>,
    global: &Global,
) -> anyhow::Result<Gathering> {
    if gathering.lexicon.is_empty() && gathering.identical.is_none() {
        let ways = "give --lexicon A-B=FILE, or --identical, or align with --unsupervised";
        return Err(BadUsage(format!("which words mean the same? {ways}")).into());
    }
    gather_whatever(views, gathering, reading, spill, global)
}

/// The folder to spill views to: beside a space that is written, where there must be room for them anyway.
pub fn folder_beside(space: &Path) -> PathBuf {
    let parent = space.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// Like [`gather`], but a dictionary is optional.
pub fn gather_whatever(
    views: &[Named],
    gathering: &arguments::Gathering,
    reading: &Reading,
    spill: Option<PathBuf>,
    global: &Global,
) -> anyhow::Result<Gathering> {
    let files = gathering.files(views)?;
    let names: Vec<&str> = views.iter().map(|view| view.name.as_str()).collect();
    let dictionaries =
        gathering.lexicon.iter().map(|text| Dictionary::parse(text, &names)).collect::<Result<Vec<_>, _>>()?;
    let bar = Bar::new(global, "reading vectors");
    let mut options = gathering.options(reading);
    options.spill = spill;
    let gathered = Gathering::read(&files, &dictionaries, &options, &*bar);
    bar.finish();
    let gathered = gathered?;
    report_views(&files, &gathered.views_read, global);
    report_lexicons(&gathered.lexicons_read, global);
    if gathering.tuples == Which::Complete {
        output::note(global, format_args!("complete tuples: {}", count(gathered.tuples.len())));
    }
    Ok(gathered)
}

/// Reads the vectors of every view.
pub fn read_views(
    views: &[Named],
    gathering: &arguments::Gathering,
    reading: &Reading,
    global: &Global,
) -> anyhow::Result<Vec<View>> {
    Ok(read_files(&gathering.files(views)?, &gathering.options(reading), global)?.0)
}

/// Reads files of vectors with a progress bar, and warns of skipped lines.
pub fn read_files(
    files: &[ViewFile],
    options: &GatherOptions,
    global: &Global,
) -> anyhow::Result<(Vec<View>, Vec<ViewRead>)> {
    let bar = Bar::new(global, "reading vectors");
    let read = gather::read_views(files, options, &*bar);
    bar.finish();
    let (views, views_read) = read?;
    report_views(files, &views_read, global);
    Ok((views, views_read))
}

/// Warns of skipped lines of files of vectors, and prints other warnings of the readers.
pub fn report_views(files: &[ViewFile], read: &[ViewRead], global: &Global) {
    files.iter().zip(read).for_each(|(file, read)| report_vectors(&file.path, read, global));
}

/// Reports how many entries of the dictionaries matched the vocabularies.
pub fn report_lexicons(read: &[LexiconRead], global: &Global) {
    for read in read {
        match read {
            LexiconRead::Identical { identical } => {
                output::note(global, format_args!("identical strings: {} pairs", count(*identical)));
            }
            LexiconRead::Dictionary(read) => {
                read.file.iter().for_each(|file| report_lexicon(file, global));
                report_matches(read, global);
            }
            _ => {}
        }
    }
}

/// Warns of lines of a dictionary file that are not entries.
pub fn report_lexicon(report: &LexiconReport, global: &Global) {
    let name = &report.file;
    if report.skipped.total() > 0 {
        output::warn(global, format_args!("{name}: skipped {}", report.skipped));
    }
    if !report.ignored_views.is_empty() {
        let views = report.ignored_views.join(", ");
        output::note(global, format_args!("{name}: ignored the columns of views that are not given: {views}"));
    }
    if report.ignored_columns {
        output::note(global, format_args!("{name}: ignored the columns after the second"));
    }
    if report.single_cells > 0 {
        let rows = count(report.single_cells);
        output::note(global, format_args!("{name}: {rows} rows have fewer than two words of the views"));
    }
    if report.comments > 0 {
        output::detail(global, || format!("{name}: {} comment lines", count(report.comments)));
    }
}

fn report_matches(read: &DictionaryRead, global: &Global) {
    let name = read.file.as_ref().map_or("dictionary", |report| report.file.as_str());
    let sides: Vec<String> =
        read.unknown.iter().map(|(view, words)| format!("{} unknown in {view}", count(words.len()))).collect();
    let (found, all) = (count(read.matched), count(read.entries));
    output::note(global, format_args!("{name}: {found} of {all} entries found ({})", sides.join(", ")));
    if let Some(problem) = read.swapped() {
        output::warn(global, problem);
    }
    for (view, words) in read.unknown.iter().filter(|(_, words)| !words.is_empty()) {
        output::detail(global, || format!("  not in {view}: {}", words.join(", ")));
    }
}
