//! `sememe evaluate translation`.

use std::path::{Path, PathBuf};

use sememe::evaluate::{self, Bootstrap, Comparison, Oov, Overlap, Translation};
use sememe::lexicon::{self, Lexicon};
use sememe::prepare::Casing;
use sememe::retrieve::{Criterion, Retriever};
use sememe::space::Space;
use sememe::vectors::Embeddings;
use serde_json::{Value, json};

use super::super::gather::report_read;
use super::subject::{casing, open_space, open_vectors};
use super::{RANKED, case, ranked_cells};
use crate::arguments::{BadUsage, EvaluateTranslation, Global};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &EvaluateTranslation, global: &Global) -> anyhow::Result<()> {
    let subject = Subject::open(arguments, global)?;
    let other = arguments.compare.as_deref().map(Space::open).transpose()?;
    let names = match &subject {
        Subject::Space(space) => arguments.direction.names_in(space)?,
        Subject::Vectors(..) => arguments.direction.names(),
    };
    let mut results = Vec::new();
    for is_back in [false, true] {
        let [from, to] = if is_back { [names[1], names[0]] } else { names };
        if is_back && !arguments.direction.both {
            break;
        }
        let (gold, gold_report) = read_gold(&arguments.gold, [from, to], is_back, global)?;
        for &criterion in &arguments.criterion {
            let asked = Asked { from, to, gold: &gold, criterion, oov: arguments.oov.into(), global };
            let (translation, overlap) = subject.translate(&asked, is_back)?;
            let comparison = match &other {
                Some(other) => {
                    let (other, _) = translate_in_space(other, &asked)?;
                    Some(evaluate::compare(&translation, &other, &asked.bootstrap())?)
                }
                None => None,
            };
            results.push(asked.result(translation, overlap, comparison, gold_report.clone(), subject.casing())?);
        }
    }
    results.iter().filter_map(overlap_warning).for_each(|warning| output::warn(global, warning));

    // The first evaluation is the object itself, for scripts that ask for one.
    let mut json = results[0].json.clone();
    json["evaluations"] = results.iter().map(|result| result.json.clone()).collect();
    output::result(global, json, || for_people(&results, &subject))
}

/// What is asked of a space or of vectors.
struct Asked<'a> {
    from: &'a str,
    to: &'a str,
    gold: &'a Lexicon,
    criterion: Criterion,
    oov: Oov,
    global: &'a Global,
}

/// What came of it.
struct Evaluated {
    name: String,
    translation: Translation,
    cells: Vec<String>,
    overlap: Option<Overlap>,
    comparison: Option<Comparison>,
    json: Value,
}

impl Asked<'_> {
    fn bootstrap(&self) -> Bootstrap {
        Bootstrap { seed: self.global.seed, ..Default::default() }
    }

    fn result(
        &self,
        translation: Translation,
        overlap: Option<Overlap>,
        comparison: Option<Comparison>,
        gold_report: Value,
        casing: Casing,
    ) -> anyhow::Result<Evaluated> {
        let intervals = translation.intervals(&self.bootstrap());
        let mut json = serde_json::to_value(&translation)?;
        json["intervals"] = json!(intervals);
        json["from"] = json!(self.from);
        json["to"] = json!(self.to);
        json["casing"] = json!(casing);
        json["coverage"] = json!(100.0 * translation.queries as f64 / translation.gold_words as f64);
        json["overlap"] = json!(overlap);
        json["unseen"] = json!(overlap.as_ref().and_then(|overlap| translation.unseen(overlap)));
        json["comparison"] = json!(comparison);
        json["gold"] = gold_report;
        Ok(Evaluated {
            name: format!("{} → {}, {}", self.from, self.to, self.criterion),
            cells: ranked_cells(&translation.precision, translation.mrr, &intervals).collect(),
            translation,
            overlap,
            comparison,
            json,
        })
    }
}

/// A space, or the vectors of two languages that lie in one.
enum Subject {
    Space(Box<Space>),
    Vectors(Box<[Embeddings; 2]>, Casing),
}

impl Subject {
    fn open(arguments: &EvaluateTranslation, global: &Global) -> anyhow::Result<Self> {
        let with = arguments.direction.with.as_deref();
        if let Some(space) = open_space(&arguments.what, &arguments.vectors, with)? {
            return Ok(Subject::Space(Box::new(space)));
        }
        let with =
            with.ok_or_else(|| BadUsage("two files of vectors are needed; give the other by --with".to_owned()))?;
        let source = open_vectors(&arguments.what, true, &arguments.vectors, global)?;
        let target = open_vectors(with, false, &arguments.vectors, global)?;
        Ok(Subject::Vectors(Box::new([source, target]), casing(&arguments.vectors)))
    }

    fn casing(&self) -> Casing {
        match self {
            Subject::Space(space) => space.alignment().preparation.casing,
            Subject::Vectors(_, casing) => *casing,
        }
    }

    fn translate(&self, asked: &Asked, is_back: bool) -> anyhow::Result<(Translation, Option<Overlap>)> {
        let ([first, second], casing) = match self {
            Subject::Space(space) => return translate_in_space(space, asked),
            Subject::Vectors(vectors, casing) => (&**vectors, *casing),
        };
        let (source, target) = if is_back { (second, first) } else { (first, second) };
        let gold = casing.of_lexicon(asked.gold.clone());
        let bar = Bar::new(asked.global, "comparing words");
        let (x, y) = (source.matrix().clone(), target.matrix().clone());
        let result = Retriever::new(x, y, asked.criterion, &*bar)
            .and_then(|retriever| evaluate::translation(source, target, &gold, &retriever, &*bar));
        bar.finish();
        Ok((result?.under(asked.oov), None))
    }
}

fn translate_in_space(space: &Space, asked: &Asked) -> anyhow::Result<(Translation, Option<Overlap>)> {
    let (source, target) = (space.view(asked.from)?, space.view(asked.to)?);
    let gold = space.alignment().preparation.casing.of_lexicon(asked.gold.clone());
    let bar = Bar::new(asked.global, "comparing words");
    let result = space
        .retriever(asked.from, asked.to, asked.criterion, &*bar)
        .and_then(|retriever| evaluate::translation(&source, &target, &gold, &retriever, &*bar));
    bar.finish();
    let trained = space.alignment().trained.as_ref();
    let overlap = trained.map(|trained| Overlap::of(trained, &gold, &source, &target));
    Ok((result?.under(asked.oov), overlap))
}

/// The gold dictionary of a direction: in a folder the file of that direction; a single file is read the other way round for
/// the way back.
fn read_gold(path: &Path, [from, to]: [&str; 2], is_back: bool, global: &Global) -> anyhow::Result<(Lexicon, Value)> {
    let is_folder = path.is_dir();
    let file = if is_folder { gold_in(path, from, to)? } else { path.to_owned() };
    let columns = if is_back && !is_folder { [to, from] } else { [from, to] };
    let read = lexicon::read_pairs(&file, columns[0], columns[1], &Default::default())?;
    let report = report_read(&file.display().to_string(), &read, global);
    Ok((read.lexicon.restricted(&[from, to])?, report))
}

/// The test dictionary of a folder as MUSE, XLING and Dinu et al. call theirs.
fn gold_in(folder: &Path, from: &str, to: &str) -> anyhow::Result<PathBuf> {
    let names = [
        format!("{from}-{to}.5000-6500.txt"),
        format!("{from}-{to}.test.freq.2k.tsv"),
        format!("OPUS_{from}_{to}_europarl_test.txt"),
    ];
    names.iter().map(|name| folder.join(name)).find(|file| file.is_file()).ok_or_else(|| {
        BadUsage(format!("the folder {} has none of {}; name the file", folder.display(), names.join(", "))).into()
    })
}

fn overlap_warning(result: &Evaluated) -> Option<String> {
    let overlap = result.overlap.as_ref().filter(|overlap| overlap.trained_pairs > 0)?;
    let unseen = match result.translation.unseen(overlap) {
        Some(unseen) => format!("P@1 of the {} other words is {:.2}", count(unseen.queries), unseen.precision[&1]),
        None => "no other words are left".to_owned(),
    };
    Some(format!(
        "{}: the space was fitted to {} of the {} gold pairs, of {} words; {unseen}",
        result.name,
        count(overlap.trained_pairs),
        count(overlap.gold_pairs),
        count(overlap.words)
    ))
}

fn for_people(results: &[Evaluated], subject: &Subject) -> String {
    let header: Vec<&str> = std::iter::once("").chain(RANKED).collect();
    let row = |result: &Evaluated| std::iter::once(result.name.clone()).chain(result.cells.iter().cloned()).collect();
    let mut text = output::table(&header, results.iter().map(row).collect(), true);
    let compared: Vec<Vec<String>> = results.iter().filter_map(comparison_row).collect();
    if !compared.is_empty() {
        let header = ["P@1 of both on the same queries", "this", "other", "difference", "95 % interval", "p (McNemar)"];
        text += &format!("\n\n{}", output::table(&header, compared, true));
    }
    let mut said: Vec<String> = Vec::new();
    for result in results {
        let direction = result.name.split(',').next().unwrap_or_default();
        let line = format!("{direction}: {}", facts(result, subject));
        if !said.contains(&line) {
            said.push(line);
        }
    }
    format!("{text}\n{}", said.join("\n"))
}

fn comparison_row(result: &Evaluated) -> Option<Vec<String>> {
    let comparison = result.comparison.as_ref()?;
    let [low, high] = comparison.interval;
    Some(vec![
        format!("{} ({} queries)", result.name, count(comparison.queries)),
        format!("{:.2}", comparison.first),
        format!("{:.2}", comparison.second),
        format!("{:+.2}", comparison.difference),
        format!("{low:+.1} – {high:+.1}"),
        format!("{:.2e}", comparison.p_value),
    ])
}

fn facts(result: &Evaluated, subject: &Subject) -> String {
    let translation = &result.translation;
    let overlap = match (&result.overlap, subject) {
        (Some(overlap), _) => {
            format!("fitted to {} of {} gold pairs", count(overlap.trained_pairs), count(overlap.gold_pairs))
        }
        (None, Subject::Space(_)) => "whether it was fitted to gold pairs is unknown, as from moments alone".to_owned(),
        (None, Subject::Vectors(..)) => "what the vectors were fitted to is unknown".to_owned(),
    };
    let wrong = if translation.oov == Oov::Wrong { ", which counts as wrong" } else { "" };
    format!(
        "{} of {} gold words were translated ({} have no vector, {} no translation with a vector{wrong}), {}; {overlap}",
        count(translation.queries),
        count(translation.gold_words),
        count(translation.unknown_words),
        count(translation.without_known_translation),
        case(subject.casing())
    )
}
