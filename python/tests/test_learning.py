"""Little or no dictionary: pairs that are learned from the vectors."""

from __future__ import annotations

import os
import pickle
import signal
import threading

import numpy as np
import pytest

import sememe

SHARED, WORDS, PAIRS = 550, 600, 15


def meanings():
    """Two views of skewed factors, in different orders; and which row of the second belongs to each of the first."""
    rng = np.random.default_rng(0)
    hidden = rng.gamma(0.3, size=(2 * WORDS - SHARED, 24))
    rotations = [np.linalg.qr(rng.normal(size=(dim, dim)))[0] for dim in (30, 26)]
    X, Y = (hidden @ rotation[:24] + 0.1 * rng.normal(size=(len(hidden), len(rotation))) for rotation in rotations)
    order = rng.permutation(WORDS)
    gold = np.argsort(order)[:SHARED]
    second = np.concatenate([Y[:SHARED], Y[WORDS:]])[order]
    return X[:WORDS].astype("f4"), second.astype("f4"), gold


X, Y, GOLD = meanings()
FEW = list(zip(range(PAIRS), GOLD[:PAIRS]))


def precision(model) -> float:
    """How many rows find theirs, of those that no test gives."""
    found, _ = sememe.neighbors(model.transform(X[PAIRS:SHARED], 0), model.transform(Y, 1), 1, "csls")
    return (found[:, 0] == GOLD[PAIRS:]).mean()


@pytest.fixture(scope="module")
def alone() -> sememe.IBFA:
    """Learned from nothing but vectors."""
    return sememe.IBFA(normalize="unit").fit([X, Y], unsupervised=True)


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_learning_finds_much_more_than_few_pairs_do():
    plain = sememe.IBFA(normalize="unit").fit([X, Y], FEW)
    assert plain.n_tuples_ == PAIRS and plain.learning_ is None
    model = sememe.IBFA(normalize="unit").fit([X, Y], np.array(FEW), refine=True)
    assert precision(model) > 0.8 and precision(model) > precision(plain) + 0.2
    report = model.learning_
    assert 450 < report["induced"] <= WORDS
    assert report["chances"] == [] and len(report["rounds"]) > 3
    first, last = report["rounds"][0], report["rounds"][-1]
    assert first["words"] == WORDS and first["pairs"] < last["pairs"] and first["objective"] < last["objective"]
    again = pickle.loads(pickle.dumps(model))
    assert again.learning_ == report and (again.transform(X, 0) == model.transform(X, 0)).all()
    assert model.fit([X[:50], Y[:50]]).learning_ is None


def test_nothing_is_needed_but_vectors(alone):
    assert precision(alone) > 0.8
    (chance,) = alone.learning_["chances"]
    assert chance["objective"] > chance["random"] + 6 * chance["deviation"]
    assert alone.learning_["doubtful"] == []


def test_the_same_seed_gives_the_same_bits(alone):
    again = sememe.IBFA(normalize="unit").fit([X, Y], unsupervised=True, random_state=0)
    for ours, theirs in zip(again.projections_, alone.projections_):
        assert (ours == theirs).all()
    assert again.learning_ == alone.learning_
    other = sememe.IBFA(normalize="unit").fit([X, Y], unsupervised=True, random_state=1)
    assert other.learning_["chances"] != alone.learning_["chances"] and precision(other) > 0.8


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_other_methods_and_more_views_learn_too():
    turned = sememe.Procrustes().fit([X, Y], FEW, refine=True)
    assert precision(turned) > 0.8
    Z = np.ascontiguousarray(Y[::-1])
    pairs = [(a, b, None) for a, b in FEW] + [(a, None, WORDS - 1 - b) for a, b in FEW]
    three = sememe.MBFA(20, max_iter=10).fit([X, Y, Z], pairs, refine=True)
    assert precision(three) > 0.8 and three.learning_["induced"] > 3 * 450


def test_wrong_entries_are_named():
    wrong = [(row, int(GOLD[row + 300])) for row in range(100, 105)]
    right = [(row, int(GOLD[row])) for row in range(200, 300)]
    kept = sememe.IBFA(normalize="unit").fit([X, Y], right + wrong, refine=True)
    doubtful = kept.learning_["doubtful"]
    assert {tuple(entry["words"]) for entry in doubtful} == set(wrong)
    assert doubtful[0]["views"] == [0, 1] and doubtful[0]["score"] <= doubtful[-1]["score"]
    doubted = sememe.IBFA(normalize="unit").fit([X, Y], right + wrong, refine=True, trust="doubt")
    assert precision(doubted) > 0.8 and doubted.learning_ != kept.learning_

    words = {"en": sememe.Embeddings([f"en{i}" for i in range(WORDS)], X)}
    words["fr"] = sememe.Embeddings([f"fr{i}" for i in range(WORDS)], Y)
    lexicon = [(f"en{a}", f"fr{b}") for a, b in right + wrong]
    named = sememe.IBFA(normalize="unit").fit(words, lexicon, refine=True)
    a, b = doubtful[0]["words"]
    assert named.learning_["doubtful"][0] == {**doubtful[0], "words": [f"en{a}", f"fr{b}"]}
    assert (named.projections_[0] == kept.projections_[0]).all()


def test_unrelated_vectors_are_no_result():
    rng = np.random.default_rng(0)
    one, other = (rng.normal(size=(600, 20)) for _ in range(2))
    model = sememe.IBFA(normalize="unit")
    with pytest.raises(sememe.NoBetterThanChanceError, match="no better than chance"):
        model.fit([one, other], unsupervised=True)
    assert not model.__sklearn_is_fitted__()


def test_what_cannot_be_learned_from():
    with pytest.raises(ValueError, match="50 words"):
        sememe.IBFA(normalize="unit").fit([X[:50], Y[:50]], unsupervised=True)
    with pytest.raises(ValueError, match="50 words"):
        sememe.IBFA(normalize="unit").fit([X[:50], Y], [(0, 1)], refine=True)
    with pytest.raises(ValueError, match="none of the given pairs"):
        sememe.IBFA(normalize="unit").fit([X, Y], [], refine=True)
    words = [sememe.Embeddings([f"{view}{i}" for i in range(WORDS)], rows) for view, rows in (("a", X), ("b", Y))]
    with pytest.raises(ValueError, match="share no strings; give a dictionary"):
        sememe.IBFA(normalize="unit").fit(words, identical="strings", refine=True)


def test_arguments_that_make_no_sense():
    fit = sememe.IBFA(normalize="unit").fit
    moments = sememe.Moments().update([X, Y])
    holed = X.copy()
    holed[3] = np.nan
    for call in (
        lambda: fit([X, Y], refine=True),
        lambda: fit([X, Y], FEW, unsupervised=True),
        lambda: fit([X, Y], FEW, refine=True, unsupervised=True),
        lambda: fit([X, Y], FEW, trust="keep"),
        lambda: fit([X, Y], FEW, refine=True, trust="some"),
        lambda: fit(moments, unsupervised=True),
        lambda: fit([X, Y], [(0, WORDS)]),
        lambda: fit([X, Y], [(0, -1)]),
        lambda: fit([X, Y], [(0, None)]),
        lambda: fit([X, Y], [(0, 1, 2)]),
        lambda: fit([X, Y], [0, 1]),
        lambda: fit([X], unsupervised=True),
        lambda: fit([holed, Y], unsupervised=True),
        lambda: fit([holed, Y], FEW),
    ):
        with pytest.raises(ValueError):
            call()
    for wrong in ("pairs.txt", [("a", "b")], [(0.5, 1)], {("0", "1"): FEW}, 3.5):
        with pytest.raises(TypeError, match="row numbers"):
            fit([X, Y], wrong)


def test_rounds_are_told_and_ctrl_c_ends_them(demo):
    told = []
    sememe.IBFA(normalize="unit").fit([X, Y], FEW, refine=True, progress=lambda *state: told.append(state))
    assert sum(total == 0 for _, total in told) > 3
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    model = sememe.IBFA(normalize="unit")
    with pytest.raises(KeyboardInterrupt):
        model.fit({name: demo[name] for name in ("en", "ru")}, unsupervised=True)
    assert not model.__sklearn_is_fitted__()
