//! `sememe convert`: any format to any format.

use sememe::files::{check_readable, check_writable};
use sememe::gather::ViewRead;
use sememe::vectors::{self, Format};
use serde_json::json;

use super::read_vectors;
use crate::arguments::{BadUsage, Convert, Global};
use crate::output::{self, count};

pub fn run(arguments: &Convert, global: &Global) -> anyhow::Result<()> {
    let format = arguments.to.map_or_else(|| Format::of_name(&arguments.output), Ok)?;
    let files = vectors::files_written(&arguments.output, format);
    files.iter().try_for_each(|file| check_writable(file))?;
    arguments.only.iter().try_for_each(|list| check_readable(list))?;
    let read = read_vectors(&arguments.input, arguments.words.clone(), &arguments.reading, global)?;
    let report = ViewRead::new(&read);
    let mut embeddings = read.embeddings;
    if arguments.lower {
        embeddings = embeddings.lowercased();
    }
    if let Some(list) = &arguments.only {
        let mut words = vectors::read_word_list(list)?;
        if arguments.lower {
            words.iter_mut().for_each(|word| *word = word.to_lowercase());
        }
        let (selected, missing) = embeddings.select(words.iter().map(String::as_str));
        if !missing.is_empty() {
            output::warn(global, format_args!("no vector for {} of the words asked for", count(missing.len())));
            output::detail(global, || format!("  {}", missing.join(", ")));
        }
        if selected.is_empty() {
            return Err(BadUsage(format!("none of the words of {} has a vector", list.display())).into());
        }
        embeddings = selected;
    }
    vectors::write(&embeddings, &arguments.output, format)?;

    let json = json!({ "read": report, "format": format, "words": embeddings.len(), "dimension": embeddings.dim(), "files": files });
    output::result_beside(&arguments.output, global, json, || {
        let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        format!("wrote {} words x {} to {}", count(embeddings.len()), embeddings.dim(), names.join(" and "))
    })
}
