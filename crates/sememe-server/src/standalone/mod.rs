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

#[cfg(test)]
mod tests {
    use sememe::align;
    use sememe::lexicon::Tuples;
    use sememe::space::Space;
    use sememe::vectors::{Embeddings, Matrix, View, Vocabulary};

    use super::*;

    /// A space of two views whose first word would end a script.
    fn space(path: &Path) {
        let rows = |turn: f32| Matrix::new((0..90).map(|x| (x as f32 * 1.7 + turn).sin()).collect(), 3);
        let mut tuples = Tuples::new(2);
        (0..30).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
        let view = |name: &str, turn: f32| {
            let word = |row: usize| if row == 0 { "</script>".to_owned() } else { format!("{name}{row}") };
            let words: Vec<String> = (0..30).map(word).collect();
            let vocabulary = words.iter().map(String::as_str).collect::<Vocabulary>();
            View::from_embeddings(name, Embeddings::new(vocabulary, rows(turn)))
        };
        let aligned = align::align(vec![view("a", 0.0), view("b", 0.1)], &tuples, &Default::default(), &()).unwrap();
        Space::write(path, &aligned.alignment, &aligned.latent).unwrap();
    }

    #[test]
    fn a_page_has_its_policy_its_words_as_data_and_no_more_words_than_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space");
        space(&path);
        let (html, summary) = page(&path, "<name>", 10, &()).unwrap();
        assert_eq!(summary.views, [("a".to_owned(), 10), ("b".to_owned(), 10)]);
        assert!(summary.is_cut && summary.bytes == html.len());
        // Scripts are the two blocks of data and the page's own, whose hash the policy has.
        assert_eq!(html.matches("</script").count(), 3);
        let script = html.split("<script type=\"module\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert!(html.contains(&format!("script-src '{}'", source(script))));
        let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        assert!(html.contains(&format!("style-src '{}'", source(style))));
        assert!(!html.contains("<name>") && !html.contains("assets/"));
        let (_, whole) = page(&path, "space", MOST_WORDS, &()).unwrap();
        assert_eq!(whole.views[0].1, 30);
        assert!(!whole.is_cut);
    }
}
