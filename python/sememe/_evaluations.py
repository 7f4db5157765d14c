"""Evaluations of a space. Results are those of ``sememe evaluate``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any, Union

from . import _sememe
from ._defaults import DEFAULTS
from ._progress import Progress, reporting
from ._warnings import warn_of_zeros
from .devices import on
from .lexicon import LexiconLike, as_lexicons, read_lexicon

Path = Union[str, "PathLike[str]"]


class Evaluations:
    """One method for each task."""

    _native: _sememe.Space

    def evaluate_translation(
        self,
        source: str,
        target: str,
        gold: LexiconLike,
        criterion: str = "auto",
        *,
        oov: str = "skip",
        seed: int = 0,
        device: str | None = None,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Precision of word translation against a gold dictionary: ``precision[1]`` is the per cent of words whose first
        candidate is right; also precision at 5 and 10, the mean reciprocal rank, and 95 % intervals.

        ``gold`` is a file of pairs, source words first, or any dictionary that ``fit`` takes, such as what
        :func:`read_lexicon` returns. ``overlap`` counts the gold pairs that the model was fitted to; ``unseen`` is the
        precision on the other words. Out-of-vocabulary words are skipped, or count as wrong with ``oov="wrong"``. ``device`` is
        where to search, as for :func:`set_device`.
        """
        if isinstance(gold, (str, PathLike)):
            gold = read_lexicon(gold, (source, target))
        lexicons = as_lexicons(gold, [source, target])
        if len(lexicons) != 1:
            raise ValueError(f"{len(lexicons)} dictionaries of right answers were given; one is needed")
        right = lexicons[0].restricted([source, target])
        with on(device), reporting(progress, "comparing words") as report:
            found = _sememe.evaluate_translation(self._native, source, target, right, criterion, oov, seed, report)
        result = json.loads(found)
        warn_of_zeros(result.get("zero_queries", 0), f"queries of {source}")
        warn_of_zeros(result.get("zero_targets", 0), f"words of {target}")
        return _by_rank(result)

    def evaluate_similarity(self, set: Path, view: str, other: str | None = None) -> dict[str, Any]:
        """Correlation (Spearman's and Pearson's) of cosines with human ratings of word similarity.

        Each line of the file has two words and a score. The second words are of the view ``other``, if it is given.
        """
        return json.loads(_sememe.evaluate_similarity(self._native, view, view if other is None else other, set))

    def evaluate_analogy(self, questions: Path, view: str, *, progress: Progress = None) -> dict[str, Any]:
        """Accuracy on analogies, ``a : b = c : ?``, for each section of a file such as ``questions-words.txt``."""
        with reporting(progress, "answering questions") as report:
            result = json.loads(_sememe.evaluate_analogy(self._native, view, questions, report))
        warn_of_zeros(result.get("zero_words", 0), f"words of {view}")
        return result

    def evaluate_sts(
        self,
        sets: Path | Iterable[Path],
        view: str,
        *,
        weighting: str = "sif",
        a: float = DEFAULTS["sif_a"],
        frequencies: Path | None = None,
    ) -> dict[str, Any]:
        """Correlation of cosines with human ratings of sentence similarity (semantic textual similarity).

        Words are weighted by ``"sif"`` (smooth inverse frequency; frequencies come from a file of ``word count`` lines, or from the
        ranks of the words) or by ``"tfidf"``.
        """
        files = [sets] if isinstance(sets, (str, PathLike)) else list(sets)
        return json.loads(_sememe.evaluate_sts(self._native, view, files, weighting, a, frequencies))

    def evaluate_sentences(
        self,
        source: str,
        target: str,
        files: tuple[Path, Path],
        criterion: str = "nn",
        *,
        queries: int = DEFAULTS["queries"],
        max_sentences: int = DEFAULTS["max_sentences"],
        among_all: bool = False,
        seed: int = 0,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Precision of sentence retrieval between two files whose lines are translations of each other.

        With ``among_all``, criteria such as CSLS search neighbours among all sentences instead of the queries.
        """
        with reporting(progress, "comparing sentences") as report:
            found = _sememe.evaluate_sentences(
                self._native, (source, target), files, criterion, queries, max_sentences, among_all, seed, report
            )
        return _by_rank(json.loads(found))


def _by_rank(result: Any) -> Any:
    """Converts the keys of results at several ranks to numbers."""
    if not isinstance(result, dict):
        return result
    return {int(key) if key.isdigit() else key: _by_rank(value) for key, value in result.items()}
