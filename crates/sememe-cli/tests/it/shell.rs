//! `sememe completions` and `sememe man`.

use std::fs;
use std::process::Command;

use super::{json, refused, sememe, text};

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = sememe(folder.path(), &["completions", shell]);
        let script = text(&output.stdout);
        assert!(output.status.success(), "{shell}");
        for part in ["sememe", "translate", "evaluate", "--min-confidence", "completions"] {
            // Some shells have options without their hyphens.
            assert!(script.contains(part.trim_start_matches('-')), "{shell}: {part}");
        }
        assert_eq!(
            json(folder.path(), &["completions", shell])["script"].as_str().unwrap().trim_end(),
            script.trim_end()
        );
    }
    assert!(refused(folder.path(), &["completions", "cmd"]).contains("possible values"));
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_with_the_script() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sememe.bash"), sememe(folder.path(), &["completions", "bash"]).stdout).unwrap();
    let ask = "source ./sememe.bash && COMP_WORDS=(sememe evaluate s) COMP_CWORD=2 && _sememe sememe s evaluate && \
               echo ${COMPREPLY[@]}";
    let answer = Command::new("bash").current_dir(folder.path()).args(["-c", ask]).output().unwrap();
    assert_eq!(text(&answer.stdout).trim(), "similarity sts sentences", "{}", text(&answer.stderr));
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let main = text(&sememe(folder.path(), &["man"]).stdout);
    assert!(main.contains(".TH SEMEME 1") && main.contains("sememe\\-align(1)"), "{main}");
    let written = json(folder.path(), &["man", "share/man1"]);
    let page = |name: &str| fs::read_to_string(folder.path().join("share/man1").join(name)).unwrap();
    assert_eq!(page("sememe.1").trim_end(), main.trim_end());
    assert!(page("sememe-evaluate-translation.1").contains("\\-\\-gold"));
    assert!(page("sememe-align.1").contains("fr=fr.vec.gz"), "examples are part of the page");
    let names: Vec<_> = fs::read_dir(folder.path().join("share/man1")).unwrap().collect();
    assert_eq!(names.len(), written["files"].as_array().unwrap().len());
    // All commands that the help names have one.
    let help = text(&sememe(folder.path(), &["--help"]).stdout);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        commands.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 12 && commands.contains(&"man"), "{commands:?}");
    for command in commands.iter().filter(|command| **command != "help") {
        assert!(page(&format!("sememe-{command}.1")).contains(".SH SYNOPSIS"), "{command}");
    }
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(refused(folder.path(), &["man", "file"]).contains("file is a file; name a folder"));
}
