//! Times fitting alone, for `scripts/bench fitting`: `fitting [--star] METHOD DIMENSION EVALUATIONS TOLERANCE FILE...`.
//!
//! Each FILE holds the vectors of a view, rows of raw little-endian float32. Row i of all files is a tuple; with `--star`
//! it is a pair of the first view with one of the others, in turn. Prints one JSON object.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;

use sememe::lexicon::Tuples;
use sememe::model::mbfa::MbfaOptions;
use sememe::model::{self, FitOptions, Method, Shrinkage};
use sememe::moments::Moments;
use sememe::observe::Event;
use sememe::vectors::{Matrix, View};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let star = arguments.first().is_some_and(|first| first == "--star");
    arguments.drain(..usize::from(star));
    let [method, dim, evaluations, tolerance, files @ ..] = &arguments[..] else {
        return Err("fitting [--star] METHOD DIMENSION EVALUATIONS TOLERANCE FILE...".into());
    };
    let dim: usize = dim.parse()?;
    let mut views = Vec::new();
    for file in files {
        let bytes = std::fs::read(file)?;
        let values = bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        views.push(View::new(file.as_str(), Matrix::new(values.collect(), dim)));
    }
    let mut tuples = Tuples::new(views.len());
    for row in 0..views[0].len() {
        let partner = 1 + row % (views.len() - 1);
        let has = |view: usize| !star || view == 0 || view == partner;
        tuples.add(&(0..views.len()).map(|view| has(view).then_some(row)).collect::<Vec<_>>());
    }

    let start = Instant::now();
    let moments = Moments::of(&views, &tuples)?;
    let seconds_of_moments = start.elapsed().as_secs_f64();
    let start = Instant::now();
    // Seconds, evaluations and negative log-likelihood at every accepted step.
    let steps: Mutex<Vec<(f64, usize, f64)>> = Mutex::default();
    let clock = |event: Event| {
        if let Event::Step { evaluations, negative_log_likelihood, .. } = event {
            let step = (start.elapsed().as_secs_f64(), evaluations, negative_log_likelihood);
            steps.lock().expect("no step panics").push(step);
        }
        ControlFlow::Continue(())
    };
    let mbfa = MbfaOptions::default().with_evaluations(evaluations.parse()?).with_tolerance(tolerance.parse()?);
    let method: Method = method.parse()?;
    let options = FitOptions::default().with_method(Some(method)).with_shrinkage(Shrinkage::None).with_mbfa(mbfa);
    let (model, _) = model::fit(&moments, &options, &clock)?;
    let report = serde_json::json!({
        "moments": seconds_of_moments,
        "fit": start.elapsed().as_secs_f64(),
        "log_likelihood": model.log_likelihood,
        "steps": &*steps.lock().expect("no step panics"),
    });
    println!("{report}");
    Ok(())
}
