//! Segments of the rows of a file, and the forms in which rows are written.

use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::vectors::Format;

/// Rows that are mapped and written together.
pub(super) struct Segment {
    pub(super) number: usize,
    /// The first row.
    pub(super) first: usize,
    pub(super) rows: usize,
    /// The row groups of a Parquet file that it consists of.
    pub(super) groups: Vec<usize>,
}

/// Bytes of the rows of a segment.
const SEGMENT_BYTES: usize = 64 << 20;

impl Segment {
    /// Segments of equal size of an array.
    pub(super) fn of_rows(rows: usize, row_bytes: usize) -> Vec<Self> {
        let size = (SEGMENT_BYTES / row_bytes.max(1)).max(1);
        let segment = |(number, first): (usize, usize)| Segment {
            number,
            first,
            rows: size.min(rows - first),
            groups: Vec::new(),
        };
        (0..rows).step_by(size).enumerate().map(segment).collect()
    }

    /// Segments of whole row groups. Small groups are joined.
    #[cfg(feature = "parquet")]
    pub(super) fn of_groups(group_rows: &[usize], row_bytes: usize) -> Vec<Self> {
        let mut segments: Vec<Segment> = Vec::new();
        let mut first = 0;
        for (group, &rows) in group_rows.iter().enumerate() {
            match segments.last_mut() {
                Some(last) if (last.rows + rows) * row_bytes <= SEGMENT_BYTES => {
                    last.rows += rows;
                    last.groups.push(group);
                }
                _ => segments.push(Segment { number: segments.len(), first, rows, groups: vec![group] }),
            }
            first += rows;
        }
        segments
    }
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Npy,
    Safetensors,
    #[cfg(feature = "parquet")]
    Table(crate::tables::TableFormat),
}

impl Form {
    pub(super) fn of_name(path: &Path) -> Result<Self> {
        match Format::of_name(path) {
            Ok(Format::Npy) => Ok(Form::Npy),
            Ok(Format::Safetensors) => Ok(Form::Safetensors),
            #[cfg(feature = "parquet")]
            Ok(Format::Parquet) => Ok(Form::Table(crate::tables::TableFormat::Parquet)),
            #[cfg(feature = "parquet")]
            Ok(Format::Arrow) => Ok(Form::Table(crate::tables::TableFormat::Arrow)),
            _ => {
                let problem = "cannot be written: end the name in .npy, .safetensors, .parquet or .arrow";
                Err(Error::malformed(path, Place::Whole, problem))
            }
        }
    }

    pub(super) fn format(self) -> Format {
        match self {
            Form::Npy => Format::Npy,
            Form::Safetensors => Format::Safetensors,
            #[cfg(feature = "parquet")]
            Form::Table(crate::tables::TableFormat::Parquet) => Format::Parquet,
            #[cfg(feature = "parquet")]
            Form::Table(_) => Format::Arrow,
        }
    }
}
