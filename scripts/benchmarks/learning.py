"""How long it takes to learn a lexicon from identical strings."""
import os
import shutil
import subprocess
import sys
import time

from .common import WORKSPACE, in_fresh_process, tell

NEIGHBOURS, FREQUENT, BATCH = 10, 20_000, 2_000
# What is kept doubles after so many rounds without improvement, from a tenth up to all, five times in all.
PATIENCE, FEWEST_ROUNDS = 50, 250


def read(path, words):
    """Vectors of length 1 about their mean, and the row of every word."""
    import numpy as np
    unit = lambda rows: rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    rows = unit(np.array(np.load(path, mmap_mode="r")[:words], dtype=np.float32))
    rows = unit(rows - rows.mean(axis=0))
    names = (path.parent / "words.txt").read_text(encoding="utf-8").split("\n")
    return rows, {name.lower(): row for row, name in reversed(list(enumerate(names[:words])))}


def crowds(x, y):
    """The mean similarity of every row to its nearest ones."""
    import numpy as np
    means = np.zeros(len(x), dtype=np.float32)
    for start in range(0, len(x), BATCH):
        similarities = x[start:start + BATCH] @ y.T
        everyone = np.arange(len(similarities))
        for _ in range(NEIGHBOURS):
            best = similarities.argmax(axis=1)
            means[start:start + BATCH] += similarities[everyone, best] / NEIGHBOURS
            similarities[everyone, best] = -1
    return means


def best_words(x, y, crowds_of_y, kept, random):
    """The best word for every row by CSLS, when each is seen with some probability only."""
    import numpy as np
    best, scores = np.zeros(len(x), dtype=int), np.zeros(len(x), dtype=np.float32)
    for start in range(0, len(x), BATCH):
        similarities = x[start:start + BATCH] @ y.T
        similarities -= crowds_of_y / 2
        scores[start:start + BATCH] = similarities.max(axis=1)
        if kept < 1:
            similarities *= random.random(similarities.shape, dtype=np.float32) < kept
        best[start:start + BATCH] = similarities.argmax(axis=1)
    return best, scores


def learn_as_artetxe_and_others(files, words, limit):
    """Self-learning of Artetxe, Labaka & Agirre (2018), as VecMap's --identical has it; runs in the rival's process."""
    import numpy as np
    random = np.random.default_rng(seed=0)
    start = time.perf_counter()
    (x, rows_of_x), (y, rows_of_y) = (read(file, words) for file in files)
    same = [(rows_of_x[word], rows_of_y[word]) for word in sorted(rows_of_x.keys() & rows_of_y.keys())]
    if not same:
        sys.exit("no string is the same in both files")
    of_x, of_y = np.array(same).T
    best, kept, rounds, improved = -np.inf, 0.1, 0, 0
    while time.perf_counter() - start < limit:
        if rounds - improved > PATIENCE:
            if kept >= 1:
                return time.perf_counter() - start, rounds, True
            kept, improved = min(1, 2 * kept), rounds
        u, _, v = np.linalg.svd(x[of_x].T @ y[of_y])
        here, there = (x @ (u @ v))[:FREQUENT], y[:FREQUENT]
        forth, scores = best_words(here, there, crowds(there, here), kept, random)
        back, other_scores = best_words(there, here, crowds(here, there), kept, random)
        of_x, of_y = np.concatenate([np.arange(len(forth)), back]), np.concatenate([forth, np.arange(len(back))])
        objective = (scores.mean() + other_scores.mean()) / 2
        if objective >= best + 1e-6:
            best, improved = objective, rounds
        rounds += 1
        tell(f"  round {rounds}: {time.perf_counter() - start:.0f} s, {kept:.1f} kept, objective {objective:.4f}")
    return time.perf_counter() - start, rounds, False


def run_sememe(options):
    """Seconds and megabytes of a whole process."""
    space = WORKSPACE / "learned"
    shutil.rmtree(space, ignore_errors=True)
    views = [f"{side}={file}" for side, file in zip("ab", options.vectors)]
    command = [options.binary, "align", *views, "--max-words", str(options.words), "--lower", "--normalize", "unit",
               "--identical", "--refine", "-o", space, "--quiet"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("sememe failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def learning(options):
    """Section on how long self-learning takes."""
    tell("running sememe")
    ours, memory = run_sememe(options)
    tell("running the loop of VecMap")
    theirs, rounds, is_done = in_fresh_process(learn_as_artetxe_and_others, options.vectors, options.words, options.limit)
    least = theirs if is_done else FEWEST_ROUNDS * theirs / rounds
    more = "" if is_done else "at least "
    stopped = f"was stopped after {rounds} rounds and {theirs:.0f} s; its own rule makes {FEWEST_ROUNDS} rounds at least"
    title = f"Learning from identical strings, {options.words:,} words of each language"
    yield title, [["", "seconds", "ratio"],
                  ["sememe align --identical --refine", f"{ours:.1f}", "1.0"],
                  ["VecMap's loop in numpy", f"{more}{least:.0f}", f"{more}{least / ours:.1f}"]], [
        f"Time: sememe's whole process, which needs {memory:.0f} MB at most; of the rival reading and rounds.",
        "The loop is that of VecMap's `--identical` (20,000 frequent words, CSLS, both directions, stochastic induction), "
        f"written again for numpy; it {f'converged after {rounds} rounds' if is_done else stopped}."]
