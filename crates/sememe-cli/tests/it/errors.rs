//! What goes wrong says what, where and what to do, with an exit code that means something.

#[cfg(unix)]
use std::path::Path;

use super::{random_rows, refused, sememe, text, vectors_text, with_noise};

pub fn folder_with_vectors() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows = random_rows(60, 3, 0);
    let vectors = |seed: u64| vectors_text(&with_noise(&rows, 0.2, seed), |i| format!("w{i}"));
    std::fs::write(folder.path().join("a.vec"), vectors(1)).unwrap();
    std::fs::write(folder.path().join("b.vec"), vectors(2)).unwrap();
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
        (&["--lexicon", "a-a=pairs.txt"], "needs two different views of a, b, not \"a\" twice"),
        (&["--lexicon", "a-b=missing.txt"], "cannot read missing.txt"),
        (&["--lexicon", "a-b=pairs.txt", "--latent", "9"], "from 1 to 3"),
        (&["--lexicon", "a-b=pairs.txt", "--shrinkage", "2"], "auto, oas, none or a number"),
        (&["--lexicon", "a-b=pairs.txt", "--normalize", "unit,round"], "unit, center, standardize"),
        (&["--lexicon", "a-b=pairs.txt", "--words", "c=w.txt"], "\"c\""),
        (&["--lexicon", "a-b=pairs.txt", "--method", "svd", "--exponent", "1"], "svd has no such option"),
        (&["--lexicon", "a-b=pairs.txt", "--pivot", "a"], "ibfa has no such option"),
        (&["--lexicon", "a-b=pairs.txt", "--method", "svd", "--pivot", "nowhere"], "no view named \"nowhere\""),
        (&["--lexicon", "a-b=pairs.txt", "--method", "magic"], "ibfa, cca, cca-nipals"),
    ] {
        let message = refused(folder.path(), &[&align[..], more].concat());
        assert!(message.contains(said), "{more:?}: {message}");
    }
    assert!(refused(folder.path(), &["align", "a.vec", "-o", "x"]).contains("en=en.vec"));
    assert!(refused(folder.path(), &["align", "a=a.vec", "--identical", "-o", "x"]).contains("at least two"));
    let twice = ["align", "a=a.vec", "a=b.vec", "--identical", "-o", "x"];
    assert!(refused(folder.path(), &twice).contains("two views are named \"a\""));
    assert!(refused(folder.path(), &["translate", "nowhere", "--from", "a", "--to", "b", "x"]).contains("nowhere"));
    assert!(refused(folder.path(), &["convert", "a.vec", "b.xyz"]).contains(".safetensors"));
    assert!(refused(folder.path(), &["inspect", "a.vec", "--format", "excel"]).contains("word2vec"));
    assert!(!folder.path().join("space").exists());
}

#[test]
fn options_that_would_not_be_used_are_refused() {
    let folder = folder_with_vectors();
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "space"];
    for (more, said) in [
        (&["--monolingual", "0.1"][..], "monolingual is set: ibfa has no such option"),
        // Also with the default value.
        (&["--iterations", "1000"], "iterations is set: ibfa has no such option"),
        (&["--tolerance", "1e-3"], "choose a method that has it (mbfa)"),
        (&["--solver", "em"], "solver is set"),
        (&["--init", "random"], "init is set"),
        (&["--refine", "--solver", "em"], "solver is set"),
        (&["--method", "svd", "--shrinkage", "0.1"], "shrinkage is set: svd has no such option"),
        (&["--method", "svd", "--shrinkage", "auto"], "shrinkage is set"),
        (&["--ridge", "0"], "ridge is set"),
        (&["--words", "a=pairs.txt"], "a.vec has words of its own"),
        (&["--words", "a=pairs.txt", "--words", "a=b.vec"], "--words is given twice"),
        (&["--columns", "word,vector"], "a.vec is no table"),
        (&["--lexicon-columns", "x,y"], "no dictionary is a table"),
        (&["--method", "svd", "--finish", "auto"], "finish is auto"),
        (&["--method", "svd", "--spelling", "auto"], "spelling is auto"),
        (&["--shrinkage", "none", "--spelling", "auto"], "spelling is auto"),
    ] {
        let message = refused(folder.path(), &[&align[..], more].concat());
        assert!(message.contains(said), "{more:?}: {message}");
    }
    assert!(!folder.path().join("space").exists());
    let mbfa = ["--method", "mbfa", "--monolingual", "0.1", "--iterations", "3", "--solver", "em"];
    assert!(sememe(folder.path(), &[&align[..], &mbfa].concat()).status.success());
    assert!(sememe(folder.path(), &[&align[..6], &["direct", "--method", "svd"]].concat()).status.success());
    for vectors in ["a.vec", "b.vec"] {
        assert!(sememe(folder.path(), &["convert", vectors, &vectors.replace("vec", "parquet")]).status.success());
    }
    // One of several files is enough of a table.
    let mixed =
        ["align", "a=a.parquet", "b=b.vec", "--lexicon", "a-b=pairs.txt", "--columns", "word,vector", "-o", "mixed"];
    assert!(sememe(folder.path(), &mixed).status.success());
    assert!(
        sememe(folder.path(), &["moments", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "m"])
            .status
            .success()
    );
    std::fs::write(folder.path().join("sets.tsv"), "1\tw1 w2\tw3\n").unwrap();
    for (arguments, said) in [
        (&["extend", "direct", "c=a.vec", "--identical", "--tolerance", "0.1"][..], "svd has no such option"),
        (&["extend", "direct", "c=a.vec", "--identical", "--finish", "auto"], "--finish would not be used"),
        (&["align", "--moments", "m", "--spelling", "auto", "-o", "x"], "--spelling would not be used"),
        (&["align", "--moments", "m", "--finish", "auto", "-o", "x"], "--finish would not be used"),
        (&["align", "a=a.vec", "b=b.vec", "--unsupervised", "--tuples", "complete", "-o", "x"], "cannot be used with"),
        (&["inspect", "a.vec", "--columns", "word,vector"], "a.vec is no table"),
        (&["neighbors", "a.vec", "b.vec", "--columns", "vector", "-o", "x"], "a.vec is no table"),
        (&["inspect", "space", "--max-words", "3"], "--max-words would not be used"),
        (
            &["translate", "space", "--from", "a", "--to", "b", "--criterion", "dot", "--min-confidence", "0", "w1"],
            "dot has none",
        ),
        (&["sample", "space", "--strict"], "--strict would not be used"),
        (
            &["evaluate", "translation", "space", "--from", "a", "--to", "b", "--gold", "pairs.txt", "--strict"],
            "--strict is for vectors",
        ),
        (
            &[
                "evaluate",
                "translation",
                "space",
                "--from",
                "a",
                "--to",
                "b",
                "--gold",
                "pairs.txt",
                "--columns",
                "x,y",
            ],
            "--columns is for vectors",
        ),
        (&["evaluate", "sts", "a.vec", "sets.tsv", "--weighting", "tfidf", "--a", "1"], "--a would not be used"),
        (
            &["evaluate", "sentences", "a.vec", "x", "y", "--with", "b.vec", "--criterion", "nn", "--neighbors", "all"],
            "--neighbors would not be used",
        ),
    ] {
        let message = refused(folder.path(), arguments);
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn a_dictionary_with_its_sides_swapped_is_refused() {
    let folder = folder_with_vectors();
    let words = |from: &str| std::fs::read_to_string(folder.path().join(from)).unwrap();
    std::fs::write(folder.path().join("c.vec"), words("b.vec").replace('w', "v")).unwrap();
    std::fs::write(folder.path().join("a-c.txt"), words("pairs.txt").replace(" w", " v")).unwrap();
    let align = |lexicon: &str| {
        let output = sememe(folder.path(), &["align", "a=a.vec", "c=c.vec", "--lexicon", lexicon, "-o", "space"]);
        (output.status.code(), text(&output.stderr))
    };
    let (code, message) = align("c-a=a-c.txt");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("0 of 40 entries match") && message.contains("(a-c=FILE)"), "{message}");
    assert_eq!(align("a-c=a-c.txt").0, Some(0));
}

#[test]
fn absurd_numbers_of_threads_are_refused() {
    let folder = folder_with_vectors();
    let message = refused(folder.path(), &["inspect", "a.vec", "--threads", "100000"]);
    assert!(message.contains("--threads is 100000") && message.contains("cores"), "{message}");
    assert!(sememe(folder.path(), &["inspect", "a.vec", "--threads", "64"]).status.success());
}

#[test]
fn options_have_the_heading_that_they_belong_to() {
    let help = text(&sememe(folder_with_vectors().path(), &["align", "--help"]).stdout);
    let reading = help.split("Reading vectors:").nth(1).and_then(|rest| rest.split("Fitting:").next()).unwrap();
    assert!(["--max-words", "--format", "--strict"].iter().all(|option| reading.contains(option)), "{help}");
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
fn strict_reading_is_strict_with_dictionaries_too() {
    let folder = folder_with_vectors();
    let mut pairs: String = (0..200).map(|i| format!("w{} w{}\n", i % 40, i % 40)).collect();
    pairs.push_str("alone\n");
    std::fs::write(folder.path().join("pairs.txt"), pairs).unwrap();
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "s"];
    assert!(sememe(folder.path(), &align).status.success());
    let message = refused(folder.path(), &[&align[..], &["--strict"]].concat());
    assert!(message.contains("pairs.txt") && message.contains("line 201"), "{message}");
}

#[test]
fn tuples_of_other_views_are_refused() {
    let folder = folder_with_vectors();
    std::fs::write(folder.path().join("tuples.tsv"), "a\tc\nw1\tw1\n").unwrap();
    let message = refused(folder.path(), &["align", "a=a.vec", "b=b.vec", "--lexicon", "tuples.tsv", "-o", "s"]);
    assert!(message.contains("\"a\", \"c\"") && message.contains("\"a\", \"b\""), "{message}");
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
    let unheard = refused(folder.path(), &["translate", "space", "--from", "a", "--to", "b", "un heard"]);
    assert!(unheard.contains("\"un heard\" is not in the vocabulary of a"), "{unheard}");
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
fn outputs_are_tried_before_inputs_are_read() {
    let folder = folder_with_vectors();
    let there_is_no_folder = |arguments: &[&str]| {
        let output = sememe(folder.path(), arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("there is no folder no"), "{message}");
    };
    // The inputs are missing too, but that is not what is said.
    there_is_no_folder(&["convert", "missing.vec", "no/b.vec"]);
    there_is_no_folder(&["align", "a=missing.vec", "b=b.vec", "--identical", "-o", "no/space"]);
    there_is_no_folder(&["project", "nowhere", "a=a.vec", "-o", "no/b", "--to", "npy"]);
    assert!(refused(folder.path(), &["align", "a=a.vec", "b=b.vec", "--identical", "-o", "."]).contains("./new"));
}

#[test]
fn what_the_system_said_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let message = refused(folder.path(), &["inspect", "missing.vec"]);
    assert_eq!(message.matches("No such file").count(), 1, "{message}");
}

/// Runs a line of shell with `$SEMEME` as the command.
#[cfg(unix)]
pub fn shell(folder: &Path, line: &str) -> std::process::Output {
    std::process::Command::new("sh")
        .current_dir(folder)
        .env("SEMEME", env!("CARGO_BIN_EXE_sememe"))
        .args(["-c", line])
        .output()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_is_no_panic() {
    let folder = folder_with_vectors();
    assert_eq!(
        shell(folder.path(), "\"$SEMEME\" inspect missing.vec 2>/dev/full").status.code(),
        Some(super::BAD_INPUT)
    );
    let full = shell(folder.path(), "\"$SEMEME\" inspect a.vec >/dev/full");
    assert_eq!(full.status.code(), Some(1));
    assert!(text(&full.stderr).contains("standard output"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_reported_with_the_name_of_the_space() {
    let folder = folder_with_vectors();
    // Files of at most one block; without the trap the process would be killed instead of told.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$SEMEME\" align a=a.vec b=b.vec --lexicon a-b=pairs.txt -o space";
    let output = shell(folder.path(), limited);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write space/") && !message.contains(".sememe"), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn vectors_can_be_piped() {
    let folder = folder_with_vectors();
    let piped = shell(folder.path(), "\"$SEMEME\" convert a.vec /dev/stdout --to glove | cat");
    assert_eq!(text(&piped.stdout).lines().count(), 60, "vectors and nothing else");
    let redirected = "\"$SEMEME\" convert a.vec /dev/stdout --to glove >>all.txt";
    assert!(shell(folder.path(), &format!("{redirected}; {redirected}")).status.success());
    assert_eq!(std::fs::read_to_string(folder.path().join("all.txt")).unwrap().lines().count(), 120);
    let inspected = shell(folder.path(), "cat a.vec | \"$SEMEME\" inspect /dev/stdin");
    assert!(text(&inspected.stdout).contains("60"), "{}", text(&inspected.stderr));
    let named = "mkfifo pipe && (cat pipe >copy.txt &) && \"$SEMEME\" convert a.vec pipe --to glove && test -p pipe";
    assert!(shell(folder.path(), named).status.success());
}

#[test]
fn control_characters_of_words_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.vec"), "\u{1b}[31mred 1 2\nblue 3 4\n").unwrap();
    let output = sememe(folder.path(), &["inspect", "a.vec"]);
    let shown = text(&output.stdout);
    assert!(output.status.success() && !shown.contains('\u{1b}') && shown.contains("red"), "{shown}");
}

#[test]
fn verbose_tells_times() {
    let folder = folder_with_vectors();
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "space", "--verbose"];
    let told = text(&sememe(folder.path(), &align).stderr);
    assert!(["reading took", "fitting took", "writing took"].iter().all(|stage| told.contains(stage)), "{told}");
}

#[test]
fn every_command_has_help_with_an_example() {
    let folder = tempfile::tempdir().unwrap();
    let commands = [
        &["demo"][..],
        &["align"],
        &["extend"],
        &["moments"],
        &["translate"],
        &["lexicon", "induce"],
        &["neighbors"],
        &["export"],
        &["project"],
        &["evaluate", "translation"],
        &["evaluate", "similarity"],
        &["evaluate", "analogy"],
        &["evaluate", "sts"],
        &["evaluate", "sentences"],
        &["evaluate", "noise"],
        &["sample"],
        &["reproduce"],
        &["convert"],
        &["inspect"],
        &["completions"],
        &["man"],
    ];
    for command in commands {
        let output = sememe(folder.path(), &[command, &["--help"]].concat());
        assert!(output.status.success() && text(&output.stdout).contains("Example"), "{command:?}");
    }
}

#[test]
fn a_dictionary_that_teaches_nothing_is_a_failure_after_the_space_is_written() {
    let folder = folder_with_vectors();
    let pairs: String = (0..60).map(|i| format!("w{i} w{}\n", (i * 7 + 13) % 60)).collect();
    std::fs::write(folder.path().join("random.txt"), pairs).unwrap();
    for more in [&[][..], &["--method", "svd"], &["--shrinkage", "0.2", "--quiet"]] {
        let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=random.txt", "-o", "space"];
        let output = sememe(folder.path(), &[&align[..], more].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{more:?}: {message}");
        assert!(message.contains("NO BETTER THAN CHANCE between \"a\" and \"b\""), "{more:?}: {message}");
        assert!(folder.path().join("space/model.safetensors").is_file(), "{more:?}");
    }
    // So is one of a view that is added.
    for method in ["ibfa", "svd"] {
        let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "--method", method, "-o", "right"];
        assert!(sememe(folder.path(), &align).status.success());
        let extend = |view: &str, pairs: &str| {
            let (new, lexicon) = (format!("{view}=b.vec"), format!("a-{view}={pairs}"));
            sememe(folder.path(), &["extend", "right", &new, "--lexicon", &lexicon, "--quiet"])
        };
        let output = extend("c", "random.txt");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{method}: {message}");
        assert!(message.contains("NO BETTER THAN CHANCE between \"a\" and \"c\""), "{method}: {message}");
        assert!(folder.path().join("right/c.safetensors").is_file(), "{method}");
        let output = extend("d", "pairs.txt");
        assert!(output.status.success(), "{method}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout).contains("Shrinkage: "), method == "ibfa", "{}", text(&output.stdout));
    }
}
