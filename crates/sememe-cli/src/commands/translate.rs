//! `sememe translate`: words of one view, their best translations in others.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use sememe::files::check_readable;
use sememe::lexicon::find_word;
use sememe::retrieve::{Hit, Retriever};
use sememe::space::{Space, Views};
use sememe::translate::{Confidence, closest_spellings};
use sememe::vectors::{self, Embeddings, Format, Matrix, ReadOptions};
use serde_json::{Value, json};

use crate::arguments::{BadUsage, Global, Translate};
use crate::output;
use crate::progress::Bar;

/// What `--file` calls it.
const STANDARD_INPUT: &str = "-";
/// How many spellings are suggested for a word that is not there.
const SUGGESTIONS: usize = 3;

pub fn run(arguments: &Translate, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.space)?;
    // What is read later, and after long work, is looked for now.
    let files = arguments.file.iter().filter(|file| *file != Path::new(STANDARD_INPUT)).chain(&arguments.vectors);
    files.into_iter().try_for_each(|file| check_readable(file))?;
    let views = arguments.to.iter().map(|to| Views::open(&space, &arguments.from, to));
    let views = views.collect::<sememe::Result<Vec<_>>>()?;
    let bar = Bar::new(global, "comparing words");
    let translator = Translator::new(arguments, &space, &views, (global, &bar))?;
    if translator.targets.iter().any(|target| target.confidence.is_none()) {
        let why = "it was aligned without words to calibrate them by";
        output::note(global, format_args!("no confidences are shown, as the space has none: {why}"));
    }
    let words = match (&arguments.file, &arguments.words[..]) {
        (Some(file), _) if file != Path::new(STANDARD_INPUT) => vectors::read_word_list(file)?,
        (None, []) if io::stdin().is_terminal() => return translator.prompt(global),
        (Some(_), _) | (None, []) => lines(io::stdin().lock()).collect::<anyhow::Result<_>>()?,
        (None, words) => words.to_vec(),
    };
    let answer = translator.translate(words)?;
    if answer.translations.is_empty() {
        let problems: Vec<String> = answer.unknown.iter().map(|unknown| translator.about(unknown)).collect();
        let none = || "there are no words to translate".to_owned();
        return Err(BadUsage(if problems.is_empty() { none() } else { problems.join("\n") }).into());
    }
    translator.show(&answer, global)
}

/// The words of a text, one a line; empty lines are passed over.
fn lines(text: impl BufRead) -> impl Iterator<Item = anyhow::Result<String>> {
    let words = text.lines().map(|line| Ok(line.context("cannot read standard input")?.trim().to_owned()));
    words.filter(|word: &anyhow::Result<String>| !word.as_ref().is_ok_and(String::is_empty))
}

/// Everything that is needed for any number of words.
struct Translator<'a> {
    arguments: &'a Translate,
    space: &'a Space,
    source: &'a Embeddings,
    /// Vectors of words that the space does not have.
    further: Option<Embeddings>,
    targets: Vec<Target<'a>>,
}

/// One view to translate to.
struct Target<'a> {
    name: &'a str,
    words: &'a Embeddings,
    retriever: Retriever<'a>,
    confidence: Option<Confidence<'a>>,
}

/// What was found.
#[derive(Default)]
struct Answer<'a> {
    /// For each word the candidates in every view.
    translations: Vec<(String, Vec<Vec<Candidate<'a>>>)>,
    unknown: Vec<Unknown<'a>>,
}

struct Candidate<'a> {
    word: &'a str,
    score: f32,
    confidence: Option<f64>,
}

struct Unknown<'a> {
    word: String,
    suggestions: Vec<&'a str>,
}

impl<'a> Translator<'a> {
    fn new(
        arguments: &'a Translate,
        space: &'a Space,
        views: &'a [Views<'a>],
        (global, bar): (&Global, &'a Bar),
    ) -> anyhow::Result<Self> {
        let alignment = space.alignment();
        let from = alignment.model.view_index(&arguments.from)?;
        let mut targets = Vec::new();
        for (name, views) in arguments.to.iter().zip(views) {
            let temperature = alignment.temperature(from, alignment.model.view_index(name)?);
            targets.push(Target {
                name,
                words: &views.target,
                retriever: views.retriever(arguments.ranking.criterion, bar)?,
                confidence: temperature.map(|temperature| Confidence::new(views.target.matrix(), temperature)),
            });
        }
        bar.finish();
        let further = arguments.vectors.as_deref().map(|path| read_further(path, global)).transpose()?;
        Ok(Translator { arguments, space, source: &views[0].source, further, targets })
    }

    fn translate(&self, words: Vec<String>) -> anyhow::Result<Answer<'a>> {
        let mut answer = Answer::default();
        let (mut known, mut queries) = (Vec::new(), Vec::new());
        for word in words {
            match self.vector(&word)? {
                Some(vector) => {
                    queries.extend(vector);
                    known.push(word);
                }
                None => {
                    let spelled = self.space.alignment().preparation.casing.of_word(&word);
                    let suggestions = closest_spellings(self.source.vocabulary(), &spelled, SUGGESTIONS);
                    answer.unknown.push(Unknown { word, suggestions });
                }
            }
        }
        let queries = Matrix::new(queries, self.source.dim());
        answer.translations = known.into_iter().map(|word| (word, Vec::new())).collect();
        for target in &self.targets {
            let hits = target.retriever.nearest(&queries, self.arguments.candidates.get())?;
            for ((_, found), candidates) in answer.translations.iter_mut().zip(target.candidates(&queries, hits)) {
                found.push(candidates);
            }
        }
        Ok(answer)
    }

    /// Where a word lies in the latent space: as the space says, or from further vectors.
    fn vector(&self, word: &str) -> anyhow::Result<Option<Vec<f32>>> {
        let alignment = self.space.alignment();
        let spelled = alignment.preparation.casing.of_word(word);
        if let Some(row) = find_word(self.source.vocabulary(), &spelled) {
            return Ok(Some(self.source.vector(row).to_vec()));
        }
        let Some(further) = &self.further else { return Ok(None) };
        let (found, _) = further.select([spelled.as_str()]);
        if found.is_empty() {
            return Ok(None);
        }
        let view = alignment.model.view_index(&self.arguments.from)?;
        let latent = alignment.project(view, found).context("--vectors")?;
        Ok(Some(latent.view.rows().row(0).to_vec()))
    }

    /// Asks for words until there are no more.
    fn prompt(&self, global: &Global) -> anyhow::Result<()> {
        let ask = || {
            let _ = write!(io::stderr(), "{}> ", output::visible(&self.arguments.from));
            let _ = io::stderr().flush();
        };
        ask();
        for line in io::stdin().lock().lines() {
            let word = line.context("cannot read standard input")?.trim().to_owned();
            if word.is_empty() {
                return Ok(());
            }
            let answer = self.translate(vec![word])?;
            self.show(&answer, global)?;
            ask();
        }
        output::note(global, "");
        Ok(())
    }

    /// What to say of a word that is not there.
    fn about(&self, unknown: &Unknown) -> String {
        let spelled: Vec<String> = unknown.suggestions.iter().map(|word| format!("{word:?}")).collect();
        let suggestion = match spelled.split_last() {
            None => String::new(),
            Some((only, [])) => format!("; did you mean {only}?"),
            Some((last, others)) => format!("; did you mean {} or {last}?", others.join(", ")),
        };
        format!("{:?} is not in the vocabulary of {}{suggestion}", unknown.word, self.arguments.from)
    }

    fn show(&self, answer: &Answer, global: &Global) -> anyhow::Result<()> {
        for unknown in &answer.unknown {
            output::warn(global, self.about(unknown));
        }
        if answer.translations.is_empty() && !global.json {
            return Ok(());
        }
        output::result(global, self.json(answer), || self.table(answer))
    }

    fn table(&self, answer: &Answer) -> String {
        let mut rows = Vec::new();
        for (word, found) in &answer.translations {
            for (place, (target, candidates)) in self.targets.iter().zip(found).enumerate() {
                let mut row = vec![if place == 0 { word.clone() } else { String::new() }];
                if self.targets.len() > 1 {
                    row.push(target.name.to_owned());
                }
                row.push(self.line(candidates));
                rows.push(row);
            }
        }
        match &self.targets[..] {
            [only] => output::table(&[&self.arguments.from, only.name], rows, false),
            _ => output::table(&[&self.arguments.from, "to", "candidates"], rows, false),
        }
    }

    fn line(&self, candidates: &[Candidate]) -> String {
        let shown = |candidate: &Candidate| match candidate.confidence {
            Some(confidence) => format!("{} {} ({:.2})", candidate.word, per_cent(confidence), candidate.score),
            None => format!("{} ({:.2})", candidate.word, candidate.score),
        };
        let shown = candidates.iter().map(shown).collect::<Vec<_>>().join("   ");
        if self.is_known(candidates) { shown } else { format!("don't know; nearest: {shown}") }
    }

    /// Whether the first candidate is sure enough.
    fn is_known(&self, candidates: &[Candidate]) -> bool {
        let first = candidates.first().and_then(|first| first.confidence);
        first.is_none_or(|confidence| confidence >= self.arguments.min_confidence)
    }

    fn json(&self, answer: &Answer) -> Value {
        let mut translations = Vec::new();
        for (word, found) in &answer.translations {
            for (target, candidates) in self.targets.iter().zip(found) {
                let shown = |candidate: &Candidate| json!({ "word": candidate.word, "score": candidate.score, "confidence": candidate.confidence });
                translations.push(json!({
                    "word": word,
                    "to": target.name,
                    "known": self.is_known(candidates),
                    "candidates": candidates.iter().map(shown).collect::<Vec<_>>(),
                }));
            }
        }
        let suggestions: serde_json::Map<String, Value> =
            answer.unknown.iter().map(|unknown| (unknown.word.clone(), json!(unknown.suggestions))).collect();
        json!({
            "from": self.arguments.from,
            "to": self.arguments.to,
            "criterion": self.arguments.ranking.criterion,
            "min_confidence": self.arguments.min_confidence,
            "translations": translations,
            "unknown": answer.unknown.iter().map(|unknown| &unknown.word).collect::<Vec<_>>(),
            "suggestions": suggestions,
        })
    }
}

impl<'a> Target<'a> {
    /// The words of hits, with how sure they are.
    fn candidates(&self, queries: &Matrix, hits: Vec<Vec<Hit>>) -> Vec<Vec<Candidate<'a>>> {
        let confidences = match &self.confidence {
            Some(confidence) => confidence.of_hits(queries, &hits),
            None => vec![Vec::new(); hits.len()],
        };
        let candidates = |(hits, confidences): (Vec<Hit>, Vec<f64>)| {
            let candidate = |(rank, hit): (usize, Hit)| Candidate {
                word: self.words.word(hit.index),
                score: hit.score,
                confidence: confidences.get(rank).copied(),
            };
            hits.into_iter().enumerate().map(candidate).collect()
        };
        hits.into_iter().zip(confidences).map(candidates).collect()
    }
}

/// A probability for people.
fn per_cent(probability: f64) -> String {
    match 100.0 * probability {
        little if little < 1.0 => "<1 %".to_owned(),
        much if much > 99.0 => ">99 %".to_owned(),
        some => format!("{some:.0} %"),
    }
}

/// Vectors for words that the space does not have. Of a fastText model hardly anything need be read: it makes the vector of
/// a word when it is asked for it.
fn read_further(path: &Path, global: &Global) -> anyhow::Result<Embeddings> {
    let little = vectors::read(path, &ReadOptions::default().with_max_words(Some(1)), &())?;
    if little.format == Format::FastText && little.embeddings.subwords().is_some() {
        return Ok(little.embeddings);
    }
    let bar = Bar::reading(global, path);
    let read = vectors::read(path, &ReadOptions::default(), &*bar);
    bar.finish();
    Ok(read?.embeddings)
}
