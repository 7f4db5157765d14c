//! The folder that a report is written to.
//!
//! ```text
//! REPORT/index.html      the page; it needs nothing else
//! REPORT/report.md       the same as Markdown
//! REPORT/report.json     the same for machines
//! REPORT/figures/*.svg   the figures as files
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sememe::files::{self, OutputFolder};

use super::{Block, Figure, Report};
use crate::arguments::BadUsage;

const PAGE: &str = "index.html";
const MARKDOWN: &str = "report.md";
const JSON: &str = "report.json";
const FIGURES: &str = "figures";

/// The name of a figure's file in the folder.
pub fn figure_file(figure: &Figure) -> String {
    format!("{FIGURES}/{}.svg", figure.name)
}

/// Whether a report may and can be written here; worth asking before the work that leads up to it.
pub fn check_writable(folder: &Path) -> anyhow::Result<()> {
    OutputFolder::create(folder)?;
    check_replaceable(folder)
}

/// Refuses to replace anything but an empty folder or a report with nothing else in it.
fn check_replaceable(folder: &Path) -> anyhow::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    let refused = |why: String| {
        let problem = format!("{} is there already and is not replaced: {why}; name another folder", folder.display());
        Err(BadUsage(problem).into())
    };
    if !folder.is_dir() {
        return refused("it is no folder".to_owned());
    }
    let names = |folder: &Path| -> anyhow::Result<Vec<String>> {
        let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let foreign = |name: &String| ![PAGE, MARKDOWN, JSON, FIGURES].contains(&name.as_str());
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
    /// Writes the report; the folder appears when it is complete, and replaces a report of that name. Returns the page.
    pub fn write(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let folder = OutputFolder::create(path)?;
        check_replaceable(path)?;
        let write = |name: &str, text: String| files::write(&folder.path().join(name), text.as_bytes());
        let write_files = || -> anyhow::Result<()> {
            write(PAGE, self.html())?;
            write(MARKDOWN, self.markdown())?;
            write(JSON, serde_json::to_string_pretty(self)? + "\n")?;
            let blocks = self.sections.iter().flat_map(|section| &section.blocks);
            let figures: Vec<&Figure> = blocks
                .filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None })
                .collect();
            if !figures.is_empty() {
                fs::create_dir(folder.path().join(FIGURES))?;
            }
            figures.iter().try_for_each(|figure| write(&figure_file(figure), figure.svg.document()))?;
            Ok(())
        };
        write_files().with_context(|| format!("cannot write the report {}", path.display()))?;
        folder.finish()?;
        Ok(path.join(PAGE))
    }
}
