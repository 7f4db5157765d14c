"""Spaces: what the command writes and says, the package writes and says too."""

from __future__ import annotations

import numpy as np
import pytest

import sememe
from conftest import DEMO, TRAIN

WORDS = 2000


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".safetensors"}


def views(*names):
    return [f"{name}={DEMO / name}.npy.zst" for name in names]


def test_ibfa_writes_the_files_of_the_command(command, demo, tmp_path):
    reading = ["--max-words", WORDS, "--lexicon", TRAIN, "--latent", 30, "--lower"]
    command("align", *views("en", "fr"), *reading, "-o", tmp_path / "theirs")
    pair = {name: demo[name] for name in ("en", "fr")}
    model = sememe.IBFA(30, lower=True).fit(pair, TRAIN)
    model.save(tmp_path / "ours")
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")

    command("extend", tmp_path / "theirs", *views("ru"), "--max-words", WORDS, "--lexicon", TRAIN)
    space = sememe.Space.open(tmp_path / "ours").extend("ru", demo["ru"], TRAIN)
    assert files(tmp_path / "ours") == files(tmp_path / "theirs") and space.views == ["en", "fr", "ru"]
    # The estimator adds a view by itself, too.
    latent = model.extend("ru", demo["ru"], TRAIN).transform(demo["ru"], "ru")
    assert (latent.vectors == space["ru"].vectors).all()


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (["--method", "mbfa", "--latent", 20, "--iterations", 12, "--shrinkage", 0.3],
         sememe.MBFA(20, max_iter=12, shrinkage=0.3)),
        (["--method", "svd", "--pivot", "en", "--normalize", "unit,center"],
         sememe.Procrustes("en", normalize=["unit", "center"])),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_other_methods_write_the_files_of_the_command(command, demo, tmp_path, options, model):
    command("align", *views("en", "fr", "ru"), "--max-words", WORDS, "--lexicon", TRAIN, *options, "-o", tmp_path / "theirs")
    model.fit(demo, TRAIN).save(tmp_path / "ours")
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")


def test_rows_of_arrays_are_aligned_as_the_command_does(command, demo, tmp_path):
    words = [str(row) for row in range(WORDS)]
    halves = {"old": demo["en"].vectors[:, :180], "new": demo["en"].vectors[:, 180:240]}
    named = {name: sememe.Embeddings(words, half) for name, half in halves.items()}
    for name, half in named.items():
        half.save(tmp_path / f"{name}.npy")
    arrays = [f"{name}={tmp_path / name}.npy" for name in halves]
    command("align", *arrays, "--identical", "-o", tmp_path / "theirs")
    sememe.IBFA().fit(halves).save(tmp_path / "ours", named)
    assert files(tmp_path / "ours") == files(tmp_path / "theirs")


def test_translations_are_those_of_the_command(command, space):
    asked = ["house", "dog", "king"]
    for criterion in ("nn", "csls", "pmi", "logp"):
        arguments = ["--from", "en", "--to", "fr", "--criterion", criterion, "-k", 3]
        theirs = command("translate", space.path, *arguments, *asked)["translations"]
        ours = space.translate(asked, "en", "fr", 3, criterion)
        for mine, yours in zip(ours, theirs):
            assert [c.word for c in mine] == [c["word"] for c in yours["candidates"]]
            assert np.allclose([c.score for c in mine], [c["score"] for c in yours["candidates"]], rtol=1e-6)
            assert np.allclose([c.confidence for c in mine], [c["confidence"] for c in yours["candidates"]], rtol=1e-9)
    assert [c[:2] for c in space.translate("dog", "en", "fr", 3, "logp")] == [c[:2] for c in ours[1]]
    assert space.translate([], "en", "fr") == []


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
        [c.word for c in row] for row in space.translate(["dog", "king"], "en", "fr", 3)
    ]
    assert space.neighbors(space["en"]["dog"][None, :], "en", 1)[0][0].word == "dog"


def test_dictionaries_are_those_of_the_command(command, space, tmp_path):
    arguments = ["--from", "fr", "--to", "en", "--mutual", "--min-confidence", 0.5, "-o", tmp_path / "theirs.tsv"]
    command("lexicon", "induce", space.path, *arguments)
    induced = space.induce("fr", "en", mutual=True, min_confidence=0.5, output=tmp_path / "ours.tsv")
    assert (tmp_path / "ours.tsv").read_bytes() == (tmp_path / "theirs.tsv").read_bytes()
    assert len(induced) > 500 and all(pair.confidence >= 0.5 for pair in induced)
    assert len(space.induce("fr", "en", max_words=10)) == 10
    with pytest.raises(ValueError, match="from 0 to 1"):
        space.induce("fr", "en", min_confidence=2)


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
    assert (exported.queries(["dog"]) == exported.queries(space["en"]["dog"][None, :])).all()
    with pytest.raises(ValueError, match="corrected"):
        space.to_index("corrected")


def test_the_model_of_a_space(space, demo):
    model = space.model
    assert isinstance(model, sememe.IBFA) and model.views_ == ["en", "fr"]
    assert (model.transform(demo["fr"], "fr").vectors == space["fr"].vectors).all()
    assert "2,000 words" in repr(space)
    assert 0 < model.temperature("en", "fr") < 1
