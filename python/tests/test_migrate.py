"""Maps between two embedding models, and live indexes that are asked through them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sememe
from sememe import migrate

OLD_DIM, NEW_DIM, FITTED = 24, 16, 900


def models(rows: int = 1600, seed: int = 0):
    """Vectors of the same texts by two models that see them differently."""
    rng = np.random.default_rng(seed)
    texts = rng.normal(size=(rows, 10)) + rng.normal(size=10)
    old = texts @ rng.normal(size=(10, OLD_DIM)) + 0.2 * rng.normal(size=(rows, OLD_DIM))
    new = texts @ rng.normal(size=(10, NEW_DIM)) + 0.2 * rng.normal(size=(rows, NEW_DIM))
    unit = lambda rows: (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("float32")
    return unit(old), unit(new)


OLD, NEW = models()


@pytest.fixture(scope="module")
def fitted() -> migrate.MigrationMap:
    return migrate.fit(OLD[:FITTED], NEW[:FITTED], index=OLD, old_model="one", new_model="two")


def twins(found) -> float:
    """How many queries found the row of their own text."""
    return (np.asarray(found)[:, 0] == np.arange(FITTED, len(OLD))).mean()


def test_new_queries_find_the_rows_of_the_same_texts(fitted):
    queries = fitted.apply(NEW[FITTED:])
    assert queries.shape == (len(OLD) - FITTED, OLD_DIM)
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), 1, atol=1e-5)
    assert twins(sememe.neighbors(queries, OLD, k=1)[0]) > 0.8
    latent = fitted.apply(NEW[FITTED:], "latent"), fitted.apply(OLD, "latent", of="old")
    assert twins(sememe.neighbors(*latent, k=1)[0]) > 0.8
    # The whole index in the space of the new model.
    assert twins(sememe.neighbors(NEW[FITTED:], fitted.apply(OLD, "new", of="old"), k=1)[0]) > 0.8


def test_a_map_is_the_same_after_it_was_saved(fitted, tmp_path):
    fitted.save(tmp_path / "map.safetensors")
    again = migrate.MigrationMap.open(tmp_path / "map.safetensors")
    np.testing.assert_array_equal(again.apply(NEW), fitted.apply(NEW))
    assert again.about == fitted.about
    assert (again.about["old"]["name"], again.about["old"]["dim"]) == ("one", OLD_DIM)
    assert again.about["old"]["fingerprint"] != again.about["new"]["fingerprint"]
    assert (again.old_dim, again.new_dim, again.about["pairs"]) == (OLD_DIM, NEW_DIM, FITTED)
    assert "one ← two" in repr(again)


def test_the_command_says_the_same(command, tmp_path):
    np.save(tmp_path / "old.npy", OLD)
    np.save(tmp_path / "new.npy", NEW)
    np.savetxt(tmp_path / "rows.txt", np.arange(FITTED), fmt="%d")
    questions = np.column_stack([np.arange(40), np.arange(40) + 700])
    np.savetxt(tmp_path / "queries.tsv", questions, fmt="%d", delimiter="\t")
    views = [f"{side}={tmp_path / side}.npy" for side in ("old", "new")]
    path, asked = tmp_path / "map.safetensors", tmp_path / "asked.npy"
    command("migrate", "fit", *views, "--rows", tmp_path / "rows.txt", "-o", path)
    command("migrate", "apply", path, views[1], "-o", asked)
    ours = migrate.fit(OLD[:FITTED], NEW[:FITTED], index=OLD)
    ours.save(tmp_path / "ours.safetensors")
    assert (tmp_path / "ours.safetensors").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(ours.apply(NEW), np.load(asked))
    written = ours.apply_file(tmp_path / "new.npy", tmp_path / "ours.npy")
    assert written["rows"] == len(NEW)
    assert (tmp_path / "ours.npy").read_bytes() == asked.read_bytes()
    theirs = command("migrate", "evaluate", path, *views, "--queries", tmp_path / "queries.tsv")
    for way, recall in ours.evaluate(OLD, NEW, questions).items():
        assert json.loads(json.dumps(recall)) == theirs[way], way
    monitored = command("migrate", "monitor", path, views[1])
    assert {name: monitored[name] for name in ("rings", "rows")} == {"rings": False, "rows": len(NEW)}


def test_evaluation_compares_with_computing_everything_again(fitted):
    result = fitted.evaluate(OLD, NEW, sample=200)
    assert result["questions"] == 200
    # The new model itself gave the answers.
    assert result["new"]["recall"]["1"] == 100
    assert result["mapped"]["recall"]["10"] > 60
    with pytest.raises(ValueError, match="two columns"):
        fitted.evaluate(OLD, NEW, [1, 2, 3])
    with pytest.raises(ValueError, match="1600"):
        fitted.evaluate(OLD, NEW, [[1, 1600]])


def test_an_index_adapted_to_queries_is_asked_by_inner_product(fitted):
    adapted = fitted.adapt(OLD, NEW[FITTED:], own=range(FITTED, len(OLD)))
    index, queries = adapted.index(OLD), adapted.queries(NEW[FITTED:])
    assert index.shape == (len(OLD), fitted.latent_dim + 1) and queries.shape[1] == fitted.latent_dim + 1
    assert adapted.learned > 100
    assert twins(np.argsort(-(queries @ index.T), axis=1)[:, :1]) > 0.8
    with pytest.raises(ValueError, match="own rows"):
        fitted.adapt(OLD, NEW[:10], own=[1])
    with pytest.raises(ValueError, match="1600"):
        fitted.adapt(OLD, NEW[:1], own=[1600])


def test_an_adapted_map_is_saved_and_maps_files(fitted, tmp_path):
    adapted = fitted.adapted(OLD, NEW[FITTED:])
    assert adapted.about["adapted"] and not fitted.about["adapted"]
    adapted.save(tmp_path / "adapted.safetensors")
    again = migrate.MigrationMap.open(tmp_path / "adapted.safetensors")
    index, queries = again.apply(OLD, "indexed", of="old"), again.apply(NEW[FITTED:], "indexed")
    assert index.shape == (len(OLD), fitted.latent_dim + 1)
    assert twins(np.argsort(-(queries @ index.T), axis=1)[:, :1]) > 0.8
    with pytest.raises(ValueError, match="not adapted"):
        fitted.apply(NEW, "indexed")
    np.save(tmp_path / "new.npy", NEW)
    with pytest.raises(ValueError, match="three"):
        again.apply_file(tmp_path / "new.npy", tmp_path / "out.npy", model="three")


def test_without_pairs_chance_is_refused():
    rng = np.random.default_rng(3)
    with pytest.raises(sememe.NoBetterThanChanceError, match="chance"):
        migrate.fit(rng.normal(size=(600, 6)), rng.normal(size=(700, 7)), unsupervised=True)


def test_monitoring_rings_for_another_model_and_for_shuffled_rows(fitted):
    assert not fitted.monitor(NEW[FITTED:], OLD[FITTED:])["rings"]
    other = models(seed=9)[1]
    assert fitted.monitor(other)["rings"]
    shuffled = np.random.default_rng(0).permutation(OLD[FITTED:])
    report = fitted.monitor(NEW[FITTED:], shuffled)
    assert [check["name"] for check in report["checks"] if check["rings"]] == ["distance of mapped queries"]


@pytest.mark.parametrize("of, to", [("new", "old"), ("old", "new"), ("new", "latent"), ("latent", "old")])
def test_onnx_computes_the_same(fitted, tmp_path, of, to):
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "map.onnx"
    fitted.export_onnx(path, to, of=of)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert [opset.version for opset in model.opset_import] == [17]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    vectors = {"new": NEW, "old": OLD, "latent": fitted.apply(NEW, "latent")}[of]
    for rows in (vectors, 100 * vectors[:1]):
        (mapped,) = session.run(["mapped"], {"vectors": rows})
        np.testing.assert_allclose(mapped, fitted.apply(rows, to, of=of), atol=1e-5)


def test_vectors_that_do_not_fit_are_refused(fitted):
    with pytest.raises(ValueError, match="16"):
        fitted.apply(OLD)
    other = models(seed=9)[1]
    with pytest.raises(ValueError, match="do not look like vectors of the new model"):
        fitted.apply(other)
    assert fitted.apply(other, force=True).shape == OLD.shape
    broken = NEW.copy()
    broken[7, 3] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        fitted.apply(broken)
    with pytest.raises(ValueError, match="900.*899"):
        migrate.fit(OLD[:FITTED], NEW[: FITTED - 1])
    with pytest.raises(ValueError, match="method"):
        migrate.fit(OLD, NEW, method="none")
    with pytest.raises(ValueError, match="side"):
        fitted.apply(NEW, "there")


def test_rows_that_do_not_belong_together_are_warned_of():
    permuted = np.random.default_rng(1).permutation(NEW[:FITTED])
    with pytest.warns(sememe.ChanceWarning, match="row by row"):
        fitted = migrate.fit(OLD[:FITTED], permuted)
    assert "CHANCE" in fitted.about["warning"]


def test_confidences_say_which_queries_to_ask_elsewhere(fitted):
    rows, confidences = fitted.confidence(NEW[FITTED:], OLD)
    assert rows.shape == confidences.shape == (len(OLD) - FITTED,)
    assert ((0 <= confidences) & (confidences <= 1)).all()
    ids, cosines = sememe.neighbors(fitted.apply(NEW[FITTED:]), OLD, k=10)
    np.testing.assert_array_equal(rows, ids[:, 0])
    np.testing.assert_allclose(fitted.confidence_of(cosines), confidences, atol=1e-4)
    rows, confidences = fitted.confidence(np.zeros((1, NEW_DIM), "float32"), OLD)
    assert (rows[0], confidences[0]) == (-1, 0)
    levels = fitted.evaluate(OLD, NEW, sample=200)["confidence"]["levels"]
    assert [level["min_confidence"] for level in levels] == [0.25, 0.5, 0.75]


def test_a_plan_tells_what_to_expect():
    planned = migrate.plan(OLD[:800], NEW[:800], rows_to_migrate=10**6, rows_per_second=100, price_per_million=5)
    pairs = [point["pairs"] for point in planned["curve"]]
    assert pairs == sorted(pairs) and len(pairs) >= 3
    assert planned["advised"] in ("mapped", "bulk", "latent", "indexed")
    assert planned["expected"]["new"]["recall"]["1"] == 100
    assert (planned["costs"]["embedding_seconds"], planned["costs"]["embedding_price"]) == (10**4, 5)
    with pytest.raises(ValueError, match="two columns"):
        migrate.plan(OLD, NEW, [1, 2, 3])


def test_dead_dimensions_and_duplicates_do_no_harm():
    dead = NEW.copy()
    dead[:, 3] = 1e-33
    fitted = migrate.fit(np.tile(OLD[:FITTED], (2, 1)), np.tile(dead[:FITTED], (2, 1)), index=OLD)
    assert fitted.about["pairs"] == FITTED
    assert twins(sememe.neighbors(fitted.apply(dead[FITTED:]), OLD, k=1)[0]) > 0.8


def test_fitting_reports_its_progress():
    told = []
    migrate.fit(OLD[:FITTED], NEW[:FITTED], method="ridge", progress=lambda done, total: told.append((done, total)))
    assert told and told[-1][0] == told[-1][1]
