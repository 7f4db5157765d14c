//! Output files and folders: they are written beside their final name and renamed when they are complete (atomic
//! writes).

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::durable;
use super::input::Input;
use super::temporary::{
    Aside, TemporaryFolder, behind_links, parent_folder, remove_own, temporary_file, temporary_folder,
};
use crate::error::{Error, Place, Result};

/// A file that appears under its name only when it is complete. Pipes and devices are written to directly.
pub(crate) struct Output {
    /// The path that the caller gave, for messages.
    path: PathBuf,
    writer: BufWriter<Sink>,
}

enum Sink {
    /// A temporary file that will replace `target`.
    Beside { temporary: NamedTempFile, target: PathBuf },
    /// A pipe, a device or standard output.
    Stream(Box<dyn Write + Send>),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // Writes to the file itself, because the errors of `NamedTempFile` mention its temporary name.
            Sink::Beside { temporary, .. } => temporary.as_file_mut().write(bytes),
            Sink::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Beside { temporary, .. } => temporary.as_file_mut().flush(),
            Sink::Stream(stream) => stream.flush(),
        }
    }
}

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let sink = match Target::of(path)? {
            Target::Stream if is_standard_output(path) => Sink::Stream(Box::new(io::stdout())),
            Target::Stream => {
                let stream = File::options().write(true).open(path).map_err(|e| Error::write(path, e))?;
                Sink::Stream(Box::new(stream))
            }
            Target::File(target) => Sink::Beside { temporary: temporary_file(path, &target)?, target },
        };
        Ok(Output { path: path.to_owned(), writer: BufWriter::with_capacity(1 << 20, sink) })
    }

    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(|e| Error::write(&self.path, e))
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.complete(true)
    }

    /// Completes a file that can be made again, and does not wait for the disk. It outlives this process, but after a
    /// power failure its content may be missing.
    pub(crate) fn finish_in_cache(self) -> Result<()> {
        self.complete(false)
    }

    fn complete(self, is_durable: bool) -> Result<()> {
        let Output { path, writer } = self;
        let failed = |e| Error::write(&path, e);
        match writer.into_inner().map_err(|e| failed(e.into_error()))? {
            Sink::Beside { temporary, target } => {
                if is_durable {
                    durable::sync_file(temporary.as_file()).map_err(failed)?;
                }
                temporary.persist(&target).map_err(|e| failed(e.error))?;
                match is_durable {
                    true => durable::sync_folder(parent_folder(&target)).map_err(failed),
                    false => Ok(()),
                }
            }
            Sink::Stream(mut stream) => stream.flush().map_err(failed),
        }
    }
}

/// For encoders that write by themselves. Their errors are of the system, without the path.
#[cfg(feature = "parquet")]
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Writes a whole file. It appears under its name only when it is complete.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(bytes)?;
    output.finish()
}

/// The destination of an output file.
enum Target {
    /// A file with this name, with symbolic links resolved.
    File(PathBuf),
    /// A pipe or a device.
    Stream,
}

impl Target {
    fn of(path: &Path) -> Result<Self> {
        if is_standard_output(path) {
            return Ok(Target::Stream);
        }
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => {
                Err(Error::malformed(path, Place::Whole, "is a directory; name a file to write"))
            }
            Ok(about) if !about.is_file() => Ok(Target::Stream),
            _ if path.file_name().is_none() => Err(Error::malformed(path, Place::Whole, "is no name of a file")),
            _ => Ok(Target::File(behind_links(path)?)),
        }
    }
}

/// Checks that a file can be written here. Call it before long computations. It leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<()> {
    match Target::of(path)? {
        Target::File(target) => temporary_file(path, &target).map(drop),
        // Opening a pipe would block until it has a reader.
        Target::Stream => Ok(()),
    }
}

/// Whether this path is standard output. It is written through the open stream: opening it by name would overwrite a
/// redirected file from its beginning.
pub fn is_standard_output(path: &Path) -> bool {
    path == Path::new("/dev/stdout")
}

/// A folder that appears under its name only when it is complete.
pub struct OutputFolder {
    /// The path that the caller gave, for messages.
    path: PathBuf,
    /// The final path: `path` with symbolic links resolved.
    target: PathBuf,
    temporary: TemporaryFolder,
}

impl OutputFolder {
    /// Creates a temporary folder beside the final path. It is deleted if dropped before [`OutputFolder::finish`], so
    /// creating it also checks that the path is writable.
    pub fn create(path: &Path) -> Result<Self> {
        let target = behind_links(path)?;
        if target.file_name().is_none() || is_current_folder(&target) || is_mount_point(&target) {
            let inside = path.join("new");
            let problem = format!(
                "is a folder that cannot be replaced (the current one or a mount point); \
                 name one inside it, such as {}",
                inside.display()
            );
            return Err(Error::malformed(path, Place::Whole, problem));
        }
        let temporary = temporary_folder(path, &target)?;
        Ok(OutputFolder { path: path.to_owned(), target, temporary })
    }

    /// The temporary folder to write files to.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Replaces the temporary path in an error by the final path.
    pub(crate) fn with_final_name(&self, error: Error) -> Error {
        match error {
            Error::Write { path, source } => {
                let path = path.strip_prefix(self.path()).map(|file| self.path.join(file)).unwrap_or(path);
                Error::Write { path, source }
            }
            other => other,
        }
    }

    /// Copies a file from another folder, under the same name.
    pub(crate) fn copy(&self, from: &Path) -> Result<()> {
        let to = self.path().join(from.file_name().unwrap_or_default());
        let input = Input::open(from)?;
        let mut stored = input.stored()?;
        let mut copy = || {
            let mut output = Output::create(&to)?;
            loop {
                let block = stored.fill_buf().map_err(|e| Error::read(from, e))?;
                if block.is_empty() {
                    return output.finish();
                }
                output.write_all(block)?;
                let len = block.len();
                stored.consume(len);
            }
        };
        copy().map_err(|error| self.with_final_name(error))
    }

    /// Renames the folder to its final path. An existing folder is moved aside first, so that other processes cannot
    /// change it, and `may_replace` is called with its new path. If that returns an error or the new folder cannot be
    /// renamed, the old folder is restored. Otherwise it is deleted last.
    pub fn finish<E: From<Error>>(
        self,
        may_replace: impl FnOnce(&Path) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let OutputFolder { path, target, temporary } = self;
        let failed = |e| Error::write(&path, e);
        durable::sync_folder(temporary.path()).map_err(failed)?;
        let mut aside = None;
        // If the target is no folder, renaming fails below.
        if target.is_dir() {
            let moved = Aside::take(&target).map_err(failed)?;
            if let Err(refusal) = may_replace(&moved.path()) {
                moved.put_back(&target).map_err(failed)?;
                return Err(refusal);
            }
            aside = Some(moved);
        }
        if let Err(error) = fs::rename(temporary.path(), &target) {
            aside.map_or(Ok(()), |moved| moved.put_back(&target)).map_err(failed)?;
            return Err(failed(error).into());
        }
        let _is_elsewhere_now = temporary.keep();
        Ok(durable::sync_folder(parent_folder(&target)).map_err(failed)?)
    }
}

/// Removes unfinished outputs of this process at `path` or in the folder there. Call it before the process exits
/// without unwinding, for instance on Ctrl-C, because destructors do not run then. A folder that was about to be
/// replaced is restored.
pub fn remove_unfinished(path: &Path) {
    if let Ok(target) = behind_links(path) {
        remove_own(&target);
    }
}

fn is_current_folder(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(".").is_ok_and(|current| path == current))
}

/// Whether a path is a mount point, which can be neither renamed nor replaced.
fn is_mount_point(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let device = |path: &Path| fs::metadata(path).ok().map(|about| about.dev());
        let (own, parent) = (device(path), device(parent_folder(path)));
        own.is_some() && parent.is_some() && own != parent
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

#[cfg(test)]
mod tests;
