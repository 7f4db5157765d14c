"""The exact engine on arrays."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sememe

RNG = np.random.default_rng(0)
QUERIES = RNG.normal(size=(300, 24)).astype("f4")
TARGETS = RNG.normal(size=(2000, 24)).astype("f4")


def test_found_are_those_of_faiss():
    faiss = pytest.importorskip("faiss")
    for criterion, index in [("dot", faiss.IndexFlatIP(24)), ("l2", faiss.IndexFlatL2(24))]:
        index.add(TARGETS)
        scores, expected = index.search(QUERIES, 10)
        ids, ours = sememe.neighbors(QUERIES, TARGETS, 10, criterion)
        assert (ids == expected).mean() > 0.999 and ids.dtype == np.int64 and ours.dtype == np.float32
        assert_allclose(ours, -scores if criterion == "l2" else scores, rtol=1e-4, atol=1e-4)


def test_cosines_and_csls_are_those_of_numpy():
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (QUERIES, TARGETS)]
    cosines = unit[0].astype("f8") @ unit[1].astype("f8").T
    near = lambda scores: np.sort(scores, axis=1)[:, -10:].mean(axis=1)  # noqa: E731
    csls = 2 * cosines - near(cosines)[:, None] - near(cosines.T)[None, :]
    for criterion, scores in [("nn", cosines), ("csls", csls)]:
        ids, ours = sememe.neighbors(QUERIES, TARGETS, 3, criterion)
        assert (ids == np.argsort(-scores, axis=1, kind="stable")[:, :3]).all()
        assert_allclose(ours, np.take_along_axis(scores, ids, axis=1), atol=1e-5)


def test_other_kinds_of_numbers_are_rounded_first():
    expected = sememe.neighbors(QUERIES, TARGETS, 5)
    for given in (QUERIES.astype("f8"), np.asfortranarray(QUERIES), QUERIES.astype(">f4"), QUERIES.tolist()):
        found = sememe.neighbors(given, TARGETS, 5)
        assert (found[0] == expected[0]).all() and (found[1] == expected[1]).all()
    unaligned = np.frombuffer(b"x" + TARGETS.tobytes(), "u1")[1:].view("f4").reshape(TARGETS.shape)
    assert (sememe.neighbors(QUERIES, unaligned, 5)[0] == expected[0]).all()


def test_the_number_of_threads_changes_no_bit():
    expected = sememe.neighbors(QUERIES, TARGETS, 5, "csls")
    before = sememe.threads()
    sememe.set_threads(3)
    try:
        assert sememe.threads() == 3
        found = sememe.neighbors(QUERIES, TARGETS, 5, "csls")
    finally:
        sememe.set_threads(None)
    assert sememe.threads() == before
    assert (found[0] == expected[0]).all() and (found[1] == expected[1]).all()


def test_python_goes_on_meanwhile():
    queries = RNG.normal(size=(20_000, 64)).astype("f4")
    worker = threading.Thread(target=lambda: sememe.neighbors(queries, queries, 5))
    worker.start()
    steps = 0
    while worker.is_alive():
        worker.join(0.001)
        steps += 1
    assert steps > 10


def test_confidences_are_those_of_the_definition():
    calibration = {"temperature": 0.05, "slope": 1.4, "offset": 0.7, "rarity": -0.3, "usual": 5.0, "range": [1.0, 7.0]}
    _, scores = sememe.neighbors(QUERIES, TARGETS, 20)
    weights = np.exp(scores.astype("f8") / 0.05)
    odds = np.log(weights / (weights.sum(axis=1, keepdims=True) - weights))
    sure = sememe.confidence(scores, calibration)
    assert_allclose(sure, 1 / (1 + np.exp(-(0.7 + 1.4 * odds))), rtol=1e-6)
    rarer = sememe.confidence(scores, calibration, rows=np.full(len(scores), 100_000))
    assert_allclose(rarer, 1 / (1 + np.exp(-(0.7 - 0.3 * (7.0 - 5.0) + 1.4 * odds))), rtol=1e-6)
    nearer = sememe.confidence(scores, {**calibration, "level": 2.5})
    assert_allclose(nearer, 1 / (1 + np.exp(-(0.7 + 2.5 * scores[:, :1].astype("f8") + 1.4 * odds))), rtol=1e-6)
    scores[0, 7:] = np.nan
    assert np.isnan(sememe.confidence(scores, calibration)[0, 7:]).all()
    for wrong in ({"temperature": 0}, {"slope": np.nan}, {"range": None}):
        with pytest.raises(ValueError):
            sememe.confidence(scores, {**calibration, **wrong})
    with pytest.raises(ValueError, match="one for each query"):
        sememe.confidence(scores, calibration, rows=[1])


@pytest.mark.parametrize("criterion", ["nn", "csls", "isf", "corrected"])
def test_zero_rows_are_skipped_with_a_warning(criterion):
    rng = np.random.default_rng(0)
    queries, targets = rng.normal(size=(20, 4)).astype("f4"), rng.normal(size=(30, 4)).astype("f4")
    queries[3], targets[6] = 0, 0
    with pytest.warns(sememe.ZeroVectorWarning) as said:
        ids, scores = sememe.neighbors(queries, targets, 30, criterion)
    assert [str(w.message).split(" zero")[0] for w in said] == ["1 targets are", "1 queries are"]
    assert (ids[3] == -1).all() and np.isnan(scores[3]).all()
    others = np.arange(20) != 3
    assert (ids[others, -1] == -1).all() and (ids[others, :-1] >= 0).all() and not (ids == 6).any()
