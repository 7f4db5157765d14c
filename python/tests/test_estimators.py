"""Models: what they compute, against other software, and how they behave."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import orthogonal_procrustes
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.cross_decomposition import CCA as SklearnCCA
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

import sememe
from conftest import factors
from sememe import _sememe

ESTIMATORS = [sememe.IBFA, sememe.MBFA, sememe.CCA, sememe.Procrustes, sememe.LeastSquares]
PLAIN = {"shrinkage": None, "normalize": None}


def covariance(model: sememe.IBFA) -> np.ndarray:
    """The stacked covariance, which the engine never forms."""
    w = np.vstack(model.loadings_)
    full = w @ w.T
    at = 0
    for psi in model.noise_:
        full[at : at + len(psi), at : at + len(psi)] += psi
        at += len(psi)
    return full


@pytest.mark.parametrize("kind", [sememe.IBFA, sememe.MBFA])
def test_densities_are_those_of_scipy(kind):
    X, Y = (view.astype("f4") for view in factors((4, 3)))
    model = kind(2, **PLAIN).fit([X, Y])
    sigma, mu = covariance(model), np.concatenate(model.means_)
    joint = multivariate_normal(mu, sigma).logpdf(np.hstack([X, Y]))
    of_x = multivariate_normal(mu[:4], sigma[:4, :4]).logpdf(X)
    of_y = multivariate_normal(mu[4:], sigma[4:, 4:]).logpdf(Y)
    assert_allclose(model.log_density([X, Y]), joint, rtol=1e-9)
    assert_allclose(model.log_density([None, Y]), of_y, rtol=1e-9)
    assert_allclose(model.log_density(X, view=0), of_x, rtol=1e-9)
    assert_allclose(model.pmi(X, Y), joint - of_x - of_y, rtol=1e-7, atol=1e-9)
    assert_allclose(model.pmi(Y, X, views=(1, 0)), model.pmi(X, Y), atol=1e-9)
    assert_allclose(model.score([X, Y]), joint.mean(), rtol=1e-9)
    assert_allclose(model.log_likelihood_ / model.n_tuples_, joint.mean(), rtol=1e-6)

    conditional = model.map(0, 1)
    regression = sigma[4:, :4] @ np.linalg.inv(sigma[:4, :4])
    assert_allclose(conditional.matrix, regression, atol=1e-8)
    assert_allclose(conditional(X), mu[4:] + (X - mu[:4]) @ regression.T, atol=1e-5)
    assert_allclose(conditional.covariance, sigma[4:, 4:] - regression @ sigma[:4, 4:], atol=1e-8)

    w = np.vstack(model.loadings_)
    posterior = (np.hstack([X, Y]) - mu) @ np.linalg.solve(sigma, w)
    assert_allclose(model.fuse([X, Y]), posterior, atol=1e-5)
    assert_allclose(model.fuse([X, None]), model.transform(X, view=0), atol=1e-5)


def test_samples_are_of_the_model():
    model = sememe.IBFA(2, **PLAIN).fit(factors((4, 3)))
    drawn = np.hstack(model.sample(40_000, random_state=1))
    assert_allclose(np.cov(drawn.T), covariance(model), atol=0.15)
    assert (model.sample(5, random_state=2)[0] == model.sample(5, random_state=2)[0]).all()


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_holes_are_nan_or_none_and_move_nothing_else():
    X, Y, Z = factors((4, 3, 5))
    holed = [X.copy(), Y.copy(), Z.copy()]
    holed[2][:150] = np.nan
    holed[0][350:] = np.nan
    model = sememe.MBFA(3, **PLAIN).fit(holed)
    as_lists = [view if i != 2 else [None] * 150 + list(view[150:]) for i, view in enumerate(holed)]
    assert_allclose(sememe.MBFA(3, **PLAIN).fit(as_lists).log_likelihood_, model.log_likelihood_, rtol=1e-12)
    assert model.n_tuples_ == 400 and model.views_ == ["0", "1", "2"] and model.n_features_in_ == (4, 3, 5)
    latent = model.transform(holed)
    assert np.isnan(latent[2][:150]).all() and np.isfinite(latent[2][150:]).all()
    assert_allclose(model.fuse(holed)[200], model.fuse([X[200:201], Y[200:201], Z[200:201]])[0], atol=1e-6)
    assert_allclose(model.log_density(holed)[0], model.log_density([X[:1], Y[:1], None])[0], rtol=1e-9)
    # What a view that is missing would have been.
    expected = model.map("0", "2")(X[:150])
    assert np.corrcoef(expected.ravel(), Z[:150].ravel())[0, 1] > 0.9


def test_cca_is_that_of_scikit_learn():
    X, Y = factors((5, 4), latent=4)
    theirs = SklearnCCA(n_components=3, scale=False, max_iter=5000, tol=1e-12).fit(X, Y).transform(X, Y)
    expected = [np.corrcoef(theirs[0][:, i], theirs[1][:, i])[0, 1] for i in range(3)]
    for algorithm in ("exact", "nipals"):
        model = sememe.CCA(3, algorithm=algorithm, **PLAIN).fit([X, Y])
        ours = model.transform([X, Y])
        found = [np.corrcoef(ours[0][:, i], ours[1][:, i])[0, 1] for i in range(3)]
        assert_allclose(found, expected, atol=1e-4)
        for i in range(3):
            assert abs(np.corrcoef(ours[0][:, i], theirs[0][:, i])[0, 1]) > 0.99


def test_direct_methods_are_those_of_numpy():
    X, Y = factors((4, 4))
    turned = sememe.Procrustes().fit([X, Y])
    rotation, _ = orthogonal_procrustes(X, Y)
    assert_allclose(turned.projections_[0], rotation.T, atol=1e-5)
    assert_allclose(turned.map(1, 0)(turned.map(0, 1)(X)), X, atol=1e-4)
    squares = sememe.LeastSquares().fit([X, Y])
    assert_allclose(squares.projections_[0].T, np.linalg.lstsq(X, Y, rcond=None)[0], atol=1e-5)
    assert_allclose(squares.map(0, 1)(X), squares.transform(X, view=0), atol=1e-5)
    assert_allclose(squares.fuse([X, None]), squares.transform(X, view=0), atol=1e-5)
    for wrong in (lambda: squares.score([X, Y]), lambda: squares.log_density(X, 0), lambda: squares.sample(2)):
        with pytest.raises(ValueError, match="has no density"):
            wrong()
    with pytest.raises(AttributeError, match="has no density"):
        turned.loadings_  # noqa: B018
    assert sememe.Procrustes(pivot=0).fit([X, Y]).projections_[0].shape == (4, 4)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_kinds_and_orders_of_numbers_make_no_difference(dtype, order):
    X, Y = (view.astype("f4") for view in factors((4, 3)))
    expected = sememe.IBFA(2).fit([X, Y]).transform(X, 0)
    as_given = [np.asarray(view, dtype=dtype, order=order) for view in (X, Y)]
    assert (sememe.IBFA(2).fit(as_given).transform(as_given[0], 0) == expected).all()
    wide = np.hstack([X, X])
    assert (sememe.IBFA(2).fit([wide[:, :4], Y]).transform(wide[:, 4:], 0) == expected).all()


def test_queries_for_an_index_of_vectors_as_they_are():
    X, Y = factors((6, 4), rows=300)
    model = sememe.IBFA(3, normalize="unit").fit({"new": X, "old": Y})
    unit = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    latent, _ = sememe.neighbors(model.transform(X, "new"), model.transform(Y, "old"), 10, "dot")
    kept, _ = sememe.neighbors(model.queries(X, "new", "old"), unit, 10, "dot")
    assert (latent == kept).mean() > 0.99


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_extended_by_rows_and_by_words():
    X, Y, Z = factors((4, 3, 5))
    model = sememe.IBFA(3, **PLAIN).fit({"x": X, "y": Y})
    before = model.transform(X, "x")
    assert model.extend("z", Z[:300], views={"x": X[:300]}, shrinkage=None) is model
    assert model.views_ == ["x", "y", "z"] and (model.transform(X, "x") == before).all()
    found, _ = sememe.neighbors(model.transform(Z[300:], "z"), model.transform(X[300:], "x"), 5, "l2")
    assert (found == np.arange(100)[:, None]).any(axis=1).mean() > 0.3  # By chance it would be 0.05.

    names = [[f"{view}{i}" for i in range(400)] for view in "xyz"]
    words = [sememe.Embeddings(*pair) for pair in zip(names, (X, Y, Z))]
    by_words = sememe.IBFA(3, **PLAIN).fit(dict(zip("xy", words)), list(zip(*names[:2])))
    by_words.extend("z", words[2], {("x", "z"): list(zip(names[0][:300], names[2]))}, shrinkage=None)
    assert_allclose(by_words.transform(Z, "z"), model.transform(Z, "z"), atol=1e-4)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_saved_loaded_pickled_and_cloned(kind, tmp_path):
    X, Y = factors((4, 4))
    model = kind().fit({"x": X, "y": Y})
    model.save(tmp_path / "space")
    recorded = {**model.get_params(), "normalize": None}  # What "auto" was for arrays.
    for again, parameters in (
        (kind.load(tmp_path / "space"), recorded),
        (pickle.loads(pickle.dumps(model)), model.get_params()),
    ):
        assert again.views_ == ["x", "y"] and again.get_params() == parameters
        assert (again.transform(Y, "y") == model.transform(Y, "y")).all()
    other = sememe.CCA if kind is not sememe.CCA else sememe.IBFA
    with pytest.raises(ValueError, match=kind.__name__):
        other.load(tmp_path / "space")
    again = clone(model.set_params(normalize="unit,center"))
    assert again.get_params() == model.get_params() and not again.__sklearn_is_fitted__()
    assert repr(again) == f"{kind.__name__}(normalize='unit,center')"
    assert again.fit([X, Y]) is again


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_manners_of_scikit_learn(kind):
    name = kind.__name__
    estimator_checks.check_no_attributes_set_in_init(name, kind())
    estimator_checks.check_get_params_invariance(name, kind())
    estimator_checks.check_set_params(name, kind())
    estimator_checks.check_parameters_default_constructible(name, kind())
    estimator_checks.check_estimator_tags_renamed(name, kind())
    with pytest.raises(ValueError, match="not fitted"):
        kind().transform(np.ones((2, 2)), 0)
    assert not hasattr(kind(), "n_features_in_")
    with pytest.raises(ValueError, match="no parameter 'wrong'"):
        kind().set_params(wrong=1)
    X, Y = factors((4, 4))
    model = kind()
    latent = model.fit_transform([X, Y])
    check_is_fitted(model)
    assert [z.dtype for z in latent] == [np.float32] * 2 and model.n_features_in_ == (4, 4)
    assert model.__sklearn_tags__().input_tags.allow_nan


def test_what_should_be_known_is_a_warning_at_the_caller():
    X, Y = factors((8, 6), rows=7)
    with pytest.warns(sememe.FitWarning, match="only 7 pairs") as caught:
        sememe.IBFA().fit([X, Y])
    assert {warning.filename for warning in caught} == {__file__}


def test_a_fit_no_better_than_chance_is_a_warning_of_its_own():
    X, Y = factors((4, 3))
    shuffled = np.random.default_rng(0).permutation(Y)
    for _ in range(2):  # The filters of Python show other warnings once.
        with pytest.warns(sememe.ChanceWarning, match="^NO BETTER THAN CHANCE") as caught:
            sememe.IBFA(2).fit([X, shuffled])
        assert {warning.filename for warning in caught} == {__file__}
    assert not issubclass(sememe.ChanceWarning, sememe.FitWarning)  # Who silences these does not silence it.
    names = [[f"{view}{i}" for i in range(400)] for view in "xy"]
    words = {view: sememe.Embeddings(*pair) for view, *pair in zip("xy", names, (X, shuffled))}
    with pytest.warns(sememe.ChanceWarning, match="'x' and 'y'|\"x\" and \"y\""):
        sememe.IBFA(2).fit(words, list(zip(*names)))
    model = sememe.IBFA(2).fit({"x": X, "y": Y})  # A warning is an error here.
    with pytest.warns(sememe.ChanceWarning, match='"x" and "shuffled"'):
        model.extend("shuffled", shuffled, views={"x": X})
    model.extend("again", Y, views={"x": X})


def test_a_warning_of_chance_is_shown_for_every_fit():
    script = """if True:
        import numpy as np, sememe
        rng = np.random.default_rng(0)
        for _ in range(2):
            sememe.IBFA(2).fit(np.sin(np.arange(1600.0)).reshape(400, 4), rng.normal(size=(400, 3)))
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.count("ChanceWarning: NO BETTER THAN CHANCE") == 2


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_arrays_are_taken_as_they_are_and_words_at_unit_length(kind):
    X, Y = (view * np.linspace(0.5, 2, 400)[:, None] for view in factors((4, 4)))
    names = [[f"{view}{i}" for i in range(400)] for view in "xy"]
    words = {view: sememe.Embeddings(*pair) for view, *pair in zip("xy", names, (X, Y))}
    for steps in (None, "unit"):
        by_rows = kind(normalize=steps).fit({"x": X, "y": Y}).transform(X, "x")
        assert (by_rows == kind().fit({"x": X, "y": Y}).transform(X, "x")).all() == (steps is None)
        by_words = kind(normalize=steps).fit(words, list(zip(*names))).transform(X, "x")
        assert (by_words == kind().fit(words, list(zip(*names))).transform(X, "x")).all() == (steps == "unit")
    batched, prepared = sememe.Moments().update([X, Y]), sememe.Moments(normalize=None).update([X, Y])
    assert batched.to_bytes() == prepared.to_bytes()


def test_errors_name_the_parameters_of_python(tmp_path):
    X, Y = factors((4, 3))
    (tmp_path / "pairs.txt").write_text("house maison\ndog chien\n", encoding="utf-8")
    for wrong, said in [
        (lambda: sememe.IBFA(9).fit([X, Y]), "^n_components is 9: .*from 1 to 3"),
        (lambda: sememe.MBFA(0).fit([X, Y]), "^n_components is 0"),
        (lambda: sememe.IBFA("many").fit([X, Y]), "^n_components is 'many': .*'auto', or None"),
        (lambda: sememe.IBFA(1.5).fit([X, Y]), "^n_components is 1.5"),
        (lambda: sememe.CCA("auto", algorithm="nipals").fit([X, Y]), "^n_components is 'auto': .*algorithm='exact'"),
        (lambda: sememe.IBFA(-1).fit([X, Y]), "^n_components is -1: .*'auto', or None"),
        (lambda: sememe.IBFA(exponent="half").fit([X, Y]), "^exponent is 'half': it must be a number, 'auto'"),
        (lambda: sememe.MBFA(tol="little").fit([X, Y]), "^tol is 'little': it must be a number"),
        (lambda: sememe.IBFA(normalize="square").fit([X, Y]), "^normalize is square"),
        (lambda: sememe.MBFA(monolingual=-1.0).fit([X, Y]), "^monolingual is -1"),
        (lambda: sememe.MBFA(max_iter=0).fit([X, Y]), "^max_iter is 0"),
        (lambda: sememe.IBFA().fit([X, Y]).extend("z", X, views=[X, None], max_iter=0), "^max_iter is 0"),
        (lambda: sememe.Procrustes().fit([X, Y]).extend("z", X, views=[X, None], max_iter=9), "^max_iter would not be used"),
        (lambda: sememe.load(__file__, max_words=0), "^max_words is 0"),
        (lambda: sememe.read_lexicon(tmp_path / "pairs.txt"), r"\({\('A', 'B'\): FILE}\)"),
    ]:
        with pytest.raises(ValueError, match=said):
            wrong()


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_lexicons_in_every_form(demo, tmp_path):
    pandas = pytest.importorskip("pandas")
    pair = {name: demo[name] for name in ("en", "fr")}
    pairs = [("house", "maison"), ("dog", "chien"), ("water", "eau"), ("king", "roi"), ("year", "année")] * 2
    (tmp_path / "pairs.txt").write_text("\n".join(" ".join(pair) for pair in pairs), encoding="utf-8")
    (tmp_path / "tuples.tsv").write_text("fr\ten\n" + "\n".join(f"{b}\t{a}" for a, b in pairs), encoding="utf-8")
    forms = [
        pairs,
        {("en", "fr"): pairs},
        {("en", "fr"): dict(pairs)},
        {("fr", "en"): [(b, a) for a, b in pairs]},
        {("en", "fr"): tmp_path / "pairs.txt"},
        str(tmp_path / "tuples.tsv"),
        [tmp_path / "tuples.tsv", {("en", "fr"): pairs[:2]}],
        pandas.DataFrame(pairs, columns=["en", "fr"]),
        sememe.read_lexicon(tmp_path / "tuples.tsv"),
        sememe.read_lexicon(tmp_path / "pairs.txt", ("en", "fr")),
    ]
    for form in forms:
        assert sememe.Procrustes().fit(pair, form).n_tuples_ == 5
    assert sememe.Procrustes().fit(pair, identical="numerals").n_tuples_ > 20
    for wrong, error in [(None, ValueError), ([("a",)], ValueError), ([1], TypeError), ({"en-fr": pairs}, TypeError)]:
        with pytest.raises(error):
            sememe.Procrustes().fit(pair, wrong)


def test_defaults_are_those_of_the_engine():
    defaults = _sememe.defaults()
    parameters = sememe.MBFA().get_params()
    named = ("shrinkage", "finish", "spelling", "max_iter", "tol", "solver")
    assert {name: parameters[name] for name in named} == {name: defaults[name] for name in named}
    assert inspect.signature(sememe.Moments.gather).parameters["normalize"].default == defaults["normalize"]
    sentences = inspect.signature(sememe.Space.evaluate_sentences).parameters
    assert all(sentences[name].default == defaults[name] for name in ("queries", "max_sentences"))
    assert sememe.LeastSquares().ridge == defaults["ridge"] and sememe.IBFA().dewhiten == defaults["dewhiten"]
    for extend in (sememe.IBFA.extend, sememe.Space.extend):
        arguments = inspect.signature(extend).parameters
        for name in ("shrinkage", "finish", "max_iter", "tol"):
            assert arguments[name].default == defaults[f"extend_{name}"]
    # What an estimator has no parameter for is not said at all.
    assert set(sememe.Procrustes()._fitting(["x", "y"])) == {"method", "latent", "pivot", "finish"}
