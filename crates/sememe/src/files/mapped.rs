//! Memory-mapped files, and which of them an address belongs to.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use memmap2::Mmap;

/// A file that is mapped for reading.
pub(super) struct Mapped {
    map: Mmap,
    entry: Option<&'static Entry>,
}

/// An entry in the list of mapped files. Entries are never freed, because a signal handler may read them at any time.
struct Entry {
    start: AtomicUsize,
    /// Zero when the file is not mapped any more.
    end: AtomicUsize,
    path: PathBuf,
    next: AtomicPtr<Entry>,
}

static IS_TRACKING: AtomicBool = AtomicBool::new(false);
static FIRST: AtomicPtr<Entry> = AtomicPtr::new(ptr::null_mut());

/// From now on, mapped files can be found with [`mapped_file_at`]. Each takes a little memory until the process ends.
pub fn track_mapped_files() {
    IS_TRACKING.store(true, Ordering::Release);
}

/// The mapped file at an address. Reading a mapped file that was truncated ends in a signal (SIGBUS on Unix), whose
/// handler can ask which file it was: this function neither locks nor allocates. Only files that were mapped after
/// [`track_mapped_files`] are known.
pub fn mapped_file_at(address: usize) -> Option<&'static Path> {
    let mut found: Option<(usize, &Entry)> = None;
    let mut next = FIRST.load(Ordering::Acquire);
    // SAFETY: entries live until the process ends, and do not change but for their atomic fields.
    while let Some(entry) = unsafe { next.as_ref() } {
        let start = entry.start.load(Ordering::Acquire);
        let is_there = (start..entry.end.load(Ordering::Acquire)).contains(&address);
        // Where pages are smaller than the largest ones, the next mapping can begin before the assumed end of this one.
        if is_there && found.is_none_or(|(nearest, _)| start > nearest) {
            found = Some((start, entry));
        }
        next = entry.next.load(Ordering::Acquire);
    }
    found.map(|(_, entry)| entry.path.as_path())
}

impl Mapped {
    /// Maps a file into memory.
    ///
    /// # Safety
    /// The file must not be changed while the bytes are in use. If it is truncated, reading them ends in a signal.
    pub(super) unsafe fn new(file: &File, path: &Path) -> io::Result<Self> {
        // SAFETY: the caller upholds the contract.
        let map = unsafe { Mmap::map(file) }?;
        let entry = IS_TRACKING.load(Ordering::Acquire).then(|| {
            let start = map.as_ptr().addr();
            let entry = Entry {
                start: AtomicUsize::new(start),
                end: AtomicUsize::new(start + map.len().next_multiple_of(LARGEST_PAGE)),
                path: path.to_owned(),
                next: AtomicPtr::default(),
            };
            add(Box::leak(Box::new(entry)))
        });
        Ok(Mapped { map, entry })
    }
}

/// The largest page of memory in use. The last page of a mapping counts as a whole.
const LARGEST_PAGE: usize = 64 << 10;

fn add(entry: &'static mut Entry) -> &'static Entry {
    let new = ptr::from_mut(entry);
    // SAFETY: it was leaked, and from now on nobody has a mutable reference.
    let entry: &'static Entry = unsafe { &*new };
    let mut first = FIRST.load(Ordering::Acquire);
    loop {
        entry.next.store(first, Ordering::Release);
        match FIRST.compare_exchange(first, new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return entry,
            Err(other) => first = other,
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(entry) = self.entry {
            entry.end.store(0, Ordering::Release);
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_the_file_that_is_mapped_there() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        track_mapped_files();
        let mapped = paths.each_ref().map(|path| {
            std::fs::write(path, "some bytes").unwrap();
            // SAFETY: nobody changes the file.
            unsafe { Mapped::new(&File::open(path).unwrap(), path) }.unwrap()
        });
        let at = mapped.each_ref().map(|mapped| mapped.as_ptr().addr());
        assert_eq!(at.map(|at| mapped_file_at(at + 9)), paths.each_ref().map(|path| Some(path.as_path())));
        assert_eq!(mapped_file_at(0), None);
        drop(mapped);
        assert!(at.iter().all(|&at| mapped_file_at(at).is_none_or(|path| !paths.iter().any(|other| other == path))));
    }
}
