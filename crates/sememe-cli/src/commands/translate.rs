//! `sememe translate`: words of one view, their nearest words of another.

use sememe::lexicon::find_word;
use sememe::retrieve::Views;
use sememe::space::Space;
use serde_json::{Value, json};

use crate::arguments::{BadUsage, Global, Translate};
use crate::output;
use crate::progress::Bar;

pub fn run(arguments: &Translate, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.space)?;
    let views = Views::open(&space, &arguments.from, &arguments.to)?;
    let (source, target) = (&views.source, &views.target);
    let casing = space.alignment().preparation.casing;
    let place = |word: &String| find_word(source.vocabulary(), &casing.of_word(word));
    let (known, unknown): (Vec<&String>, Vec<&String>) = arguments.words.iter().partition(|word| place(word).is_some());
    for word in &unknown {
        output::warn(global, format_args!("{word:?} is not in the vocabulary of {}", arguments.from));
    }
    if known.is_empty() {
        let problem = format!("none of the words is in the vocabulary of {}", arguments.from);
        return Err(BadUsage(problem).into());
    }
    let rows: Vec<usize> = known.iter().filter_map(|word| place(word)).collect();
    let criterion = arguments.ranking.criterion;
    let bar = Bar::new(global, "comparing words");
    let hits = views
        .retriever(criterion, &*bar)
        .and_then(|retriever| retriever.nearest(&source.matrix().select(&rows), arguments.candidates.get()));
    bar.finish();
    let hits = hits?;

    let mut translations = Vec::new();
    let mut table = Vec::new();
    for (word, hits) in known.iter().zip(&hits) {
        let candidates: Vec<Value> =
            hits.iter().map(|hit| json!({ "word": target.word(hit.index), "score": hit.score })).collect();
        translations.push(json!({ "word": word, "candidates": candidates }));
        let shown: Vec<String> =
            hits.iter().map(|hit| format!("{} {:.2}", target.word(hit.index), hit.score)).collect();
        table.push(vec![(*word).clone(), shown.join("   ")]);
    }
    let json = json!({
        "from": arguments.from,
        "to": arguments.to,
        "criterion": criterion,
        "translations": translations,
        "unknown": unknown,
    });
    output::result(global, json, || output::table(&[&arguments.from, &arguments.to], table, false))
}
