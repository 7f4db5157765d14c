//! How many blocks of threads a kernel is launched with.

use cudarc::driver::LaunchConfig;

use super::{Cuda, THREADS};
use crate::card::Fault;
use crate::{COLUMNS_OF_TILE, ROWS_OF_TILE};

/// Tiles of columns that a block of threads multiplies at least, and columns that it can count.
const LEAST_TILES: usize = 8;
const MOST_COLUMNS: usize = 1 << 23;

impl Cuda {
    /// A grid over tiles of rows and parts of the columns that keeps all multiprocessors busy until the end.
    pub(super) fn tiles(&self, rows: usize, column_tiles: usize, padded: usize) -> Result<LaunchConfig, Fault> {
        let row_tiles = rows.div_ceil(ROWS_OF_TILE);
        let wanted = (8 * self.shared.multiprocessors).div_ceil(row_tiles);
        let countable = (column_tiles * COLUMNS_OF_TILE).div_ceil(MOST_COLUMNS);
        let parts = wanted.min(column_tiles.div_ceil(LEAST_TILES)).max(countable).clamp(1, 65_535);
        let layout = self.layout(padded).map_err(|error| Fault::Driver(error.to_string()))?;
        Ok(LaunchConfig {
            grid_dim: (row_tiles as u32, parts as u32, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: layout.bytes() as u32,
        })
    }
}

/// A grid with a thread for each of `count` items, or a warp.
pub(super) fn grid_of(count: usize, items_per_block: u32, threads: u32, shared: usize) -> LaunchConfig {
    let blocks = count.div_ceil(items_per_block as usize).max(1) as u32;
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: shared as u32 }
}
