"""One table of cases, run by the command and by the package: the same bytes, the same numbers, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import sememe
from conftest import DEMO, TEST, TRAIN, as_json, files

WORDS = 2000
Case = Callable[["World", Path], tuple[Any, Any]]


class World(NamedTuple):
    """What the cases are about: the command, vectors, and a lower-cased space that the command aligned."""

    command: Callable[..., dict]
    demo: dict[str, sememe.Embeddings]
    space: sememe.Space
    gold: Path


@pytest.fixture(scope="module")
def world(command, demo, tmp_path_factory) -> World:
    folder = tmp_path_factory.mktemp("world")
    how = ["--max-words", WORDS, "--lexicon", TRAIN, "--lower", "--method", "mbfa", "--latent", 60, "--iterations", 5]
    command("align", *given("en", "fr", "ru"), *how, "--shrinkage", 0.3, "-o", folder / "space")
    pairs = [f"{en}\t{fr}" for en, fr, *_ in sememe.read_lexicon(TEST).entries() if en and fr]
    (folder / "gold.txt").write_text("\n".join(pairs), encoding="utf-8")
    return World(command, demo, sememe.Space.open(folder / "space"), folder / "gold.txt")


def given(*names: str) -> list[str]:
    """Views as the command is given them."""
    return [f"{name}={DEMO / name}.npy.zst" for name in names]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# Aligning: the files of the space.


def aligned(names: str, options: list[Any], model: Callable[[], Any], **fit: Any) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        lexicon = [] if "identical" in fit else ["--lexicon", TRAIN]
        told = world.command("align", *given(*names.split()), "--max-words", WORDS, *lexicon, *options, "-o", tmp / "theirs")
        views = {name: world.demo[name] for name in names.split()}
        fitted = model().fit(views, None if "identical" in fit else TRAIN, **fit)
        fitted.save(tmp / "ours")
        theirs, ours = told.get("learning"), fitted.learning_
        return (files(tmp / "theirs"), theirs), (files(tmp / "ours"), ours)

    return case


def aligned_rows(world: World, tmp: Path) -> tuple[Any, Any]:
    """Rows without words are called by their numbers."""
    halves = {"old": world.demo["en"].vectors[:, :180], "new": world.demo["en"].vectors[:, 180:240]}
    named = {name: sememe.Embeddings(map(str, range(WORDS)), half) for name, half in halves.items()}
    for name, half in named.items():
        half.save(tmp / f"{name}.npy")
    world.command("align", *(f"{name}={tmp / name}.npy" for name in halves), "--identical", "-o", tmp / "theirs")
    sememe.IBFA(normalize="unit").fit(halves).save(tmp / "ours", named)
    return files(tmp / "theirs"), files(tmp / "ours")


def moments(world: World, tmp: Path) -> tuple[Any, Any]:
    how = ["--max-words", WORDS, "--lexicon", TRAIN, "--lower"]
    world.command("moments", *given("en", "fr"), *how, "-o", tmp / "theirs.safetensors")
    pair = {name: world.demo[name] for name in ("en", "fr")}
    sememe.Moments.gather(pair, TRAIN, lower=True).save(tmp / "ours.safetensors")
    world.command("align", "--moments", tmp / "ours.safetensors", "--latent", 20, "-o", tmp / "theirs")
    sememe.IBFA(20).fit(sememe.Moments.load(tmp / "theirs.safetensors")).save(tmp / "ours")
    summed = [(tmp / f"{whose}.safetensors").read_bytes() for whose in ("theirs", "ours")]
    return (summed[0], files(tmp / "theirs")), (summed[1], files(tmp / "ours"))


def extended(in_place: bool) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        pair = {name: world.demo[name] for name in ("en", "fr")}
        for whose in ("theirs", "ours"):
            sememe.IBFA(30, lower=True, shrinkage=0.3).fit(pair, TRAIN).save(tmp / whose)
        where = [] if in_place else ["-o", tmp / "theirs.more"]
        world.command("extend", tmp / "theirs", *given("ru"), "--max-words", WORDS, "--lexicon", TRAIN, *where)
        output = None if in_place else tmp / "ours.more"
        space = sememe.Space.open(tmp / "ours").extend("ru", world.demo["ru"], TRAIN, output=output)
        assert space.views == ["en", "fr", "ru"]
        return files(tmp / "theirs" if in_place else tmp / "theirs.more"), files(Path(space.path))

    return case


def projected(world: World, tmp: Path) -> tuple[Any, Any]:
    more = world.demo["fr"].select([*world.demo["fr"].words[:50], "Paris"] if "Paris" in world.demo["fr"] else world.demo["fr"].words[:50])
    more.save(tmp / "more.npy")
    world.command("project", world.space.path, f"fr={tmp / 'more.npy'}", "-o", tmp / "theirs.npy")
    ours = world.space.model.transform(more, "fr")
    theirs = sememe.load(tmp / "theirs.npy")
    return (theirs.words, theirs.vectors.tolist()), (ours.words, ours.vectors.tolist())


# Asking.


def candidates(found: list[Any]) -> list[Any]:
    """As numbers that JSON keeps."""
    return [(c.word, c.score, c.confidence) for c in found]


def told_candidates(found: list[dict]) -> list[Any]:
    return [(c["word"], float(np.float32(c["score"])), c["confidence"]) for c in found]


def translated(asked: list[str], targets: list[str], criterion: str, **vectors: Any) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        further = sememe.Embeddings([vectors["word"]], world.demo["en"]["house"][None, :]) if vectors else None
        arguments = ["--from", "en", *(part for to in targets for part in ("--to", to)), "--criterion", criterion, "-k", 3]
        if further is not None:
            further.save(tmp / "further.npy")
            arguments += ["--vectors", tmp / "further.npy"]
        told = world.command("translate", world.space.path, *arguments, *asked)
        theirs = {(t["word"], t["to"]): told_candidates(t["candidates"]) for t in told["translations"]}
        ours = {}
        for to in targets:
            found = world.space.translate(asked, "en", to, 3, criterion, vectors=further)
            ours |= {(word, to): candidates(one) for word, one in zip(asked, found)}
        return theirs, ours

    return case


def suggested(word: str) -> Case:
    """The spellings that are closest to a word that is not there."""

    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        told = world.command("translate", world.space.path, "--from", "en", "--to", "fr", "house", word)
        with pytest.raises(KeyError) as caught:
            world.space.translate(word, "en", "fr")
        theirs = told["suggestions"][word]
        return theirs, [near for near in theirs if repr(near) in str(caught.value)]

    return case


def neighbors(criterion: str) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        queries, targets = (rng.normal(size=(rows, 24)).astype("f4") for rows in (300, 2000))
        np.save(tmp / "q.npy", queries)
        np.save(tmp / "t.npy", targets)
        arguments = ["-k", 7, "--criterion", criterion, "-o", tmp / "n"]
        world.command("neighbors", tmp / "q.npy", tmp / "t.npy", *arguments)
        theirs = [np.load(tmp / f"n.{what}.npy").tolist() for what in ("ids", "scores")]
        return theirs, [found.tolist() for found in sememe.neighbors(queries, targets, 7, criterion)]

    return case


def induced(options: list[Any], **how: Any) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        arguments = ["--from", "fr", "--to", "en", *options, "-o", tmp / "theirs.tsv"]
        world.command("lexicon", "induce", world.space.path, *arguments)
        found = world.space.induce("fr", "en", output=tmp / "ours.tsv", **how)
        lines = (tmp / "theirs.tsv").read_text(encoding="utf-8").splitlines()
        assert len(found) in (len(lines), len(lines) - 1)  # There may be a header.
        return (tmp / "theirs.tsv").read_bytes(), (tmp / "ours.tsv").read_bytes()

    return case


def exported(criterion: str, metric: str) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        where = ["-o", tmp / "fr.npy", "--queries", tmp / "en.npy"]
        how = ["--view", "fr", "--from", "en", "--for", criterion, "--metric", metric]
        world.command("export", world.space.path, *how, *where)
        index = world.space.to_index(criterion, metric, source="en", target="fr")
        theirs = [np.load(tmp / f"{name}.npy").tolist() for name in ("fr", "en")]
        words = (tmp / "fr.words.txt").read_text(encoding="utf-8").splitlines()
        return (words, *theirs), (index.words, index.vectors.tolist(), index.queries().tolist())

    return case


# Measuring: everything that the package tells, the command tells too.


def shared(theirs: dict, ours: dict) -> tuple[dict, dict]:
    ours = as_json(ours)
    return {key: theirs[key] for key in ours}, ours


def measured_translation(criterion: str) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        arguments = ["--from", "en", "--to", "fr", "--gold", world.gold, "--criterion", criterion]
        theirs = world.command("evaluate", "translation", world.space.path, *arguments)
        return shared(theirs, world.space.evaluate_translation("en", "fr", world.gold, criterion))

    return case


def measured_similarity(world: World, tmp: Path) -> tuple[Any, Any]:
    path = written(tmp, "EN_pairs.txt", "man woman 8\nHouse home 9\nking water 1\nday night 6\n")
    told = world.command("evaluate", "similarity", world.space.path, "--view", "en", path)
    return shared(told["sets"][0], world.space.evaluate_similarity(path, "en"))


def measured_analogies(world: World, tmp: Path) -> tuple[Any, Any]:
    path = written(tmp, "questions.txt", ": family\nman woman king queen\nhe she his her\n")
    told = world.command("evaluate", "analogy", world.space.path, "--view", "en", path)
    return shared(told, world.space.evaluate_analogy(path, "en"))


def measured_sts(weighting: str) -> Case:
    def case(world: World, tmp: Path) -> tuple[Any, Any]:
        lines = ["4.0\tthe man has a house\ta man lives in a home", "1.0\tthe water\tthe king is old", "3.0\ta day\tthe night"]
        path = written(tmp, "STS2014.small.tsv", "\n".join(lines) + "\n")
        told = world.command("evaluate", "sts", world.space.path, "--view", "en", path)["weightings"]
        return told[weighting], world.space.evaluate_sts(path, "en", weighting=weighting)

    return case


def measured_sentences(world: World, tmp: Path) -> tuple[Any, Any]:
    both = written(tmp, "en.txt", "the man\nthe house\nwater\na king\n"), written(tmp, "fr.txt", "un homme\nla maison\nde l'eau\nle roi\n")
    told = world.command("evaluate", "sentences", world.space.path, *both, "--from", "en", "--to", "fr")["evaluations"]
    pairs = [shared(one, world.space.evaluate_sentences("en", "fr", both, one["criterion"])) for one in told]
    assert pairs
    return [theirs for theirs, _ in pairs], [ours for _, ours in pairs]


KNOWN = ["house", "dog", "king"]
TABLE: dict[str, Case] = {
    "align: ibfa, lower case": aligned("en fr", ["--latent", 30, "--lower"], lambda: sememe.IBFA(30, lower=True)),
    "align: ibfa, oas, steps": aligned(
        "en fr", ["--shrinkage", "oas", "--normalize", "unit,center"],
        lambda: sememe.IBFA(shrinkage="oas", normalize="unit,center"),
    ),
    "align: mbfa": aligned(
        "en fr ru", ["--method", "mbfa", "--latent", 20, "--iterations", 12, "--shrinkage", 0.3],
        lambda: sememe.MBFA(20, max_iter=12, shrinkage=0.3),
    ),
    "align: cca, no shrinkage": aligned(
        "en fr", ["--method", "cca", "--latent", 40, "--shrinkage", "none", "--dewhiten"],
        lambda: sememe.CCA(40, shrinkage=None, dewhiten=True),
    ),
    "align: svd with a pivot": aligned(
        "en fr ru", ["--method", "svd", "--pivot", "en", "--normalize", "unit,center"],
        lambda: sememe.Procrustes("en", normalize=["unit", "center"]),
    ),
    "align: rcsls": aligned("en fr", ["--method", "rcsls"], lambda: sememe.RCSLS()),
    "align: finish": aligned(
        "en fr", ["--latent", 30, "--shrinkage", 0.3, "--finish", 2], lambda: sememe.IBFA(30, shrinkage=0.3, finish=2)
    ),
    "align: exponent": aligned(
        "en fr", ["--latent", 30, "--shrinkage", 0.3, "--exponent", "auto"], lambda: sememe.IBFA(30, shrinkage=0.3, exponent="auto")
    ),
    "align: criterion": aligned(
        "en fr", ["--latent", 30, "--shrinkage", 0.3, "--criterion", "csls:k=auto"],
        lambda: sememe.IBFA(30, shrinkage=0.3, criterion="csls:k=auto"),
    ),
    "align: least squares": aligned(
        "en fr", ["--method", "least-squares", "--ridge", 0.1, "--normalize", "none"],
        lambda: sememe.LeastSquares(ridge=0.1, normalize=None),
    ),
    "align: identical strings": aligned("en fr", ["--identical", "--latent", 30], lambda: sememe.IBFA(30), identical="strings"),
    "align: refine": aligned(
        "en fr", ["--refine", "--latent", 50, "--shrinkage", 0.3], lambda: sememe.IBFA(50, shrinkage=0.3), refine=True
    ),
    "align: rows": aligned_rows,
    "moments": moments,
    "extend: in place": extended(True),
    "extend: a copy": extended(False),
    "project": projected,
    **{f"translate: {c}": translated(KNOWN, ["fr"], c) for c in ("nn", "csls", "isf", "corrected", "dot", "l2", "pmi", "logp")},
    "translate: several targets": translated(KNOWN, ["fr", "ru"], "nn"),
    "translate: other case": translated(["House", "KING"], ["fr"], "nn"),
    "translate: other vectors": translated(["house", "houze"], ["fr"], "nn", word="houze"),
    "translate: other vectors, other case": translated(["Houze"], ["fr"], "nn", word="houze"),
    "translate: suggestions": suggested("houze"),
    "translate: suggestions, other case": suggested("HOUZE"),
    **{f"neighbors: {criterion}": neighbors(criterion) for criterion in ("nn", "csls:k=5", "l2", "dot")},
    "induce: every word": induced([]),
    "induce: mutual and sure": induced(["--mutual", "--min-confidence", 0.5], mutual=True, min_confidence=0.5),
    "induce: csls": induced(["--criterion", "csls"], criterion="csls"),
    "export: nn, ip": exported("nn", "ip"),
    "export: csls, cosine": exported("csls", "cosine"),
    "export: pmi, l2": exported("pmi", "l2"),
    "evaluate: translation, nn": measured_translation("nn"),
    "evaluate: translation, csls": measured_translation("csls"),
    "evaluate: similarity": measured_similarity,
    "evaluate: analogy": measured_analogies,
    "evaluate: sts, sif": measured_sts("sif"),
    "evaluate: sts, tfidf": measured_sts("tfidf"),
    "evaluate: sentences": measured_sentences,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
@pytest.mark.parametrize("case", TABLE.values(), ids=TABLE)
def test_command_and_package_agree(case, world, tmp_path):
    theirs, ours = case(world, tmp_path)
    assert theirs and ours == theirs
