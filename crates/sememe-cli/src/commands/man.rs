//! `sememe man`: manual pages, generated from the help texts.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::Man as Page;
use sememe::files;
use serde_json::json;

use crate::arguments::{BadUsage, Global, Man, Sememe};
use crate::output::{self, count};

pub fn run(arguments: &Man, global: &Global) -> anyhow::Result<()> {
    let pages = pages();
    let Some(folder) = &arguments.folder else {
        let page = render(&pages[0].1)?;
        return output::verbatim(global, json!({ "page": page }), &page);
    };
    if folder.exists() && !folder.is_dir() {
        return Err(BadUsage(format!("{} is a file; name a folder for the pages", folder.display())).into());
    }
    fs::create_dir_all(folder).map_err(|source| sememe::Error::Write { path: folder.clone(), source })?;
    let mut written = Vec::new();
    for (name, page) in &pages {
        let file = folder.join(name);
        files::write(&file, render(page)?.as_bytes())?;
        written.push(file);
    }
    let number = count(written.len());
    output::result(global, json!({ "files": written }), || format!("wrote {number} pages to {}", folder.display()))
}

/// The files that pages are written to.
pub fn files_written(folder: &Path) -> Vec<PathBuf> {
    pages().iter().map(|(name, _)| folder.join(name)).collect()
}

/// The main page and then one for every command, with the names of their files.
fn pages() -> Vec<(String, Page)> {
    let mut command = Sememe::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages);
    pages
}

fn add_pages(command: &clap::Command, pages: &mut Vec<(String, Page)>) {
    // The page of `sememe evaluate sts` is called `sememe-evaluate-sts`.
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let page = Page::new(command.clone());
    pages.push((page.get_filename(), page.title(name.to_uppercase())));
    command.get_subcommands().for_each(|command| add_pages(command, pages));
}

fn render(page: &Page) -> anyhow::Result<String> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(String::from_utf8(text)?)
}
