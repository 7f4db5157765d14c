"""The steps of a fit on record batches: the same results for any division of the rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

import sememe
from sememe import batches

ROWS = 1000


def views(rows: int = ROWS, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(rows, 3))
    return [(hidden @ rng.normal(size=(3, dim)) + 0.3 * rng.normal(size=(rows, dim)) + 5).astype("f4") for dim in (6, 4)]


def lists(rows: np.ndarray, missing=(), kind=pa.float32()) -> pa.Array:
    cells = [None if row in missing else cell for row, cell in enumerate(rows.tolist())]
    return pa.array(cells, pa.list_(kind))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    X, Y = views()
    ids = [f"row {row}" for row in range(ROWS)]
    return pa.table({"id": ids, "x": lists(X), "y": lists(Y, missing=range(0, ROWS, 7))})


def expected() -> sememe.Moments:
    X, Y = views()
    Y[::7] = np.nan
    return sememe.Moments(["x", "y"]).update([X, Y])


def fingerprints(row: batches.Batch) -> bytes:
    """The sources in the metadata of the moments of a row."""
    data = pa.record_batch(row)["moments"][0].as_py()
    metadata = data[8 : 8 + int.from_bytes(data[:8], "little")]
    return metadata[metadata.index(b"sources") :]


@pytest.mark.parametrize("rows, parts", [(1000, 1), (1, 1), (7, 3), (333, 2), (400, 64)])
def test_moments_do_not_show_how_rows_are_divided(table, rows, parts):
    """``rows`` of a batch, ``parts`` tasks."""
    order = np.random.default_rng(parts).permutation(ROWS)
    divided = table.take(order).to_batches(max_chunksize=rows)
    sums = [batches.partial_moments(divided[part::parts], ["x", "y"], id="id") for part in range(parts)]
    merged = batches.moments(sums)
    assert merged.views == ["x", "y"] and merged.count == ROWS
    for pattern, moments in expected().patterns.items():
        found = merged.patterns[pattern]
        assert found.n == moments.n
        assert_allclose(found.mean, moments.mean, rtol=1e-12)
        assert_allclose(found.scatter, moments.scatter, atol=1e-9 * np.abs(moments.scatter).max())
    nested = batches.merge([batches.merge(sums[:1]), batches.merge(sums[1:] or sums[:0] + sums[:1])]) if parts > 1 else sums[0]
    whole = batches.partial_moments(table.to_batches(), ["x", "y"])
    assert fingerprints(batches.merge(sums)) == fingerprints(nested) == fingerprints(whole)


def test_a_large_mean_costs_no_accuracy():
    rng = np.random.default_rng(0)
    X, Y = ((1e4 + rng.normal(size=(2000, dim))).astype("f4") for dim in (3, 2))
    table = pa.table({"x": lists(X), "y": lists(Y)})
    parts = [batches.partial_moments([batch], ["x", "y"]) for batch in table.to_batches(max_chunksize=31)]
    found = batches.moments(parts).patterns["x", "y"]
    stacked = np.hstack([X, Y]).astype("f8")
    centred = stacked - stacked.mean(axis=0)
    assert_allclose(found.scatter, centred.T @ centred, atol=1e-9 * 2000)


def test_equal_parts_are_accepted_and_empty_ones_count_nothing(table):
    part = batches.partial_moments(table.to_batches(), ["x", "y"])
    empty = batches.partial_moments([table.to_batches()[0].slice(0, 0)], ["x", "y"])
    assert len(empty) == 0
    assert batches.moments([part, part, empty]).count == 2 * ROWS
    with pytest.raises(ValueError, match="no part has a row"):
        batches.moments([empty])
    # A view that some parts lack.
    lacking = pa.table({"y": lists(views()[1]), "x": pa.nulls(ROWS, pa.list_(pa.float32()))})
    both = batches.moments([batches.partial_moments(lacking.to_batches(), ["x", "y"]), part])
    assert both.views == ["x", "y"] and set(both.patterns) == {("x", "y"), ("x",), ("y",)}


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda cells: [*cells[:700], cells[0][:5], *cells[701:]], r'row 701: the vector in the column "x" \(id row 700\) has 5 numbers'),
        (lambda cells: [*cells[:700], [*cells[0][:5], None], *cells[701:]], r'row 701.*"x" \(id row 700\) is empty or has nulls'),
        (lambda cells: [*cells[:700], [], *cells[701:]], r"row 701.*is empty or has nulls"),
        (lambda cells: [*cells[:700], [*cells[0][:5], float("nan")], *cells[701:]], r"row 701.*has NaN or infinity"),
        (lambda cells: [*cells[:700], [*cells[0][:5], 1e300], *cells[701:]], r"row 701.*has NaN or infinity"),
    ],
)
def test_bad_vectors_are_named_by_row_and_column(table, change, said):
    cells = change(table["x"].to_pylist())
    bad = table.set_column(1, "x", pa.array(cells, pa.list_(pa.float64())))
    with pytest.raises(ValueError, match=said):
        batches.partial_moments(bad.to_batches(max_chunksize=100), ["x", "y"], id="id")


def test_bad_columns_are_refused(table):
    part = table.to_batches()
    for wrong, said in [
        (lambda: batches.partial_moments(part, ["x", "z"]), 'no column "z"; the columns are id'),
        (lambda: batches.partial_moments(part, ["x", "id"]), 'the column "id" is of type .*, not vectors'),
        (lambda: batches.partial_moments(part, ["x", "x"]), "a column of its own"),
        (lambda: batches.partial_moments(part, ["x", "y"], normalize="center"), "learns from all vectors"),
        (lambda: batches.partial_moments(part, ["x", "y"], dims=[7, 4]), r"row 1: .* has 6 numbers, and others have 7"),
        (lambda: batches.merge(part), 'no column "columns"'),
        (lambda: batches.Targets(table, vector="x", criterion="isf"), "there are nn, csls, dot and l2"),
        (lambda: batches.Targets(table, vector="x", criterion="csls:words=9"), "have no order"),
        (lambda: batches.Targets(table, vector="x", criterion="csls"), "it needs all queries"),
    ]:
        with pytest.raises(ValueError, match=said):
            wrong()
    with pytest.raises((TypeError, AttributeError)):
        batches.partial_moments([1], ["x"])


def test_models_project_batches(table):
    moments = batches.moments([batches.partial_moments(table.to_batches(), ["x", "y"])])
    with pytest.warns(sememe.FitWarning, match="143 entries with a single view"):
        model = sememe.IBFA(2, shrinkage="oas").fit(moments)
    batch = table.to_batches()[0]
    latent = pa.record_batch(batches.project(batch, model, outputs={"y": "other"}, id="id"))
    assert latent.schema.names == ["x", "other"] and latent.num_rows == ROWS
    X, Y = views()
    assert (np.array(latent["x"].to_pylist(), "f4") == model.transform(X, "x")).all()
    other = latent["other"].to_pylist()
    assert [row for row, cell in enumerate(other) if cell is None] == list(range(0, ROWS, 7))
    assert (np.array([cell for cell in other if cell is not None], "f4") == model.transform(np.delete(Y, np.s_[::7], 0), "y")).all()
    with pytest.raises(ValueError, match=r'row 1.*"y".*row 0.* has 4 numbers, and others have 6|row 2.*has 4 numbers'):
        batches.project(batch, model, {"x": "y"}, id="id")


@pytest.mark.parametrize("criterion", ["nn", "csls", "csls:k=3", "dot", "l2"])
def test_neighbours_are_those_of_one_machine(criterion):
    queries, targets = (pa.table({"id": range(seed, 10 * 300 + seed, 10), "vector": lists(views(300, seed)[0])}) for seed in (1, 2))
    ids, scores = sememe.neighbors(views(300, 1)[0], views(300, 2)[0], 5, criterion)
    near = None if criterion[:4] != "csls" else int(criterion[7:] or 10)
    whole = batches.Targets(targets, criterion=criterion, queries=queries if near else None)
    found = pa.Table.from_batches([pa.record_batch(batches.top_k(batch, whole, 5)) for batch in queries.to_batches(max_chunksize=77)])
    assert found["target"].to_pylist() == (ids.ravel() * 10 + 2).tolist()
    assert found["query"].to_pylist() == np.repeat(np.arange(300) * 10 + 1, 5).tolist()
    assert found["rank"].to_pylist() == [1, 2, 3, 4, 5] * 300 and (found["score"].to_numpy() == scores.ravel()).all()
    # In parts.
    parts = [targets.slice(0, 100), targets.slice(100)]
    prepared = [batches.Targets(part, criterion=criterion, queries=queries if near else None) for part in parts]
    rows = pa.concat_tables([pa.table(batches.top_k(queries, part, 5, part=True)) for part in prepared]).to_pylist()
    for query, (own_ids, own_scores) in enumerate(zip(ids, scores)):
        own = sorted((-row["score"], row["target"]) for row in rows if row["query"] == query * 10 + 1)[:5]
        cosines = [c for row in rows if row["query"] == query * 10 + 1 for c in row.get("near") or []]
        mean = sum(sorted(cosines, reverse=True)[:near]) / near if near else 0.0
        assert [target for _, target in own] == (own_ids * 10 + 2).tolist()
        assert [np.float32(-score - mean) for score, _ in own] == own_scores.tolist()
    if near:
        largest = [pa.table(batches.largest_cosines(targets, part, near)).to_pylist() for part in (queries.slice(0, 9), queries.slice(9))]
        means = [sum(sorted(a["cosines"] + b["cosines"], reverse=True)[:near]) / near for a, b in zip(*largest)]
        by_means = batches.Targets(targets, criterion=criterion, means=means)
        assert pa.table(batches.top_k(queries, by_means, 5)).equals(found.combine_chunks())


def test_spark_vectors_are_read():
    X = views(20)[0]
    dense = [{"type": 1, "size": None, "indices": None, "values": row} for row in X.tolist()]
    dense[3] = {"type": 0, "size": 6, "indices": [1, 4], "values": [0.5, 2.0]}
    dense[5] = None
    kind = pa.struct([("type", pa.int8()), ("size", pa.int32()), ("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))])
    table = pa.table({"x": pa.array(dense, kind), "y": lists(X)})
    X[3] = [0, 0.5, 0, 0, 2, 0]
    X[5] = np.nan
    found = batches.moments([batches.partial_moments(table.to_batches(), ["x", "y"])])
    assert_allclose(found.patterns["x", "y"].mean[:6], np.nanmean(X.astype("f8"), axis=0), rtol=1e-12)
    dense[7] = {"type": 0, "size": 6, "indices": [6], "values": [1.0]}
    with pytest.raises(ValueError, match="row 8.*sparse with the index 6"):
        batches.partial_moments(pa.table({"x": pa.array(dense, kind)}).to_batches(), ["x"])


def test_results_are_tables_where_asked(space):
    table = pa.table(space.translate(["house", "dog"], "en", "fr", k=3, arrow=True))
    plain = space.translate(["house", "dog"], "en", "fr", k=3)
    assert table["translation"].to_pylist() == [candidate.word for candidates in plain for candidate in candidates]
    induced = pa.table(space.induce("en", "fr", mutual=True, arrow=True))
    assert list(zip(induced["en"].to_pylist(), induced["fr"].to_pylist())) == [pair[:2] for pair in space.induce("en", "fr", mutual=True)]
    X, Y = views(50)[0], views(60, 1)[0]
    ids, scores = sememe.neighbors(X, Y, 3)
    found = pa.table(sememe.neighbors(X, Y, 3, arrow=True))
    assert found["target"].to_pylist() == ids.ravel().tolist() and found["score"].to_pylist() == scores.ravel().tolist()
