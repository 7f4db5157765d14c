//! `sememe moments`: vectors and dictionaries in, their moments out.

use sememe::files::check_writable;
use sememe::moments::Evidence;
use serde_json::json;

use super::gather::gather;
use crate::arguments::{Global, Moments};
use crate::output::{self, count};
use crate::progress::Stopwatch;

pub fn run(arguments: &Moments, global: &Global) -> anyhow::Result<()> {
    check_writable(&arguments.output)?;
    let mut stopwatch = Stopwatch::start(global);
    let gathered = gather(&arguments.views, &arguments.gathering, &arguments.reading, global)?;
    stopwatch.finished("reading");
    let (evidence, _) = Evidence::gather(gathered.views, &gathered.tuples, &arguments.gathering.options())?;
    stopwatch.finished("summing");
    evidence.write(&arguments.output)?;
    stopwatch.finished("writing");

    let views = evidence.moments.views();
    let groups = evidence.moments.patterns().iter().map(|(pattern, moments)| {
        let names: Vec<&str> = pattern.iter().map(|&view| views[view].name.as_str()).collect();
        (names, moments.n)
    });
    let groups: Vec<(Vec<&str>, f64)> = groups.collect();
    let json = json!({
        "file": arguments.output.display().to_string(),
        "views": views,
        "groups": groups.iter().map(|(names, n)| json!({ "views": names, "tuples": output::number(*n) })).collect::<Vec<_>>(),
        "lexicons": gathered.lexicons_read,
        "read": gathered.views_read,
    });
    output::result_beside(&arguments.output, global, json, || {
        let rows = groups.iter().map(|(names, n)| vec![names.join(", "), count(*n as usize)]).collect();
        let table = output::table(&["views", "tuples"], rows, true);
        format!("{table}\nwrote {}", arguments.output.display())
    })
}
