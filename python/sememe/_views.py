"""Conversion of several views to what the engine takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from . import _sememe
from ._arrays import Rows, as_view, is_table
from ._defaults import DEFAULTS
from .embeddings import Embeddings

Names = Union[list[str], None]
Steps = Union[str, Sequence[str], None]
Views = Union[Sequence[Any], Mapping[str, Any]]


def as_steps(normalize: Steps, is_words: bool) -> list[str]:
    """Steps of preparation: ``"unit"``, ``"unit,center"``, ``["unit", "center"]``, None, or ``"auto"``."""
    if normalize == "auto":
        normalize = DEFAULTS["normalize"] if is_words else None
    if normalize is None or normalize == "none":
        return []
    steps = normalize.split(",") if isinstance(normalize, str) else normalize
    return [step.strip() for step in steps if step.strip()]


def is_array(view: Any) -> bool:
    """True for one array, of numpy or another package, or one table of numbers; false for lists and mappings of views."""
    return not isinstance(view, (Embeddings, Mapping)) and len(getattr(view, "shape", ())) == 2


def given_views(views: Any, lexicon: Any) -> tuple[Any, Any, bool]:
    """Views, a lexicon, and whether two arrays were given as X and y."""
    if is_array(views) and lexicon is not None:
        return [views, lexicon], None, True
    return views, lexicon, False


def named(views: Views, names: Names = None) -> list[tuple[str, Any]]:
    """Views with their names, in order; if the names are known from a model or moments, views that are not given are None."""
    if isinstance(views, Mapping):
        given = {str(name): view for name, view in views.items()}
        if names is None:
            return list(given.items())
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"there is no view named {unknown[0]!r}; there are {', '.join(names)}")
        return [(name, given.get(name)) for name in names]
    if is_array(views) or isinstance(views, Embeddings):
        raise TypeError("one array is one view: give several as a list [X, Y] or as a mapping {'x': X, 'y': Y}")
    if not isinstance(views, Iterable) or isinstance(views, (str, bytes)):
        raise TypeError(f"views must be a list or a mapping of arrays, not {type(views).__name__}")
    views = list(views)
    if names is not None and len(views) != len(names):
        raise ValueError(f"{len(views)} views were given, but there are {len(names)}: {', '.join(names)}")
    return list(zip(names or map(str, range(len(views))), views))


def row_views(views: Views, names: Names = None, dims: Sequence[int] | None = None) -> list[tuple[str, Rows]]:
    """Arrays whose rows belong together; None means a view without rows, if its dimension is known."""
    pairs = named(views, names)
    if len(pairs) < 2:
        raise ValueError(f"{len(pairs)} views were given; at least two are needed")
    rows: list[tuple[str, Rows]] = []
    for place, (name, view) in enumerate(pairs):
        what = f"view {name!r}"
        dim = None if dims is None else dims[place]
        if view is None:
            if dim is None:
                problem = "is None, and its dimension is not known; give an array, with NaN in rows that are missing"
                raise ValueError(f"{what} {problem}")
            rows.append((name, np.empty((0, dim), np.float32)))
            continue
        array = as_view(view, what)
        if dim not in (None, array.shape[1]):
            raise ValueError(f"{what} has {array.shape[1]} columns; it must have {dim}")
        if not len(array):
            raise ValueError(f"{what} has no rows")
        if array.size and np.isnan(array).all():
            raise ValueError(f"{what} is NaN everywhere")
        rows.append((name, array))
    return rows


def of_table(view: Any) -> Any:
    """The words and vectors of a table; anything else as it is."""
    return Embeddings.from_arrow(view) if is_table(view) else view


def as_embeddings(views: Views, lower: bool) -> list[tuple[str, _sememe.Embeddings]]:
    """Word vectors, under the casing of the model."""
    pairs = [(name, view if isinstance(view, Embeddings) else of_table(view)) for name, view in named(views)]
    for name, view in pairs:
        if not isinstance(view, Embeddings):
            kind = type(view).__name__
            raise TypeError(f"view {name!r} is {kind}; with a lexicon every view must be Embeddings, as load returns them, or a table")
    return [(name, (view.lower() if lower else view)._native) for name, view in pairs]
