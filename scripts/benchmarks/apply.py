"""How long a whole index takes to be mapped from one Parquet file to another, beside a copy of the file by pyarrow."""
import os
import shutil
import subprocess
import sys
import time
from importlib.metadata import version

from .common import ROOT, WORKSPACE, in_fresh_process, tell
from .memory import peak_memory

BLOCK, PAIRS = 100_000, 2_000


def write_index(options, folder):
    """Rows of half precision with an id each, in row groups of equal size that repeat, and pairs to fit a map to."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    rows = np.random.default_rng(0).normal(size=(BLOCK, options.dimension)).astype(np.float16)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), options.dimension)
    schema = pa.schema([("id", pa.int64()), ("vector", vectors.type)])
    with pq.ParquetWriter(folder / "index.parquet", schema, **layout(options)) as writer:
        for first in range(0, options.rows, BLOCK):
            count = min(BLOCK, options.rows - first)
            ids = pa.array(np.arange(first, first + count))
            writer.write_table(pa.table([ids, vectors.slice(0, count)], schema=schema), row_group_size=BLOCK)
    pairs = rows[:PAIRS].astype(np.float32)
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(options.dimension, options.dimension)))[0]
    np.save(folder / "old.npy", pairs)
    np.save(folder / "new.npy", (pairs @ turned).astype(np.float32))


def layout(options):
    """How pyarrow writes the file and its copy. Without dictionaries numbers are written as they are, which is faster."""
    return {"compression": options.compression, "use_dictionary": options.dictionary}


def copy(source, target, keywords):
    """Copies a file row group by row group; runs in pyarrow's process."""
    import pyarrow.parquet as pq
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow, **keywords) as writer:
        for group in range(file.num_row_groups):
            writer.write_table(file.read_row_group(group))


def measured(command):
    """Seconds of wall and of the processor, and the most resident memory of a command."""
    start, before = time.perf_counter(), os.times()
    peak = peak_memory(command)
    seconds, after = time.perf_counter() - start, os.times()
    used = [after.children_user - before.children_user, after.children_system - before.children_system]
    return [f"{seconds:.1f} s", *(f"{one:.1f} s" for one in used), f"{peak / 1e6:.0f}"], seconds


def apply(options):
    """Section on mapping an index of any size."""
    folder = WORKSPACE / "apply"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source, fitted = folder / "index.parquet", folder / "map"
    tell(f"writing {options.rows:,} rows")
    # The memory of a process counts towards that of the commands that it starts.
    in_fresh_process(write_index, options, folder)
    views = [f"old={folder / 'old.npy'}", f"new={folder / 'new.npy'}"]
    fit = [options.binary, "migrate", "fit", *views, "--method", "procrustes", "-o", fitted, "--quiet"]
    subprocess.run(fit, check=True, stdout=subprocess.DEVNULL)
    ours, theirs = folder / "mapped.parquet", folder / "copied.parquet"
    here = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r})"
    code = f"{here}; from benchmarks.apply import copy; copy({str(source)!r}, {str(theirs)!r}, {layout(options)!r})"
    apply_map = [options.binary, "migrate", "apply", fitted, f"old={source}", "--to", "new", "-o", ours, "--quiet"]
    programs = [("pyarrow, a copy", [sys.executable, "-c", code], theirs), ("sememe migrate apply", apply_map, ours)]
    table, seconds = [["program", "wall", "user", "system", "most resident MB"]], []
    for name, command, written in programs:
        tell(name)
        os.sync()
        cells, wall = measured(command)
        table.append([name, *cells])
        seconds.append(wall)
        written.unlink()
    size = source.stat().st_size
    shutil.rmtree(folder)
    kind = f"{options.compression} compression, {'dictionaries where pyarrow makes them' if options.dictionary else 'no dictionaries'}"
    yield f"An index of {options.rows:,} x {options.dimension} of half precision, from Parquet to Parquet", table, [
        f"{size / 1e9:.2f} GB: random rows and their ids, {BLOCK:,} rows a row group, {kind}. The copy is made by `read_row_group` and `write_table` of "
        f"pyarrow {version('pyarrow')}, with the same options. Whole processes, one run each, the copy first; files are in the page cache as far as they fit.",
        f"`apply` runs at {seconds[0] / seconds[1]:.2f} times the speed of the copy. Its output is not compressed, and its vectors have length 1."]
