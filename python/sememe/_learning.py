"""Self-learning: pairs that are induced from the vectors."""

from __future__ import annotations

import json
from typing import Any


def as_learning(
    refine: bool, unsupervised: bool, trust: str | None, random_state: int, lexicon: Any, identical: str | None
) -> dict[str, Any] | None:
    """Options of self-learning, by their names in the engine; None without self-learning."""
    if trust is not None and not refine:
        raise ValueError("trust is what refine makes of given entries; give refine=True too")
    if unsupervised and (refine or lexicon is not None or identical is not None):
        raise ValueError("unsupervised begins with the vectors alone; to begin with pairs give them with refine=True")
    if not (refine or unsupervised):
        return None
    # Strings that are identical by accident are more common than wrong entries of a dictionary.
    by_default = "doubt" if lexicon is None else "keep"
    seed = int(random_state or 0)
    return {"unsupervised": bool(unsupervised), "trust": by_default if trust is None else trust, "seed": seed}


def as_report(told: str, is_words: bool) -> dict[str, Any]:
    """The report of self-learning; rows of arrays have numbers in place of words."""
    report: dict[str, Any] = json.loads(told)
    if not is_words:
        for entry in report["doubtful"]:
            entry["words"] = [int(row) for row in entry["words"]]
    return report
