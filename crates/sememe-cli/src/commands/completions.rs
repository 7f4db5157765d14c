//! `sememe completions`: a script that completes commands and options in a shell.

use clap::CommandFactory;
use serde_json::json;

use crate::arguments::{Completions, Global, Sememe};
use crate::output;

pub fn run(arguments: &Completions, global: &Global) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Sememe::command(), "sememe", &mut script);
    let script = String::from_utf8(script)?;
    output::verbatim(global, json!({ "shell": arguments.shell.to_string(), "script": script }), &script)
}
