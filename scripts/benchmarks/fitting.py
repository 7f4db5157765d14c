"""How long models take to fit, vectors being in memory."""
import json
import subprocess
import time

from .charts import draw
from .common import ROOT, WORKSPACE, in_fresh_process, tell

FITTING = ROOT / "target" / "release" / "examples" / "fitting"


def write_views(name, views, rows, dimension):
    """Views of rows that share a hidden vector of their dimension, as raw float32."""
    import numpy as np
    paths = [WORKSPACE / f"{name}-{rows}x{dimension}-{view}.f32" for view in range(views)]
    if not all(path.exists() for path in paths):
        random = np.random.default_rng(seed=0)
        shared = random.normal(size=(rows, dimension)) * np.linspace(3, 0.1, dimension)
        for path in paths:
            mixed = shared @ random.normal(size=(dimension, dimension)) / dimension ** 0.5
            (mixed + random.normal(size=mixed.shape)).astype("<f4").tofile(path)
    return paths


def write_triples(tuples, vectors):
    """The vectors of all tuples of a file with a header of views, of unit length; words are lower-cased."""
    import numpy as np
    rows = [line.rstrip("\n").lower().split("\t") for line in open(tuples, encoding="utf-8")][1:]
    paths = []
    for view, path in enumerate(vectors):
        row_of = {}
        for row, word in enumerate(path.with_name("words.txt").read_text(encoding="utf-8").split("\n")):
            row_of.setdefault(word.lower(), row)
        chosen = np.load(path, mmap_mode="r")[[row_of[words[view]] for words in rows]].astype(np.float64)
        paths.append(WORKSPACE / f"{tuples.stem}-{view}.f32")
        (chosen / np.linalg.norm(chosen, axis=1, keepdims=True)).astype("<f4").tofile(paths[-1])
    return paths


def fit(method, paths, dimension, evaluations=1000, tolerance=1e-8, star=False, repeat=1):
    """What the example `fitting` reports, of the fastest of several runs."""
    command = [FITTING, *["--star"] * star, method, str(dimension), str(evaluations), str(tolerance), *paths]
    runs = [json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(repeat)]
    return min(runs, key=lambda run: run["moments"] + run["fit"])


def seconds_per_evaluation(run, after=6):
    """After the first steps, which are another method's."""
    (start, before, _), (end, evaluations, _) = run["steps"][after], run["steps"][-1]
    return (end - start) / (evaluations - before)


def load_rows(paths, dimension):
    import numpy as np
    return [np.fromfile(path, dtype="<f4").reshape(-1, dimension) for path in paths]


def ibfa_in_numpy(paths, dimension, repeat):
    """Seconds for the moments and for the rest, and the log-likelihood."""
    import numpy as np
    x, y = load_rows(paths, dimension)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        rows = np.empty((len(x), 2 * dimension))
        rows[:, :dimension], rows[:, dimension:] = x, y
        rows -= rows.mean(axis=0)
        covariance = rows.T @ rows / len(rows)
        middle = time.perf_counter()
        factors = [np.linalg.cholesky(covariance[part, part]) for part in (slice(dimension), slice(dimension, None))]
        cross = np.linalg.solve(factors[0], np.linalg.solve(factors[1], covariance[dimension:, :dimension]).T)
        u, rho, v = np.linalg.svd(cross)
        projections = [np.linalg.solve(factor.T, side * rho ** 0.5) for factor, side in zip(factors, (u, v.T))]
        times.append((middle - start, time.perf_counter() - middle))
        assert all(np.isfinite(projection).all() for projection in projections)
    log_determinant = np.linalg.slogdet(covariance)[1]
    log_likelihood = -0.5 * len(x) * (2 * dimension * (np.log(2 * np.pi) + 1) + log_determinant)
    return *min(times, key=sum), log_likelihood


def em_in_numpy(paths, dimension, iterations=5):
    """Seconds an iteration of EM with the whole covariance inverted, as the paper's authors do, and block by block."""
    import numpy as np
    rows = np.hstack(load_rows(paths, dimension)).astype(np.float64)
    rows -= rows.mean(axis=0)
    covariance = rows.T @ rows / len(rows)
    blocks = [slice(start, start + dimension) for start in range(0, len(covariance), dimension)]
    identity, loadings = np.eye(dimension), np.linalg.eigh(covariance)[1][:, -dimension:]

    mask = np.kron(np.eye(len(blocks)), np.ones((dimension, dimension)))

    def dense(w, psi):
        b = w.T @ np.linalg.inv(w @ w.T + psi)
        s_b = covariance @ b.T
        w = np.linalg.solve(identity - b @ w + b @ s_b, s_b.T).T
        return w, mask * (covariance - w @ s_b.T)

    def in_blocks(w, psi):
        q = np.vstack([np.linalg.solve(psi[block, block], w[block]) for block in blocks])
        m = np.linalg.inv(identity + w.T @ q)
        s_b = covariance @ q @ m
        w = np.linalg.solve(m + m @ (q.T @ s_b), s_b.T).T
        psi = np.zeros_like(covariance)
        for block in blocks:
            psi[block, block] = covariance[block, block] - w[block] @ s_b[block].T
        return w, psi

    seconds = []
    for step in dense, in_blocks:
        w, psi = step(0.01 * loadings, mask * covariance)
        start = time.perf_counter()
        for _ in range(iterations):
            w, psi = step(w, psi)
        seconds.append((time.perf_counter() - start) / iterations)
    return seconds


def fitting(options):
    """How long models take to fit, vectors being in memory."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "--package", "sememe", "--example", "fitting",
                    "--target-dir", "target"], cwd=ROOT, check=True)
    yield fit_ibfa(options)
    yield from fit_mbfa(options)
    yield from scale_mbfa(options)


def fit_ibfa(options, rows=100_000, dimension=300):
    paths = write_views("pairs", 2, rows, dimension)
    tell("IBFA")
    ours = fit("ibfa", paths, dimension, repeat=options.repeat)
    moments, rest, log_likelihood = in_fresh_process(ibfa_in_numpy, paths, dimension, options.repeat)
    both = [(ours["moments"], moments), (ours["fit"], rest), (ours["moments"] + ours["fit"], moments + rest)]
    table = [["step", "sememe, s", "numpy, s", "ratio"]] + [
        [name, f"{mine:.3f}", f"{theirs:.3f}", f"{theirs / mine:.2f}"]
        for name, (mine, theirs) in zip(["moments", "Cholesky, SVD, projections", "together"], both)]
    return f"IBFA from {rows:,} pairs of {dimension} dimensions", table, [
        f"Random float32 rows; both sum in float64 on all cores; best of {options.repeat}.",
        f"Log-likelihoods differ by {abs(ours['log_likelihood'] / log_likelihood - 1):.0e} of themselves."]


def fit_mbfa(options, dimension=300):
    if options.triples:
        paths = write_triples(options.triples, options.vectors)
    else:
        paths = write_views("triples", 3, 9482, dimension)
    rows = paths[0].stat().st_size // (4 * dimension)
    tell("MBFA")
    run = fit("mbfa", paths, dimension, repeat=options.repeat)
    each = seconds_per_evaluation(run)
    dense, in_blocks = in_fresh_process(em_in_numpy, paths, dimension)
    table = [["one evaluation or iteration", "ms", "ratio"]] + [
        [name, f"{1000 * seconds:.0f}", f"{seconds / each:.1f}"] for name, seconds in [
            ("sememe: likelihood and gradient", each), ("numpy: dense EM, no likelihood", dense),
            ("numpy: block EM, no likelihood", in_blocks)]]
    source = options.triples.name if options.triples else "random rows"
    yield f"MBFA of {rows:,} triples of {dimension} dimensions: one step", table, [f"Data: {source}."]
    end = run["steps"][-1]
    reached = [(f"{target:.4f}", next((step for step in run["steps"] if step[2] <= target), None))
               for target in options.targets]
    table = [["negative log-likelihood per row", "evaluations", "seconds", "ratio"]] + [
        [name, str(step[1]), f"{step[0]:.2f}", f"{20_000 * dense / step[0]:.0f}"] if step
        else [name, "not reached", "", ""]
        for name, step in [*reached, (f"{end[2]:.4f}, where it ends by default", end)]]
    yield f"MBFA of {rows:,} triples of {dimension} dimensions: the whole fit", table, [
        f"Data: {source}. Seconds from moments on, start included; the moments took {run['moments']:.2f} s more.",
        f"The ratio is to 20,000 iterations of dense EM, {20_000 * dense:,.0f} s at the speed above.",
        f"The best of {options.repeat} runs."]


def scale_mbfa(options, dimension=200, rows=32_000):
    paths = write_views("star", 12, rows, dimension)
    timed = {}
    for views in range(2, len(paths) + 1):
        tell(f"{views} views")
        run = fit("mbfa", paths[:views], dimension, evaluations=40, tolerance=0, star=True, repeat=options.repeat)
        timed[views] = 1000 * seconds_per_evaluation(run)
    table = [["views", "ms per evaluation", "ms per pair of views"]] + [
        [str(views), f"{ms:.1f}", f"{ms / (views - 1):.2f}"] for views, ms in timed.items()]
    title = f"MBFA of pairs of a first view with each other one, {dimension} dimensions"
    if options.markdown:
        draw(ROOT / "benches" / "mbfa-views.svg", [("ms per evaluation against the number of views", list(timed.items()))])
    yield title, table, [f"{rows:,} random pairs in all. Drawn in [mbfa-views.svg](mbfa-views.svg)."]
    table = [["rows", "moments, s", "ms per evaluation"]]
    for count in (2_000, 8_000, 32_000, 128_000):
        tell(f"{count} rows")
        run = fit("mbfa", write_views("rows", 3, count, dimension), dimension, 40, 0, repeat=options.repeat)
        table.append([f"{count:,}", f"{run['moments']:.2f}", f"{1000 * seconds_per_evaluation(run):.1f}"])
    yield f"MBFA of triples of {dimension} dimensions, by number of rows", table, ["Random triples."]
