//! Search results as NumPy arrays.

use std::iter::repeat;
use std::path::{Path, PathBuf};

use super::Hit;
use crate::error::Result;
use crate::vectors::npy::write_array;

/// The files that [`write_hits`] creates: `OUT.ids.npy` and `OUT.scores.npy`.
pub fn hits_files(output: &Path) -> [PathBuf; 2] {
    ["ids.npy", "scores.npy"].map(|ending| {
        let mut name = output.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        name.into()
    })
}

/// Index and score where a query has fewer than `k` hits.
const PADDING: (i64, f32) = (-1, f32::NAN);

/// Row indices and scores of the hits, `k` per query. Queries with fewer hits, such as zero queries, which have none,
/// are padded with index -1 and score NaN.
pub fn hits_arrays(hits: &[Vec<Hit>], k: usize) -> (Vec<i64>, Vec<f32>) {
    let of_hit = |hit: &Hit| (hit.index as i64, hit.score);
    let of_query = |hits: &Vec<Hit>| hits.iter().map(of_hit).chain(repeat(PADDING)).take(k).collect::<Vec<_>>();
    hits.iter().flat_map(of_query).unzip()
}

/// Writes the row indices (int64) and scores (float32) of the hits, `k` columns and one row per query, padded as
/// in [`hits_arrays`].
pub fn write_hits(hits: &[Vec<Hit>], k: usize, output: &Path) -> Result<()> {
    let (shape, [ids, scores]) = ((hits.len(), k), hits_files(output));
    let (rows, values) = hits_arrays(hits, k);
    write_array(&ids, "<i8", shape, &rows.into_iter().flat_map(i64::to_le_bytes).collect::<Vec<u8>>())?;
    write_array(&scores, "<f4", shape, &values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}
