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
    use Method::{Cca, CcaNipals, Ibfa, LeastSquares, Rcsls, Svd};
    let plain = Recipe::plain;
    vec![
        ("Mikolov et al.", plain(LeastSquares), Criterion::Nn),
        ("Dinu et al.", plain(LeastSquares), CORRECTED),
        ("CCA (NIPALS)", plain(CcaNipals), Criterion::Nn),
        ("CCA", plain(Cca), Criterion::Nn),
        ("SVD", plain(Svd), Criterion::Nn),
        ("SVD+CSLS", plain(Svd), Criterion::CSLS),
        ("Smith et al.", plain(Svd), Criterion::ISF),
        ("RCSLS", plain(Rcsls), Criterion::Nn),
        ("RCSLS+CSLS", plain(Rcsls), Criterion::CSLS),
        ("IBFA", plain(Ibfa), Criterion::Nn),
        ("IBFA+CSLS", plain(Ibfa), Criterion::CSLS),
        ("IBFA, shrunk", Recipe::shrunk(Ibfa), Criterion::Nn),
        ("IBFA, shrunk+CSLS", Recipe::shrunk(Ibfa), Criterion::CSLS),
        ("IBFA, finished", Recipe::finished(Ibfa), Criterion::Nn),
        ("IBFA, finished+CSLS", Recipe::finished(Ibfa), Criterion::CSLS),
        ("SVD, refined", Recipe::refined(Svd), Criterion::Nn),
        ("SVD, refined+CSLS", Recipe::refined(Svd), Criterion::CSLS),
        ("IBFA, refined", Recipe::refined(Ibfa), Criterion::Nn),
        ("IBFA, refined+CSLS", Recipe::refined(Ibfa), Criterion::CSLS),
        ("IBFA, unsupervised", Recipe::unsupervised(Ibfa), Criterion::Nn),
        ("IBFA, unsupervised+CSLS", Recipe::unsupervised(Ibfa), Criterion::CSLS),
    ]
}

/// The rows of table 1, as the paper groups them, with further methods.
const NEAREST: [&str; 9] = [
    "Mikolov et al.",
    "CCA (NIPALS)",
    "CCA",
    "SVD",
    "RCSLS",
    "IBFA",
    "IBFA, shrunk",
    "IBFA, finished",
    "IBFA, refined",
];
const POST_PROCESSED: [&str; 8] = [
    "Dinu et al.",
    "Smith et al.",
    "SVD+CSLS",
    "RCSLS+CSLS",
    "IBFA+CSLS",
    "IBFA, shrunk+CSLS",
    "IBFA, finished+CSLS",
    "IBFA, refined+CSLS",
];
const SEMI_NEAREST: [&str; 7] =
    ["SVD", "IBFA", "IBFA, shrunk", "IBFA, finished", "SVD, refined", "IBFA, refined", "IBFA, unsupervised"];
const SEMI_POST_PROCESSED: [&str; 7] = [
    "SVD+CSLS",
    "IBFA+CSLS",
    "IBFA, shrunk+CSLS",
    "IBFA, finished+CSLS",
    "SVD, refined+CSLS",
    "IBFA, refined+CSLS",
    "IBFA, unsupervised+CSLS",
];
/// The rows of table 2. RCSLS is a method for dictionaries.
const BASIC: [&str; 8] =
    ["Mikolov et al.", "CCA (NIPALS)", "CCA", "SVD", "RCSLS", "IBFA", "IBFA, shrunk", "IBFA, finished"];
const SEMI_BASIC: [&str; 7] =
    ["Mikolov et al.", "CCA (NIPALS)", "CCA", "SVD", "IBFA", "IBFA, shrunk", "IBFA, finished"];

/// Both tables, without the rows that are learned.
pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let wants = |number| lab.options.wants(Part::Table(number));
    let directions = directions(lab);
    let mut asked = Vec::new();
    if wants(1) {
        asked.extend(asked_of_table_1(lab, &directions, false));
    }
    if wants(2) {
        asked.extend(asked_of_table_2(lab, &directions));
    }
    measure(lab, &asked, work);
    let mut findings = Findings::default();
    if wants(1) {
        table_1(lab, &directions, &mut findings);
    }
    if wants(2) {
        table_2(lab, &directions, &mut findings);
    }
    findings
}

/// Table 1 again, with the rows that are learned.
pub fn compute_learned(lab: &Lab, work: &Work) -> Findings {
    let directions = directions(lab);
    measure(lab, &asked_of_table_1(lab, &directions, true), work);
    let mut findings = Findings::default();
    table_1(lab, &directions, &mut findings);
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

/// A space and the criterion by which its words are translated.
type Asked = (Bilingual, Criterion);

/// What table 1 needs: the rows that are learned, or the others.
fn asked_of_table_1(lab: &Lab, directions: &[(String, String)], is_learned: bool) -> Vec<Asked> {
    let is_there = |direction: &&(String, String)| lab.words(&direction.0).is_ok() && lab.words(&direction.1).is_ok();
    let mut asked = Vec::new();
    for direction in directions.iter().filter(is_there) {
        for (dictionary, nearest, post_processed) in [
            (Dictionary::Expert, &NEAREST[..], &POST_PROCESSED[..]),
            (Dictionary::Pseudo, &SEMI_NEAREST, &SEMI_POST_PROCESSED),
        ] {
            let is_asked = |(name, recipe, _): &Line| {
                recipe.is_learned() == is_learned && (nearest.contains(name) || post_processed.contains(name))
            };
            let of_line = |(_, recipe, criterion)| (key(direction, dictionary, recipe), criterion);
            asked.extend(lines().into_iter().filter(is_asked).map(of_line));
        }
    }
    asked
}

fn asked_of_table_2(lab: &Lab, directions: &[(String, String)]) -> Vec<Asked> {
    let mut asked = Vec::new();
    for (_, other) in directions.iter().filter(|(from, to)| from == "en" && lab.words(to).is_ok()) {
        for (dictionary, names) in [(Dictionary::Expert, &BASIC[..]), (Dictionary::Pseudo, &SEMI_BASIC)] {
            for direction in from_and_to_english(other) {
                let is_asked = |(name, ..): &Line| names.contains(name);
                let of_line =
                    |(_, recipe, criterion)| (key(&direction, basic_dictionary(other, dictionary), recipe), criterion);
                asked.extend(lines().into_iter().filter(is_asked).map(of_line));
            }
        }
    }
    asked
}

/// Fits all models, then computes the results, one space at a time. They are cached; failures are shown in their cells.
fn measure(lab: &Lab, asked: &[Asked], work: &Work) {
    // Without test words there is no need to fit.
    let can_be_tested = |(key, _): &&Asked| lab.gold(&key.0, &key.1, key.2).is_ok();
    let keys: Vec<Bilingual> = asked.iter().filter(can_be_tested).map(|(key, _)| key.clone()).collect();
    // Fitting counts as one half of the work.
    let half = asked.len() as u64;
    lab.fit_all(&keys, work, &|done, total| work.advance(half * done as u64 / total as u64, 2 * half));
    for (done, (key, criterion)) in asked.iter().enumerate() {
        let _ = lab.scores(key, *criterion, work);
        work.advance(half + done as u64 + 1, 2 * half);
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
    lab.known_scores(&key(direction, dictionary, *recipe), *criterion).map(|scores| scores.at)
}

fn table_1(lab: &Lab, directions: &[(String, String)], findings: &mut Findings) {
    let mut section = Section::new("table-1", "Table 1 · Word translation");
    section.say(
        "Precision at 1: how often the word that is ranked first is a right translation. Supervised models are fitted to MUSE’s \
         first 5,000 words, semi-supervised ones to the strings that both vocabularies share; all are tested on the next 1,500 \
         words. Each direction of an expert dictionary has a model of its own; that of shared strings is the same for both. RCSLS \
         is the method of Joulin et al. (2018). “Finished” models are tuned for retrieval after the fit, as far as held-out \
         pairs gain by it; with few pairs they are the “shrunk” ones. “Refined” models begin with the pairs and learn more of \
         them from the vectors, “unsupervised” ones begin with the vectors alone; the latter stand beside the paper’s AdvR, the \
         adversarial method of Conneau et al.",
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
    for (title, dictionary, lines, names) in [
        ("Expert dictionary", Dictionary::Expert, &paper::EXPERT, &BASIC[..]),
        ("Pseudo-dictionary of shared strings", Dictionary::Pseudo, &paper::PSEUDO, &SEMI_BASIC),
    ] {
        let ranks = ["@1", "@5", "@10"];
        let columns =
            ["from English", "to English"].into_iter().flat_map(|group| ranks.map(|rank| Column::of(group, rank)));
        let mut table = Table::new(title, "", columns.collect());
        table.rows.push(Row::heading("English–Italian (Dinu et al.)"));
        table.rows.extend(names.iter().map(|name| basic_row(lab, "it", dictionary, name, find(lines, name))));
        let others = directions.iter().filter(|(from, to)| from == "en" && to != "it" && lab.words(to).is_ok());
        for (_, to) in others {
            table.rows.push(Row::heading(format!("English–{}", language(to))));
            table.rows.extend(names.iter().map(|name| basic_row(lab, to, dictionary, name, None)));
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

fn from_and_to_english(other: &str) -> [(String, String); 2] {
    [("en".to_owned(), other.to_owned()), (other.to_owned(), "en".to_owned())]
}

/// The dictionary of table 2: for Italian that of Dinu et al.
fn basic_dictionary(other: &str, dictionary: Dictionary) -> Dictionary {
    if other == "it" && dictionary == Dictionary::Expert { Dictionary::Dinu } else { dictionary }
}

fn basic_row(lab: &Lab, other: &str, dictionary: Dictionary, name: &'static str, paper: Option<[f64; 6]>) -> Row {
    let mut cells = Vec::new();
    for (side, direction) in from_and_to_english(other).iter().enumerate() {
        let found = precision(lab, direction, basic_dictionary(other, dictionary), name);
        for rank in 0..3 {
            let ours = found.as_ref().map(|at| at[rank].value).map_err(Clone::clone);
            cells.push(Cell::measured(ours, None, paper.map(|figures| figures[3 * side + rank])));
        }
    }
    Row::new(name, cells)
}
