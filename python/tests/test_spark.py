"""sememe.spark over Spark Connect. Sail is the engine: no JVM, and quick to start. scripts/test-spark runs these tests on Spark itself."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import sememe

# Packages of Spark, not ours.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.xdist_group("spark")]

ROWS = 600


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    if os.environ.get("SEMEME_TEST_SPARK") == "classic":
        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
        yield session
        session.stop()
        return
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    yield session
    session.stop()
    server.stop()


def views(rows: int = ROWS, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 3))
    return [(hidden @ rng.normal(size=(3, dim)) + 0.3 * rng.normal(size=(rows, dim))).astype("f4") for dim in (6, 4, 5)]


def lists(rows: np.ndarray, missing=(), kind=pa.float32()) -> pa.Array:
    return pa.array([None if row in missing else cell for row, cell in enumerate(rows.tolist())], pa.list_(kind))


MISSING = range(0, ROWS, 7)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    X, Y, Z = views()
    return pa.table({"id": range(ROWS), "x": lists(X), "y": lists(Y, MISSING), "z": lists(Z, kind=pa.float64())})


@pytest.fixture(scope="module")
def df(spark, table):
    return spark.createDataFrame(table).repartition(5)


def arrays() -> dict[str, np.ndarray]:
    X, Y, Z = views()
    Y[::7] = np.nan
    return {"x": X, "y": Y, "z": Z}


@pytest.mark.parametrize("partitions", [1, 3, 16])
def test_moments_are_those_of_one_machine(spark, table, partitions):
    from sememe.spark import moments

    found = moments(spark.createDataFrame(table).repartition(partitions), ["x", "y", "z"], idCol="id")
    expected = sememe.Moments(["x", "y", "z"]).update(arrays())
    assert found.views == ["x", "y", "z"] and set(found.patterns) == set(expected.patterns)
    for pattern, own in expected.patterns.items():
        assert found.patterns[pattern].n == own.n
        assert_allclose(found.patterns[pattern].mean, own.mean, rtol=1e-9, atol=1e-12)
        assert_allclose(found.patterns[pattern].scatter, own.scatter, atol=1e-9 * np.abs(own.scatter).max())


def test_estimators_fit_transform_save_and_load(df, table, tmp_path):
    from sememe.spark import IBFA, MBFA, IBFAModel, MBFAModel

    expected = sememe.MBFA(2, shrinkage=0.1).fit(sememe.Moments(["x", "y", "z"]).update(arrays()))
    model = MBFA(inputCols=["x", "y", "z"], nComponents=2, shrinkage=0.1, idCol="id").fit(df)
    assert isinstance(model, MBFAModel)
    latent = model.transform(df)
    assert latent.columns == ["id", "x", "y", "z", "x_latent", "y_latent", "z_latent"]
    rows = latent.toArrow().sort_by("id")
    assert rows.select(["x", "z"]).to_pylist() == table.select(["x", "z"]).to_pylist()
    for name, own in zip("xyz", expected.transform(arrays())):
        cells = rows[f"{name}_latent"].to_pylist()
        assert [cell is None for cell in cells] == [name == "y" and row in MISSING for row in range(ROWS)]
        found = np.array([cell for cell in cells if cell is not None])
        assert_allclose(found, own[~np.isnan(own).any(axis=1)], atol=1e-4)

    pair = IBFA(inputCols=["x", "y"], outputCols=["a", "b"]).setParams(nComponents=3).fit(df)
    assert pair.model.n_components_ == 3 and pair.getInputCols() == ["x", "y"]
    pair.save(str(tmp_path / "model"))
    loaded = IBFAModel.load(str(tmp_path / "model"))
    assert loaded.transform(df).toArrow().sort_by("id").equals(pair.transform(df).toArrow().sort_by("id"))
    assert sememe.IBFA.load(tmp_path / "model").views_ == ["x", "y"]
    with pytest.raises(FileExistsError):
        pair.save(str(tmp_path / "model"))
    pair.write().overwrite().save(str(tmp_path / "model"))
    assert IBFAModel.load(str(tmp_path / "model")).getInputCols() == ["x", "y"]
    (tmp_path / "notes").mkdir()
    with pytest.raises(ValueError, match="is not replaced"):
        pair.write().overwrite().save(str(tmp_path / "notes"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "notes"]
    with pytest.raises(ValueError, match="not of MBFA"):
        MBFAModel.load(str(tmp_path / "model"))


def test_vectors_of_spark_are_vectors(spark, table):
    from pyspark.ml.linalg import Vectors

    from sememe.spark import IBFA

    rows = [
        (row["id"], Vectors.dense(row["x"]), None if row["y"] is None else Vectors.dense(row["y"])) for row in table.to_pylist()
    ]
    df = spark.createDataFrame(rows, ["id", "x", "y"])
    model = IBFA(inputCols=["x", "y"], nComponents=2).fit(df)
    plain = IBFA(inputCols=["x", "y"], nComponents=2).fit(spark.createDataFrame(table))
    latent = model.transform(df)
    assert latent.schema["x"].dataType == df.schema["x"].dataType
    expected = {row["id"]: row["x_latent"] for row in plain.transform(spark.createDataFrame(table)).collect()}
    for row in latent.collect():
        assert_allclose(row["x_latent"], expected[row["id"]], atol=1e-5)
        assert (row["y_latent"] is None) == (row["id"] in MISSING)


def frame(spark, rows: np.ndarray, ids, partitions: int):
    return spark.createDataFrame(pa.table({"id": ids, "vector": lists(rows)})).repartition(partitions)


@pytest.mark.parametrize("criterion", ["nn", "csls", "csls:k=3", "dot", "l2"])
@pytest.mark.parametrize("broadcast", ["queries", "targets", "blocks"])
def test_neighbours_are_those_of_one_machine(spark, monkeypatch, criterion, broadcast):
    import sememe.spark._neighbors as module
    from sememe.spark import neighbors

    X, Y = views(130, 1)[0], views(170, 2)[0]
    Y[20] = Y[30]  # Equal scores go to the lower id.
    if broadcast == "blocks":
        broadcast = "targets"
        monkeypatch.setattr(module, "MESSAGE_BYTES", 2000)
        monkeypatch.setattr(module, "BROADCAST_BYTES", 2000)
    ids, scores = sememe.neighbors(X, Y, 4, criterion)
    names = [f"target {row:04}" for row in range(170)]
    queries, targets = frame(spark, X, range(130), 3), frame(spark, Y, names, 4)
    found = neighbors(queries, targets, 4, criterion, broadcast=broadcast).toArrow().sort_by([("query", "ascending"), ("rank", "ascending")])
    assert found["query"].to_pylist() == np.repeat(np.arange(130), 4).tolist()
    assert found["rank"].to_pylist() == [1, 2, 3, 4] * 130
    assert found["target"].to_pylist() == [names[row] for row in ids.ravel()]
    assert (found["score"].to_numpy() == scores.ravel()).all()


def test_dictionaries_are_induced(spark):
    from sememe.spark import induce

    X, Y = views(80, 1)[0], views(80, 1)[0] + 0.5 * views(80, 3)[0]
    source, target = frame(spark, X, [f"en{row:02}" for row in range(80)], 2), frame(spark, Y, [f"fr{row:02}" for row in range(80)], 3)
    forth, back = (sememe.neighbors(a, b, 1, "csls")[0][:, 0] for a, b in ((X, Y), (Y, X)))
    pairs = {(f"en{row:02}", f"fr{best:02}") for row, best in enumerate(forth)}
    mutual = {(f"en{row:02}", f"fr{best:02}") for row, best in enumerate(forth) if back[best] == row}
    assert {(row["word"], row["translation"]) for row in induce(source, target).collect()} == pairs
    found = induce(source, target, mutual=True)
    assert {(row["word"], row["translation"]) for row in found.collect()} == mutual != pairs and "score" in found.columns


def test_bad_data_are_named(spark, df, table):
    from sememe.spark import IBFA, IBFAModel, moments, neighbors

    def changed(row, cell):
        cells = table["x"].to_pylist()
        cells[row] = cell
        return spark.createDataFrame(table.set_column(1, "x", pa.array(cells, pa.list_(pa.float64()))))

    late = changed(599, [1.0] * 5)
    for wrong, said in [
        (lambda: moments(late, ["x", "y"], idCol="id"), r'column "x" \(id 599\) has 5 numbers, and others have 6'),
        # A partition of its own, whose vectors are all of that length.
        (lambda: moments(late.repartition(300), ["x", "y"], idCol="id"), r'\(id \d+\) has [56] numbers, and others have [56]'),
        (lambda: moments(changed(3, [1.0] * 5 + [None]), ["x", "y"], idCol="id"), r'"x" \(id 3\) is empty or has nulls'),
        (lambda: moments(changed(3, [1.0] * 5 + [float("nan")]), ["x", "y"], idCol="id"), r"\(id 3\) has NaN or infinity"),
        (lambda: moments(df, ["x", "w"]), "there is no column 'w'; the columns are id, x, y, z"),
        (lambda: moments(df.where("id < 0"), ["x", "y"]), "no row with a vector"),
        (lambda: moments(df.where("id = 0"), ["x", "y"]), "'y' is null in every row"),
        (lambda: IBFA().fit(df), "inputCols is not set"),
        (lambda: IBFA(inputCols=["x"]).fit(df), "at least two"),
        (lambda: neighbors(df, df, 1, "isf", vectorCol="x").collect(), "nn, csls, dot and l2"),
        (lambda: neighbors(df.union(df), df, 1, vectorCol="x", broadcast="queries"), "an id twice"),
        (lambda: neighbors(df, df, 0, vectorCol="x"), "at least one"),
        (lambda: neighbors(df, df, 1, vectorCol="x", broadcast="both"), "broadcast is 'both'"),
        (lambda: IBFAModel.load("s3://bucket/model"), "no folder of this machine"),
    ]:
        with pytest.raises(Exception, match=said):
            wrong()
    with pytest.raises(TypeError, match="the column 'id' is of type bigint; vectors are array<float>"):
        moments(df, ["x", "id"])


def test_importing_sememe_does_not_import_spark():
    code = "import sys, sememe; assert not {'pyspark', 'pyarrow'} & set(sys.modules), sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
