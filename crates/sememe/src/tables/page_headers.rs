//! Headers of Parquet pages, read before their pages: a decoder allocates what they declare.
//!
//! A header is a struct of Thrift's compact protocol: type, size when decompressed, size in the file, and what depends on the
//! type, which is skipped.

use std::path::Path;

use parquet::file::metadata::ColumnChunkMetaData;

use super::damaged;
use crate::error::Result;
use crate::files::{Pieces, most_unpacked};

/// Bytes that are read for a header at first, and at most: statistics may hold values.
const USUAL_HEADER: usize = 256;
const LARGEST_HEADER: usize = 16 << 20;
/// Structs within structs, of which a page has two.
const MAX_DEPTH: usize = 8;

/// Checks that the pages of a column chunk declare plausible sizes.
pub(super) fn check(path: &Path, pieces: &Pieces, chunk: &ColumnChunkMetaData) -> Result<()> {
    let (mut at, len) = chunk.byte_range();
    let end = at.checked_add(len).filter(|&end| end <= pieces.len());
    let end = end.ok_or_else(|| damaged(path, "a column lies outside of the file"))?;
    let mut unpacked = 0_u64;
    while at < end {
        let header = read(path, pieces, at, end)?;
        unpacked = unpacked.saturating_add(header.unpacked);
        if header.unpacked > most_unpacked(pieces.len()) || unpacked > most_unpacked(pieces.len()) {
            return Err(damaged(path, format_args!("a page declares {} bytes when decompressed", header.unpacked)));
        }
        at = at.saturating_add(header.len).saturating_add(header.packed);
    }
    Ok(())
}

struct Header {
    len: u64,
    unpacked: u64,
    packed: u64,
}

fn read(path: &Path, pieces: &Pieces, at: u64, end: u64) -> Result<Header> {
    let mut size = USUAL_HEADER;
    loop {
        let here = usize::try_from(end - at).unwrap_or(usize::MAX).min(size);
        let bytes = pieces.at(at, here).map_err(|error| damaged(path, error))?;
        match (parse(&bytes), here == size && size < LARGEST_HEADER) {
            (Some(header), _) => return Ok(header),
            (None, true) => size *= 8,
            (None, false) => return Err(damaged(path, format_args!("there is no page header at byte {at}"))),
        }
    }
}

/// The header at the beginning of the bytes; `None` if it is none, or goes on after them.
fn parse(bytes: &[u8]) -> Option<Header> {
    let mut rest = bytes;
    let mut sizes = [None; 2];
    let mut field = 0_i64;
    while let Some(kind) = next_field(&mut rest, &mut field)? {
        match (field, kind) {
            (2 | 3, 5) => sizes[field as usize - 2] = u64::try_from(zigzag(&mut rest)?).ok(),
            _ => skip(&mut rest, kind, MAX_DEPTH)?,
        }
    }
    let [unpacked, packed] = sizes;
    Some(Header { len: (bytes.len() - rest.len()) as u64, unpacked: unpacked?, packed: packed? })
}

/// The type of the next field, whose number is set; `None` inside at the end of the struct.
fn next_field(rest: &mut &[u8], field: &mut i64) -> Option<Option<u8>> {
    let head = byte(rest)?;
    if head == 0 {
        return Some(None);
    }
    *field = match head >> 4 {
        0 => zigzag(rest)?,
        delta => field.checked_add(i64::from(delta))?,
    };
    Some(Some(head & 15))
}

fn skip(rest: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    match kind {
        1 | 2 => {}
        3 => *rest = rest.get(1..)?,
        4..=6 => drop(varint(rest)?),
        7 => *rest = rest.get(8..)?,
        8 => {
            let len = usize::try_from(varint(rest)?).ok()?;
            *rest = rest.get(len..)?;
        }
        12 if depth > 0 => {
            let mut field = 0;
            while let Some(kind) = next_field(rest, &mut field)? {
                skip(rest, kind, depth - 1)?;
            }
        }
        // A header has no lists and no maps.
        _ => return None,
    }
    Some(())
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (&first, others) = rest.split_first()?;
    *rest = others;
    Some(first)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let part = byte(rest)?;
        value |= u64::from(part & 127) << shift;
        if part < 128 {
            return Some(value);
        }
    }
    None
}

fn zigzag(rest: &mut &[u8]) -> Option<i64> {
    let value = varint(rest)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_the_rest_is_skipped() {
        // type 0, sizes 1200 and -3 (no size), a data page with a count of 7 and a binary field, and the end.
        let header = |packed: u8| [0x15, 0, 0x15, 0xe0, 0x12, 0x15, packed, 0x2c, 0x15, 14, 0x18, 2, 9, 9, 0, 0, 77];
        let found = parse(&header(80)).unwrap();
        assert_eq!((found.len, found.unpacked, found.packed), (16, 1200, 40));
        assert!(parse(&header(5)).is_none(), "a negative size");
        for cut in 0..16 {
            assert!(parse(&header(80)[..cut]).is_none(), "{cut}");
        }
        assert!(parse(&[0x1c; 100]).is_none(), "structs without end");
        assert!(parse(&[0xff; 100]).is_none());
    }
}
