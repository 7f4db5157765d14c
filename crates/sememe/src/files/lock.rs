//! Advisory locks of files. The operating system releases them when the process ends, however it ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The outcome of [`try_lock`].
pub(crate) enum Lock {
    /// The lock is held until the file is dropped.
    Held(File),
    /// Another process or another part of this one holds it.
    Busy,
    /// The file system has no locks.
    Unsupported,
}

/// Tries to lock an existing file exclusively, without waiting.
pub(crate) fn try_lock(path: &Path) -> io::Result<Lock> {
    // Some network file systems lock only files that are open for writing.
    let file = match File::options().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path)?,
        other => other?,
    };
    Ok(match file.try_lock() {
        Ok(()) => Lock::Held(file),
        Err(TryLockError::WouldBlock) => Lock::Busy,
        Err(TryLockError::Error(_)) => Lock::Unsupported,
    })
}
