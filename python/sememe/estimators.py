"""Models that align several views in one latent space, with the interface of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._base import Aligner
from ._defaults import DEFAULTS
from ._views import Steps


class IBFA(Aligner):
    """Inter-battery factor analysis: the paper's model of two views, in closed form.

    ``x_i = W_i z + mu_i + e_i`` with ``z ~ N(0, I)`` and ``e_i ~ N(0, Psi_i)``.

    Parameters
    ----------
    n_components
        The latent size; by default the smallest dimension of a view. ``"auto"`` minimises the Bayesian information
        criterion.
    shrinkage
        How covariances are shrunk: ``"auto"`` (chosen by retrieval of held-out pairs, or ``"oas"`` if they are too few), ``"oas"``
        (oracle approximating shrinkage), None (maximum likelihood), or a number from 0 to 0.99.
    finish
        Steps of the discriminative finish, which tunes how two views are compared for retrieval: ``"auto"`` (chosen by held-out
        pairs; IBFA and MBFA alone, and none without shrinkage), None, or a number. Latent vectors and densities stay those of
        the model; ``transform(X, view, compared_with=other)`` has the tuned coordinates.
    spelling
        Whether words are compared by their spelling, too: None, or ``"auto"`` (where held-out pairs clearly gain; not without
        shrinkage). It concerns views of words alone; where it is used, their latent vectors have further columns.
    criterion
        ``"csls:k=auto"`` or ``"isf:beta=auto"``: held-out pairs choose the parameter, and ``auto`` means this criterion in a space
        that is written. By default ``auto`` is CSLS.
    normalize
        Preparation of the vectors: ``"unit"`` (length 1), ``"center"``, ``"standardize"``, several of them, or None. The default,
        ``"auto"``, scales the vectors of words (:class:`Embeddings`) to length 1 and takes arrays as they are.
    lower
        Lower-case the words of embeddings and dictionaries.
    exponent
        Weight latent coordinates by this power of their correlation; by default 1/2, the posterior mean ``E[z|x]``. ``"auto"``
        weights them where the views are compared, by a power from 0 to 1 that held-out pairs choose, and 1/2 unless another one is
        clearly better; latent vectors stay posterior means.
    dewhiten
        Undo the whitening after the rotation.

    Examples
    --------
    >>> import numpy as np, sememe
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(500, 2))
    >>> X = Z @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(500, 4))
    >>> Y = Z @ rng.normal(size=(2, 3)) + 0.1 * rng.normal(size=(500, 3))
    >>> model = sememe.IBFA(2).fit({"x": X, "y": Y})
    >>> model.correlations_.round(1)
    array([1., 1.])
    >>> model.transform(X, view="x").shape
    (500, 2)
    >>> ids, _ = sememe.neighbors(model.map("x", "y")(X), Y, k=1, criterion="l2")
    >>> bool((ids[:, 0] == np.arange(500)).mean() > 0.2)
    True
    """

    _method = "ibfa"

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        shrinkage: float | str | None = DEFAULTS["shrinkage"],
        finish: int | str | None = DEFAULTS["finish"],
        spelling: str | None = DEFAULTS["spelling"],
        criterion: str | None = None,
        normalize: Steps = "auto",
        lower: bool = False,
        exponent: float | str | None = None,
        dewhiten: bool = DEFAULTS["dewhiten"],
    ):
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.finish = finish
        self.spelling = spelling
        self.criterion = criterion
        self.normalize = normalize
        self.lower = lower
        self.exponent = exponent
        self.dewhiten = dewhiten


class MBFA(Aligner):
    """Multiple-battery factor analysis: the paper's model of any number of views, by EM and a quasi-Newton method.

    Rows may lack views: a row of NaN is missing. See :class:`IBFA` for the parameters that both have.

    Parameters
    ----------
    monolingual
        Weight of every single word of every view, as a fraction of a tuple (for embeddings with a lexicon).
    max_iter
        Largest number of likelihood evaluations.
    tol
        Stop when the likelihood rises by less than this fraction three times in a row, at a stationary point.
    solver
        ``"accelerated"``, or ``"em"`` for plain EM.
    init
        The starting point: ``"informed"``, or ``"random"`` with the seed ``random_state``.
    random_state
        A seed.

    Examples
    --------
    >>> import numpy as np, sememe
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(300, 2))
    >>> views = [Z @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(300, d)) for d in (4, 3, 5)]
    >>> views[2][:200] = np.nan            # the third view is known for the last hundred rows only
    >>> model = sememe.MBFA(2, shrinkage=None).fit(views)
    >>> model.fuse(views).shape
    (300, 2)
    """

    _method = "mbfa"

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        shrinkage: float | str | None = DEFAULTS["shrinkage"],
        finish: int | str | None = DEFAULTS["finish"],
        spelling: str | None = DEFAULTS["spelling"],
        criterion: str | None = None,
        normalize: Steps = "auto",
        lower: bool = False,
        monolingual: float | None = None,
        max_iter: int = DEFAULTS["max_iter"],
        tol: float = DEFAULTS["tol"],
        solver: str = DEFAULTS["solver"],
        init: str = "informed",
        random_state: int = 0,
    ):
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.finish = finish
        self.spelling = spelling
        self.criterion = criterion
        self.normalize = normalize
        self.lower = lower
        self.monolingual = monolingual
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.init = init
        self.random_state = random_state


class CCA(Aligner):
    """Canonical correlation analysis of two views.

    See :class:`IBFA` for the parameters that both have. It has no densities.

    Parameters
    ----------
    algorithm
        ``"exact"``, or ``"nipals"``: iterated partial least squares, as scikit-learn does it.
    """

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        algorithm: str = "exact",
        shrinkage: float | str | None = DEFAULTS["shrinkage"],
        finish: int | str | None = DEFAULTS["finish"],
        normalize: Steps = "auto",
        lower: bool = False,
        dewhiten: bool = DEFAULTS["dewhiten"],
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.shrinkage = shrinkage
        self.finish = finish
        self.normalize = normalize
        self.lower = lower
        self.dewhiten = dewhiten

    @property
    def _method(self) -> str:  # type: ignore[override]
        methods = {"exact": "cca", "nipals": "cca-nipals"}
        if self.algorithm not in methods:
            raise ValueError(f"algorithm is {self.algorithm!r}: it must be 'exact' or 'nipals'")
        return methods[self.algorithm]

    def _fitting(self, names: Sequence[str]) -> dict[str, Any]:
        if self.algorithm == "nipals" and self.n_components == "auto":
            raise ValueError("n_components is 'auto': nipals has no likelihood to choose by; use algorithm='exact'")
        return super()._fitting(names)


class Procrustes(Aligner):
    """Orthogonal Procrustes: every view is rotated into the space of one of them, the pivot.

    Parameters
    ----------
    pivot
        Name or index of the view that the others are mapped to; by default the second of two, the first of more.
    finish, normalize, lower
        As for :class:`IBFA`.
    """

    _method = "svd"

    def __init__(
        self,
        pivot: str | int | None = None,
        *,
        finish: int | str | None = DEFAULTS["finish"],
        normalize: Steps = "auto",
        lower: bool = False,
    ):
        self.pivot = pivot
        self.finish = finish
        self.normalize = normalize
        self.lower = lower


class RCSLS(Procrustes):
    """Relaxed CSLS (Joulin et al. 2018): the maps of :class:`Procrustes`, tuned for retrieval by CSLS.

    It needs the vectors of the pairs: moments alone are not enough.
    """

    _method = "rcsls"


class LeastSquares(Aligner):
    """Linear regression of the pivot on every other view.

    Parameters
    ----------
    pivot, finish, normalize, lower
        As for :class:`Procrustes`.
    ridge
        Penalty, as a fraction of the mean variance.
    """

    _method = "least-squares"

    def __init__(
        self,
        pivot: str | int | None = None,
        *,
        ridge: float = DEFAULTS["ridge"],
        finish: int | str | None = DEFAULTS["finish"],
        normalize: Steps = "auto",
        lower: bool = False,
    ):
        self.pivot = pivot
        self.ridge = ridge
        self.finish = finish
        self.normalize = normalize
        self.lower = lower


#: The estimator of each method that a file may name.
BY_METHOD: dict[str, tuple[type[Aligner], dict[str, Any]]] = {
    "ibfa": (IBFA, {}),
    "mbfa": (MBFA, {}),
    "cca": (CCA, {}),
    "cca-nipals": (CCA, {"algorithm": "nipals"}),
    "svd": (Procrustes, {}),
    "rcsls": (RCSLS, {}),
    "least-squares": (LeastSquares, {}),
}
