//! Output files and folders: they are written beside their final name and renamed when they are complete (atomic
//! writes).

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use super::durable;
use super::input::Input;
use super::temporary::{
    REPLACED, UNFINISHED, behind_links, own_temporaries, own_temporaries_in, parent_folder, temporary_file,
    temporary_folder,
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
    Stream(Box<dyn Write>),
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
        let Output { path, writer } = self;
        let failed = |e| Error::write(&path, e);
        match writer.into_inner().map_err(|e| failed(e.into_error()))? {
            Sink::Beside { temporary, target } => {
                durable::sync_file(temporary.as_file()).map_err(failed)?;
                temporary.persist(&target).map_err(|e| failed(e.error))?;
                durable::sync_folder(parent_folder(&target)).map_err(failed)
            }
            Sink::Stream(mut stream) => stream.flush().map_err(failed),
        }
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
    temporary: TempDir,
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
        let temporary = temporary_folder(path, &target, UNFINISHED)?;
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
        write(&to, Input::open(from)?.stored()).map_err(|error| self.with_final_name(error))
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
            let folder = temporary_folder(&path, &target, REPLACED)?;
            let old = folder.path().join(OLD);
            fs::rename(&target, &old).map_err(failed)?;
            if let Err(refusal) = may_replace(&old) {
                put_back(folder, &target).map_err(failed)?;
                return Err(refusal);
            }
            aside = Some(folder);
        }
        if let Err(error) = fs::rename(temporary.path(), &target) {
            aside.map_or(Ok(()), |folder| put_back(folder, &target)).map_err(failed)?;
            return Err(failed(error).into());
        }
        let _is_elsewhere_now = temporary.keep();
        Ok(durable::sync_folder(parent_folder(&target)).map_err(failed)?)
    }
}

/// Name of a replaced folder inside its temporary folder.
const OLD: &str = "old";

/// Restores the old folder. If that fails, the folder stays where it is and the error names its path.
fn put_back(aside: TempDir, target: &Path) -> io::Result<()> {
    fs::rename(aside.path().join(OLD), target).map_err(|error| {
        let kept = aside.keep().join(OLD);
        io::Error::new(error.kind(), format!("{error}; what was there before is now in {}", kept.display()))
    })
}

/// Removes unfinished outputs of this process at `path` or in the folder there. Call it before the process exits
/// without unwinding, for instance on Ctrl-C, because destructors do not run then. A folder that was about to be
/// replaced is restored.
pub fn remove_unfinished(path: &Path) {
    let Ok(target) = behind_links(path) else { return };
    for unfinished in own_temporaries(&target, UNFINISHED).into_iter().chain(own_temporaries_in(&target)) {
        // Another thread may still be writing: a new file makes the removal fail, so it is tried again.
        let is_removed = || fs::remove_file(&unfinished).is_ok() || fs::remove_dir_all(&unfinished).is_ok();
        let _ = (0..5).any(|_| is_removed());
    }
    for replaced in own_temporaries(&target, REPLACED) {
        // Fails if the new folder is in place; then the old one is not needed any more.
        let _ = fs::rename(replaced.join(OLD), &target);
        if target.exists() {
            let _ = fs::remove_dir_all(&replaced);
        }
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
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Allows any folder to be replaced.
    fn anything(_: &Path) -> Result<()> {
        Ok(())
    }

    /// An existing folder `space` with one file, and a new folder that will replace it.
    fn old_and_new(folder: &Path) -> (PathBuf, OutputFolder) {
        let space = folder.join("space");
        fs::create_dir(&space).unwrap();
        fs::write(space.join("old"), "").unwrap();
        let new = OutputFolder::create(&space).unwrap();
        write(&new.path().join("new"), b"x").unwrap();
        (space, new)
    }

    #[test]
    fn a_folder_is_replaced_only_if_it_may_be_when_it_is_out_of_reach() {
        let folder = tempfile::tempdir().unwrap();
        let (space, new) = old_and_new(folder.path());
        // Another process adds a file after all earlier checks.
        fs::write(space.join("late"), "keep").unwrap();
        let refused = new.finish(|old| {
            assert!(old != space && !space.exists(), "nobody finds the folder by its name any more");
            match names(old).contains(&"late".to_owned()) {
                true => Err(Error::malformed(&space, Place::Whole, "is not replaced")),
                false => Ok(()),
            }
        });
        assert!(refused.unwrap_err().to_string().contains("is not replaced"));
        let mut left = names(&space);
        left.sort();
        assert_eq!(left, ["late", "old"], "it is put back");
        assert_eq!(names(folder.path()), ["space"], "nothing else is left");
    }

    #[test]
    fn a_file_that_came_meanwhile_is_not_replaced_by_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let space = folder.path().join("space");
        let new = OutputFolder::create(&space).unwrap();
        fs::write(&space, "keep").unwrap();
        assert!(matches!(new.finish(anything), Err(Error::Write { .. })));
        assert_eq!((fs::read(&space).unwrap(), names(folder.path()).len()), (b"keep".to_vec(), 1));
    }

    #[test]
    fn content_is_on_disk_before_it_has_its_name_and_then_the_name_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.vec");
        write(&file, b"old").unwrap();
        let error = durable::failing("file", || write(&file, b"new")).unwrap_err();
        assert!(matches!(error, Error::Write { path, .. } if path == file));
        assert_eq!((fs::read(&file).unwrap(), names(folder.path()).len()), (b"old".to_vec(), 1));
        assert!(durable::failing("folder", || write(&file, b"new")).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"new");

        let (space, new) = old_and_new(folder.path());
        assert!(durable::failing("folder", || new.finish(anything)).is_err());
        assert_eq!(names(&space), ["old"]);
        let copying = OutputFolder::create(&space).unwrap();
        assert!(durable::failing("file", || copying.copy(&file)).is_err());
        copying.copy(&file).unwrap();
        copying.finish(anything).unwrap();
        assert_eq!(names(&space), ["a.vec"]);
    }

    #[test]
    fn unfinished_output_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::create(&folder.path().join("a.vec")).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        drop(OutputFolder::create(&folder.path().join("space")).unwrap());
        check_writable(&folder.path().join("a.vec")).unwrap();
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_a_process_did_not_finish_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, space) = (folder.path().join("a.vec"), folder.path().join("space"));
        fs::write(folder.path().join(".a.vec.sememe-0-other"), "of another process").unwrap();
        let output = Output::create(&file).unwrap();
        let unfinished = OutputFolder::create(&space).unwrap();
        write(&unfinished.path().join("en.safetensors"), b"x").unwrap();
        // The intermediate state while a folder is replaced.
        let replaced = temporary_folder(&space, &space, REPLACED).unwrap();
        fs::create_dir(replaced.path().join(OLD)).unwrap();
        fs::write(replaced.path().join(OLD).join("kept"), "").unwrap();
        assert_eq!(names(folder.path()).len(), 4);

        remove_unfinished(&file);
        remove_unfinished(&space);
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, [".a.vec.sememe-0-other", "space"]);
        assert_eq!(names(&space), ["kept"]);
        assert!(output.finish().is_err() && unfinished.finish(anything).is_err());
        assert_eq!(names(&space), ["kept"], "a folder that cannot be replaced is put back");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("elsewhere")).unwrap();
        symlink("elsewhere/new.vec", at("link.vec")).unwrap();
        symlink("link.vec", at("link-to-link.vec")).unwrap();
        for bytes in [&b"not there yet"[..], b"there already"] {
            write(&at("link-to-link.vec"), bytes).unwrap();
            assert_eq!(fs::read(at("elsewhere/new.vec")).unwrap(), bytes);
        }
        symlink("elsewhere/space", at("space")).unwrap();
        for _ in 0..2 {
            let output = OutputFolder::create(&folder.path().join("space/")).unwrap();
            write(&output.path().join("a"), b"x").unwrap();
            output.finish(anything).unwrap();
            assert_eq!(names(&at("elsewhere/space")), ["a"]);
        }
        assert!(at("space").is_symlink() && at("link.vec").is_symlink() && at("link-to-link.vec").is_symlink());
        symlink("circle", at("circle")).unwrap();
        assert!(check_writable(&at("circle")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_that_the_umask_leaves() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode();
        File::create(at("plain")).unwrap();
        fs::create_dir(at("plain folder")).unwrap();
        write(&at("file"), b"x").unwrap();
        OutputFolder::create(&at("folder")).unwrap().finish(anything).unwrap();
        assert_eq!((mode("file"), mode("folder")), (mode("plain"), mode("plain folder")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_into() {
        write(Path::new("/dev/null"), b"x").unwrap();
        let error = write(Path::new("/dev/full"), b"x").unwrap_err();
        assert!(matches!(error, Error::Write { path, .. } if path == Path::new("/dev/full")));
    }
}
