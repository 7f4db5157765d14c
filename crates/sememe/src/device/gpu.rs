//! The GPUs of the machine, opened once.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sememe_cuda::{Cuda, Unavailable};

use super::{Device, Gpu, current, setting};
use crate::error::{Error, Result};

type Opened = std::result::Result<Cuda, Unavailable>;

fn opened(number: usize) -> Opened {
    static ALL: Mutex<Option<HashMap<usize, Opened>>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().entry(number).or_insert_with(|| Cuda::new(number)).clone()
}

/// The GPU with this number, for data that are on it.
pub(crate) fn opened_for(number: usize) -> Result<Cuda> {
    opened(number).map_err(|reason| Error::argument("device", Device::Cuda(number), reason.to_string()))
}

pub(super) fn check(number: usize) -> std::result::Result<(), String> {
    opened(number).map(|_| ()).map_err(|reason| reason.to_string())
}

pub(super) fn all() -> std::result::Result<Vec<Gpu>, String> {
    let describe = |card: sememe_cuda::Description| Gpu {
        device: Device::Cuda(card.number),
        name: card.name,
        memory: card.memory,
        free: card.free,
        capability: format!("{}.{}", card.capability.0, card.capability.1),
        driver: format!("{}.{}", card.driver.0, card.driver.1),
        unusable: card.unusable.map(|reason| reason.to_string()),
    };
    let all = sememe_cuda::descriptions().map_err(|reason| reason.to_string())?;
    Ok(all.into_iter().map(describe).collect())
}

/// Multiplications. [`Device::Auto`] opens a GPU once the work of a process amounts to so many: opening takes about as long as
/// they take on a few cores.
const ENOUGH_WORK: u64 = 200_000_000_000;
/// It leaves less work than that to the CPU, which is done before rows are copied.
const LEAST_WORK: u64 = 1_000_000_000;

/// The GPU that work of so many multiplications is to run on, if any.
pub(crate) fn card(multiplications: u64) -> Result<Option<Cuda>> {
    static WORK: AtomicU64 = AtomicU64::new(0);
    match current()? {
        Device::Cpu => Ok(None),
        Device::Cuda(number) => Ok(opened(number).ok()),
        Device::Auto => {
            let before = WORK.fetch_add(multiplications, Ordering::Relaxed);
            let is_worth_it = multiplications >= LEAST_WORK && before.saturating_add(multiplications) >= ENOUGH_WORK;
            Ok(if is_worth_it { opened_by_itself() } else { None })
        }
    }
}

/// A multiplication of floating-point numbers takes the CPU as long as so many of a search, which are of eight bits.
const FLOATING: u64 = 4;

/// The GPU for sums of so many products of floating-point numbers, if they are worth copying and one is to be used.
pub(crate) fn card_for_sums(multiplications: usize) -> Option<Cuda> {
    let work = FLOATING * multiplications as u64;
    // A device that cannot be used has been an error before.
    if work < LEAST_WORK { None } else { card(work).ok().flatten() }
}

/// [`card_for_sums`] in double precision.
pub(crate) fn card_for_doubles(multiplications: usize) -> Option<Cuda> {
    card_for_sums(multiplications).filter(Cuda::has_doubles)
}

/// The first GPU, as nobody asked for another device. Without any GPU there is nothing to say about it.
fn opened_by_itself() -> Option<Cuda> {
    match opened(0) {
        Ok(card) => {
            setting().taken.get_or_insert_with(|| format!("{} ({})", Device::Cuda(0), card.name()));
            Some(card)
        }
        Err(Unavailable::NoDriver | Unavailable::NoCard(_)) => None,
        Err(reason) => {
            static IS_TOLD: AtomicBool = AtomicBool::new(false);
            if !IS_TOLD.swap(true, Ordering::Relaxed) {
                fell_back(reason);
            }
            None
        }
    }
}

/// Notes why the CPU does what a GPU was to do.
pub(crate) fn fell_back(reason: impl std::fmt::Display) {
    setting().fallback.get_or_insert_with(|| format!("the CPU is used instead of the GPU: {reason}"));
}
