"""Indexes of other packages, which hold vectors of an old model, are asked with those of a new one."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import sememe
from sememe import migrate
from test_migrate import FITTED, NEW, NEW_DIM, OLD, OLD_DIM

K = 5


@pytest.fixture(scope="module")
def fitted() -> migrate.MigrationMap:
    return migrate.fit(OLD[:FITTED], NEW[:FITTED], index=OLD)


@pytest.fixture(scope="module")
def expected(fitted):
    """The nearest rows of the first queries, exactly."""
    return sememe.neighbors(fitted.apply(NEW[:50]), OLD, k=K)[0]


@pytest.mark.parametrize("kind", ["IndexFlatIP", "IndexFlatL2"])
def test_faiss(fitted, expected, kind):
    faiss = pytest.importorskip("faiss")
    index = getattr(faiss, kind)(OLD_DIM)
    index.add(OLD)
    found = fitted.over(index).search(NEW[:50], K)
    np.testing.assert_array_equal(found.ids, expected)
    named = faiss.IndexIDMap(getattr(faiss, kind)(OLD_DIM))
    named.add_with_ids(OLD, np.arange(len(OLD)) + 1000)
    np.testing.assert_array_equal(fitted.over(named).search(NEW[:50], K).ids, expected + 1000)


def test_faiss_with_another_metric_or_dimension_is_refused(fitted):
    faiss = pytest.importorskip("faiss")
    with pytest.raises(ValueError, match="metric"):
        fitted.over(faiss.IndexFlat(OLD_DIM, faiss.METRIC_L1))
    with pytest.raises(ValueError, match=f"length {NEW_DIM}.*{OLD_DIM}"):
        fitted.over(faiss.IndexFlatIP(NEW_DIM))


@pytest.mark.parametrize("metric", ["cos", "ip", "l2sq"])
def test_usearch(fitted, expected, metric):
    usearch = pytest.importorskip("usearch.index")
    index = usearch.Index(ndim=OLD_DIM, metric=metric, dtype="f32", expansion_search=400)
    index.add(np.arange(len(OLD)) + 7, OLD)
    live = fitted.over(index)
    found = live.search(NEW[:50], K).ids
    # The search of usearch is approximate.
    assert (found == expected + 7).mean() > 0.95
    np.testing.assert_array_equal(live.search(NEW[:1], K).ids, found[:1])
    few = usearch.Index(ndim=OLD_DIM, metric=metric, dtype="f32")
    few.add(np.arange(2), OLD[:2])
    for rows in (NEW[:1], NEW[:3]):
        ids, scores = fitted.over(few).search(rows, K)
        assert (ids[:, 2:] == -1).all() and np.isnan(scores[:, 2:]).all() and (np.sort(ids[:, :2]) == [0, 1]).all()


def test_usearch_with_another_metric_is_refused(fitted):
    usearch = pytest.importorskip("usearch.index")
    with pytest.raises(ValueError, match="metric"):
        fitted.over(usearch.Index(ndim=OLD_DIM, metric="hamming", dtype="b1"))


class Cursor:
    """Answers the two statements that are sent to PostgreSQL, as pgvector does."""

    def execute(self, statement, parameters=()):
        if statement.startswith("SELECT vector_dims("):
            assert statement.endswith('FROM "public"."the ""docs""" WHERE "embedding" IS NOT NULL LIMIT 1')
            self.rows = [(OLD_DIM,)]
            return
        columns = 'SELECT "key", "embedding" <=> %s::vector AS distance'
        assert statement == f'{columns} FROM "public"."the ""docs""" ORDER BY distance LIMIT %s'
        query = np.array(parameters[0].strip("[]").split(","), dtype="float32")
        distances = 1 - OLD @ query
        self.rows = [(f"doc {row}", float(distances[row])) for row in np.argsort(distances)[: parameters[1]]]

    def fetchone(self):
        return self.rows[0]

    def fetchall(self):
        return self.rows


class Connection:
    """Stands for a connection of psycopg."""

    @contextlib.contextmanager
    def cursor(self):
        yield Cursor()


Connection.__module__ = "psycopg"


def test_pgvector(fitted, expected):
    live = fitted.over(Connection(), table='public.the "docs"', id="key")
    found = live.search(NEW[:50], K)
    assert found.ids.tolist() == [[f"doc {row}" for row in rows] for rows in expected]
    assert (np.diff(found.scores) >= 0).all()
    with pytest.raises(ValueError, match="name"):
        fitted.over(Connection(), table="")


def test_any_object_with_a_search_is_an_index(fitted, expected):
    class Exact:
        dim = OLD_DIM

        def search(self, queries, k):
            return migrate.Answers(*sememe.neighbors(queries, OLD, k))

    np.testing.assert_array_equal(fitted.over(Exact()).search(NEW[:50], K).ids, expected)
    with pytest.raises(TypeError, match="options"):
        fitted.over(Exact(), table="a")
    with pytest.raises(TypeError, match="none of the known ones"):
        fitted.over(object())
    with pytest.raises(ValueError, match="k is 0"):
        fitted.over(Exact()).search(NEW[:50], 0)


def test_vectors_of_another_model_are_refused(fitted):
    class Never:
        dim = None

        def search(self, queries, k):
            raise AssertionError("it must not be asked")

    with pytest.raises(ValueError, match="length"):
        fitted.over(Never()).search(OLD, K)


def test_lancedb(fitted, expected, tmp_path):
    lancedb = pytest.importorskip("lancedb")
    rows = [{"id": f"doc {row}", "vector": vector, "text": "…"} for row, vector in enumerate(3 * OLD)]
    table = lancedb.connect(tmp_path).create_table("docs", rows)
    live = fitted.over(table)
    # Lengths do not matter: the distance is that of the cosine.
    assert live.search(NEW[:10], K).ids.tolist() == [[f"doc {row}" for row in rows] for rows in expected[:10]]
    with pytest.raises(ValueError, match="no column 'key'"):
        fitted.over(table, id="key")
    with pytest.raises(ValueError, match="'text'.*no vectors"):
        fitted.over(table, vector="text")
