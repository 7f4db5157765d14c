//! Text and numbers as people read them.

/// Escapes control characters, such as `\u{1b}`: a word of a file must not control a terminal or a page.
pub fn visible(text: &str) -> String {
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// `12345` as `12,345`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn control_characters_are_written_out() {
        assert_eq!(visible("\u{1b}[2Jred\tnaïve"), "\\u{1b}[2Jred\\tnaïve");
    }
}
