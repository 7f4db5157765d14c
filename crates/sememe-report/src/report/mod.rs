//! A report: sections of prose, tables and figures, written as one page (`index.html`), as Markdown and as JSON.

mod folder;
mod html;
mod markdown;
mod table;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

pub use self::folder::check_writable;
pub use self::table::{Cell, Column, Measured, Row, Table};
use crate::plots::Svg;

/// What is reported.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The title.
    pub title: String,
    /// The introduction under the title.
    pub lead: String,
    /// The parts, in order.
    pub sections: Vec<Section>,
    /// A page to look around in what is reported, which is written beside the report.
    #[serde(skip)]
    pub explorer: Option<String>,
}

impl Report {
    /// A report of these sections, without [an explorer](Report::explorer).
    pub fn new(title: impl Into<String>, lead: impl Into<String>, sections: Vec<Section>) -> Self {
        Report { title: title.into(), lead: lead.into(), sections, explorer: None }
    }
}

/// A part of a report under a heading of its own.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Section {
    /// The anchor of links to it.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// Its blocks, in order.
    pub blocks: Vec<Block>,
}

impl Section {
    /// An empty section.
    pub fn new(id: &str, title: impl Into<String>) -> Self {
        Section { id: id.to_owned(), title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text { text: text.into() });
    }

    /// Adds a table or a figure.
    pub fn add(&mut self, block: impl Into<Block>) {
        self.blocks.push(block.into());
    }

    /// Adds the reasons why results are missing, if there are any.
    pub fn lack(&mut self, reasons: Vec<String>) {
        if !reasons.is_empty() {
            self.blocks.push(Block::Missing { reasons });
        }
    }
}

/// A block of a section.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Block {
    /// A paragraph.
    Text {
        /// Plain text.
        text: String,
    },
    /// Reasons why results are missing.
    Missing {
        /// Each reason once.
        reasons: Vec<String>,
    },
    /// Rows and columns.
    Table(Table),
    /// A drawing.
    Figure(Figure),
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Block::Table(table)
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Block::Figure(figure)
    }
}

/// A drawing with its caption.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Figure {
    /// The name of its file.
    pub name: String,
    /// The caption.
    pub caption: String,
    data: Value,
    /// The drawing.
    #[serde(skip)]
    pub svg: Svg,
}

impl Figure {
    /// A figure, with the numbers that are drawn for `report.json`. Numbers that JSON cannot hold are null there.
    pub fn new(name: impl Into<String>, caption: impl Into<String>, data: impl Serialize, svg: Svg) -> Self {
        let data = serde_json::to_value(data).unwrap_or_default();
        Figure { name: name.into(), caption: caption.into(), data, svg }
    }
}
