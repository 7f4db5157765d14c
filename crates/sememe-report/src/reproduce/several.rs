//! A language with a small dictionary, aligned with English alone and together with languages that have large ones.

use std::rc::Rc;

use sememe::evaluate::noise::fewer;
use sememe::learn;
use sememe::lexicon::Tuples;
use sememe::model::{FitOptions, Method, Model};
use sememe::retrieve::Criterion;
use sememe::vectors::Embeddings;

use super::Findings;
use super::claims::Claim;
use super::data::language;
use super::lab::{Dictionary, Lab, Outcome, Recipe};
use crate::experiment::{Experiment, Precision, learned, translate};
use crate::report::{Column, Row, Section, Table};
use crate::text::count;
use crate::work::Work;

/// Number of entries of the small dictionary.
const ENTRIES: usize = 100;
/// Largest number of languages with large dictionaries besides English.
const OTHERS: usize = 2;

const ALONE: &str = "alone, refined";
const TOGETHER: &str = "together, refined";

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let mut section = Section::new("learned", "A poor dictionary among good ones");
    let mut findings = Findings::default();
    match Study::choose(lab) {
        Ok(study) => {
            section.say(study.about());
            let table = study.table(work);
            let text = "Few entries, CSLS: refined together with other languages is ahead of refined alone";
            findings.claims.push(Claim::compare(text, &table, TOGETHER, ALONE));
            section.add(table);
        }
        Err(reason) => section.lack(vec![reason]),
    }
    findings.sections.push(section);
    findings
}

/// Fits the model of a row.
type Fit<'a> = &'a dyn Fn() -> Outcome<Rc<Model>>;

struct Study<'a, 'b> {
    lab: &'a Lab<'b>,
    /// English, the languages with large dictionaries, and last the one with few entries.
    codes: Vec<String>,
    /// The few entries, English first.
    few: Tuples,
}

impl<'a, 'b> Study<'a, 'b> {
    /// Finnish has the small dictionary if it is in the data: it is least related to the others.
    fn choose(lab: &'a Lab<'b>) -> Outcome<Self> {
        let mut usable: Vec<&String> = lab.languages.keys().filter(|code| lab.can_be_tested(code)).collect();
        usable.sort_by_key(|code| *code == "fi");
        let poor = usable.pop().filter(|_| !usable.is_empty()).cloned().ok_or_else(|| {
            "no vectors of English and two other languages with dictionaries to fit to and to test on".to_owned()
        })?;
        usable.truncate(OTHERS);
        let few = fewer(&lab.tuples("en", &poor, Dictionary::Expert)?, ENTRIES, lab.options.seed);
        let codes = std::iter::once("en".to_owned()).chain(usable.into_iter().cloned()).chain([poor]).collect();
        Ok(Study { lab, codes, few })
    }

    fn poor(&self) -> &str {
        &self.codes[self.codes.len() - 1]
    }

    fn about(&self) -> String {
        let others: Vec<&str> = self.codes[1..self.codes.len() - 1].iter().map(|code| language(code)).collect();
        format!(
            "The paper has nothing like this: {} has a dictionary of {} entries, drawn at random from English’s. Alone with \
             English it is aligned by IBFA, with {} and their dictionaries by MBFA, whose rounds induce pairs between all \
             of the languages. Precision at 1 (CSLS).",
            language(self.poor()),
            self.few.len(),
            others.join(", "),
        )
    }

    fn table(&self, work: &Work) -> Table {
        let poor = self.poor();
        let others = &self.codes[..self.codes.len() - 1];
        let directions: Vec<[&str; 2]> = (others.iter())
            .flat_map(|other| [[other.as_str(), poor], [poor, other.as_str()]])
            .filter(|[from, to]| self.lab.gold(from, to, Dictionary::Expert).is_ok())
            .collect();
        let columns = directions.iter().map(|[from, to]| Column::new(format!("{from}-{to}"))).collect();
        let mut table = Table::new(format!("{} with few entries", language(poor)), "P@1", columns);
        let two = ["en".to_owned(), poor.to_owned()];
        let expert = || {
            let key = ("en".to_owned(), poor.to_owned(), Dictionary::Expert, Recipe::finished(Method::Ibfa));
            self.lab.model(&key, work)
        };
        let whole = self.lab.tuples("en", poor, Dictionary::Expert).map_or(0, |tuples| tuples.len());
        let rows: [(String, Fit); 4] = [
            ("alone".to_owned(), &|| self.plain(work)),
            (ALONE.to_owned(), &|| self.learned(&two, &self.few, Method::Ibfa, work)),
            (TOGETHER.to_owned(), &|| self.learned(&self.codes, &self.all()?, Method::Mbfa, work)),
            (format!("alone, all {} entries", count(whole)), &expert),
        ];
        for (done, (name, fit)) in rows.iter().enumerate() {
            let model = fit();
            let cells = directions.iter().map(|[from, to]| {
                let found = model.as_ref().map_err(Clone::clone).and_then(|model| self.precision(model, from, to));
                Precision::cell(found, None)
            });
            table.rows.push(Row::new(name, cells.collect()));
            work.advance(done as u64 + 1, rows.len() as u64);
        }
        table
    }

    /// The dictionaries between all languages except the one with few entries.
    fn all(&self) -> Outcome<Tuples> {
        let mut all = Tuples::new(self.codes.len());
        let mut add = |tuples: &Tuples, views: [usize; 2]| {
            for (a, b) in tuples.pairs_of(0, 1) {
                let mut tuple = vec![None; self.codes.len()];
                (tuple[views[0]], tuple[views[1]]) = (Some(a), Some(b));
                all.add(&tuple);
            }
        };
        for other in 1..self.codes.len() - 1 {
            add(&self.lab.tuples("en", &self.codes[other], Dictionary::Expert)?, [0, other]);
        }
        add(&self.few, [0, self.codes.len() - 1]);
        Ok(all)
    }

    fn plain(&self, work: &Work) -> Outcome<Rc<Model>> {
        let views = [("en", self.lab.words("en")?), (self.poor(), self.lab.words(self.poor())?)];
        let options = FitOptions::default().with_method(Some(Method::Ibfa));
        let fitted = Experiment::new(&views, self.few.clone()).and_then(|experiment| experiment.fit(&options, work));
        fitted.map(Rc::new).map_err(|error| error.to_string())
    }

    fn learned(&self, codes: &[String], given: &Tuples, method: Method, work: &Work) -> Outcome<Rc<Model>> {
        let mut options = learn::LearnOptions::default().with_seed(self.lab.options.seed);
        options.align.fit.method = Some(method);
        let mut views: Vec<(&str, &Embeddings)> = Vec::new();
        for code in codes {
            views.push((code, self.lab.words(code)?));
        }
        learned(&views, given, options, work).map(Rc::new).map_err(|error| error.to_string())
    }

    fn precision(&self, model: &Model, from: &str, to: &str) -> Outcome<Precision> {
        let gold = self.lab.gold(from, to, Dictionary::Expert)?;
        let [source, target] = self.lab.pair_in(model, from, to)?;
        let scores = translate(&source, &target, &gold, Criterion::CSLS, self.lab.options.seed);
        scores.map(|scores| scores.at[0]).map_err(|error| error.to_string())
    }
}
