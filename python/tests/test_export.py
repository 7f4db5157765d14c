"""What the command exports, other programs rank as it ranks."""

from __future__ import annotations

import numpy as np
import pytest

K = 10
# Of scores that differ by less, float32 does not tell which is larger.
ROUNDING = 1e-5


def faiss_index(metric, vectors, queries):
    faiss = pytest.importorskip("faiss")
    if metric == "cosine":
        faiss.normalize_L2(vectors)
        faiss.normalize_L2(queries)
    index = (faiss.IndexFlatL2 if metric == "l2" else faiss.IndexFlatIP)(vectors.shape[1])
    index.add(vectors)
    return index.search(queries, K)[1]


def usearch_exact(metric, vectors, queries):
    usearch = pytest.importorskip("usearch.index")
    kinds = {"ip": usearch.MetricKind.IP, "l2": usearch.MetricKind.L2sq, "cosine": usearch.MetricKind.Cos}
    return usearch.search(vectors, queries, K, kinds[metric], exact=True).keys.astype(int)


@pytest.mark.parametrize("search", [faiss_index, usearch_exact])
@pytest.mark.parametrize("metric", ["ip", "l2", "cosine"])
@pytest.mark.parametrize("criterion", ["nn", "csls", "pmi"])
def test_other_programs_find_the_same_ten(command, space, tmp_path, criterion, metric, search):
    files = [tmp_path / "fr.npy", tmp_path / "en.npy"]
    command("export", space.path, "--view", "fr", "--for", criterion, "--metric", metric, "-o", files[0], "--queries", files[1])
    vectors, queries = (np.load(file) for file in files)
    words = (tmp_path / "fr.words.txt").read_text().splitlines()
    asked = (tmp_path / "en.words.txt").read_text().splitlines()[:300]
    ours = space.translate(asked, "en", "fr", len(words), criterion)
    for found, candidates in zip(search(metric, vectors, queries[:300]), ours):
        score = {candidate.word: candidate.score for candidate in candidates}
        for word, expected in zip((words[row] for row in found), candidates):
            assert word == expected.word or abs(score[word] - expected.score) < ROUNDING * max(1, abs(expected.score))
