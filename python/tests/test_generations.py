"""Several generations of embedding models in one latent space."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sememe

DIMS = {"v1": 24, "v2": 16, "v3": 20, "v4": 28}
TEXTS, ASKED = 2400, 300


def models() -> dict[str, np.ndarray]:
    """Vectors of the same texts by four models."""
    rng = np.random.default_rng(5)
    texts = rng.normal(size=(TEXTS, 12))
    noisy = lambda dim: texts @ rng.normal(size=(12, dim)) + 0.2 * rng.normal(size=(TEXTS, dim))
    return {name: noisy(dim).astype("float32") for name, dim in DIMS.items()}


MODELS = models()


def embedded(name: str, rows: slice, first: int, last: int) -> np.ndarray:
    """The vectors of a model for training texts that it has embedded, NaN for the others."""
    known = MODELS[name][rows].copy()
    known[:first] = np.nan
    known[last:] = np.nan
    return known


@pytest.fixture(scope="module")
def space() -> sememe.MBFA:
    """No text was embedded by both v1 and v3, and v4 has texts in common with v3 alone."""
    train = slice(ASKED, TEXTS)
    first = {"v1": embedded("v1", train, 0, 700), "v2": embedded("v2", train, 0, 1400), "v3": embedded("v3", train, 700, 1400)}
    fitted = sememe.MBFA(n_components=12).fit(first)
    late = slice(ASKED + 1400, TEXTS)
    return fitted.extend("v4", MODELS["v4"][late], views={"v3": MODELS["v3"][late]})


@pytest.mark.parametrize("query, index", list(itertools.permutations(DIMS, 2)))
def test_queries_of_any_generation_find_rows_of_any_other(space, query, index):
    unit = lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True)
    asked, rows = (unit(space.transform(MODELS[name][:ASKED], view=name)) for name in (query, index))
    recall = ((asked @ rows.T).argmax(1) == np.arange(ASKED)).mean()
    assert recall > 0.9, f"{index} ← {query}: {recall:.2f}"
