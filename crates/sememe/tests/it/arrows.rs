//! Modules only use modules before them: the arrows of ARCHITECTURE.md, read off the source.

use std::path::{Path, PathBuf};

/// The modules of the library. Each may use those before it: so one can be read without those that come later.
/// `linalg` is a crate of its own, which the library exports.
#[rustfmt::skip]
const ORDER: [&str; 26] = [
    "linalg",
    "error",
    "observe", "names", "random", "threads", "device",
    "files", "tensors", "tables",
    "vectors", "lexicon", "prepare", "gather",
    "moments", "model",
    "retrieve", "regression",
    "align", "learn", "space",
    "sample", "batches", "translate", "evaluate",
    "migrate",
];

/// A module that a line of source names.
#[derive(Debug, PartialEq)]
struct Use {
    line: usize,
    module: String,
}

/// The modules of the library that a file uses outside of its tests. `depth` is 1 for a module at the root of the crate.
fn uses(source: &str, depth: usize) -> Vec<Use> {
    let to_root = "super::".repeat(depth);
    let mut found = Vec::new();
    for (line, code) in code_lines(source) {
        for path in ["crate::", to_root.as_str()] {
            for (at, _) in code.match_indices(path) {
                let is_longer_path = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
                let after = &code[at + path.len()..];
                let names = match after.strip_prefix('{') {
                    Some(group) => {
                        let (group, _) = group.split_once('}').expect("a use line for each module, or all on one line");
                        group.split(',').map(str::trim).collect()
                    }
                    None => vec![after],
                };
                let names = names.into_iter().filter(|_| !is_longer_path).map(first_name);
                found.extend(names.map(|module| Use { line, module: module.to_owned() }));
            }
        }
    }
    // Items at the root, such as `crate::Error`, are no modules.
    found.retain(|used| used.module.starts_with(|c: char| c.is_lowercase()));
    found
}

fn first_name(path: &str) -> &str {
    path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// Numbered lines without comments, and without what is compiled for tests only.
fn code_lines(source: &str) -> Vec<(usize, &str)> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut kept = Vec::new();
    let mut lines = (1..).zip(source.lines());
    while let Some((number, line)) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push((number, line.split("//").next().unwrap_or_default()));
            continue;
        }
        // The item ends with a line that is as far to the left as it begins.
        let ends =
            |item: &str| indentation(item) == indentation(line) && (item.ends_with(';') || item.trim_start() == "}");
        for (_, item) in lines.by_ref() {
            if ends(item) {
                break;
            }
        }
    }
    kept
}

fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All sources of the library under a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(sources(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            found.push(entry);
        }
    }
    found.sort();
    found
}

/// Where a file stands in the tree of modules: `["vectors", "text"]` for `vectors/text.rs`.
fn module_path(file: &Path) -> Vec<String> {
    let names = file.with_extension("");
    let names = names.iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "mod").collect()
}

#[test]
fn modules_use_only_modules_before_them() {
    let src = crate_root().join("src");
    let place = |module: &str| ORDER.iter().position(|known| *known == module);
    let (mut backward, mut arrows) = (Vec::new(), 0);
    for file in sources(&src) {
        let relative = file.strip_prefix(&src).unwrap();
        let path = module_path(relative);
        // The root exports everything, and a file of tests may use anything.
        if path == ["lib"] || path.last().is_some_and(|name| name.ends_with("tests")) {
            continue;
        }
        let own = place(&path[0]).unwrap_or_else(|| panic!("{} is in no place of the order: add it", path[0]));
        for Use { line, module } in uses(&std::fs::read_to_string(&file).unwrap(), path.len()) {
            arrows += 1;
            match place(&module) {
                Some(used) if used <= own => {}
                Some(_) => backward.push(format!(
                    "{}:{line}: {} uses {module}, which comes later",
                    relative.display(),
                    path[0]
                )),
                None => panic!("{}:{line}: {module} is in no place of the order: add it", relative.display()),
            }
        }
    }
    assert!(arrows > 200, "only {arrows} uses were found: can this test still read the source?");
    assert!(backward.is_empty(), "{}", backward.join("\n"));
}

#[test]
fn the_picture_of_modules_has_the_same_order() {
    let document = std::fs::read_to_string(crate_root().join("../../ARCHITECTURE.md")).unwrap();
    let section = document.split("\n## ").find_map(|section| section.strip_prefix("Modules\n"));
    let picture = section.expect("a section \"Modules\"").split("```").nth(1).expect("a picture");
    // The modules of a line stand before what is said of them, which is further apart than they are.
    let names =
        picture.lines().skip(1).flat_map(|line| line.split("   ").next().unwrap_or_default().split_whitespace());
    assert_eq!(names.filter(|name| *name != "↓").collect::<Vec<_>>(), ORDER);
}

#[test]
fn what_is_read_off_the_source() {
    let source = "\
use crate::error::{Error, Result};
use crate::{files, model::Model};
use super::super::tensors::Tensor;
use super::text;
/// [`crate::evaluate`] is a comment
fn one() -> crate::Result<()> { crate::names::find(); } // crate::space
#[cfg(test)]
use crate::learn::Trust;
#[cfg(test)]
mod tests {
    use crate::evaluate::Words;
    fn two() {
        crate::space::open();
    }
}
fn three(_: other_crate::vectors::Matrix) {}
";
    let found: Vec<(usize, String)> = uses(source, 2).into_iter().map(|used| (used.line, used.module)).collect();
    let expected = [(1, "error"), (2, "files"), (2, "model"), (3, "tensors"), (6, "names")];
    assert_eq!(found, expected.map(|(line, module)| (line, module.to_owned())));
}
