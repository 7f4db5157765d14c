//! Vectors as tables of PostgreSQL with the extension pgvector.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, anyhow};
use postgres::error::SqlState;
use postgres::{Client, NoTls, Transaction};
use sememe::vectors::Embeddings;

use crate::arguments::BadUsage;

/// Longest name of a table; PostgreSQL cuts longer ones.
const LONGEST_NAME: usize = 63;
/// The longest vector that a table of pgvector holds.
const MOST_DIMENSIONS: usize = 16_000;

/// The beginning of binary copies: a signature, no flags, no further header.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Their end: a row of -1 fields.
const TRAILER: [u8; 2] = (-1_i16).to_be_bytes();

/// A database and the tables that will be written.
pub struct Database {
    client: Client,
    tables: Vec<String>,
}

impl Database {
    /// Connects, and checks that there is pgvector and that the tables are new.
    pub fn connect(address: &str, tables: &[&Path]) -> anyhow::Result<Self> {
        let config: postgres::Config = address.parse().map_err(|error: postgres::Error| {
            BadUsage(format!("--to pgvector: the connection string cannot be read ({})", cause(&error)))
        })?;
        let tables = tables.iter().map(|path| table_name(path)).collect::<anyhow::Result<Vec<String>>>()?;
        if let [first, second] = &tables[..]
            && first == second
        {
            return Err(BadUsage(format!("--output and --queries both name the table {first:?}")).into());
        }
        // The address may hold a password, so that it is not repeated.
        let client = config.connect(NoTls).map_err(|error| {
            let hint = "is the server running, and are host, port, user, password and database right? This client speaks no \
                        TLS: reach servers that demand it through a tunnel, or load a file";
            anyhow!("cannot connect to PostgreSQL: {}; {hint}", cause(&error))
        })?;
        let mut database = Database { client, tables };
        let mut transaction = database.client.transaction().map_err(|error| lost(&error))?;
        create(&mut transaction, &database.tables, 1)?;
        // Nothing is left of the trial: the transaction is not committed.
        transaction.rollback().map_err(|error| lost(&error))?;
        Ok(database)
    }

    /// Writes the vectors to the tables, in one transaction: either all of them are there, or none. Returns the names
    /// of the tables.
    pub fn write(&mut self, vectors: &[Embeddings]) -> anyhow::Result<Vec<String>> {
        let dim = vectors[0].dim();
        if dim > MOST_DIMENSIONS {
            let problem = format!("vectors of length {dim}: pgvector holds at most {MOST_DIMENSIONS} dimensions");
            return Err(BadUsage(problem).into());
        }
        let mut transaction = self.client.transaction().map_err(|error| lost(&error))?;
        create(&mut transaction, &self.tables, dim)?;
        for (table, vectors) in self.tables.iter().zip(vectors) {
            copy(&mut transaction, table, vectors).with_context(|| format!("cannot fill the table {table:?}"))?;
        }
        transaction.commit().map_err(|error| lost(&error))?;
        Ok(self.tables.clone())
    }
}

/// Creates the tables.
fn create(transaction: &mut Transaction, tables: &[String], dim: usize) -> anyhow::Result<()> {
    transaction.batch_execute("CREATE EXTENSION IF NOT EXISTS vector").map_err(|error| {
        let hint = "install pgvector on the server, or let its administrator run CREATE EXTENSION vector";
        anyhow!("the database has no pgvector ({}): {hint}", cause(&error))
    })?;
    for table in tables {
        let columns = format!("id integer PRIMARY KEY, word text NOT NULL, vector vector({dim}) NOT NULL");
        let created = transaction.batch_execute(&format!("CREATE TABLE {} ({columns})", quoted(table)));
        created.map_err(|error| match error.code() {
            Some(&SqlState::DUPLICATE_TABLE) => {
                BadUsage(format!("the table {table:?} is there already; name another one, or drop it")).into()
            }
            _ => anyhow!("cannot create the table {table:?}: {}", cause(&error)),
        })?;
    }
    Ok(())
}

/// Copies all rows in binary form.
fn copy(transaction: &mut Transaction, table: &str, vectors: &Embeddings) -> anyhow::Result<()> {
    let statement = format!("COPY {} (id, word, vector) FROM STDIN (FORMAT binary)", quoted(table));
    let mut writer = transaction.copy_in(&statement).map_err(|error| lost(&error))?;
    let mut send = |bytes: &[u8]| writer.write_all(bytes);
    let sent = send(HEADER).and_then(|()| {
        let mut row = Vec::new();
        for index in 0..vectors.len() {
            row.clear();
            write_row(&mut row, index, vectors.word(index), vectors.matrix().row(index));
            send(&row)?;
        }
        send(&TRAILER)
    });
    sent.map_err(|error| anyhow!("the connection to PostgreSQL was lost ({error}); nothing was written, try again"))?;
    writer.finish().map_err(|error| lost(&error))?;
    Ok(())
}

/// A row of three fields, each with its length in bytes; everything is big-endian.
fn write_row(row: &mut Vec<u8>, index: usize, word: &str, vector: &[f32]) {
    let length = |bytes: usize| i32::try_from(bytes).expect("a field is short").to_be_bytes();
    row.extend(3_i16.to_be_bytes());
    row.extend(length(4));
    row.extend(i32::try_from(index).expect("a view has under 2³¹ words").to_be_bytes());
    row.extend(length(word.len()));
    row.extend(word.as_bytes());
    // A vector is its length, two unused bytes, and its numbers.
    row.extend(length(4 + 4 * vector.len()));
    row.extend(u16::try_from(vector.len()).expect("checked above").to_be_bytes());
    row.extend([0; 2]);
    vector.iter().for_each(|x| row.extend(x.to_be_bytes()));
}

/// The name of a table as it is written in SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn table_name(path: &Path) -> anyhow::Result<String> {
    let name = path.to_string_lossy().into_owned();
    match name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
        true => Err(BadUsage(format!("{name:?} names no table: names have 1 to {LONGEST_NAME} bytes")).into()),
        false => Ok(name),
    }
}

/// What PostgreSQL or the system says of an error. The client itself says only where it happened.
fn cause(error: &postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => said.message().to_owned(),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    }
}

fn lost(error: &postgres::Error) -> anyhow::Error {
    anyhow!("PostgreSQL ended the work: {}; nothing was written", cause(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_fields_with_their_lengths() {
        let mut row = Vec::new();
        write_row(&mut row, 258, "né", &[1.0, -2.0]);
        let expected = [
            &[0, 3, 0, 0, 0, 4, 0, 0, 1, 2, 0, 0, 0, 3][..],
            "né".as_bytes(),
            &[0, 0, 0, 12, 0, 2, 0, 0, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0],
        ];
        assert_eq!(row, expected.concat());
        assert_eq!(HEADER.len(), 19);
    }

    #[test]
    fn names_of_tables_are_quoted_and_checked() {
        assert_eq!(quoted("a\"; DROP TABLE x"), "\"a\"\"; DROP TABLE x\"");
        assert_eq!(table_name(Path::new("fr")).unwrap(), "fr");
        assert!(table_name(Path::new("")).is_err() && table_name(Path::new(&"x".repeat(64))).is_err());
    }
}
