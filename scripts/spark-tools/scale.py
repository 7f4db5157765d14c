"""Moments of many rows on Spark, beside one process of numpy: the same files, the same numbers, and both times."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from pyspark.sql import SparkSession

from sememe.spark import moments


def write(folder: Path, rows: int, dim: int, partitions: int) -> None:
    """Two views of a hidden vector, a file for each partition."""
    rng = np.random.default_rng(0)
    maps = rng.normal(size=(2, dim, dim)).astype("f4") / np.sqrt(dim)
    for part in range(partitions):
        count = rows * (part + 1) // partitions - rows * part // partitions
        hidden = rng.standard_normal((count, dim), dtype=np.float32)
        columns = {}
        for name, map in zip("xy", maps):
            values = hidden @ map + 0.3 * rng.standard_normal((count, dim), dtype=np.float32)
            offsets = pa.array(np.arange(0, count * dim + 1, dim, dtype=np.int32))
            columns[name] = pa.ListArray.from_arrays(offsets, pa.array(values.ravel()))
        parquet.write_table(pa.table(columns), folder / f"{part:04}.parquet", compression="none", use_dictionary=False)


def by_numpy(folder: Path, dim: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Count, mean and scatter by one process, about the mean of the first file."""
    count, total, products, shift = 0, np.zeros(2 * dim), np.zeros((2 * dim, 2 * dim)), None
    for file in sorted(folder.glob("*.parquet")):
        for batch in parquet.ParquetFile(file).iter_batches(10_000):
            rows = np.hstack([batch[name].flatten().to_numpy().reshape(-1, dim) for name in "xy"]).astype("f8")
            shift = rows.mean(axis=0) if shift is None else shift
            rows -= shift
            count, total, products = count + len(rows), total + rows.sum(axis=0), products + rows.T @ rows
    return count, shift + total / count, products - np.outer(total, total) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--folder", type=Path, help="where the files are kept; by default a temporary folder")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    try:
        if not list(folder.glob("*.parquet")):
            folder.mkdir(exist_ok=True)
            write(folder, given.rows, given.dim, given.partitions)
        size = sum(file.stat().st_size for file in folder.glob("*.parquet"))
        # A file a partition.
        builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
        builder = builder.config("spark.sql.files.maxPartitionBytes", str(2 * size // given.partitions))
        spark = builder.config("spark.sql.files.openCostInBytes", str(2 * size // given.partitions)).getOrCreate()
        df = spark.read.parquet(str(folder))
        print(f"{given.rows:,} rows of 2 x {given.dim} in {df.rdd.getNumPartitions()} partitions, {size / 1e9:.1f} GB")
        start = time.perf_counter()
        found = moments(df, ["x", "y"])
        on_spark = time.perf_counter() - start
        spark.stop()
        start = time.perf_counter()
        count, mean, scatter = by_numpy(folder, given.dim)
        alone = time.perf_counter() - start
        both = found.patterns["x", "y"]
        assert both.n == count == given.rows
        errors = [np.abs(both.mean - mean).max(), np.abs(both.scatter - scatter).max() / np.abs(scatter).max()]
        assert max(errors) < 1e-9, errors
        print(f"Spark {on_spark:.1f} s, one process with numpy {alone:.1f} s, ratio {alone / on_spark:.2f}; largest difference {max(errors):.1e}")
    finally:
        if given.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
