//! The report as one self-contained page.

use super::folder::{EXPLORER, INVITATION};
use super::table::mark;
use super::{Block, Cell, Column, Measured, Report, Row, Section, Table};
use crate::markup::escape;
use crate::plots::STYLE;

const PAGE: &str = include_str!("page.css");

impl Report {
    /// A page that needs no network: styles and drawings are in it.
    pub fn html(&self) -> String {
        let (title, lead) = (escape(&self.title), escape(&self.lead));
        let link =
            |section: &Section| format!("<li><a href=\"#{}\">{}</a></li>", escape(&section.id), escape(&section.title));
        let links: String = self.sections.iter().map(link).collect();
        let explorer = self
            .explorer
            .as_ref()
            .map_or(String::new(), |_| format!("<p><a class=\"explorer\" href=\"{EXPLORER}\">{INVITATION}</a></p>"));
        let sections: String = self.sections.iter().map(section).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
             <style>\n{PAGE}{STYLE}</style>\n</head>\n<body>\n\
             <header><h1>{title}</h1><p class=\"lead\">{lead}</p>{explorer}</header>\n\
             <nav aria-label=\"Contents\"><ol>{links}</ol></nav>\n<main>\n{sections}</main>\n</body>\n</html>\n"
        )
    }
}

fn section(section: &Section) -> String {
    let blocks: String = section.blocks.iter().map(block).collect();
    format!("<section id=\"{}\">\n<h2>{}</h2>\n{blocks}</section>\n", escape(&section.id), escape(&section.title))
}

fn block(block: &Block) -> String {
    match block {
        Block::Text { text } => format!("<p>{}</p>\n", escape(text)),
        Block::Missing { reasons } => {
            let items: String = reasons.iter().map(|reason| format!("<li>{}</li>", escape(reason))).collect();
            format!("<aside class=\"missing\"><p>Not computed:</p><ul>{items}</ul></aside>\n")
        }
        Block::Table(part) => table(part),
        Block::Figure(figure) => {
            let caption = escape(&figure.caption);
            format!(
                "<figure><div class=\"scroll\">{}</div><figcaption>{caption}</figcaption></figure>\n",
                figure.svg.inline()
            )
        }
    }
}

fn table(table: &Table) -> String {
    let reasons = table.reasons();
    let rows: String = (0..table.rows.len()).map(|at| row(table, at, &reasons)).collect();
    let note = |(at, reason): (usize, &&str)| format!("<li><sup>{}</sup> {}</li>", mark(at), escape(reason));
    let notes: String = reasons.iter().enumerate().map(note).collect();
    let notes = if notes.is_empty() { notes } else { format!("<ul class=\"notes\">{notes}</ul>") };
    let legend = match table.has_paper() {
        true => {
            "<p class=\"legend\"><span class=\"ours\">Ours</span> above, <span class=\"paper\">the paper’s</span> below.</p>"
        }
        false => "",
    };
    format!(
        "<figure class=\"table\"><figcaption>{}</figcaption>{legend}\n<div class=\"scroll\"><table>\n\
         <thead>{}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>{notes}</figure>\n",
        escape(&table.caption),
        header(table),
    )
}

/// One line of column names, or two where columns are grouped.
fn header(table: &Table) -> String {
    let is_text = |at: usize| {
        let holds_text =
            |row: &Row| matches!(row, Row::Cells { cells, .. } if matches!(cells.get(at), Some(Cell::Text(_))));
        table.rows.iter().any(holds_text)
    };
    let starts = |at: usize| at > 0 && table.columns[at].group != table.columns[at - 1].group;
    let name = |(at, column): (usize, &Column)| {
        let class = [(is_text(at), "text"), (starts(at), "start")];
        let class: Vec<&str> = class.iter().filter(|(is, _)| *is).map(|(_, class)| *class).collect();
        format!("<th scope=\"col\" class=\"{}\">{}</th>", class.join(" "), escape(&column.name))
    };
    let names: String = table.columns.iter().enumerate().map(name).collect();
    let corner = escape(&table.corner);
    if table.columns.iter().all(|column| column.group.is_empty()) {
        return format!("<tr><th scope=\"col\" class=\"name\">{corner}</th>{names}</tr>");
    }
    let mut groups = String::new();
    for of_group in table.columns.chunk_by(|a, b| a.group == b.group) {
        let group = escape(&of_group[0].group);
        groups += &format!("<th colspan=\"{}\" scope=\"colgroup\" class=\"group\">{group}</th>", of_group.len());
    }
    format!("<tr><th rowspan=\"2\" class=\"name\">{corner}</th>{groups}</tr><tr>{names}</tr>")
}

fn row(table: &Table, at: usize, reasons: &[&str]) -> String {
    match &table.rows[at] {
        Row::Heading { heading } => {
            let width = table.columns.len() + 1;
            format!(
                "<tr class=\"heading\"><th colspan=\"{width}\" scope=\"rowgroup\"><span>{}</span></th></tr>\n",
                escape(heading)
            )
        }
        Row::Cells { name, cells } => {
            let starts = |at: usize| at > 0 && table.columns[at].group != table.columns[at - 1].group;
            let one = |(column, cell): (usize, &Cell)| {
                let class = if starts(column) { " start" } else { "" };
                match cell {
                    Cell::Text(text) => format!("<td class=\"text{class}\">{}</td>", escape(text)),
                    Cell::Measured(measured) => {
                        let inside = figures(table, measured, table.is_best(at, column), reasons);
                        format!("<td class=\"number{class}\">{inside}</td>")
                    }
                }
            };
            let cells: String = cells.iter().enumerate().map(one).collect();
            format!("<tr><th scope=\"row\" class=\"name\">{}</th>{cells}</tr>\n", escape(name))
        }
    }
}

fn figures(table: &Table, measured: &Measured, is_best: bool, reasons: &[&str]) -> String {
    let best = if is_best { " best" } else { "" };
    let mut html = match (measured.ours, &measured.missing) {
        (Some(value), _) => {
            let title = measured.interval.map_or(String::new(), |[low, high]| {
                format!(" title=\"95 % interval: {} to {}\"", table.number(low), table.number(high))
            });
            format!("<span class=\"ours{best}\"{title}>{}</span>", table.number(value))
        }
        (None, Some(reason)) => {
            let place = reasons.iter().position(|known| known == reason).unwrap_or(0);
            format!("<span class=\"none\" title=\"{}\">–<sup>{}</sup></span>", escape(reason), mark(place))
        }
        (None, None) => String::new(),
    };
    if let Some([low, high]) = measured.interval {
        html += &format!("<span class=\"interval\">±{}</span>", table.number((high - low) / 2.0));
    }
    if let Some(paper) = measured.paper {
        html += &format!("<span class=\"paper\">{}</span>", table.number(paper));
    }
    html
}
