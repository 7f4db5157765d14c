"""The map between two models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _sememe
from .._arrays import Rows, as_rows, lending
from .._progress import Progress, reporting
from .._warnings import ChanceWarning, warn
from .live import MigratedIndex

Path = Union[str, "PathLike[str]"]

#: Names of the arrays in error messages.
_OLD, _NEW, _INDEX, _QUERIES = (
    "the array of old vectors",
    "the array of new vectors",
    "the array of the index",
    "the array of queries",
)


def fit(
    old: ArrayLike,
    new: ArrayLike,
    *,
    index: ArrayLike | None = None,
    old_model: str | None = None,
    new_model: str | None = None,
    method: str | None = None,
    unsupervised: bool = False,
    seed: int = 0,
    progress: Progress = None,
) -> MigrationMap:
    """Fit a map to vectors of the same texts by an old and a new model.

    Parameters
    ----------
    old, new
        Row ``i`` of both is of the same text. Lengths of vectors do not matter; exact duplicates are left out.
    index
        Vectors of the old index, all or a sample of many: they tell of texts that the pairs lack.
    old_model, new_model
        Names of the models, which the map remembers.
    method
        ``procrustes``, ``ridge``, ``low-rank`` or ``ibfa``, instead of the choice by held-out clusters of texts.
    unsupervised
        Rows do not belong together; which ones do is learned from the vectors alone. The texts must be of the same kind, and best the same
        ones, in any order. An alignment that is no better than chance is an error.
    seed
        Of everything that is drawn.
    progress
        Receives the progress: a function of two numbers, ``tqdm``, or True.

    Warns by :class:`sememe.ChanceWarning` if held-out pairs are found no better than at random: probably the rows do not
    belong together.
    """
    arrays = [as_rows(old, _OLD), as_rows(new, _NEW), *([] if index is None else [as_rows(index, _INDEX)])]
    del old, new, index  # Arrays that nobody else refers to need no copy.
    with lending(arrays, [_OLD, _NEW, _INDEX]) as lent, reporting(progress, "fitting") as report:
        of_index = lent[2] if len(lent) > 2 else None
        native = _sememe.MigrationMap.fit(lent[0], lent[1], of_index, old_model, new_model, method, unsupervised, seed, report)
    fitted = MigrationMap(native)
    if fitted.about["warning"]:
        warn([fitted.about["warning"]], ChanceWarning)
    return fitted


def plan(
    old: ArrayLike,
    new: ArrayLike,
    questions: ArrayLike | None = None,
    *,
    rows_to_migrate: int | None = None,
    rows_per_second: float | None = None,
    price_per_million: float | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> dict[str, Any]:
    """What to expect of a migration, from a sample that both models have embedded, as ``sememe migrate plan --json`` prints it.

    ``curve`` has the recall by number of pairs, ``enough`` the number from which on it is flat (None: more pairs help),
    ``expected`` every way of asking with all pairs, ``advised`` the name of one, and ``costs`` what an index of
    ``rows_to_migrate`` rows takes, beside the speed (rows a second) and the price (of a million rows) of the new model.
    ``questions`` has two columns: the row of a query, and the row of its answer; nothing is fitted to these rows. Without
    questions clusters of texts are held out, and the answer is what the new model finds.
    """
    arrays = [as_rows(old, _OLD), as_rows(new, _NEW)]
    del old, new
    asked = _pairs_of_rows(questions)
    with lending(arrays, [_OLD, _NEW]) as lent, reporting(progress, "planning") as report:
        planned = _sememe.plan_migration(
            lent[0], lent[1], asked, rows_to_migrate, rows_per_second, price_per_million, seed, report
        )
    result: dict[str, Any] = json.loads(planned)
    if result.get("warning"):
        warn([result["warning"]], ChanceWarning)
    return result


def _pairs_of_rows(questions: ArrayLike | None) -> list[tuple[int, int]] | None:
    """Questions as pairs of row numbers."""
    if questions is None:
        return None
    table = np.asarray(questions)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise ValueError("questions must have two columns of row numbers: of the query, and of its answer")
    return [(int(query), int(answer)) for query, answer in table]


class MigrationMap:
    """A fitted map between the vectors of an old and of a new model; :func:`fit` makes it, :meth:`open` reads it."""

    def __init__(self, native: _sememe.MigrationMap):
        self._native = native
        self._about: dict[str, Any] = json.loads(native.description())

    @classmethod
    def open(cls, path: Path) -> MigrationMap:
        """Read a map that :meth:`save` or ``sememe migrate fit`` wrote."""
        return cls(_sememe.MigrationMap.open(path))

    def save(self, path: Path) -> None:
        """Write the map, as ``sememe migrate fit`` does."""
        self._native.write(path)

    @property
    def old_dim(self) -> int:
        """Length of vectors of the old model."""
        return int(self._about["old"]["dim"])

    @property
    def new_dim(self) -> int:
        """Length of vectors of the new model."""
        return int(self._about["new"]["dim"])

    @property
    def latent_dim(self) -> int:
        """Length of latent vectors."""
        return int(self._about["latent"])

    @property
    def about(self) -> dict[str, Any]:
        """What the map knows: its models, the number of pairs, the methods, and how candidates did on held-out pairs."""
        return dict(self._about)

    def apply(
        self, vectors: ArrayLike, to: str = "old", *, of: str = "new", force: bool = False, progress: Progress = None
    ) -> Rows:
        """Vectors of one side mapped to another, with length 1.

        By default vectors of the new model become queries for the old index as it is. Sides are ``old``, ``new`` and
        ``latent``, where vectors of both models can be mixed, and for :meth:`adapted` maps ``indexed``, which does not have length 1. Vectors that look like those of another model are refused,
        unless ``force`` is set; fewer than 20 rows tell too little, and pass. Zero vectors stay zero.
        """
        name = f"the array of {of} vectors"
        arrays = [as_rows(vectors, name)]
        del vectors
        with lending(arrays, [name]) as lent, reporting(progress, "mapping") as report:
            return self._native.apply(lent[0], of, to, force, report)

    def apply_file(
        self,
        source: Path,
        target: Path,
        to: str = "old",
        *,
        of: str = "new",
        precision: str | None = None,
        column: str | None = None,
        force: bool = False,
        model: str | None = None,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Map the vectors of a file of any size to another file, as ``sememe migrate apply`` does.

        NumPy arrays, safetensors, Parquet and Arrow are read and written, by the extension. Other columns of a table are kept.
        An interrupted call is continued by the same call. ``precision`` is ``f16`` or ``f32``, by default that of the source;
        ``column`` names the vectors of a table. ``model`` is the name of the model that made the vectors: a map that was fitted to one
        of another name refuses them. Returns the number of rows, of rows that an interrupted call had left, and
        the checksum of the file.
        """
        columns = None if column is None else [column]
        with reporting(progress, "mapping") as report:
            written = self._native.apply_file((source, target), of, to, precision, columns, force, model, report)
        return json.loads(written)

    def over(self, index: Any, **options: Any) -> MigratedIndex:
        """A live index of the old model that answers vectors of the new one.

        ``index`` is an index of faiss or usearch, a synchronous table of LanceDB (options: ``id`` and ``vector``, names
        of columns), a connection of psycopg to PostgreSQL with pgvector (options: ``table``, ``id`` and ``vector``), or
        any object with ``dim`` and ``search(queries, k)``, as :class:`Index` has them.

        >>> import numpy as np
        >>> from sememe import migrate
        >>> class Exact:
        ...     dim = 2
        ...     def search(self, queries, k):
        ...         scores = queries @ np.eye(2, dtype="float32")
        ...         ids = np.argsort(-scores)[:, :k]
        ...         return migrate.Answers(ids, np.take_along_axis(scores, ids, 1))
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> migrate.fit(x[:, ::-1], x, method="procrustes").over(Exact()).search([[0.1, 2]], k=1).ids
        array([[0]])
        """
        return MigratedIndex(self, index, options)

    def adapt(
        self,
        index: ArrayLike,
        queries: ArrayLike,
        *,
        own: Sequence[int] | None = None,
        progress: Progress = None,
    ) -> AdaptedIndex:
        """Adapt the latent space to an index of old vectors and to a sample of queries of the new model, without labels.

        The index is then mapped once, by :meth:`AdaptedIndex.index`. ``own`` are the rows of the queries in the index, if
        they are of texts that the index holds: nothing is learned from a query's own row, as in production there is none.
        """
        arrays = [as_rows(index, _INDEX), as_rows(queries, _QUERIES)]
        del index, queries
        rows = None if own is None else [int(row) for row in own]
        with lending(arrays, [_INDEX, _QUERIES]) as lent, reporting(progress, "adapting") as report:
            return AdaptedIndex(self._native.adapt(lent[0], lent[1], rows, report))

    def adapted(self, index: ArrayLike, queries: ArrayLike, *, progress: Progress = None) -> MigrationMap:
        """The same map with an adapted latent space, as ``sememe migrate adapt`` writes it.

        Vectors are then mapped to ``indexed``: rows of an index and queries with one more coordinate, which are compared by inner
        products. ``queries`` are unlabelled vectors of the new model.
        """
        arrays = [as_rows(index, _INDEX), as_rows(queries, _QUERIES)]
        del index, queries
        with lending(arrays, [_INDEX, _QUERIES]) as lent, reporting(progress, "adapting") as report:
            return MigrationMap(self._native.adapted(lent[0], lent[1], report)[0])

    def confidence(
        self, queries: ArrayLike, index: ArrayLike, *, progress: Progress = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The row of the old index that each query of the new model finds first, and the confidence in it.

        A confidence is the probability that the new model would find the same row first in an index of its own. Below some
        confidence an index of the new model had better be asked instead. The row is -1, with confidence 0, for a query without
        direction.
        """
        arrays = [as_rows(index, _INDEX), as_rows(queries, _QUERIES)]
        del index, queries
        with lending(arrays, [_INDEX, _QUERIES]) as lent, reporting(progress, "asking") as report:
            rows, confidences = self._native.confidences(lent[0], lent[1], report)
        return np.asarray(rows, np.int64), np.asarray(confidences, np.float64)

    def confidence_of(self, cosines: ArrayLike) -> NDArray[np.float64]:
        """The confidence in the first answer of a live index, by the cosines of the ten nearest rows, nearest first."""
        table = np.atleast_2d(np.asarray(cosines, np.float32))
        return np.array([self._native.confidence_of(row.tolist()) for row in table])

    def evaluate(
        self,
        old: ArrayLike,
        new: ArrayLike,
        questions: ArrayLike | None = None,
        *,
        sample: int = 1000,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Recall and mean reciprocal rank of every way of asking, as ``sememe migrate evaluate --json`` prints it.

        ``old`` and ``new`` are vectors of the same texts. ``questions`` has two columns: the row of a query, and the row of
        its answer. Without questions the answer of each of ``sample`` rows is its nearest other row by the new model.
        """
        arrays = [as_rows(old, _OLD), as_rows(new, _NEW)]
        del old, new
        asked = _pairs_of_rows(questions)
        with lending(arrays, [_OLD, _NEW]) as lent, reporting(progress, "asking") as report:
            return json.loads(self._native.evaluate(lent[0], lent[1], asked, sample, report))

    def monitor(
        self, new: ArrayLike, old: ArrayLike | None = None, *, false_alarms: float = 0.01
    ) -> dict[str, Any]:
        """Whether fresh vectors are still like those of the fit, as ``sememe migrate monitor --json`` prints it.

        ``new`` are vectors of the new model; with ``old``, those of the same texts by the old model, mapped queries are
        compared with them too. ``rings`` is true if they differ. Of batches like the fit at most the share
        ``false_alarms`` rings.
        """
        fresh = None if old is None else as_rows(old, _OLD)
        return json.loads(self._native.monitor(as_rows(new, _NEW), fresh, false_alarms))

    def export_onnx(self, path: Path, to: str = "old", *, of: str = "new") -> None:
        """Write a map as a model of ONNX: opset 17, any number of rows, lengths scaled inside the graph.

        Its input is ``vectors``, its output ``mapped``, both float32.
        """
        self._native.export_onnx(path, of, to)

    def __repr__(self) -> str:
        names = [self._about[side]["name"] or side for side in ("old", "new")]
        dims = f"{self.old_dim} ← {self.new_dim} dimensions"
        return f"MigrationMap({names[0]} ← {names[1]}, {dims}, {self._about['pairs']:,} pairs)"


class AdaptedIndex:
    """A latent space that was adapted to the queries of an index; see :meth:`MigrationMap.adapt`."""

    def __init__(self, native: _sememe.AdaptedIndex):
        self._native = native

    @property
    def learned(self) -> int:
        """Pairs of queries and rows that were learned from."""
        return self._native.learned

    def index(self, old: ArrayLike) -> Rows:
        """Rows for an index by inner product: latent vectors, and one coordinate against hubs."""
        return self._native.index(as_rows(old, _OLD))

    def queries(self, new: ArrayLike) -> Rows:
        """Queries for such an index."""
        return self._native.queries(as_rows(new, _NEW))
