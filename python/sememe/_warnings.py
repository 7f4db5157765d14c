"""What should be known although nothing failed."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


class ReadWarning(UserWarning):
    """Something about a file, such as lines that could not be used."""


class FitWarning(UserWarning):
    """Something about a fit, such as too few pairs for the dimensions."""


class NotFittedError(ValueError, AttributeError):
    """An estimator was asked before it was fitted."""


def warn(messages: Iterable[str], category: type[Warning]) -> None:
    """Warns whoever called the function that calls this."""
    for message in messages:
        warnings.warn(message, category, stacklevel=3)
