//! The arguments of `reproduce`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use sememe::prepare::Casing;
use sememe_report::reproduce::{Options, Part};

use super::gathering::Steps;
use super::{Reading, count};

#[derive(Args)]
#[command(after_help = "\
Examples:
  sememe reproduce --data data -o report
  sememe reproduce --data data --vectors vectors --tables 1,3,6 -o report
  sememe reproduce --data data --tables 1,learned -o report

The report is a folder: index.html (needs nothing else), report.md, report.json and the figures as SVG. Every cell has the \
paper's figure beside ours. Whatever is not there is named in the report. It is written after every stage, so that Ctrl-C \
keeps what is computed. In DATA are looked for, for languages XX and YY:

vectors, or in the folder --vectors:
  XX/vectors.npy (and XX/words.txt), XX.vec, wiki.XX.vec, cc.XX.300.vec
MUSE's dictionaries, to fit to, to test on, and all of it:
  dictionaries/muse/XX-YY.0-5000.txt, .5000-6500.txt, .txt or .txt.gz
XLING's, for pairs that MUSE does not have:
  dictionaries/xling/XX-YY.train.freq.5k.tsv, .test.freq.2k.tsv
those of Dinu et al.:
  dictionaries/dinu/OPUS_en_it_europarl_train_5K.txt, _test.txt
tuples of three languages under a header:
  triples.*.tsv
word similarity, `word word score`:
  similarity/EN_*.txt
STS, `score TAB sentence TAB sentence`, or as released:
  sts/
sentences line by line, .xz or .gz too:
  sentences/NAME.XX-YY.XX and NAME.XX-YY.YY

MUSE's own layout (crosslingual/dictionaries, monolingual/en, crosslingual/europarl) is known, too.")]
pub struct Reproduce {
    /// Folder of data
    #[arg(long, default_value = "data", value_name = "DIR")]
    pub data: PathBuf,
    /// Folder of vectors [default: the folder of data]
    #[arg(long, value_name = "DIR")]
    pub vectors: Option<PathBuf>,
    /// Tables of the paper, 1 to 8, and our own: learned, noise and map; separated by commas. The refined and
    /// unsupervised rows of tables 1 and 5 are part of learned, and take minutes for every language [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TABLES")]
    pub tables: Vec<Part>,
    /// Folder to write the report to
    #[arg(long, short, default_value = "report", value_name = "REPORT")]
    pub output: PathBuf,
    /// Use the first N words of each language
    #[arg(long, default_value_t = count(Options::default().max_words), value_name = "N")]
    pub max_words: NonZeroUsize,
    /// Keep the case of words instead of lower-casing them
    #[arg(long)]
    pub keep_case: bool,
    /// Normalise vectors by these steps, in order: unit (length 1), center, standardize; or none
    #[arg(long, default_value_t = Steps(Options::default().steps), value_name = "STEPS")]
    pub normalize: Steps,
    /// Number of candidate sentences of a parallel text
    #[arg(long, default_value_t = count(Options::default().sentences), value_name = "N")]
    pub sentences: NonZeroUsize,
    /// Steps of plain EM for table 8 and the learning curve
    #[arg(long, default_value_t = count(Options::default().em_steps), value_name = "N")]
    pub em_steps: NonZeroUsize,
}

impl Reproduce {
    pub fn options(&self, seed: u64) -> Options {
        let mut options = Options::default();
        options.parts = self.tables.clone();
        options.max_words = self.max_words.get();
        options.casing = if self.keep_case { Casing::Kept } else { Casing::Lower };
        options.steps = self.normalize.0.clone();
        options.sentences = self.sentences.get();
        options.em_steps = self.em_steps.get();
        options.seed = seed;
        options
    }

    pub fn reading(&self) -> Reading {
        Reading { max_words: Some(self.max_words), format: None, columns: None, strict: false }
    }
}
