//! safetensors files: named arrays and one JSON object of metadata, readable by any safetensors library.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::{Error, Place, Result};
use crate::files::{Bytes, Input, Output, little_endian};
use crate::linalg::Mat;

/// The metadata key of our JSON object, which is stored as a string, as safetensors requires.
const METADATA_KEY: &str = "sememe";

/// An array to write.
pub(crate) struct Tensor<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Data<'a>,
}

/// The numbers of an array, which need not be in memory at once.
enum Data<'a> {
    Bytes(Cow<'a, [u8]>),
    Pieces(Box<dyn Iterator<Item = &'a [f32]> + 'a>),
}

impl Data<'_> {
    fn write(self, mut write: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            Data::Bytes(bytes) => write(&bytes),
            Data::Pieces(mut pieces) => pieces.try_for_each(|piece| write(&little_endian(piece))),
        }
    }
}

impl<'a> Tensor<'a> {
    pub(crate) fn bytes(data: impl Into<Cow<'a, [u8]>>) -> Self {
        let data = data.into();
        Tensor { dtype: Dtype::U8, shape: vec![data.len()], data: Data::Bytes(data) }
    }

    pub(crate) fn f32s(values: &'a [f32], rows: usize, cols: usize) -> Self {
        Self::pieces(std::iter::once(values), rows, cols)
    }

    /// [`Tensor::f32s`] of consecutive pieces.
    pub(crate) fn pieces(pieces: impl Iterator<Item = &'a [f32]> + 'a, rows: usize, cols: usize) -> Self {
        Tensor { dtype: Dtype::F32, shape: vec![rows, cols], data: Data::Pieces(Box::new(pieces)) }
    }

    pub(crate) fn f64s(values: &[f64]) -> Self {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Tensor { dtype: Dtype::F64, shape: vec![values.len()], data: Data::Bytes(data) }
    }

    pub(crate) fn u64s(values: &[u64]) -> Self {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Tensor { dtype: Dtype::U64, shape: vec![values.len()], data: Data::Bytes(data) }
    }

    /// Number of its bytes.
    fn len(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bitsize() / 8
    }

    /// A matrix in row-major order.
    pub(crate) fn matrix(matrix: &Mat) -> Self {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        let values = (0..rows).flat_map(|row| (0..cols).map(move |col| matrix[(row, col)]));
        Tensor {
            dtype: Dtype::F64,
            shape: vec![rows, cols],
            data: Data::Bytes(values.flat_map(f64::to_le_bytes).collect()),
        }
    }
}

/// The contents of a file. The same contents always give the same bytes.
pub(crate) struct Contents<'a, M> {
    pub(crate) metadata: M,
    pub(crate) tensors: Vec<(String, Tensor<'a>)>,
}

impl<M: Serialize> Contents<'_, M> {
    pub(crate) fn write(mut self, path: &Path) -> Result<()> {
        let header = header(&self.metadata, &mut self.tensors);
        let mut output = Output::create(path)?;
        output.write_all(&header)?;
        self.tensors.into_iter().try_for_each(|(_, tensor)| tensor.data.write(|bytes| output.write_all(bytes)))?;
        output.finish()
    }

    /// The bytes that [`Contents::write`] writes to a file.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        let mut bytes = header(&self.metadata, &mut self.tensors);
        for (_, tensor) in self.tensors {
            let added = tensor.data.write(|data| {
                bytes.extend_from_slice(data);
                Ok(())
            });
            added.expect("memory is written to");
        }
        bytes
    }
}

/// Sorts the arrays and returns the header that precedes them.
fn header(metadata: &impl Serialize, tensors: &mut [(String, Tensor)]) -> Vec<u8> {
    // Widest types first, so that all arrays are aligned.
    tensors.sort_by(|(name, a), (other, b)| b.dtype.cmp(&a.dtype).then(name.cmp(other)));
    let metadata = serde_json::to_string(metadata).expect("metadata are plain data");
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!({ METADATA_KEY: metadata }));
    let mut start = 0;
    for (name, tensor) in tensors.iter() {
        let end = start + tensor.len();
        let entry = json!({ "dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [start, end] });
        header.insert(name.clone(), entry);
        start = end;
    }
    framed(Value::Object(header).to_string())
}

/// A header with its length before it, padded so that numbers are aligned.
fn framed(mut header: String) -> Vec<u8> {
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
}

/// The header of a file with the array `vectors` alone, whose numbers follow.
pub(crate) fn vectors_header(is_half: bool, (rows, cols): (usize, usize)) -> Vec<u8> {
    let (dtype, size) = if is_half { (Dtype::F16, 2) } else { (Dtype::F32, 4) };
    let entry = json!({ "dtype": dtype, "shape": [rows, cols], "data_offsets": [0, rows * cols * size] });
    framed(json!({ "vectors": entry }).to_string())
}

/// The longest header that the safetensors crate reads.
const LONGEST_HEADER: u64 = 100_000_000;

/// The length of the header, if `head` is the beginning of a safetensors file.
fn header_len(head: &[u8]) -> Option<usize> {
    let (len, rest) = head.split_first_chunk()?;
    let len = u64::from_le_bytes(*len);
    // Limits how much is read: a compressed file may expand beyond the available memory.
    if rest.first() == Some(&b'{') && len <= LONGEST_HEADER { usize::try_from(len).ok() } else { None }
}

/// The kind of file in our metadata, from the header alone: arrays are neither read nor decompressed. `None` for files
/// without our metadata.
pub(crate) fn kind(input: &Input) -> Result<Option<String>> {
    let Some(len) = header_len(&input.head(9)?) else { return Ok(None) };
    let head = input.head(8 + len)?;
    let header = serde_json::from_slice::<safetensors::tensor::Metadata>(&head[8..]);
    let metadata = header.ok().and_then(|header| header.metadata().as_ref()?.get(METADATA_KEY).cloned());
    Ok(metadata.as_deref().and_then(kind_in))
}

fn kind_in(metadata: &str) -> Option<String> {
    let value = serde_json::from_str::<Value>(metadata).ok()?;
    value.get("kind").and_then(Value::as_str).map(str::to_owned)
}

/// Returns an error for arrays that lie outside the file, before the safetensors crate adds up their sizes, which could
/// overflow.
fn check_offsets(path: &Path, bytes: &[u8]) -> Result<()> {
    let header_len = bytes.first_chunk().map_or(0, |len| u64::from_le_bytes(*len));
    let header_end = usize::try_from(header_len).ok().and_then(|len| len.checked_add(8));
    let header = header_end.and_then(|end| bytes.get(8..end)).unwrap_or_default();
    // The safetensors crate reports invalid headers.
    let Ok(header) = serde_json::from_slice::<safetensors::tensor::Metadata>(header) else { return Ok(()) };
    let outside = header.tensors().into_iter().filter(|(_, info)| info.data_offsets.1 > bytes.len());
    match outside.min_by_key(|(_, info)| info.data_offsets) {
        None => Ok(()),
        Some((name, _)) => {
            let problem = format!("ends before its array {name:?} does: the file is cut off, fetch it again");
            Err(Error::malformed(path, Place::Byte(bytes.len() as u64), problem))
        }
    }
}

struct Location {
    dtype: Dtype,
    shape: Vec<usize>,
    start: usize,
    len: usize,
}

/// An open safetensors file.
pub(crate) struct TensorFile {
    path: PathBuf,
    bytes: Bytes,
    locations: HashMap<String, Location>,
    metadata: Option<String>,
}

impl TensorFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::read(&Input::open(path)?)
    }

    /// Memory-maps the file; see [`Input::open_with`].
    pub(crate) fn map(path: &Path) -> Result<Self> {
        Self::read(&Input::open_with(path, true)?)
    }

    pub(crate) fn read(input: &Input) -> Result<Self> {
        let path = input.path().to_owned();
        if input.is_compressed() && header_len(&input.head(9)?).is_none() {
            return Err(Error::malformed(&path, Place::Whole, "is no safetensors file"));
        }
        let bytes = input.bytes()?;
        let damaged = |e: safetensors::SafeTensorError| {
            Error::malformed(&path, Place::Whole, format!("is not a whole safetensors file ({e}): fetch it again"))
        };
        check_offsets(&path, &bytes)?;
        let (header_len, header) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
        let locations = header.tensors().into_iter().map(|(name, info)| {
            let (start, end) = info.data_offsets;
            let location = Location {
                dtype: info.dtype,
                shape: info.shape.clone(),
                start: 8 + header_len + start,
                len: end - start,
            };
            (name, location)
        });
        let locations = locations.collect();
        let metadata = header.metadata().as_ref().and_then(|all| all.get(METADATA_KEY)).cloned();
        Ok(TensorFile { path, bytes, locations, metadata })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole content of the file.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes
    }

    /// Our metadata; an error unless the file is of this kind and version.
    pub(crate) fn metadata<T: DeserializeOwned>(&self, kind: &str, version: u64) -> Result<T> {
        let text = self.metadata.as_deref().ok_or_else(|| self.error(format!("is no {kind} written by sememe")))?;
        let value: Value =
            serde_json::from_str(text).map_err(|e| self.error(format!("has damaged sememe metadata ({e})")))?;
        let found = value.get("kind").and_then(Value::as_str).unwrap_or("file of another kind");
        if found != kind {
            return Err(self.error(format!("is a {found}, not a {kind}")));
        }
        let found = value.get("version").and_then(Value::as_u64);
        if found != Some(version) {
            let found = found.map_or("unknown".to_owned(), |v| v.to_string());
            return Err(self.error(format!(
                "is a {kind} of format version {found}; this sememe reads version {version}: fit it again"
            )));
        }
        serde_json::from_value(value).map_err(|e| self.error(format!("has incomplete {kind} metadata ({e})")))
    }

    /// Whether our metadata say that the file is of this kind, in any version.
    pub(crate) fn is_of_kind(&self, kind: &str) -> bool {
        self.metadata.as_deref().and_then(kind_in).is_some_and(|found| found == kind)
    }

    /// Names and shapes of the arrays, sorted by name.
    pub(crate) fn shapes(&self) -> Vec<(&str, &[usize])> {
        let mut shapes: Vec<_> = self.locations.iter().map(|(name, at)| (name.as_str(), &at.shape[..])).collect();
        shapes.sort();
        shapes
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.locations.contains_key(name)
    }

    /// Data type, shape, file content and byte offset of an array.
    pub(crate) fn locate(&self, name: &str) -> Result<(Dtype, &[usize], Bytes, usize)> {
        let at = self.locations.get(name).ok_or_else(|| self.error(format!("has no array {name:?}")))?;
        Ok((at.dtype, &at.shape, self.bytes.clone(), at.start))
    }

    pub(crate) fn bytes(&self, name: &str) -> Result<&[u8]> {
        self.data(name, Dtype::U8)
    }

    pub(crate) fn u64s(&self, name: &str) -> Result<Vec<u64>> {
        let data = self.data(name, Dtype::U64)?;
        Ok(data.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect())
    }

    /// A vector of `len` finite numbers.
    pub(crate) fn f64s(&self, name: &str, len: usize) -> Result<Vec<f64>> {
        let data = self.data(name, Dtype::F64)?;
        let values: Vec<f64> =
            data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes"))).collect();
        if values.len() != len {
            return Err(self.error(format!("the array {name:?} has {} numbers where {len} are needed", values.len())));
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err(self.error(format!("the array {name:?} contains NaN or infinity")));
        }
        Ok(values)
    }

    /// The numbers of a `rows` x `cols` matrix of f32, row-major and finite.
    pub(crate) fn f32s(&self, name: &str, rows: usize, cols: usize) -> Result<Vec<f32>> {
        let data = self.data(name, Dtype::F32)?;
        self.check_shape(name, rows, cols)?;
        let values = data.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")));
        let values: Vec<f32> = values.collect();
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(self.error(format!("the array {name:?} contains NaN or infinity"))),
        }
    }

    /// A `rows` x `cols` matrix of finite numbers.
    pub(crate) fn matrix(&self, name: &str, rows: usize, cols: usize) -> Result<Mat> {
        self.check_shape(name, rows, cols)?;
        let values = self.f64s(name, rows.saturating_mul(cols))?;
        Ok(Mat::from_fn(rows, cols, |row, col| values[row * cols + col]))
    }

    fn check_shape(&self, name: &str, rows: usize, cols: usize) -> Result<()> {
        let (_, shape, ..) = self.locate(name)?;
        // An empty dimension takes no storage, whatever the other one is: iterating over 2^60 empty rows would not end.
        if shape == [rows, cols] && !shape.contains(&0) {
            return Ok(());
        }
        let needed = format!("rows and columns are needed, {rows} x {cols} here");
        Err(self.error(format!("the array {name:?} is of shape {shape:?}; {needed}")))
    }

    fn data(&self, name: &str, dtype: Dtype) -> Result<&[u8]> {
        let at = self.locations.get(name).ok_or_else(|| self.error(format!("has no array {name:?}")))?;
        if at.dtype != dtype {
            return Err(self.error(format!("the array {name:?} is of type {:?}, not {dtype:?}", at.dtype)));
        }
        Ok(&self.bytes[at.start..at.start + at.len])
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        Error::malformed(&self.path, Place::Whole, problem)
    }
}
