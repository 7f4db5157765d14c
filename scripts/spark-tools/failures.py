"""A task whose Python worker dies, and an executor that is killed, in the middle of a partition: the moments must not change."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from sememe.spark import moments

ROWS, DIM, PARTITIONS = 20_000, 20, 8


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def session(master: str) -> SparkSession:
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    # Small batches, so that a task dies after some of its rows went on.
    return builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "100").getOrCreate()


def dying(marker: str, is_executor: bool):
    """Batches as they are; but the first task that comes to its third batch dies, with its executor if that is wanted."""

    def pass_on(batches):
        for number, batch in enumerate(batches):
            try:
                first = number == 2 and os.close(os.open(marker, os.O_CREAT | os.O_EXCL)) is None
            except FileExistsError:
                first = False
            if first and is_executor:
                # The worker is a child of the daemon, and that one of the executor's JVM.
                os.kill(parent(os.getppid()), signal.SIGKILL)
                time.sleep(60)
            if first:
                os._exit(1)
            yield batch

    return pass_on


def main() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, ROWS, DIM)).astype("f4")
    table = pa.table({"x": list(X), "y": list(Y)})
    for master, is_executor in (("local[2,4]", False), ("local-cluster[2,1,1024]", True)):
        spark = session(master)
        with tempfile.TemporaryDirectory() as folder:
            path, marker = f"{folder}/rows.parquet", f"{folder}/died"
            pa.parquet.write_table(table, path)
            df = spark.read.parquet(path).repartition(PARTITIONS)
            expected = moments(df, ["x", "y"])
            found = moments(df.mapInArrow(dying(marker, is_executor), df.schema), ["x", "y"])
            assert os.path.exists(marker), "nothing died"
            assert found.count == ROWS and found.to_bytes() == expected.to_bytes(), "the moments changed"
        spark.stop()
        print(f"{'an executor' if is_executor else 'a worker'} died, and no bit of the moments changed")


if __name__ == "__main__":
    import pyarrow.parquet  # noqa: F401

    main()
