//! The abstract's claim, that the model is robust to noise, measured.

use sememe::model::Method;

use super::Findings;
use super::claims::Claim;
use super::data::language;
use super::lab::{Dictionary, Lab, Outcome};
use crate::experiment::Precision;
use crate::noise::{self, Degradation, METHODS, Panel, Study};
use crate::report::{Column, Figure, Row, Section, Table};
use crate::work::Work;

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let mut section = Section::new("noise", "Robustness to noise");
    section.say(
        "The abstract says that the model is robust to noise in the vectors; the paper has no table of it. Precision at 1 (nearest \
         neighbour) as the input of all methods gets worse in three ways, one at a time: Gaussian noise on all vectors, wrong \
         entries in the training dictionary, and fewer entries. Covariances are shrunk automatically, for every method that \
         has them, as few entries leave no other choice.",
    );
    let mut claims = Vec::new();
    match study(lab, work) {
        Ok((pair, panels)) => claims.push(show(&pair, &panels, &mut section)),
        Err(reason) => section.lack(vec![reason]),
    }
    Findings { sections: vec![section], claims }
}

fn study(lab: &Lab, work: &Work) -> Outcome<(String, Vec<Panel>)> {
    let candidates = ["fr", "es", "de", "it"].map(str::to_owned).into_iter().chain(lab.languages.keys().cloned());
    let other = candidates.into_iter().find(|code| lab.can_be_tested(code));
    let other = other.ok_or_else(|| {
        "no vectors of English and another language with dictionaries to fit to and to test on".to_owned()
    })?;
    let (tuples, gold) = (lab.tuples("en", &other, Dictionary::Expert)?, lab.gold("en", &other, Dictionary::Expert)?);
    let views = [("en", lab.words("en")?), (other.as_str(), lab.words(&other)?)];
    let study = Study { steps: &lab.options.steps, seed: lab.options.seed, ..Study::new(views, &tuples, &gold) };
    let degradations = [
        (Degradation::Noise, &[0.0, 0.25, 0.5, 0.75, 1.0, 1.5][..]),
        (Degradation::Wrong, &[0.0, 10.0, 25.0, 50.0, 75.0]),
        (Degradation::Fewer, &[5000.0, 2000.0, 1000.0, 500.0, 200.0]),
    ];
    Ok((format!("English to {}", language(&other)), study.run(&degradations, work).map_err(|error| error.to_string())?))
}

fn show(pair: &str, panels: &[Panel], section: &mut Section) -> Claim {
    let caption = format!("{pair}: precision at 1 as the input gets worse.");
    section.add(Figure::new("noise", caption, panels, noise::draw(panels)));
    let mut claims = Vec::new();
    for panel in panels {
        let columns = panel.levels.iter().map(|&level| Column::new(panel.degradation.label(level))).collect();
        let mut table = Table::new(format!("{pair}, P@1: {}", panel.degradation.name()), "method", columns);
        table.rows = (panel.results.iter())
            .map(|(method, results)| {
                let cells = results.iter().map(|result| {
                    Precision::cell(result.as_ref().map(|scores| scores.at[0]).map_err(Clone::clone), None)
                });
                Row::new(method.name(), cells.collect())
            })
            .collect();
        let rivals = METHODS.iter().filter(|&&method| method != Method::Ibfa);
        claims.extend(rivals.map(|rival| Claim::compare("", &table, Method::Ibfa.name(), rival.name())));
        section.add(table);
    }
    Claim::together("As the input gets worse: IBFA is ahead of every other method", &claims)
}
