//! Layouts of all words in the plane, kept inside the space: computing one takes minutes.

use serde::{Deserialize, Serialize};

use super::files::file_stem;
use super::{LAYOUT, LAYOUT_KIND, Space};
use crate::error::{Error, Result};
use crate::tensors::{Contents, Tensor, TensorFile};

const VERSION: u64 = 1;
const PLACES: &str = "places";

#[derive(Serialize, Deserialize)]
struct Metadata {
    kind: String,
    version: u64,
    /// The fingerprint of the space that it was computed for.
    space: String,
}

impl Space {
    /// Reads a layout that [`Space::keep_layout`] wrote: `x, y` of every word, view after view. `None` if there is none,
    /// or none of this space as it is now.
    pub fn kept_layout(&self, name: &str) -> Option<Vec<f32>> {
        let file = TensorFile::open(&self.layout_file(name)).ok()?;
        let metadata: Metadata = file.metadata(LAYOUT_KIND, VERSION).ok()?;
        if metadata.space != self.fingerprint() {
            return None;
        }
        let (_, shape, bytes, start) = file.locate(PLACES).ok()?;
        let words: usize = self.alignment.words.iter().sum();
        if shape != [words, 2] {
            return None;
        }
        let numbers = bytes.get(start..start + words * 8)?.chunks_exact(4);
        let places: Vec<f32> = numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        places.iter().all(|x| x.is_finite()).then_some(places)
    }

    /// Keeps a layout in the folder of the space: `x, y` of every word, view after view. It is an error if the space was
    /// replaced in the meantime.
    ///
    /// ```
    /// use sememe::{align, lexicon::Tuples, space::Space, vectors::{Matrix, View}};
    ///
    /// let rows = |turn: f32| Matrix::new((0..60).map(|x| (x as f32 * 1.7 + turn).sin()).collect(), 3);
    /// let mut tuples = Tuples::new(2);
    /// (0..20).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
    /// let views = vec![View::new("a", rows(0.0)), View::new("b", rows(0.1))];
    /// let aligned = align::align(views, &tuples, &Default::default(), &())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("space");
    /// Space::write(&path, &aligned.alignment, &aligned.latent)?;
    /// let space = Space::open(&path)?;
    /// assert_eq!(space.kept_layout("plane"), None);
    /// space.keep_layout("plane", &[0.5; 80])?;
    /// assert_eq!(Space::open(&path)?.kept_layout("plane"), Some(vec![0.5; 80]));
    /// // It belongs to the space, which can be replaced as before.
    /// Space::check_writable(&path)?;
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn keep_layout(&self, name: &str, places: &[f32]) -> Result<()> {
        let words: usize = self.alignment.words.iter().sum();
        if places.len() != 2 * words {
            return Err(Error::argument("number of places", places.len() / 2, format!("there are {words} words")));
        }
        self.check_current()?;
        let metadata =
            Metadata { kind: LAYOUT_KIND.to_owned(), version: VERSION, space: self.fingerprint().to_owned() };
        let tensors = vec![(PLACES.to_owned(), Tensor::f32s(places, words, 2))];
        Contents { metadata, tensors }.write(&self.layout_file(name))
    }

    fn layout_file(&self, name: &str) -> std::path::PathBuf {
        self.path.join(format!("{}{LAYOUT}", file_stem(name)))
    }
}
