"""How long a text file of vectors takes to load."""
import itertools
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from .common import WORKSPACE, in_fresh_process, tell, time_command


def write_vectors(path, words, dimension, lines):
    """Write a text file of vectors, beside its place first: an unfinished one is never taken for the whole."""
    tell(f"writing {path.name}")
    unfinished = path.with_suffix(".unfinished")
    with open(unfinished, "wb") as file:
        file.write(b"%d %d\n" % (words, dimension))
        file.writelines(lines)
    unfinished.replace(path)
    return path


def first_vectors(source, words):
    with open(source, "rb") as file:
        header = file.readline().split()
        if len(header) != 2:
            sys.exit(f"{source}: the first line does not say how many words and dimensions follow")
        words = min(words, int(header[0]))
        path = WORKSPACE / f"{source.stem}-{words}.vec"
        return write_vectors(path, words, int(header[1]), itertools.islice(file, words))


def random_vectors(words, dimension=300):
    """Random vectors with five significant digits, which is what fastText prints."""
    import numpy as np
    path = WORKSPACE / f"random-{words}.vec"
    if path.exists():
        return path
    random, line = np.random.default_rng(seed=0), "word%d" + " %.5g" * dimension + "\n"
    rows = (random.normal(scale=0.25, size=dimension) for _ in range(words))
    return write_vectors(path, words, dimension, ((line % (n, *row)).encode() for n, row in enumerate(rows)))


def read_word_bytes(path):
    """The size of all words together; reading them also brings the file into the page cache."""
    with open(path, "rb") as file:
        next(file)
        return sum(line.index(b" ") for line in file)


def status_bytes(process, field):
    """A size from the status of a process; 0 when it has ended."""
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def peak_anonymous_memory(command):
    """Sampled, as the kernel keeps no maximum without mapped files; in a run of its own, to disturb no timing."""
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, status_bytes(process.pid, "RssAnon"))
            time.sleep(0.002)
    return peak


def time_rival(prepare, path):
    """Seconds, peak memory in bytes and number of words; runs in the rival's process."""
    load = prepare()
    start = time.perf_counter()
    vectors = load(str(path))
    return time.perf_counter() - start, status_bytes("self", "VmHWM"), len(vectors)


# A rival is a function that imports what it needs and returns another that does the work: only the latter is timed.
def load_like_muse():
    import numpy as np

    def load(path):
        row_of, rows = {}, []
        with open(path, encoding="utf-8", newline="\n", errors="ignore") as file:
            next(file)
            for line in file:
                word, numbers = line.rstrip().split(" ", 1)
                if word not in row_of:
                    row_of[word] = len(rows)
                    rows.append(np.fromstring(numbers, sep=" ")[None])
        return np.concatenate(rows).astype(np.float32)
    return load


def load_with_gensim():
    from gensim.models import KeyedVectors
    return lambda path: KeyedVectors.load_word2vec_format(path, binary=False).vectors


def loading(options):
    """How long a text file of vectors takes to load."""
    path = first_vectors(options.vectors, options.words) if options.vectors else random_vectors(options.words)
    word_bytes = read_word_bytes(path)
    command = [options.binary, "inspect", path, "--json", "--quiet"]
    tell("running sememe")
    ours, output = time_command(command, options.repeat)
    content, peak = json.loads(output), peak_anonymous_memory(command)
    measured = {"sememe": (ours, peak, content["words"])}
    for name, prepare in {"MUSE's way (numpy)": load_like_muse, "gensim": load_with_gensim}.items():
        tell(f"running {name}")
        measured[name] = in_fresh_process(time_rival, prepare, path)
    table = [["loader", "words", "seconds", "ratio", "peak MB"]] + [
        [name, f"{words:,}", f"{seconds:.2f}", f"{seconds / ours:.1f}", f"{memory / 1e6:.0f}"]
        for name, (seconds, memory, words) in measured.items()]
    matrix = content["words"] * content["dimension"] * 4
    yield f"Loading a text file of {content['words']:,} x {content['dimension']} vectors", table, [
        f"Input: {path.name}, {path.stat().st_size / 1e6:.0f} MB, in the page cache.",
        f"Time: sememe's whole process, best of {options.repeat}; the rivals' loading call without imports, one run.",
        "Memory: sememe's anonymous memory, the mapped file aside; the rivals' resident memory.",
        f"The float32 matrix takes {matrix / 1e6:.0f} MB and the words {word_bytes / 1e6:.1f} MB: sememe's peak is "
        f"{peak / matrix:.2f} times the matrix, {peak / (matrix + word_bytes):.2f} times both."]
