//! What goes wrong says what, where and what to do, with an exit code that means something.

use std::path::Path;

use super::{sememe, text};

const BAD_INPUT: i32 = 2;

/// Runs a command that must be refused; returns what it says.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = sememe(folder, arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(BAD_INPUT), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    message
}

fn folder_with_vectors() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let vectors = |seed: u32| -> String {
        let number = |i: u32| f64::from(i.wrapping_mul(2_654_435_761_u32.rotate_left(seed)) >> 16) / 65_536.0 - 0.5;
        (0..60).map(|i| format!("w{i} {} {} {}\n", number(3 * i + 1), number(3 * i + 2), number(3 * i + 3))).collect()
    };
    std::fs::write(folder.path().join("a.vec"), vectors(1)).unwrap();
    std::fs::write(folder.path().join("b.vec"), vectors(7)).unwrap();
    std::fs::write(folder.path().join("pairs.txt"), (0..40).map(|i| format!("w{i} w{i}\n")).collect::<String>())
        .unwrap();
    folder
}

#[test]
fn wrong_requests_are_explained() {
    let folder = folder_with_vectors();
    let align = ["align", "a=a.vec", "b=b.vec", "-o", "space"];
    for (more, said) in [
        (&[][..], "--lexicon"),
        (&["--lexicon", "a-c=pairs.txt"], "does not name two of the views a, b"),
        (&["--lexicon", "a-b=missing.txt"], "cannot read missing.txt"),
        (&["--lexicon", "pairs.txt"], "header"),
        (&["--lexicon", "a-b=pairs.txt", "--latent", "9"], "from 1 to 3"),
        (&["--lexicon", "a-b=pairs.txt", "--shrinkage", "2"], "auto, none or a number"),
        (&["--lexicon", "a-b=pairs.txt", "--normalize", "unit,round"], "unit, center, standardize"),
        (&["--lexicon", "a-b=pairs.txt", "--words", "c=w.txt"], "\"c\""),
    ] {
        let message = refused(folder.path(), &[&align[..], more].concat());
        assert!(message.contains(said), "{more:?}: {message}");
    }
    assert!(refused(folder.path(), &["align", "a.vec", "-o", "x"]).contains("en=en.vec"));
    assert!(refused(folder.path(), &["translate", "nowhere", "--from", "a", "--to", "b", "x"]).contains("nowhere"));
    assert!(refused(folder.path(), &["convert", "a.vec", "b.xyz"]).contains(".safetensors"));
    assert!(refused(folder.path(), &["inspect", "a.vec", "--format", "excel"]).contains("word2vec"));
    assert!(!folder.path().join("space").exists());
}

#[test]
fn bad_files_are_named_with_line_and_cause() {
    let folder = folder_with_vectors();
    std::fs::write(folder.path().join("page.vec"), "<!DOCTYPE html>\n<html></html>\n").unwrap();
    std::fs::write(folder.path().join("cut.vec"), "3 3\nx 1 2\ny 1 2\nz 1 2\n").unwrap();
    std::fs::write(folder.path().join("broken.txt"), "w1 w1\nw2\n").unwrap();
    assert!(refused(folder.path(), &["inspect", "page.vec"]).contains("HTML"));
    assert!(refused(folder.path(), &["inspect", "cut.vec"]).contains("cut.vec, line 1"));
    assert!(refused(folder.path(), &["inspect", "."]).contains("space"));
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=broken.txt", "-o", "s"];
    assert!(refused(folder.path(), &align).contains("line 2"));
}

#[test]
fn unknown_views_and_words_are_named() {
    let folder = folder_with_vectors();
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "space", "--quiet"];
    assert!(sememe(folder.path(), &align).status.success());
    let translate = |from: &str, word: &str| {
        text(&sememe(folder.path(), &["translate", "space", "--from", from, "--to", "b", word]).stderr)
    };
    assert!(translate("z", "w1").contains("there are \"a\", \"b\""));
    assert!(translate("a", "unheard").contains("not in the vocabulary of a"));
    // A folder that is no space is not replaced.
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    std::fs::write(folder.path().join("mine/notes.txt"), "keep").unwrap();
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "mine"];
    assert!(refused(folder.path(), &align).contains("not replaced"));
}

#[test]
fn work_that_cannot_be_finished_exits_with_1_and_leaves_nothing() {
    let folder = folder_with_vectors();
    let output = sememe(folder.path(), &["convert", "a.vec", "no/such/folder/b.vec"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write"));
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = tempfile::tempdir().unwrap();
    let commands = [
        &["demo"][..],
        &["align"],
        &["translate"],
        &["project"],
        &["evaluate", "translation"],
        &["convert"],
        &["inspect"],
    ];
    for command in commands {
        let output = sememe(folder.path(), &[command, &["--help"]].concat());
        assert!(output.status.success() && text(&output.stdout).contains("Example"), "{command:?}");
    }
}
