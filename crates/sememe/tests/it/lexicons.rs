//! Dictionary files as people have them: what is read, what is passed over, and what is refused.

use sememe::Result;
use sememe::files::Input;
use sememe::lexicon::{Lexicon, Read, ReadOptions, Tuples, read_pairs_input, read_tuples_input};
use sememe::vectors::{Reason, Vocabulary};

fn input(bytes: &[u8]) -> Result<Input> {
    Input::from_bytes("dictionary", bytes.to_vec())
}

fn pairs(bytes: &[u8]) -> Result<Read> {
    read_pairs_input(&input(bytes)?, "en", "fr", &ReadOptions::default())
}

fn tuples(text: &str) -> Result<Read> {
    read_tuples_input(&input(text.as_bytes())?, &ReadOptions::default())
}

fn tuples_of(views: &[&str], text: &str) -> Result<Read> {
    let views = Some(views.iter().map(|&view| view.to_owned()).collect());
    read_tuples_input(&input(text.as_bytes())?, &ReadOptions::default().with_views(views))
}

fn message(read: Result<Read>) -> String {
    read.err().map_or_else(|| panic!("this must be refused"), |error| error.to_string())
}

/// One string per entry, a `-` for every hole.
fn spelled(lexicon: &Lexicon) -> Vec<String> {
    let views = 0..lexicon.views().len();
    let spell = |view, entry: &sememe::lexicon::Entry| entry.word(view).unwrap_or("-").to_owned();
    lexicon.entries().iter().map(|e| views.clone().map(|v| spell(v, e)).collect::<Vec<_>>().join("|")).collect()
}

#[test]
fn comments_and_blank_lines_may_stand_before_the_header() {
    let read = tuples("# concepts\n\n \t\n# v2\nen\tfr\n# animals\ndog\tchien\n\t\n").unwrap();
    assert_eq!(spelled(&read.lexicon), ["dog|chien"]);
    assert_eq!((read.comments, read.skipped.total()), (3, 0));
}

#[test]
fn columns_of_other_views_are_passed_over() {
    let text = "en\tfi\tfr\nhouse\ttalo\tmaison\ncat\tkissa\t\ndog\t\tchien\n";
    let read = tuples_of(&["fr", "en"], text).unwrap();
    assert_eq!(read.lexicon.views(), ["en", "fr"]);
    assert_eq!(spelled(&read.lexicon), ["house|maison", "dog|chien"]);
    assert_eq!((read.ignored_views, read.single_cells), (vec!["fi".to_owned()], 1));

    let message = message(tuples_of(&["en", "ru"], text));
    assert!(message.contains("line 1") && message.contains("\"en\", \"fi\", \"fr\""), "{message}");
    assert!(message.contains("\"en\", \"ru\""), "{message}");
}

#[test]
fn rows_with_one_word_are_no_faults() {
    let text = "en\tfr\nhouse\tmaison\ncat\t\n\tchien\nbird\n";
    let read = tuples(text).unwrap();
    assert_eq!((read.lexicon.entries().len(), read.single_cells, read.skipped.total()), (1, 3, 0));
    assert!(message(tuples("en\tfr\ncat\t\n")).contains("all 1 rows"));
    let strict = ReadOptions::default().with_strict(true);
    assert!(read_tuples_input(&input(text.as_bytes()).unwrap(), &strict).is_ok());
}

#[test]
fn trailing_tabs_are_no_cells() {
    let read = tuples("en\tfr\t\t\nhouse\tmaison\t\t\t\ncat\tchat\n").unwrap();
    assert_eq!(spelled(&read.lexicon), ["house|maison", "cat|chat"]);
    assert!(message(tuples("en\tfr\t\nhouse\tmaison\t\tx\n")).contains("line 2"));
}

#[test]
fn some_lines_of_a_separated_file_may_use_spaces() {
    let mixed = "New York\tNew York\ndog chien\nice cream\tglace\ncat   chat\nhot dog\thot dog\n";
    assert_eq!(spelled(&pairs(mixed.as_bytes()).unwrap().lexicon)[1..4], ["dog|chien", "ice cream|glace", "cat|chat"]);
    let commas: String = (0..20).map(|i| format!("a {i},b\n")).collect::<String>() + "dog chien\n";
    assert_eq!(spelled(&pairs(commas.as_bytes()).unwrap().lexicon)[20], "dog|chien");
    // Three words without the separator cannot be cut, whatever the other lines have.
    let unclear = "a\tb\t1\n".to_owned() + &(0..20).map(|i| format!("a\tb{i}\t1\n")).collect::<String>() + "a b c\n";
    assert!(message(pairs(unclear.as_bytes())).contains("line 22"));
}

#[test]
fn trailing_separators_are_no_fields() {
    for text in ["dog\tchien\t\ncat\tchat\t\t\n", "dog,chien,\ncat,chat,,\n", "dog;chien; \ncat;chat\n"] {
        let read = pairs(text.as_bytes()).unwrap();
        assert_eq!(spelled(&read.lexicon), ["dog|chien", "cat|chat"], "{text:?}");
        assert!(!read.ignored_columns);
    }
    assert!(message(pairs(b"dog\t\ncat\tchat\n")).contains("line 1"));
}

#[test]
fn a_third_column_of_the_whole_file_is_ignored() {
    for separator in ["\t", ",", ";"] {
        let line = |i: i32| format!("a{i} b{i} 0.{i}\n").replace(' ', separator);
        let text = (0..20).map(line).collect::<String>() + "last chance\n";
        let read = pairs(text.as_bytes()).unwrap();
        assert!(read.ignored_columns);
        assert_eq!(spelled(&read.lexicon)[0], "a0|b0");
        assert_eq!(read.lexicon.entries().len(), 21);
    }
    // On some lines only, or after white space, it is a fault.
    assert!(message(pairs(b"a\tb\tc\nd\te\n")).contains("line 1"));
    assert!(message(pairs(b"a b c\nd e f\n")).contains("line 1"));
}

#[test]
fn other_encodings_are_named() {
    let wide = |order: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}dog\tchien\n").encode_utf16().flat_map(order).collect()
    };
    for bytes in [wide(u16::to_le_bytes, "\u{feff}"), wide(u16::to_be_bytes, "\u{feff}"), wide(u16::to_le_bytes, "")] {
        let message = message(pairs(&bytes));
        assert!(message.contains("UTF-16") && message.contains("UTF-8"), "{message}");
        assert!(read_tuples_input(&input(&bytes).unwrap(), &ReadOptions::default()).is_err());
    }
    let latin1 = [&b"dog chien\n"[..], b"summer \xe9t\xe9\n", b"cat chat\n"].concat();
    let message = message(pairs(&latin1));
    assert!(message.contains("line 2") && message.contains("Latin-1") && message.contains("UTF-8"), "{message}");
    // One broken line of very many is an accident.
    let broken = (0..200).map(|i| format!("a{i} b\n")).collect::<String>().into_bytes();
    let read = pairs(&[&broken[..], b"\xe9 x\n"].concat()).unwrap();
    assert_eq!(read.skipped.count(Reason::InvalidUtf8), 1);
}

#[test]
fn lines_of_white_space_are_no_comments() {
    let read = pairs(b"# two\n \n\t\n#\ndog chien\n\r\n").unwrap();
    assert_eq!(read.comments, 2);
}

#[test]
fn strict_reading_skips_nothing() {
    let text = (0..200).map(|i| format!("a{i} b\n")).collect::<String>() + "alone\n";
    assert_eq!(pairs(text.as_bytes()).unwrap().skipped.total(), 1);
    let strict = ReadOptions::default().with_strict(true);
    let message = message(read_pairs_input(&input(text.as_bytes()).unwrap(), "en", "fr", &strict));
    assert!(message.contains("none") && message.contains("line 201"), "{message}");
}

#[test]
fn words_that_are_looked_up_keep_their_views() {
    let read = tuples("ru\ten\tfr\nдом\t\tmaison\n\tcat\tchat\n").unwrap();
    let [en, fr, ru] = [["cat"], ["chat"], ["дом"]].map(|words| words.into_iter().collect::<Vocabulary>());
    let mut found = Tuples::new(3);
    let matched = found.add_lexicon(&read.lexicon, &[("en", &en), ("fr", &fr), ("ru", &ru)]).unwrap();
    assert_eq!(found.iter().collect::<Vec<_>>(), [[Some(0), Some(0), None]]);
    assert_eq!(matched.unknown, [vec![], vec![], vec!["maison"]]);
}
