//! Outputs that fail, are interrupted, or meet what others left behind.

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
    let of_another = File::create(folder.path().join(".a.vec.sememe-0-other")).unwrap();
    of_another.lock().unwrap();
    let output = Output::create(&file).unwrap();
    let unfinished = OutputFolder::create(&space).unwrap();
    write(&unfinished.path().join("en.safetensors"), b"x").unwrap();
    // The intermediate state while a folder is replaced.
    fs::create_dir(&space).unwrap();
    fs::write(space.join("kept"), "").unwrap();
    let _aside = Aside::take(&space).unwrap();
    assert!(!space.exists());

    remove_unfinished(&file);
    remove_unfinished(&space);
    let mut left = names(folder.path());
    left.sort();
    assert_eq!(left, [".a.vec.sememe-0-other", "space"]);
    assert_eq!(names(&space), ["kept"]);
    assert!(output.finish().is_err() && unfinished.finish(anything).is_err());
    assert_eq!(names(&space), ["kept"], "a folder that cannot be replaced is put back");
}

#[test]
fn what_killed_processes_left_behind_is_removed_by_the_next_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // In use: the first output below must leave these alone.
    let (live_file, live_folder) =
        (Output::create(&at("live.vec")).unwrap(), OutputFolder::create(&at("live")).unwrap());
    let live = names(folder.path()).len();
    // As a killed process leaves them, of any output in the same folder.
    fs::write(at(".b.vec.sememe-1-aB3"), "half").unwrap();
    fs::write(at(".space.sememe-1-xyz"), "").unwrap();
    fs::create_dir(at(".space.sememe-1-xyz.d")).unwrap();
    fs::write(at(".space.sememe-1-xyz.d/en.safetensors"), "half").unwrap();
    fs::create_dir(at(".other.sememe-2-000.d")).unwrap();
    // Not ours.
    fs::write(at(".sememe-notes"), "keep").unwrap();
    fs::write(at(".a.sememe-backup-1.txt"), "keep").unwrap();
    write(&at("a.vec"), b"x").unwrap();
    assert_eq!(names(folder.path()).len(), live + 3, "{:?}", names(folder.path()));
    live_file.finish().unwrap();
    live_folder.finish(anything).unwrap();
    assert!(at("live.vec").is_file() && at("live").is_dir());
}

/// A process was killed after it had moved the old folder aside, and before the new one had its name.
#[test]
fn a_folder_that_a_killed_process_moved_aside_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let moved_aside = |name: &str| {
        fs::write(at(&format!(".{name}.sememe-old-1-xyz")), "").unwrap();
        fs::create_dir_all(at(&format!(".{name}.sememe-old-1-xyz.d/old"))).unwrap();
        fs::write(at(&format!(".{name}.sememe-old-1-xyz.d/old/kept")), "").unwrap();
    };
    moved_aside("space");
    write(&at("a.vec"), b"x").unwrap();
    assert!(at(".space.sememe-old-1-xyz.d/old/kept").exists(), "an output of another name leaves it alone");
    drop(OutputFolder::create(&at("space")).unwrap());
    assert_eq!(names(&at("space")), ["kept"]);
    // The new folder had its name already: the old one is not needed.
    moved_aside("space");
    fs::write(at("space/new"), "").unwrap();
    drop(OutputFolder::create(&at("space")).unwrap());
    assert_eq!((names(&at("space")).len(), names(folder.path()).len()), (2, 2));
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
