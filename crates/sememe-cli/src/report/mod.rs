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
#[derive(Debug, Serialize)]
pub struct Report {
    pub title: String,
    /// What it is about, under the title.
    pub lead: String,
    pub sections: Vec<Section>,
}

/// A part of a report under a heading of its own.
#[derive(Debug, Serialize)]
pub struct Section {
    /// What links to it are called.
    pub id: String,
    pub title: String,
    pub blocks: Vec<Block>,
}

impl Section {
    pub fn new(id: &str, title: impl Into<String>) -> Self {
        Section { id: id.to_owned(), title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text { text: text.into() });
    }

    /// Adds something that is there.
    pub fn add(&mut self, block: impl Into<Block>) {
        self.blocks.push(block.into());
    }

    /// Says what could not be computed and why; nothing where there is nothing.
    pub fn lack(&mut self, reasons: Vec<String>) {
        if !reasons.is_empty() {
            self.blocks.push(Block::Missing { reasons });
        }
    }
}

/// What a section is made of.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    /// A paragraph.
    Text {
        text: String,
    },
    /// What could not be computed, and why.
    Missing {
        reasons: Vec<String>,
    },
    Table(Table),
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
#[derive(Debug, Serialize)]
pub struct Figure {
    /// What its file is called.
    pub name: String,
    pub caption: String,
    /// The numbers that are drawn.
    pub data: Value,
    #[serde(skip)]
    pub svg: Svg,
}
