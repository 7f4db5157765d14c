//! What was found, as arrays for other programs.

use std::path::{Path, PathBuf};

use super::Hit;
use crate::error::Result;
use crate::vectors::npy::write_array;

/// The files that [`write_hits`] makes for a name: `OUT.ids.npy` and `OUT.scores.npy`.
pub fn hits_files(output: &Path) -> [PathBuf; 2] {
    ["ids.npy", "scores.npy"].map(|ending| {
        let mut name = output.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        name.into()
    })
}

/// Writes the rows of the targets (int64) and their scores (float32), a row for each query. All queries must have
/// found the same number.
pub fn write_hits(hits: &[Vec<Hit>], output: &Path) -> Result<()> {
    let shape = (hits.len(), hits.first().map_or(0, Vec::len));
    assert!(hits.iter().all(|hits| hits.len() == shape.1), "as many for every query");
    let [ids, scores] = hits_files(output);
    let all = || hits.iter().flatten();
    let bytes: Vec<u8> = all().flat_map(|hit| (hit.index as i64).to_le_bytes()).collect();
    write_array(&ids, "<i8", shape, &bytes)?;
    let bytes: Vec<u8> = all().flat_map(|hit| hit.score.to_le_bytes()).collect();
    write_array(&scores, "<f4", shape, &bytes)
}
