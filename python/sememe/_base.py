"""Fitting, for all estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import _sememe
from ._arrays import as_view, is_table
from ._fitted import FittedModel
from ._defaults import DEFAULTS, check_max_iter, extension, spelled
from ._learning import as_learning, as_report
from ._progress import Progress, reporting
from ._views import Steps, Views, as_embeddings, as_steps, given_views, named, row_views
from ._warnings import warn_of_fit
from .embeddings import Embeddings
from .lexicon import LexiconLike, as_lexicons, as_row_numbers, is_row_numbers
from .moments import Moments

Self = TypeVar("Self", bound="Aligner")

#: Parameters that are passed on unchanged, and their names in the engine.
PARAMETERS = {
    "dewhiten": "dewhiten",
    "ridge": "ridge",
    "solver": "solver",
    "max_iter": "iterations",
    "tol": "tolerance",
}

NO_LEXICON = "which words mean the same? give a lexicon, or identical='strings'"
NO_PAIRS = "which rows belong together? refine begins with a lexicon of row numbers: [(3, 5), (7, 2)]"


class Aligner(FittedModel):
    """Fits a model to several views and applies it.

    Fitted attributes end in an underscore, as in scikit-learn. Latent vectors are float32. Means, loadings, noise and densities are
    those of prepared vectors (``normalize``).
    """

    normalize: Steps
    lower: bool

    def fit(
        self: Self,
        views: Views | Moments | ArrayLike,
        lexicon: LexiconLike | ArrayLike | None = None,
        *,
        identical: str | None = None,
        complete: bool = False,
        refine: bool = False,
        unsupervised: bool = False,
        trust: str | None = None,
        random_state: int = 0,
        progress: Progress = None,
    ) -> Self:
        """Fits the model.

        With little or no dictionary, self-learning (``refine``, ``unsupervised``) induces which words, or rows, belong together: it
        alternates between fitting the model and inducing pairs. It needs at least 500 words of each view.
        :attr:`learning_` is its report.

        Warns by :class:`FitWarning` of what should be known about the fit, and by :class:`ChanceWarning` if it finds held-out pairs no
        better than at random.

        Parameters
        ----------
        views
            Arrays whose rows belong together: a list, or a mapping by name. A row of NaN is missing. Or word vectors
            (:class:`Embeddings`), or arrays of any lengths, with a lexicon that says which words or rows belong together. Or
            :class:`Moments`. ``fit(X, Y)`` of two arrays is ``fit([X, Y])``, as pipelines and searches of scikit-learn call it.
        lexicon
            A file of tuples, ``{("en", "fr"): file or pairs}``, a list of tuples, a table, or several of these. For arrays:
            tuples of row numbers, with a number or None for each view.
        identical
            Take strings that the views share as a dictionary: ``"strings"`` or ``"numerals"``.
        complete
            Use only tuples that have all views, joined from all dictionaries.
        refine
            Start self-learning from the given pairs.
        unsupervised
            Start self-learning from the vectors alone. Raises :class:`NoBetterThanChanceError` if that is no better than chance.
        trust
            How ``refine`` uses given entries: ``"keep"`` keeps them in every round, ``"doubt"`` only starts from them. By default
            dictionaries are kept, and identical strings are doubted if no dictionary is given.
        random_state
            The seed of the random starts of ``unsupervised``.
        progress
            Receives the progress of an iterative fit and of self-learning: a function of two numbers, ``tqdm``, or True.

        Examples
        --------
        >>> import numpy as np, sememe
        >>> rng = np.random.default_rng(0)
        >>> meanings, rotation = rng.gamma(0.3, size=(600, 20)), np.linalg.qr(rng.normal(size=(20, 20)))[0]
        >>> X, Y = (view + 0.1 * rng.normal(size=(600, 20)) for view in (meanings, meanings @ rotation))
        >>> model = sememe.IBFA().fit([X, Y[::-1]], unsupervised=True)     # without saying which rows belong together
        >>> ids, _ = sememe.neighbors(model.transform(X, 0), model.transform(Y, 1), k=1)
        >>> bool((ids[:, 0] == np.arange(600)).mean() > 0.9)
        True
        >>> model.learning_["induced"] > 500
        True
        """
        given, entries, is_xy = given_views(views, lexicon)
        learning = as_learning(refine, unsupervised, trust, random_state, entries, identical)
        if isinstance(given, Moments):
            return self._fit_moments(given, entries, identical, learning, progress)
        is_words = identical is not None or any(isinstance(view, Embeddings) for _, view in named(given))
        if entries is not None and not is_words and all(is_table(view) for _, view in named(given)):
            is_words = not is_row_numbers(entries)
        if entries is None and identical is None and not unsupervised and (is_words or refine):
            raise ValueError(NO_LEXICON if is_words else NO_PAIRS)
        if is_words:
            pairs = as_embeddings(given, self.lower)
            names = [name for name, _ in pairs]
            data: _sememe.Data = (
                pairs,
                _sememe.Tuples(pairs, as_lexicons(entries, names), self.lower, identical, complete),
            )
            words = [view for _, view in pairs]
        else:
            rows = row_views(given)
            names, words = [name for name, _ in rows], None
            are_paired = entries is None and not unsupervised
            numbers = None if are_paired else as_row_numbers(entries)
            data = (names, [array for _, array in rows], numbers, complete)
        gathering = {
            "lower": self.lower,
            "normalize": as_steps(self.normalize, is_words),
            "monolingual": getattr(self, "monolingual", None),
        }
        told = None
        with reporting(progress, "fitting" if learning is None else "learning") as report:
            fitting = self._fitting(names)
            if learning is None:
                fitted, notes = _sememe.Alignment.fit(data, gathering, fitting, report)
            else:
                fitted, notes, told = _sememe.learn(data, gathering, fitting, learning, report)
        self._adopt(fitted, notes, words, None if told is None else as_report(told, is_words))
        self._is_of_xy = is_xy
        return self

    def _fit_moments(
        self: Self, moments: Moments, lexicon: Any, identical: Any, learning: Any, progress: Progress
    ) -> Self:
        if lexicon is not None or identical is not None:
            raise ValueError("moments are of rows that belong together already; there is nothing to look up")
        if learning is not None:
            raise ValueError("moments have no vectors to learn from; give these")
        with reporting(progress, "fitting") as report:
            fitted, notes = _sememe.Alignment.fit_evidence(moments._known, self._fitting(moments.views), report)
        self._adopt(fitted, notes, None)
        self._is_of_xy = False
        return self

    def fit_transform(
        self, views: Views | ArrayLike, lexicon: LexiconLike | ArrayLike | None = None, **options: Any
    ) -> Any:
        """Fits, and returns the latent vectors of every view; ``fit_transform(X, Y)`` returns those of ``X``.

        See :meth:`fit` and :meth:`transform`.
        """
        return self.fit(views, lexicon, **options).transform(views)

    def _fitting(self, names: Sequence[str]) -> dict[str, Any]:
        """The parameters as the engine calls them."""
        ours = self.get_params()
        pivot = ours.get("pivot")
        if isinstance(pivot, (int, np.integer)):
            if not 0 <= pivot < len(names):
                raise ValueError(f"pivot is {pivot}: there are {len(names)} views")
            pivot = names[int(pivot)]
        init = ours.get("init", "informed")
        if init not in ("informed", "random"):
            raise ValueError(f"init is {init!r}: it must be 'informed' or 'random'")
        check_max_iter(ours.get("max_iter", 1))
        size = ours.get("n_components")
        if size not in (None, "auto") and not (isinstance(size, (int, np.integer)) and size >= 0):
            problem = "it must be a number of dimensions, 'auto', or None for the smallest dimension of a view"
            raise ValueError(f"n_components is {size!r}: {problem}")
        exponent = ours.get("exponent")
        if not isinstance(exponent, (int, float, np.number, type(None))) and exponent != "auto":
            raise ValueError(f"exponent is {exponent!r}: it must be a number, 'auto', or None for the posterior mean")
        for name in ("ridge", "monolingual", "tol"):
            if not isinstance(ours.get(name, 0.0), (int, float, np.number, type(None))):
                raise ValueError(f"{name} is {ours[name]!r}: it must be a number")
        # The engine has defaults for parameters that an estimator does not have.
        fitting: dict[str, Any] = {theirs: ours[name] for name, theirs in PARAMETERS.items() if name in ours}
        for name in ("shrinkage", "finish", "spelling"):
            if name in ours:
                fitting[name] = spelled(ours[name])
        if ours.get("criterion") is not None:
            fitting["criterion"] = str(ours["criterion"])
        if exponent is not None:
            fitting["exponent"] = str(exponent)
        if init == "random":
            fitting["random"] = int(ours["random_state"] or 0)
        return {**fitting, "method": self._method, "latent": None if size is None else str(size), "pivot": pivot}

    def _words_of(self, view: int) -> _sememe.Embeddings:
        words = self._words[view]
        if words is None:
            raise ValueError(f"the model was fitted to no words of view {self.views_[view]!r}; give arrays")
        return words

    def _adopt(
        self: Self,
        fitted: _sememe.Alignment,
        notes: _sememe.FitWarnings,
        words: Any,
        learning: dict[str, Any] | None = None,
    ) -> Self:
        warn_of_fit(notes)
        self._alignment = fitted
        self._learning = learning
        self._words = words or [None] * len(fitted.views)
        return self

    def extend(
        self: Self,
        name: str,
        new: ArrayLike | Embeddings,
        lexicon: LexiconLike | None = None,
        *,
        views: Views | None = None,
        identical: str | None = None,
        shrinkage: float | str | None = DEFAULTS["extend_shrinkage"],
        finish: int | str | None = DEFAULTS["extend_finish"],
        max_iter: int = DEFAULTS["extend_max_iter"],
        tol: float = DEFAULTS["extend_tol"],
        progress: Progress = None,
    ) -> Self:
        """Adds a view; the parameters of the others do not change.

        ``new`` are word vectors, with a lexicon over them and the words that the model was fitted to; or an array whose rows
        belong with those of ``views``, some of the views of the model. ``finish`` are the steps of the discriminative finish of
        the new view with each other one, as for the estimators.
        """
        fitted = self._fitted
        names = [*self.views_, name]
        fitting = extension(fitted, shrinkage, finish, max_iter, tol)
        if isinstance(new, Embeddings):
            if lexicon is None and identical is None:
                raise ValueError(NO_LEXICON)
            native = (new.lower() if fitted.lower else new)._native
            own = [self._words_of(view) for view in range(len(self._words))]
            known = [fitted.project(view, words) for view, words in enumerate(own)]
            lexicons = as_lexicons(lexicon, names)
            tuples = _sememe.Tuples([*zip(names, [*known, native])], lexicons, fitted.lower, identical, False)
            with reporting(progress, "fitting") as report:
                extended, notes = fitted.extend(known, (name, native), tuples, fitting, report)
            words: list[_sememe.Embeddings | None] = [*own, native]
        else:
            if views is None:
                raise ValueError("which rows belong together? give those of other views: views=[X, Y]")
            rows = row_views(views, self.views_, [dim for _, dim in fitted.views])
            arrays = [array for _, array in rows] + [as_view(new, f"view {name!r}")]
            with reporting(progress, "fitting") as report:
                extended, notes = fitted.extend_rows(name, arrays, fitting, report)
            words = [*self._words, None]
        return self._adopt(extended, notes, words, self.learning_)
