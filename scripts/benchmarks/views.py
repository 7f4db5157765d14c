"""How time and memory of one MBFA grow with the number of views and of words."""
import json
import os
import shutil
import subprocess
import time

from .common import ROOT, WORKSPACE, tell
from .fitting import draw

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
    copy of the same rows: row `i` of each means the same. Its words are called so that no string is in two views."""
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
        (folder / f"v{view}.words.txt").write_text("".join(f"{row}@{view}\n" for row in range(words)))
        entries = sorted(random.choice(words, size=int(SHARED * words), replace=False))
        (folder / f"v{view}.tsv").write_text("".join(f"{row}@0\t{row}@{view}\n" for row in entries))
        np.save(path.with_suffix(".part.npy"), (rows + noise) @ rotation)
        path.with_suffix(".part.npy").rename(path)  # last: a view that is there is complete
    return folder


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


def precision(options, folder, space, source, target, words):
    """P@1 by CSLS of words of one view in another, neither of them the first; of words of no dictionary of theirs."""
    import numpy as np
    known = {line.split("@")[0] for view in (source, target) for line in open(folder / f"v{view}.tsv")}
    tested = [row for row in range(words) if str(row) not in known]
    tested = np.random.default_rng(seed=0).choice(tested, size=min(TESTED, len(tested)), replace=False)
    gold = folder / "gold.tsv"
    gold.write_text("".join(f"{row}@{source}\t{row}@{target}\n" for row in tested))
    command = [options.binary, "evaluate", "translation", space, "--from", f"v{source}", "--to", f"v{target}"]
    return measure([*command, "--gold", gold, "--criterion", "csls", "--json", "--quiet"])[3]["precision"]["1"]


def row_of(views, words, measured):
    wall, processor, peak, result = measured
    return [str(views), f"{words:,}", f"{wall:.0f}", f"{processor:.0f}", f"{peak / 1e9:.2f}", str(result["evaluations"])]


def views(options):
    """How time and memory of one MBFA grow with the number of views and of words."""
    header = ["views", "words", "seconds", "processor s", "peak GB", "evaluations"]
    growth, table = [], [[*header, "P@1, %"]]
    for number in options.views:
        folder, space, measured = align(options, number, options.words)
        found = precision(options, folder, space, number - 2, number - 1, options.words)
        growth.append((number, measured[1]))
        table.append([*row_of(number, options.words, measured), f"{found:.1f}"])
        tell(" | ".join(table[-1]))
        if number < max(options.views):
            shutil.rmtree(space)
    notes = [f"Rotated copies of the same rows with noise of {NOISE} times their length, and dictionaries of "
             f"{100 * SHARED:.0f} % of the words between the first view and each other one.",
             f"P@1 by CSLS between the last two views, which no dictionary connects: {TESTED:,} words."]
    if options.extend:
        number = max(options.views)
        simulate(options, number + 1, options.words)
        tell(f"extending {number} views")
        command = [options.binary, "extend", space, f"v{number}={folder / f'v{number}.npy'}", "--json", "--quiet"]
        wall, processor, peak, _ = measure([*command, "--lexicon", f"v0-v{number}={folder / f'v{number}.tsv'}"])
        found = precision(options, folder, space, number - 1, number, options.words)
        notes.append(f"`extend` by one more view: {wall:.0f} s, {processor:.0f} s of processor time, {peak / 1e9:.2f} GB; P@1 "
                     f"from the last view before to it {found:.1f} %.")
    if options.markdown:
        draw(ROOT / "benches" / "views.svg", "processor seconds against the number of views",
             [(number, seconds) for number, seconds in growth])
        notes.append("Drawn in [views.svg](views.svg).")
    yield "One MBFA of many views, through the dictionaries of one", table, notes
    if options.by_words:
        table = [header]
        for count in options.by_words:
            table.append(row_of(min(options.views), count, align(options, min(options.views), count)[2]))
            tell(" | ".join(table[-1]))
        yield "One MBFA by the number of words", table, notes[:1]
