//! Puts the files of the page into the program: a table of their names and contents.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by Cargo")).join("web");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, "", &mut files)?;
    files.sort();
    let mut table = "&[\n".to_owned();
    for (name, path) in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.display().to_string()).expect("into a string");
    }
    table += "]\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by Cargo"));
    fs::write(out.join("page.rs"), table)
}

/// All files of a folder but hidden ones, by their path within the page.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let name = format!("{prefix}{name}");
        match path.is_dir() {
            true => collect(&path, &format!("{name}/"), files)?,
            false => files.push((name, path)),
        }
    }
    Ok(())
}
