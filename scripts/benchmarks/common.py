"""What all benchmarks share."""
import functools
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORKSPACE = ROOT / "target" / "bench"
tell = functools.partial(print, file=sys.stderr, flush=True)


def in_fresh_process(function, *arguments):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh_process:
        return fresh_process.submit(function, *arguments).result()


def time_command(command, repeat):
    """The shortest wall time of whole runs of a command, and what it printed."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        times.append(time.perf_counter() - start)
    return min(times), output
