//! The aligned vectors of all views as files for other programs.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Space, view_files};
use crate::error::{Error, Result};
use crate::vectors::{self, Embeddings, Format};

impl Space {
    /// The files of vectors that [`Space::export`] writes to a folder, in the order of the views.
    pub fn export_files(&self, folder: &Path, format: Format) -> Vec<PathBuf> {
        let named = |file: &String| folder.join(Path::new(file).with_extension(format.extension()));
        view_files(&self.alignment).iter().map(named).collect()
    }

    /// Writes the latent vectors of all views to a folder, one file a view: `en.vec`, `fr.vec`. Those of two views are in
    /// the coordinates in which they are [compared](crate::align::Alignment::compared_with). The folder is created if
    /// need be; other files in it stay. A view without words is an error.
    ///
    /// ```
    /// use sememe::{align, lexicon::Tuples, space::Space, vectors::{self, Embeddings, Format, Matrix, View}};
    ///
    /// let view = |name: &str, shift: f32| {
    ///     let words: Vec<String> = (0..40).map(|i| format!("{name}{i}")).collect();
    ///     let rows = Matrix::new((0..160).map(|x| (x as f32 * 0.7 + shift).sin()).collect(), 4);
    ///     View::from_embeddings(name, Embeddings::new(words.iter().map(String::as_str).collect(), rows))
    /// };
    /// let mut tuples = Tuples::new(2);
    /// (0..40).for_each(|row| assert!(tuples.add(&[Some(row), Some(row)])));
    /// let aligned = align::align(vec![view("en", 0.0), view("fr", 0.1)], &tuples, &Default::default(), &())?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = |name: &str| folder.path().join(name);
    /// Space::write(&path("space"), &aligned.alignment, &aligned.latent)?;
    /// let files = Space::open(&path("space"))?.export(&path("vectors"), Format::Text)?;
    /// assert_eq!(files, [path("vectors/en.vec"), path("vectors/fr.vec")]);
    /// let read = vectors::read(&files[1], &Default::default(), &())?;
    /// assert_eq!((read.embeddings.len(), read.embeddings.word(39)), (40, "fr39"));
    /// # Ok::<(), sememe::Error>(())
    /// ```
    pub fn export(&self, folder: &Path, format: Format) -> Result<Vec<PathBuf>> {
        let names = self.alignment.model.views.iter().map(|view| view.name.as_str());
        let mut views = names.map(|name| self.view(name)).collect::<Result<Vec<_>>>()?;
        if let [first, second] = &mut views[..] {
            for (view, place) in [(first, 0), (second, 1)] {
                *view = view.with_matrix(self.alignment.compared_with(place, 1 - place, view.matrix().clone())?);
            }
        }
        fs::create_dir_all(folder).map_err(|error| Error::write(folder, error))?;
        let files = self.export_files(folder, format);
        for ((view, file), model) in views.iter().zip(&files).zip(&self.alignment.model.views) {
            self.write_view(&model.name, view, file, format)?;
        }
        Ok(files)
    }

    /// A table also says of which view and method its vectors are.
    fn write_view(&self, name: &str, view: &Embeddings, file: &Path, format: Format) -> Result<()> {
        match format {
            #[cfg(feature = "parquet")]
            Format::Parquet | Format::Arrow => {
                let method = self.alignment.model.method.to_string();
                let metadata = [("sememe.view", name.to_owned()), ("sememe.method", method)];
                vectors::write_table(view, file, format, &metadata)
            }
            _ => {
                let _no_place_for_it = name;
                vectors::write(view, file, format)
            }
        }
    }
}
