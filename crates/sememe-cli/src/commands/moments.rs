//! `sememe moments`: vectors and dictionaries in, their moments out.

use sememe::files::check_writable;
use sememe::moments::Evidence;
use serde_json::{Value, json};

use super::gather::gather;
use crate::arguments::{Global, Moments};
use crate::output::{self, count};
use crate::progress::Stopwatch;

pub fn run(arguments: &Moments, global: &Global) -> anyhow::Result<()> {
    check_writable(&arguments.output)?;
    let mut stopwatch = Stopwatch::start(global);
    let gathered = gather(&arguments.views, &arguments.gathering, &arguments.reading, global)?;
    stopwatch.finished("reading");
    let (evidence, _) = Evidence::gather(gathered.views, &gathered.tuples, &arguments.gathering.evidence_options())?;
    stopwatch.finished("summing");
    evidence.write(&arguments.output)?;
    stopwatch.finished("writing");

    let groups = Groups::of(&evidence);
    let json = json!({
        "file": arguments.output.display().to_string(),
        "views": evidence.moments.views(),
        "groups": groups.json(),
        "lexicons": gathered.lexicons_read,
        "read": gathered.views_read,
    });
    output::result_beside(&arguments.output, global, json, || {
        format!("{}\nwrote {}", groups.table(), arguments.output.display())
    })
}

/// The tuples by the views that they have.
pub struct Groups<'a>(Vec<(Vec<&'a str>, f64)>);

impl<'a> Groups<'a> {
    pub fn of(evidence: &'a Evidence) -> Self {
        let views = evidence.moments.views();
        let names = |pattern: &[usize]| pattern.iter().map(|&view| views[view].name.as_str()).collect();
        Groups(evidence.moments.patterns().iter().map(|(pattern, moments)| (names(pattern), moments.n)).collect())
    }

    pub fn json(&self) -> Vec<Value> {
        self.0.iter().map(|(names, n)| json!({ "views": names, "tuples": output::number(*n) })).collect()
    }

    pub fn table(&self) -> String {
        let rows = self.0.iter().map(|(names, n)| vec![names.join(", "), count(*n as usize)]).collect();
        output::table(&["views", "tuples"], rows, true)
    }
}
