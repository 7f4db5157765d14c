//! The report as Markdown; its figures are files beside it.

use super::folder::{EXPLORER, INVITATION, figure_file};
use super::table::mark;
use super::{Block, Cell, Measured, Report, Row, Table};
use crate::text::visible;

impl Report {
    /// The report as Markdown, with links to its figures.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n", escape(&self.title), escape(&self.lead));
        if self.explorer.is_some() {
            text += &format!("\n[{INVITATION}]({EXPLORER})\n");
        }
        for section in &self.sections {
            text += &format!("\n## {}\n", escape(&section.title));
            for block in &section.blocks {
                text += &match block {
                    Block::Text { text } => format!("\n{}\n", escape(text)),
                    Block::Missing { reasons } => {
                        let items: String = reasons.iter().map(|reason| format!("> - {}\n", escape(reason))).collect();
                        format!("\n> Not computed:\n>\n{items}")
                    }
                    Block::Table(part) => table(part),
                    Block::Figure(figure) => {
                        let (file, caption) = (figure_file(figure), escape(&figure.caption));
                        format!("\n![{caption}]({file})\n\n{caption}\n")
                    }
                };
            }
        }
        text
    }
}

/// Escapes markup.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible(text).chars() {
        if "\\`*_[]<>|#".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn table(table: &Table) -> String {
    let names = table.columns.iter().map(|column| match column.group.is_empty() {
        true => escape(&column.name),
        false => format!("{} {}", escape(&column.group), escape(&column.name)),
    });
    let header: Vec<String> = std::iter::once(escape(&table.corner)).chain(names).collect();
    let reasons = table.reasons();
    let legend = if table.has_paper() { " Ours, then *the paper’s*." } else { "" };
    let mut text = format!("\n**{}**{legend}\n\n| {} |\n|---|", escape(&table.caption), header.join(" | "));
    text += &"---:|".repeat(table.columns.len());
    for (at, row) in table.rows.iter().enumerate() {
        let cells: Vec<String> = match row {
            Row::Heading { heading } => std::iter::once(format!("**{}**", escape(heading)))
                .chain(table.columns.iter().map(|_| String::new()))
                .collect(),
            Row::Cells { name, cells } => {
                let one = |(column, cell): (usize, &Cell)| match cell {
                    Cell::Text(text) => escape(text),
                    Cell::Measured(measured) => figures(table, measured, table.is_best(at, column), &reasons),
                };
                std::iter::once(escape(name)).chain(cells.iter().enumerate().map(one)).collect()
            }
        };
        text += &format!("\n| {} |", cells.join(" | "));
    }
    text.push('\n');
    for (at, reason) in reasons.iter().enumerate() {
        text += &format!("\n({}) {}\n", mark(at), escape(reason));
    }
    text
}

fn figures(table: &Table, measured: &Measured, is_best: bool, reasons: &[&str]) -> String {
    let mut parts = Vec::new();
    match (measured.ours, &measured.missing) {
        (Some(value), _) if is_best => parts.push(format!("**{}**", table.number(value))),
        (Some(value), _) => parts.push(table.number(value)),
        (None, Some(reason)) => {
            let place = reasons.iter().position(|known| known == reason).unwrap_or(0);
            parts.push(format!("– ({})", mark(place)));
        }
        (None, None) => {}
    }
    if let Some([low, high]) = measured.interval {
        parts.push(format!("±{}", table.number((high - low) / 2.0)));
    }
    if let Some(paper) = measured.paper {
        parts.push(format!("*{}*", table.number(paper)));
    }
    parts.join(" ")
}
