//! A file or a folder that is not there is named, by every command and for every argument.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use tempfile::TempDir;

use super::{json, random_rows, refused, vectors_text, with_noise};

/// What every command needs, and an empty folder.
static FILES: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let rows = random_rows(60, 4, 0);
    let vectors = |seed: u64| vectors_text(&with_noise(&rows, 0.2, seed), |i| format!("w{i}"));
    let lines = |line: &dyn Fn(usize) -> String| (0..30).map(line).collect::<String>();
    for (name, content) in [
        ("a.vec", vectors(1)),
        ("b.vec", vectors(2)),
        ("pairs.txt", lines(&|i| format!("w{i} w{i}\n"))),
        ("set.txt", lines(&|i| format!("w{i} w{} {i}\n", i + 1))),
        ("sts.tsv", lines(&|i| format!("{}\tw{i} w{}\tw{i}\n", i % 5, i + 1))),
        ("questions.txt", ": section\nw1 w2 w3 w4\n".to_owned()),
        ("text", lines(&|i| format!("w{i} w{}\n", i + 1))),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    fs::create_dir(folder.path().join("folder")).unwrap();
    json(folder.path(), &["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "space"]);
    folder
});

/// Command lines in which `NOWHERE` stands for a file that is not there.
const FILE_ARGUMENTS: [&str; 40] = [
    "align a=NOWHERE b=b.vec --identical -o out",
    "align a=a.vec b=b.vec --lexicon a-b=NOWHERE -o out",
    "align a=a.vec b=b.vec --lexicon NOWHERE -o out",
    "align a=a.vec b=b.vec --identical --words a=NOWHERE -o out",
    "align --moments NOWHERE -o out",
    "align a=a.vec b=b.vec --moments NOWHERE -o out",
    "extend space c=NOWHERE --lexicon a-c=pairs.txt -o out",
    "extend space c=a.vec --lexicon a-c=NOWHERE -o out",
    "extend space c=a.vec --lexicon a-c=pairs.txt --words NOWHERE -o out",
    "moments a=a.vec b=NOWHERE --identical -o out",
    "moments a=a.vec b=b.vec --lexicon a-b=NOWHERE -o out",
    "moments a=a.vec b=b.vec --identical --words b=NOWHERE -o out",
    "translate space --from a --to b --file NOWHERE",
    "translate space --from a --to b --vectors NOWHERE w1",
    "neighbors NOWHERE b.vec -o out",
    "neighbors a.vec NOWHERE -o out",
    "project space a=NOWHERE -o out.vec",
    "project space a=a.vec --words NOWHERE -o out.vec",
    "evaluate translation a.vec --with NOWHERE --gold pairs.txt",
    "evaluate translation a.vec --with b.vec --words NOWHERE --gold pairs.txt",
    "evaluate similarity a.vec --with NOWHERE set.txt",
    "evaluate similarity a.vec --words NOWHERE set.txt",
    "evaluate analogy space --view a NOWHERE",
    "evaluate analogy a.vec --words NOWHERE questions.txt",
    "evaluate sts a.vec --words NOWHERE sts.tsv",
    "evaluate sts space --view a sts.tsv --frequencies NOWHERE",
    "evaluate sentences space --from a --to b NOWHERE text",
    "evaluate sentences space --from a --to b text NOWHERE",
    "evaluate sentences a.vec --with NOWHERE text text",
    "evaluate noise a=NOWHERE b=b.vec --identical --gold pairs.txt",
    "evaluate noise a=a.vec b=b.vec --lexicon a-b=NOWHERE --gold pairs.txt",
    "evaluate noise a=a.vec b=b.vec --lexicon NOWHERE --gold pairs.txt",
    "evaluate noise a=a.vec b=b.vec --identical --words a=NOWHERE --gold pairs.txt",
    "evaluate noise a=a.vec b=b.vec --identical --gold NOWHERE",
    "sample space --vectors a=NOWHERE --vectors b=b.vec",
    "convert NOWHERE out.vec",
    "convert a.vec out.vec --only NOWHERE",
    "convert a.vec out.vec --words NOWHERE",
    "inspect a.vec --words NOWHERE",
    "inspect a.vec --format npy --words NOWHERE",
];

/// Of these a folder means something: it is a space, or files are looked for in it.
const FILE_OR_FOLDER_ARGUMENTS: [&str; 14] = [
    "evaluate translation NOWHERE --from a --to b --gold pairs.txt",
    "evaluate translation NOWHERE --gold pairs.txt",
    "evaluate translation space --from a --to b --gold NOWHERE",
    "evaluate translation a.vec --with b.vec --gold NOWHERE",
    "evaluate similarity NOWHERE --view a set.txt",
    "evaluate similarity NOWHERE --view a --view b set.txt",
    "evaluate similarity space --view a NOWHERE",
    "evaluate analogy NOWHERE --view a questions.txt",
    "evaluate sts NOWHERE --view a sts.tsv",
    "evaluate sts space --view a NOWHERE",
    "evaluate sentences NOWHERE text text",
    "evaluate sentences NOWHERE --from a --to b text text",
    "inspect NOWHERE",
    "inspect NOWHERE --curve curve.svg",
];

/// Only a space will do.
const SPACE_ARGUMENTS: [&str; 8] = [
    "align a=a.vec b=b.vec --lexicon a-b=pairs.txt --resume -o NOWHERE",
    "extend NOWHERE c=a.vec --lexicon a-c=pairs.txt -o out",
    "translate NOWHERE --from a --to b w1",
    "lexicon induce NOWHERE --from a --to b -o out",
    "export NOWHERE --view a -o out.npy",
    "project NOWHERE a=a.vec -o out.vec",
    "evaluate translation space --from a --to b --gold pairs.txt --compare NOWHERE",
    "sample NOWHERE",
];

/// Only a folder of data will do.
const DATA_ARGUMENTS: [&str; 2] =
    ["reproduce --data NOWHERE -o out", "reproduce --data folder --vectors NOWHERE -o out"];

fn said_of(command: &str, given: &str) -> String {
    let arguments: Vec<String> = command.split(' ').map(|part| part.replace("NOWHERE", given)).collect();
    refused(FILES.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

fn left_behind(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("out")).collect()
}

#[test]
fn what_is_not_there_is_named_as_missing() {
    let all = [&FILE_ARGUMENTS[..], &FILE_OR_FOLDER_ARGUMENTS, &SPACE_ARGUMENTS, &DATA_ARGUMENTS].concat();
    for command in all {
        let message = said_of(command, "nowhere");
        let missing = "cannot read nowhere: No such file or directory";
        assert!(message.contains(missing), "{command}: {message}");
    }
    assert_eq!(left_behind(FILES.path()), [""; 0]);
}

#[test]
fn a_folder_in_place_of_a_file_is_told() {
    for command in FILE_ARGUMENTS {
        let message = said_of(command, "folder");
        assert!(message.contains("folder: is a directory; name a file inside it"), "{command}: {message}");
    }
    assert_eq!(left_behind(FILES.path()), [""; 0]);
}

#[test]
fn a_folder_that_is_no_space_and_a_file_in_place_of_one_are_told() {
    for command in SPACE_ARGUMENTS.iter().skip(1) {
        let message = said_of(command, "folder");
        assert!(message.contains("folder: is no sememe space: it has no model.safetensors"), "{command}: {message}");
        let message = said_of(command, "text");
        assert!(message.contains("text: is a file, and a sememe space is a folder"), "{command}: {message}");
    }
    for command in DATA_ARGUMENTS {
        let message = said_of(command, "text");
        assert!(message.contains("cannot read text: Not a directory"), "{command}: {message}");
    }
    assert_eq!(left_behind(FILES.path()), [""; 0]);
}
