//! What makes files outlast a crash: their content is on disk before they have their name, and then the name is.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until the content of a file is on disk. Errors that writing could not notice, such as a full disk, show here.
pub(super) fn sync_file(file: &File) -> io::Result<()> {
    #[cfg(test)]
    tests::fail_if("file")?;
    if_supported(file.sync_all())
}

/// Waits until the names in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(test)]
    tests::fail_if("folder")?;
    // Elsewhere folders cannot be opened as files are. A folder that may not be read may still be written to.
    match cfg!(unix).then(|| File::open(folder)) {
        Some(Ok(folder)) => if_supported(folder.sync_all()),
        Some(Err(_)) | None => Ok(()),
    }
}

/// Some file systems, mostly of networks, cannot be asked.
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

    /// Runs `work` on a disk that fails when a file or a folder is synchronised.
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
