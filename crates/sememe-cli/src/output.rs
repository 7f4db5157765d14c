//! Tables for people, JSON for machines, warnings on standard error.

use std::io::{self, Write};

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use serde_json::Value;

use crate::arguments::Global;

/// Writes to standard output; a reader that has gone away (`| head`) is no error.
fn print(text: &str) -> anyhow::Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        result => Ok(result?),
    }
}

/// The result of a command, in the form that was asked for.
pub fn result(global: &Global, json: Value, for_people: impl FnOnce() -> String) -> anyhow::Result<()> {
    match global.json {
        true => print(&serde_json::to_string_pretty(&json)?),
        false => print(for_people().trim_end()),
    }
}

/// Something that went differently than expected but did not keep the work from being done.
pub fn warn(global: &Global, text: impl std::fmt::Display) {
    if !global.quiet {
        eprintln!("warning: {text}");
    }
}

/// Something that only those who ask for it want to know.
pub fn detail(global: &Global, text: impl FnOnce() -> String) {
    if global.verbose {
        eprintln!("{}", text());
    }
}

/// What is being done now, for people at a terminal.
pub fn note(global: &Global, text: impl std::fmt::Display) {
    if !global.quiet && !global.json {
        eprintln!("{text}");
    }
}

/// One line under the header and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table; columns from the second on are aligned right if `numbers`.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, numbers: bool) -> String {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.to_vec()).add_rows(rows);
    if numbers {
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    }
    table.to_string()
}

/// A table of names and values.
pub fn facts(rows: Vec<(&str, String)>) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
}

/// `12345` as `12,345`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(super::count), ["0", "999", "1,000", "1,234,567"]);
    }
}
