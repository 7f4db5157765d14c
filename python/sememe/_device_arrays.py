"""Arrays of other libraries that are on a GPU: taken by DLPack or by ``__cuda_array_interface__``, which torch, cupy and others
offer. None of them is imported."""

from __future__ import annotations

from typing import Any

from . import _sememe

#: Rows on a GPU; there are none where the package was built without them.
DeviceRows: Any = getattr(_sememe, "DeviceRows", ())
#: Types of devices of DLPack: memory of CUDA, and memory that it manages.
CUDA = (2, 13)
#: The stream on which other libraries make their numbers ready: the default one.
DEFAULT_STREAM = 1


def is_on_device(values: Any) -> bool:
    """True for an array on a GPU."""
    device = getattr(values, "__dlpack_device__", None)
    if device is not None:
        return device()[0] in CUDA
    return _interface(values) is not None


def device_rows(values: Any, what: str) -> Any:
    """The rows of an array on a GPU, copied there."""
    if DeviceRows == ():
        raise ValueError(f"{what} is on a GPU, which this build of sememe cannot use; copy it to the CPU")
    if hasattr(values, "__dlpack_device__"):
        gpu = values.__dlpack_device__()[1]
        # It keeps the memory until the rows are copied.
        capsule = values.__dlpack__(stream=DEFAULT_STREAM)
        address, shape, is_plain = _sememe.dlpack_tensor(capsule)
    else:
        gpu, capsule, interface = None, values, _interface(values)
        address, shape = interface["data"][0], interface["shape"]
        strides = interface.get("strides")
        is_plain = interface["typestr"] == "<f4" and strides in (None, (4 * shape[-1], 4))
    if len(shape) != 2:
        raise ValueError(f"{what} has the shape {tuple(shape)}; it must have two dimensions, one row a vector")
    if not is_plain:
        raise TypeError(f"{what} is on a GPU, but is no contiguous array of float32; convert it there, or copy it to the CPU")
    if 0 in shape:
        raise ValueError(f"{what} has the shape {tuple(shape)}; there must be rows and columns")
    rows = DeviceRows.copy_of(address, (shape[0], shape[1]), gpu)
    del capsule
    return rows


def _interface(values: Any) -> Any:
    """What the array says of itself; None if it is not on a GPU."""
    return getattr(values, "__cuda_array_interface__", None)
