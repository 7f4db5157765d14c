//! A space under the name by which requests reach it. When it is replaced on disk, it is opened anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use crate::error::Result;
use crate::opened::Opened;

pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    current: RwLock<Arc<Opened>>,
}

/// What changes when another space takes the place of one, or a view is added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<(u64, SystemTime)>);

impl Served {
    pub(crate) fn open(name: &str, path: &Path) -> Result<Self> {
        let current = RwLock::new(Arc::new(Opened::open(name, path)?));
        Ok(Served { name: name.to_owned(), path: path.to_owned(), current })
    }

    /// The space as it was opened last. Requests keep the one that they began with.
    pub(crate) fn current(&self) -> Arc<Opened> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn replace(&self, opened: Arc<Opened>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = opened;
    }

    /// The sizes and times of the files of the model; nothing while the folder is being replaced.
    pub(crate) fn stamp(&self) -> Stamp {
        let models = std::iter::once("model.safetensors".to_owned())
            .chain((1..).map(|number| format!("model.{number}.safetensors")));
        let about = |name: String| {
            let about = fs::metadata(self.path.join(name)).ok()?;
            Some((about.len(), about.modified().ok()?))
        };
        Stamp(models.map_while(about).collect())
    }
}

impl Stamp {
    /// Whether there is a space at all.
    pub(crate) fn is_there(&self) -> bool {
        !self.0.is_empty()
    }
}
