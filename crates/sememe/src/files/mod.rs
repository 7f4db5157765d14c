//! Input files, read, memory-mapped or decompressed, and output files, written beside their final name and renamed into
//! place.

mod bytes;
mod compression;
mod durable;
mod hash;
mod input;
mod lock;
mod mapped;
mod output;
#[cfg(feature = "parquet")]
mod pieces;
mod spill;
mod temporary;

pub(crate) use self::bytes::{Bytes, little_endian};
pub(crate) use self::hash::{sampled_hash, sampled_hash_of_file};
pub(crate) use self::input::BYTE_ORDER_MARK;
#[cfg(feature = "parquet")]
pub(crate) use self::input::most_unpacked;
pub use self::input::{Input, check_readable};
pub(crate) use self::lock::{Lock, try_lock};
pub use self::mapped::{mapped_file_at, track_mapped_files};
pub(crate) use self::output::Output;
pub use self::output::{OutputFolder, check_writable, is_standard_output, remove_unfinished, write};
#[cfg(feature = "parquet")]
pub(crate) use self::pieces::{PieceReader, Pieces};
pub(crate) use self::spill::Spilled;
pub(crate) use self::temporary::is_temporary;
