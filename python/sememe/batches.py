"""The steps of a fit on record batches of Arrow, for engines that keep rows on many machines: Spark, Daft, Ray, ...

An engine carries batches to these functions and back; :mod:`sememe.spark` is one adapter. Batches are anything with the Arrow C
stream interface (pyarrow, polars, ...), and so are results: ``pyarrow.record_batch(result)`` takes one without a copy. Results do
not depend on how rows are divided into parts and batches: moments are the same up to rounding, fingerprints and neighbours exactly.

>>> import numpy as np, pyarrow as pa, sememe
>>> from sememe import batches
>>> rng = np.random.default_rng(0)
>>> X, Y = rng.normal(size=(100, 3)).astype("f4"), rng.normal(size=(100, 2)).astype("f4")
>>> table = pa.table({"x": list(X), "y": list(Y)})
>>> parts = [batches.partial_moments([batch], ["x", "y"]) for batch in table.to_batches(max_chunksize=30)]   # on any machine
>>> moments = batches.moments(parts)                                                                         # on one of them
>>> moments.count
100.0
>>> model = sememe.IBFA(2, shrinkage="oas").fit(moments)
>>> latent = pa.record_batch(batches.project(table.to_batches()[0], model))                                  # on any machine
>>> latent.schema.names, latent.num_rows
(['x', 'y'], 100)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _sememe
from ._fitted import FittedModel
from ._sememe import Batch
from ._views import Steps, as_steps
from .moments import Moments
from .retrieval import _count

__all__ = ["Batch", "Targets", "largest_cosines", "merge", "moments", "partial_moments", "project", "top_k"]


def partial_moments(
    batches: Iterable[Any],
    columns: Sequence[str],
    *,
    id: str | None = None,
    normalize: Steps = None,
    dims: Sequence[int | None] | None = None,
) -> Batch:
    """The moments of some of the rows, as a batch of one row; of none if there was no vector.

    Each of ``columns`` is a view: lists of float32, float64 or float16, or Spark's vectors. A null is a missing view. Vectors of
    another length, nulls inside of a vector and NaN are errors, which name the column and the row, also by the column
    ``id``. ``normalize`` is None or ``"unit"``. ``dims`` are the lengths of vectors, by default those of the first ones.

    The row has ``columns``, the number of ``rows``, and ``moments``, the bytes of :meth:`sememe.Moments.from_bytes`.
    """
    sums = _sememe.PartialMoments([*columns], id, as_steps(normalize, is_words=False), dims)
    for batch in batches:
        sums.add(batch)
    return sums.finish()


def merge(parts: Iterable[Any]) -> Batch:
    """Merges rows of :func:`partial_moments`, or of earlier merges, into one.

    Neither the order nor the nesting changes fingerprints; they change numbers by rounding only. Equal parts count twice.
    """
    return _merged(parts)[0]


def moments(parts: Iterable[Any]) -> Moments:
    """The moments of all rows, from the rows of :func:`partial_moments` or :func:`merge`."""
    return Moments._of(_merged(parts)[1])


def _merged(parts: Iterable[Any]) -> tuple[Batch, _sememe.Evidence]:
    merged = _sememe.merge_moments([*parts])
    if merged is None:
        raise ValueError("there are no moments to merge: no part has a row with a vector")
    return merged


def project(
    batch: Any,
    model: FittedModel,
    columns: Mapping[str, str] | None = None,
    *,
    outputs: Mapping[str, str] | None = None,
    id: str | None = None,
) -> Batch:
    """The latent vectors of a batch, ``E[z|x]`` for IBFA and MBFA: lists of float32, null where a vector is null.

    ``columns`` has the column of each view that is projected, by default all views from columns of their names. ``outputs`` has
    the name of each view's column in the result, by default the name of the view. The result has these columns only.
    """
    views = model.views_
    columns = {view: view for view in views} if columns is None else columns
    places = [(model._place(view), column, (outputs or {}).get(view, view)) for view, column in columns.items()]
    return _sememe.project_batch(batch, model._fitted, places, id)


class Targets:
    """The targets of a search, prepared once for any number of batches of queries.

    Parameters
    ----------
    table
        Rows with an id and a vector. Equal scores are in the order of the rows.
    id, vector
        The names of these columns, the same in queries.
    criterion
        ``nn``, ``csls``, ``dot`` or ``l2``.
    queries
        For CSLS: all queries, or
    means
        the mean of the :func:`largest_cosines` of each target with all queries.
    """

    def __init__(
        self,
        table: Any,
        *,
        id: str = "id",
        vector: str = "vector",
        criterion: str = "nn",
        queries: Any = None,
        means: Sequence[float] | None = None,
    ):
        terms = None if means is None else [-mean for mean in means]
        self._native = _sememe.Targets.prepare(table, (id, vector), criterion, queries, terms)


def top_k(batch: Any, targets: Targets, k: int = 10, *, part: bool = False) -> Batch | None:
    """The ``k`` nearest targets of each query: the columns ``query``, ``rank`` (from 1), ``target`` and ``score``; None without any.

    Unless they are only a ``part`` of the targets, these are what :func:`sememe.neighbors` finds. Of parts, the best scores (float64)
    are the result, equal ones by target. For CSLS the column ``near`` has the largest cosines of a query in the row of its
    first rank; the mean of the largest of all parts is subtracted from each score at last.
    """
    return None if targets._native is None else targets._native.top_k(batch, _count(k), part)


def largest_cosines(batch: Any, among: Any, n: int = 10, *, id: str = "id", vector: str = "vector") -> Batch | None:
    """The ``n`` largest cosines of each row with rows of ``among``: the column of ids, and ``cosines``; None without any.

    Of parts, the ``n`` largest of all are the result. Their mean is what CSLS subtracts.
    """
    return _sememe.largest_cosines(batch, among, (id, vector), _count(n, "n"))
