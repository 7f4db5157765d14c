//! NumPy's arrays as bodies of requests.

use sememe::files::Input;
use sememe::vectors::{Format, MAX_DIMENSION, Matrix, ReadOptions, read_matrix_input};

use crate::http::Problem;

/// How every array begins. What begins otherwise might be compressed, and any number of times larger than it looks.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Reads an array of any type that the library reads.
pub(crate) fn read(bytes: &[u8]) -> Result<Matrix, Problem> {
    let bad = |message: &str| Problem::bad("bad_array", message);
    if !bytes.starts_with(MAGIC) {
        return Err(bad("the body does not begin like a .npy file; write it by numpy.save"));
    }
    let options = ReadOptions::default().with_format(Some(Format::Npy));
    let read = || read_matrix_input(&Input::from_bytes("the body", bytes.to_vec())?, &options, &());
    let matrix = read().map_err(|error| bad(&error.to_string()))?;
    let is_usable = matrix.cols() <= MAX_DIMENSION && matrix.as_slice().iter().all(|x| x.abs() < 1e30);
    if is_usable { Ok(matrix) } else { Err(bad("the array has too many columns, or numbers that are too large")) }
}
