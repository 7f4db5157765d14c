//! A small space, and a server of it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use sememe::align;
use sememe::lexicon::Tuples;
use sememe::space::Space;
use sememe::vectors::{Embeddings, Matrix, View};
use sememe_server::{Event, Options, Server, Stop};
use tempfile::TempDir;

use crate::client::Client;

pub const WORDS: usize = 400;
const DIM: usize = 12;
/// Words that a page or a log must not take for anything else.
pub const ODD: [&str; 4] = ["<script>alert(1)</script>", "שלום", "東京", "\"';--"];

/// Numbers that look random and are the same everywhere.
pub fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        let sum: f32 = (0..4)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 40) as f32 / (1 << 24) as f32 - 0.5
            })
            .sum();
        sum
    }
}

fn word(view: &str, row: usize) -> String {
    match row.checked_sub(WORDS - ODD.len()) {
        Some(odd) => ODD[odd].to_owned(),
        None => format!("{view}{row}"),
    }
}

/// A view of a space: words of one number mean the same in all of them.
pub fn view(seed: u64, number: u64, name: &str) -> View {
    let mut hidden = noise(7);
    let meanings: Vec<f32> = (0..WORDS * DIM).map(|_| hidden()).collect();
    let mut noise = noise(seed * 10 + number);
    let map: Vec<f32> = (0..DIM * DIM).map(|_| noise()).collect();
    let mut values = Vec::with_capacity(WORDS * DIM);
    for meaning in meanings.chunks_exact(DIM) {
        for row in map.chunks_exact(DIM) {
            values.push(row.iter().zip(meaning).map(|(a, b)| a * b).sum::<f32>() + 0.06 * noise());
        }
    }
    let words: Vec<String> = (0..WORDS).map(|row| word(name, row)).collect();
    let words = words.iter().map(String::as_str).collect();
    View::from_embeddings(name, Embeddings::new(words, Matrix::new(values, DIM)))
}

/// The first half of the words as tuples of so many views.
pub fn tuples(views: usize) -> Tuples {
    let mut tuples = Tuples::new(views);
    (0..WORDS / 2).for_each(|row| assert!(tuples.add(&vec![Some(row); views])));
    tuples
}

/// Writes a space of three views.
pub fn write_space(path: &Path, seed: u64) {
    let views = vec![view(seed, 1, "en"), view(seed, 2, "fr"), view(seed, 3, "ru")];
    let aligned = align::align(views, &tuples(3), &Default::default(), &()).unwrap();
    Space::write(path, &aligned.alignment, &aligned.latent).unwrap();
}

/// A server that runs until it is dropped.
pub struct Running {
    pub folder: TempDir,
    pub client: Client,
    pub events: Arc<Mutex<Vec<Event>>>,
    pub stop: Stop,
    server: Option<JoinHandle<()>>,
}

impl Running {
    /// Serves one space under the name "small".
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_space(&folder.path().join("space"), 1);
        Self::serving(folder, &[("small", "space")], change)
    }

    /// Serves spaces that are in a folder.
    pub fn serving(folder: TempDir, spaces: &[(&str, &str)], change: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options::default();
        options.port = 0;
        options.layouts = false;
        change(&mut options);
        let spaces = spaces.iter().map(|(name, path)| ((*name).to_owned(), folder.path().join(path))).collect();
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let log = events.clone();
        let server = Server::open(spaces, options, move |event| log.lock().unwrap().push(event)).unwrap();
        let client = Client::new(server.address());
        let stop = Stop::default();
        let stopped = stop.clone();
        let server = thread::spawn(move || server.run(&stopped).unwrap());
        Running { folder, client, events, stop, server: Some(server) }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("space")
    }

    /// The space, opened by itself.
    pub fn space(&self) -> Space {
        Space::open(&self.path()).unwrap()
    }

    /// Stops the server and waits for its end.
    pub fn end(&mut self) {
        self.stop.stop();
        if let Some(server) = self.server.take() {
            server.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}
