"""A new embedding model, the index of the old one kept.

From some texts that both models embedded, :func:`fit` makes a :class:`MigrationMap`. It turns vectors of the new model into
queries for the old index as it is, whole indexes into the space of the new model, and both into a latent space.

>>> import numpy as np
>>> from sememe import migrate
>>> rng = np.random.default_rng(0)
>>> texts = rng.normal(size=(1500, 12))                       # what the models read
>>> old = texts @ rng.normal(size=(12, 32)) + 0.1 * rng.normal(size=(1500, 32))
>>> new = texts @ rng.normal(size=(12, 24)) + 0.1 * rng.normal(size=(1500, 24))
>>> map = migrate.fit(old[:1000], new[:1000], index=old)      # 1,000 texts were embedded by both
>>> queries = map.apply(new[1000:])                           # for the index of old vectors
>>> queries.shape
(500, 32)
>>> import sememe
>>> ids, _ = sememe.neighbors(queries, old, k=1)
>>> bool((ids[:, 0] == np.arange(1000, 1500)).mean() > 0.9)
True
"""

from __future__ import annotations

from ._map import AdaptedIndex, MigrationMap, fit, plan
from .live import Answers, Index, LanceTable, MigratedIndex, PgvectorTable

__all__ = [
    "AdaptedIndex",
    "Answers",
    "Index",
    "LanceTable",
    "MigratedIndex",
    "MigrationMap",
    "PgvectorTable",
    "fit",
    "plan",
]
