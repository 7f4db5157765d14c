"""Evaluations: what they take, what they tell, and what they refuse. Their numbers are compared in test_same_as_command."""

from __future__ import annotations

import pytest

import sememe
from conftest import TEST, TRAIN


def test_translation(space, tmp_path):
    gold = sememe.read_lexicon(TEST)
    pairs = [(en, fr) for en, fr, *_ in gold.entries() if en and fr]
    (tmp_path / "gold.txt").write_text("\n".join(f"{en}\t{fr}" for en, fr in pairs), encoding="utf-8")
    told = [
        space.evaluate_translation("en", "fr", given, "csls")
        for given in (tmp_path / "gold.txt", gold, pairs, {("en", "fr"): pairs})
    ]
    ours = told[0]
    assert all(other == ours for other in told)
    assert ours["precision"][1] > 60 and ours["queries"] > 50 and ours["overlap"]["trained_pairs"] == 0
    wrong = space.evaluate_translation("en", "fr", pairs, oov="wrong")
    assert wrong["precision"][1] < ours["precision"][1]
    seen = space.evaluate_translation("en", "fr", sememe.read_lexicon(TRAIN))
    assert seen["overlap"]["trained_pairs"] > 400 and seen["unseen"] is None
    for wrong in ({"oov": "maybe"}, {"criterion": "best"}, {"gold": [("nothing", "rien du tout")]}):
        with pytest.raises(ValueError):
            space.evaluate_translation("en", "fr", **{"gold": pairs, **wrong})


def test_similarity_and_analogies(space, tmp_path):
    (tmp_path / "both.txt").write_text("man femme 8\nhouse maison 9\nking eau 1\n", encoding="utf-8")
    assert space.evaluate_similarity(tmp_path / "both.txt", "en", "fr")["known"] == 3
    (tmp_path / "questions.txt").write_text(": family\nman woman king queen\nhe she his her\n", encoding="utf-8")
    assert space.evaluate_analogy(tmp_path / "questions.txt", "en")["total"]["questions"] == 2


def test_sentences(space, tmp_path):
    (tmp_path / "STS2014.small.tsv").write_text("4.0\tthe man\ta man\n1.0\tthe water\tthe king\n", encoding="utf-8")
    with pytest.raises(ValueError, match="weighting"):
        space.evaluate_sts(tmp_path / "STS2014.small.tsv", "en", weighting="none")
    (tmp_path / "en.txt").write_text("the man\nthe house\nwater\na king\n", encoding="utf-8")
    (tmp_path / "fr.txt").write_text("un homme\nla maison\nde l'eau\nle roi\n", encoding="utf-8")
    for wrong in ({"criterion": "pmi"}, {"queries": 0}):
        with pytest.raises(ValueError):
            space.evaluate_sentences("en", "fr", (tmp_path / "en.txt", tmp_path / "fr.txt"), **wrong)
