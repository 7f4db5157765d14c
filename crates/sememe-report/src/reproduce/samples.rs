//! Table 7: words drawn from a model; and a map of the latent space, which is not in the paper.

use std::collections::HashMap;

use sememe::lexicon::TrainedPairs;
use sememe::model::Method;
use sememe::sample::{Drawn, Vocabularies, draw, without_trained};
use sememe::vectors::Vocabulary;

use super::Findings;
use super::data::language;
use super::lab::{Dictionary, Lab, Outcome, Recipe};
use super::paper;
use crate::map;
use crate::report::{Cell, Column, Row, Section, Table};
use crate::text::count;
use crate::work::Work;

const DRAWN: usize = 2000;
const SHOWN: usize = 28;

pub fn compute(lab: &Lab, work: &Work) -> Findings {
    let mut section = Section::new("table-7", "Table 7 · Words drawn from a model");
    section.say(
        "Hidden vectors and noise are drawn from an IBFA model, vectors of both languages are made out of them, and the nearest \
         words, by cosine, stand for these. Of 2,000 pairs the 28 with the largest joint density under the model are shown. \
         Pairs of the dictionary are left out here; names and acronyms are not, which the paper’s authors removed.",
    );
    let (other, ours) = match sampled(lab, work) {
        Ok((other, about, ours)) => {
            section.say(about);
            (other, ours)
        }
        Err(reason) => {
            section.lack(vec![reason]);
            (String::new(), Vec::new())
        }
    };
    let mut columns: Vec<Column> =
        ["en", "es", "es→en"].map(|name| Column::of("The paper: English and Spanish", name)).to_vec();
    if !ours.is_empty() {
        let group = format!("Here: English and {}", language(&other));
        let names = ["en".to_owned(), other.clone(), format!("{other}→en"), "log p".to_owned()];
        columns.splice(0..0, names.into_iter().map(|name| Column::of(group.clone(), name)));
    }
    let mut table = Table::new(format!("The {SHOWN} most probable pairs"), "", columns);
    for (place, (en, es, meaning)) in paper::SAMPLES.iter().enumerate() {
        let of_paper = [en, es, meaning].map(|&word| Cell::text(word));
        let cells =
            ours.get(place).cloned().unwrap_or_else(|| vec![Cell::text(""); table.columns.len() - of_paper.len()]);
        table.rows.push(Row::new((place + 1).to_string(), cells.into_iter().chain(of_paper).collect()));
    }
    table.marks_best = false;
    section.add(table);
    Findings { sections: vec![section], claims: Vec::new() }
}

/// The other language of the model: the paper's, or the first that has a dictionary.
fn partner(lab: &Lab) -> Outcome<String> {
    let candidates = ["es", "fr", "de", "it"].map(str::to_owned).into_iter().chain(lab.languages.keys().cloned());
    let usable = |code: &String| code != "en" && lab.tuples("en", code, Dictionary::Expert).is_ok();
    candidates
        .into_iter()
        .find(usable)
        .ok_or_else(|| "no vectors of English and another language with a dictionary".to_owned())
}

/// The other language, what was drawn, and the cells of every pair.
fn sampled(lab: &Lab, work: &Work) -> Outcome<(String, String, Vec<Vec<Cell>>)> {
    let other = partner(lab)?;
    let model = lab.model(&("en".to_owned(), other.clone(), Dictionary::Expert, Recipe::plain(Method::Ibfa)), work)?;
    let (english, foreign) = (lab.words("en")?, lab.words(&other)?);
    let vectors = Vocabularies::Vectors(vec![english.matrix(), foreign.matrix()]);
    let drawn = draw(&model, &vectors, DRAWN, lab.options.seed).map_err(|error| error.to_string())?;
    let names = ["en", other.as_str()];
    let vocabularies: [&Vocabulary; 2] = [english.vocabulary(), foreign.vocabulary()];
    let tuples = lab.tuples("en", &other, Dictionary::Expert)?;
    let trained = TrainedPairs::of(&tuples, &names, |view, word| vocabularies[view].word(word));
    let distinct = drawn.len();
    let new = without_trained(drawn, Some(&trained), &names, &vocabularies);
    let meanings = meanings(lab, &other);
    let about = format!(
        "Here {} different pairs of English and {} words were drawn, of which {} are in the dictionary. Densities are in nats.",
        count(distinct),
        language(&other),
        count(distinct - new.len())
    );
    let cells = |drawn: &Drawn| {
        let words = drawn.spelled(&vocabularies);
        let meaning = meanings.get(words[1]).cloned().unwrap_or_else(|| "–".to_owned());
        let density = Cell::measured(Ok(drawn.log_density), None, None);
        vec![Cell::text(words[0]), Cell::text(words[1]), Cell::text(meaning), density]
    };
    let shown = new.iter().take(SHOWN).map(cells).collect();
    Ok((other, about, shown))
}

/// What words mean in English: the first translation in MUSE's whole dictionary.
fn meanings(lab: &Lab, other: &str) -> HashMap<String, String> {
    let mut meanings = HashMap::new();
    let whole = lab.data.whole(other, "en").and_then(|file| lab.lexicon(&file, other, "en"));
    for entry in whole.iter().flat_map(|lexicon| lexicon.entries()) {
        if let (Some(word), Some(meaning)) = (entry.word(0), entry.word(1)) {
            meanings.entry(word.to_owned()).or_insert_with(|| meaning.to_owned());
        }
    }
    meanings
}

pub fn compute_map(lab: &Lab, work: &Work) -> Findings {
    let mut section = Section::new("map", "A map of the latent space");
    section.say(
        "Words of several languages where the model puts them. Translations are joined; the closer they are, the better the \
         model has aligned them.",
    );
    match drawn_map(lab, work) {
        Ok(figure) => section.add(figure),
        Err(reason) => section.lack(vec![reason]),
    }
    Findings { sections: vec![section], claims: Vec::new() }
}

fn drawn_map(lab: &Lab, work: &Work) -> Outcome<crate::report::Figure> {
    let languages = lab.trilingual().as_ref().map_err(Clone::clone)?;
    let spaces = languages.latent(&*languages.converged(work)?)?;
    let views: Vec<(&str, &_)> = languages.codes.iter().map(|code| language(code)).zip(&spaces).collect();
    map::figure(&views, &languages.tuples).map_err(|error| error.to_string())
}
