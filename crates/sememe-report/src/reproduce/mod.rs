//! Every table and figure of *Multilingual Factor Analysis* (Vargas et al., ACL 2019) on the data at hand, as a report.
//!
//! ```no_run
//! use std::collections::BTreeMap;
//! use std::time::Instant;
//! use sememe_report::reproduce::{Data, Options, Reproduction};
//!
//! let (data, options) = (Data::open("data".as_ref(), None)?, Options::default());
//! let since = Instant::now();
//! let mut languages = BTreeMap::new();
//! for (code, path) in data.vectors() {
//!     let vectors = sememe::vectors::read(path, &Default::default(), &())?.embeddings;
//!     languages.insert(code.to_owned(), options.prepare(vectors));
//! }
//! let mut reproduction = Reproduction::new(&data, &languages, &options);
//! for stage in reproduction.stages() {
//!     reproduction.compute(stage, &())?;
//! }
//! let reproduced = reproduction.finish(since.elapsed());
//! reproduced.report.write("report".as_ref())?;
//! # Ok::<(), sememe_report::Error>(())
//! ```

mod claims;
mod data;
mod lab;
mod meaning;
mod options;
mod paper;
mod robustness;
mod samples;
mod sentences;
mod several;
mod three;
mod translation;

use std::collections::BTreeMap;
use std::time::Duration;

use sememe::prepare::Casing;
use sememe::vectors::Embeddings;

pub use self::claims::{Claim, Share};
pub use self::data::{Data, language};
use self::lab::Lab;
pub use self::options::{Options, Part};
use crate::error::Result;
use crate::report::{Block, Cell, Column, Report, Row, Section, Table};
use crate::text::count;
use crate::work::Work;
use sememe::observe::Observer;

/// The result of a part.
#[derive(Default)]
struct Findings {
    sections: Vec<Section>,
    claims: Vec<Claim>,
}

/// Parts that are computed together.
#[derive(Clone, Copy)]
pub struct Stage {
    name: &'static str,
    parts: &'static [Part],
    compute: fn(&Lab, &Work) -> Findings,
}

impl Stage {
    /// The topic, such as `table 5: sentence retrieval`.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

const STAGES: [Stage; 8] = [
    Stage {
        name: "tables 1 and 2: word translation",
        parts: &[Part::Table(1), Part::Table(2)],
        compute: translation::compute,
    },
    Stage {
        name: "tables 3 and 4: similarity of words and sentences",
        parts: &[Part::Table(3), Part::Table(4)],
        compute: meaning::compute,
    },
    Stage { name: "table 5: sentence retrieval", parts: &[Part::Table(5)], compute: sentences::compute },
    Stage {
        name: "tables 6 and 8: three languages",
        parts: &[Part::Table(6), Part::Table(8)],
        compute: three::compute,
    },
    Stage { name: "table 7: samples", parts: &[Part::Table(7)], compute: samples::compute },
    Stage { name: "learned: few entries among several languages", parts: &[Part::Learned], compute: several::compute },
    Stage { name: "noise", parts: &[Part::Noise], compute: robustness::compute },
    Stage { name: "map", parts: &[Part::Map], compute: samples::compute_map },
];

/// The paper's tables in the making, a stage at a time.
pub struct Reproduction<'a> {
    lab: Lab<'a>,
    findings: Findings,
}

impl<'a> Reproduction<'a> {
    /// Nothing is computed yet. Languages are by code, [prepared](Options::prepare).
    pub fn new(data: &'a Data, languages: &'a BTreeMap<String, Embeddings>, options: &'a Options) -> Self {
        let lab = Lab::new(data, languages, options);
        Reproduction { lab, findings: Findings::default() }
    }

    /// The stages to compute under these options.
    pub fn stages(&self) -> Vec<Stage> {
        let is_wanted = |stage: &Stage| stage.parts.iter().any(|&part| self.lab.options.wants(part));
        STAGES.into_iter().filter(is_wanted).collect()
    }

    /// Computes a stage. The report names what is missing in the data. If the observer stops it, the error is
    /// [`sememe::Error::Stopped`].
    pub fn compute(&mut self, stage: Stage, observer: &dyn Observer) -> Result<()> {
        let work = Work::new(observer);
        let found = (stage.compute)(&self.lab, &work);
        work.check()?;
        self.findings.sections.extend(found.sections);
        self.findings.claims.extend(found.claims);
        Ok(())
    }

    /// The report of everything computed, with the time it took.
    pub fn finish(self, took: Duration) -> Reproduced {
        let Findings { sections: mut found, claims } = self.findings;
        found.sort_by_key(|section| place(&section.id));
        let missing = missing_cells(&found);
        let mut sections = vec![summary(&self.lab, &claims, took.as_secs_f64())];
        sections.extend(found);
        let lead = "Every table and figure of the paper (Vargas, Brestnichki, Papadopoulos-Korfiatis & Hammerla, ACL 2019) that the \
                    data at hand allow, computed by sememe, with the paper’s own figure beside ours wherever there is one.";
        let report = Report::new("Multilingual Factor Analysis, reproduced", lead, sections);
        Reproduced { report, claims, missing }
    }
}

/// The complete result.
#[non_exhaustive]
pub struct Reproduced {
    /// The report.
    pub report: Report,
    /// The findings of the paper, and how often they hold here.
    pub claims: Vec<Claim>,
    /// Why cells or figures are missing, each reason once.
    pub missing: Vec<String>,
}

/// Sections in the order of the paper's tables, with those that it does not have at the end.
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

fn summary(lab: &Lab, claims: &[Claim], seconds: f64) -> Section {
    let options = lab.options;
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
    let steps: Vec<String> = options.steps.iter().map(ToString::to_string).collect();
    section.say(format!(
        "Vectors: {} words, the first {} of each language{}; prepared by: {}. Models are the paper’s, with as many latent \
         dimensions as the vectors have and no shrinkage of covariances; rows called “shrunk” are what sememe does by default. \
         ± is half of a bootstrap 95 % interval over test words. Everything took {:.0} seconds.",
        names.join(", "),
        count(options.max_words),
        if options.casing == Casing::Lower { ", lower-cased" } else { "" },
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
