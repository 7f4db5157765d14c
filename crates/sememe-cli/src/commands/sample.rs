//! `sememe sample`: words drawn from a model.

use std::collections::BTreeMap;
use std::sync::Arc;

use sememe::sample::{self, Vocabularies};
use sememe::space::Space;
use sememe::vectors::{Embeddings, Vocabulary};
use sememe_report::drawn::{without_trained, words_of};
use serde_json::{Value, json};

use super::read_vectors;
use crate::arguments::{BadUsage, Global, Sample};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &Sample, global: &Global) -> anyhow::Result<()> {
    let space = Space::open(&arguments.space)?;
    let model = &space.alignment().model;
    let names: Vec<&str> = model.views.iter().map(|view| view.name.as_str()).collect();
    let words = match arguments.vectors.is_empty() {
        true => of_space(&space, &names)?,
        false => of_vectors(arguments, &space, &names, global)?,
    };
    let bar = Bar::new(global, "drawing");
    let drawn = sample::draw(model, &words.as_vocabularies(), arguments.n.get(), global.seed);
    bar.finish();
    let drawn = drawn?;
    let distinct = drawn.len();
    let trained = space.alignment().trained.as_ref();
    if trained.is_none() {
        let why = "this space does not know its dictionary, as it was fitted from moments";
        output::warn(global, format_args!("{why}: pairs of it are not left out"));
    }
    let vocabularies: Vec<&Vocabulary> = words.embeddings.iter().map(Embeddings::vocabulary).collect();
    let new = without_trained(drawn, trained, &names, &vocabularies);
    let in_lexicon = distinct - new.len();
    let shown: Vec<(Vec<&str>, f64)> = (new.iter().take(arguments.top.get()))
        .map(|drawn| (words_of(drawn, &vocabularies), drawn.log_density))
        .collect();

    let as_json = |(words, log_density): &(Vec<&str>, f64)| {
        let words: BTreeMap<&str, &str> = names.iter().copied().zip(words.iter().copied()).collect();
        json!({ "words": words, "log_density": log_density })
    };
    let json = json!({
        "views": names,
        "drawn": arguments.n,
        "distinct": distinct,
        "in_lexicon": trained.map(|_| in_lexicon),
        "compared_with": if words.log_densities.is_some() { "latent vectors" } else { "vectors" },
        "samples": shown.iter().map(as_json).collect::<Vec<Value>>(),
    });
    output::result(global, json, || {
        let header: Vec<&str> = names.iter().copied().chain(["log p"]).collect();
        let row = |(words, log_density): &(Vec<&str>, f64)| -> Vec<String> {
            words.iter().map(|&word| word.to_owned()).chain([format!("{log_density:.1}")]).collect()
        };
        let left_out = if trained.is_some() {
            format!(", {} of the dictionary left out", count(in_lexicon))
        } else {
            String::new()
        };
        format!(
            "{}\n{} of {} different tuples in {} draws{left_out}",
            output::table(&header, shown.iter().map(row).collect(), false),
            count(shown.len()),
            count(distinct),
            count(arguments.n.get()),
        )
    })
}

/// What drawn vectors are compared with.
struct Words {
    embeddings: Vec<Embeddings>,
    /// `log p(x)` of every word, where `embeddings` are latent vectors.
    log_densities: Option<Vec<Arc<[f64]>>>,
}

impl Words {
    fn as_vocabularies(&self) -> Vocabularies<'_> {
        let matrices = self.embeddings.iter().map(Embeddings::matrix);
        match &self.log_densities {
            Some(densities) => Vocabularies::Latent(matrices.zip(densities).map(|(m, d)| (m, &d[..])).collect()),
            None => Vocabularies::Vectors(matrices.collect()),
        }
    }
}

fn of_space(space: &Space, names: &[&str]) -> anyhow::Result<Words> {
    let embeddings = names.iter().map(|name| space.view(name)).collect::<sememe::Result<Vec<_>>>()?;
    // A method without density is told apart from a space without densities.
    space.alignment().model.density(&(0..names.len()).collect::<Vec<_>>())?;
    let mut densities = Vec::new();
    for name in names {
        let missing =
            || BadUsage(format!("the view {name:?} was written without densities; align again, or give --vectors"));
        densities.push(space.log_density(name)?.ok_or_else(missing)?);
    }
    Ok(Words { embeddings, log_densities: Some(densities) })
}

fn of_vectors(arguments: &Sample, space: &Space, names: &[&str], global: &Global) -> anyhow::Result<Words> {
    let given: Vec<&str> = arguments.vectors.iter().map(|vectors| vectors.name.as_str()).collect();
    if let Some(unknown) = given.iter().find(|name| !names.contains(name)) {
        space.alignment().model.view_index(unknown)?;
    }
    let mut embeddings = Vec::new();
    for (view, name) in names.iter().enumerate() {
        let Some(at) = given.iter().position(|given| given == name) else {
            return Err(BadUsage(format!(
                "the vectors of view {name:?} are missing; give those of every view, or none"
            ))
            .into());
        };
        let read = read_vectors(&arguments.vectors[at].path, None, &arguments.reading, global)?;
        let words = space.alignment().preparation.casing.of_embeddings(read.embeddings);
        let prepared = space.alignment().prepare(view, words.matrix().clone())?;
        embeddings.push(words.with_matrix(prepared));
    }
    Ok(Words { embeddings, log_densities: None })
}
