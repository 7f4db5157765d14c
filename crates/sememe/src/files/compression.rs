//! Detection of compression, and decompression. All formats but gzip need a Cargo feature each, because their libraries
//! are written in C.

use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::error::{Error, Place, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    /// Detects the compression of a file from its first bytes.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// Decompresses `raw`, the content of the file at `path`.
    pub(super) fn reader<'a>(self, path: &Path, raw: impl BufRead + 'a) -> Result<Box<dyn Read + 'a>> {
        match self {
            Compression::Gzip => Ok(Box::new(flate2::bufread::MultiGzDecoder::new(raw))),
            #[cfg(feature = "xz")]
            Compression::Xz => {
                use liblzma::{bufread::XzDecoder, stream};
                let stream = stream::Stream::new_stream_decoder(XZ_MEMORY, stream::CONCATENATED);
                let stream = stream.map_err(|e| decompression_error(path, e.into()))?;
                Ok(Box::new(XzDecoder::new_stream(raw, stream)))
            }
            #[cfg(not(feature = "xz"))]
            Compression::Xz => Err(Error::missing_feature(path, "compressed with xz", "xz")),
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                Ok(Box::new(zstd::Decoder::with_buffer(raw).map_err(|e| decompression_error(path, e))?))
            }
            #[cfg(not(feature = "zstd"))]
            Compression::Zstd => Err(Error::missing_feature(path, "compressed with zstd", "zstd")),
        }
    }
}

/// Memory limit for decompressing xz: `xz -9` needs 65 MiB, a damaged header may ask for 4 GiB.
#[cfg(feature = "xz")]
const XZ_MEMORY: u64 = 512 << 20;

pub(super) fn decompression_error(path: &Path, error: io::Error) -> Error {
    let problem = format!("cannot be decompressed ({error}); the file may be cut off: fetch it again");
    Error::malformed(path, Place::Whole, problem)
}
