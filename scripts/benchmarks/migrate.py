"""How well the index of an old embedding model answers queries of a new one, by sememe and by the usual adapters."""
import json
import subprocess
import time

from .common import WORKSPACE, in_fresh_process, tell

RIDGES, RANKS, HELD_OUT, BATCH = (1e-3, 1e-2, 1e-1, 1.0), (64, 128, 256), 5, 1000
OURS = {"mapped": "sememe, index as it is", "bulk": "sememe, index to the new space", "latent": "sememe, latent",
        "indexed": "sememe, index mapped"}
RIVALS = ["Procrustes", "ridge", "low-rank affine"]


def read_unit(path):
    import numpy as np
    rows = np.load(path).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def read_questions(path):
    import numpy as np
    return np.loadtxt(path, dtype=int, ndmin=2)


def sample(count, questions, options, seed):
    """Rows to fit to: those of the other domain, or those of the queries' own domain that occur in no question."""
    import numpy as np
    rows = np.arange(options.fit_from, count)
    if options.in_domain:
        rows = np.setdiff1d(np.arange(options.fit_from), questions)
    return np.random.default_rng(seed).permutation(rows)


def recall(index, queries, questions):
    """Recall at 1 and 10 in per cent. Every line is a question, and the row of the query itself is left out."""
    import numpy as np
    ranks = np.zeros(len(questions), dtype=int)
    for start in range(0, len(questions), BATCH):
        block = questions[start:start + BATCH]
        scores = queries[start:start + BATCH] @ index.T
        each = np.arange(len(block))
        scores[each, block[:, 0]] = -np.inf
        ranks[start:start + BATCH] = (scores > scores[each, block[:, 1]][:, None]).sum(axis=1)
    return [100 * float((ranks < k).mean()) for k in (1, 10)]


def twins_found(mapped, y):
    """How many held-out rows find their own twin."""
    import numpy as np
    return float(((mapped @ y.T).argmax(axis=1) == np.arange(len(y))).mean())


def adapters(x, y):
    """The usual maps from new rows to old ones, fitted in f64. What they have to choose, held-out pairs choose."""
    import numpy as np
    x, y = x.astype(np.float64), y.astype(np.float64)
    unit = lambda rows: rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    def ridge(x, y, penalty, rank=None):
        """Without a rank there is no intercept: under another domain it would ruin the queries."""
        of_x, of_y = (x.mean(axis=0), y.mean(axis=0)) if rank else (0, 0)
        second = (x - of_x).T @ (x - of_x)
        second += penalty * np.trace(second) / len(second) * np.eye(len(second))
        matrix = np.linalg.solve(second, (x - of_x).T @ (y - of_y))
        if rank:
            u, s, v = np.linalg.svd(matrix, full_matrices=False)
            matrix = (u[:, :rank] * s[:rank]) @ v[:rank]
        return lambda rows: unit((rows - of_x) @ matrix + of_y)

    def best(choices):
        count = len(x) // HELD_OUT
        score = lambda choice: twins_found(ridge(x[count:], y[count:], *choice)(x[:count]), y[:count])
        return ridge(x, y, *max(choices, key=score))

    u, _, v = np.linalg.svd(x.T @ y, full_matrices=False)
    low = [(penalty, rank) for penalty in RIDGES for rank in RANKS if rank < min(x.shape[1], y.shape[1])]
    return [lambda rows: unit(rows @ (u @ v)), best([(penalty,) for penalty in RIDGES]), best(low or [(RIDGES[1], 1)])]


def run_rivals(old, new, questions, rows):
    """Recall of every adapter; runs in the rivals' process."""
    import numpy as np
    index, x, questions = read_unit(old), read_unit(new), read_questions(questions)
    asked = x[questions[:, 0]]
    return [recall(index, maps(asked).astype(np.float32), questions) for maps in adapters(x[rows], index[rows])]


def run_sememe(options, old, new, rows):
    """What `evaluate` prints, the seconds of `fit`, and the microseconds of a query."""
    import numpy as np
    WORKSPACE.mkdir(parents=True, exist_ok=True)
    listed, fitted = WORKSPACE / "migrate.rows.txt", WORKSPACE / "migrate.map"
    np.savetxt(listed, np.sort(rows), fmt="%d")
    views = [f"old={old}", f"new={new}"]
    start = time.perf_counter()
    command = [options.binary, "migrate", "fit", *views, "--rows", listed, "-o", fitted, "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    command = [options.binary, "migrate", "evaluate", fitted, *views, "--queries", options.data / "queries.tsv", "--json"]
    evaluated = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return evaluated, seconds, query_time(options, fitted, new)


def query_time(options, fitted, new):
    """Microseconds of `apply` for one more query: many queries in one file, less the time of a process with one."""
    import numpy as np
    queries = np.load(new)
    seconds = []
    for count in (1, len(queries)):
        path, mapped = WORKSPACE / "migrate.queries.npy", WORKSPACE / "migrate.mapped.npy"
        np.save(path, queries[:count])
        command = [options.binary, "migrate", "apply", fitted, f"new={path}", "-o", mapped, "--quiet"]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return 1e6 * (seconds[1] - seconds[0]) / (len(queries) - 1)


TIMED = """
import statistics, sys, time
import numpy as np
from sememe import migrate

class Nothing:
    dim = None
    def search(self, queries, k):
        return migrate.Answers(queries, queries)

map = migrate.MigrationMap.open(sys.argv[1])
queries = [row[None] for row in np.load(sys.argv[2])[:4000].astype(np.float32)]
live = map.over(Nothing())
for ask in (map.apply, live.search):
    times = []
    for query in queries:
        start = time.perf_counter()
        ask(query)
        times.append(time.perf_counter() - start)
    print(1e6 * statistics.median(times))
"""


def single_queries(options, new):
    """Microseconds of one query in Python: mapped, and asked of a live index that answers at once. The map is the last that was fitted."""
    command = [options.python, "-c", TIMED, WORKSPACE / "migrate.map", new]
    return map(float, subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split())


def migrate(options):
    """Section on recall by method, pair of models and number of pairs."""
    import numpy as np
    questions = options.data / "queries.tsv"
    names = ["old → old", "new → new", *RIVALS, *OURS.values()]
    table, spread, times, of_queries = [["old ← new", "pairs", *names]], [], [], []
    for pair in options.pairs:
        old, new = (options.data / f"{name}.npy" for name in pair.split(":"))
        total = len(np.load(old, mmap_mode="r"))
        for size in options.sizes:
            runs = []
            size = min(size, len(sample(total, read_questions(questions), options, 0)))
            for seed in range(options.seeds):
                tell(f"{pair}, {size} pairs, seed {seed}")
                rows = sample(total, read_questions(questions), options, seed)[:size]
                theirs = in_fresh_process(run_rivals, old, new, questions, rows)
                ours, seconds, microseconds = run_sememe(options, old, new, rows)
                of = lambda way: [ours[way]["recall"][k] for k in ("1", "10")]
                runs.append([of("old"), of("new"), *theirs, *map(of, OURS)])
                times.append(seconds)
                of_queries.append(microseconds)
            means = np.mean(runs, axis=0)
            spread.append(np.std(runs, axis=0).max())
            table.append([pair.replace(":", " ← "), f"{size:,}", *(f"{one:.1f} / {ten:.1f}" for one, ten in means)])
    alone = []
    if options.python:
        mapped, live = single_queries(options, new)
        alone = [f"One query in Python, the median of 4,000: {mapped:.1f} µs for `MigrationMap.apply`, {live:.1f} µs for `MigratedIndex.search` over an "
                 "index that answers at once."]
    domain = "the queries' own domain, of rows that occur in no question" if options.in_domain else "another domain"
    yield "Queries of a new embedding model, the index of the old one", table, [
        f"Recall at 1 and at 10 in per cent, of {len(read_questions(questions)):,} questions whose own row is left out; pairs "
        f"are from {domain}; means of {options.seeds} samples, whose standard deviation is at most {max(spread):.1f}.",
        "Procrustes and ridge have no intercept; the ridge term and the rank of the affine map are chosen by the held-out "
        "twins found, out of " f"{RIDGES} and {RANKS}.",
        "The last column uses the vectors of the queries, without their answers, to adapt the mapped index.",
        f"`sememe migrate fit` took {np.median(times):.1f} s in the median, whole processes; `apply` {np.median(of_queries):.1f} µs a "
        "query, with reading and writing files.", *alone]
