//! `sememe devices`: the GPUs of this machine, and what would be used.

use sememe::device::{self, Device, Gpu};
use serde_json::json;

use crate::arguments::Global;
use crate::output;

pub fn run(global: &Global) -> anyhow::Result<()> {
    let (current, used, gpus) = (device::current()?, device::for_large_work()?, device::gpus());
    let json = json!({
        "device": current,
        "used": used,
        "gpus": gpus.as_deref().unwrap_or_default(),
        "missing": gpus.as_ref().err(),
    });
    output::result(global, json, || match &gpus {
        Ok(gpus) => {
            let rows = gpus.iter().map(row).collect();
            let header = ["device", "GPU", "memory", "free", "compute capability", "CUDA of the driver", "usable"];
            format!("{}\n{}", output::table(&header, rows, false), sentence(current, used))
        }
        Err(reason) => format!("No GPU: {reason}.\n{}", sentence(current, used)),
    })
}

fn sentence(current: Device, used: Device) -> String {
    match used {
        Device::Cpu => format!("Everything runs on the CPU (--device {current})."),
        gpu => {
            let which = if current == Device::Auto { "Large searches" } else { "Searches" };
            let further = "couplings, finishes, component analyses, projections and moments";
            format!("{which}, {further} run on {gpu}, everything else on the CPU (--device {current}).")
        }
    }
}

fn row(gpu: &Gpu) -> Vec<String> {
    let gigabytes = |bytes: usize| format!("{:.1} GB", bytes as f64 / 1e9);
    vec![
        gpu.device.to_string(),
        gpu.name.clone(),
        gigabytes(gpu.memory),
        gigabytes(gpu.free),
        gpu.capability.clone(),
        gpu.driver.clone(),
        gpu.unusable.clone().unwrap_or_else(|| "yes".to_owned()),
    ]
}
