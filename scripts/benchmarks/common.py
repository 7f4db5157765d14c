"""What all benchmarks share."""
import functools
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORKSPACE = ROOT / "target" / "bench"
tell = functools.partial(print, file=sys.stderr, flush=True)


def in_fresh_process(function, *arguments):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh_process:
        return fresh_process.submit(function, *arguments).result()
