"""Where searches run: on the CPU or, as an experiment, on a GPU."""

import json
from dataclasses import dataclass

from . import _sememe

__all__ = ["Gpu", "device", "devices", "set_device"]


@dataclass(frozen=True)
class Gpu:
    """A GPU of this machine."""

    device: str
    """What it is chosen by, such as `cuda:0`."""
    name: str
    memory: int
    """Bytes."""
    free: int
    """Bytes that are free."""
    capability: str
    """Compute capability."""
    driver: str
    """The version of CUDA that the driver supports."""
    unusable: str | None
    """Why it cannot be used, if it cannot."""


def set_device(device: str) -> None:
    """Choose where searches of this process run: `cuda`, `cuda:N`, `cpu`, or `auto`, which is the CPU for now.

    A GPU that is not there is a `ValueError` that says why. The environment variable `SEMEME_DEVICE` sets the device of a
    process that chooses none.
    """
    _sememe.set_device(device)


def device() -> str:
    """Where searches of this process run."""
    return _sememe.device_name()


def devices() -> list[Gpu]:
    """The GPUs of this machine; none where there is no driver.

    >>> import sememe
    >>> all(gpu.memory >= gpu.free for gpu in sememe.devices())
    True
    """
    found, _missing = _sememe.devices()
    return [Gpu(**gpu) for gpu in json.loads(found)]
