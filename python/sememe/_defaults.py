"""Defaults of arguments, which are those of the engine."""

from __future__ import annotations

from typing import Any

from . import _sememe

#: By the names of arguments; those of adding a view begin with ``extend_``.
DEFAULTS: dict[str, Any] = _sememe.defaults()


def check_max_iter(max_iter: int) -> None:
    """Refuses a fit that computes nothing."""
    if max_iter < 1:
        raise ValueError(f"max_iter is {max_iter}: at least one likelihood must be computed")


def spelled(value: float | str | None) -> str:
    """A shrinkage or a number of steps as the engine spells it."""
    return "none" if value is None else str(value)


def extension(
    fitted: _sememe.Alignment, shrinkage: float | str | None, finish: int | str | None, max_iter: int, tol: float
) -> dict[str, Any]:
    """Options of adding a view to a fitted model, by their names in the engine."""
    check_max_iter(max_iter)
    given = {"max_iter": max_iter != DEFAULTS["extend_max_iter"], "tol": tol != DEFAULTS["extend_tol"]}
    for name, is_given in given.items():
        if is_given and fitted.log_likelihood is None:
            raise ValueError(f"{name} would not be used: a view is added to a space of {fitted.method} without iterations")
    return {
        "method": None,
        "shrinkage": spelled(shrinkage),
        "finish": spelled(finish),
        "iterations": max_iter,
        "tolerance": tol,
    }
