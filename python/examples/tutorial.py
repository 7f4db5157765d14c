# %% [markdown]
# # From raw vectors to an evaluated space of three languages
#
# This is a notebook in the form of a script: editors that know `# %%` run it cell by cell, `python python/examples/tutorial.py` runs
# all of it, in well under a minute. Run it in the folder of the repository, for the vectors that come with it; plots need
# matplotlib, everything else numpy only.

# %%
import os
from pathlib import Path

import numpy as np

import sememe

# The data of `sememe demo`, in the repository that this file is part of.
repository = Path(__file__).resolve().parents[2]
demo = Path(os.environ.get("SEMEME_DEMO", repository / "crates/sememe-report/demo"))

# %% [markdown]
# ## 1. Vectors
#
# `load` reads word2vec and fastText text and binary, GloVe, NumPy and safetensors, compressed or not. Here are the 5,000 most
# frequent words of English, French and Russian, each with a vector that knows nothing of the other languages.

# %%
languages = {name: sememe.load(demo / f"{name}.npy.zst", lower=True) for name in ("en", "fr", "ru")}
english = languages["en"]
print(english, english["house"][:4], "dragonfly" in english)
print(english.neighbors("house", k=3))

# %% [markdown]
# Vectors of two languages cannot be compared yet: this is what a French word looks like to an English one.

# %%
ids, _ = sememe.neighbors(english[["house"]], languages["fr"].vectors, k=3)
print([languages["fr"].words[i] for i in ids[0]])

# %% [markdown]
# ## 2. A dictionary
#
# A table of concepts, with a column for each language; not every concept has a word in each. It may also be a mapping
# `{("en", "fr"): pairs or file}`, a list of tuples, or a table of pandas.

# %%
train = sememe.read_lexicon(demo / "concepts.train.tsv")
test = sememe.read_lexicon(demo / "concepts.test.tsv")
print(train.views, len(train), train.entries()[:2])

# %% [markdown]
# ## 3. A model
#
# MBFA takes a word and its translations for noisy views of one hidden vector, `x_i = W_i z + mu_i + e_i`. (For two languages
# `IBFA` has a closed form.) It says by warnings what should be known about the fit: here, that it was stopped early, which is
# all that translation needs.

# %%
model = sememe.MBFA(n_components=100, max_iter=20, lower=True, shrinkage=0.3)
model.fit(languages, train)
print(model, f"{model.n_tuples_:.0f} concepts, {model.log_likelihood_ / model.n_tuples_:.1f} nats each")

# %% [markdown]
# `shrinkage="auto"`, the default, would have tried several on held-out concepts, and taken 0.3 as well. This is how the
# likelihood rose:

# %%
trace = model.trace_
print(f"{trace['evaluations']} evaluations, converged: {trace['converged']}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt:
    plt.figure(figsize=(5, 3))
    plt.plot([-loss for loss in trace["negative_log_likelihoods"]], marker=".")
    plt.xlabel("step")
    plt.ylabel("log-likelihood a concept (nats)")
    plt.tight_layout()
    plt.savefig("likelihood.png")

# %% [markdown]
# ## 4. A space
#
# Saved, it is a folder of plain safetensors, the same as `sememe align` writes; the command can be used on it, too.

# %%
model.save("tutorial-space")
space = sememe.Space.open("tutorial-space")
print(space)
for candidate in space.translate("kitchen", "en", "fr", k=3, criterion="csls"):
    print(f"{candidate.word:12} score {candidate.score:.2f}   right with a probability of {candidate.confidence:.0%}")

# %% [markdown]
# None of the dictionaries need have French and Russian in one pair; the space translates all the same.

# %%
print(space.translate(["chien", "dix-sept"], "fr", "ru", k=2))
print(space.neighbors("king", "en", k=3, among="ru"))

# %% [markdown]
# ## 5. How good is it?
#
# On concepts that the model has not seen: the per cent of words whose first candidate is right, in every direction, by cosine
# and by CSLS.

# %%
precision = {}
for source in languages:
    for target in languages:
        if source != target:
            for criterion in ("nn", "csls"):
                result = space.evaluate_translation(source, target, test, criterion)
                precision[source, target, criterion] = result["precision"][1]
for (source, target, criterion), value in precision.items():
    print(f"{source} → {target}  {criterion:5} {value:5.1f}")

# %% [markdown]
# Is the confidence honest? Of the translations that are said to be right with a probability around 80 %, about 80 % should be.

# %%
pairs = [(en, fr) for en, fr, *_ in test.entries() if en in space["en"] and fr in space["fr"]]
answers: dict[str, set[str]] = {}
for en, fr in pairs:
    answers.setdefault(en, set()).add(fr)
first = [candidates[0] for candidates in space.translate(list(answers), "en", "fr", k=1)]
sure = np.array([candidate.confidence for candidate in first])
right = np.array([candidate.word in answers[word] for word, candidate in zip(answers, first)])
print(f"claimed {sure.mean():.1%}, right {right.mean():.1%}")

if plt:
    edges = np.linspace(0, 1, 6)
    bins = [(sure >= low) & (sure <= high) for low, high in zip(edges, edges[1:])]
    plt.figure(figsize=(4, 4))
    plt.plot([0, 1], [0, 1], color="lightgray")
    plt.plot([sure[b].mean() for b in bins if b.any()], [right[b].mean() for b in bins if b.any()], marker="o")
    plt.xlabel("confidence")
    plt.ylabel("precision")
    plt.tight_layout()
    plt.savefig("confidence.png")

# %% [markdown]
# ## 6. A look at the space
#
# The two directions in which some concepts differ most, seen from all three languages at once.

# %%
shown = {
    "en": ["dog", "cat", "horse", "king", "queen", "prince", "seven", "eight", "nine", "bread", "milk", "water"],
    "fr": ["chien", "chat", "cheval", "roi", "reine", "prince", "sept", "huit", "neuf", "pain", "lait", "eau"],
    "ru": ["собака", "кошка", "лошадь", "король", "королева", "принц", "семь", "восемь", "девять", "хлеб", "молоко", "вода"],
}
shown = {name: [word for word in words if word in space[name]] for name, words in shown.items()}
latent = {name: space[name][words] for name, words in shown.items()}
stacked = np.vstack([rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in latent.values()])
centred = stacked - stacked.mean(axis=0)
plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T

if plt:
    plt.figure(figsize=(7, 5))
    start = 0
    for name, words in shown.items():
        at = plane[start : start + len(words)]
        plt.scatter(*at.T, label=name)
        for word, (x, y) in zip(words, at):
            plt.annotate(word, (x, y), fontsize=8, xytext=(2, 2), textcoords="offset points")
        start += len(words)
    plt.legend()
    plt.tight_layout()
    plt.savefig("space.png")

# %% [markdown]
# ## 7. What the model knows
#
# It is a density: how probable vectors are, together or alone, what several views say together, and what one says of another.

# %%
house, maison, chien = english["house"][None], languages["fr"]["maison"][None], languages["fr"]["chien"][None]
print("mutual information of house and maison:", model.pmi(house, maison, views=("en", "fr")).round(1), "nats")
print("mutual information of house and chien: ", model.pmi(house, chien, views=("en", "fr")).round(1), "nats")
together = model.fuse({"en": house, "fr": maison})
print("nearest Russian words to both:", [c.word for c in space.neighbors(together, "en", k=2, among="ru")[0]])

# %% [markdown]
# ## 8. Where to go from here
#
# - A dictionary of the whole vocabulary: `space.induce("fr", "ru", mutual=True, min_confidence=0.5, output="fr-ru.tsv")`.
# - Another language: `space.extend("fi", sememe.load(...), lexicon)`.
# - Any index of vectors, ranking by any criterion: `space.to_index("csls", "ip", source="en", target="fr")`.
# - Fits to data of several owners: `Moments`, which add up. Two embedding models: `python/examples/embedding_models.py`.

# %%
induced = space.induce("fr", "ru", mutual=True, min_confidence=0.5)
print(f"{len(induced)} pairs, such as {induced[0]}")
