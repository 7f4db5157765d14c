//! `sememe page`: the page and a space in one file, which needs no server.
//!
//! The modules of the page become one script, and the space two blocks of data beside it: a description in JSON and numbers
//! in base64. Vectors are bytes; what depends on all words, such as the means of CSLS, comes from the whole space in full
//! precision. `web/embedded.js` reads them.

mod bundle;
mod quantised;
mod space;

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sememe::observe::Observer;
use serde::Serialize;
use sha2::{Digest, Sha256};

use self::space::Blocks;
use crate::error::{Error, Result};
use crate::page;

/// The most words of a view that a page holds: at 300 dimensions four views are 32 MB.
pub const MOST_WORDS: usize = 20_000;

/// What a page holds.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The names of its views, and how many words of each it has.
    pub views: Vec<(String, usize)>,
    /// Whether words were left out.
    pub is_cut: bool,
    /// Its size.
    pub bytes: usize,
}

/// The page of a space as the text of one file, with the first `max_words` words of each view.
///
/// Nothing in it can be executed but its own script: the page has a content security policy with the hashes of its script
/// and its style, and words of the space are data.
pub fn page(space: &Path, name: &str, max_words: usize, observer: &dyn Observer) -> Result<(String, Summary)> {
    let blocks = Blocks::of(space, name, max_words.min(MOST_WORDS), observer)?;
    let file = |name: &str| {
        let found = page::FILES.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, content)| std::str::from_utf8(content).ok()).ok_or(Error::Page("a file of it is missing"))
    };
    let (script, style) = (bundle::script(&file)?, file("style.css")?);
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
        source(&script),
        source(style),
    );
    let head = format!(
        "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<style>{style}</style>"
    );
    // `<` of a word could end the block.
    let about = serde_json::to_string(&blocks.about).map_err(|_| Error::Page("its space cannot be described"))?;
    let data = format!(
        "<script type=\"application/json\" id=\"sememe-space\">{}</script>\n\
         <script type=\"text/plain\" id=\"sememe-data\">{}</script>\n\
         <script type=\"module\">{script}</script>\n</body>",
        about.replace('<', "\\u003c"),
        STANDARD.encode(&blocks.data),
    );
    let mut html = file("index.html")?.to_owned();
    for (old, new) in [
        ("<meta charset=\"utf-8\">", head.as_str()),
        ("<link rel=\"stylesheet\" href=\"assets/style.css\">\n", ""),
        ("<script type=\"module\" src=\"assets/app.js\"></script>\n", ""),
        ("</body>", data.as_str()),
    ] {
        if html.matches(old).count() != 1 {
            return Err(Error::Page("its frame has changed"));
        }
        html = html.replace(old, new);
    }
    let summary = Summary { views: blocks.views, is_cut: blocks.is_cut, bytes: html.len() };
    Ok((html, summary))
}

/// A text as a source of a content security policy.
fn source(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
