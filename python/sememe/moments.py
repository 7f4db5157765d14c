"""Moments: all that a fit needs. They are small, contain no words and vectors, and can be merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _sememe
from ._defaults import DEFAULTS
from ._views import Names, Steps, as_embeddings, as_steps, row_views
from .embeddings import Embeddings
from .lexicon import LexiconLike, as_lexicons


class Pattern(NamedTuple):
    """Moments of the rows that have exactly these views, stacked side by side."""

    n: float
    mean: NDArray[np.float64]
    #: ``Σ (x - mean)(x - mean)ᵀ``
    scatter: NDArray[np.float64]


class Moments:
    """Counts, means and second moments of rows that belong together, for each pattern of views.

    Moments of parts add up to the moments of all rows, in any order and on any machine. Every estimator can be fitted to them.
    (With ``shrinkage="auto"`` a fit to arrays uses held-out pairs, which moments do not have; give a number or ``"oas"`` for the
    same model from both.)

    Parameters
    ----------
    views
        The names of the views, in order; by default ``"0"``, ``"1"`` and so on.
    dims
        Their dimensions, if the first batch lacks one of the views.
    normalize
        Preparation of the vectors: None (the default: arrays are taken as they are), or ``"unit"`` (length 1). Steps that learn
        from all vectors do not work in batches.

    Examples
    --------
    >>> import numpy as np, sememe
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(100, 3)), rng.normal(size=(100, 2))
    >>> parts = sememe.Moments().update([X[:50], Y[:50]]) + sememe.Moments().update([X[50:], Y[50:]])
    >>> whole = sememe.Moments().update([X, Y])
    >>> np.allclose(parts.patterns["0", "1"].scatter, whole.patterns["0", "1"].scatter, atol=1e-12)
    True
    >>> sememe.Moments.from_bytes(parts.to_bytes()).count
    100.0
    """

    def __init__(
        self, views: Sequence[str] | None = None, dims: Sequence[int] | None = None, *, normalize: Steps = None
    ):
        self._names = None if views is None else [str(view) for view in views]
        self._dims = None if dims is None else [int(dim) for dim in dims]
        self._steps = as_steps(normalize, is_words=False)
        if set(self._steps) - {"unit"}:
            raise ValueError(f"normalize is {normalize!r}: center and standardize learn from all vectors, not from a batch")
        self._evidence: _sememe.Evidence | None = None

    @classmethod
    def _of(cls, evidence: _sememe.Evidence) -> Moments:
        moments = cls.__new__(cls)
        moments._steps = evidence.steps
        moments._adopt(evidence)
        return moments

    def _adopt(self, evidence: _sememe.Evidence) -> None:
        self._evidence = evidence
        self._names = [name for name, _ in evidence.views]
        self._dims = [dim for _, dim in evidence.views]

    @classmethod
    def gather(
        cls,
        embeddings: Mapping[str, Embeddings],
        lexicon: LexiconLike | None = None,
        *,
        normalize: Steps = DEFAULTS["normalize"],
        lower: bool = False,
        monolingual: float | None = None,
        identical: str | None = None,
        complete: bool = False,
    ) -> Moments:
        """The moments of word vectors and a dictionary, as ``sememe moments`` sums them; by default of vectors of length 1."""
        views = as_embeddings(embeddings, lower)
        names = [name for name, _ in views]
        tuples = _sememe.Tuples(views, as_lexicons(lexicon, names), lower, identical, complete)
        gathering = {"lower": lower, "normalize": as_steps(normalize, is_words=True), "monolingual": monolingual}
        return cls._of(_sememe.Evidence.gather((views, tuples), gathering))

    def update(self, batch: Sequence[Any] | Mapping[str, Any]) -> Moments:
        """Adds rows. A row of NaN is missing in its view; None means a view that the whole batch lacks."""
        names: Names = self._names
        views = row_views(batch, names, self._dims)
        data: _sememe.Data = ([name for name, _ in views], [rows for _, rows in views], None, False)
        gathering = {"lower": False, "normalize": self._steps, "monolingual": None}
        self._merge(_sememe.Evidence.gather(data, gathering))
        return self

    def _merge(self, evidence: _sememe.Evidence) -> None:
        both = evidence if self._evidence is None else _sememe.Evidence.merged([self._evidence, evidence])
        self._adopt(both)

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        return Moments.merged([self, other])

    def __radd__(self, other: Any) -> Moments:
        # The start value of sum().
        return self if other == 0 else NotImplemented

    @classmethod
    def merged(cls, parts: Iterable[Moments]) -> Moments:
        """Merges all parts. The order changes no bit of the result."""
        parts = list(parts)
        full = [part._evidence for part in parts if part._evidence is not None]
        if not full:
            raise ValueError("there are no moments to merge")
        return cls._of(_sememe.Evidence.merged(full))

    @property
    def _known(self) -> _sememe.Evidence:
        if self._evidence is None:
            raise ValueError("these moments are of no rows yet; call update first")
        return self._evidence

    @property
    def views(self) -> list[str]:
        """The names of the views."""
        return list(self._names or [])

    @property
    def dims(self) -> list[int]:
        """The dimensions of the views."""
        return list(self._dims or [])

    @property
    def count(self) -> float:
        """Number of rows."""
        return 0.0 if self._evidence is None else self._evidence.count

    @property
    def patterns(self) -> dict[tuple[str, ...], Pattern]:
        """The moments of each pattern, by the names of its views."""
        names = self.views
        found = self._known.patterns()
        return {tuple(names[view] for view in views): Pattern(n, mean, scatter) for views, n, mean, scatter in found}

    def to_bytes(self) -> bytes:
        """The content of the file that :meth:`save` writes."""
        return self._known.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Moments:
        """Reads the bytes of :meth:`to_bytes`."""
        return cls._of(_sememe.Evidence.from_bytes(bytes(data)))

    def save(self, path: Union[str, PathLike[str]]) -> None:
        """Writes a safetensors file, which ``sememe align --moments`` reads."""
        self._known.write(path)

    @classmethod
    def load(cls, path: Union[str, PathLike[str]]) -> Moments:
        """Reads a file of :meth:`save` or of ``sememe moments``."""
        return cls._of(_sememe.Evidence.read(path))

    def __getstate__(self) -> dict[str, Any]:
        data = None if self._evidence is None else self._evidence.to_bytes()
        return {**self.__dict__, "_evidence": data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_evidence"] is not None:
            self._evidence = _sememe.Evidence.from_bytes(state["_evidence"])

    def __repr__(self) -> str:
        views = ", ".join(f"{name}: {dim}" for name, dim in zip(self.views, self.dims))
        return f"Moments({self.count:,.10g} rows of {{{views}}})"
