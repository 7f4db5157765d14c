"""Dictionaries: which words mean the same, in all accepted forms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from . import _sememe
from ._warnings import ReadWarning, warn

#: A dictionary:
#:
#: - what :func:`read_lexicon` returns;
#: - a file of tuples: tab-separated, with a header of view names; an empty cell is a hole; or what ``Space.induce`` wrote;
#:   or, where there are just two views, of pairs; text, Parquet or Arrow;
#: - a mapping from two views to their pairs: ``{("en", "fr"): "en-fr.txt"}``, or ``{("en", "fr"): [("house", "maison")]}``;
#: - a list of tuples, with a word or None for each view in the order of the views;
#: - a table of pandas, polars or Arrow whose columns are named after views;
#: - a list of files, mappings and tables;
#: - or, where views are arrays, a list or an array of tuples of row numbers.
LexiconLike = Union[
    _sememe.Lexicon,
    str,
    "PathLike[str]",
    Mapping[tuple[str, str], Any],
    Iterable[Sequence[Union[str, None]]],
    Sequence[Any],
    NDArray[np.integer[Any]],
]


def read_lexicon(
    path: str | PathLike[str], pair: tuple[str, str] | None = None, *, strict: bool = False
) -> _sememe.Lexicon:
    """Reads a dictionary: the pairs of two views, or by default tab-separated tuples with a header of view names.

    >>> import pathlib, sememe, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "en-fr.txt"
    >>> _ = path.write_text("house maison\\ndog chien\\n")
    >>> sememe.read_lexicon(path, ("en", "fr")).entries()
    [['house', 'maison'], ['dog', 'chien']]
    """
    if pair is None:
        return _noted(path, _sememe.Lexicon.read_tuples(path, None, strict))
    return _noted(path, _sememe.Lexicon.read_pairs(path, *pair, strict))


def as_lexicons(lexicon: LexiconLike | None, views: Sequence[str], strict: bool = False) -> list[_sememe.Lexicon]:
    """All dictionaries, over some of the views."""
    if lexicon is None:
        return []
    if _is_one(lexicon):
        return _one(lexicon, views, strict)
    if not isinstance(lexicon, Iterable):
        raise TypeError(f"{type(lexicon).__name__} is no lexicon: give files, pairs of words, or a table")
    items = list(lexicon)
    if items and all(_is_one(item) for item in items):
        return [one for item in items for one in _one(item, views, strict)]
    return [_sememe.Lexicon(list(views), _entries(items))]


def as_row_numbers(lexicon: Any) -> list[list[int | None]]:
    """Tuples of rows that belong together, where views are arrays."""
    if lexicon is None:
        return []
    is_list = isinstance(lexicon, Iterable) and not isinstance(lexicon, (str, Mapping)) and _columns(lexicon) is None
    entries = [list(entry) if isinstance(entry, Iterable) else [entry] for entry in lexicon] if is_list else [[lexicon]]
    for entry in entries:
        if not all(row is None or isinstance(row, (int, np.integer)) for row in entry):
            raise TypeError(f"{entry!r} are no row numbers, which arrays need; with words every view must be Embeddings")
    return entries


def is_row_numbers(lexicon: Any) -> bool:
    """True for an array or a list of tuples of row numbers, false for words, files and tables."""
    if _is_one(lexicon) or not isinstance(lexicon, Iterable):
        return False
    first = next((row for entry in lexicon if isinstance(entry, Iterable) for row in entry if row is not None), None)
    return isinstance(first, (int, np.integer))


def _is_one(lexicon: Any) -> bool:
    return isinstance(lexicon, (str, PathLike, Mapping, _sememe.Lexicon)) or _columns(lexicon) is not None


def _one(lexicon: Any, views: Sequence[str], strict: bool) -> list[_sememe.Lexicon]:
    if isinstance(lexicon, _sememe.Lexicon):
        return [lexicon.restricted([view for view in lexicon.views if view in views])]
    if isinstance(lexicon, (str, PathLike)):
        return [_noted(lexicon, _sememe.Lexicon.read(lexicon, list(views), strict))]
    if isinstance(lexicon, Mapping):
        return [_pairs(key, pairs, strict) for key, pairs in lexicon.items()]
    return [_of_table(lexicon, views)]


def _pairs(key: Any, pairs: Any, strict: bool) -> _sememe.Lexicon:
    if not (isinstance(key, tuple) and len(key) == 2):
        raise TypeError(f"{key!r} names no two views: use a tuple such as ('en', 'fr')")
    if isinstance(pairs, (str, PathLike)):
        return _noted(pairs, _sememe.Lexicon.read_pairs(pairs, *key, strict))
    pairs = pairs.items() if isinstance(pairs, Mapping) else pairs
    return _sememe.Lexicon(list(key), _entries(pairs))


def _entries(entries: Iterable[Any]) -> list[list[str | None]]:
    rows = []
    for entry in entries:
        row = None if isinstance(entry, str) or not isinstance(entry, Iterable) else list(entry)
        if row is None or not all(isinstance(word, (str, type(None))) for word in row):
            raise TypeError(f"{entry!r} is no entry of a lexicon: give a tuple of words, with None where one is missing")
        rows.append(row)
    return rows


def _of_table(table: Any, views: Sequence[str]) -> _sememe.Lexicon:
    columns = [name for name in _columns(table) or [] if name in views]
    if len(columns) < 2:
        raise ValueError(f"a table of words needs columns for two of the views {', '.join(views)}; it has {columns}")
    words = [list(table[name].to_pylist() if hasattr(table[name], "to_pylist") else table[name]) for name in columns]
    # A value that is not a string is a hole: pandas has NaN there.
    return _sememe.Lexicon(columns, [[w if isinstance(w, str) else None for w in row] for row in zip(*words)])


def _columns(table: Any) -> list[str] | None:
    names = getattr(table, "column_names", None)
    names = getattr(table, "columns", None) if names is None else names
    return None if names is None else list(names)


def _noted(path: Any, read: tuple[_sememe.Lexicon, list[str]]) -> _sememe.Lexicon:
    lexicon, notes = read
    warn((f"{path}: {note}" for note in notes), ReadWarning)
    return lexicon
