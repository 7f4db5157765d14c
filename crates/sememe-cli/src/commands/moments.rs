//! `sememe moments`: vectors and dictionaries in, their moments out.

use sememe::files::check_writable;
use sememe::moments::{Evidence, TupleGroup};
use serde_json::json;

use super::gather::gather;
use crate::arguments::{Global, Moments};
use crate::output::{self, count};
use crate::progress::Stopwatch;

pub fn run(arguments: &Moments, global: &Global) -> anyhow::Result<()> {
    check_writable(&arguments.output)?;
    let mut stopwatch = Stopwatch::start(global);
    let gathered = gather(&arguments.views, &arguments.gathering, &arguments.reading, None, global)?;
    stopwatch.finished("reading");
    let (evidence, _) = Evidence::gather(gathered.views, &gathered.tuples, &arguments.gathering.evidence_options())?;
    stopwatch.finished("summing");
    evidence.write(&arguments.output)?;
    stopwatch.finished("writing");

    let groups = evidence.moments.groups();
    let json = json!({
        "file": arguments.output.display().to_string(),
        "views": evidence.moments.views(),
        "groups": groups,
        "lexicons": gathered.lexicons_read,
        "read": gathered.views_read,
    });
    output::result_beside(&arguments.output, global, json, || {
        format!("{}\nwrote {}", groups_table(&groups), arguments.output.display())
    })
}

/// The number of tuples of each pattern of views, for people.
pub fn groups_table(groups: &[TupleGroup]) -> String {
    let rows = groups.iter().map(|group| vec![group.views.join(", "), count(group.tuples as usize)]).collect();
    output::table(&["views", "tuples"], rows, true)
}
