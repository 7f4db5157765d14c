//! Durable writes (fsync): the content of a file reaches the disk before its name does.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until the content of a file is on disk. Delayed write errors, such as a full disk, are reported here.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    #[cfg(test)]
    tests::fail_if("file")?;
    if_supported(file.sync_all())
}

/// Waits until the file names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(test)]
    tests::fail_if("folder")?;
    // Only Unix can open folders as files. A folder that cannot be read may still be writable.
    match cfg!(unix).then(|| File::open(folder)) {
        Some(Ok(folder)) => if_supported(folder.sync_all()),
        Some(Err(_)) | None => Ok(()),
    }
}

/// Ignores errors of file systems that do not support fsync, mostly network file systems.
fn if_supported(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
pub(super) use self::tests::failing;

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;

    thread_local! {
        static FAILING: Cell<&'static str> = const { Cell::new("") };
    }

    /// Runs `work` with simulated fsync failures of files or folders.
    pub(in crate::files) fn failing<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
        FAILING.set(what);
        let result = work();
        FAILING.set("");
        result
    }

    pub(super) fn fail_if(what: &str) -> io::Result<()> {
        if FAILING.get() == what { Err(io::Error::other("a disk that fails")) } else { Ok(()) }
    }
}
