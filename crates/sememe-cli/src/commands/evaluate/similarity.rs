//! `sememe evaluate similarity`.

use std::path::PathBuf;

use sememe::evaluate::{ScoredPairs, Similarity, SimilarityEvaluation};

use super::subject::View;
use super::{ENOUGH, case, warn_of_unknown};
use crate::arguments::{BadUsage, EvaluateSimilarity, Global};
use crate::output::{self, count};

pub fn run(arguments: &EvaluateSimilarity, global: &Global) -> anyhow::Result<()> {
    let names: Vec<&str> = arguments.view.iter().map(String::as_str).collect();
    if names.len() > 2 {
        return Err(BadUsage(format!("a pair has two words, so of two views at most, not of {}", names.len())).into());
    }
    let files = ScoredPairs::files(&arguments.sets, &names)?;
    let read = |file: PathBuf| ScoredPairs::read(&file).map(|set| (file, set));
    let sets = files.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (file, set) in &sets {
        if let Some(header) = &set.header {
            output::note(global, format_args!("{}: the first line is a header ({header})", file.display()));
        }
    }
    let open_two =
        |names| View::open_two(&arguments.what, names, arguments.with.as_deref(), &arguments.vectors, global);
    let views = match (&names[..], &arguments.with) {
        (&[first, second], _) => Vec::from(open_two([Some(first), Some(second)])?),
        (_, Some(_)) => Vec::from(open_two([names.first().copied(), None])?),
        _ => vec![View::open(&arguments.what, names.first().copied(), &arguments.vectors, global)?],
    };
    let words = [views[0].words(), views[views.len() - 1].words()];
    let result = SimilarityEvaluation::new(&names, words, &sets)?;
    result.failed.iter().for_each(|failure| output::warn(global, failure));
    for set in &result.sets {
        warn_of_unknown(global, format_args!("pairs of {}", set.set), (set.known, set.pairs), ENOUGH);
    }

    output::result(global, serde_json::to_value(&result)?, || {
        let row = |result: &Similarity| {
            vec![
                result.set.clone(),
                format!("{:.2}", 100.0 * result.spearman),
                format!("{:.2}", 100.0 * result.pearson),
                count(result.known),
                count(result.pairs),
                format!("{:.1} %", result.coverage),
            ]
        };
        let rows = result.sets.iter().map(row).collect();
        let table = output::table(&["set", "Spearman", "Pearson", "known", "pairs", "coverage"], rows, true);
        format!("{table}\ncorrelations times 100, {}", case(result.casing))
    })
}
