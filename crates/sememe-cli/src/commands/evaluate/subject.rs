//! The subject of an evaluation: views of a space, or vectors from files.

use std::path::Path;

use sememe::evaluate::Words;
use sememe::files::check_readable;
use sememe::prepare::{Casing, Normalizer};
use sememe::space::Space;
use sememe::vectors::Embeddings;

use super::super::read_vectors;
use crate::arguments::{BadUsage, Direction, Global, Vectors};

/// Names of views in a message.
fn names(space: &Space) -> String {
    space.alignment().model.views.iter().map(|view| view.name.as_str()).collect::<Vec<_>>().join(" or ")
}

/// Opens a space; `None` if the path is a file. Options that only apply to vectors are errors for a space.
pub fn open_space(what: &Path, vectors: &Vectors, with: Option<&Path>) -> anyhow::Result<Option<Space>> {
    if !what.is_dir() {
        check_readable(what)?;
        return Ok(None);
    }
    let space = Space::open(what)?;
    let given = [
        ("--lower", vectors.lower),
        ("--normalize", vectors.normalize.is_some()),
        ("--words", vectors.words.is_some()),
        ("--max-words", vectors.reading.max_words.is_some()),
        ("--format", vectors.reading.format.is_some()),
        ("--columns", vectors.reading.columns.is_some()),
        ("--strict", vectors.reading.strict),
        ("--with", with.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            let problem = format!("{option} is for vectors; {} is a space, which has settled that", what.display());
            Err(BadUsage(problem).into())
        }
        None => Ok(Some(space)),
    }
}

/// Two files of vectors.
pub fn open_two_vectors(
    first: &Path,
    second: Option<&Path>,
    vectors: &Vectors,
    global: &Global,
) -> anyhow::Result<[Embeddings; 2]> {
    let second =
        second.ok_or_else(|| BadUsage("two files of vectors are needed; give the other by --with".to_owned()))?;
    check_readable(second)?;
    Ok([open_vectors(first, true, vectors, global)?, open_vectors(second, false, vectors, global)?])
}

/// Reads vectors and applies the casing and normalisation of the arguments.
fn open_vectors(path: &Path, is_first: bool, vectors: &Vectors, global: &Global) -> anyhow::Result<Embeddings> {
    let words = if is_first { vectors.words.clone() } else { None };
    let read = read_vectors(path, words, &vectors.reading, global)?;
    let embeddings = casing(vectors).of_embeddings(read.embeddings);
    let Some(steps) = &vectors.normalize else { return Ok(embeddings) };
    let mut rows = embeddings.matrix().clone();
    Normalizer::fit_apply(&steps.0, &mut rows);
    Ok(embeddings.with_matrix(rows))
}

pub fn casing(vectors: &Vectors) -> Casing {
    if vectors.lower { Casing::Lower } else { Casing::Kept }
}

/// One view and its casing.
pub struct View {
    pub name: Option<String>,
    embeddings: Embeddings,
    pub casing: Casing,
}

impl View {
    pub fn words(&self) -> Words<'_> {
        Words { embeddings: &self.embeddings, casing: self.casing }
    }

    /// Opens a view of a space, which needs its name, or vectors from a file, for which a name is optional.
    pub fn open(what: &Path, name: Option<&str>, vectors: &Vectors, global: &Global) -> anyhow::Result<Self> {
        let Some(space) = open_space(what, vectors, None)? else {
            let embeddings = open_vectors(what, true, vectors, global)?;
            return Ok(View { name: name.map(str::to_owned), embeddings, casing: casing(vectors) });
        };
        let name = name.ok_or_else(|| BadUsage(format!("name the view of the space: --view {}", names(&space))))?;
        Self::of_space(&space, name)
    }

    fn of_space(space: &Space, name: &str) -> anyhow::Result<Self> {
        let casing = space.alignment().preparation.casing;
        Ok(View { name: Some(name.to_owned()), embeddings: space.view(name)?, casing })
    }

    /// Two views of a space, or two files of vectors.
    pub fn open_two(
        what: &Path,
        [first, second]: [Option<&str>; 2],
        with: Option<&Path>,
        vectors: &Vectors,
        global: &Global,
    ) -> anyhow::Result<[Self; 2]> {
        if let Some(space) = open_space(what, vectors, with)? {
            let (Some(first), Some(second)) = (first, second) else {
                return Err(BadUsage(format!("name two views of the space: {}", names(&space))).into());
            };
            return Ok([Self::of_space(&space, first)?, Self::of_space(&space, second)?]);
        }
        let view = |embeddings, name: Option<&str>| View {
            name: name.map(str::to_owned),
            embeddings,
            casing: casing(vectors),
        };
        let [source, target] = open_two_vectors(what, with, vectors, global)?;
        Ok([view(source, first), view(target, second)])
    }
}

impl Direction {
    /// The names of the views; files of vectors need none.
    pub fn names(&self) -> [&str; 2] {
        [self.from.as_deref().unwrap_or("source"), self.to.as_deref().unwrap_or("target")]
    }

    /// The names of the views of a space, which the arguments must give.
    pub fn names_in(&self, space: &Space) -> anyhow::Result<[&str; 2]> {
        match (&self.from, &self.to) {
            (Some(from), Some(to)) => Ok([from, to]),
            _ => Err(BadUsage(format!("name the views of the space: --from and --to are {}", names(space))).into()),
        }
    }
}
