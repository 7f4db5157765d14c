//! Which file is which view, and which words a dictionary is about.

use std::fs;

use tempfile::TempDir;

use super::{json, random_rows, refused, vectors_text, with_noise};

/// Three views of 60 words, `x0` and so on in `a`, `y0` in `b`, `z0` in `c`; and a dictionary of pairs of `a` and `b`.
fn folder_with_vectors() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows = random_rows(60, 3, 0);
    for (name, letter, seed) in [("a", "x", 1), ("b", "y", 2), ("c", "z", 3)] {
        let vectors = vectors_text(&with_noise(&rows, 0.1, seed), |i| format!("{letter}{i}"));
        fs::write(folder.path().join(format!("{name}.vec")), vectors).unwrap();
    }
    fs::write(folder.path().join("pairs.txt"), (0..40).map(|i| format!("x{i} y{i}\n")).collect::<String>()).unwrap();
    folder
}

#[test]
fn a_dictionary_of_just_two_views_need_not_say_which() {
    let folder = folder_with_vectors();
    let align = |views: [&str; 2], lexicon: &str| {
        let mut result = json(folder.path(), &["align", views[0], views[1], "--lexicon", lexicon, "-o", "space"]);
        result["lexicons"][0]["file"].take();
        result
    };
    let named = align(["a=a.vec", "b=b.vec"], "a-b=pairs.txt");
    assert_eq!(named["lexicons"][0]["matched"], 40);
    assert_eq!(align(["a=a.vec", "b=b.vec"], "pairs.txt"), named);
    // Words of the view that is given first are first in the file.
    let reversed = ["align", "b=b.vec", "a=a.vec", "--lexicon", "pairs.txt", "-o", "space"];
    assert!(refused(folder.path(), &reversed).contains("the sides seem to be swapped"));
    // A header decides, in whatever order it has the views.
    let tuples: String = (0..40).map(|i| format!("y{i}\tz{i}\tx{i}\n")).collect();
    fs::write(folder.path().join("tuples.tsv"), format!("b\tc\ta\n{tuples}")).unwrap();
    let under_header = align(["a=a.vec", "b=b.vec"], "tuples.tsv");
    assert_eq!(
        (&under_header["tuples"], &under_header["log_likelihood"]),
        (&named["tuples"], &named["log_likelihood"])
    );
    let gold =
        ["--lexicon", "pairs.txt", "--gold", "pairs.txt", "--levels", "0", "--wrong", "none", "--entries", "none"];
    let noise = json(folder.path(), &[&["evaluate", "noise", "a=a.vec", "b=b.vec"], &gold[..]].concat());
    assert_eq!(noise["tuples"], 40);
}

#[test]
fn a_dictionary_of_more_views_needs_a_header() {
    let folder = folder_with_vectors();
    let align = ["align", "a=a.vec", "b=b.vec", "c=c.vec", "--lexicon", "pairs.txt", "-o", "space"];
    let message = refused(folder.path(), &align);
    assert!(message.contains("pairs.txt, line 1") && message.contains("is no header of at least two view names"));
    // One that names views of which only one is there is a header, and not a pair of words.
    fs::write(folder.path().join("other.tsv"), "a\td\nx1\ty1\n").unwrap();
    let message = refused(folder.path(), &["align", "a=a.vec", "b=b.vec", "--lexicon", "other.tsv", "-o", "space"]);
    assert!(message.contains("the header names \"a\", \"d\", but the views are \"a\", \"b\""), "{message}");
}

#[test]
fn names_of_views_may_have_hyphens_and_equals_signs() {
    let folder = folder_with_vectors();
    let names = |result: &serde_json::Value| -> Vec<String> {
        let views = result["views"].as_array().unwrap();
        views.iter().map(|view| view["name"].as_str().unwrap().to_owned()).collect()
    };
    let align =
        ["align", "dim=3-en=a.vec", "dim=3-fr=b.vec", "--lexicon", "dim=3-en-dim=3-fr=pairs.txt", "-o", "space"];
    let result = json(folder.path(), &align);
    assert_eq!(names(&result), ["dim=3-en", "dim=3-fr"]);
    assert_eq!(result["lexicons"][0]["matched"], 40);
    let translate = ["translate", "space", "--from", "dim=3-en", "--to", "dim=3-fr", "x3"];
    assert_eq!(json(folder.path(), &translate)["translations"][0]["word"], "x3");
    let project = ["project", "space", "dim=3-fr=b.vec", "-o", "projected.vec"];
    assert_eq!(json(folder.path(), &project)["view"], "dim=3-fr");
    // Files may have one, too; of names as little as possible is taken.
    fs::copy(folder.path().join("a.vec"), folder.path().join("k=v.vec")).unwrap();
    fs::copy(folder.path().join("pairs.txt"), folder.path().join("a-b=x.txt")).unwrap();
    for lexicon in ["a-b=pairs.txt", "a-b=a-b=x.txt", "a-b=x.txt"] {
        let result = json(folder.path(), &["align", "a=k=v.vec", "b=b.vec", "--lexicon", lexicon, "-o", "other"]);
        assert_eq!((names(&result), &result["lexicons"][0]["matched"]), (vec!["a".into(), "b".into()], &40.into()));
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_before_anything_is_read() {
    let folder = folder_with_vectors();
    // The vectors are missing too, but that is not what is said.
    let align = ["align", "a=missing.vec", "b=b.vec", "--identical", "-o", "space", "--method", "svd"];
    for more in [&["--pivot", "nowhere"][..], &["--pivot", "nowhere", "--refine"]] {
        let message = refused(folder.path(), &[&align[..], more].concat());
        assert!(message.contains("there is no view named \"nowhere\"; there are \"a\", \"b\""), "{message}");
    }
    assert!(refused(folder.path(), &[&align[..], &["--exponent", "1"]].concat()).contains("svd has no such option"));
}
