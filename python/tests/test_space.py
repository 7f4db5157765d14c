"""Spaces: words of several views where translations are neighbours."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil

import numpy as np
import pytest

import sememe
from conftest import TRAIN, factors


def test_one_word_or_several_are_translated(space):
    asked = ["house", "dog", "king"]
    for criterion in ("nn", "logp"):
        several = space.translate(asked, "en", "fr", 3, criterion)
        assert [len(found) for found in several] == [3, 3, 3]
        assert [c[:2] for c in space.translate("dog", "en", "fr", 3, criterion)] == [c[:2] for c in several[1]]
    assert space.translate([], "en", "fr") == []


def test_dictionaries_are_induced(space):
    induced = space.induce("fr", "en", mutual=True, min_confidence=0.5)
    assert len(induced) > 500 and all(pair.confidence >= 0.5 for pair in induced)
    assert len(space.induce("fr", "en", max_words=10)) == 10
    with pytest.raises(ValueError, match="from 0 to 1"):
        space.induce("fr", "en", min_confidence=2)


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_zero_vectors_are_counted_by_every_search(tmp_path):
    rng = np.random.default_rng(0)
    # The mean is exactly zero, so that a zero vector is projected to zero.
    half = rng.normal(size=(40, 4))
    rows = np.vstack([np.stack([half, -half], axis=1).reshape(80, 4), np.zeros((1, 4))])
    en, fr = (sememe.Embeddings([f"{name}{i}" for i in range(81)], rows) for name in ("en", "fr"))
    pairs = [(f"en{i}", f"fr{i}") for i in range(80)]
    sememe.IBFA(normalize=None, shrinkage=0.1).fit({"en": en, "fr": fr}, {("en", "fr"): pairs}).save(tmp_path / "space")
    space = sememe.Space.open(tmp_path / "space")
    for search in (
        lambda: space.translate("en1", "en", "fr"),
        lambda: space.induce("en", "fr"),
        lambda: space.evaluate_translation("en", "fr", {("en", "fr"): pairs}),
    ):
        with pytest.warns(sememe.ZeroVectorWarning, match="1 words of fr are zero"):
            search()
    with pytest.warns(sememe.ZeroVectorWarning) as told:
        space.evaluate_translation("en", "fr", {("en", "fr"): [("en80", "fr1"), ("en2", "fr2")]})
    assert any("1 queries of en are zero" in str(warning.message) for warning in told)


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_arrays_are_compared_as_the_words_of_a_space(tmp_path):
    arrays = factors((6, 5, 4), rows=200)
    words = {str(view): sememe.Embeddings([f"w{i}" for i in range(200)], rows) for view, rows in enumerate(arrays)}
    lexicon = {("0", "1"): [(f"w{i}", f"w{i}") for i in range(100)], ("1", "2"): [(f"w{i}", f"w{i}") for i in range(100)]}
    model = sememe.MBFA(3, normalize=None).fit(words, lexicon)
    model.save(tmp_path / "space")
    found = sememe.Space.open(tmp_path / "space").translate(["w150", "w151"], "2", "0", 5, "nn")
    queries = model.transform(arrays[2][150:152], "2", compared_with="0")
    ids, scores = sememe.neighbors(queries, model.transform(arrays[0], "0", compared_with="2"), 5)
    assert [[c.word for c in candidates] for candidates in found] == [[f"w{i}" for i in row] for row in ids]
    np.testing.assert_allclose([[c.score for c in candidates] for candidates in found], scores, atol=1e-5)
    with pytest.raises(ValueError, match="give the view as well"):
        model.transform(arrays, compared_with="0")
    with pytest.raises(ValueError, match="the view itself"):
        model.transform(arrays[0], 0, compared_with="0")


def test_a_space_keeps_its_model(space, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(space.path, folder)
    opened = sememe.Space.open(folder)
    shutil.rmtree(folder)
    assert opened._native.alignment is opened._native.alignment  # It is not cloned.
    assert opened.views == ["en", "fr"] and opened.model.views_ == ["en", "fr"]


def translated(space: sememe.Space) -> list[str]:
    """What another process does with a space that it is given."""
    return [candidate.word for candidate in space.translate("dog", "en", "fr", 3)]


def test_a_pickle_of_a_space_is_its_path(space, tmp_path, monkeypatch):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(translated, (space,)) == translated(space)
    shutil.copytree(space.path, tmp_path / "copy")
    monkeypatch.chdir(tmp_path)
    opened = sememe.Space.open("copy")
    monkeypatch.chdir(os.path.dirname(tmp_path))  # A relative path was relative to the folder of then.
    pickled = pickle.dumps(opened)
    assert len(pickled) < 1000 and pickle.loads(pickled).views == ["en", "fr"]
    shutil.rmtree(tmp_path / "copy")
    with pytest.raises(FileNotFoundError, match="the pickled space is gone") as caught:
        pickle.loads(pickled)
    assert caught.value.filename == str(tmp_path / "copy")


def test_most_similar_words_within_and_between_views(space):
    assert space.most_similar("dog", view="en", topn=5) == [c[:2] for c in space.neighbors("dog", "en", 5)]
    assert space.most_similar("dog", view="en", topn=5) == space["en"].most_similar("dog", topn=5)
    across = space.most_similar("dog", view="en", among="fr", topn=3)
    assert [word for word, _ in across] == [c.word for c in space.neighbors("dog", "en", 3, among="fr")]
    king, woman, man = (space["en"][word] / np.linalg.norm(space["en"][word]) for word in ("king", "woman", "man"))
    analogy = space.most_similar(["king", "woman"], "man", view="en", among="fr")
    expected = space.neighbors((king + woman - man)[None, :], "en", 10, among="fr")[0]
    assert [word for word, _ in analogy] == [c.word for c in expected]
    with pytest.raises(KeyError, match="did you mean 'house'"):
        space.most_similar("houze", view="en")
    with pytest.raises(ValueError, match="topn is 0"):
        space.most_similar("house", view="en", topn=0)


def test_an_estimator_adds_views_as_a_space_does(space, demo, tmp_path):
    model = space.model
    model._words = [demo[name]._native for name in space.views]  # As if it had been fitted here.
    larger = space.extend("ru", demo["ru"], TRAIN, shrinkage=0.3, output=tmp_path / "larger")
    latent = model.extend("ru", demo["ru"], TRAIN, shrinkage=0.3).transform(demo["ru"], "ru")
    assert (latent.vectors == larger["ru"].vectors).all()


def test_unknown_words_get_suggestions_or_other_vectors(space, demo):
    with pytest.raises(KeyError, match="did you mean 'house'"):
        space.translate("houze", "en", "fr")
    further = sememe.Embeddings(["houze"], demo["en"]["house"][None, :])
    first = space.translate("houze", "en", "fr", vectors=further)[0]
    expected = space.translate("house", "en", "fr")[0]
    assert first.word == expected.word and np.isclose(first.score, expected.score)
    with pytest.raises(ValueError, match="no view named"):
        space.translate("house", "en", "de")


def test_unknown_words_are_looked_up_under_the_casing_of_the_space(command, tmp_path):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 5)).astype("f4")
    x = sememe.Embeddings([f"x{i}" for i in range(60)], vectors)
    y = sememe.Embeddings([f"y{i}" for i in range(60)], vectors @ rng.normal(size=(5, 5)))
    model = sememe.IBFA(lower=True).fit({"x": x, "y": y}, {("x", "y"): [(f"x{i}", f"y{i}") for i in range(50)]})
    model.save(tmp_path / "space")
    space = sememe.Space.open(tmp_path / "space")
    further = sememe.Embeddings(["unheard"], vectors[55:56])
    further.save(tmp_path / "further.vec")
    theirs = command(
        "translate", space.path, "--from", "x", "--to", "y", "--vectors", tmp_path / "further.vec", "-k", 3, "UnHeard"
    )["translations"][0]["candidates"]
    ours = space.translate("UnHeard", "x", "y", 3, vectors=further)
    assert [c.word for c in ours] == [c["word"] for c in theirs] and ours[0].word == "y55"
    assert np.allclose([c.score for c in ours], [c["score"] for c in theirs], rtol=1e-6)


def test_neighbors_of_words_and_of_vectors(space):
    near = space.neighbors("dog", "en", 5)
    assert len(near) == 5 and "dog" not in [c.word for c in near]
    assert [c.word for c in near] == [word for word, _ in space["en"].neighbors("dog", 5)]
    across = space.neighbors(["dog", "king"], "en", 3, among="fr")
    assert [[c.word for c in row] for row in across] == [
        [c.word for c in row] for row in space.translate(["dog", "king"], "en", "fr", 3, "nn")
    ]
    assert space.neighbors(space["en"]["dog"][None, :], "en", 1)[0][0].word == "dog"


@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
def test_an_index_of_faiss_ranks_by_csls(space, metric):
    faiss = pytest.importorskip("faiss")
    exported = space.to_index("csls", metric)
    vectors, queries = np.array(exported.vectors), exported.queries()
    if metric == "cosine":
        vectors, queries = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (vectors, queries))
    index = faiss.IndexFlatL2(vectors.shape[1]) if metric == "l2" else faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    expected, _ = sememe.neighbors(space["en"].vectors, space["fr"].vectors, 1, "csls")
    assert (index.search(queries, 1)[1] == expected).mean() > 0.99
    assert exported.words == space["fr"].words
    assert repr(exported) == f"Index(2,000 words of 'fr' for queries of 'en', csls by {metric})"
    assert (exported.queries(["dog"]) == exported.queries(space["en"]["dog"][None, :])).all()
    with pytest.raises(ValueError, match="corrected"):
        space.to_index("corrected")


def test_the_model_of_a_space(space, demo):
    model = space.model
    assert isinstance(model, sememe.IBFA) and model.views_ == ["en", "fr"]
    assert (model.transform(demo["fr"], "fr").vectors == space["fr"].vectors).all()
    assert "2,000 words" in repr(space)
    calibration = model.calibration("en", "fr", "csls")
    assert calibration["temperature"] > 0 and calibration != model.calibration("en", "fr")
    assert model.calibration("en", "fr", "dot") is None


def test_a_space_does_not_depend_on_its_files_unless_they_are_mapped(space, tmp_path):
    folder = tmp_path / "space"
    shutil.copytree(space.path, folder)
    read, mapped = sememe.Space.open(folder), sememe.Space.open(folder, mmap=True)
    expected = space["fr"].vectors
    assert (read["fr"].vectors == expected).all() and (mapped["fr"].vectors == expected).all()
    found = read.translate("dog", "en", "fr", 3)
    del mapped
    for name in ("en", "fr"):
        (folder / f"{name}.safetensors").write_bytes(b"")
    assert (read["fr"].vectors == expected).all() and read.translate("dog", "en", "fr", 3) == found


def test_a_view_of_another_space_is_refused(space, demo, tmp_path):
    folder, other = tmp_path / "space", tmp_path / "other"
    shutil.copytree(space.path, folder)
    pair = {name: demo[name] for name in ("en", "fr")}
    sememe.IBFA(100, shrinkage=0.5).fit(pair, TRAIN).save(other)
    shutil.copy(other / "fr.safetensors", folder)
    with pytest.raises(ValueError, match="fr.safetensors: is not the file that this space was written with"):
        sememe.Space.open(folder).translate("dog", "en", "fr")
