"""How time and memory of one MBFA grow with the number of views and of words."""
import json
import os
import shutil
import subprocess
import time

from .charts import draw
from .common import ROOT, WORKSPACE, tell

# Entries of the dictionary between the first view and each other one, as a part of the words.
SHARED = 0.05
# Length of the noise of a word, relative to its vector.
NOISE = 0.6
# Words that are translated between views that no dictionary connects.
TESTED = 1000


def source_rows(options, words):
    """Rows that all views are copies of, of unit length."""
    import numpy as np
    if options.vectors:
        rows = np.load(options.vectors, mmap_mode="r")[:words].astype(np.float32)
        if len(rows) < words:
            raise SystemExit(f"{options.vectors} has {len(rows):,} rows; give --words of at most as many")
    else:
        random = np.random.default_rng(seed=0)
        rows = random.normal(size=(words, options.dimension)).astype(np.float32)
        rows *= np.linspace(3, 0.3, options.dimension, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def simulate(options, views, words):
    """Files of so many views, and the dictionaries of the first one with the others. Each view is a rotated and noised
    copy of the same rows: row `i` of each means the same. Words are numbers in an order of each view's own, so that their
    spelling says nothing of words of another view."""
    import numpy as np
    folder = WORKSPACE / f"views-{options.vectors.parent.name if options.vectors else 'random'}-{words}"
    folder.mkdir(parents=True, exist_ok=True)
    rows = None
    for view in range(views):
        path = folder / f"v{view}.npy"
        if path.exists():
            continue
        rows = source_rows(options, words) if rows is None else rows
        random = np.random.default_rng(seed=view + 1)
        rotation = np.linalg.qr(random.normal(size=(rows.shape[1], rows.shape[1])))[0].astype(np.float32)
        noise = random.standard_normal(size=rows.shape, dtype=np.float32) * (NOISE / rows.shape[1] ** 0.5)
        (folder / f"v{view}.words.txt").write_text("".join(f"{word}\n" for word in spelled(view, words)))
        entries = sorted(random.choice(words, size=int(SHARED * words), replace=False))
        write_entries(folder / f"v{view}.tsv", (0, view), entries, words)
        np.save(path.with_suffix(".part.npy"), (rows + noise) @ rotation)
        path.with_suffix(".part.npy").rename(path)  # last: a view that is there is complete
    return folder


def spelled(view, words):
    """The words of a view."""
    import numpy as np
    return [f"{number}@{view}" for number in np.random.default_rng(seed=[view, words]).permutation(words)]


def write_entries(path, views, rows, words):
    """A dictionary of these rows of two views."""
    source, target = (spelled(view, words) for view in views)
    path.write_text("".join(f"{source[row]}\t{target[row]}\n" for row in rows))


def measure(command):
    """Seconds of wall and of processor time of a command, its most resident memory in bytes, and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), command)
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, json.loads(printed)


def align(options, views, words):
    """Aligns so many views; the space, and what was measured."""
    folder = simulate(options, views, words)
    space = folder / f"space-{views}"
    shutil.rmtree(space, ignore_errors=True)
    command = [options.binary, "align", "--json", "--quiet", "--threads", str(options.threads), "-o", space]
    command += [f"v{view}={folder / f'v{view}.npy'}" for view in range(views)]
    command += [part for view in range(1, views) for part in ("--lexicon", f"v0-v{view}={folder / f'v{view}.tsv'}")]
    tell(f"{views} views of {words:,} words")
    return folder, space, measure(command + options.align)


def evaluated(options, folder, space, source, target, words):
    """What CSLS finds of words of one view in another, neither of them the first; of words of no dictionary of theirs."""
    import numpy as np
    known = set()
    for view in (source, target):
        first = spelled(view, words)
        places = dict(zip(first, range(words)))
        known.update(places[line.rstrip("\n").split("\t")[1]] for line in open(folder / f"v{view}.tsv"))
    tested = [row for row in range(words) if row not in known]
    tested = np.random.default_rng(seed=0).choice(tested, size=min(TESTED, len(tested)), replace=False)
    gold = folder / "gold.tsv"
    write_entries(gold, (source, target), sorted(tested), words)
    command = [options.binary, "evaluate", "translation", space, "--from", f"v{source}", "--to", f"v{target}"]
    result = measure([*command, "--gold", gold, "--criterion", "csls", "--json", "--quiet"])[3]
    return [f"{result['precision']['1']:.1f}", f"{result['confidence']['mean']:.1f}"]


def row_of(views, words, measured):
    wall, processor, peak, result = measured
    return [str(views), f"{words:,}", f"{wall:.0f}", f"{processor:.0f}", f"{peak / 1e9:.2f}", str(result["evaluations"])]


def views(options):
    """How time and memory of one MBFA grow with the number of views and of words."""
    header = ["views", "words of each", "seconds", "processor s", "peak GB", "evaluations", "P@1, %", "said, %"]
    growth, table = {"views": [], "words": []}, [header]
    most = max(options.views)
    for number in options.views:
        folder, space, measured = align(options, number, options.words)
        found = evaluated(options, folder, space, number - 2, number - 1, options.words)
        growth["views"].append((number, measured[1], measured[2] / 1e9))
        table.append([*row_of(number, options.words, measured), *found])
        tell(" | ".join(table[-1]))
        if number < most:
            shutil.rmtree(space)
    if options.extend:
        simulate(options, most + 1, options.words)
        tell(f"extending {most} views")
        command = [options.binary, "extend", space, f"v{most}={folder / f'v{most}.npy'}", "--json", "--quiet"]
        wall, processor, peak, _ = measure([*command, "--lexicon", f"v0-v{most}={folder / f'v{most}.tsv'}"])
        found = evaluated(options, folder, space, most - 1, most, options.words)
        table.append(["one more by `extend`", f"{options.words:,}", f"{wall:.1f}", f"{processor:.0f}", f"{peak / 1e9:.2f}", "", *found])
        tell(" | ".join(table[-1]))
    fewest = min(options.views)
    for count in options.by_words:
        folder, space, measured = align(options, fewest, count)
        found = evaluated(options, folder, space, fewest - 2, fewest - 1, count)
        growth["words"].append((count, measured[1], measured[2] / 1e9))
        table.append([*row_of(fewest, count, measured), *found])
        tell(" | ".join(table[-1]))
        shutil.rmtree(space)
    notes = [f"Rotated copies of the same rows with noise of {NOISE} times their length, and dictionaries of "
             f"{100 * SHARED:.0f} % of the words between the first view and each other one. Real languages are not copies of each "
             "other: these figures are about time and memory.",
             f"P@1 by CSLS between the last two views, which no dictionary connects, of {TESTED:,} words that no dictionary of "
             "theirs has, and the mean of the confidences that are said with them."]
    if options.markdown:
        draw_growth(ROOT / "benches" / "views.svg", growth)
        notes.append("Drawn in [views.svg](views.svg).")
    yield "Many languages in one MBFA", table, notes


def draw_growth(path, growth):
    """Charts of time and memory against the number of views and of words."""
    charts = []
    for what, measured in growth.items():
        if measured:
            charts.append((f"processor seconds, by {what}", [(number, seconds) for number, seconds, _ in measured]))
            charts.append((f"peak memory in GB, by {what}", [(number, peak) for number, _, peak in measured]))
    draw(path, charts)
