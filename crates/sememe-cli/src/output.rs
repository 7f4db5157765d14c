//! Tables for people, JSON for machines, warnings on standard error.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};
use sememe::files::is_standard_output;
use sememe::model::FitWarning;
pub use sememe_report::text::{count, visible};
use serde_json::Value;
use terminal_size::{Width, terminal_size_of};

use crate::arguments::Global;

/// Writes to standard output. A closed pipe (`| head`) is not an error.
fn print(text: &str) -> anyhow::Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        result => result.context("cannot write to standard output"),
    }
}

/// Writes to standard error, and ignores failures to do so.
fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", visible_lines(&text.to_string()));
}

/// Prints the result of a command, as JSON or for people.
pub fn result(global: &Global, json: Value, for_people: impl FnOnce() -> String) -> anyhow::Result<()> {
    match global.json {
        true => print(&serde_json::to_string_pretty(&json)?),
        false => print(visible_lines(&for_people()).trim_end()),
    }
}

/// Prints text for another program unchanged. It must not contain words of input files.
pub fn verbatim(global: &Global, json: Value, text: &str) -> anyhow::Result<()> {
    match global.json {
        true => print(&serde_json::to_string_pretty(&json)?),
        false => print(text.trim_end()),
    }
}

/// Prints the result of a command that wrote a file. If the file is standard output, the result is not mixed with it.
pub fn result_beside(
    written: &Path,
    global: &Global,
    json: Value,
    for_people: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    match is_standard_output(written) {
        true => note(global, for_people()),
        false => result(global, json, for_people)?,
    }
    Ok(())
}

/// Prints an error and its causes.
pub fn error(error: &anyhow::Error) {
    tell(format_args!("sememe: {error:#}"));
}

/// Warns of the number of zero vectors that are skipped, if there are any.
pub fn warn_of_zeros(global: &Global, zeros: usize, what: impl std::fmt::Display) {
    if zeros > 0 {
        let why = "are zero vectors, which have no direction: they are skipped";
        warn(global, format_args!("{} {what} {why}", count(zeros)));
    }
}

/// What should be known about a fit, with the option that changes it. That it is no better than chance is said by
/// [`fail_at_chance`].
pub fn warn_of_fit(global: &Global, warnings: &[FitWarning]) {
    for warning in warnings {
        match warning {
            FitWarning::Chance { .. } => {}
            FitWarning::NotConverged { .. } => {
                warn(global, format_args!("{warning}; --iterations N lets it go on for longer"))
            }
            _ => warn(global, warning),
        }
    }
}

/// An error if a fit is no better than chance: said last, after the space is written, and whatever is silenced, as such a
/// space looks like any other.
pub fn fail_at_chance(warnings: &[FitWarning]) -> anyhow::Result<()> {
    match warnings.iter().find(|warning| matches!(warning, FitWarning::Chance { .. })) {
        Some(warning) => Err(anyhow::anyhow!("{warning}")),
        None => Ok(()),
    }
}

/// Prints a warning, unless `--quiet`.
pub fn warn(global: &Global, text: impl std::fmt::Display) {
    if !global.quiet {
        tell(format_args!("warning: {text}"));
    }
}

/// Prints a detail, only with `--verbose`.
pub fn detail(global: &Global, text: impl FnOnce() -> String) {
    if global.verbose {
        tell(text());
    }
}

/// Prints a note for people, unless `--quiet` or `--json`.
pub fn note(global: &Global, text: impl std::fmt::Display) {
    if !global.quiet && !global.json {
        tell(text);
    }
}

/// [`visible`], but for text of several lines.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// One line under the header and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A column of names is not wrapped to less than this.
const READABLE: u16 = 16;

/// A table; columns from the second on are aligned right if `numbers`. At a terminal, cells that are too long for it are
/// wrapped, and columns of numbers that are too many for it go below each other.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, numbers: bool) -> String {
    let width = terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns);
    table_within(width, header, rows, numbers)
}

fn table_within(width: Option<u16>, header: &[&str], rows: Vec<Vec<String>>, numbers: bool) -> String {
    let (true, Some(width)) = (numbers && header.len() > 1, width) else {
        return whole_table(width, header, rows, numbers);
    };
    // Columns of numbers that have no place beside each other go below each other, each time with the names.
    let part = |columns: Range<usize>| {
        let of = |cells: &[String]| cells[..1].iter().chain(&cells[columns.clone()]).cloned().collect::<Vec<String>>();
        let names = [&header[..1], &header[columns.clone()]].concat();
        whole_table(Some(width), &names, rows.iter().map(|row| of(row)).collect(), true)
    };
    let fits = |table: &String| table.lines().all(|line| line.trim_end().chars().count() <= usize::from(width));
    let (mut parts, mut from) = (Vec::new(), 1);
    while from < header.len() {
        let to = (from + 1..=header.len()).rev().find(|&to| fits(&part(from..to))).unwrap_or(from + 1);
        parts.push(part(from..to));
        from = to;
    }
    parts.join("\n\n")
}

fn whole_table(width: Option<u16>, header: &[&str], rows: Vec<Vec<String>>, numbers: bool) -> String {
    let mut table = Table::new();
    let name = |row: &Vec<String>| row.first().map_or(0, |cell| cell.chars().count());
    let longest = rows.iter().map(name).max().unwrap_or(0).min(usize::from(READABLE)) as u16;
    // Before the widths of the columns are measured.
    let visible_row = |row: Vec<String>| row.iter().map(|cell| visible(cell)).collect::<Vec<_>>();
    let header: Vec<String> = header.iter().map(|cell| visible(cell)).collect();
    table.load_style(STYLE).set_header(header).add_rows(rows.into_iter().map(visible_row));
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    if let Some(names) = table.column_mut(0).filter(|_| numbers) {
        names.set_constraint(ColumnConstraint::LowerBoundary(comfy_table::Width::Fixed(longest)));
    }
    for column in table.column_iter_mut().skip(1).filter(|_| numbers) {
        // Half a number is a wrong one: only names are wrapped.
        column.set_constraint(ColumnConstraint::ContentWidth);
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// A table of names and values.
pub fn facts(rows: Vec<(&str, String)>) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:width$}  {}\n", visible(value))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn tables_follow_the_width_of_a_terminal_only() {
        let rows = || vec![vec!["word".to_owned(), "one candidate   another candidate   a third candidate".to_owned()]];
        let widest = |shown: &str| shown.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
        let narrow = super::table_within(Some(40), &["en", "fr"], rows(), false);
        assert!(widest(&narrow) <= 40 && narrow.contains("third"), "{narrow}");
        let piped = super::table_within(None, &["en", "fr"], rows(), false);
        assert!(widest(&piped) > 50 && piped.lines().count() == 3, "{piped}");
        // Numbers stay whole.
        let rows = vec![vec!["a name of many words, which is long".to_owned(), "1,234,567".to_owned()]];
        let narrow = super::table_within(Some(30), &["set", "number"], rows, true);
        assert!(widest(&narrow) <= 30 && narrow.contains("1,234,567"), "{narrow}");
        let header = ["", "P@1", "95 % interval", "P@5", "P@10", "MRR"];
        let cells = ["en → fr, csls", "83.67", "79.6 – 87.5", "95.34", "96.79", "88.64"];
        let rows = || vec![cells.map(str::to_owned).to_vec()];
        let narrow = super::table_within(Some(40), &header, rows(), true);
        assert!(widest(&narrow) <= 40 && narrow.matches("csls").count() == 2, "{narrow}");
        assert!(header.iter().chain(&cells).all(|cell| narrow.contains(cell)), "{narrow}");
        assert_eq!(super::table_within(Some(100), &header, rows(), true).lines().count(), 3);
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let shown = super::table(&["word"], vec![vec!["\u{1b}[2Jred\tnaïve".to_owned()]], false);
        assert!(shown.contains("\\u{1b}[2Jred\\tna") && !shown.contains('\u{1b}'), "{shown}");
        assert_eq!(super::visible_lines("one\n\u{9b}two"), "one\n\\u{9b}two");
    }
}
