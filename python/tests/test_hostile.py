"""Whatever is given: an exception that says what is wrong, and the interpreter lives on."""

from __future__ import annotations

import numpy as np
import pytest

import sememe
from conftest import factors

X, Y = (view.astype("f4") for view in factors((4, 3), rows=50))
NAN = np.full_like(X, np.nan)
MODEL = sememe.IBFA(2, shrinkage=0.1).fit([X, Y])
ESTIMATORS = [sememe.IBFA, sememe.MBFA, sememe.CCA, sememe.Procrustes, sememe.RCSLS, sememe.LeastSquares]
ONE_ROW = np.vstack([Y[:1], np.full_like(Y[1:], np.nan)])

HOSTILE = {
    "objects": X.astype(object),
    "strings": X.astype(str),
    "complex numbers": X.astype(complex),
    "dates": np.zeros((50, 4), "M8[s]"),
    "records": np.zeros(50, [("a", "f4")]),
    "one dimension": X[0],
    "three dimensions": X[None],
    "no dimension": np.float32(3),
    "no rows": X[:0],
    "no columns": X[:, :0],
    "NaN everywhere": NAN,
    "infinity": X * np.inf,
    "NaN beside numbers": np.where(np.eye(50, 4) > 0, np.nan, X),
    "too large for float32": X.astype("f8") * 1e300,
    "too many columns": np.zeros((2, 40_000), "f4"),
    "masked": np.ma.masked_array(X, X > 0),
    "ragged": [[1.0, 2.0], [3.0]],
    "nothing": None,
    "a word": "house",
    "a mapping": {"a": X},
    "an object": object(),
}


@pytest.mark.parametrize("given", HOSTILE.values(), ids=HOSTILE)
def test_arrays_of_every_bad_kind_are_refused(given):
    calls = [
        lambda: sememe.neighbors(given, X, 1),
        lambda: sememe.neighbors(X, given, 1),
        lambda: sememe.Embeddings(map(str, range(50)), given),
        lambda: sememe.Moments().update([given, Y]),
        lambda: MODEL.transform(given, view=0),
        lambda: MODEL.log_density(given, view=0),
        lambda: MODEL.pmi(given, Y),
        lambda: MODEL.map(0, 1)(given),
        lambda: MODEL.score(given, Y),
        *(lambda kind=kind: kind().fit(X, given) for kind in ESTIMATORS if given is not None),
        *(lambda kind=kind: kind().fit([given, Y]) for kind in ESTIMATORS),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_too_little_or_too_odd_data_to_fit(kind):
    for views in (
        [X[:1], Y[:1]],
        [X, ONE_ROW],
        [X, Y[:1]],
        [X],
        [],
        X,
        3,
        "views",
        [X, None],
        {"a": X, "b": object()},
    ):
        with pytest.raises((ValueError, TypeError)):
            kind().fit(views)


def test_parameters_out_of_range():
    for estimator in (
        sememe.IBFA(0), sememe.IBFA(9), sememe.IBFA(-1), sememe.IBFA(1.5), sememe.IBFA("many"),
        sememe.IBFA(shrinkage=3), sememe.IBFA(shrinkage=float("nan")), sememe.IBFA(shrinkage="some"),
        sememe.IBFA(normalize="square"), sememe.MBFA(tol=7), sememe.MBFA(max_iter=0), sememe.MBFA(solver="sgd"),
        sememe.MBFA(init="zero"), sememe.CCA(algorithm="x"), sememe.Procrustes(pivot=5), sememe.Procrustes(pivot="x"),
        sememe.LeastSquares(ridge=-1.0), sememe.LeastSquares(ridge=float("nan")),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            estimator.fit([X, Y])
    for kind in (sememe.IBFA, sememe.MBFA, sememe.CCA, sememe.LeastSquares):
        with pytest.raises(ValueError):
            kind().fit([np.zeros_like(X), np.zeros_like(Y)])
    with pytest.raises(ValueError, match="exactly two"):
        sememe.IBFA().fit([X, Y, Y])


def test_questions_that_make_no_sense():
    for call in (
        lambda: sememe.neighbors(X, Y, 1),
        lambda: sememe.neighbors(X, X, 0),
        lambda: sememe.neighbors(X, X, -1),
        lambda: sememe.neighbors(X, X, 51),
        lambda: sememe.neighbors(X, X, 1, "cosine"),
        lambda: sememe.neighbors(X, X, 1, "pmi"),
        lambda: sememe.neighbors(X, X, 1, "csls:k=0"),
        lambda: MODEL.transform(X, view="z"),
        lambda: MODEL.transform(X, view=2),
        lambda: MODEL.transform(X, view=-1),
        lambda: MODEL.transform(Y, view=0),
        lambda: MODEL.transform([X]),
        lambda: MODEL.fuse([None, None]),
        lambda: MODEL.fuse([NAN, None]),
        lambda: MODEL.score([X, Y[:3]]),
        lambda: MODEL.score(X, Y[:3]),
        lambda: MODEL.score(NAN, Y),
        lambda: sememe.Embeddings("ab", X[:2]).most_similar(),
        lambda: sememe.Embeddings("ab", X[:2]).most_similar("a", topn=0),
        lambda: sememe.Embeddings("ab", X[:2]).most_similar(X[0, :2]),
        lambda: MODEL.pmi(X, X, views=(0, 0)),
        lambda: MODEL.sample(0),
        lambda: MODEL.extend("z", Y),
        lambda: MODEL.extend("0", Y, views=[X, None]),
        lambda: sememe.set_threads(0),
        lambda: sememe.Embeddings(["a", "a"], X[:2]),
        lambda: sememe.Embeddings(["a", ""], X[:2]),
        lambda: sememe.Embeddings(["a", "b\nc"], X[:2]),
        lambda: sememe.Embeddings(["a", "\ud800"], X[:2]),
        lambda: sememe.Embeddings(["a"], X[:2]),
        lambda: sememe.load(__file__, format="pictures"),
    ):
        with pytest.raises(ValueError):
            call()


def test_files_that_are_not_there_or_not_what_they_should_be(tmp_path):
    (tmp_path / "empty.vec").write_bytes(b"")
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(FileNotFoundError, match="cannot read .*missing.vec") as caught:
        sememe.load(tmp_path / "missing.vec")
    assert caught.value.filename == str(tmp_path / "missing.vec")
    for call in (
        lambda: sememe.Space.open(tmp_path / "missing"),
        lambda: sememe.Moments.load(tmp_path / "missing"),
        lambda: sememe.IBFA.load(tmp_path / "missing"),
        lambda: sememe.read_lexicon(tmp_path / "missing"),
    ):
        with pytest.raises(FileNotFoundError):
            call()
    for call in (
        lambda: sememe.load(tmp_path / "empty.vec"),
        lambda: sememe.load(tmp_path / "noise.bin"),
        lambda: sememe.load(tmp_path),
        lambda: sememe.Space.open(tmp_path),
        lambda: sememe.Moments.load(tmp_path / "noise.bin"),
        lambda: MODEL.save(tmp_path),
    ):
        with pytest.raises(ValueError, match=str(tmp_path)):
            call()
    with pytest.raises(OSError):
        MODEL.save(tmp_path / "empty.vec" / "space")
    with pytest.raises(TypeError):
        sememe.load(5)
