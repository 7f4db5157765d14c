"""Exact nearest neighbours of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sememe
from ._arrays import Rows, as_rows, lending
from ._progress import Progress, reporting
from ._warnings import warn_of_zeros

#: Names of the arrays in error messages.
QUERIES, TARGETS = "the array of queries", "the array of targets"


def neighbors(
    queries: ArrayLike, targets: ArrayLike, k: int = 10, criterion: str = "nn", *, progress: Progress = None
) -> tuple[NDArray[np.int64], Rows]:
    """The exact ``k`` nearest rows of ``targets`` to every row of ``queries``, nearest first.

    Parameters
    ----------
    queries, targets
        Rows of the same length. A contiguous array of float32 is read in place if nothing else can write to it: one that is
        permanently read-only (``Embeddings.vectors``, ``numpy.load(..., mmap_mode="r")``), or to which there is a single
        reference. The latter cannot be written to or resized until the search is over. Others are copied.
    k
        Number of neighbours.
    criterion
        The criterion that ranks targets: ``nn`` (cosine), ``csls``, ``isf`` (inverted softmax), ``corrected``, ``dot`` or ``l2``
        (minus the squared distance); with parameters after a colon, such as ``csls:k=10,words=50000``. Criteria that use the
        neighbourhood of a target search it among the queries.
    progress
        Receives the progress: a function of two numbers, ``tqdm``, or True.

    Returns
    -------
    ids, scores
        Row numbers (int64) and scores (float32), one row per query; equal scores are in the order of the rows. Zero rows have no
        direction: criteria made of cosines skip them, with a warning. Where fewer than ``k`` targets are found, as for a zero
        query, the row number is -1 and the score NaN.

    Examples
    --------
    >>> import numpy as np, sememe
    >>> targets = np.array([[1, 0], [0, 2], [3, 3]], "float32")
    >>> ids, scores = sememe.neighbors([[0, 1]], targets, k=2)
    >>> ids
    array([[1, 2]])
    """
    arrays = [as_rows(queries, QUERIES), as_rows(targets, TARGETS)]
    del queries, targets  # Arrays that nobody else refers to need no copy.
    with lending(arrays, [QUERIES, TARGETS]) as lent, reporting(progress, "comparing rows") as report:
        (ids, scores), zeros = _sememe.neighbors(lent[0], lent[1], _count(k), criterion, report)
    warn_of_zeros(zeros, "targets")
    warn_of_zeros(int((ids[:, 0] < 0).sum()), "queries")
    return ids, scores


def confidence(
    queries: ArrayLike, targets: ArrayLike, ids: ArrayLike, temperature: float
) -> NDArray[np.float64]:
    """The confidence of retrieved rows: ``exp(cos(q, t) / T) / Σ exp(cos(q, s) / T)`` over all targets ``s``.

    ``temperature`` of a fitted estimator is the calibrated temperature between two of its views, in the latent space.

    >>> import sememe
    >>> sememe.confidence([[1.0, 0.1]], [[1.0, 0.0], [0.0, 1.0]], [[0]], temperature=0.1).round(2)
    array([[1.]])
    """
    ids = np.atleast_2d(np.asarray(ids))
    if ids.dtype.kind not in "iu":
        raise TypeError(f"ids has the dtype {ids.dtype}; they must be row numbers, as neighbors returns them")
    arrays = [as_rows(queries, QUERIES), as_rows(targets, TARGETS)]
    del queries, targets
    with lending(arrays, [QUERIES, TARGETS]) as lent:
        return _sememe.confidence(lent[0], lent[1], ids.astype(np.int64), temperature)


def _count(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is {k}: at least one neighbour must be asked for")
    return k
