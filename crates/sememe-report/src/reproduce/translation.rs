//! Tables 1 and 2: word translation from an expert dictionary and from shared strings.

use sememe::model::Method;
use sememe::retrieve::Criterion;

use super::claims::Claim;
use super::data::language;
use super::lab::{Bilingual, Dictionary, Lab, Recipe};
use super::paper::{self, find};
use super::{Findings, Part};
use crate::experiment::Precision;
use crate::plots::{self, Bars, Series};
use crate::report::{Cell, Column, Figure, Row, Section, Table};
use crate::spectrum;
use crate::work::Work;

/// A row of a table: its name, its recipe and its criterion.
pub type Line = (&'static str, Recipe, Criterion);

const CORRECTED: Criterion = Criterion::Corrected { pool: 0 };

/// Lines of the same recipe follow each other, so that each space is made once.
pub fn lines() -> Vec<Line> {
    use Method::{Cca, CcaNipals, Ibfa, LeastSquares, Svd};
    let plain = Recipe::plain;
    vec![
        ("Mikolov et al.", plain(LeastSquares), Criterion::Nn),
        ("Dinu et al.", plain(LeastSquares), CORRECTED),
        ("CCA (NIPALS)", plain(CcaNipals), Criterion::Nn),
        ("CCA", plain(Cca), Criterion::Nn),
        ("SVD", plain(Svd), Criterion::Nn),
        ("SVD+CSLS", plain(Svd), Criterion::CSLS),
        ("Smith et al.", plain(Svd), Criterion::ISF),
        ("IBFA", plain(Ibfa), Criterion::Nn),
        ("IBFA+CSLS", plain(Ibfa), Criterion::CSLS),
        ("IBFA, shrunk", Recipe::shrunk(Ibfa), Criterion::Nn),
        ("IBFA, shrunk+CSLS", Recipe::shrunk(Ibfa), Criterion::CSLS),
        ("SVD, refined", Recipe::refined(Svd), Criterion::Nn),
        ("SVD, refined+CSLS", Recipe::refined(Svd), Criterion::CSLS),
        ("IBFA, refined", Recipe::refined(Ibfa), Criterion::Nn),
        ("IBFA, refined+CSLS", Recipe::refined(Ibfa), Criterion::CSLS),
        ("IBFA, unsupervised", Recipe::unsupervised(Ibfa), Criterion::Nn),
        ("IBFA, unsupervised+CSLS", Recipe::unsupervised(Ibfa), Criterion::CSLS),
    ]
}

/// The rows of table 1, as the paper groups them, with further methods first.
const NEAREST: [&str; 6] = ["Mikolov et al.", "CCA (NIPALS)", "CCA", "SVD", "IBFA", "IBFA, shrunk"];
const POST_PROCESSED: [&str; 5] = ["Dinu et al.", "Smith et al.", "SVD+CSLS", "IBFA+CSLS", "IBFA, shrunk+CSLS"];
const SEMI_NEAREST: [&str; 6] = ["SVD", "IBFA", "IBFA, shrunk", "SVD, refined", "IBFA, refined", "IBFA, unsupervised"];
const SEMI_POST_PROCESSED: [&str; 6] = [
    "SVD+CSLS",
    "IBFA+CSLS",
    "IBFA, shrunk+CSLS",
    "SVD, refined+CSLS",
    "IBFA, refined+CSLS",
    "IBFA, unsupervised+CSLS",
];
/// The rows of table 2.
const BASIC: [&str; 6] = ["Mikolov et al.", "CCA (NIPALS)", "CCA", "SVD", "IBFA", "IBFA, shrunk"];

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let wants = |number| lab.options.wants(Part::Table(number));
    let directions = directions(lab);
    compute_all(lab, &directions, (wants(1), wants(2)), work);
    let mut findings = Findings::default();
    if wants(1) {
        table_1(lab, &directions, &mut findings);
    }
    if wants(2) {
        table_2(lab, &directions, &mut findings);
    }
    findings
}

/// The paper's directions, and those between English and the other languages that are there.
fn directions(lab: &Lab) -> Vec<(String, String)> {
    let mut directions: Vec<(String, String)> =
        paper::DIRECTIONS.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    for code in lab.languages.keys().filter(|code| *code != "en" && lab.languages.contains_key("en")) {
        if !directions.iter().any(|(_, to)| to == code) {
            directions.push(("en".to_owned(), code.clone()));
            directions.push((code.clone(), "en".to_owned()));
        }
    }
    directions
}

fn key((from, to): &(String, String), dictionary: Dictionary, recipe: Recipe) -> Bilingual {
    (from.clone(), to.clone(), dictionary, recipe)
}

/// Computes all results of the tables, one space at a time.
fn compute_all(lab: &Lab, directions: &[(String, String)], (first, second): (bool, bool), work: &Work) {
    let is_there = |direction: &&(String, String)| lab.words(&direction.0).is_ok() && lab.words(&direction.1).is_ok();
    let directions: Vec<_> = directions.iter().filter(is_there).collect();
    let lines = lines();
    let is_wanted = |dictionary: Dictionary, name: &str| {
        let of_first = match dictionary {
            Dictionary::Pseudo => SEMI_NEAREST.contains(&name) || SEMI_POST_PROCESSED.contains(&name),
            _ => NEAREST.contains(&name) || POST_PROCESSED.contains(&name),
        };
        (first && of_first) || (second && BASIC.contains(&name))
    };
    let total = (2 * directions.len() * lines.len()) as u64;
    let mut done = 0;
    for direction in directions {
        for dictionary in [Dictionary::Expert, Dictionary::Pseudo] {
            for (name, recipe, criterion) in &lines {
                if is_wanted(dictionary, name) {
                    // The result is cached; a failure is shown in its cell.
                    let _ = lab.scores(&key(direction, dictionary, *recipe), *criterion, work);
                }
                done += 1;
                work.advance(done, total);
            }
        }
    }
}

fn precision(
    lab: &Lab,
    direction: &(String, String),
    dictionary: Dictionary,
    name: &str,
) -> Result<[Precision; 3], String> {
    let lines = lines();
    let line = lines.iter().find(|(known, ..)| *known == name);
    let (_, recipe, criterion) = line.ok_or_else(|| format!("there is no row {name}"))?;
    // All results are cached.
    lab.scores(&key(direction, dictionary, *recipe), *criterion, &()).map(|scores| scores.at)
}

fn table_1(lab: &Lab, directions: &[(String, String)], findings: &mut Findings) {
    let mut section = Section::new("table-1", "Table 1 · Word translation");
    section.say(
        "Precision at 1: how often the word that is ranked first is a right translation. Supervised models are fitted to MUSE’s \
         first 5,000 words, semi-supervised ones to the strings that both vocabularies share; all are tested on the next 1,500 \
         words. Each direction has a dictionary and a model of its own. “Refined” models begin with these strings and learn more \
         pairs from the vectors, “unsupervised” ones begin with the vectors alone; the latter stand beside the paper’s AdvR, the \
         adversarial method of Conneau et al. What is learned is one model for both directions.",
    );
    let columns = || directions.iter().map(|(from, to)| Column::new(format!("{from}-{to}"))).collect::<Vec<_>>();
    let of_paper =
        |lines: &[paper::Line<10>], name: &str, at: usize| find(lines, name).and_then(|row| row.get(at).copied());
    let rows = |dictionary: Dictionary, lines: &[paper::Line<10>], names: &[&'static str]| -> Vec<Row> {
        let row = |name: &&'static str| {
            let cell = |(at, direction): (usize, &(String, String))| {
                let found = precision(lab, direction, dictionary, name).map(|at| at[0]);
                Precision::cell(found, of_paper(lines, name, at))
            };
            Row::new(*name, directions.iter().enumerate().map(cell).collect())
        };
        names.iter().map(row).collect()
    };
    let mut part =
        |caption: &str, dictionary, lines: &[paper::Line<10>], nearest: &[&'static str], post: &[&'static str]| {
            let mut table = Table::new(caption, "P@1", columns());
            table.rows.push(Row::heading("Nearest neighbour"));
            table.rows.extend(rows(dictionary, lines, nearest));
            table.rows.push(Row::heading("With post-processing"));
            table.rows.extend(rows(dictionary, lines, post));
            let setting = caption.to_lowercase();
            for (name, suffix) in [("", ""), ("+CSLS", ", CSLS")] {
                let (better, worse) = (format!("IBFA{name}"), format!("SVD{name}"));
                let text = format!("Word translation, {setting}{suffix}: IBFA is ahead of SVD");
                findings.claims.push(Claim::compare(text, &table, &better, &worse));
            }
            table
        };
    let supervised = part("Supervised", Dictionary::Expert, &paper::SUPERVISED, &NEAREST, &POST_PROCESSED);
    let semi =
        part("Semi-supervised", Dictionary::Pseudo, &paper::SEMI_SUPERVISED, &SEMI_NEAREST, &SEMI_POST_PROCESSED);
    let refinement: Vec<Claim> = ["", "+CSLS"]
        .iter()
        .map(|suffix| Claim::compare("", &semi, &format!("IBFA, refined{suffix}"), &format!("IBFA{suffix}")))
        .collect();
    let text = "Word translation, semi-supervised: refined IBFA is ahead of IBFA";
    findings.claims.push(Claim::together(text, &refinement));
    if let Some(figure) = bars(lab, directions) {
        section.add(figure);
    }
    section.add(supervised);
    section.add(semi);
    if let Some(figure) = correlations(lab, directions) {
        section.add(figure);
    }
    findings.sections.push(section);
}

/// P@1 of the supervised models in every direction that could be computed.
fn bars(lab: &Lab, directions: &[(String, String)]) -> Option<Figure> {
    let found = |direction: &(String, String), name: &str| precision(lab, direction, Dictionary::Expert, name).ok();
    let shown: Vec<(usize, &(String, String))> =
        directions.iter().enumerate().filter(|(_, direction)| found(direction, "SVD").is_some()).collect();
    if shown.is_empty() {
        return None;
    }
    let series = |(name, colour, is_faint): (&str, Method, bool)| Series {
        name: name.to_owned(),
        colour: plots::colour_of(colour),
        is_faint,
        bars: (shown.iter())
            .map(|&(at, direction)| {
                let paper = find(&paper::SUPERVISED, name).and_then(|row| row.get(at).copied());
                Precision::bar(found(direction, name).map(|at| at[0]), paper)
            })
            .collect(),
    };
    let lines = [
        ("SVD", Method::Svd, true),
        ("IBFA", Method::Ibfa, true),
        ("SVD+CSLS", Method::Svd, false),
        ("IBFA+CSLS", Method::Ibfa, false),
    ];
    let plot = Bars {
        title: "Word translation, supervised".to_owned(),
        y: "P@1, %".to_owned(),
        groups: shown.iter().map(|(_, (from, to))| format!("{from}-{to}")).collect(),
        series: lines.into_iter().map(series).collect(),
    };
    let caption = "Precision at 1 with 95 % intervals; diamonds are the paper’s figures for the same languages, with other vectors.";
    Some(Figure::new("translation", caption, &plot.groups, plot.draw(plots::WIDE)))
}

/// The canonical correlations of the supervised models out of English.
fn correlations(lab: &Lab, directions: &[(String, String)]) -> Option<Figure> {
    let mut curves = Vec::new();
    for direction in directions.iter().filter(|(from, _)| from == "en") {
        for (dictionary, what) in [(Dictionary::Expert, "expert"), (Dictionary::Pseudo, "shared strings")] {
            // With fewer pairs than dimensions all correlations are 1, which says nothing.
            let model = lab.model(&key(direction, dictionary, Recipe::plain(Method::Ibfa)), &());
            if let Ok(model) = model
                && model.tuples > model.latent() as f64
            {
                let name = format!("en-{}, {what}", direction.1);
                curves.push(spectrum::curve(name, plots::colour_of_view(curves.len()), &model.rho));
            }
        }
    }
    let caption = "How much of each latent dimension both languages share, from the best dimension to the worst. With few pairs \
                   correlations are overestimated, which is what shrinkage is for; models with fewer pairs than dimensions are not \
                   shown.";
    spectrum::figure(curves, caption)
}

fn table_2(lab: &Lab, directions: &[(String, String)], findings: &mut Findings) {
    let mut section = Section::new("table-2", "Table 2 · Comparison with the basic SVD");
    section.say(
        "Precision at 1, 5 and 10 without any post-processing. The paper uses the English and Italian vectors and dictionaries \
         of Dinu et al.; the same comparison follows for the languages that are there, with MUSE’s dictionaries. CCA (NIPALS) \
         is scikit-learn’s algorithm, which stops short of the canonical correlations.",
    );
    let mut claims = Vec::new();
    for (title, dictionary, lines) in [
        ("Expert dictionary", Dictionary::Expert, &paper::EXPERT),
        ("Pseudo-dictionary of shared strings", Dictionary::Pseudo, &paper::PSEUDO),
    ] {
        let ranks = ["@1", "@5", "@10"];
        let columns =
            ["from English", "to English"].into_iter().flat_map(|group| ranks.map(|rank| Column::of(group, rank)));
        let mut table = Table::new(title, "", columns.collect());
        let italian = if dictionary == Dictionary::Expert { Dictionary::Dinu } else { dictionary };
        table.rows.push(Row::heading("English–Italian (Dinu et al.)"));
        table.rows.extend(BASIC.iter().map(|name| basic_row(lab, "it", italian, name, find(lines, name))));
        let others = directions.iter().filter(|(from, to)| from == "en" && to != "it" && lab.words(to).is_ok());
        for (_, to) in others {
            table.rows.push(Row::heading(format!("English–{}", language(to))));
            table.rows.extend(BASIC.iter().map(|name| basic_row(lab, to, dictionary, name, None)));
        }
        claims.push(Claim::compare("", &table, "IBFA", "SVD"));
        claims.push(Claim::compare("", &table, "IBFA", "CCA"));
        section.add(table);
    }
    findings
        .claims
        .push(Claim::together("Without post-processing, at 1, 5 and 10: IBFA is ahead of SVD and of CCA", &claims));
    findings.sections.push(section);
}

fn basic_row(lab: &Lab, other: &str, dictionary: Dictionary, name: &'static str, paper: Option<[f64; 6]>) -> Row {
    let mut cells = Vec::new();
    for (side, direction) in [("en", other), (other, "en")].into_iter().enumerate() {
        let found = precision(lab, &(direction.0.to_owned(), direction.1.to_owned()), dictionary, name);
        for rank in 0..3 {
            let ours = found.as_ref().map(|at| at[rank].value).map_err(Clone::clone);
            cells.push(Cell::measured(ours, None, paper.map(|figures| figures[3 * side + rank])));
        }
    }
    Row::new(name, cells)
}
