//! The GPUs of the machine, opened once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sememe_cuda::{Cuda, Unavailable};

use super::{Device, Gpu, current, setting};
use crate::error::Result;

type Opened = std::result::Result<Cuda, Unavailable>;

fn opened(number: usize) -> Opened {
    static ALL: Mutex<Option<HashMap<usize, Opened>>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().entry(number).or_insert_with(|| Cuda::new(number)).clone()
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

/// The GPU that searches are to run on, if any.
pub(crate) fn card() -> Result<Option<Cuda>> {
    Ok(match current()? {
        Device::Cuda(number) => opened(number).ok(),
        Device::Auto | Device::Cpu => None,
    })
}

/// Notes why the CPU does what a GPU was to do.
pub(crate) fn fell_back(reason: impl std::fmt::Display) {
    setting().fallback.get_or_insert_with(|| format!("the CPU is used instead of the GPU: {reason}"));
}
