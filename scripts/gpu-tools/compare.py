"""Compare what a command wrote on the CPU with what it wrote on a GPU.

    compare.py projections CPU.npy GPU.npy
    compare.py moments CPU.safetensors GPU.safetensors
    compare.py precision CPU.json... -- GPU.json...
"""
import json
import struct
import sys

import numpy as np

# Rounding to single precision, and sums in double precision in another order.
OF_PROJECTIONS = 1.2e-7
OF_MOMENTS = 1e-9
# Points of precision.
OF_PRECISION = 0.3


def arrays(path):
    """The arrays of double precision of a safetensors file."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        data = file.read()
    entries = {name: entry for name, entry in header.items() if name != "__metadata__" and entry["dtype"] == "F64"}
    found = {name: np.frombuffer(data[slice(*entry["data_offsets"])]) for name, entry in entries.items()}
    return {name: array for name, array in found.items() if array.size}


def largest_difference(cpu, gpu):
    """Relative to the largest number."""
    assert cpu.shape == gpu.shape, f"{cpu.shape} and {gpu.shape}"
    return np.abs(cpu.astype(np.float64) - gpu).max() / np.abs(cpu).max()


def projections(cpu, gpu):
    difference = largest_difference(np.load(cpu), np.load(gpu))
    print(f"projections: the largest difference is {difference:.1e} of the largest number")
    assert difference <= OF_PROJECTIONS


def moments(cpu, gpu):
    cpu, gpu = arrays(cpu), arrays(gpu)
    assert cpu and cpu.keys() == gpu.keys()
    difference = max(largest_difference(cpu[name], gpu[name]) for name in cpu)
    print(f"moments: the largest difference is {difference:.1e} of the largest element")
    assert difference <= OF_MOMENTS


def precision(*files):
    middle = files.index("--")

    def mean(files):
        results = [json.load(open(file)) for file in files]
        queries = sum(result["queries"] for result in results)
        return sum(result["precision"]["1"] * result["queries"] for result in results) / queries, queries

    (cpu, queries), (gpu, _) = mean(files[:middle]), mean(files[middle + 1:])
    print(f"precision by CSLS, {queries:,} words: {cpu:.2f} on the CPU, {gpu:.2f} on the GPU")
    assert abs(cpu - gpu) <= OF_PRECISION


{"projections": projections, "moments": moments, "precision": precision}[sys.argv[1]](*sys.argv[2:])
