//! Text inside HTML and SVG.

use crate::text::visible;

/// Escapes markup and control characters.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    #[test]
    fn markup_in_words_is_shown_and_not_obeyed() {
        assert_eq!(super::escape("<b a='1' c=\"2\">&\u{1b}"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\\u{1b}");
    }
}
