//! `sememe reproduce`: every table and figure of the paper on the data at hand, as a report.

mod claims;
mod data;
mod lab;
mod meaning;
mod paper;
mod robustness;
mod samples;
mod sentences;
mod several;
mod three;
mod translation;

use std::time::Instant;

use serde_json::json;

use self::claims::Claim;
use self::data::{Data, language};
use self::lab::{Lab, read_languages};
use crate::arguments::{Global, Part, Reproduce};
use crate::output::{self, count};
use crate::progress::Bar;
use crate::report::{self, Block, Cell, Column, Report, Row, Section, Table};

/// What a part of the paper came to.
#[derive(Default)]
struct Findings {
    sections: Vec<Section>,
    claims: Vec<Claim>,
}

/// Computes a part of the paper.
type Compute = fn(&Lab, &Reproduce, &Bar) -> Findings;

pub fn run(arguments: &Reproduce, global: &Global) -> anyhow::Result<()> {
    let start = Instant::now();
    report::check_writable(&arguments.output)?;
    let data = Data::open(&arguments.data, arguments.vectors.as_deref())?;
    let languages = read_languages(&data, arguments, global)?;
    let lab = Lab::new(&data, &languages, arguments, global.seed);
    let table = Part::Table;
    let parts: [(&str, &[Part], Compute); 8] = [
        ("tables 1 and 2: word translation", &[table(1), table(2)], translation::compute),
        ("tables 3 and 4: similarity of words and sentences", &[table(3), table(4)], meaning::compute),
        ("table 5: sentence retrieval", &[table(5)], sentences::compute),
        ("tables 6 and 8: three languages", &[table(6), table(8)], three::compute),
        ("table 7: samples", &[table(7)], samples::compute),
        ("learned: few entries among several languages", &[Part::Learned], several::compute),
        ("noise", &[Part::Noise], robustness::compute),
        ("map", &[Part::Map], samples::compute_map),
    ];
    let mut findings = Findings::default();
    for (name, of_part, compute) in parts {
        if !of_part.iter().any(|&part| arguments.wants(part)) {
            continue;
        }
        let since = Instant::now();
        let bar = Bar::new(global, name.split(':').next().unwrap_or(name));
        let found = compute(&lab, arguments, &bar);
        bar.finish();
        output::note(global, format_args!("{name}: {:.0} s", since.elapsed().as_secs_f64()));
        findings.sections.extend(found.sections);
        findings.claims.extend(found.claims);
    }
    let seconds = start.elapsed().as_secs_f64();
    findings.sections.sort_by_key(|section| place(&section.id));
    let missing = missing_cells(&findings.sections);
    let mut sections = vec![summary(&lab, arguments, &findings.claims, seconds)];
    sections.extend(findings.sections);
    let report = Report {
        title: "Multilingual Factor Analysis, reproduced".to_owned(),
        lead: "Every table and figure of the paper (Vargas, Brestnichki, Papadopoulos-Korfiatis & Hammerla, ACL 2019) that the \
               data at hand allow, computed by sememe, with the paper’s own figure beside ours wherever there is one."
            .to_owned(),
        sections,
    };
    let page = report.write(&arguments.output)?;

    let json = json!({
        "report": arguments.output,
        "page": page,
        "seconds": seconds,
        "languages": languages.iter().map(|(code, words)| (code.clone(), json!(words.len()))).collect::<serde_json::Map<_, _>>(),
        "claims": findings.claims,
        "missing": missing,
    });
    output::result(global, json, || {
        let rows =
            findings.claims.iter().map(|claim| vec![claim.text.clone(), claim.ours.shown(), claim.paper.shown()]);
        let table = output::table(&["what the paper finds", "here", "paper"], rows.collect(), false);
        let missing: String = missing.iter().map(|reason| format!("\nmissing: {reason}")).collect();
        format!("{table}\nwrote {} in {seconds:.0} s{missing}", page.display())
    })
}

/// Sections in the order of the paper's tables, and what it has none of at the end.
fn place(id: &str) -> usize {
    let order = [
        "table-1", "table-2", "table-3", "table-4", "table-5", "table-6", "table-7", "table-8", "learned", "noise",
        "map",
    ];
    order.iter().position(|known| *known == id).unwrap_or(order.len())
}

/// Every reason for which something is missing, once.
fn missing_cells(sections: &[Section]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for block in sections.iter().flat_map(|section| &section.blocks) {
        let of_block: Vec<&str> = match block {
            Block::Table(table) => table.reasons(),
            Block::Missing { reasons } => reasons.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        for reason in of_block {
            if !reasons.iter().any(|known| known == reason) {
                reasons.push(reason.to_owned());
            }
        }
    }
    reasons
}

fn summary(lab: &Lab, arguments: &Reproduce, claims: &[Claim], seconds: f64) -> Section {
    let mut section = Section::new("summary", "What holds");
    if !claims.is_empty() {
        let columns = vec![Column::new("here"), Column::new("in the paper")];
        let mut table = Table::new("The paper’s findings, and how often they hold here", "finding", columns);
        let row = |claim: &Claim| {
            Row::new(claim.text.clone(), vec![Cell::text(claim.ours.shown()), Cell::text(claim.paper.shown())])
        };
        table.rows = claims.iter().map(row).collect();
        section.add(table);
    }
    let names: Vec<String> =
        lab.languages.iter().map(|(code, words)| format!("{} {}", language(code), count(words.len()))).collect();
    let steps: Vec<String> = lab.steps.iter().map(ToString::to_string).collect();
    section.say(format!(
        "Vectors: {} words, the first {} of each language{}; prepared by: {}. Models are the paper’s, with as many latent \
         dimensions as the vectors have and no shrinkage of covariances; rows called “shrunk” are what sememe does by default. \
         ± is half of a bootstrap 95 % interval over test words. Everything took {:.0} seconds.",
        names.join(", "),
        count(arguments.max_words.get()),
        if arguments.keep_case { "" } else { ", lower-cased" },
        if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") },
        seconds,
    ));
    section.say(
        "Vectors and sentences differ from the paper’s, so figures are not expected to be equal; what should hold is which \
         method is ahead of which. Figures 1 to 3 of the paper are diagrams of the model; figure 4 is the learning curve in \
         the section of table 8.",
    );
    section
}
