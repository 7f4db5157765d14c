//! The arguments of commands that evaluate a space, or vectors from files.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use sememe::evaluate::{MAX_SENTENCES, Neighbours, Oov, SentenceOptions};

use super::gathering::Steps;
use super::{Criteria, EvaluateNoise, Reading, count};

#[derive(Subcommand)]
pub enum Evaluate {
    /// Precision of word translation against a gold dictionary
    Translation(EvaluateTranslation),
    /// Correlation of cosines with human scores of word similarity
    Similarity(EvaluateSimilarity),
    /// Accuracy on analogies: a is to b as c is to which word?
    Analogy(EvaluateAnalogy),
    /// Correlation with human scores of sentence similarity (STS)
    Sts(EvaluateSts),
    /// Precision of sentence retrieval between two languages
    Sentences(EvaluateSentences),
    /// Robustness: precision of several methods under noise, wrong entries and fewer entries
    Noise(Box<EvaluateNoise>),
}

/// How to read vectors that are given instead of a space.
#[derive(Args)]
#[command(next_help_heading = "Vectors in place of a space")]
pub struct Vectors {
    /// Lower-case all words; the first of words that become equal is kept
    #[arg(long)]
    pub lower: bool,
    /// Normalise vectors by these steps, in order: unit (length 1), center, standardize [default: none]
    #[arg(long, value_name = "STEPS")]
    pub normalize: Option<Steps>,
    /// Word list of an array [default: the one beside it]
    #[arg(long, value_name = "FILE")]
    pub words: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

/// Two views, and the direction between them.
#[derive(Args)]
pub struct Direction {
    /// View to translate from
    #[arg(long, value_name = "VIEW")]
    pub from: Option<String>,
    /// View to translate to
    #[arg(long, value_name = "VIEW")]
    pub to: Option<String>,
    /// Evaluate the other direction as well
    #[arg(long)]
    pub both: bool,
    /// Vectors of the other language, if vectors are given instead of a space; both must lie in the same space
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe evaluate translation space --from en --to fr --gold en-fr.5000-6500.txt
  sememe evaluate translation space --from en --to fr --gold dictionaries/ --both --criterion nn,csls
  sememe evaluate translation space --from en --to fr --gold test.txt --compare other-space
  sememe evaluate translation space --from en --to fr --gold test.txt --details mistakes.tsv
  sememe evaluate translation aligned.en.vec --with aligned.fr.vec --gold en-fr.5000-6500.txt

Intervals are percentiles of 2,000 resamples of the queries. --compare tests P@1 of two spaces on the queries that both have: a \
paired bootstrap of the difference, and McNemar's exact test.")]
pub struct EvaluateTranslation {
    /// A space, or a file of vectors
    #[arg(value_name = "SPACE|VECTORS")]
    pub what: PathBuf,
    #[command(flatten)]
    pub direction: Direction,
    /// Gold dictionary, source words first; or a folder that contains one under a common name, such as
    /// en-fr.5000-6500.txt
    #[arg(long, value_name = "FILE|FOLDER")]
    pub gold: PathBuf,
    /// Criterion that ranks candidates: auto (csls, or what --criterion of align chose), nn (cosine), csls, isf (inverted
    /// softmax), corrected, dot, l2, pmi or logp. Some have parameters: csls:k=10,words=50000 isf:beta=30,sample=10000 corrected:pool=5000. Several may be given,
    /// separated by commas
    #[arg(long, default_value = "auto", value_name = "CRITERION")]
    pub criterion: Vec<Criteria>,
    /// Gold words without a vector, or without a translation that has one: skip them, as MUSE does, or count them as wrong,
    /// as fastText does
    #[arg(long, value_enum, default_value = "skip", value_name = "POLICY")]
    pub oov: OovPolicy,
    /// Test the difference in P@1 from this other space
    #[arg(long, value_name = "SPACE")]
    pub compare: Option<PathBuf>,
    /// Write a row for each gold word: its translations, the rank of the first one, the ten best candidates and their scores;
    /// the name decides the format: .tsv, .jsonl (JSON lines), .parquet or .arrow
    #[arg(long, value_name = "FILE")]
    pub details: Option<PathBuf>,
    #[command(flatten)]
    pub vectors: Vectors,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum OovPolicy {
    /// Leave them out
    Skip,
    /// Count them as wrong
    Wrong,
}

impl From<OovPolicy> for Oov {
    fn from(policy: OovPolicy) -> Self {
        match policy {
            OovPolicy::Skip => Oov::Skip,
            OovPolicy::Wrong => Oov::Wrong,
        }
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe evaluate similarity space --view en EN_WS-353-ALL.txt EN_MEN-TR-3k.txt
  sememe evaluate similarity en.vec --lower --view en similarity/        (all EN_*.txt of the folder)
  sememe evaluate similarity space --view en --view fr EN_FR_set.txt     (first words English, second French)

A file has a line for each pair: two words and a score, separated by white space, tabs, commas or semicolons. Pairs with a word \
that has no vector are left out and counted.")]
pub struct EvaluateSimilarity {
    /// A space, or a file of vectors
    #[arg(value_name = "SPACE|VECTORS")]
    pub what: PathBuf,
    /// Files of pairs; or folders, whose files are used if their names begin with the view in capitals and `_`
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<PathBuf>,
    /// The view; two for pairs across languages
    #[arg(long, value_name = "VIEW")]
    pub view: Vec<String>,
    /// Vectors of the second words, if vectors are given instead of a space; both must lie in the same space
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,
    #[command(flatten)]
    pub vectors: Vectors,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe evaluate analogy space --view en questions-words.txt
  sememe evaluate analogy en.vec questions-words.txt --lower

A question is a line of four words, a section begins with a line `: name`. The answer is the word nearest to b - a + c (unit \
vectors, cosine), other than these three. Questions with a word that has no vector are left out and counted.")]
pub struct EvaluateAnalogy {
    /// A space, or a file of vectors
    #[arg(value_name = "SPACE|VECTORS")]
    pub what: PathBuf,
    /// File of questions
    #[arg(value_name = "QUESTIONS")]
    pub questions: PathBuf,
    /// The view
    #[arg(long, value_name = "VIEW")]
    pub view: Option<String>,
    #[command(flatten)]
    pub vectors: Vectors,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe evaluate sts space --view en sts/
  sememe evaluate sts en.vec --lower sts/STS12.MSRpar.tsv --weighting sif --frequencies counts.txt

A file has a line for each pair: score, sentence and sentence with tabs between them, and is called STS12.MSRpar.tsv, say; or it is \
called STS.input.MSRpar.txt as released, with STS.gs.MSRpar.txt beside it. Folders are searched for both.

tfidf: the mean of the words' vectors, weighted by ln(n/df) over the sentences of a set. sif: weighted by a/(a+p), and the first \
principal component of the set removed (Arora et al. 2017). The score is the cosine. A year is the mean over its sets.")]
pub struct EvaluateSts {
    /// A space, or a file of vectors
    #[arg(value_name = "SPACE|VECTORS")]
    pub what: PathBuf,
    /// Files, or folders of files
    #[arg(required = true, value_name = "SET")]
    pub sets: Vec<PathBuf>,
    /// The view
    #[arg(long, value_name = "VIEW")]
    pub view: Option<String>,
    /// How words are weighted [default: both]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub weighting: Option<WeightingName>,
    /// sif: word probabilities from a file of `word count` lines [default: from the order of the words, by Zipf's law]
    #[arg(long, value_name = "FILE")]
    pub frequencies: Option<PathBuf>,
    /// sif: smoothing; with a larger number the frequency of a word matters less
    #[arg(long, default_value_t = sememe::evaluate::SIF_A, value_name = "A", value_parser = parse_positive)]
    pub a: f64,
    #[command(flatten)]
    pub vectors: Vectors,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WeightingName {
    /// Smooth inverse frequency, first principal component removed
    Sif,
    /// Inverse document frequency
    Tfidf,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe evaluate sentences space --from en --to fr europarl.en europarl.fr --both
  sememe evaluate sentences space --from en --to fr corpus.en.xz corpus.fr.xz --criterion csls --queries 500

Line by line the files are translations of each other. A sentence is the mean of its words' vectors, weighted by ln(n/df) over all \
sentences of its language. As in MUSE, 2,000 sentences drawn at random (--seed) are looked for among all.")]
pub struct EvaluateSentences {
    /// A space, or a file of vectors
    #[arg(value_name = "SPACE|VECTORS")]
    pub what: PathBuf,
    /// Sentences of the view --from, one a line, plain or compressed
    #[arg(value_name = "SOURCE")]
    pub source: PathBuf,
    /// Their translations
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,
    #[command(flatten)]
    pub direction: Direction,
    /// Criterion that ranks candidates: nn (cosine), csls, isf, corrected, dot or l2; several may be given, separated by
    /// commas [default: nn,csls]
    #[arg(long, value_name = "CRITERION")]
    pub criterion: Vec<Criteria>,
    /// Number of query sentences
    #[arg(long, default_value_t = count(SentenceOptions::default().queries), value_name = "N")]
    pub queries: NonZeroUsize,
    /// Read only the first N sentences of each file
    #[arg(long, default_value_t = count(MAX_SENTENCES), value_name = "N")]
    pub max_sentences: NonZeroUsize,
    /// Where csls, isf and corrected search the neighbours of a candidate: among the queries, as MUSE does, or all sentences
    #[arg(long, value_enum, default_value = "queries", value_name = "WHICH")]
    pub neighbors: NeighboursName,
    #[command(flatten)]
    pub vectors: Vectors,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum NeighboursName {
    /// Among the queries
    Queries,
    /// Among all sentences of the source
    All,
}

impl From<NeighboursName> for Neighbours {
    fn from(name: NeighboursName) -> Self {
        match name {
            NeighboursName::Queries => Neighbours::Queries,
            NeighboursName::All => Neighbours::All,
        }
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && f64::is_finite(value) => Ok(value),
        _ => Err("it must be a number above 0".to_owned()),
    }
}
