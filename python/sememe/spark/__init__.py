"""sememe on Spark: rows stay where they are.

Works with PySpark 4 and over Spark Connect, on Spark itself or on engines that speak its protocol, such as Sail. ``pip install
sememe[spark]`` names the versions; the workers need sememe as well. See ``docs/spark.md``.

>>> from sememe.spark import IBFA                                                        # doctest: +SKIP
>>> model = IBFA(inputCols=["old", "new"], shrinkage="oas").fit(pairs)                   # doctest: +SKIP
>>> latent = model.transform(pairs)                                                      # doctest: +SKIP
"""

from __future__ import annotations

try:
    import pyarrow  # noqa: F401
    import pyspark  # noqa: F401
except ImportError as missing:
    raise ImportError(f"sememe.spark needs {missing.name}: pip install sememe[spark]") from missing

from ._estimators import IBFA, MBFA, IBFAModel, MBFAModel
from ._moments import moments
from ._neighbors import induce, neighbors

__all__ = ["IBFA", "IBFAModel", "MBFA", "MBFAModel", "induce", "moments", "neighbors"]
