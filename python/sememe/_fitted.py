"""Attributes and methods of fitted estimators."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sememe
from ._arrays import Rows, as_rows, as_view
from ._defaults import DEFAULTS
from ._parameters import Parameterized
from ._views import Views, is_array, named
from ._warnings import NotFittedError
from .embeddings import Embeddings
from .retrieval import neighbors

Path = Union[str, "PathLike[str]"]
View = Union[str, int]
Self = TypeVar("Self", bound="FittedModel")


class LinearMap(NamedTuple):
    """The conditional distribution of one view given another: ``y | x ~ N(offset + matrix x, covariance)``.

    Called with unprepared vectors, it returns the expected vectors of the other view, which are prepared ones.
    """

    model: FittedModel
    source: int
    matrix: NDArray[np.float64]
    offset: NDArray[np.float64]
    #: The conditional covariance; None for methods without densities.
    covariance: NDArray[np.float64] | None

    def __call__(self, X: ArrayLike) -> Rows:
        prepared = self.model._fitted.prepare(self.source, as_rows(X, "X"))
        return (prepared @ self.matrix.T + self.offset).astype(np.float32)

    def __repr__(self) -> str:
        return f"LinearMap({self.matrix.shape[1]} -> {self.matrix.shape[0]})"


class FittedModel(Parameterized):
    """A fitted model: attributes and methods that do not fit."""

    _method: str
    _alignment: _sememe.Alignment
    #: The words with their vectors, if it was fitted to words; they are not pickled.
    _words: list[_sememe.Embeddings | None]
    _learning: dict[str, Any] | None = None
    #: True after ``fit(X, Y)``: an array without the name of its view is one of ``X``.
    _is_of_xy: bool = False

    # Fitted attributes.

    @property
    def _fitted(self) -> _sememe.Alignment:
        try:
            return self.__dict__["_alignment"]
        except KeyError:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit first") from None

    def __sklearn_is_fitted__(self) -> bool:
        return "_alignment" in self.__dict__

    @property
    def views_(self) -> list[str]:
        """The names of the views."""
        return [name for name, _ in self._fitted.views]

    @property
    def n_features_in_(self) -> tuple[int, ...]:
        """The dimensions of the views."""
        return tuple(dim for _, dim in self._fitted.views)

    @property
    def n_components_(self) -> int:
        """The latent size, without the columns of spelling."""
        return self._fitted.factors

    @property
    def n_tuples_(self) -> float:
        """Number of tuples that it was fitted to."""
        return self._fitted.tuples

    @property
    def log_likelihood_(self) -> float | None:
        """Log-likelihood of all tuples that it was fitted to, in nats; None for methods without densities."""
        return self._fitted.log_likelihood

    @property
    def correlations_(self) -> NDArray[np.float64]:
        """Canonical correlations of two views, decreasing; empty for methods without."""
        return self._fitted.rho

    @property
    def shrinkage_(self) -> NDArray[np.float64]:
        """The shrinkage of the covariance of each view."""
        return self._fitted.shrinkage

    @property
    def trace_(self) -> dict[str, Any] | None:
        """The trace of an iterative fit: evaluations, whether it converged, and the likelihoods."""
        trace = self._fitted.trace
        return None if trace is None else json.loads(trace)

    @property
    def learning_(self) -> dict[str, Any] | None:
        """The report of self-learning, as the command prints it; None without self-learning, and for a loaded model.

        ``rounds``: for each round the number of ``words`` of a view, the number of ``pairs`` of mutual nearest neighbours, and the
        ``objective``, the mean CSLS of words with their nearest neighbours. ``induced``: the number of induced pairs; unless
        self-learning ``has_helped``, the model is fitted to the given entries alone. ``chances``: for each pair of views that was
        aligned without supervision its ``objective``, and the mean (``random``) and standard ``deviation`` of it after random
        starts. ``doubtful``: given entries that look wrong, the worst first: their ``views``, ``words`` (row numbers of
        arrays) and CSLS (``score``).
        """
        self._fitted  # Raises where there is no fit.
        return self._learning

    @property
    def means_(self) -> list[NDArray[np.float64]]:
        """The mean of each view."""
        return [self._fitted.parameters(view)[0] for view in range(len(self.views_))]

    @property
    def projections_(self) -> list[NDArray[np.float64]]:
        """For each view the matrix that maps ``x - mu`` to the latent space."""
        return [self._fitted.parameters(view)[1] for view in range(len(self.views_))]

    @property
    def loadings_(self) -> list[NDArray[np.float64]]:
        """``W`` of each view."""
        return [self._emission(view)[0] for view in range(len(self.views_))]

    @property
    def noise_(self) -> list[NDArray[np.float64]]:
        """``Psi`` of each view: the covariance of its noise."""
        return [self._emission(view)[1] for view in range(len(self.views_))]

    def _emission(self, view: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        emission = self._fitted.parameters(view)[2]
        if emission is None:
            raise AttributeError(f"{self._fitted.method} has no density: only ibfa and mbfa model how vectors come about")
        return emission

    def calibration(self, source: View, target: View, criterion: str = "nn") -> dict[str, Any] | None:
        """How scores of a criterion between latent vectors of two views become confidences, by pairs that were held out.

        None if there were too few of them, and for criteria other than nn, csls, isf and pmi. Latent vectors of three views or
        more are those of :meth:`transform` with ``compared_with``. See :func:`sememe.confidence`.
        """
        found = self._fitted.calibration(self._place(source), self._place(target), criterion)
        return None if found is None else json.loads(found)

    def _place(self, view: View) -> int:
        names = self.views_
        if isinstance(view, str):
            if view not in names:
                raise ValueError(f"there is no view named {view!r}; there are {', '.join(names)}")
            return names.index(view)
        if not isinstance(view, (int, np.integer)) or not 0 <= view < len(names):
            raise ValueError(f"there is no view {view!r}; there are {len(names)}: {', '.join(names)}")
        return int(view)

    # Projection and densities.

    def transform(self, X: Any, view: View | None = None, compared_with: View | None = None) -> Any:
        """Projects vectors to the latent space: ``E[z|x]`` for IBFA and MBFA.

        With ``view``, a name or an index, ``X`` is an array of that view, or :class:`Embeddings`, which keep their words.
        Without, it is a list or mapping of views, and a list comes back; rows of NaN stay NaN. After ``fit(X, Y)`` one array
        without ``view`` is of the view of ``X``.

        With ``compared_with``, another view, an array comes back in the coordinates in which a space compares the two views by
        cosines. Confidences are calibrated for these. They differ from ``E[z|x]`` for generative models of three views or more,
        whose latent space has directions that two of the views do not share.
        """
        if compared_with is not None:
            if view is None or isinstance(X, Embeddings):
                raise ValueError("compared_with is for an array of one view: give the view as well, and vectors without words")
            own, other = self._place(view), self._place(compared_with)
            if own == other:
                raise ValueError(f"compared_with is {compared_with!r}, the view itself; give another")
            return self._fitted.transform(own, as_rows(X, "X"), other)
        if view is None and self._is_of_xy and is_array(X):
            return self._transform(0, X)
        if view is None:
            given = named(X, self.views_)
            return [None if one is None else self._transform(place, one) for place, (_, one) in enumerate(given)]
        place = self._place(view)
        if isinstance(X, Embeddings):
            return Embeddings._of(self._fitted.project(place, X._native))
        return self._fitted.transform(place, as_rows(X, "X"))

    def _transform(self, place: int, X: Any) -> Any:
        if isinstance(X, Embeddings):
            return self.transform(X, place)
        rows = as_view(X, f"view {self.views_[place]!r}")
        missing = np.isnan(rows).all(axis=1)
        if not missing.any():
            return self._fitted.transform(place, rows)
        latent = np.full((len(rows), self._fitted.latent), np.nan, np.float32)
        if not missing.all():
            latent[~missing] = self._fitted.transform(place, np.ascontiguousarray(rows[~missing]))
        return latent

    def fuse(self, views: Views) -> Rows:
        """Projects several views together: ``E[z|x_1, x_2, ...]``, with NaN or None for what is missing.

        For methods without densities it is the mean of the projections of the views.
        """
        if self.log_likelihood_ is not None:
            return self._fitted.fuse(self._rows(views))
        latent = np.stack([z for z in self.transform(dict(zip(self.views_, self._rows(views)))) if z is not None])
        known = ~np.isnan(latent).any(axis=2)
        if not known.any(axis=0).all():
            raise ValueError(f"row {int(np.argmin(known.any(axis=0)))} is missing in every view")
        weights = known / known.sum(axis=0)
        return np.einsum("vn,vnk->nk", weights, np.nan_to_num(latent)).astype(np.float32)

    def log_density(self, X: Any, view: View | None = None) -> NDArray[np.float64]:
        """``log p(x)`` of every row, in nats: of one view, or of several together, with NaN or None for what is missing."""
        if view is None:
            return self._fitted.logs(self._rows(X))
        place = self._place(view)
        return self._fitted.logs([as_rows(X, "X") if one == place else None for one in range(len(self.views_))])

    def score(self, views: Views | ArrayLike, y: ArrayLike | None = None) -> float:
        """How well the model fits rows; larger is better.

        ``score([X, Y])``, of any number of views, is the mean log-likelihood of the rows, in nats. ``score(X, y)``, of two
        arrays, is what searches of scikit-learn maximise: the mean reciprocal rank, from 0 to 1, of the row of ``y`` that belongs
        to a row of ``X`` among all rows of ``y``, by the cosine of latent vectors. Ranks beyond 100 count as zero. It depends
        on the number of rows, exists for every method, and leaves out rows of NaN.
        """
        if y is None:
            return float(self.log_density(views).mean())
        if len(self.views_) != 2:
            raise ValueError(f"score(X, y) is of two views, and the model has {len(self.views_)}; give a list of views")
        latent: list[Rows] = [self._transform(0, views), self._transform(1, y)]
        if len(latent[0]) != len(latent[1]):
            raise ValueError(f"X has {len(latent[0])} rows and y has {len(latent[1])}: row i of both must belong together")
        known = np.isfinite(np.hstack(latent)).all(axis=1)
        if not known.any():
            raise ValueError("there is no row that both X and y have")
        count = int(known.sum())
        found, _ = neighbors(latent[0][known], latent[1][known], min(DEFAULTS["ranks"], count))
        is_right = found == np.arange(count)[:, None]
        return float(np.where(is_right.any(axis=1), 1.0 / (1 + is_right.argmax(axis=1)), 0.0).mean())

    def pmi(self, X: ArrayLike, Y: ArrayLike, views: tuple[View, View] = (0, 1)) -> NDArray[np.float64]:
        """Pointwise mutual information ``log p(x, y) / (p(x) p(y))`` of every row of one view and of another, in nats."""
        a, b = (self._place(view) for view in views)
        if a == b:
            raise ValueError("mutual information is between two different views")
        both: list[Rows | None] = [None] * len(self.views_)
        both[a], both[b] = as_rows(X, "X"), as_rows(Y, "Y")
        return self._fitted.logs(both) - self.log_density(X, a) - self.log_density(Y, b)

    def _rows(self, views: Views) -> list[Rows | None]:
        given = named(views, self.views_)
        return [None if one is None else as_view(one, f"view {name!r}") for name, one in given]

    def map(self, source: View, target: View) -> LinearMap:
        """The map from one view to another: ``E[y|x]``, to be called with vectors.

        For methods without densities it is the shortest vector of the target with the same projection as ``x``.
        """
        a, b = self._place(source), self._place(target)
        if self.log_likelihood_ is not None:
            return LinearMap(self, a, *self._fitted.conditional(a, b))
        (mu, projection, _), (other_mu, other, _) = self._fitted.parameters(a), self._fitted.parameters(b)
        matrix = np.linalg.pinv(other) @ projection
        return LinearMap(self, a, matrix, other_mu - matrix @ mu, None)

    def queries(self, X: ArrayLike, source: View, target: View) -> Rows:
        """Queries from vectors of ``source`` for an index that holds the unprojected vectors of ``target``.

        The inner product with a vector ``y`` of the target (the cosine, if these have length 1) ranks as the inner
        product of latent vectors does: ``<A_yᵀ z(x), y> = <z(x), z(y)>`` but for what does not depend on ``y``, with ``A_y`` the
        projection. Its recall is much higher than that of ``map``, whose expected vectors lie close to the mean.
        """
        place = self._place(target)
        return (self.transform(X, source) @ self._fitted.parameters(place)[1]).astype(np.float32)

    def sample(self, n_samples: int = 1, random_state: int = 0) -> list[Rows]:
        """Draws tuples of prepared vectors, an array for each view."""
        if n_samples < 1:
            raise ValueError(f"n_samples is {n_samples}: at least one must be drawn")
        return self._fitted.sample(n_samples, random_state)

    # Files.

    def save(self, path: Path, embeddings: Mapping[str, Embeddings] | None = None) -> None:
        """Writes a space: the folder that ``sememe align`` writes, with the words that the model was fitted to, or with
        those given. :meth:`load`, :class:`Space` and the command read it."""
        words: Sequence[_sememe.Embeddings | None] = self._words if self.__sklearn_is_fitted__() else []
        if embeddings is not None:
            words = [None if given is None else given._native for _, given in named(embeddings, self.views_)]
        self._fitted.write_space(path, words)

    @classmethod
    def load(cls: type[Self], path: Path) -> Self:
        """Reads the model of a space, also one that the command wrote. Parameters are those recorded in the file."""
        model = cls._of(_sememe.Space.open(path, False).alignment)
        if not isinstance(model, cls):
            kind = type(model).__name__
            raise ValueError(f"{path} holds a model of {kind}, not of {cls.__name__}; use {kind}.load")
        return model

    @staticmethod
    def _of(fitted: _sememe.Alignment) -> Any:
        """The estimator for the method of a fitted model."""
        from .estimators import BY_METHOD

        kind, parameters = BY_METHOD[fitted.method]
        model = kind().set_params(normalize=",".join(fitted.steps) or None, lower=fitted.lower, **parameters)
        model._alignment, model._words = fitted, [None] * len(fitted.views)
        return model

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name != "_words"}
        if "_alignment" in state:
            state["_alignment"] = state["_alignment"].to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_alignment" in state:
            self._alignment = _sememe.Alignment.from_bytes(state["_alignment"])
            self._words = [None] * len(self._alignment.views)
