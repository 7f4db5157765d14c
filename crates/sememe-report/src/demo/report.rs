//! The report at the end of the demo.

use sememe::lexicon::Tuples;
use sememe::model::{FitOptions, Method, Model, Shrinkage};
use sememe::prepare::Step;
use sememe::sample::{self, Vocabularies, without_trained};
use sememe::vectors::{Embeddings, Vocabulary};

use super::{Demo, Direction, LANGUAGES, evaluate_all, learning};
use crate::error::Result;
use crate::experiment::{self, Experiment, Precision, Scores};
use crate::map;
use crate::plots::{self, Bars, Series};
use crate::report::{Cell, Column, Figure, Report, Row, Section, Table};
use crate::spectrum;
use crate::text::count;

const DRAWN: usize = 400;
const SHOWN: usize = 14;

impl Demo {
    /// The report of the demo; the seed is that of intervals, small dictionaries and draws.
    pub fn report(&self, seed: u64) -> Result<Report> {
        let prepared: Vec<Embeddings> =
            self.views.iter().map(|(_, view)| experiment::prepared(&[Step::Unit], view)).collect();
        let sections = vec![
            self.translation(&prepared, seed)?,
            self.examples(),
            self.map()?,
            self.shared(&prepared)?,
            learning::section(&prepared, &self.tuples, seed)?,
            self.fit_section()?,
            self.samples(seed)?,
        ];
        let lead = format!(
            "5,000 words each of English, French, Russian and Finnish, aligned through {} everyday concepts by multiple-battery \
             factor analysis: a word and its translations are noisy views of one hidden vector. Everything here is about words \
             that are in none of these concepts, unless it says otherwise.",
            count(self.tuples.len())
        );
        Ok(Report::new("Four languages in one space", lead, sections))
    }

    fn latent(&self) -> Vec<Embeddings> {
        self.aligned.latent.iter().flatten().map(|latent| latent.view.named()).collect()
    }

    /// A model of some of the languages by another method.
    fn rival(&self, prepared: &[Embeddings], method: Method, places: &[usize]) -> Result<(Experiment, Model)> {
        let views: Vec<(&str, &Embeddings)> =
            places.iter().map(|&place| (LANGUAGES[place].code, &prepared[place])).collect();
        let mut tuples = Tuples::new(places.len());
        for tuple in self.tuples.iter() {
            let tuple: Vec<Option<usize>> = places.iter().map(|&place| tuple[place]).collect();
            if tuple.iter().flatten().count() >= 2 {
                tuples.add(&tuple);
            }
        }
        let experiment = Experiment::new(&views, tuples)?;
        let shrinkage = match method {
            Method::Svd => Shrinkage::None,
            // What was best for all languages is good for two of them.
            _ => Shrinkage::By(self.aligned.alignment.model.shrinkage[0]),
        };
        let options = FitOptions::default().with_method(Some(method)).with_shrinkage(shrinkage);
        let model = experiment.fit(&options, &())?;
        Ok((experiment, model))
    }

    fn translation(&self, prepared: &[Embeddings], seed: u64) -> Result<Section> {
        let mut section = Section::new("translation", "Translation of unseen words");
        section.say(
            "How often the first word of another language by CSLS is a right translation, with 95 % intervals. SVD turns every language \
             into English; the factor model has a space of its own. Two languages are compared in their own coordinates of it, as \
             directions that only the others share would count in the lengths of vectors and so disturb cosines.",
        );
        let all: Vec<usize> = (0..LANGUAGES.len()).collect();
        let (experiment, svd) = self.rival(prepared, Method::Svd, &all)?;
        let turned = all.iter().map(|&view| experiment.latent(&svd, view)).collect::<sememe::Result<Vec<_>>>()?;
        let of_svd = evaluate_all(|view, _| Ok(turned[view].clone()))?;
        let precision = |directions: &[Direction]| -> Vec<(usize, usize, Precision)> {
            let first = |direction: &Direction| Scores::of(&direction.result, seed).at[0];
            directions.iter().map(|direction| (direction.from, direction.to, first(direction))).collect()
        };
        let (of_svd, of_mbfa) = (precision(&of_svd), precision(&self.directions));
        let series = |(name, method, results): (&str, Method, &[(usize, usize, Precision)])| Series {
            name: name.to_owned(),
            colour: plots::colour_of(method),
            is_faint: false,
            bars: (results.iter()).map(|(_, _, found)| Precision::bar(Some(*found), None)).collect(),
        };
        let bars = Bars {
            title: "Precision at 1 on unseen words".to_owned(),
            y: "P@1, %".to_owned(),
            groups: of_mbfa
                .iter()
                .map(|(from, to, _)| format!("{}-{}", LANGUAGES[*from].code, LANGUAGES[*to].code))
                .collect(),
            series: [("SVD", Method::Svd, &of_svd[..]), ("MBFA", Method::Mbfa, &of_mbfa)]
                .into_iter()
                .map(series)
                .collect(),
        };
        let caption = "Every language to every other: the first word by CSLS among 5,000.";
        section.add(Figure::new("translation", caption, &bars.groups, bars.draw(plots::WIDE)));
        let columns = LANGUAGES.iter().map(|language| Column::new(language.name)).collect();
        let mut table = Table::new("P@1 of MBFA, from (rows) and to (columns)", "", columns);
        for (from, language) in LANGUAGES.iter().enumerate() {
            let cell = |to: usize| match of_mbfa.iter().find(|(a, b, _)| (*a, *b) == (from, to)) {
                Some((_, _, found)) => Precision::cell(Ok(*found), None),
                None => Cell::text(""),
            };
            table.rows.push(Row::new(language.name, (0..LANGUAGES.len()).map(cell).collect()));
        }
        table.marks_best = false;
        section.add(table);
        Ok(section)
    }

    fn examples(&self) -> Section {
        let mut section = Section::new("examples", "Examples");
        section.say(
            "The three best words of every other language by CSLS for English words that the model has not seen translated.",
        );
        let columns = LANGUAGES[1..].iter().map(|language| Column::new(language.name)).collect();
        let mut table = Table::new("Candidates, the best first", "English", columns);
        let cells = |words: &Vec<String>| Cell::text(words.join(", "));
        table.rows = (self.examples.iter())
            .map(|example| Row::new(&example.word, example.candidates.iter().map(cells).collect()))
            .collect();
        section.add(table);
        section
    }

    fn map(&self) -> Result<Section> {
        let mut section = Section::new("map", "A map of meanings");
        section.say(
            "Some of the concepts that the model was fitted to, where it puts their words. The four words of a concept are \
             joined.",
        );
        let latent = self.latent();
        let views: Vec<(&str, &Embeddings)> = LANGUAGES.iter().map(|language| language.name).zip(&latent).collect();
        section.add(map::figure(&views, &self.tuples)?);
        Ok(section)
    }

    fn shared(&self, prepared: &[Embeddings]) -> Result<Section> {
        let mut section = Section::new("spectrum", "How much two languages share");
        section.say(
            "Canonical correlations of English with each of the others, by inter-battery factor analysis: 1 for a direction of \
             meaning in which translations agree completely, 0 for one in which they have nothing in common.",
        );
        let mut curves = Vec::new();
        for (place, language) in LANGUAGES.iter().enumerate().skip(1) {
            let (_, model) = self.rival(prepared, Method::Ibfa, &[0, place])?;
            let name = format!("English–{}", language.name);
            curves.push(spectrum::curve(name, plots::colour_of_view(place), &model.rho));
        }
        let caption = "From the best shared dimension to the worst, with covariances shrunk as in the model.";
        if let Some(figure) = spectrum::figure(curves, caption) {
            section.add(figure);
        }
        Ok(section)
    }

    fn fit_section(&self) -> Result<Section> {
        let mut section = Section::new("fit", "How the model was fitted");
        let model = &self.aligned.alignment.model;
        if let Some(trace) = &model.trace {
            let values = &trace.negative_log_likelihoods;
            section.say(format!(
                "The likelihood of the concepts was computed {} times, some steps of EM first and then a quasi-Newton method. It \
                 would rise for long still, but translations are no better then.",
                trace.evaluations
            ));
            let svg = plots::learning_curve(&[("MBFA", values)], 0)?;
            let caption = "The negative log-likelihood after every accepted step, on covariances as they were shrunk.";
            section.add(Figure::new("learning-curve", caption, values, svg));
        }
        Ok(section)
    }

    fn samples(&self, seed: u64) -> Result<Section> {
        let mut section = Section::new("samples", "Words drawn from the model");
        section.say(format!(
            "The model can also make things up: a hidden vector and noise give a vector of each language, and the nearest words \
             stand for these. Of {DRAWN} draws those with the largest density under the model are shown. They are no translations, \
             but often about related things. Words of which two are in one of the concepts are left out."
        ));
        let alignment = &self.aligned.alignment;
        let views: Vec<_> = self.aligned.latent.iter().flatten().collect();
        let latent = views.iter().map(|latent| (latent.view.rows(), latent.log_density.as_deref().unwrap_or_default()));
        let drawn = sample::draw(&alignment.model, &Vocabularies::Latent(latent.collect()), DRAWN, seed)?;
        let names: Vec<&str> = LANGUAGES.iter().map(|language| language.code).collect();
        let vocabularies: Vec<&Vocabulary> = views.iter().filter_map(|latent| latent.view.words()).collect();
        let new = without_trained(drawn, alignment.trained.as_ref(), &names, &vocabularies);
        let columns =
            LANGUAGES[1..].iter().map(|language| Column::new(language.name)).chain([Column::new("log p, nats")]);
        let mut table = Table::new("The most probable draws", "English", columns.collect());
        for drawn in new.iter().take(SHOWN) {
            let words = drawn.spelled(&vocabularies);
            let others = words[1..].iter().map(|&word| Cell::text(word));
            let density = Cell::measured(Ok(drawn.log_density), None, None);
            table.rows.push(Row::new(words[0], others.chain([density]).collect()));
        }
        table.marks_best = false;
        section.add(table);
        Ok(section)
    }
}
