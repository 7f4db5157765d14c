"""Moments add up, wherever they were summed."""

from __future__ import annotations

import multiprocessing
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sememe
from conftest import factors


def summed(batch: list[np.ndarray]) -> sememe.Moments:
    """What another process does."""
    return sememe.Moments().update(batch)


def batches(views, count: int = 10, seed: int = 0):
    order = np.random.default_rng(seed).permutation(len(views[0]))
    return [[view[rows] for view in views] for rows in np.array_split(order, count)]


def assert_same_model(found, expected):
    for name in ("means_", "projections_", "loadings_", "noise_"):
        for ours, theirs in zip(getattr(found, name), getattr(expected, name)):
            assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("start", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ten_shuffled_batches_through_processes_give_the_same_model(start):
    views = factors((12, 9), rows=2000, latent=6)
    # Threads of this process are at work before it forks.
    expected = sememe.IBFA(5, shrinkage="oas").fit(views)
    with multiprocessing.get_context(start).Pool(2) as pool:
        parts = pool.map(summed, batches(views))
    merged = sum(parts[1:], parts[0])
    assert merged.count == 2000
    assert_same_model(sememe.IBFA(5, shrinkage="oas").fit(merged), expected)
    assert_same_model(sememe.IBFA(5, shrinkage=0.2).fit(sum(parts)), sememe.IBFA(5, shrinkage=0.2).fit(views))
    assert sememe.Moments.merged(parts).to_bytes() == sememe.Moments.merged(parts[::-1]).to_bytes()


def test_updated_one_by_one_and_iterated_fits():
    views = factors((6, 5, 4), rows=1500)
    views[2][:500] = np.nan
    moments = sememe.Moments(["x", "y", "z"])
    for batch in batches(views):
        moments = pickle.loads(pickle.dumps(moments.update(batch)))
    model = sememe.MBFA(2, shrinkage=0.1).fit(moments)
    assert_same_model(model, sememe.MBFA(2, shrinkage=0.1).fit(dict(zip("xyz", views))))
    assert moments.views == ["x", "y", "z"] and moments.dims == [6, 5, 4]
    assert set(moments.patterns) == {("x", "y"), ("x", "y", "z")} and moments.patterns["x", "y"].n == 500


def test_a_batch_may_lack_a_view():
    X, Y, Z = factors((4, 3, 5), rows=300)
    moments = sememe.Moments(["z", "y", "x"], [5, 3, 4])
    moments.update([None, Y[:100], X[:100]]).update({"z": Z[100:], "x": X[100:]})
    assert moments.views == ["z", "y", "x"] and moments.count == 300
    assert set(moments.patterns) == {("y", "x"), ("z", "x")}
    model = sememe.MBFA(2, shrinkage=0.1).fit(moments)
    assert model.n_features_in_ == (5, 3, 4)


def test_patterns_are_those_of_numpy():
    X, Y = factors((4, 3))
    both = sememe.Moments().update([X, Y]).patterns["0", "1"]
    stacked = np.hstack([X, Y]).astype("f4").astype("f8")
    assert both.n == 400
    assert_allclose(both.mean, stacked.mean(axis=0), atol=1e-12)
    assert_allclose(both.scatter, np.cov(stacked.T, bias=True) * 400, atol=1e-9)


def test_what_cannot_be_summed_is_refused():
    X, Y = factors((4, 3))
    moments = sememe.Moments().update([X, Y])
    for wrong, said in [
        (lambda: sememe.Moments(normalize="center"), "learn from all vectors"),
        (lambda: sememe.Moments().update([X, None]), "dimension is not known"),
        (lambda: sememe.Moments().update([X, Y[:3]]), "must belong together"),
        (lambda: moments.update([Y, X]), "columns"),
        (lambda: moments + sememe.Moments(normalize="unit").update([X[1:], Y[1:]]), "must be as before"),
        (lambda: sememe.Moments().to_bytes(), "no rows yet"),
        (lambda: sememe.IBFA().fit(sememe.Moments()), "no rows yet"),
        (lambda: sememe.Moments.merged([]), "no moments"),
        (lambda: sememe.Moments.from_bytes(moments.to_bytes()[:-8]), "not a whole"),
        (lambda: sememe.IBFA().fit(moments, [("a", "b")]), "nothing to look up"),
    ]:
        with pytest.raises(ValueError, match=said):
            wrong()
    with pytest.raises(TypeError):
        moments + 3
    assert moments.count == 400  # As before.
    assert (moments + moments).count == 800  # Other rows may have equal vectors.
