"""sememe aligns word vectors of several languages, or any vector spaces with known pairs, in one latent space.

>>> import numpy as np, sememe
>>> rng = np.random.default_rng(0)
>>> old = rng.normal(size=(400, 20))
>>> new = old @ rng.normal(size=(20, 12)) + 0.1 * rng.normal(size=(400, 12))
>>> model = sememe.IBFA().fit({"old": old[:300], "new": new[:300]})       # rows that belong together
>>> ids, scores = sememe.neighbors(model.transform(new[300:], "new"), model.transform(old[300:], "old"), k=1)
>>> bool((ids[:, 0] == np.arange(100)).mean() > 0.9)                      # rows that the model never saw
True
"""

from ._sememe import Lexicon, set_threads, threads
from ._fitted import LinearMap
from ._warnings import (
    ChanceWarning,
    FitWarning,
    NoBetterThanChanceError,
    NotFittedError,
    ReadWarning,
    ZeroVectorWarning,
)
from .devices import Gpu, device, devices, set_device
from .embeddings import Embeddings, load
from .estimators import CCA, IBFA, MBFA, RCSLS, LeastSquares, Procrustes
from .lexicon import read_lexicon
from .moments import Moments
from .retrieval import confidence, neighbors
from .serving import Client, Server, ServerError, serve
from .space import Candidate, Index, Induced, Space

__all__ = [
    "CCA",
    "Candidate",
    "ChanceWarning",
    "Client",
    "Embeddings",
    "FitWarning",
    "Gpu",
    "IBFA",
    "Index",
    "Induced",
    "LeastSquares",
    "Lexicon",
    "LinearMap",
    "MBFA",
    "Moments",
    "NoBetterThanChanceError",
    "NotFittedError",
    "Procrustes",
    "RCSLS",
    "ReadWarning",
    "Server",
    "ServerError",
    "Space",
    "ZeroVectorWarning",
    "confidence",
    "device",
    "devices",
    "load",
    "neighbors",
    "read_lexicon",
    "serve",
    "set_device",
    "set_threads",
    "threads",
]
