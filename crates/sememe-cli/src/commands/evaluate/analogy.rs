//! `sememe evaluate analogy`.

use sememe::evaluate::{Analogies, AnalogyEvaluation, Section};

use super::subject::View;
use super::{ENOUGH, case, warn_of_unknown};
use crate::arguments::{EvaluateAnalogy, Global};
use crate::output::{self, count};
use crate::progress::Bar;

pub fn run(arguments: &EvaluateAnalogy, global: &Global) -> anyhow::Result<()> {
    let questions = Analogies::read(&arguments.questions)?;
    let view = View::open(&arguments.what, arguments.view.as_deref(), &arguments.vectors, global)?;
    let bar = Bar::new(global, "answering questions");
    let result = AnalogyEvaluation::new(view.name.as_deref(), view.words(), &questions, &*bar);
    bar.finish();
    let result = result?;
    output::warn_of_zeros(global, result.analogy.zero_words, "words");
    let total = &result.analogy.total;
    warn_of_unknown(global, "questions", (total.known, total.questions), ENOUGH);

    output::result(global, serde_json::to_value(&result)?, || {
        let analogy = &result.analogy;
        let totals = [&analogy.semantic, &analogy.syntactic, &analogy.total];
        let row = |section: &Section| {
            let accuracy = section.accuracy.map_or("–".to_owned(), |accuracy| format!("{accuracy:.2}"));
            vec![
                section.section.clone(),
                accuracy,
                count(section.right),
                count(section.known),
                count(section.questions),
                format!("{:.1} %", section.coverage),
            ]
        };
        let rows = analogy.sections.iter().chain(totals).map(row).collect();
        let table = output::table(&["section", "accuracy", "right", "known", "questions", "coverage"], rows, true);
        format!("{table}\n3CosAdd over {} words, {}", count(view.words().embeddings.len()), case(view.casing))
    })
}
