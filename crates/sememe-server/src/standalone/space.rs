//! A space as blocks of numbers and a description that says where they are.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use sememe::observe::Observer;
use sememe::retrieve::{Criterion, Generative, PairCoordinates};
use sememe::translate::{InduceOptions, Induction};
use sememe::vectors::Matrix;
use serde_json::{Map, Value, json};

use super::quantised::Quantised;
use crate::error::{Error, Result};
use crate::map::{Layout, Places};
use crate::opened::Opened;
use crate::trained::Trained;

/// Blocks begin at multiples of this, so that the browser can read numbers in place.
const ALIGNMENT: usize = 8;
/// Words that t-SNE lays out within a minute; for more of them a server does it once, and keeps it in the space.
const SOON_LAID: usize = 30_000;

/// The data of a page.
pub(super) struct Blocks {
    pub(super) about: Value,
    pub(super) data: Vec<u8>,
    pub(super) views: Vec<(String, usize)>,
    pub(super) is_cut: bool,
}

/// Adds blocks one after the other; each is known by its offset and its length.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn bytes(&mut self, bytes: &[u8]) -> Value {
        self.0.resize(self.0.len().next_multiple_of(ALIGNMENT), 0);
        let offset = self.0.len();
        self.0.extend_from_slice(bytes);
        json!([offset, bytes.len()])
    }

    fn floats(&mut self, values: impl IntoIterator<Item = f32>) -> Value {
        let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
        self.bytes(&bytes)
    }

    fn rows(&mut self, values: impl IntoIterator<Item = i32>) -> Value {
        let bytes: Vec<u8> = values.into_iter().flat_map(i32::to_le_bytes).collect();
        self.bytes(&bytes)
    }
}

/// The first words of the views of a space.
struct Cut<'a> {
    opened: &'a Opened,
    /// The views that have words.
    views: Vec<usize>,
    max_words: usize,
}

impl Blocks {
    pub(super) fn of(path: &Path, name: &str, max_words: usize, observer: &dyn Observer) -> Result<Self> {
        let opened = Opened::open(name, path)?;
        let views = (0..opened.views.len()).filter(|&view| opened.views[view].len() > 0).collect();
        let cut = Cut { opened: &opened, views, max_words };
        if cut.views.len() < 2 {
            return Err(Error::Options(format!("a page needs two views with words, and {name} has fewer")));
        }
        let alignment = opened.space.alignment();
        let mut writer = Writer::default();
        let layouts = cut.layouts(observer)?;
        let views = cut.views.iter().map(|&view| cut.view(view, &layouts, &mut writer)).collect::<Result<Vec<_>>>()?;
        let mut pairs = Vec::new();
        for (at, &a) in cut.views.iter().enumerate() {
            for &b in &cut.views[at + 1..] {
                pairs.extend(cut.pair(a, b, &mut writer, observer)?);
            }
        }
        let factors = refused(opened.factors())?;
        let shares = |view: &usize| factors.strengths.as_ref().and_then(|found| found.shares.get(*view));
        let about = json!({
            "name": name,
            "method": alignment.model.method,
            "latent": opened.latent(),
            "factors": factors.order,
            "fingerprint": opened.space.fingerprint(),
            "correlations": factors.correlations(),
            "lines": opened.trained().map(|trained| writer.rows(cut.lines(trained))),
            "shares": cut.views.iter().map(shares).collect::<Vec<_>>(),
            "confidences": opened.has_confidences(),
            "views": views,
            "pairs": pairs,
        });
        let held = cut.views.iter().map(|&view| (opened.views[view].name.clone(), cut.words(view)));
        let is_cut = cut.views.iter().any(|&view| cut.words(view) < opened.views[view].len());
        Ok(Blocks { about, views: held.collect(), is_cut, data: writer.0 })
    }
}

/// What an answer to a request says is wrong is wrong with the space here.
fn refused<T>(result: std::result::Result<T, crate::http::Problem>) -> Result<T> {
    result.map_err(|_| Error::Page("its space cannot be read"))
}

impl Cut<'_> {
    fn words(&self, view: usize) -> usize {
        self.opened.views[view].len().min(self.max_words)
    }

    /// The first latent vectors of a view.
    fn latent(&self, view: usize) -> Result<Matrix> {
        let matrix = refused(self.opened.views[view].embeddings())?.matrix();
        let values = matrix.as_slice()[..self.words(view) * matrix.cols()].to_vec();
        Ok(Matrix::new(values, matrix.cols()))
    }

    /// The layouts of all words: principal components, and t-SNE if it is kept in the space or soon computed.
    fn layouts(&self, observer: &dyn Observer) -> Result<Vec<(Layout, Arc<Places>)>> {
        let layouts = &self.opened.layouts;
        let words: usize = self.opened.views.iter().map(|view| view.len()).sum();
        if !layouts.take_kept(self.opened) && words <= SOON_LAID {
            refused(layouts.compute(self.opened, observer))?;
        }
        let principal = refused(layouts.principal(self.opened))?;
        let neighbours = layouts.ready(Layout::Tsne).map(|places| (Layout::Tsne, places));
        Ok(std::iter::once((Layout::Pca, principal)).chain(neighbours).collect())
    }

    fn view(&self, view: usize, layouts: &[(Layout, Arc<Places>)], writer: &mut Writer) -> Result<Value> {
        let words = refused(self.opened.views[view].embeddings())?;
        let count = self.words(view);
        let text: Vec<&str> = (0..count).map(|row| words.word(row)).collect();
        let quantised = Quantised::of(words.matrix(), count);
        let first: usize = self.opened.views[..view].iter().map(|before| before.len()).sum();
        let layouts: Map<String, Value> = (layouts.iter())
            .map(|(layout, places)| {
                let places = &places.values()[2 * first..2 * (first + count)];
                (layout.name().to_owned(), writer.floats(places.iter().copied()))
            })
            .collect();
        Ok(json!({
            "name": self.opened.views[view].name,
            "text": writer.bytes(text.join("\n").as_bytes()),
            "vectors": writer.bytes(&quantised.bytes),
            "rows": writer.floats(quantised.rows),
            "columns": writer.floats(quantised.columns),
            "shared": quantised.shared,
            "layouts": layouts,
        }))
    }

    /// The pairs of the dictionary whose words are there, as points of the page.
    fn lines(&self, trained: &Trained) -> Vec<i32> {
        let mut points = HashMap::new();
        for &view in &self.views {
            let known = points.len();
            points.extend((0..self.words(view)).map(|row| (self.opened.point(view, row), (known + row) as i32)));
        }
        let pairs = trained.pairs().iter().map(|pair| pair.map(|point| points.get(&(point as usize)).copied()));
        pairs.filter_map(|[a, b]| Some([a?, b?])).flatten().collect()
    }

    /// What comparing two views needs, in both directions.
    fn pair(&self, a: usize, b: usize, writer: &mut Writer, observer: &dyn Observer) -> Result<[Value; 2]> {
        let model = &self.opened.space.alignment().model;
        let coordinates = PairCoordinates::of(model, a, b)?;
        let map = coordinates.as_ref().map(|pair| writer.floats(bilinear(pair, model.latent())));
        let side = |view: usize, other: usize, writer: &mut Writer| -> Result<Value> {
            let latent = self.latent(view)?;
            let mapped = match &coordinates {
                Some(pair) if view == a => pair.of_queries(&latent),
                Some(pair) => pair.of_targets(&latent),
                None => latent,
            };
            let [other, name] = [other, view].map(|view| self.opened.views[view].name.as_str());
            let csls = self.opened.space.retriever(other, name, Criterion::CSLS, observer)?;
            let means = csls.terms().iter().take(self.words(view)).map(|&term| -term as f32);
            Ok(json!({ "norms": writer.floats(lengths(&mapped)), "means": writer.floats(means) }))
        };
        let sides = [side(a, b, writer)?, side(b, a, writer)?];
        let pmi = self.pmi(a, b, writer)?;
        let mut direction = |from: usize, to: usize, is_turned: bool| -> Result<Value> {
            let [source, target] = if is_turned { [&sides[1], &sides[0]] } else { [&sides[0], &sides[1]] };
            let pmi = pmi.as_ref().map(|(map, terms)| {
                let [source, target] = if is_turned { [&terms[1], &terms[0]] } else { [&terms[0], &terms[1]] };
                json!({ "map": map, "source": source, "target": target })
            });
            Ok(json!({
                "from": self.opened.views[from].name,
                "to": self.opened.views[to].name,
                "map": map,
                "transposed": is_turned,
                "source": source,
                "target": target,
                "pmi": pmi,
                "calibration": self.opened.space.alignment().calibration(from, to, Criterion::CSLS),
                "induced": self.induced(from, to, writer, observer)?,
            }))
        };
        Ok([direction(a, b, false)?, direction(b, a, true)?])
    }

    /// The bilinear map of PMI, and the terms of both views; `None` for methods without a noise model.
    fn pmi(&self, a: usize, b: usize, writer: &mut Writer) -> Result<Option<(Value, [Value; 2])>> {
        let model = &self.opened.space.alignment().model;
        if model.views.iter().any(|view| view.emission.is_none()) {
            return Ok(None);
        }
        let generative = Generative::new(model, a, b, None)?;
        let terms = [generative.query_terms(&self.latent(a)?), generative.target_terms(&self.latent(b)?)];
        let terms = terms.map(|terms| writer.floats(terms.into_iter().map(|term| term as f32)));
        Ok(Some((writer.floats(generative.bilinear()), terms)))
    }

    /// The best translation of every word with its confidence, and whether the pair was in the training data. It is -1 where
    /// the translation is not among the words of the page.
    fn induced(&self, from: usize, to: usize, writer: &mut Writer, observer: &dyn Observer) -> Result<Value> {
        let [source, target] = [from, to].map(|view| self.opened.views[view].name.as_str());
        let options = InduceOptions::default().with_criterion(Criterion::CSLS).with_max_words(Some(self.words(from)));
        let induction = Induction::open(&self.opened.space, source, target, &options, observer)?;
        let found: HashMap<usize, _> = induction
            .run(observer)?
            .into_iter()
            .filter(|pair| pair.to < self.words(to))
            .map(|pair| (pair.from, pair))
            .collect();
        let rows = (0..self.words(from)).map(|row| found.get(&row).map_or(-1, |pair| pair.to as i32));
        let confidence = |row: usize| found.get(&row).and_then(|pair| pair.confidence).unwrap_or(0.0) as f32;
        let confidences = induction.has_confidences().then(|| writer.floats((0..self.words(from)).map(confidence)));
        let [sources, targets] = induction.views();
        let is_trained = |row: usize| {
            let words = found.get(&row).map(|pair| [sources.word(row), targets.word(pair.to)]);
            words.and_then(|words| self.opened.is_trained([from, to], words)).map(u8::from)
        };
        let trained: Option<Vec<u8>> = self
            .opened
            .space
            .alignment()
            .trained
            .is_some()
            .then(|| (0..self.words(from)).map(|row| is_trained(row).unwrap_or(0)).collect());
        Ok(json!({
            "rows": writer.rows(rows),
            "confidences": confidences,
            "trained": trained.map(|trained| writer.bytes(&trained)),
        }))
    }
}

/// The matrix `Qᵀ T` of the maps `Q` and `T` to the coordinates of a pair: with it, latent vectors have the inner product that
/// they have there.
fn bilinear(pair: &PairCoordinates, latent: usize) -> Vec<f32> {
    let identity: Vec<f32> = (0..latent * latent).map(|at| f32::from(u8::from(at / latent == at % latent))).collect();
    let identity = Matrix::new(identity, latent);
    let (queries, targets) = (pair.of_queries(&identity), pair.of_targets(&identity));
    let product =
        |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() as f32;
    let rows = |matrix: &Matrix| -> Vec<Vec<f32>> {
        matrix.as_slice().chunks_exact(matrix.cols()).map(<[f32]>::to_vec).collect()
    };
    let targets = rows(&targets);
    rows(&queries)
        .iter()
        .flat_map(|query| targets.iter().map(|target| product(query, target)).collect::<Vec<_>>())
        .collect()
}

fn lengths(matrix: &Matrix) -> Vec<f32> {
    let length = |row: &[f32]| row.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt() as f32;
    matrix.as_slice().chunks_exact(matrix.cols()).map(length).collect()
}
