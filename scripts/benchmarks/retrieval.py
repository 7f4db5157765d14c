"""How long exact nearest neighbours take."""
import os
import sys
import time

from .common import WORKSPACE, in_fresh_process, tell, time_command


def row_files(source, *counts):
    """Files of unit vectors, one after the other from a `.npy` file, or of random numbers."""
    import numpy as np
    if source:
        rows = np.load(source, mmap_mode="r")
        if len(rows) < sum(counts):
            sys.exit(f"{source} has {len(rows)} rows where {sum(counts)} are needed")
        rows = np.array(rows[:sum(counts)], dtype=np.float32)
    else:
        rows = np.random.default_rng(seed=0).standard_normal((sum(counts), 300), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    paths = []
    for part in np.split(rows, np.cumsum(counts)[:-1]):
        paths.append(WORKSPACE / f"rows-{len(paths)}.npy")
        np.save(paths[-1], part)
    return paths


def search_with_faiss(targets, threads):
    import faiss
    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(targets.shape[1])
    index.add(targets)
    return lambda queries, k: index.search(queries, k)[1]


def search_with_usearch(targets, threads):
    from usearch.index import MetricKind, search
    return lambda queries, k: search(targets, queries, k, MetricKind.IP, exact=True, threads=threads).keys


def search_with_numpy(targets, threads):
    import numpy as np

    def nearest(queries, k):
        found = []
        for block in np.array_split(queries, max(1, len(queries) // 500)):
            scores = block @ targets.T
            best = np.argpartition(scores, -k, axis=1)[:, -k:]
            order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
            found.append(np.take_along_axis(best, order, 1))
        return np.concatenate(found)
    return nearest


def time_search(prepare, queries, targets, k, threads, share):
    """Seconds of the search alone, and the rows found, for a share of the queries; runs in the rival's process."""
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    import numpy as np
    queries = np.load(queries)
    queries = queries[:len(queries) // share]
    search = prepare(np.load(targets), threads)
    start = time.perf_counter()
    found = search(queries, k)
    return time.perf_counter() - start, np.asarray(found, dtype=np.int64)


def neighbors_command(options, queries, targets, k, threads):
    output = WORKSPACE / "found"
    return [options.binary, "neighbors", queries, targets, "-k", str(k), "--criterion", "dot", "-o", output, "--quiet",
            "--threads", str(threads), "--json"], WORKSPACE / "found.ids.npy"


def retrieval(options):
    """Section on how long the exact nearest neighbours take."""
    import numpy as np
    targets, queries = row_files(options.vectors, options.targets, options.queries)
    k, table = 10, [["search", "threads", "seconds", "ratio", "same ids"]]
    # The slowest is asked a tenth of the questions.
    rivals = {"faiss IndexFlatIP": (search_with_faiss, 1), "usearch exact": (search_with_usearch, 10),
              "numpy": (search_with_numpy, 1)}
    for threads in range(1, options.threads + 1):
        tell(f"running sememe on {threads} threads")
        command, ids = neighbors_command(options, queries, targets, k, threads)
        ours, _ = time_command(command, options.repeat)
        found = np.load(ids)
        table.append(["sememe", str(threads), f"{ours:.2f}", "1.0", ""])
        for name, (prepare, share) in rivals.items():
            tell(f"running {name} on {threads} threads")
            seconds, theirs = in_fresh_process(time_search, prepare, queries, targets, k, threads, share)
            same = f"{100 * (found[:len(theirs)] == theirs).mean():.3f} %"
            table.append([name, str(threads), f"{share * seconds:.2f}", f"{share * seconds / ours:.1f}", same])
    what = options.vectors.name if options.vectors else "random numbers"
    title = f"The {k} nearest of {options.targets:,} x 300 to each of {options.queries:,}, {what}"
    yield title, table, [
        f"Time: sememe's whole process, reading and writing files included, best of {options.repeat}; the rivals' search "
        "alone, one run (usearch: of a tenth of the queries, times ten).",
        "Unit vectors by inner product. Sememe ranks by sums in float64; where ids differ, float32 cannot tell."]


def terms(options):
    """Section on how long the neighbourhood terms of CSLS take."""
    import numpy as np
    a, b = row_files(options.vectors, options.words, options.words)
    square = np.random.default_rng(seed=0).standard_normal((4096, 4096), dtype=np.float32)
    peak = max(2 * 4096**3 / 1e9 / timed(lambda: square @ square) for _ in range(5))
    threads = len(os.sched_getaffinity(0))
    tell("running sememe")
    seconds, _ = time_command(neighbors_command(options, a, b, 10, threads)[0], 1)
    speed = 2 * options.words**2 * 300 / 1e9 / seconds
    what = options.vectors.name if options.vectors else "random numbers"
    title = f"Neighbourhood terms of CSLS, {options.words:,} x {options.words:,} x 300, {what}"
    table = [["", "seconds", "as float32 products"],
             ["sememe, one direction", f"{seconds:.1f}", f"{speed:.0f} GFLOP/s"],
             ["numpy's matrix product alone", f"{2 * options.words**2 * 300 / 1e9 / peak:.1f}", f"{peak:.0f} GFLOP/s"]]
    yield title, table, [
        f"The ten nearest of all words to all words on {threads} threads, whole process; numpy's time follows from its "
        "speed on 4096 x 4096 matrices."]


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
