"""An aligned space: words of several views in one latent space, where translations are neighbours."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, Union

from numpy.typing import ArrayLike

from . import _sememe
from ._arrays import Rows, as_rows
from ._base import NO_LEXICON, Aligner
from ._defaults import DEFAULTS, extension
from ._evaluations import Evaluations
from ._progress import Progress, reporting
from ._warnings import warn_of_fit, warn_of_zeros
from .devices import on
from .embeddings import Embeddings, Terms, listed, summed_directions
from .lexicon import LexiconLike, as_lexicons
from .retrieval import _count

Path = Union[str, "PathLike[str]"]


class Candidate(NamedTuple):
    """A candidate translation."""

    word: str
    #: The score of the criterion; larger is better.
    score: float
    #: The probability of being right, calibrated on held-out words; None if the space is not calibrated.
    confidence: float | None


class Induced(NamedTuple):
    """A word and its best translation."""

    word: str
    translation: str
    score: float
    confidence: float | None


class Index:
    """Vectors for an external index (faiss, usearch, hnswlib, ...), which then ranks by a criterion."""

    def __init__(self, native: _sememe.Index, space: Space, views: tuple[str, str], ranking: str):
        self._native, self._space, self._views, self._ranking = native, space, views, ranking
        self._source, self._target = space[views[0]], space[views[1]]

    @property
    def vectors(self) -> Rows:
        """The vectors that the index holds: one row per word of the target."""
        return self._native.targets()

    @property
    def words(self) -> list[str]:
        """The words of the target."""
        return self._target.words

    def queries(self, queries: str | Sequence[str] | ArrayLike | None = None) -> Rows:
        """The query vectors: one row per word, or per latent vector; by default for all words of the source."""
        if queries is None:
            return self._native.queries(self._source.vectors)
        return self._native.queries(self._space._latent(queries, self._views[0]))

    def __repr__(self) -> str:
        source, target = self._views
        return f"Index({len(self._target):,} words of {target!r} for queries of {source!r}, {self._ranking})"


class Space(Evaluations):
    """A folder with a model, and the words of its views with their latent vectors, as ``sememe align`` and ``save`` write it.

    Examples
    --------
    >>> import numpy as np, sememe, tempfile
    >>> rng = np.random.default_rng(0)
    >>> vectors = rng.normal(size=(200, 5))
    >>> en = sememe.Embeddings([f"en{i}" for i in range(200)], vectors)
    >>> fr = sememe.Embeddings([f"fr{i}" for i in range(200)], vectors @ rng.normal(size=(5, 5)))
    >>> model = sememe.IBFA().fit({"en": en, "fr": fr}, {("en", "fr"): [(f"en{i}", f"fr{i}") for i in range(150)]})
    >>> folder = tempfile.mkdtemp() + "/space"
    >>> model.save(folder)
    >>> space = sememe.Space.open(folder)
    >>> space.translate("en170", "en", "fr", k=1)[0].word
    'fr170'
    >>> space.most_similar("en170", view="en", among="fr", topn=1)[0][0]
    'fr170'

    A pickle holds the absolute path of the folder, not its content: it is opened again where it is unpickled.
    """

    def __init__(self, native: _sememe.Space):
        self._native = native
        # The working directory may change before it is pickled.
        self._folder = os.path.abspath(native.path)

    @classmethod
    def open(cls, path: Path, mmap: bool = False) -> Space:
        """Opens a space; the vectors of a view are read when they are first needed.

        With ``mmap`` they are mapped instead: that takes no memory of its own, and processes share it, but while the space is
        open nobody may overwrite its files in place. (sememe itself only replaces them.) If one is truncated the system ends
        the interpreter (SIGBUS).
        """
        return cls(_sememe.Space.open(path, mmap))

    @property
    def path(self) -> Path:
        """The folder."""
        return self._native.path

    @property
    def views(self) -> list[str]:
        """The names of the views."""
        return [name for name, _ in self._native.alignment.views]

    @property
    def model(self) -> Aligner:
        """The fitted model."""
        return Aligner._of(self._native.alignment)

    def __getitem__(self, view: str) -> Embeddings:
        """The words of a view with their latent vectors."""
        return Embeddings._of(self._native.view(view))

    def __repr__(self) -> str:
        words = ", ".join(f"{name}: {count:,} words" for name, count in zip(self.views, self._native.words))
        return f"Space({str(self.path)!r}, {{{words}}})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_reopened, (self._folder, self._native.mmap))

    def translate(
        self,
        words: str | Iterable[str],
        source: str,
        target: str,
        k: int = 5,
        criterion: str = "auto",
        *,
        vectors: Embeddings | None = None,
        arrow: bool = False,
        device: str | None = None,
        progress: Progress = None,
    ) -> Any:
        """The best translations of a word, or for a list of words a list of them.

        ``criterion`` ranks the candidates: ``auto`` (CSLS), ``nn``, ``csls``, ``isf``, ``corrected``, ``dot``, ``l2``, and for IBFA and MBFA
        ``pmi`` and ``logp``. A word that the space does not have raises KeyError, with the closest spellings, unless
        ``vectors`` (of the source, before alignment) have it, or can compose it as a fastText model does.

        With ``arrow`` a table comes back that has the Arrow C stream interface (pyarrow, polars, pandas, duckdb): a row for
        each candidate, as ``sememe translate -o`` writes them. ``device`` is where to search, as for :func:`set_device`.
        """
        one = isinstance(words, str)
        spelled = [words] if isinstance(words, str) else list(words)
        if not spelled:
            return []
        native = None if vectors is None else vectors._native
        with on(device), reporting(progress, "comparing words") as report:
            found, unknown, zeros, batch = self._native.translate(
                source, target, spelled, _count(k), criterion, native, arrow, report
            )
        for word, near in unknown:
            raise _unknown(word, source, near)
        warn_of_zeros(zeros, f"words of {target}")
        if batch is not None:
            return batch
        candidates = [[Candidate(*candidate) for candidate in of_word] for of_word in found]
        return candidates[0] if one else candidates

    def neighbors(
        self,
        queries: str | Sequence[str] | ArrayLike,
        view: str,
        k: int = 10,
        criterion: str = "nn",
        *,
        among: str | None = None,
        device: str | None = None,
    ) -> Any:
        """The words of the view ``among`` (the same one by default) nearest to words of ``view``, or to latent vectors.

        A word is not its own neighbour. Returns a list for one word, and a list of lists for several. ``device`` is where to
        search, as for :func:`set_device`.
        """
        among = view if among is None else among
        latent = self._latent(queries, view)
        own = self._rows(queries, view) if among == view and _is_words(queries) else [None] * len(latent)
        count = min(_count(k) + (among == view), len(self._native.view(among)))
        with on(device):
            found, zeros = self._native.nearest(view, among, latent, count, criterion, None)
        warn_of_zeros(zeros, f"words of {among}")
        word = self._native.view(among).word
        without = [
            [Candidate(word(i), float(score), None) for i, score in zip(ids, scores) if i >= 0 and i != own_row][:k]
            for ids, scores, own_row in zip(*found, own)
        ]
        return without[0] if isinstance(queries, str) else without

    def most_similar(
        self,
        positive: Terms = None,
        negative: Terms = None,
        topn: int = 10,
        *,
        view: str,
        among: str | None = None,
    ) -> list[tuple[str, float]]:
        """The words of the view ``among`` (the same one by default) nearest to a sum of directions of words of ``view``.

        See :meth:`Embeddings.most_similar`; vectors are latent ones.
        """
        among = view if among is None else among
        query = summed_directions(positive, negative, lambda word: self._latent(word, view)[0])
        words = [word for word in [*listed(positive), *listed(negative)] if isinstance(word, str)]
        given = set(self._rows(words, view)) if among == view else set()
        targets = self._native.view(among)
        count = min(_count(topn, "topn") + len(given), len(targets))
        (ids, scores), zeros = self._native.nearest(view, among, query, count, "nn", None)
        warn_of_zeros(zeros, f"words of {among}")
        found = [(targets.word(i), float(score)) for i, score in zip(ids[0], scores[0]) if i >= 0 and i not in given]
        return found[:topn]

    def induce(
        self,
        source: str,
        target: str,
        *,
        criterion: str = "auto",
        mutual: bool = False,
        min_confidence: float = 0.0,
        max_words: int | None = None,
        output: Path | None = None,
        arrow: bool = False,
        device: str | None = None,
        progress: Progress = None,
    ) -> Any:
        """A dictionary: the best translation of every word, in the order of the source.

        ``mutual`` keeps only mutual nearest neighbours, ``min_confidence`` only translations of at least this confidence. If
        ``output`` is given, the dictionary is also written there, as ``sememe lexicon induce`` does. Returns a list of
        :class:`Induced`, or with ``arrow`` a table that has the Arrow C stream interface, with a column for each view. ``device``
        is where to search, as for :func:`set_device`.
        """
        if not 0.0 <= min_confidence <= 1.0:
            raise ValueError(f"min_confidence is {min_confidence}: a probability is a number from 0 to 1")
        with on(device), reporting(progress, "translating") as report:
            (rows, found, scores, sure, zeros), batch = self._native.induce(
                source, target, criterion, mutual, min_confidence, max_words, output, arrow, report
            )
        warn_of_zeros(zeros, f"words of {target}")
        if batch is not None:
            return batch
        words, translations = self[source].words, self[target].words
        confidences = [None] * len(rows) if sure is None else sure.tolist()
        pairs = zip(rows, found, scores.tolist(), confidences)
        return [Induced(words[row], translations[to], score, confidence) for row, to, score, confidence in pairs]

    def to_index(
        self,
        criterion: str = "nn",
        metric: str = "ip",
        *,
        source: str | None = None,
        target: str | None = None,
        progress: Progress = None,
    ) -> Index:
        """Vectors for an index with one metric (``ip``, ``l2`` or ``cosine``), with which it ranks by a criterion.

        By default queries are of the first view and targets of the second.
        """
        views = self.views
        if (source is None or target is None) and len(views) != 2:
            raise ValueError(f"name source and target among {', '.join(views)}")
        source, target = source or _other(views, target, 0), target or _other(views, source, 1)
        with reporting(progress, "comparing words") as report:
            native = self._native.index(source, target, criterion, metric, report)
        return Index(native, self, (source, target), f"{criterion} by {metric}")

    def extend(
        self,
        name: str,
        embeddings: Embeddings,
        lexicon: LexiconLike | None = None,
        *,
        identical: str | None = None,
        shrinkage: float | str | None = DEFAULTS["extend_shrinkage"],
        finish: int | str | None = DEFAULTS["extend_finish"],
        max_iter: int = DEFAULTS["extend_max_iter"],
        tol: float = DEFAULTS["extend_tol"],
        output: Path | None = None,
        progress: Progress = None,
    ) -> Space:
        """Adds a view as ``sememe extend`` does, in this folder or in a copy at ``output``; existing files keep their bits.

        ``finish`` are the steps of the discriminative finish of the new view with each other one, as for the estimators. Returns
        the larger space.
        """
        if lexicon is None and identical is None:
            raise ValueError(NO_LEXICON)
        fitting = extension(self._native.alignment, shrinkage, finish, max_iter, tol)
        lexicons = as_lexicons(lexicon, [*self.views, name])
        with reporting(progress, "fitting") as report:
            native = embeddings._native
            notes = self._native.extend(name, native, lexicons, identical, fitting, output, report)
        warn_of_fit(notes)
        return Space.open(self.path if output is None else output, self._native.mmap)

    def _latent(self, queries: Any, view: str) -> Rows:
        """Latent vectors of words, or those given."""
        if not _is_words(queries):
            return as_rows(queries, "queries")
        words = [queries] if isinstance(queries, str) else list(queries)
        rows: list[int] = []
        for word, row in zip(words, self._native.find(view, words)):
            if row is None:
                raise _unknown(word, view, self[view].spellings(word))
            rows.append(row)
        return self[view].vectors[rows]

    def _rows(self, words: Any, view: str) -> list[int | None]:
        return self._native.find(view, [words] if isinstance(words, str) else list(words))


def _reopened(path: str, mmap: bool) -> Space:
    """The space of a pickle."""
    if not os.path.isdir(path):
        problem = "the pickled space is gone, as a pickle holds the path of its folder only"
        raise FileNotFoundError(errno.ENOENT, problem, path)
    return Space.open(path, mmap)


def _unknown(word: str, view: str, near: Iterable[str]) -> KeyError:
    meant = ", ".join(repr(other) for other in near)
    return KeyError(f"{word!r} is not in the vocabulary of {view}" + (f"; did you mean {meant}?" if meant else ""))


def _is_words(queries: Any) -> bool:
    is_list = isinstance(queries, (list, tuple)) and len(queries) > 0
    return isinstance(queries, str) or (is_list and all(isinstance(word, str) for word in queries))


def _other(views: list[str], view: str | None, default: int) -> str:
    return views[default] if view is None else views[1 - views.index(view)]
