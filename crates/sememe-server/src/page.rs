//! The page: its files are part of the program.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// The names of all files of the page and their contents.
pub static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// A file of the page, from the program or from a folder. Names are compared with those that are there: nothing outside of
/// the folder has one.
pub(crate) fn find(name: &str, folder: Option<&Path>) -> Option<Cow<'static, [u8]>> {
    match folder {
        None => FILES.iter().find(|(known, _)| *known == name).map(|(_, content)| Cow::Borrowed(*content)),
        Some(folder) => {
            let path = name.split('/').try_fold(folder.to_owned(), |path, part| {
                let entries = fs::read_dir(&path).ok()?;
                let found = entries.flatten().find(|entry| entry.file_name().to_str() == Some(part))?;
                Some(found.path())
            })?;
            fs::read(path).ok().map(Cow::Owned)
        }
    }
}

/// The media type of a file by its extension.
pub(crate) fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_page_are_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
        for folder in [None, Some(folder.as_path())] {
            assert!(find("index.html", folder).is_some_and(|page| page.starts_with(b"<!doctype html>")));
            for name in
                ["", "..", "../Cargo.toml", "./index.html", "/etc/passwd", "index.html/", "index.html\0", ".", "a//b"]
            {
                assert!(find(name, folder).is_none(), "{name:?}");
            }
        }
    }
}
