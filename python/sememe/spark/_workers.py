"""What runs on workers. Whatever a task computes depends on its rows only, so that a task may be run again anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from .. import set_threads

Batches = Iterator[pa.RecordBatch]
_is_limited = False


def task_function(work: Callable[[Batches], Batches]) -> Callable[[Batches], Batches]:
    """A function for ``mapInArrow`` that uses as many threads as Spark gives to a task."""

    def run(batches: Batches) -> Batches:
        _limit_threads()
        yield from work(batches)

    return run


def _limit_threads() -> None:
    global _is_limited
    if _is_limited:
        return
    try:
        from pyspark import TaskContext

        context = TaskContext.get()
    except ImportError:
        context = None
    if context is not None:  # There is none where the tasks of an engine share one process.
        set_threads(max(1, context.cpus()))
        _is_limited = True


def chunks(batches: Batches, rows: int) -> Iterator[pa.Table]:
    """Batches, put together to tables of about so many rows."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= rows:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)
