//! Which GPUs there are, and what is missing if there are none.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cudarc::driver::{CudaContext, DriverError, result, sys};

/// Cards from this compute capability on have the instructions that the kernels use: Ampere, 2020.
const OLDEST: (i32, i32) = (8, 0);

/// Why there is no GPU to work on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The driver's library is not there.
    #[error("NVIDIA's driver is not installed (libcuda was not found)")]
    NoDriver,
    /// The driver has no card.
    #[error("the driver finds no GPU ({0})")]
    NoCard(String),
    /// There are fewer cards.
    #[error("there is no GPU {wanted}: the last one is {last}")]
    NoSuchCard {
        /// The number asked for.
        wanted: usize,
        /// The largest number.
        last: usize,
    },
    /// The card is too old.
    #[error("{name} has compute capability {}.{}; {}.{} or newer is needed", .capability.0, .capability.1, OLDEST.0, OLDEST.1)]
    TooOld {
        /// The card.
        name: String,
        /// Its compute capability.
        capability: (i32, i32),
    },
    /// The compiler of kernels is not there.
    #[error(
        "NVRTC, which compiles kernels, was not found (libnvrtc): install CUDA's toolkit or `pip install nvidia-cuda-nvrtc`, \
         and set CUDA_HOME or LD_LIBRARY_PATH to its folder"
    )]
    NoCompiler,
    /// The driver or the compiler reports an error.
    #[error("{0}")]
    Broken(String),
}

impl From<DriverError> for Unavailable {
    fn from(error: DriverError) -> Self {
        Unavailable::Broken(error.to_string())
    }
}

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Description {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub capability: (i32, i32),
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of memory that are free.
    pub free: usize,
    /// The version of CUDA that the driver supports, such as 13.0.
    pub driver: (i32, i32),
    /// Why it cannot be used, if it cannot.
    pub unusable: Option<Unavailable>,
}

/// All GPUs that the driver has.
pub fn descriptions() -> Result<Vec<Description>, Unavailable> {
    let count = count()?;
    let version = driver_version()?;
    (0..count).map(|number| describe(number, version)).collect()
}

fn describe(number: usize, driver: (i32, i32)) -> Result<Description, Unavailable> {
    let context = CudaContext::new(number)?;
    let (name, capability) = (context.name()?, context.compute_capability()?);
    let (free, memory) = context.mem_get_info()?;
    let unusable = check_capability(&name, capability).and_then(|()| find_compiler()).err();
    Ok(Description { number, name, capability, memory, free, driver, unusable })
}

/// Number of cards.
pub(super) fn count() -> Result<usize, Unavailable> {
    // SAFETY: loading the driver's library runs its initialisation only.
    if !unsafe { sys::is_culib_present() } {
        return Err(Unavailable::NoDriver);
    }
    match result::init().and_then(|()| CudaContext::device_count()) {
        Ok(count) if count > 0 => Ok(count as usize),
        Ok(_) => Err(Unavailable::NoCard("their number is 0".to_owned())),
        Err(error) => Err(Unavailable::NoCard(error.to_string())),
    }
}

fn driver_version() -> Result<(i32, i32), Unavailable> {
    let mut version = 0;
    // SAFETY: the pointer is valid for the call.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok((version / 1000, version % 1000 / 10))
}

pub(super) fn check_capability(name: &str, capability: (i32, i32)) -> Result<(), Unavailable> {
    if capability >= OLDEST { Ok(()) } else { Err(Unavailable::TooOld { name: name.to_owned(), capability }) }
}

/// Makes sure that NVRTC can be loaded, also from folders that the loader does not look into.
pub(super) fn find_compiler() -> Result<(), Unavailable> {
    static IS_FOUND: OnceLock<bool> = OnceLock::new();
    let is_found = IS_FOUND.get_or_init(|| {
        // SAFETY: loading NVRTC runs its initialisation only.
        let is_present = || unsafe { cudarc::nvrtc::sys::is_culib_present() };
        is_present() || (folders().iter().any(|folder| load_from(folder)) && is_present())
    });
    if *is_found { Ok(()) } else { Err(Unavailable::NoCompiler) }
}

/// Where CUDA usually is.
fn folders() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let roots = named.chain(["/usr/local/cuda".into(), "/opt/cuda".into()]);
    roots.flat_map(|root| [root.join("lib64"), root.join("lib"), root]).collect()
}

/// Loads NVRTC from a folder and keeps it loaded: what is loaded is found by its name.
fn load_from(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc.so")));
    files.sort();
    files.iter().any(|file| {
        // SAFETY: as above.
        let library = unsafe { libloading::Library::new(file) };
        library.map(std::mem::forget).is_ok()
    })
}
