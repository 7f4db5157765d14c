"""sememe on an engine that it knows nothing of: an adapter of ten lines, here for Ray (``pip install ray pandas pyarrow``).

All that an engine must do is carry record batches to the functions of ``sememe.batches`` and back.
"""

from __future__ import annotations

import logging

import numpy as np
import pyarrow as pa
import ray
import ray.data

import sememe
from sememe import batches


# The adapter.
def fit(data: ray.data.Dataset, estimator: sememe.IBFA | sememe.MBFA, columns: list[str]) -> sememe.IBFA | sememe.MBFA:
    def partial(block: pa.Table) -> pa.Table:
        return pa.table(batches.partial_moments(block.to_batches(), columns))

    parts = data.map_batches(partial, batch_format="pyarrow", batch_size=None)
    return estimator.fit(batches.moments(parts.iter_batches(batch_format="pyarrow", batch_size=None)))


def transform(data: ray.data.Dataset, model: sememe.IBFA | sememe.MBFA) -> ray.data.Dataset:
    def project(block: pa.Table) -> pa.Table:
        return pa.table(batches.project(block.combine_chunks(), model))

    return data.map_batches(project, batch_format="pyarrow", batch_size=None)


# Two views of hidden vectors, in eight blocks.
rng = np.random.default_rng(0)
hidden = rng.normal(size=(4000, 10))
X, Y = ((hidden @ rng.normal(size=(10, 20)) + 0.3 * rng.normal(size=(4000, 20))).astype("f4") for _ in range(2))
ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR)
data = ray.data.from_arrow(pa.table({"x": list(X), "y": list(Y)})).repartition(8)

model = fit(data, sememe.IBFA(10, shrinkage="oas"), ["x", "y"])
alone = sememe.IBFA(10, shrinkage="oas").fit(sememe.Moments(["x", "y"]).update([X, Y]))
latent = pa.concat_tables(transform(data, model).iter_batches(batch_format="pyarrow", batch_size=None))
print("largest difference from one machine:", np.abs(model.correlations_ - alone.correlations_).max())
assert np.allclose(model.correlations_, alone.correlations_, atol=1e-9) and latent.num_rows == 4000
ray.shutdown()
