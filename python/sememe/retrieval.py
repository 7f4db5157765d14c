"""Exact nearest neighbours of arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sememe
from ._arrays import Rows, as_rows, lending
from ._device_arrays import DeviceRows, device_rows, is_on_device
from ._progress import Progress, reporting
from ._warnings import warn_of_zeros
from .devices import on

#: Names of the arrays in error messages.
QUERIES, TARGETS = "the array of queries", "the array of targets"


@overload
def neighbors(
    queries: ArrayLike,
    targets: ArrayLike,
    k: int = 10,
    criterion: str = "nn",
    *,
    arrow: Literal[False] = False,
    device: str | None = None,
    progress: Progress = None,
) -> tuple[NDArray[np.int64], Rows]: ...


@overload
def neighbors(
    queries: ArrayLike,
    targets: ArrayLike,
    k: int = 10,
    criterion: str = "nn",
    *,
    arrow: Literal[True],
    device: str | None = None,
    progress: Progress = None,
) -> _sememe.Batch: ...


def neighbors(
    queries: ArrayLike,
    targets: ArrayLike,
    k: int = 10,
    criterion: str = "nn",
    *,
    arrow: bool = False,
    device: str | None = None,
    progress: Progress = None,
) -> tuple[NDArray[np.int64], Rows] | _sememe.Batch:
    """The exact ``k`` nearest rows of ``targets`` to every row of ``queries``, nearest first.

    Parameters
    ----------
    queries, targets
        Rows of the same length. A contiguous array of float32 is read in place if nothing else can write to it: one that is
        permanently read-only (``Embeddings.vectors``, ``numpy.load(..., mmap_mode="r")``), or to which there is a single
        reference. The latter cannot be written to or resized until the search is over. Others are copied. Tensors of float32
        on a GPU (torch, cupy, and others with DLPack or ``__cuda_array_interface__``) are searched there by ``nn``, ``csls`` and
        ``dot``; for other criteria they are copied to the CPU first.
    k
        Number of neighbours.
    criterion
        The criterion that ranks targets: ``nn`` (cosine), ``csls``, ``isf`` (inverted softmax), ``corrected``, ``dot`` or ``l2``
        (minus the squared distance); with parameters after a colon, such as ``csls:k=10,words=50000``. Criteria that use the
        neighbourhood of a target search it among the queries.
    arrow
        Return a table with the Arrow C stream interface instead: the columns ``query``, ``rank`` (from 1), ``target`` and ``score``.
    device
        Where to search, as for :func:`set_device`; by default where this process does.
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
    arrays: list[Any] = [queries, targets]
    del queries, targets  # Arrays that nobody else refers to need no copy.
    found = None
    with on(device), reporting(progress, "comparing rows") as report:
        for place, what in enumerate([QUERIES, TARGETS]):
            if is_on_device(arrays[place]):
                arrays[place] = device_rows(arrays[place], what)
        if all(isinstance(rows, DeviceRows) for rows in arrays) and _sememe.device_name() != "cpu":
            found = DeviceRows.neighbors(arrays[0], arrays[1], _count(k), criterion, report)
        if found is None:
            for place, what in enumerate([QUERIES, TARGETS]):
                rows = arrays[place]
                arrays[place] = rows.to_array() if isinstance(rows, DeviceRows) else as_rows(rows, what)
                del rows
            with lending(arrays, [QUERIES, TARGETS]) as lent:
                found = _sememe.neighbors(lent[0], lent[1], _count(k), criterion, report)
    (ids, scores), zeros = found
    warn_of_zeros(zeros, "targets")
    warn_of_zeros(int((ids[:, 0] < 0).sum()), "queries")
    return _sememe.neighbors_batch(ids, scores, criterion) if arrow else (ids, scores)


def confidence(
    scores: ArrayLike, calibration: Mapping[str, Any], rows: ArrayLike | None = None
) -> NDArray[np.float64]:
    """The probability that each found target is right, from the scores that :func:`neighbors` returned.

    ``calibration`` is that of a fitted estimator for the two views and the criterion. It needs the scores of the 20
    nearest targets, or of all if there are fewer. ``rows`` are the rows of the queries, where these are words in the
    order of their frequency.

    >>> import sememe
    >>> calibration = {"temperature": 0.1, "slope": 1, "offset": 0, "rarity": 0, "usual": 0, "range": [0, 0]}
    >>> sememe.confidence([[0.9, 0.7, 0.2]], calibration).round(2)
    array([[0.88, 0.12, 0.  ]])
    """
    found = np.atleast_2d(np.asarray(scores, dtype=np.float32))
    if rows is not None:
        rows = np.asarray(rows)
        if rows.dtype.kind not in "iu" or rows.shape != found.shape[:1]:
            raise ValueError(f"rows must be {len(found)} row numbers, one for each query")
        rows = rows.astype(np.int64)
    return _sememe.confidence(found, json.dumps(dict(calibration)), rows)


def _count(k: int, name: str = "k") -> int:
    if k < 1:
        raise ValueError(f"{name} is {k}: at least one neighbour must be asked for")
    return k
