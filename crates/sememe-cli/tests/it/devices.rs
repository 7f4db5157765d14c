//! `sememe devices` and `--device`.

use std::process::Command;

use super::{json, refused, sememe, text};

#[test]
fn devices_are_listed_and_the_cpu_is_always_there() {
    let folder = tempfile::tempdir().unwrap();
    let listed = json(folder.path(), &["devices", "--device", "cpu"]);
    assert_eq!((listed["device"].as_str(), listed["used"].as_str()), (Some("cpu"), Some("cpu")));
    let said = text(&sememe(folder.path(), &["devices", "--device", "cpu"]).stdout);
    assert!(said.contains("Everything runs on the CPU"), "{said}");
    if listed["gpus"].as_array().unwrap().is_empty() {
        assert!(said.contains("No GPU: ") && listed["missing"].is_string(), "{said}");
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path(), &["devices", "--device", "gpu"]).contains("auto, cpu, cuda, or cuda:N"));
    let missing = refused(folder.path(), &["devices", "--device", "cuda:99"]);
    assert!(
        missing.contains("cuda:99") && ["driver", "no GPU 99"].iter().any(|why| missing.contains(why)),
        "{missing}"
    );
}

#[test]
fn the_environment_is_checked_before_any_work() {
    let asked = |device: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sememe"));
        command.env("SEMEME_DEVICE", device).args(["inspect", "nothing.vec"]).output().unwrap()
    };
    let wrong = asked("tpu");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("auto, cpu, cuda, or cuda:N"), "{}", text(&wrong.stderr));
    assert!(text(&asked("cpu").stderr).contains("nothing.vec"));
}
