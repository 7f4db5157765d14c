"""Progress of long work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Iterator, Union

#: A function of the work done and the total, which is zero if unknown; or a class like ``tqdm.tqdm``, for a progress bar; or
#: True, which uses tqdm if it is installed.
Progress = Union[None, bool, Callable[[int, int], Any], type]


@contextmanager
def reporting(progress: Progress, stage: str) -> Iterator[Callable[[int, int], Any] | None]:
    """The function that the engine reports its progress to."""
    if progress is True:
        from tqdm.auto import tqdm

        progress = tqdm
    if not progress:
        yield None
        return
    if not (isinstance(progress, type) and hasattr(progress, "update")):
        if not callable(progress):
            raise TypeError("progress must be a function of two numbers, tqdm, True or None")
        yield progress
        return
    bar = progress(desc=stage, unit_scale=True)

    def show(done: int, total: int) -> None:
        bar.total = total or None
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        bar.close()
