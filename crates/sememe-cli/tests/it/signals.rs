//! What is left of a command that is ended by a signal, and what the next one does about it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::errors::{folder_with_vectors, shell};
use super::studies::write_data;
use super::{sememe, text};

const ALIGN: [&str; 8] = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "space", "--quiet"];

fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sememe"));
    command.current_dir(folder).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn kill(child: &Child, signal: &str) {
    assert!(shell(Path::new("."), &format!("kill -{signal} {}", child.id())).status.success());
}

/// Whether a signal is ignored by the tests, and so by what they start.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (number - 1)) != 0)
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Starts a command that writes words into a file beside, then an array into a pipe that nobody reads: it waits there.
/// Returns what was in the folder before, and what is there now.
fn waiting(folder: &Path, command: impl FnOnce() -> Child) -> (Child, BTreeSet<String>, BTreeSet<String>) {
    let before = names(folder);
    let mut child = command();
    // It waits only after the check of the output, whose temporary file goes away again: so look for one that stays.
    let mut seen = before.clone();
    while seen == before || seen != names(folder) {
        assert!(child.try_wait().unwrap().is_none(), "it should still be waiting");
        seen = names(folder);
        std::thread::sleep(Duration::from_millis(100));
    }
    (child, before, seen)
}

#[test]
fn a_command_that_is_asked_to_end_leaves_nothing() {
    let folder = folder_with_vectors();
    assert!(shell(folder.path(), "mkfifo b.npy").status.success());
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        // As when the tests run under nohup.
        if is_ignored(number) {
            continue;
        }
        let (mut child, before, _) = waiting(folder.path(), || start(folder.path(), &["convert", "a.vec", "b.npy"]));
        kill(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(128 + number));
        assert_eq!(names(folder.path()), before, "{signal}");
    }
}

/// Shells start what they run in the background of a script with Ctrl-C ignored, nohup with SIGHUP. The other signals
/// are heard all the same.
#[test]
fn a_command_in_the_background_leaves_nothing_either() {
    let folder = folder_with_vectors();
    assert!(shell(folder.path(), "mkfifo b.npy").status.success());
    let (mut child, before, seen) = waiting(folder.path(), || {
        let line = "trap '' INT HUP; exec \"$0\" convert a.vec b.npy";
        let mut command = Command::new("sh");
        command.current_dir(folder.path()).args(["-c", line, env!("CARGO_BIN_EXE_sememe")]).spawn().unwrap()
    });
    kill(&child, "INT");
    kill(&child, "HUP");
    std::thread::sleep(Duration::from_millis(200));
    assert!(child.try_wait().unwrap().is_none() && names(folder.path()) == seen, "what is ignored stays ignored");
    kill(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(names(folder.path()), before);
}

#[test]
fn the_next_command_removes_what_a_killed_one_left() {
    let folder = folder_with_vectors();
    assert!(shell(folder.path(), "mkfifo b.npy").status.success());
    let convert = || start(folder.path(), &["convert", "a.vec", "b.npy"]);
    let (mut killed, before, _) = waiting(folder.path(), convert);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = names(folder.path());
    assert!(left.len() > before.len(), "nothing was left: this test tests nothing");
    let (mut alive, _, seen) = waiting(folder.path(), convert);
    assert!(left.difference(&before).all(|name| !seen.contains(name)), "{seen:?}");
    // Another command that writes here leaves the files of the one that waits alone.
    assert!(sememe(folder.path(), &["convert", "a.vec", "c.vec"]).status.success());
    assert!(seen.is_subset(&names(folder.path())));
    kill(&alive, "TERM");
    alive.wait().unwrap();
    assert_eq!(names(folder.path()), before.into_iter().chain(["c.vec".to_owned()]).collect());
}

/// A report is written after every stage.
#[test]
fn a_report_that_is_interrupted_has_the_stages_before() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    write_data(&data);
    // Nobody writes into it: the stage that reads it waits.
    assert!(shell(&data, "rm sentences/tiny.en-fr.en && mkfifo sentences/tiny.en-fr.en").status.success());
    for (signal, number) in [("INT", 2), ("KILL", 9)] {
        if is_ignored(number) {
            continue;
        }
        let mut child = start(folder.path(), &["reproduce", "--tables", "3,5", "-o", "report"]);
        let page = folder.path().join("report/index.html");
        while !page.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it should wait for sentences");
            std::thread::sleep(Duration::from_millis(50));
        }
        kill(&child, signal);
        let ended = child.wait().unwrap();
        assert_eq!(ended.code(), if signal == "INT" { Some(130) } else { None });
        let html = std::fs::read_to_string(page).unwrap();
        assert!(html.contains("Table 3 · Word similarity") && !html.contains("Table 5 ·"), "{signal}");
        assert!(html.contains("1 of 2 stages") && html.contains("not there yet: table 5: sentence retrieval"));
        std::fs::remove_dir_all(folder.path().join("report")).unwrap();
        if signal == "INT" {
            assert_eq!(names(folder.path()), BTreeSet::from(["data".to_owned()]));
        }
    }
}

/// Retrieval keeps terms in the space while it exports: what is not finished of them is removed too.
#[test]
fn an_interrupted_export_leaves_nothing_in_the_space() {
    let folder = folder_with_vectors();
    let align = ["align", "a=a.vec", "b=b.vec", "--lexicon", "a-b=pairs.txt", "-o", "space", "--quiet"];
    assert!(sememe(folder.path(), &align).status.success());
    // Nobody reads the pipe: the command waits there, with its terms written.
    assert!(shell(folder.path(), "mkfifo out.vec").status.success());
    let mut child = start(folder.path(), &["export", "space", "--view", "b", "--for", "csls", "-o", "out.vec"]);
    let terms = folder.path().join("space/csls.a+b.terms");
    while !terms.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it should still be waiting");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // As they are called while they are written.
    let unfinished = folder.path().join(format!("space/.csls.a+b.terms.sememe-{}-x", child.id()));
    std::fs::rename(&terms, &unfinished).unwrap();
    kill(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(!unfinished.exists(), "terms that were not finished are left in the space");
}

/// Starts a translation that has opened its space and waits for words.
fn translating(folder: &Path) -> Child {
    assert!(sememe(folder, &ALIGN).status.success());
    let mut child = start(folder, &["translate", "space", "--from", "a", "--to", "b", "--criterion", "csls"]);
    // The terms are written when both views are open.
    while !folder.join("space/csls.a+b.terms").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it should wait for words");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

#[test]
fn a_file_that_is_truncated_while_it_is_mapped_is_named() {
    let folder = folder_with_vectors();
    let mut child = translating(folder.path());
    for view in ["a", "b"] {
        let file = std::fs::File::options().write(true).open(folder.path().join(format!("space/{view}.safetensors")));
        file.unwrap().set_len(0).unwrap();
    }
    child.stdin.take().unwrap().write_all(b"w1\nw2\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(".safetensors: it was truncated while it was read"), "{said}");
}

#[test]
fn one_view_is_added_at_a_time() {
    let folder = folder_with_vectors();
    assert!(sememe(folder.path(), &ALIGN).status.success());
    let extend = |view: &str| {
        let (new, lexicon) = (format!("{view}=b.vec"), format!("a-{view}=pairs.txt"));
        start(folder.path(), &["extend", "space", &new, "--lexicon", &lexicon, "--shrinkage", "0.3"])
    };
    // While another process has the lock.
    let model = std::fs::File::open(folder.path().join("space/model.safetensors")).unwrap();
    model.lock().unwrap();
    let refused = extend("c").wait_with_output().unwrap();
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("another process is adding a view to this space"), "{said}");
    model.unlock().unwrap();
    // Two at once: what reports success is there.
    let outputs = [extend("c"), extend("d")].map(|child| child.wait_with_output().unwrap());
    let succeeded = outputs.each_ref().map(|output| output.status.success());
    assert!(succeeded.contains(&true), "{}", text(&outputs[0].stderr));
    let views = super::json(folder.path(), &["inspect", "space"])["views"].to_string();
    for ((view, output), succeeded) in ["\"c\"", "\"d\""].iter().zip(&outputs).zip(succeeded) {
        assert_eq!(views.contains(view), succeeded, "{views}: {}", text(&output.stderr));
    }
}
