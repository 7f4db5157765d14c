"""Evaluations: what the command measures, the package measures too."""

from __future__ import annotations

import pytest

import sememe
from conftest import TEST, TRAIN


def as_json(result):
    """As the command prints it: keys are strings."""
    return {str(k): as_json(v) for k, v in result.items()} if isinstance(result, dict) else result


def assert_part_of(ours, theirs):
    for key, value in as_json(ours).items():
        assert value == theirs[key], key


def test_translation(command, space, tmp_path):
    gold = sememe.read_lexicon(TEST)
    pairs = [(en, fr) for en, fr, *_ in gold.entries() if en and fr]
    (tmp_path / "gold.txt").write_text("\n".join(f"{en}\t{fr}" for en, fr in pairs), encoding="utf-8")
    for criterion in ("nn", "csls"):
        arguments = ["--from", "en", "--to", "fr", "--gold", tmp_path / "gold.txt", "--criterion", criterion]
        theirs = command("evaluate", "translation", space.path, *arguments)
        for given in (tmp_path / "gold.txt", gold, pairs, {("en", "fr"): pairs}):
            ours = space.evaluate_translation("en", "fr", given, criterion)
            assert_part_of(ours, theirs)
    assert ours["precision"][1] > 60 and ours["queries"] > 50 and ours["overlap"]["trained_pairs"] == 0
    wrong = space.evaluate_translation("en", "fr", pairs, oov="wrong")
    assert wrong["precision"][1] < ours["precision"][1]
    seen = space.evaluate_translation("en", "fr", sememe.read_lexicon(TRAIN))
    assert seen["overlap"]["trained_pairs"] > 400 and seen["unseen"] is None
    for wrong in ({"oov": "maybe"}, {"criterion": "best"}, {"gold": [("nothing", "rien du tout")]}):
        with pytest.raises(ValueError):
            space.evaluate_translation("en", "fr", **{"gold": pairs, **wrong})


def test_similarity_and_analogies(command, space, tmp_path):
    (tmp_path / "EN_pairs.txt").write_text("man woman 8\nhouse home 9\nking water 1\nday night 6\n", encoding="utf-8")
    theirs = command("evaluate", "similarity", space.path, "--view", "en", tmp_path / "EN_pairs.txt")
    assert_part_of(space.evaluate_similarity(tmp_path / "EN_pairs.txt", "en"), theirs["sets"][0])
    (tmp_path / "both.txt").write_text("man femme 8\nhouse maison 9\nking eau 1\n", encoding="utf-8")
    assert space.evaluate_similarity(tmp_path / "both.txt", "en", "fr")["known"] == 3
    (tmp_path / "questions.txt").write_text(": family\nman woman king queen\nhe she his her\n", encoding="utf-8")
    theirs = command("evaluate", "analogy", space.path, "--view", "en", tmp_path / "questions.txt")
    ours = space.evaluate_analogy(tmp_path / "questions.txt", "en")
    assert_part_of(ours, theirs)
    assert ours["total"]["questions"] == 2


def test_sentences(command, space, tmp_path):
    (tmp_path / "STS2014.small.tsv").write_text(
        "4.0\tthe man has a house\ta man lives in a home\n1.0\tthe water\tthe king is old\n3.0\ta day\tthe night\n",
        encoding="utf-8",
    )
    theirs = command("evaluate", "sts", space.path, "--view", "en", tmp_path / "STS2014.small.tsv")["weightings"]
    for weighting in ("sif", "tfidf"):
        ours = space.evaluate_sts(tmp_path / "STS2014.small.tsv", "en", weighting=weighting)
        assert ours == theirs[weighting]
    (tmp_path / "en.txt").write_text("the man\nthe house\nwater\na king\n", encoding="utf-8")
    (tmp_path / "fr.txt").write_text("un homme\nla maison\nde l'eau\nle roi\n", encoding="utf-8")
    files = (tmp_path / "en.txt", tmp_path / "fr.txt")
    theirs = command("evaluate", "sentences", space.path, *files, "--from", "en", "--to", "fr")["evaluations"]
    for evaluation in theirs:
        ours = space.evaluate_sentences("en", "fr", files, evaluation["criterion"])
        assert_part_of(ours, evaluation)
    for wrong in ({"criterion": "pmi"}, {"queries": 0}):
        with pytest.raises(ValueError):
            space.evaluate_sentences("en", "fr", files, **wrong)
    with pytest.raises(ValueError, match="weighting"):
        space.evaluate_sts(tmp_path / "STS2014.small.tsv", "en", weighting="none")
