//! Where large work runs: on the CPU or on a GPU. Searches have the same results on both, to the bit; sums of other work
//! differ in the last digits.
//!
//! A device is a setting of the process, like the number of threads, as it is about how long work takes.
//! [`Device::Auto`], the default, is the first GPU for large work, if there is one; [`taken`] says so. What fails on a GPU is
//! done on the CPU; [`fallback`] says why.

#[cfg(feature = "cuda")]
mod gpu;

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

#[cfg(feature = "cuda")]
pub(crate) use self::gpu::{card, card_for_doubles, card_for_sums, fell_back, opened_for};
use crate::error::{Error, Result};
use crate::names::serde_as_spelled;

/// The environment variable that names the device of a process that chooses none.
pub const VARIABLE: &str = "SEMEME_DEVICE";

/// Where work runs.
///
/// ```
/// use sememe::device::Device;
///
/// assert_eq!("cuda".parse::<Device>()?, Device::Cuda(0));
/// assert_eq!("cuda:1".parse::<Device>()?.to_string(), "cuda:1");
/// assert!("gpu".parse::<Device>().is_err());
/// # Ok::<(), sememe::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Device {
    /// Large work on the first GPU, if there is one, everything else on the CPU.
    #[default]
    Auto,
    /// On the CPU.
    Cpu,
    /// On the GPU with this number.
    Cuda(usize),
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |number: &str| number.parse().ok().map(Device::Cuda);
        let device = match text {
            "auto" => Some(Device::Auto),
            "cpu" => Some(Device::Cpu),
            "cuda" => Some(Device::Cuda(0)),
            _ => text.strip_prefix("cuda:").and_then(number),
        };
        device.ok_or_else(|| Error::argument("device", text, "it must be auto, cpu, cuda, or cuda:N such as cuda:1"))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

serde_as_spelled!(Device);

/// The device of the process, and why work was not done on it.
#[derive(Default)]
struct Setting {
    chosen: Option<Device>,
    taken: Option<String>,
    fallback: Option<String>,
}

static SETTING: Mutex<Setting> = Mutex::new(Setting { chosen: None, taken: None, fallback: None });

fn setting() -> MutexGuard<'static, Setting> {
    SETTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Chooses the device of the process. A GPU that is not there, or cannot be used, is an error that says why.
pub fn choose(device: Device) -> Result<()> {
    if let Device::Cuda(number) = device {
        check(number).map_err(|reason| Error::argument("device", device, reason))?;
    }
    setting().chosen = Some(device);
    Ok(())
}

/// The device of the process: the one that was chosen, else that of the environment variable `SEMEME_DEVICE`, else
/// [`Device::Auto`].
pub fn current() -> Result<Device> {
    if let Some(chosen) = setting().chosen {
        return Ok(chosen);
    }
    let named = std::env::var(VARIABLE).ok().filter(|named| !named.is_empty());
    let device = named.map_or(Ok(Device::Auto), |named| named.parse());
    choose(device?)?;
    current()
}

/// The GPU that [`Device::Auto`] took, if it did, and its name.
pub fn taken() -> Option<String> {
    setting().taken.clone()
}

/// Where large work of this process runs: what [`Device::Auto`] stands for on this machine.
pub fn for_large_work() -> Result<Device> {
    let first = || gpus().ok().and_then(|gpus| gpus.into_iter().next()).filter(|gpu| gpu.unusable.is_none());
    Ok(match current()? {
        Device::Auto => first().map_or(Device::Cpu, |gpu| gpu.device),
        device => device,
    })
}

/// Why work was done on the CPU although a GPU was to do it, once.
pub fn fallback() -> Option<String> {
    setting().fallback.take()
}

/// A GPU of this machine.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Gpu {
    /// What it is chosen by.
    pub device: Device,
    /// Its name.
    pub name: String,
    /// Bytes of memory.
    pub memory: usize,
    /// Bytes of memory that are free.
    pub free: usize,
    /// Its compute capability, such as `9.0`.
    pub capability: String,
    /// The version of CUDA that the driver supports.
    pub driver: String,
    /// Why it cannot be used; none if it can.
    pub unusable: Option<String>,
}

/// The GPUs of this machine. The error says why there are none.
#[cfg(feature = "cuda")]
pub fn gpus() -> std::result::Result<Vec<Gpu>, String> {
    gpu::all()
}

/// The GPUs of this machine. The error says why there are none.
#[cfg(not(feature = "cuda"))]
pub fn gpus() -> std::result::Result<Vec<Gpu>, String> {
    Err(WITHOUT.to_owned())
}

#[cfg(feature = "cuda")]
fn check(number: usize) -> std::result::Result<(), String> {
    gpu::check(number)
}

#[cfg(not(feature = "cuda"))]
fn check(_number: usize) -> std::result::Result<(), String> {
    Err(WITHOUT.to_owned())
}

#[cfg(not(feature = "cuda"))]
const WITHOUT: &str = "sememe was built without the feature `cuda`";
