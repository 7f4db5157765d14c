//! `sememe page`: a space and the page to look around in it, in one file.

use sememe::files::{check_writable, write};
use sememe_server::standalone;

use crate::arguments::{Global, Page};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &Page, global: &Global) -> anyhow::Result<()> {
    check_writable(&arguments.output)?;
    let bar = Bar::new(global, "comparing words");
    let made = standalone::page(&arguments.space, &arguments.name(), arguments.max_words, &*bar);
    bar.finish();
    let (html, summary) = made?;
    write(&arguments.output, html.as_bytes())?;
    if summary.is_cut {
        let kept = count(arguments.max_words);
        output::warn(
            global,
            format_args!("the page has the first {kept} words of each view; `sememe serve` shows all"),
        );
    }
    let json = serde_json::json!({ "page": arguments.output, "views": summary.views, "bytes": summary.bytes });
    output::result(global, json, || {
        let megabytes = summary.bytes as f64 / 1e6;
        format!("wrote {} ({megabytes:.1} MB); open it in a browser", arguments.output.display())
    })
}
