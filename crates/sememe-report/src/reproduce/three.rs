//! Tables 6 and 8 and figure 4: three languages in one space, and how EM gets there.

use std::cell::OnceCell;
use std::rc::Rc;

use sememe::lexicon::{self, Lexicon, TrainedPairs, Tuples};
use sememe::model::mbfa::{self, Solver};
use sememe::model::{FitOptions, Method, Model, Shrinkage};
use sememe::retrieve::Criterion;
use sememe::vectors::Embeddings;

use super::claims::Claim;
use super::data::language;
use super::lab::{Dictionary, Lab, Outcome};
use super::paper::{self, find};
use super::{Findings, Part};
use crate::experiment::{self, Experiment, Precision, translate};
use crate::plots;
use crate::report::{Column, Figure, Row, Section, Table};
use crate::text::count;
use crate::work::Work;

/// Three languages, the tuples without a pair of any test, and the tests.
pub struct Trilingual<'a> {
    pub codes: Vec<String>,
    pub words: Vec<&'a Embeddings>,
    pub tuples: Tuples,
    /// Number of tuples that were left out because they contain a test pair.
    left_out: usize,
    converged: OnceCell<Outcome<Rc<Model>>>,
}

impl<'a> Trilingual<'a> {
    /// From a file of triples, or joined from the dictionaries of English with two other languages.
    pub fn gather(lab: &Lab<'a>) -> Outcome<Self> {
        let (codes, tuples) = match lab.data.tuples() {
            Some(path) => {
                let read = lexicon::read_tuples(&path, &Default::default()).map_err(|error| error.to_string())?;
                let lexicon = lab.options.casing.of_lexicon(read.lexicon);
                let codes = lexicon.views().to_vec();
                let words = codes.iter().map(|code| lab.words(code)).collect::<Outcome<Vec<_>>>()?;
                let mut tuples = Tuples::new(codes.len());
                add(&mut tuples, &lexicon, &codes, &words)?;
                (codes, tuples.complete())
            }
            None => joined(lab)?,
        };
        let words = codes.iter().map(|code| lab.words(code)).collect::<Outcome<Vec<_>>>()?;
        if tuples.is_empty() {
            return Err(format!("no tuple has words of all of {}", codes.join(", ")));
        }
        let mut kept = Tuples::new(codes.len());
        let tested = tested_pairs(lab, &codes, &words);
        for tuple in tuples.iter() {
            let words: Vec<(&str, &str)> = (tuple.iter().enumerate())
                .filter_map(|(view, word)| word.map(|word| (codes[view].as_str(), words[view].word(word))))
                .collect();
            let is_tested = |at: usize| words[at + 1..].iter().any(|&other| tested.contains([words[at], other]));
            if !(0..words.len()).any(is_tested) {
                kept.add(&tuple);
            }
        }
        let left_out = tuples.len() - kept.len();
        Ok(Trilingual { codes, words, tuples: kept, left_out, converged: OnceCell::new() })
    }

    /// MBFA as in the paper, fitted to convergence.
    pub fn converged(&self, work: &Work) -> Outcome<Rc<Model>> {
        self.converged.get_or_init(|| self.fit(&plain(Method::Mbfa), work)).clone()
    }

    /// The projected words of every language.
    pub fn latent(&self, model: &Model) -> Outcome<Vec<Embeddings>> {
        let project = |(view, words): (usize, &&Embeddings)| {
            experiment::latent(model, view, words).map_err(|error| error.to_string())
        };
        self.words.iter().enumerate().map(project).collect()
    }

    fn views(&self) -> Vec<(&str, &Embeddings)> {
        self.codes.iter().map(String::as_str).zip(self.words.iter().copied()).collect()
    }

    fn fit(&self, options: &FitOptions, work: &Work) -> Outcome<Rc<Model>> {
        let experiment = Experiment::new(&self.views(), self.tuples.clone());
        let fitted = experiment.and_then(|experiment| experiment.fit(options, work));
        fitted.map(Rc::new).map_err(|error| error.to_string())
    }

    /// MBFA as `sememe align` fits it, with automatic shrinkage and the discriminative finish.
    fn aligned(&self, work: &Work) -> Outcome<Rc<Model>> {
        let options = FitOptions::default().with_method(Some(Method::Mbfa));
        let fitted = experiment::aligned(&self.views(), &self.tuples, options, work);
        fitted.map(Rc::new).map_err(|error| error.to_string())
    }
}

fn plain(method: Method) -> FitOptions {
    FitOptions::default().with_method(Some(method)).with_shrinkage(Shrinkage::None)
}

fn add(tuples: &mut Tuples, lexicon: &Lexicon, codes: &[String], words: &[&Embeddings]) -> Outcome<()> {
    let views: Vec<_> = codes.iter().map(String::as_str).zip(words.iter().map(|words| words.vocabulary())).collect();
    tuples.add_lexicon(lexicon, &views).map(drop).map_err(|error| error.to_string())
}

/// Tuples of English and two other languages (those of the paper, or the first ones), joined from all dictionaries between
/// them.
fn joined(lab: &Lab) -> Outcome<(Vec<String>, Tuples)> {
    lab.words("en")?;
    let mut others: Vec<String> = lab.languages.keys().filter(|code| *code != "en").cloned().collect();
    others.sort_by_key(|code| ["fr", "it"].iter().position(|known| known == code).unwrap_or(2));
    others.truncate(2);
    if others.len() < 2 {
        return Err("three languages are needed, and a file triples.*.tsv or dictionaries between them".to_owned());
    }
    let codes: Vec<String> = std::iter::once("en".to_owned()).chain(others).collect();
    let words = codes.iter().map(|code| lab.words(code)).collect::<Outcome<Vec<_>>>()?;
    let mut tuples = Tuples::new(codes.len());
    for (from, to) in ordered_pairs(&codes) {
        if let Ok(file) = lab.data.train(from, to) {
            add(&mut tuples, &lab.lexicon(&file, from, to)?, &codes, &words)?;
        }
    }
    Ok((codes, tuples.complete()))
}

/// The pairs of all tests between the languages.
fn tested_pairs(lab: &Lab, codes: &[String], words: &[&Embeddings]) -> TrainedPairs {
    let mut tested = Tuples::new(codes.len());
    for (from, to) in ordered_pairs(codes) {
        if let Ok(gold) = lab.gold(from, to, Dictionary::Expert) {
            // All its views are among the languages.
            let _ = add(&mut tested, &gold, codes, words);
        }
    }
    let names: Vec<&str> = codes.iter().map(String::as_str).collect();
    TrainedPairs::of(&tested, &names, |view, word| words[view].word(word))
}

fn ordered_pairs(codes: &[String]) -> impl Iterator<Item = (&str, &str)> {
    codes.iter().flat_map(|from| codes.iter().filter(move |to| *to != from).map(move |to| (from.as_str(), to.as_str())))
}

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let languages = lab.trilingual();
    let mut findings = Findings::default();
    let fit = |options: FitOptions| {
        languages.as_ref().map_err(Clone::clone).and_then(|languages| languages.fit(&options, work))
    };
    let (six, eight) = (lab.options.wants(Part::Table(6)), lab.options.wants(Part::Table(8)));
    let steps = 4 * u64::from(six) + u64::from(eight);
    let converged = languages.as_ref().map_err(Clone::clone).and_then(|languages| languages.converged(work));
    let space = Space { lab, languages };
    if six {
        let mut section = Section::new("table-6", "Table 6 · Three languages in one space");
        section.say(space.about());
        let svd = fit(plain(Method::Svd).with_pivot(space.pivot()));
        work.advance(1, steps);
        let rcsls = fit(plain(Method::Rcsls).with_pivot(space.pivot()));
        work.advance(2, steps);
        let aligned = languages.as_ref().map_err(Clone::clone).and_then(|languages| languages.aligned(work));
        work.advance(3, steps);
        let mut table = space.table("P@1 in a common space");
        for (heading, suffix, what, criterion) in
            [("Nearest neighbour", "", "", Criterion::Nn), ("CSLS", "+CSLS", ", CSLS", Criterion::CSLS)]
        {
            table.rows.push(Row::heading(heading));
            for (name, model, coordinates) in [
                ("SVD", &svd, Coordinates::Latent),
                ("RCSLS", &rcsls, Coordinates::Latent),
                ("MBFA", &converged, Coordinates::Latent),
                ("MBFA, shrunk", &aligned, Coordinates::Latent),
                ("MBFA, finished", &aligned, Coordinates::OfPair),
            ] {
                let name = format!("{name}{suffix}");
                let paper = find(&paper::THREE_LANGUAGES, &name);
                table.rows.push(space.row(&name, (model, coordinates), criterion, paper));
            }
            let text = format!("Three languages{what}: MBFA is ahead of SVD");
            findings.claims.push(Claim::compare(text, &table, &format!("MBFA{suffix}"), &format!("SVD{suffix}")));
        }
        work.advance(4, steps);
        section.add(table);
        findings.sections.push(section);
    }
    if eight {
        let mut options = plain(Method::Mbfa);
        options.mbfa = mbfa::MbfaOptions::default().with_solver(Solver::Em).with_evaluations(lab.options.em_steps);
        let em = fit(options);
        work.advance(steps, steps);
        findings.sections.push(learning(&space, &em, &converged));
    }
    findings
}

/// Table 8 and figure 4.
fn learning(space: &Space, em: &Outcome<Rc<Model>>, converged: &Outcome<Rc<Model>>) -> Section {
    let mut section = Section::new("table-8", "Table 8 and figure 4 · EM, and when to stop it");
    section.say(
        "MBFA has no closed form. The paper runs 20,000 iterations of EM and finds that 1,000 would have done. Here the maximum is \
         found by a quasi-Newton method instead, which takes some hundred evaluations of the likelihood.",
    );
    let values = |model: &Outcome<Rc<Model>>| -> Vec<f64> {
        let trace = model.as_ref().ok().and_then(|model| model.trace.clone());
        trace.map_or_else(Vec::new, |trace| trace.negative_log_likelihoods)
    };
    let (of_em, of_newton) = (values(em), values(converged));
    if let (Some(last), Some(best)) = (of_em.last(), of_newton.last()) {
        section.say(format!(
            "Negative log-likelihood: {last:.4} nats a tuple after {} steps of EM, {best:.4} after {} accepted steps of the \
             quasi-Newton method.",
            count(of_em.len()),
            count(of_newton.len()),
        ));
    }
    let mut table = space.table("P@1 after EM and converged");
    for (heading, prefix, criterion) in
        [("Nearest neighbour", "MBFA", Criterion::Nn), ("CSLS", "MBFA+CSLS", Criterion::CSLS)]
    {
        table.rows.push(Row::heading(heading));
        for (name, model) in
            [(format!("{} steps of EM", count(space.lab.options.em_steps)), em), ("converged".to_owned(), converged)]
        {
            let name = format!("{prefix}, {name}");
            let figures = find(&paper::ITERATIONS, &name);
            table.rows.push(space.row(&name, (model, Coordinates::Latent), criterion, figures));
        }
    }
    section.add(table);
    let all: Vec<(&str, &[f64])> = [("EM", &of_em[..]), ("quasi-Newton", &of_newton)]
        .into_iter()
        .filter(|(_, values)| !values.is_empty())
        .collect();
    for (name, caption, skipped) in [
        ("learning-curve", "Figure 4, left: the negative log-likelihood of every step.", 0),
        ("learning-curve-late", "Figure 4, right: the same from the tenth step on.", 9),
    ] {
        if let Ok(svg) = plots::learning_curve(&all, skipped) {
            section.add(Figure::new(name, caption, &all, svg));
        }
    }
    section
}

/// What words are compared by.
#[derive(Clone, Copy, PartialEq)]
enum Coordinates {
    /// The common latent space, as in the paper.
    Latent,
    /// The coordinates of each two languages, as by `sememe align`.
    OfPair,
}

/// The common part of the cells of both tables.
struct Space<'a, 'b> {
    lab: &'a Lab<'b>,
    languages: &'a Outcome<Trilingual<'b>>,
}

impl Space<'_, '_> {
    /// English if it is one of the languages, else the first.
    fn pivot(&self) -> Option<String> {
        let codes = &self.languages.as_ref().ok()?.codes;
        codes.iter().find(|code| *code == "en").or(codes.first()).cloned()
    }

    fn about(&self) -> String {
        let common = "Precision at 1 between any two of three languages in one space: that of English for SVD and RCSLS, the latent \
                      space for MBFA. “Finished” compares each two languages in coordinates of their own, tuned for retrieval. The \
                      paper aligns English, French and Italian.";
        match self.languages {
            Ok(Trilingual { codes, tuples, left_out, .. }) => {
                let names: Vec<&str> = codes.iter().map(|code| language(code)).collect();
                format!(
                    "{common} Here {} are aligned through {} triples; {} more have a pair of one of the tests and were left out.",
                    names.join(", "),
                    count(tuples.len()),
                    count(*left_out)
                )
            }
            Err(_) => common.to_owned(),
        }
    }

    /// The paper's directions, and those between the languages here.
    fn directions(&self) -> Vec<(String, String)> {
        let mut directions: Vec<(String, String)> =
            paper::THREE.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        for (from, to) in self.languages.iter().flat_map(|languages| ordered_pairs(&languages.codes)) {
            let direction = (from.to_owned(), to.to_owned());
            if !directions.contains(&direction) {
                directions.push(direction);
            }
        }
        directions
    }

    fn table(&self, caption: &str) -> Table {
        let columns = self.directions().iter().map(|(from, to)| Column::new(format!("{from}-{to}"))).collect();
        Table::new(caption, "P@1", columns)
    }

    fn row(
        &self,
        name: &str,
        (model, coordinates): (&Outcome<Rc<Model>>, Coordinates),
        criterion: Criterion,
        paper: Option<[f64; 6]>,
    ) -> Row {
        let space = || -> Outcome<Projected> {
            let (languages, model) = (self.languages.as_ref().map_err(Clone::clone)?, model.clone()?);
            Ok(Projected { latent: languages.latent(&model)?, model, coordinates })
        };
        let space = space();
        let cell = |(at, (from, to)): (usize, &(String, String))| {
            let found = self.precision(&space, from, to, criterion);
            Precision::cell(found, paper.and_then(|figures| figures.get(at).copied()))
        };
        Row::new(name, self.directions().iter().enumerate().map(cell).collect())
    }

    fn precision(&self, space: &Outcome<Projected>, from: &str, to: &str, criterion: Criterion) -> Outcome<Precision> {
        self.lab.words(from).and(self.lab.words(to))?;
        let (languages, space) =
            (self.languages.as_ref().map_err(Clone::clone)?, space.as_ref().map_err(Clone::clone)?);
        let place = |code: &str| {
            let found = languages.codes.iter().position(|known| known == code);
            found.ok_or_else(|| format!("{} is not one of the three", language(code)))
        };
        let gold = self.lab.gold(from, to, Dictionary::Expert)?;
        let [source, target] = space.pair([place(from)?, place(to)?])?;
        let measured = translate(&source, &target, &gold, criterion, self.lab.options.seed);
        measured.map(|scores| scores.at[0]).map_err(|error| error.to_string())
    }
}

/// The words of all languages in the space of a model.
struct Projected {
    model: Rc<Model>,
    latent: Vec<Embeddings>,
    coordinates: Coordinates,
}

impl Projected {
    /// The words of two languages, as they are compared.
    fn pair(&self, views: [usize; 2]) -> Outcome<[Embeddings; 2]> {
        let latent = views.map(|view| self.latent[view].clone());
        match self.coordinates {
            Coordinates::Latent => Ok(latent),
            Coordinates::OfPair => experiment::compared(&self.model, views, latent).map_err(|error| error.to_string()),
        }
    }
}
