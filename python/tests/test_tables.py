"""Tables of pyarrow, polars, pandas and duckdb, as objects and as files."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import sememe

WORDS = [f"word {i}" for i in range(200)]
VECTORS = np.random.default_rng(0).normal(size=(200, 7)).astype("float32")


@pytest.fixture
def table() -> pyarrow.Table:
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(VECTORS.reshape(-1)), 7)
    return pyarrow.table({"word": WORDS, "vector": vectors})


def same(emb: sememe.Embeddings) -> bool:
    return emb.words == WORDS and (emb.vectors == VECTORS).all()


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "lz4", "gzip"])
def test_parquet_of_pyarrow_is_read(tmp_path, table, compression):
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(table, path, compression=compression, row_group_size=64, data_page_size=300)
    assert same(sememe.load(path)) and sememe.load(path, max_words=70).words == WORDS[:70]
    doubles = table.set_column(1, "e", pyarrow.array(VECTORS.tolist(), pyarrow.list_(pyarrow.float64())))
    pyarrow.parquet.write_table(doubles, path, compression=compression)
    assert same(sememe.load(path, columns=["word", "e"]))


@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "lz4"])
def test_feather_of_pyarrow_is_read(tmp_path, table, compression):
    pyarrow.feather.write_feather(table, tmp_path / "x.feather", compression=compression, chunksize=50)
    assert same(sememe.load(tmp_path / "x.feather")) and same(sememe.load(tmp_path / "x.feather", mmap=True))


def test_files_of_polars_are_read(tmp_path, table):
    frame = polars.from_arrow(table)
    for frame in (frame, frame.with_columns(polars.col("vector").arr.to_list())):
        frame.write_parquet(tmp_path / "x.parquet")
        frame.write_ipc(tmp_path / "x.arrow")
        frame.write_ipc_stream(tmp_path / "x.arrows")
        for name in ("x.parquet", "x.arrow", "x.arrows"):
            assert same(sememe.load(tmp_path / name)), name


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_others_read_what_is_written(tmp_path, name):
    sememe.Embeddings(WORDS, VECTORS).save(tmp_path / name)
    read = pyarrow.parquet.read_table if name == "x.parquet" else pyarrow.feather.read_table
    table = read(tmp_path / name)
    assert table["word"].to_pylist() == WORDS
    assert table.schema.field("vector").type.list_size == 7 and table.schema.metadata[b"sememe.version"]
    assert (table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, 7) == VECTORS).all()
    frame = polars.read_parquet(tmp_path / name) if name == "x.parquet" else polars.read_ipc(tmp_path / name)
    assert (frame["vector"].to_numpy() == VECTORS).all()


def test_tables_go_in_and_out_through_the_c_stream(table):
    emb = sememe.Embeddings.from_arrow(table)
    assert same(emb)
    assert emb.vectors.ctypes.data == table["vector"].chunk(0).values.buffers()[1].address, "without a copy"
    back = pyarrow.table(emb)
    assert back["word"].to_pylist() == WORDS
    assert back["vector"].chunk(0).values.buffers()[1].address == emb.vectors.ctypes.data
    assert same(sememe.Embeddings.from_arrow(polars.DataFrame(emb)))
    assert same(sememe.Embeddings.from_arrow(polars.from_arrow(table)))
    nested = pandas.DataFrame({"word": WORDS, "vector": list(VECTORS)})
    assert same(sememe.Embeddings.from_arrow(nested, ["word", "vector"]))
    del table, back
    assert same(emb)


def test_tables_are_taken_where_arrays_are(table):
    expected = sememe.neighbors(VECTORS, VECTORS, k=3)
    for given in (table, polars.from_arrow(table)):
        ids, scores = sememe.neighbors(given, given, k=3)
        assert (ids == expected[0]).all() and (scores == expected[1]).all()
    rows = np.vstack([VECTORS, VECTORS + 0.1])
    numbers = pandas.DataFrame(rows)
    assert sememe.neighbors(numbers, numbers, k=1)[0][:, 0].tolist() == list(range(400))


def test_queries_of_duckdb_go_in_and_out(tmp_path, table):
    database = duckdb.connect()
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    found = database.sql(f"SELECT * FROM '{tmp_path / 'x.parquet'}'")
    emb = sememe.Embeddings.from_arrow(found)
    assert same(emb)
    assert (sememe.neighbors(found, found, k=3)[0] == sememe.neighbors(VECTORS, VECTORS, k=3)[0]).all()
    database.register("embeddings", pyarrow.table(emb))
    assert database.sql("SELECT count(*), min(word) FROM embeddings").fetchall() == [(200, min(WORDS))]
    ragged = database.sql("SELECT 'a' AS word, [1.0::FLOAT, 2] AS vector UNION ALL SELECT 'b', [1.0::FLOAT]")
    with pytest.raises(ValueError, match="row 2: the vector in the column \"vector\" has 1 numbers"):
        sememe.Embeddings.from_arrow(ragged)


def test_models_are_fitted_to_tables(table):
    other = VECTORS @ np.random.default_rng(1).normal(size=(7, 5)).astype("float32")
    names = [f"mot {i}" for i in range(200)]
    view = polars.DataFrame({"id": names, "vector": other}, schema_overrides={"vector": polars.Array(polars.Float32, 5)})
    by_rows = sememe.IBFA().fit({"a": table, "b": view})
    arrays = sememe.IBFA().fit({"a": VECTORS, "b": other})
    assert (by_rows.transform(VECTORS, "a") == arrays.transform(VECTORS, "a")).all()
    by_words = sememe.IBFA().fit({"a": table, "b": view}, {("a", "b"): list(zip(WORDS, names))})
    words = {"a": sememe.Embeddings(WORDS, VECTORS), "b": sememe.Embeddings(names, other)}
    same_words = sememe.IBFA().fit(words, {("a", "b"): list(zip(WORDS, names))})
    assert (by_words.transform(VECTORS, "a") == same_words.transform(VECTORS, "a")).all()
    # Null is a view that is missing.
    holes = pyarrow.array([None if i == 3 else row for i, row in enumerate(other.tolist())], pyarrow.list_(pyarrow.float32()))
    missing = other.copy()
    missing[3] = np.nan
    with pytest.warns(sememe.FitWarning, match="single view"):
        with_nulls = sememe.IBFA().fit({"a": table, "b": pyarrow.table({"vector": holes})})
        with_missing = sememe.IBFA().fit({"a": VECTORS, "b": missing})
    assert (with_nulls.transform(VECTORS, "a") == with_missing.transform(VECTORS, "a")).all()


def test_dictionaries_are_tables(tmp_path):
    pairs = pyarrow.table({"en": ["house", "dog", None], "fr": ["maison", "chien", "chat"], "score": [1.0, 0.5, 0.1]})
    pyarrow.parquet.write_table(pairs, tmp_path / "en-fr.parquet")
    lexicon = sememe.read_lexicon(tmp_path / "en-fr.parquet")
    assert lexicon.entries() == [["house", "maison"], ["dog", "chien"]]


def test_bad_tables_are_refused_by_row_and_column(tmp_path, table):
    ragged = pyarrow.table({"word": ["a", "b"], "vector": pyarrow.array([[1.0, 2.0], [1.0]])})
    with pytest.raises(ValueError, match='row 2: the vector in the column "vector" has 1 numbers, those before it have 2'):
        sememe.Embeddings.from_arrow(ragged)
    with pytest.raises(ValueError, match="row 2"):
        sememe.neighbors(ragged, ragged, k=1)
    twice = table.append_column("other", table["vector"]).rename_columns(["word", "one", "other"])
    with pytest.raises(ValueError, match=r"several columns that could be vectors \(one, other\); name the columns"):
        sememe.Embeddings.from_arrow(twice)
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    whole = (tmp_path / "x.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged or cut off"):
        sememe.load(tmp_path / "cut.parquet")
