"""Progress, Ctrl-C, and what callbacks raise."""

from __future__ import annotations

import os
import shutil
import signal
import threading

import numpy as np
import pytest

import sememe
from conftest import factors

# Comparing them takes far longer than it takes to be interrupted.
MANY = np.random.default_rng(0).normal(size=(120_000, 96)).astype("f4")


def test_ctrl_c_ends_a_search_and_what_follows_works():
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sememe.neighbors(MANY, MANY, 10)
    assert sememe.neighbors(MANY[:5], MANY[:50], 1)[0][:, 0].tolist() == [0, 1, 2, 3, 4]


def test_ctrl_c_ends_a_fit():
    views = factors((60, 60, 60), rows=2000, latent=30)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    model = sememe.MBFA(50, shrinkage=None, solver="em", max_iter=10**7, tol=0.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    assert not model.__sklearn_is_fitted__()


def test_progress_is_told_and_may_raise():
    told = []
    sememe.neighbors(MANY[:3000], MANY[:3000], 3, progress=lambda *state: told.append(state))
    assert told[-1][0] == told[-1][1]

    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sememe.neighbors(MANY, MANY, 10, progress=stop)
    with pytest.raises(TypeError, match="progress"):
        sememe.neighbors(MANY[:3], MANY[:3], 1, progress="yes")


def test_bars_of_tqdm(capsys):
    tqdm = pytest.importorskip("tqdm").tqdm
    sememe.neighbors(MANY[:3000], MANY[:3000], 3, progress=tqdm)
    assert "comparing rows" in capsys.readouterr().err
    told = []
    sememe.MBFA(2, shrinkage=0.1, normalize="unit").fit(factors((4, 3, 3)), progress=lambda *state: told.append(state))
    assert told and all(0 <= done <= total for done, total in told)


def test_whatever_a_callback_raises_ends_every_long_call(space, demo, tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    gold = [(pair.word, pair.translation) for pair in space.induce("en", "fr", max_words=100)]
    # A space in which nothing is prepared yet, so that calls take long. Work that ends before it is interrupted prepares
    # terms for the next call, which then reports its end alone.
    shutil.copytree(space.path, tmp_path / "fresh", ignore=shutil.ignore_patterns("*.terms"))
    space = sememe.Space.open(tmp_path / "fresh")
    (tmp_path / "questions.txt").write_text(": family\nman woman king queen\nhe she his her\n", encoding="utf-8")
    (tmp_path / "en.txt").write_text("the man\nthe house\nwater\na king\n", encoding="utf-8")
    demo["en"].save(tmp_path / "en.vec")
    pair = {name: demo[name] for name in ("en", "fr")}
    lexicon = {("en", "fr"): gold}
    for call in (
        lambda: sememe.load(tmp_path / "en.vec", progress=stop),
        lambda: sememe.MBFA(20, shrinkage=0.3).fit(pair, lexicon, progress=stop),
        lambda: sememe.IBFA(20, shrinkage=0.3).fit(pair, lexicon, refine=True, progress=stop),
        lambda: space.translate(["house"], "en", "fr", criterion="csls", progress=stop),
        lambda: space.induce("en", "fr", progress=stop),
        lambda: space.to_index("csls", progress=stop),
        lambda: space.extend("ru", demo["ru"], {("en", "ru"): [("a", "b")]}, identical="strings", progress=stop),
        lambda: space.evaluate_translation("en", "fr", gold, progress=stop),
        lambda: space.evaluate_analogy(tmp_path / "questions.txt", "en", progress=stop),
        lambda: space.evaluate_sentences("en", "fr", (tmp_path / "en.txt", tmp_path / "en.txt"), progress=stop),
    ):
        with pytest.raises(Enough):
            call()
    assert len(space.views) == 2 and len(space.induce("en", "fr", max_words=10)) == 10


def test_work_that_is_prepared_reports_its_end(space):
    space.to_index("csls")
    told = []
    space.to_index("csls", progress=lambda *state: told.append(state))
    assert told and told[-1][0] == told[-1][1]
