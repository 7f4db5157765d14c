//! Arrow IPC: files with a footer, and streams.
//!
//! Both are a sequence of messages. Where these are is found out first, so that only sizes that the file has are
//! allocated; then record batches are decoded a few at a time, in parallel.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Block, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use rayon::prelude::*;

use super::{arrow_error, damaged};
use crate::error::Result;
use crate::files::{Pieces, most_unpacked};

const MAGIC: &[u8] = b"ARROW1";
/// The beginning and the padding of a file, before its first message.
const FILE_START: u64 = 8;
/// What a message begins with, in files and streams of this decade.
pub(crate) const CONTINUATION: [u8; 4] = [0xff; 4];
/// Bytes of messages that are decoded at a time, by all threads together.
const BLOCK: u64 = 32 << 20;

/// An open Arrow file or stream.
pub(super) struct ArrowFile {
    path: PathBuf,
    pieces: Pieces,
    schema: SchemaRef,
    messages: Vec<Place>,
}

/// Where a message is.
#[derive(Clone, Copy)]
struct Place {
    start: u64,
    metadata: usize,
    body: usize,
}

impl ArrowFile {
    pub(super) fn open(path: &Path, pieces: Pieces) -> Result<Self> {
        let cut_off = |error: std::io::Error| damaged(path, error);
        let is_file = pieces.at(0, MAGIC.len()).map_err(cut_off)? == MAGIC;
        let (schema, messages) = if is_file { footer(path, &pieces)? } else { stream(path, &pieces)? };
        Ok(ArrowFile { path: path.to_owned(), pieces, schema: Arc::new(schema), messages })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn len(&self) -> u64 {
        self.pieces.len()
    }

    pub(super) fn batches(&self, columns: &[usize]) -> ArrowBatches<'_> {
        ArrowBatches {
            file: self,
            columns: columns.to_vec(),
            next: 0,
            dictionaries: HashMap::new(),
            ready: VecDeque::new(),
        }
    }

    /// The metadata and the body of a message.
    fn load(&self, place: Place) -> Result<(bytes::Bytes, Buffer)> {
        let load = |start, len| self.pieces.at(start, len).map_err(|error| damaged(&self.path, error));
        let metadata = load(place.start, place.metadata)?;
        let body = load(place.start + place.metadata as u64, place.body)?;
        Ok((metadata, body.into()))
    }

    fn decode(
        &self,
        metadata: &[u8],
        body: &Buffer,
        columns: &[usize],
        dictionaries: &Dictionaries,
    ) -> Result<RecordBatch> {
        let failed = |error| arrow_error(&self.path, &error);
        let message = parse(&self.path, metadata)?;
        let batch = message.header_as_record_batch().ok_or_else(|| damaged(&self.path, "a record batch is missing"))?;
        self.check_sizes(&batch, body)?;
        RecordBatchDecoder::try_new(body, batch, self.schema.clone(), dictionaries, &message.version())
            .map_err(failed)?
            .with_projection(Some(columns))
            .read_record_batch()
            .map_err(failed)
    }

    fn add_dictionary(&self, metadata: &[u8], body: &Buffer, dictionaries: &mut Dictionaries) -> Result<()> {
        let message = parse(&self.path, metadata)?;
        let batch =
            message.header_as_dictionary_batch().ok_or_else(|| damaged(&self.path, "a dictionary is missing"))?;
        if let Some(data) = batch.data() {
            self.check_sizes(&data, body)?;
        }
        read_dictionary(body, batch, &self.schema, dictionaries, &message.version())
            .map_err(|error| arrow_error(&self.path, &error))
    }

    /// Checks the sizes that compressed buffers declare, as memory is allocated by them.
    fn check_sizes(&self, batch: &arrow_ipc::RecordBatch, body: &Buffer) -> Result<()> {
        let mut unpacked = 0_u64;
        for buffer in batch.buffers().iter().flatten() {
            let (start, len) = (buffer.offset(), buffer.length());
            let range = usize::try_from(start).ok().zip(usize::try_from(len).ok());
            let stored = range.and_then(|(start, len)| body.get(start..start.checked_add(len)?));
            let stored = stored.ok_or_else(|| damaged(&self.path, "a buffer lies outside of its message"))?;
            if let (Some(_), Some(&declared)) = (batch.compression(), stored.first_chunk()) {
                unpacked = unpacked.saturating_add(u64::try_from(i64::from_le_bytes(declared)).unwrap_or(0));
            }
        }
        if unpacked > most_unpacked(self.len()) {
            return Err(damaged(
                &self.path,
                format_args!("a record batch declares {unpacked} bytes when decompressed"),
            ));
        }
        if batch.length() < 0 {
            return Err(damaged(&self.path, "a record batch declares a negative number of rows"));
        }
        Ok(())
    }
}

type Dictionaries = HashMap<i64, ArrayRef>;

pub(super) struct ArrowBatches<'a> {
    file: &'a ArrowFile,
    columns: Vec<usize>,
    next: usize,
    dictionaries: Dictionaries,
    ready: VecDeque<RecordBatch>,
}

impl ArrowBatches<'_> {
    pub(super) fn next(&mut self, path: &Path) -> Result<Option<RecordBatch>> {
        while self.ready.is_empty() && self.next < self.file.messages.len() {
            self.fill(path)?;
        }
        Ok(self.ready.pop_front())
    }

    /// Decodes the next record batches, up to a dictionary, which those after it may need.
    fn fill(&mut self, path: &Path) -> Result<()> {
        let mut loaded = Vec::new();
        let mut bytes = 0;
        while let Some(&place) = self.file.messages.get(self.next)
            && bytes < BLOCK
        {
            let (metadata, body) = self.file.load(place)?;
            match parse(path, &metadata)?.header_type() {
                MessageHeader::RecordBatch => {
                    bytes += place.body as u64;
                    loaded.push((metadata, body));
                }
                MessageHeader::DictionaryBatch if loaded.is_empty() => {
                    self.file.add_dictionary(&metadata, &body, &mut self.dictionaries)?;
                }
                MessageHeader::DictionaryBatch => break,
                other => return Err(damaged(path, format_args!("unexpected message {other:?}"))),
            }
            self.next += 1;
        }
        let decode = |(metadata, body): &(bytes::Bytes, Buffer)| {
            self.file.decode(metadata, body, &self.columns, &self.dictionaries)
        };
        self.ready = loaded.par_iter().map(decode).collect::<Result<Vec<_>>>()?.into();
        Ok(())
    }
}

/// The message in its metadata, which begin with a marker and their length.
fn parse<'a>(path: &Path, metadata: &'a [u8]) -> Result<Message<'a>> {
    let start = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
    let metadata = metadata.get(start..).unwrap_or_default();
    root_as_message(metadata).map_err(|error| damaged(path, error))
}

/// The schema and the messages that the footer of a file lists.
fn footer(path: &Path, pieces: &Pieces) -> Result<(Schema, Vec<Place>)> {
    let cut_off = |error: std::io::Error| damaged(path, error);
    let end = pieces.len().checked_sub(10).filter(|&end| end >= FILE_START);
    let end = end.ok_or_else(|| damaged(path, "it has no footer"))?;
    let trailer = pieces.at(end, 10).map_err(cut_off)?;
    let (&[a, b, c, d, ..], MAGIC) = (&trailer[..], &trailer[4..]) else {
        return Err(damaged(path, "it has no footer"));
    };
    let len = i32::from_le_bytes([a, b, c, d]);
    let start = u64::try_from(len).ok().and_then(|len| end.checked_sub(len)).filter(|&start| start >= FILE_START);
    let start = start.ok_or_else(|| damaged(path, format_args!("its footer declares {len} bytes")))?;
    let bytes = pieces.at(start, (end - start) as usize).map_err(cut_off)?;
    let footer = root_as_footer(&bytes).map_err(|error| damaged(path, error))?;
    let schema = footer.schema().ok_or_else(|| damaged(path, "its footer has no schema"))?;
    let schema = try_fb_to_schema(schema).map_err(|error| arrow_error(path, &error))?;
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let messages =
        blocks.map(|block| Place::of(block).ok_or_else(|| damaged(path, "its footer names impossible places")));
    Ok((schema, messages.collect::<Result<_>>()?))
}

impl Place {
    fn of(block: &Block) -> Option<Self> {
        Some(Place {
            start: block.offset().try_into().ok()?,
            metadata: block.metaDataLength().try_into().ok()?,
            body: block.bodyLength().try_into().ok()?,
        })
    }
}

/// The schema and the messages of a stream.
fn stream(path: &Path, pieces: &Pieces) -> Result<(Schema, Vec<Place>)> {
    let (mut schema, mut messages, mut start) = (None, Vec::new(), 0);
    while start < pieces.len() {
        let Some((place, header)) = message_at(path, pieces, start)? else { break };
        match (header, &schema) {
            (Some(read), None) => schema = Some(read),
            (None, Some(_)) => messages.push(place),
            (Some(_), Some(_)) => return Err(damaged(path, "it has two schemas")),
            (None, None) => return Err(damaged(path, "it begins without a schema")),
        }
        start += place.metadata as u64 + place.body as u64;
    }
    Ok((schema.ok_or_else(|| damaged(path, "it has no schema"))?, messages))
}

/// The message of a stream that begins at `start`, and its schema if it is one. None at the end of the stream.
fn message_at(path: &Path, pieces: &Pieces, start: u64) -> Result<Option<(Place, Option<Schema>)>> {
    let cut_off = |error: std::io::Error| damaged(path, error);
    let number = |at: u64| -> Result<[u8; 4]> {
        let bytes = pieces.at(at, 4).map_err(cut_off)?;
        Ok([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let first = number(start)?;
    let (prefix, len) = if first == CONTINUATION { (8, number(start + 4)?) } else { (4, first) };
    let len = u32::from_le_bytes(len) as usize;
    if len == 0 {
        return Ok(None);
    }
    let metadata = pieces.at(start, prefix + len).map_err(cut_off)?;
    let message = parse(path, &metadata)?;
    if message.version() < MetadataVersion::V4 {
        return Err(damaged(path, "it was written by a version of Arrow before 0.8"));
    }
    let body = usize::try_from(message.bodyLength()).map_err(|_| damaged(path, "a message has a negative length"))?;
    let place = Place { start, metadata: prefix + len, body };
    if (start + (prefix + len) as u64).checked_add(body as u64).is_none_or(|end| end > pieces.len()) {
        return Err(damaged(path, "it ends within a message"));
    }
    let schema = message.header_as_schema().map(try_fb_to_schema).transpose();
    Ok(Some((place, schema.map_err(|error| arrow_error(path, &error))?)))
}
