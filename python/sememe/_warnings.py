"""Warnings and exceptions."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class ReadWarning(UserWarning):
    """A warning about a file, such as skipped lines."""


class FitWarning(UserWarning):
    """A warning about a fit, such as too few pairs for the dimensions."""


class ChanceWarning(UserWarning):
    """A fit finds held-out pairs no better than at random: the pairs are probably wrong, and so are its results."""


class ZeroVectorWarning(UserWarning):
    """Zero vectors have no direction: criteria made of cosines skip them."""


class NotFittedError(ValueError, AttributeError):
    """An estimator was used before it was fitted."""


class NoBetterThanChanceError(RuntimeError):
    """The result of an unsupervised alignment is no better than those of random starts."""


def warn(messages: Iterable[str], category: type[Warning]) -> None:
    """Warns with the location of the caller of this package."""
    level = 2
    while sys._getframe(level - 1).f_globals.get("__name__", "").startswith(__package__ or "sememe"):
        level += 1
    for message in messages:
        warnings.warn(message, category, stacklevel=level)


# A warning is shown once a line by default. This one is shown for every fit, unless a filter says otherwise.
warnings.simplefilter("always", ChanceWarning, append=True)


def warn_of_fit(notes: Iterable[tuple[str, bool]]) -> None:
    """Warns of what a fit noted; the flags say that it is no better than chance."""
    for note, is_chance in notes:
        warn([note], ChanceWarning if is_chance else FitWarning)


def warn_of_zeros(count: int, what: str) -> None:
    """Warns of the number of zero vectors that are skipped, if there are any."""
    if count:
        warn([f"{count:,} {what} are zero vectors, which have no direction: they are skipped"], ZeroVectorWarning)
