"""Live indexes of the old model that answer vectors of the new one. None of the packages needs to be installed: an index is
recognised by its attributes, and only its own methods are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import Rows

if TYPE_CHECKING:
    from . import MigrationMap

#: How an index may rank so that mapped vectors, which have length 1, find what is nearest by cosine.
_METRICS = "its metric must be the cosine, or the inner product or the Euclidean distance of vectors of length 1"


class Answers(NamedTuple):
    """What an index found."""

    #: The ids of the rows that were found, nearest first, one row per query. -1 or None stands for a row that is missing.
    ids: NDArray[Any]
    #: What the index itself says of them: distances or similarities, by its metric.
    scores: Rows


class Index(Protocol):
    """What a :class:`MigratedIndex` needs of an index: anything with these two can be searched."""

    @property
    def dim(self) -> int | None:
        """Length of the vectors in the index; None if it does not say."""

    def search(self, queries: Rows, k: int) -> Answers:
        """The ``k`` nearest rows to every query."""


class FaissIndex:
    """An index of faiss. Its ids are row numbers, or those of an ``IndexIDMap``."""

    def __init__(self, index: Any):
        import faiss

        if index.metric_type not in (faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2):
            raise ValueError(f"the index of faiss has the metric {index.metric_type}; {_METRICS}")
        self._index = index

    @property
    def dim(self) -> int:
        return int(self._index.d)

    def search(self, queries: Rows, k: int) -> Answers:
        scores, ids = self._index.search(queries, k)
        return Answers(ids, scores)


class UsearchIndex:
    """An index of usearch, whose ids are its keys."""

    def __init__(self, index: Any):
        metric = getattr(index.metric_kind, "name", str(index.metric_kind))
        if metric not in ("Cos", "IP", "L2sq"):
            raise ValueError(f"the index of usearch has the metric {metric}; {_METRICS}")
        self._index = index

    @property
    def dim(self) -> int:
        return int(self._index.ndim)

    def search(self, queries: Rows, k: int) -> Answers:
        ids, scores = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), np.nan, np.float32)
        found = self._index.search(queries, k)
        # One query is answered by a row of matches, several by a table in which some may be missing.
        keys, distances = np.atleast_2d(found.keys), np.atleast_2d(found.distances)
        counts = [keys.shape[1]] if len(queries) == 1 else found.counts
        for row, count in enumerate(counts):
            ids[row, :count], scores[row, :count] = keys[row, :count], distances[row, :count]
        return Answers(ids, scores)


class LanceTable:
    """A table of LanceDB, synchronous, asked by cosine distance. Ids are those of a column."""

    def __init__(self, table: Any, id: str = "id", vector: str | None = None):
        names = list(table.schema.names)
        if id not in names:
            raise ValueError(f"the table {table.name!r} has no column {id!r}; its columns are {', '.join(names)}")
        vectors = [name for name in names if hasattr(table.schema.field(name).type, "list_size")]
        if vector is None and len(vectors) != 1:
            raise ValueError(f"the table {table.name!r} has {len(vectors)} columns of vectors; name one by vector=")
        vector = vectors[0] if vector is None else vector
        if vector not in vectors:
            raise ValueError(f"the column {vector!r} of the table {table.name!r} holds no vectors of one length")
        self._table, self._id, self._vector = table, id, vector

    @property
    def dim(self) -> int:
        return int(self._table.schema.field(self._vector).type.list_size)

    def search(self, queries: Rows, k: int) -> Answers:
        found = [self._ask(query, k) for query in queries]
        return _padded([[row[0] for row in rows] for rows in found], [[row[1] for row in rows] for rows in found], k)

    def _ask(self, query: Rows, k: int) -> list[tuple[Any, float]]:
        asked = self._table.search(query, vector_column_name=self._vector)
        # An index of vectors has a metric of its own; without one the distance is ours to choose.
        if not self._has_vector_index():
            asked = asked.distance_type("cosine")
        answer = asked.select([self._id, "_distance"]).limit(k).to_arrow()
        return list(zip(answer[self._id].to_pylist(), answer["_distance"].to_pylist()))

    def _has_vector_index(self) -> bool:
        return any(self._vector in index.columns for index in self._table.list_indices())


class PgvectorTable:
    """A table of PostgreSQL with a column of pgvector, asked by cosine distance (``<=>``) over a connection of psycopg.

    Every search is one statement per query in the transaction of the connection, which is neither committed nor rolled back.
    """

    def __init__(self, connection: Any, table: str, id: str = "id", vector: str = "embedding"):
        self._connection = connection
        column, source = _quoted(vector), ".".join(map(_quoted, table.split(".")))
        self._statement = (
            f"SELECT {_quoted(id)}, {column} <=> %s::vector AS distance FROM {source} ORDER BY distance LIMIT %s"
        )
        self._size = f"SELECT vector_dims({column}) FROM {source} WHERE {column} IS NOT NULL LIMIT 1"

    @property
    def dim(self) -> int | None:
        with self._connection.cursor() as cursor:
            cursor.execute(self._size)
            row = cursor.fetchone()
        return None if row is None else int(row[0])

    def search(self, queries: Rows, k: int) -> Answers:
        ids, scores = [], []
        with self._connection.cursor() as cursor:
            for query in queries:
                cursor.execute(self._statement, ("[" + ",".join(map(str, query.tolist())) + "]", k))
                rows = cursor.fetchall()
                ids.append([row[0] for row in rows])
                scores.append([row[1] for row in rows])
        return _padded(ids, scores, k)


def _quoted(name: str) -> str:
    """A name of SQL, whatever characters it has."""
    if not name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a table or column")
    return '"' + name.replace('"', '""') + '"'


def _padded(ids: Sequence[Sequence[Any]], scores: Sequence[Sequence[float]], k: int) -> Answers:
    """Rows of equal length: whole numbers with -1 where a row is missing, other ids as objects with None."""
    whole = all(type(id) is int for row in ids for id in row)
    table = np.full((len(ids), k), -1 if whole else None, np.int64 if whole else object)
    numbers = np.full((len(ids), k), np.nan, np.float32)
    for row, (found, distances) in enumerate(zip(ids, scores)):
        table[row, : len(found)], numbers[row, : len(found)] = found, distances
    return Answers(table, numbers)


def recognised(index: Any, options: dict[str, Any]) -> Index:
    """The adapter of an index, by the package that its class comes from."""
    package = type(index).__module__.partition(".")[0]
    adapters: dict[str, Any] = {
        "faiss": FaissIndex,
        "usearch": UsearchIndex,
        "lancedb": LanceTable,
        "psycopg": PgvectorTable,
        "psycopg2": PgvectorTable,
    }
    if package in adapters:
        return adapters[package](index, **options)
    if options:
        raise TypeError(f"{', '.join(options)}: only tables of LanceDB and PostgreSQL have such options")
    if not hasattr(index, "search") or not hasattr(index, "dim"):
        known = "an index of faiss or usearch, a table of LanceDB, a connection of psycopg"
        raise TypeError(f"{type(index).__name__} is none of the known ones ({known}), and has no `dim` and `search`")
    return index


class MigratedIndex:
    """A live index of old vectors that is asked with vectors of the new model; see :meth:`MigrationMap.over`."""

    def __init__(self, map: MigrationMap, index: Any, options: dict[str, Any]):
        self._map, self._index = map, recognised(index, options)
        dim = self._index.dim
        if dim is not None and dim != map.old_dim:
            raise ValueError(f"the index holds vectors of length {dim}; the old model of the map has {map.old_dim}")

    def search(self, queries: ArrayLike, k: int = 10, *, force: bool = False) -> Answers:
        """The ``k`` nearest rows of the index to vectors of the new model.

        ``force`` answers also vectors that do not look like those of the new model, which are refused otherwise.
        """
        if k < 1:
            raise ValueError(f"k is {k}: at least one neighbour must be asked for")
        return self._index.search(self._map.apply(queries, force=force), k)
