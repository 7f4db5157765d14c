"""What should be known although nothing failed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class ReadWarning(UserWarning):
    """Something about a file, such as lines that could not be used."""


class FitWarning(UserWarning):
    """Something about a fit, such as too few pairs for the dimensions."""


class ZeroVectorWarning(UserWarning):
    """Rows that are zero have no direction: they are skipped where directions are compared."""


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked before it was fitted."""


class NoBetterThanChanceError(RuntimeError):
    """Views were aligned without any supervision, and what came out is no better than what random starts come to."""


def warn(messages: Iterable[str], category: type[Warning]) -> None:
    """Warns whoever called this package."""
    level = 2
    while sys._getframe(level - 1).f_globals.get("__name__", "").startswith(__package__ or "sememe"):
        level += 1
    for message in messages:
        warnings.warn(message, category, stacklevel=level)


def warn_of_zeros(count: int, what: str) -> None:
    """Says how many rows are skipped as they are zero, if there are any."""
    if count:
        warn([f"{count:,} {what} are zero vectors, which have no direction: they are skipped"], ZeroVectorWarning)
