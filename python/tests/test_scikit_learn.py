"""Two arrays as X and y, as scikit-learn's pipelines and searches give them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sememe
from conftest import factors

ESTIMATORS = [sememe.IBFA, sememe.MBFA, sememe.CCA, sememe.Procrustes, sememe.RCSLS, sememe.LeastSquares]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_two_arrays_are_two_views(kind):
    X, Y = factors((4, 4))
    model, expected = kind().fit(X, Y), kind().fit([X, Y])
    assert model.views_ == expected.views_ == ["0", "1"]
    latent = expected.transform([X, Y])
    for found in (model, pickle.loads(pickle.dumps(model))):
        assert (found.transform(X) == latent[0]).all() and (found.transform(Y, 1) == latent[1]).all()
    assert (kind().fit_transform(X, Y) == latent[0]).all()
    assert model.score(X, Y) == expected.score(X, Y)
    # Which view an array is of would be a guess.
    with pytest.raises(TypeError, match="one array is one view"):
        expected.transform(X)
    with pytest.raises(TypeError, match="one array is one view"):
        kind().fit(X)


def test_tables_of_pandas_are_arrays():
    pandas = pytest.importorskip("pandas")
    X, Y = factors((4, 3))
    tables = [pandas.DataFrame(view) for view in (X, Y)]
    model = sememe.IBFA(2).fit(*tables)
    assert (model.transform(tables[0]) == sememe.IBFA(2).fit(X, Y).transform(X)).all()
    assert model.score(*tables) == model.score(X, Y)


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_the_score_is_the_mean_reciprocal_rank():
    X, Y = factors((6, 5), rows=300, noise=0.5)
    model = sememe.IBFA(3).fit(X, Y)
    a, b = (z / np.linalg.norm(z, axis=1, keepdims=True) for z in model.transform([X, Y]))
    cosines = a @ b.T
    ranks = (cosines >= np.diag(cosines)[:, None]).sum(axis=1)
    expected = np.where(ranks <= 100, 1 / ranks, 0)
    assert 0.1 < expected.mean() < 0.9 and (ranks > 100).any()
    assert_allclose(model.score(X, Y), expected.mean(), atol=1e-3)
    # Missing rows are left out.
    holed = Y.copy()
    holed[:100] = np.nan
    assert model.score(X, holed) == model.score(X[100:], Y[100:]) > model.score(X, Y)
    three = sememe.MBFA(2, shrinkage=0.3).fit(factors((6, 5, 4), rows=300))
    with pytest.raises(ValueError, match="of two views"):
        three.score(X, Y)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_pipelines(kind):
    X, Y = factors((4, 4))
    pipeline = make_pipeline(StandardScaler(), kind())
    latent = pipeline.fit(X, Y).transform(X)
    scaled = StandardScaler().fit_transform(X)
    assert (latent == kind().fit(scaled, Y).transform(scaled)).all()
    assert pipeline.score(X, Y) == kind().fit(scaled, Y).score(scaled, Y)
    # In the middle it is a transformer like any other.
    regression = make_pipeline(clone(pipeline), LinearRegression()).fit(X, Y)
    assert regression.predict(X).shape == Y.shape and regression.score(X, Y) > 0.5


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_searches_over_parameters():
    X, Y = factors((8, 7), rows=400, latent=4)
    pipeline = make_pipeline(StandardScaler(), sememe.IBFA(shrinkage=0.1))
    search = GridSearchCV(pipeline, {"ibfa__n_components": [1, 4], "ibfa__normalize": [None, "unit"]}, cv=3)
    search.fit(X, Y)
    assert search.best_params_["ibfa__n_components"] == 4
    assert search.best_score_ > 2 * search.cv_results_["mean_test_score"].min()
    assert search.score(X, Y) == search.best_estimator_.score(X, Y)
    assert search.transform(X).shape == (400, 4)
    assert cross_val_score(sememe.Procrustes(), X[:, :7], Y, cv=3).shape == (3,)
