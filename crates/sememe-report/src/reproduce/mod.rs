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
//! while !reproduction.remaining().is_empty() {
//!     reproduction.compute_next(&())?;
//!     // What is computed is there if the next stage is stopped.
//!     reproduction.report(since.elapsed()).report.write("report".as_ref())?;
//! }
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
#[cfg(test)]
mod tests;
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
use crate::work::{Work, begin};
use sememe::observe::Observer;

/// The result of a stage.
#[derive(Default)]
struct Findings {
    sections: Vec<Section>,
    claims: Vec<Claim>,
}

impl Findings {
    /// Adds those of another stage, which replace earlier ones of the same sections and claims.
    fn add(&mut self, later: Findings) {
        for section in later.sections {
            self.sections.retain(|known| known.id != section.id);
            self.sections.push(section);
        }
        for claim in later.claims {
            match self.claims.iter_mut().find(|known| known.text == claim.text) {
                Some(known) => *known = claim,
                None => self.claims.push(claim),
            }
        }
    }
}

/// Parts that are computed together.
#[derive(Clone, Copy)]
pub struct Stage {
    name: &'static str,
    /// Any of the first, and all of the second.
    parts: (&'static [Part], &'static [Part]),
    compute: fn(&Lab, &Work) -> Findings,
}

impl Stage {
    /// The topic, such as `table 5: sentence retrieval`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The topic without its explanation, such as `table 5`.
    pub fn short_name(&self) -> &'static str {
        self.name.split(':').next().unwrap_or(self.name)
    }

    fn is_wanted(&self, options: &Options) -> bool {
        let (any, all) = self.parts;
        any.iter().any(|&part| options.wants(part)) && all.iter().all(|&part| options.wants(part))
    }
}

/// Those that take minutes are last.
const STAGES: [Stage; 9] = [
    Stage {
        name: "tables 1 and 2: word translation",
        parts: (&[Part::Table(1), Part::Table(2)], &[]),
        compute: translation::compute,
    },
    Stage {
        name: "tables 3 and 4: similarity of words and sentences",
        parts: (&[Part::Table(3), Part::Table(4)], &[]),
        compute: meaning::compute,
    },
    Stage {
        name: "tables 6 and 8: three languages",
        parts: (&[Part::Table(6), Part::Table(8)], &[]),
        compute: three::compute,
    },
    Stage { name: "table 7: samples", parts: (&[Part::Table(7)], &[]), compute: samples::compute },
    Stage { name: "map", parts: (&[Part::Map], &[]), compute: samples::compute_map },
    Stage { name: "noise", parts: (&[Part::Noise], &[]), compute: robustness::compute },
    Stage {
        name: "learned rows of table 1: refined and unsupervised models",
        parts: (&[Part::Table(1)], &[Part::Learned]),
        compute: translation::compute_learned,
    },
    // After the stage before, with which it shares models without a dictionary.
    Stage { name: "table 5: sentence retrieval", parts: (&[Part::Table(5)], &[]), compute: sentences::compute },
    Stage {
        name: "learned: few entries among several languages",
        parts: (&[Part::Learned], &[]),
        compute: several::compute,
    },
];

/// The paper's tables in the making, a stage at a time.
pub struct Reproduction<'a> {
    lab: Lab<'a>,
    stages: Vec<Stage>,
    /// Number of stages that were computed.
    done: usize,
    findings: Findings,
}

impl<'a> Reproduction<'a> {
    /// Nothing is computed yet. Languages are by code, [prepared](Options::prepare).
    pub fn new(data: &'a Data, languages: &'a BTreeMap<String, Embeddings>, options: &'a Options) -> Self {
        let lab = Lab::new(data, languages, options);
        let stages = STAGES.into_iter().filter(|stage| stage.is_wanted(options)).collect();
        Reproduction { lab, stages, done: 0, findings: Findings::default() }
    }

    /// Number of stages under these options, computed or not.
    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// The stages that are still to be computed, in their order.
    pub fn remaining(&self) -> &[Stage] {
        &self.stages[self.done..]
    }

    /// Computes the next stage, if there is one. The report names what is missing in the data. If the observer stops it,
    /// the error is [`sememe::Error::Stopped`], and the stage is still to be computed.
    pub fn compute_next(&mut self, observer: &dyn Observer) -> Result<()> {
        let Some(stage) = self.remaining().first() else { return Ok(()) };
        let work = Work::new(observer);
        begin(&work)?;
        let found = (stage.compute)(&self.lab, &work);
        work.check()?;
        self.findings.add(found);
        self.done += 1;
        Ok(())
    }

    /// The report of everything computed so far, with the time it took. It names the stages that are not there yet.
    pub fn report(&self, took: Duration) -> Reproduced {
        let Findings { sections: found, claims } = &self.findings;
        let mut sections = vec![summary(self, took.as_secs_f64())];
        sections.extend(found.iter().cloned());
        sections[1..].sort_by_key(|section| place(&section.id));
        let lead = "Every table and figure of the paper (Vargas, Brestnichki, Papadopoulos-Korfiatis & Hammerla, ACL 2019) that the \
                    data at hand allow, computed by sememe, with the paper’s own figure beside ours wherever there is one.";
        let missing = missing_cells(&sections[1..]);
        let report = Report::new("Multilingual Factor Analysis, reproduced", lead, sections);
        Reproduced { report, claims: claims.clone(), missing }
    }
}

/// The result so far.
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

fn summary(reproduction: &Reproduction, seconds: f64) -> Section {
    let (lab, claims) = (&reproduction.lab, &reproduction.findings.claims);
    let options = lab.options;
    let mut section = Section::new("summary", "What holds");
    let remaining = reproduction.remaining();
    if !remaining.is_empty() {
        section.say(format!(
            "This report is not complete: {} of {} stages are computed. It is written again after each of them.",
            reproduction.done,
            reproduction.stages.len(),
        ));
        section.lack(remaining.iter().map(|stage| format!("not there yet: {}", stage.name)).collect());
    }
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
         dimensions as the vectors have and no shrinkage of covariances; rows called “finished” are what sememe does by default, \
         “shrunk” ones the same without the finish. ± is half of a bootstrap 95 % interval over test words. Everything took \
         {:.0} seconds.",
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
