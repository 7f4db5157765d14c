//! The folder that a report is written to.
//!
//! ```text
//! REPORT/index.html      the page; it needs nothing else
//! REPORT/page.html       where there is one, a page to look around in what is reported
//! REPORT/report.md       the same as Markdown
//! REPORT/report.json     the same for machines
//! REPORT/figures/*.svg   the figures as files
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use sememe::files::{self, OutputFolder};

use super::{Block, Figure, Report};
use crate::error::{Error, Result};

const PAGE: &str = "index.html";
const MARKDOWN: &str = "report.md";
const JSON: &str = "report.json";
const FIGURES: &str = "figures";
/// The explorer's file, and what the link to it says.
pub const EXPLORER: &str = "page.html";
pub const INVITATION: &str = "Type words of your own into this space";

/// The name of a figure's file in the folder.
pub fn figure_file(figure: &Figure) -> String {
    format!("{FIGURES}/{}.svg", figure.name)
}

/// Checks that a report can be written here. Call it before the work whose result is reported.
pub fn check_writable(folder: &Path) -> Result<()> {
    OutputFolder::create(folder)?;
    check_replaceable(folder, folder)
}

/// Returns an error unless `folder` is missing, empty, or a report with nothing else in it. Messages call it `name`.
fn check_replaceable(folder: &Path, name: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let refused = |why: String| Err(Error::NotReplaced { folder: name.to_owned(), why });
    if !folder.is_dir() {
        return refused("it is no folder".to_owned());
    }
    let names = |folder: &Path| -> Result<Vec<String>> {
        let unreadable = |source| sememe::Error::Read { path: folder.to_owned(), source };
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        entries.map(|entry| Ok(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned())).collect()
    };
    let foreign = |name: &String| ![PAGE, EXPLORER, MARKDOWN, JSON, FIGURES].contains(&name.as_str());
    if let Some(other) = names(folder)?.into_iter().find(foreign) {
        return refused(format!("it holds {other:?}, which is no part of a report"));
    }
    let figures = folder.join(FIGURES);
    let drawn = if figures.is_dir() { names(&figures)? } else { Vec::new() };
    match drawn.into_iter().find(|name| !name.ends_with(".svg")) {
        Some(other) => refused(format!("its figures are with {other:?}, which is no part of a report")),
        None => Ok(()),
    }
}

impl Report {
    /// Writes the report. The folder appears when it is complete, and replaces an earlier report. Returns the path of the page.
    pub fn write(&self, path: &Path) -> Result<PathBuf> {
        let folder = OutputFolder::create(path)?;
        check_replaceable(path, path)?;
        let write = |name: &str, text: String| files::write(&folder.path().join(name), text.as_bytes());
        let failed = |source| sememe::Error::Write { path: path.to_owned(), source };
        let write_files = || -> sememe::Result<()> {
            write(PAGE, self.html())?;
            if let Some(explorer) = &self.explorer {
                write(EXPLORER, explorer.clone())?;
            }
            write(MARKDOWN, self.markdown())?;
            write(JSON, serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))? + "\n")?;
            let blocks = self.sections.iter().flat_map(|section| &section.blocks);
            let figures: Vec<&Figure> = blocks
                .filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None })
                .collect();
            if !figures.is_empty() {
                fs::create_dir(folder.path().join(FIGURES)).map_err(failed)?;
            }
            figures.iter().try_for_each(|figure| write(&figure_file(figure), figure.svg.document()))
        };
        write_files().map_err(|source| Error::Write { folder: path.to_owned(), source })?;
        folder.finish(|old| check_replaceable(old, path))?;
        Ok(path.join(PAGE))
    }
}
