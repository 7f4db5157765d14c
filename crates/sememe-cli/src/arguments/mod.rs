//! The command line: arguments and help. The work is in `commands`.

mod evaluation;
mod fitting;
mod gathering;
mod learning;
mod migration;
mod paging;
mod reading;
mod reproduction;
mod retrieval;
mod sampling;
mod serving;
mod shell;
mod translation;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use sememe::device::Device;
use sememe::model::{FinishSteps, FitOptions, Shrinkage};
use sememe::vectors::Format;

pub use self::evaluation::{
    Direction, Evaluate, EvaluateAnalogy, EvaluateSentences, EvaluateSimilarity, EvaluateSts, EvaluateTranslation,
    Vectors, WeightingName,
};
pub use self::fitting::Fitting;
use self::gathering::GATHERING;
pub use self::gathering::{Gathering, Identical, Which};
pub use self::learning::Learning;
pub use self::migration::{
    Migrate, MigrateAdapt, MigrateApply, MigrateEvaluate, MigrateExport, MigrateFit, MigrateMonitor, MigratePlan,
};
pub use self::paging::Page;
use self::reading::parse_format;
pub use self::reading::{Named, READING, Reading};
pub use self::reproduction::Reproduce;
pub use self::retrieval::{AskedCriterion, Criteria, Export, Neighbors, Ranking};
pub use self::sampling::{EvaluateNoise, Sample};
pub use self::serving::{SERVING, Serve, Serving};
pub use self::shell::{Completions, Man};
pub use self::translation::{Induce, Lexicon, Translate};

/// A default of the library as the value of an argument that must not be zero.
fn count(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN)
}

/// An error in the arguments, with a message for the user.
#[derive(Debug)]
pub struct BadUsage(pub String);

impl std::fmt::Display for BadUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadUsage {}

/// Align word vectors of several languages, or any vector spaces with known pairs, in one latent space.
#[derive(Parser)]
#[command(
    name = "sememe",
    version,
    after_help = "\
Examples:
  sememe demo
  sememe align en=en.vec fr=fr.vec --lexicon en-fr=dictionary.txt -o space
  sememe translate space --from en --to fr house dog
  sememe evaluate translation space --from en --to fr --gold test.txt
  sememe serve space --open

Exit codes: 0 done, 1 failure while working, 2 wrong usage or bad input."
)]
pub struct Sememe {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Print one JSON object on standard output instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Where searches run: cpu, cuda, cuda:N, or auto, which is the first GPU for large ones [default: SEMEME_DEVICE, or auto]
    #[arg(long, global = true, value_name = "DEVICE")]
    pub device: Option<Device>,
    /// Print results only: no progress, no warnings
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: unknown words, what was skipped and why, times
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Seed of random numbers
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// The options that were given explicitly, even with their default values
    #[arg(skip)]
    pub given: Vec<String>,
}

impl Global {
    /// The names of the options that were given explicitly.
    pub fn given(&self) -> Vec<&str> {
        self.given.iter().map(String::as_str).collect()
    }

    /// Refuses those of `options` that were given although they would not be used, and says why.
    pub fn refuse(&self, options: &[&str], why: impl std::fmt::Display) -> Result<(), BadUsage> {
        match options.iter().find(|&option| self.given.iter().any(|given| given == option)) {
            Some(option) => Err(BadUsage(format!("--{} would not be used: {why}", option.replace('_', "-")))),
            None => Ok(()),
        }
    }
}

impl Sememe {
    /// Parses the command line, and notes which options were given.
    pub fn read() -> Self {
        let matches = Sememe::command().get_matches();
        let mut sememe = Sememe::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let mut innermost = &matches;
        while let Some((_, inner)) = innermost.subcommand() {
            innermost = inner;
        }
        let is_given = |id: &&clap::Id| innermost.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        sememe.global.given = innermost.ids().filter(is_given).map(|id| id.as_str().to_owned()).collect();
        sememe
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Align, evaluate and translate the vectors that come with the program
    Demo(Demo),
    /// Fit a model to vectors and a dictionary, and write the aligned space
    Align(Align),
    /// Add a view to a fitted space; the views in it stay as they are
    Extend(Extend),
    /// Sum up vectors and a dictionary without fitting, for `sememe align --moments`
    Moments(Moments),
    /// Translate words from one view of a space to others
    Translate(Translate),
    /// Serve spaces: a page to look around in them, and an HTTP API
    Serve(Serve),
    /// Write a space and the page to look around in it as one file
    Page(Page),
    /// Make dictionaries out of a space
    #[command(subcommand)]
    Lexicon(Lexicon),
    /// Find exact nearest neighbours between any two files of vectors
    Neighbors(Neighbors),
    /// Write a view for vector databases, so that they rank by any criterion
    Export(Export),
    /// Apply a fitted model to other vectors of one of its views
    Project(Project),
    /// Evaluate a space, or vectors as they are
    #[command(subcommand)]
    Evaluate(Evaluate),
    /// Change the embedding model and keep the index: maps between the vectors of two models
    #[command(subcommand)]
    Migrate(Migrate),
    /// Draw words from the model of a space
    Sample(Sample),
    /// Reproduce the tables and figures of the paper on the data in a folder, and write a report
    Reproduce(Reproduce),
    /// Convert word vectors from any format to any other
    Convert(Convert),
    /// Describe a file of vectors or of moments, or a space
    Inspect(Inspect),
    /// List the GPUs of this machine, and what would be used
    Devices,
    /// Print a script that completes commands and options in a shell
    Completions(Completions),
    /// Print the manual page, or write those of all commands into a folder
    Man(Man),
}

#[derive(Args)]
#[command(after_help = "Examples:\n  sememe demo --keep demo-space\n  sememe demo --serve")]
pub struct Demo {
    /// Keep the aligned space in this folder, to try the other commands on
    #[arg(long, value_name = "SPACE")]
    pub keep: Option<PathBuf>,
    /// Write the report, a page with plots, to this folder [default: sememe-report]
    #[arg(long, value_name = "REPORT")]
    pub report: Option<PathBuf>,
    /// Serve the aligned space at the end: a page to look around in it
    #[arg(long)]
    pub serve: bool,
    #[command(flatten)]
    pub serving: Serving,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe align en=en.vec fr=fr.vec.gz --lexicon en-fr=dictionary.txt -o space
  sememe align en=en.vec fr=fr.vec ru=ru.vec --lexicon en-fr=f.txt --lexicon en-ru=r.txt -o space
  sememe align old=old.npy new=new.npy --identical --normalize unit,center,unit -o space
  sememe align en=en.bin fr=fr.bin --lexicon tuples.tsv --max-words 200000 --lower -o space
  sememe align en=en.vec fi=fi.vec --identical --refine -o space
  sememe align one=one.vec other=other.vec --unsupervised -o space")]
pub struct Align {
    /// The views, as NAME=FILE. If NAME contains `=`, the name ends at the first `=` that an existing file follows
    #[arg(required_unless_present = "moments", value_name = "NAME=FILE")]
    pub views: Vec<Named>,
    /// Folder to write the space to
    #[arg(long, short, value_name = "SPACE")]
    pub output: PathBuf,
    /// Fit to the merged moments of these files of `sememe moments`; views given as well are projected into the space
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = GATHERING)]
    pub moments: Vec<PathBuf>,
    /// mbfa: continue the fit of the space at --output; it needs the same data
    #[arg(long, conflicts_with = "init")]
    pub resume: bool,
    #[command(flatten)]
    pub gathering: Gathering,
    #[command(flatten)]
    pub learning: Learning,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub fitting: Fitting,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe moments en=en.vec fr=fr.vec --lexicon en-fr=ours.txt --lower -o ours.safetensors
  sememe align --moments ours.safetensors theirs.safetensors -o space

Moments are counts, means and covariances of the vectors of the pairs: neither words nor vectors are in the file.")]
pub struct Moments {
    /// The views, as NAME=FILE
    #[arg(required = true, value_name = "NAME=FILE")]
    pub views: Vec<Named>,
    /// File to write
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub gathering: Gathering,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe extend space de=de.vec --lexicon en-de=dictionary.txt
  sememe extend space de=de.vec --lexicon en-de=one.txt --lexicon fr-de=two.txt -o larger-space")]
pub struct Extend {
    /// The space
    pub space: PathBuf,
    /// The new view: NAME=FILE
    #[arg(value_name = "NAME=FILE")]
    pub view: Named,
    /// A dictionary: A-B=FILE for pairs of a view of the space and the new one, or a FILE of tuples with a header
    #[arg(long, short, value_name = "A-B=FILE")]
    pub lexicon: Vec<String>,
    /// Use strings that the new view shares with the others as a dictionary
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "strings")]
    pub identical: Option<Identical>,
    /// Write the larger space here [default: add to the space in place]
    #[arg(long, short, value_name = "SPACE")]
    pub output: Option<PathBuf>,
    /// Word list of an array [default: the one beside it]
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    /// Shrink the covariance of the new view: auto, oas, none, or a number from 0 to 0.99
    #[arg(long, default_value_t = FitOptions::for_new_view().shrinkage, value_name = "HOW")]
    pub shrinkage: Shrinkage,
    /// Discriminative finish between the new view and each known one: auto, none, or a number of steps; see sememe align
    #[arg(long, default_value_t = FitOptions::for_new_view().finish, value_name = "STEPS")]
    pub finish: FinishSteps,
    /// Evaluate the likelihood at most this often
    #[arg(long, default_value_t = FitOptions::for_new_view().mbfa.evaluations, value_name = "N")]
    pub iterations: usize,
    /// Stop when the likelihood rises by less than this fraction three times in a row (convergence)
    #[arg(long, default_value_t = FitOptions::for_new_view().mbfa.tolerance, value_name = "FRACTION", value_parser = fitting::parse_tolerance)]
    pub tolerance: f64,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args)]
#[command(after_help = "Example:\n  sememe project space fr=more.vec -o aligned.vec")]
pub struct Project {
    /// The space
    pub space: PathBuf,
    /// The vectors, and the view that they belong to
    #[arg(value_name = "VIEW=FILE")]
    pub vectors: Named,
    /// File to write; its extension decides the format
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Write the coordinates in which the view is compared with this one by cosines, with the discriminative finish,
    /// instead of E[z|x]
    #[arg(long, value_name = "VIEW")]
    pub compared_with: Option<String>,
    /// Write this format, regardless of the extension
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub to: Option<Format>,
    /// Word list of an array [default: the one beside it]
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe convert en.vec.gz en.safetensors
  sememe convert embeddings.parquet en.vec --columns token,embedding
  sememe convert cc.fr.300.bin rare.vec --only rare-words.txt     (fastText composes unknown words)")]
pub struct Convert {
    /// File to read, of any format
    pub input: PathBuf,
    /// File to write; its extension decides the format: .vec, .txt (no header), .bin (word2vec), .npy, .safetensors,
    /// .parquet, .arrow
    pub output: PathBuf,
    /// Write this format, regardless of the extension
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub to: Option<Format>,
    /// Write only the words of this list (one a line), in its order
    #[arg(long, value_name = "FILE")]
    pub only: Option<PathBuf>,
    /// Lower-case all words; the first of words that become equal is kept
    #[arg(long)]
    pub lower: bool,
    /// Word list of an array [default: the one beside it]
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  sememe inspect en.vec\n  sememe inspect space --curve curve.svg")]
pub struct Inspect {
    /// A file of vectors or of moments, or a space
    pub what: PathBuf,
    /// Draw the learning curve of an iterated fit, as SVG
    #[arg(long, value_name = "FILE")]
    pub curve: Option<PathBuf>,
    /// Word list of an array [default: the one beside it]
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::Sememe;

    /// Prose of a help text that is broken by hand is broken twice on a narrow terminal.
    #[test]
    fn help_leaves_line_breaks_to_the_terminal() {
        fn check(command: &Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().collect();
            for pair in lines.windows(2) {
                let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
                assert!(!(is_prose(pair[0]) && is_prose(pair[1])), "{}: {}", command.get_name(), pair[0]);
            }
            command.get_subcommands().for_each(check);
        }
        check(&Sememe::command());
    }
}
