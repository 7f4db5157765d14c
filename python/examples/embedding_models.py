"""A new embedding model, an old index: align the models instead of computing the index again.

An index holds the vectors that an old model made of some things. A new model makes vectors of another length. For some
things both are known, as rows of two `.npy` files. A model fitted to these rows tells what to ask the old index, as it is,
about vectors of the new model; and in the latent space how sure an answer is.

The two "models" here are two halves of one feature space: of the word vectors that come with sememe, the first 180 numbers
are the old model and the last 120 the new one. Run it in the folder of the repository.
"""

import os
from pathlib import Path

import numpy as np

import sememe

# What there is: vectors of 5,000 things by both models. 3,500 pairs are known; the others are asked for.
# The data of `sememe demo`, in the repository that this file is part of.
repository = Path(__file__).resolve().parents[2]
demo = Path(os.environ.get("SEMEME_DEMO", repository / "crates/sememe-report/demo"))
features = sememe.load(demo / "en.npy.zst").vectors
order = np.random.default_rng(0).permutation(len(features))
known, asked = order[:3500], order[3500:]
np.save("old.npy", features[known, :180])
np.save("new.npy", features[known, 180:])
index = features[:, :180] / np.linalg.norm(features[:, :180], axis=1, keepdims=True)  # stays as it is
queries = features[asked, 180:]


def recall(found: np.ndarray) -> tuple[float, float]:
    """How often the right row is the first one, and among the first ten."""
    return float((found[:, 0] == asked).mean()), float((found == asked[:, None]).any(axis=1).mean())


# Before: the lengths differ, so the new vectors must be cut or filled up; they mean nothing to the index.
filled = np.pad(queries, ((0, 0), (0, index.shape[1] - queries.shape[1])))
before = recall(sememe.neighbors(filled, index, k=10)[0])

# Pairs of rows are all that a fit takes. The index ranks by cosine, so lengths must not count.
model = sememe.IBFA(normalize="unit").fit({"old": np.load("old.npy", mmap_mode="r"), "new": np.load("new.npy", mmap_mode="r")})

# After: the same index, by cosine, asked in its own language.
mapped = model.queries(queries, "new", "old")
found, _ = sememe.neighbors(mapped, index, k=10)
after = recall(found)

# Where all vectors may be projected once, the latent space finds a little more, and tells how sure an answer is.
old, new = model.transform(features[:, :180], "old"), model.transform(queries, "new")
latent, scores = sememe.neighbors(new, old, k=20)
best = recall(latent[:, :10])
sure = sememe.confidence(scores, model.calibration("new", "old"))[:, 0]
right = latent[:, 0] == asked

print("recall at 1 and 10 of 1,500 queries among 5,000 rows")
print("  the old index, new vectors as they are   {:6.1%} {:6.1%}".format(*before))
print("  the old index, queries by the model      {:6.1%} {:6.1%}".format(*after))
print("  both in the latent space                 {:6.1%} {:6.1%}".format(*best))
print("how often the first answer is right, by how sure it is")
for low, high in ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0)):
    those = (sure >= low) & (sure <= high)
    print(f"  {low:.0%} to {high:.0%}: {right[those].mean():6.1%} of {those.sum()}")
