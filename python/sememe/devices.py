"""Where searches run: on the CPU or on a GPU, with the same results.

Couplings, finishes, component analyses, projections and moments run there, too; these differ in the last digits.
"""

import json
from contextlib import AbstractContextManager, nullcontext
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


class Choice:
    """A device that was chosen; the end of a `with` block takes the choice back."""

    def __init__(self, before: str):
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_exception: object) -> None:
        _sememe.set_device(self._before)


def set_device(device: str) -> Choice:
    """Choose where searches of this process run: `cuda`, `cuda:N`, `cpu`, or `auto`, the first GPU for large ones if there is one.

    In a `with` statement the choice ends with the block. A GPU that is not there is a `ValueError` that says why. The environment
    variable `SEMEME_DEVICE` sets the device of a process that chooses none. The choice is one of the process: `device=` of a call
    is that of all threads until the call returns, which changes no result.
    """
    before = _sememe.device_name()
    _sememe.set_device(device)
    return Choice(before)


def on(device: str | None) -> AbstractContextManager[None]:
    """The device of a block, if one is named."""
    return nullcontext() if device is None else set_device(device)


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
