//! A map applied to a file of any size: in segments, which are kept when the work is interrupted.
//!
//! Every segment is a file of its own in the folder `OUT.parts`, which appears under its name when it is complete; the
//! name has a checksum. At the end the segments are joined. An interrupted run goes on with the segments that are
//! missing, if the map, the input and the options are the same.

mod join;
mod segments;
mod source;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::join::join;
use self::segments::{Form, Segment};
use self::source::Source;
use super::{MigrationMap, Side};
use crate::error::{Error, Place, Result};
use crate::files::{self, Lock, check_writable, sampled_hash_of_file, try_lock};
use crate::names::{self, serde_as_spelled, setters};
use crate::observe::{Meter, Observer, Stage};
use crate::vectors::Format;

/// The type of the numbers that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// Half precision.
    F16,
    /// Single precision.
    F32,
}

impl Precision {
    /// All precisions by name.
    pub const ALL: [(&'static str, Precision); 2] = [("f16", Precision::F16), ("f32", Precision::F32)];

    /// Bytes of a number.
    fn size(self) -> usize {
        match self {
            Precision::F16 => 2,
            Precision::F32 => 4,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(names::of(self, &Precision::ALL))
    }
}

impl FromStr for Precision {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        names::find("precision", name, &Precision::ALL)
    }
}

serde_as_spelled!(Precision);

/// Options of [`MigrationMap::apply_file`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Whose vectors the input holds.
    pub from: Side,
    /// Whose space they are mapped to.
    pub to: Side,
    /// The type of the numbers to write; by default half precision for an input of half precision.
    pub precision: Option<Precision>,
    /// The column of vectors of a table.
    pub columns: Option<Vec<String>>,
    /// Map the vectors even if they look like those of another model.
    pub force: bool,
    /// The name of the model that made the vectors; a map of another one refuses them.
    pub model: Option<String>,
}

impl StreamOptions {
    /// Maps vectors of one side to another.
    pub fn new(from: Side, to: Side) -> Self {
        StreamOptions { from, to, precision: None, columns: None, force: false, model: None }
    }
}

setters!(StreamOptions {
    /// Sets [`StreamOptions::precision`].
    with_precision: precision = Option<Precision>,
    /// Sets [`StreamOptions::columns`].
    with_columns: columns = Option<Vec<String>>,
    /// Sets [`StreamOptions::force`].
    with_force: force = bool,
    /// Sets [`StreamOptions::model`].
    with_model: model = Option<String>,
});

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Streamed {
    /// Number of rows.
    pub rows: usize,
    /// Length of the vectors written.
    pub dimension: usize,
    /// The type of the numbers.
    pub precision: Precision,
    /// Rows that an interrupted run had left.
    pub resumed: usize,
    /// The BLAKE3 checksum of the file.
    pub checksum: String,
}

/// Segments that are worked on at the same time, at most: each takes memory.
const MOST_AT_A_TIME: usize = 4;

impl MigrationMap {
    /// Maps the vectors of a file of any size to another file: NumPy arrays, safetensors, Parquet and Arrow in and out, by
    /// the extension of the output. The other columns of a table are kept. An interrupted run is continued by the same
    /// call.
    pub fn apply_file(
        &self,
        input: &Path,
        output: &Path,
        options: &StreamOptions,
        observer: &dyn Observer,
    ) -> Result<Streamed> {
        let map = &self.route(options.from, options.to)?;
        if let Some(name) = &options.model {
            self.check_name(options.from, name)?;
        }
        let form = Form::of_name(output)?;
        check_writable(output)?;
        if files::is_standard_output(output) {
            return Err(Error::malformed(output, Place::Whole, "cannot be continued; name a file to write"));
        }
        let source = Source::open(input, options.columns.as_deref())?;
        if source.dim() != map.from_dim() {
            let side = options.from;
            let problem =
                format!("has vectors of length {}; those of the {side} side have {}", source.dim(), map.from_dim());
            return Err(Error::malformed(input, Place::Whole, problem));
        }
        if !options.force {
            let sample = source.sample()?;
            // Rows that are not finite are reported by their numbers when they are mapped.
            let finite: Vec<usize> =
                (0..sample.rows()).filter(|&row| sample.row(row).iter().all(|x| x.is_finite())).collect();
            let place = || input.display().to_string();
            self.check_model(options.from, &sample.select(&finite)).map_err(|error| error.within(place()))?;
        }
        let precision = options.precision.unwrap_or(source.precision());
        let segments = source.segments(map.to_dim() * precision.size());
        let parts = Parts::open(output, &self.identity(input, precision, form, options)?)?;
        let pending: Vec<&Segment> = segments.iter().filter(|segment| parts.find(segment.number).is_none()).collect();
        let rows: usize = segments.iter().map(|segment| segment.rows).sum();
        let resumed = rows - pending.iter().map(|segment| segment.rows).sum::<usize>();
        let meter = Meter::new(observer, Stage::Mapping, rows);
        meter.advance(resumed)?;
        let at_a_time = rayon::current_num_threads().clamp(1, MOST_AT_A_TIME);
        for some in pending.chunks(at_a_time) {
            some.par_iter().try_for_each(|segment| -> Result<()> {
                let path = parts.unnamed(segment.number);
                source.map_segment(segment, map, (form, precision), &path, &meter)?;
                parts.keep(segment.number, &path)
            })?;
        }
        let files: Vec<PathBuf> = segments.iter().filter_map(|segment| parts.find(segment.number)).collect();
        let shape = (rows, map.to_dim());
        let checksum = join(&files, output, (form, precision, shape))?;
        parts.remove()?;
        Ok(Streamed { rows, dimension: map.to_dim(), precision, resumed, checksum })
    }

    /// What the segments of an interrupted run depend on.
    fn identity(&self, input: &Path, precision: Precision, form: Form, options: &StreamOptions) -> Result<Identity> {
        let map = self.route(options.from, options.to)?;
        let mut hasher = blake3::Hasher::new();
        map.hash(&mut hasher);
        Ok(Identity {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            map: hasher.finalize().to_hex().to_string(),
            input: sampled_hash_of_file(input)?,
            columns: options.columns.clone(),
            precision,
            form: form.format(),
        })
    }
}

#[derive(Serialize, Deserialize, PartialEq)]
struct Identity {
    version: String,
    map: String,
    input: String,
    columns: Option<Vec<String>>,
    precision: Precision,
    form: Format,
}

/// The folder of segments, locked.
struct Parts {
    folder: PathBuf,
    /// Held as long as the folder is used.
    _lock: Lock,
}

const PLAN: &str = "plan.json";
const LOCK: &str = "lock";
const SUFFIX: &str = "part";

impl Parts {
    /// Opens the folder beside the output. Segments of another run, and damaged ones, are removed.
    fn open(output: &Path, identity: &Identity) -> Result<Self> {
        let mut name = output.as_os_str().to_owned();
        name.push(".parts");
        let folder = PathBuf::from(name);
        let failed = |error| Error::write(&folder, error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let lock_file = folder.join(LOCK);
        fs::File::options().create(true).append(true).open(&lock_file).map_err(failed)?;
        let lock = try_lock(&lock_file).map_err(failed)?;
        if matches!(lock, Lock::Busy) {
            let problem = "another process is writing the same output; wait for it, or write to another file";
            return Err(Error::write(output, std::io::Error::other(problem)));
        }
        let plan = folder.join(PLAN);
        let known: Option<Identity> = fs::read(&plan).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let is_same = known.as_ref() == Some(identity);
        // Segments do not wait for the disk: after a power failure some may have names without their content.
        for entry in fs::read_dir(&folder).map_err(failed)?.flatten() {
            let path = entry.path();
            let is_segment = path.extension().is_some_and(|extension| extension == SUFFIX);
            if is_segment && !(is_same && join::is_whole(&path)) {
                fs::remove_file(path).map_err(failed)?;
            }
        }
        if !is_same {
            files::write(&plan, &serde_json::to_vec(identity).expect("plain data"))?;
        }
        Ok(Parts { folder, _lock: lock })
    }

    fn prefix(number: usize) -> String {
        format!("{number:08}-")
    }

    /// The file of a segment before its checksum is known.
    fn unnamed(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{number:08}"))
    }

    /// A segment that is complete.
    fn find(&self, number: usize) -> Option<PathBuf> {
        let prefix = Self::prefix(number);
        let is_own = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && path.extension().is_some_and(|extension| extension == SUFFIX)
        };
        fs::read_dir(&self.folder).ok()?.flatten().map(|entry| entry.path()).find(is_own)
    }

    /// Gives a complete segment its final name, with its checksum.
    fn keep(&self, number: usize, written: &Path) -> Result<()> {
        let checksum = join::checksum_of(written)?;
        let named = self.folder.join(format!("{}{checksum}.{SUFFIX}", Self::prefix(number)));
        fs::rename(written, &named).map_err(|error| Error::write(&named, error))
    }

    fn remove(self) -> Result<()> {
        let folder = self.folder.clone();
        drop(self);
        fs::remove_dir_all(&folder).map_err(|error| Error::write(&folder, error))
    }
}
