"""Exact nearest neighbours of DataFrames. The smaller side travels to the rows of the larger one."""

from __future__ import annotations

import functools
import re
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute
from pyspark.sql import Window
from pyspark.sql import functions as F

from .. import batches as steps
from ..retrieval import _count
from ._columns import check_vectors
from ._workers import Batches, chunks, task_function

#: Rows of the larger side that are searched at a time.
CHUNK_ROWS = 50_000
#: Bytes of the smaller side that travel with a function. A message of Spark Connect holds 128 MB.
MESSAGE_BYTES = 48 << 20
#: The same where Spark itself broadcasts large functions.
BROADCAST_BYTES = 512 << 20


def neighbors(
    queries: Any,
    targets: Any,
    k: int = 10,
    criterion: str = "nn",
    *,
    idCol: str = "id",
    vectorCol: str = "vector",
    broadcast: str = "auto",
) -> Any:
    """The exact ``k`` nearest rows of ``targets`` to every row of ``queries``.

    Returns a DataFrame with the columns ``query`` and ``target`` (ids), ``rank`` (from 1) and ``score``: what :func:`sememe.neighbors` finds among
    targets in the order of their ids. Rows whose vector is null are left out, and zero vectors as there.

    Parameters
    ----------
    queries, targets
        DataFrames with unique ids in ``idCol`` and vectors in ``vectorCol``.
    criterion
        ``nn``, ``csls`` (also ``csls:k=20``), ``dot`` or ``l2``.
    broadcast
        The side that is collected and sent to all workers: ``"queries"``, ``"targets"``, or ``"auto"``, the one with fewer rows. It must
        fit into the driver's memory.
    """
    _count(k)
    for df in (queries, targets):
        check_vectors(df, [vectorCol], [idCol])
    if broadcast not in ("auto", "queries", "targets"):
        raise ValueError(f"broadcast is {broadcast!r}: it must be 'auto', 'queries' or 'targets'")
    near = _near(criterion)
    queries, targets = (df.select(df[idCol].alias("id"), df[vectorCol].alias("vector")) for df in (queries, targets))
    if broadcast == "auto":
        broadcast = "targets" if targets.count() <= queries.count() else "queries"
    small, large = (targets, queries) if broadcast == "targets" else (queries, targets)
    collected = _collected(small, "targets" if broadcast == "targets" else "queries")
    kind = queries.schema["id"].dataType.simpleString(), targets.schema["id"].dataType.simpleString()
    schema = f"query {kind[0]}, rank int, target {kind[1]}, score {{}}"
    blocks = _blocks(collected, _is_connect(small))
    if broadcast == "queries" and len(blocks) > 1:
        raise ValueError("these are too many queries to send to all workers at once; use broadcast='targets'")
    if not collected.num_rows:
        return large.limit(0).mapInArrow(task_function(lambda batches: iter(())), schema.format("float"))
    if broadcast == "queries":
        return _merged(_among_parts(large, blocks[0], k, criterion, schema), k, near)
    means = None if near is None else _means(large, blocks, near, kind[1])
    found = [_of_block(large, block, k, criterion, schema, means, len(blocks) > 1) for block in blocks]
    return found[0] if len(found) == 1 else _merged(functools.reduce(lambda a, b: a.union(b), found), k, near)


def induce(
    source: Any,
    target: Any,
    *,
    criterion: str = "csls",
    mutual: bool = False,
    idCol: str = "id",
    vectorCol: str = "vector",
    broadcast: str = "auto",
) -> Any:
    """A dictionary: the best translation of every row of ``source``, whose ids are words: ``word``, ``translation`` and ``score``.

    ``mutual`` keeps only mutual nearest neighbours. Vectors are latent ones, as :meth:`transform` of a model makes them.
    """
    names = {"idCol": idCol, "vectorCol": vectorCol}
    other = {"auto": "auto", "queries": "targets", "targets": "queries"}.get(broadcast, broadcast)
    best = neighbors(source, target, 1, criterion, broadcast=broadcast, **names)
    pairs = best.select(F.col("query").alias("word"), F.col("target").alias("translation"), "score")
    if not mutual:
        return pairs
    back = neighbors(target, source, 1, criterion, broadcast=other, **names)
    return pairs.join(back.select(F.col("query").alias("translation"), F.col("target").alias("word")), ["word", "translation"])


def _near(criterion: str) -> int | None:
    """The number of neighbours that CSLS averages over; None for other criteria."""
    name, _, parameters = criterion.lower().partition(":")
    if name not in ("csls", "auto"):
        return None
    given = re.fullmatch(r"k=(\d+)", parameters)
    return int(given[1]) if given else 10


def _is_connect(df: Any) -> bool:
    return type(df).__module__.startswith("pyspark.sql.connect")


def _collected(df: Any, what: str) -> pa.Table:
    """Rows with vectors in the order of their ids."""
    table = df.where(df["vector"].isNotNull()).toArrow()
    ids = table["id"]
    if ids.null_count:
        raise ValueError(f"the {what} have rows without an id")
    if len(pa.compute.unique(ids)) < len(ids):
        raise ValueError(f"the {what} have an id twice; ids must be unique")
    return table.sort_by("id")


class _Block:
    """A part of a table that travels with a function. Its hash is that of its name, so that a worker prepares it once."""

    def __init__(self, table: pa.Table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        self.name, self.data = uuid4().hex, sink.getvalue().to_pybytes()

    def table(self) -> pa.Table:
        return pa.ipc.open_stream(self.data).read_all()

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Block) and other.name == self.name


def _blocks(table: pa.Table, is_connect: bool) -> list[_Block]:
    most = MESSAGE_BYTES if is_connect else BROADCAST_BYTES
    rows = max(1, most * table.num_rows // max(1, table.nbytes)) if table.num_rows else 1
    return [_Block(table.slice(start, rows)) for start in range(0, table.num_rows, rows)]


@functools.lru_cache(maxsize=2)
def _prepared(block: _Block, criterion: str, means: tuple[float, ...] | None) -> steps.Targets:
    return steps.Targets(block.table(), criterion=criterion, means=means)


def _of_block(
    queries: Any, block: _Block, k: int, criterion: str, schema: str, means: dict[Any, float] | None, part: bool
) -> Any:
    """The nearest targets of one block."""
    own = None if means is None else tuple(means.get(id, 0.0) for id in block.table()["id"].to_pylist())
    is_csls = own is not None

    def search(batches: Batches) -> Batches:
        targets = _prepared(block, criterion, own)
        for batch in batches:
            found = steps.top_k(batch, targets, k, part=part)
            if found is not None:
                yield _plain(found, part and is_csls)

    return queries.mapInArrow(task_function(search), _schema(schema, part, is_csls))


def _among_parts(targets: Any, block: _Block, k: int, criterion: str, schema: str) -> Any:
    """The nearest targets of each chunk, for all queries."""
    is_csls = _near(criterion) is not None

    def search(batches: Batches) -> Batches:
        queries = block.table()
        for chunk in chunks(batches, CHUNK_ROWS):
            # Equal scores go to the lower id.
            chunk = chunk.sort_by("id")
            prepared = steps.Targets(chunk, criterion=criterion, queries=queries if is_csls else None)
            found = steps.top_k(queries, prepared, k, part=True)
            if found is not None:
                yield _plain(found, is_csls)

    return targets.mapInArrow(task_function(search), _schema(schema, True, is_csls))


def _schema(schema: str, part: bool, is_csls: bool) -> str:
    return schema.format("double" if part else "float") + (", near array<double>" if part and is_csls else "")


def _plain(found: steps.Batch, has_near: bool) -> pa.RecordBatch:
    batch = pa.record_batch(found)
    return batch.select([name for name in batch.schema.names if has_near or name != "near"])


def _largest(lists: Any, n: int) -> Any:
    """The ``n`` largest numbers of lists of lists."""
    return F.slice(F.sort_array(F.flatten(lists), asc=False), 1, n)


def _mean(numbers: Any) -> Any:
    """The mean, summed in order; zero of nothing."""
    total = F.aggregate(numbers, F.lit(0.0), lambda sum, number: sum + number)
    return total / F.greatest(F.size(numbers), F.lit(1))


def _means(queries: Any, blocks: list[_Block], near: int, kind: str) -> dict[Any, float]:
    """For each target the mean of its largest cosines with all queries."""
    means: dict[Any, float] = {}
    for block in blocks:

        def cosines(batches: Batches, block: _Block = block) -> Batches:
            targets = block.table()
            for chunk in chunks(batches, CHUNK_ROWS):
                found = steps.largest_cosines(targets, chunk, near)
                if found is not None:
                    yield pa.record_batch(found)

        parts = queries.mapInArrow(task_function(cosines), f"id {kind}, cosines array<double>")
        largest = parts.groupBy("id").agg(_largest(F.collect_list("cosines"), near).alias("cosines"))
        rows = largest.select("id", _mean(F.col("cosines")).alias("mean")).toArrow()
        means.update(zip(rows["id"].to_pylist(), rows["mean"].to_pylist()))
    return means


def _merged(parts: Any, k: int, near: int | None) -> Any:
    """The best of all parts."""
    by_query = Window.partitionBy("query")
    rank = F.row_number().over(by_query.orderBy(F.desc("score"), F.asc("target")))
    score = F.col("score")
    if near is not None:
        # Only the first row of a part has numbers; engines differ in whether they collect nulls.
        some = F.coalesce(F.col("near"), F.array().cast("array<double>"))
        score = score - _mean(_largest(F.collect_list(some).over(by_query), near))
    ranked = parts.select("query", rank.alias("rank"), "target", score.cast("float").alias("score"))
    return ranked.where(F.col("rank") <= k)
