"""How good a space is, measured on tasks with known answers; results are those of ``sememe evaluate``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from typing import Any, Union

from . import _sememe
from ._defaults import DEFAULTS
from ._progress import Progress, reporting
from .lexicon import LexiconLike, as_lexicons, read_lexicon

Path = Union[str, "PathLike[str]"]


class Evaluations:
    """The tasks."""

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
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Precision of word translation against right answers: ``precision[1]`` is the per cent of words of which the first
        candidate is right; also 5 and 10, the mean reciprocal rank, and 95 % intervals.

        ``gold`` is a file of pairs, source words first, or any dictionary that ``fit`` takes, such as what
        :func:`read_lexicon` returns. ``overlap`` tells how many of its pairs the model was fitted to, ``unseen`` how well it
        does on the others. Words that cannot be translated are no queries, or wrong with ``oov="wrong"``.
        """
        if isinstance(gold, (str, PathLike)):
            gold = read_lexicon(gold, (source, target))
        lexicons = as_lexicons(gold, [source, target])
        if len(lexicons) != 1:
            raise ValueError(f"{len(lexicons)} dictionaries of right answers were given; one is needed")
        right = lexicons[0].restricted([source, target])
        with reporting(progress, "comparing words") as report:
            found = _sememe.evaluate_translation(self._native, source, target, right, criterion, oov, seed, report)
        return _by_rank(json.loads(found))

    def evaluate_similarity(self, set: Path, view: str, other: str | None = None) -> dict[str, Any]:
        """How well cosines agree with how similar people find two words: Spearman's and Pearson's correlation.

        The file has two words and a score a line. The second words are of the view ``other``, if one is named.
        """
        return json.loads(_sememe.evaluate_similarity(self._native, view, view if other is None else other, set))

    def evaluate_analogy(self, questions: Path, view: str, *, progress: Progress = None) -> dict[str, Any]:
        """How well ``a : b = c : ?`` is answered, by sections of a file such as ``questions-words.txt``."""
        with reporting(progress, "answering questions") as report:
            return json.loads(_sememe.evaluate_analogy(self._native, view, questions, report))

    def evaluate_sts(
        self,
        sets: Path | Iterable[Path],
        view: str,
        *,
        weighting: str = "sif",
        a: float = DEFAULTS["sif_a"],
        frequencies: Path | None = None,
    ) -> dict[str, Any]:
        """How well cosines of sentences agree with how similar people find them (semantic textual similarity).

        Words are weighted by ``"sif"``, with how frequent they are by a file of ``word count`` or by their ranks, or ``"tfidf"``.
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
        queries: int = 2000,
        max_sentences: int = 200_000,
        among_all: bool = False,
        seed: int = 0,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Precision of finding the translations of sentences, between two files that are translations line by line.

        ``among_all`` lets criteria such as CSLS look for neighbours among all sentences instead of the queries.
        """
        with reporting(progress, "comparing sentences") as report:
            found = _sememe.evaluate_sentences(
                self._native, (source, target), files, criterion, queries, max_sentences, among_all, seed, report
            )
        return _by_rank(json.loads(found))


def _by_rank(result: Any) -> Any:
    """The same, with numbers as the keys of what was measured at several ranks."""
    if not isinstance(result, dict):
        return result
    return {int(key) if key.isdigit() else key: _by_rank(value) for key, value in result.items()}
