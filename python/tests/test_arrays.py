"""Arrays of numpy that somebody changes, resizes or closes: nothing is read that can change meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import sememe

RNG = np.random.default_rng(0)
QUERIES = RNG.normal(size=(200, 64)).astype("f4")
VALUES = RNG.normal(size=(20_000, 64)).astype("f4")  # 5 MB: more than what is copied without a second look.
EXPECTED = sememe.neighbors(QUERIES, VALUES.copy(), 3)


def words(count: int) -> list[str]:
    return [f"w{row}" for row in range(count)]


def assert_as_expected(found):
    assert (found[0] == EXPECTED[0]).all() and (found[1] == EXPECTED[1]).all()


def assert_free(array: np.ndarray):
    """It can be written to and resized as before."""
    assert array.flags.writeable
    array[0, 0] += 1
    owner = array if array.base is None else array.base
    assert owner.flags.owndata and owner.base is None and owner.flags.writeable


# What outlives a call.


def test_embeddings_keep_numbers_of_their_own():
    array = VALUES[:4].copy()
    emb = sememe.Embeddings(words(4), array)
    array[:] = 7
    array.resize((100_000, 64), refcheck=False)
    assert (emb.vectors == VALUES[:4]).all() and not np.shares_memory(emb.vectors, array)


def test_read_only_arrays_may_become_writeable_again():
    array = VALUES[:4].copy()
    view = array[:2]
    array.flags.writeable = False
    emb, part = sememe.Embeddings(words(4), array), sememe.Embeddings(words(2), view)
    array.flags.writeable = True
    array[:] = 7
    assert (emb.vectors == VALUES[:4]).all() and (part.vectors == VALUES[:2]).all()


def test_what_never_changes_is_not_copied(tmp_path):
    emb = sememe.Embeddings(words(4), VALUES[:4])
    assert np.shares_memory(sememe.Embeddings(words(4), emb.vectors).vectors, emb.vectors)
    assert np.shares_memory(emb[1:3].vectors, emb.vectors) and np.shares_memory(np.asarray(emb), emb.vectors)
    constant = np.frombuffer(VALUES[:4].tobytes(), "f4").reshape(4, 64)
    assert np.shares_memory(sememe.Embeddings(words(4), constant).vectors, constant)
    np.save(tmp_path / "en.npy", VALUES[:4])
    mapped = np.load(tmp_path / "en.npy", mmap_mode="r")
    emb = sememe.Embeddings(words(4), mapped)
    assert np.shares_memory(emb.vectors, mapped)
    with pytest.raises(BufferError):
        mapped.base.close()  # Without embeddings that refer to it numpy lets it go.
    for mode in ("r+", "c"):
        writeable = np.load(tmp_path / "en.npy", mmap_mode=mode)
        assert not np.shares_memory(sememe.Embeddings(words(4), writeable).vectors, writeable)
    buffer = np.frombuffer(memoryview(bytearray(VALUES[:4].tobytes())).toreadonly(), "f4").reshape(4, 64)
    assert not buffer.flags.writeable
    assert not np.shares_memory(sememe.Embeddings(words(4), buffer).vectors, buffer)


# What a search reads. It tells how far it is while arrays are in use.


def during(held: list[np.ndarray], act) -> tuple[np.ndarray, np.ndarray]:
    """Searches among an array, to which only the list refers, and does something meanwhile."""
    done = []

    def progress(now, total):
        if not done:
            done.append(True)
            act()

    found = sememe.neighbors(QUERIES, held[0], 3, progress=progress)
    assert done
    return found


@pytest.mark.parametrize("shape", ["owner", "view of one that nobody knows"])
def test_an_array_in_use_cannot_be_changed(shape):
    held = [VALUES.copy() if shape == "owner" else VALUES.flatten().reshape(VALUES.shape)]

    def act():
        array = held[0]
        assert not np.shares_memory(array.copy(), array)  # Reading goes on.
        for wrong in (
            lambda: array.__setitem__(0, 7),
            lambda: array.fill(7),
            lambda: np.add(array, 1, out=array),
            lambda: array[:5].fill(7),
            lambda: setattr(array.flags, "writeable", True),
            lambda: array[:].setflags(write=True),
            lambda: array.resize((1, 64), refcheck=False),
            lambda: array.resize((100_000, 64), refcheck=False),
        ):
            with pytest.raises(ValueError):
                wrong()

    assert_as_expected(during(held, act))
    assert_free(held[0])
    if shape == "owner":
        held[0].resize((1, 64), refcheck=False)


def test_an_array_that_others_can_write_to_is_copied():
    def views(array):
        return {"a view": array[:], "a part": array[5:9], "the transpose": array.T, "a buffer": memoryview(array)}

    for name in views(VALUES):
        held = [VALUES.copy()]
        other = views(held[0])[name]

        def act(other=other):
            np.asarray(other)[...] = 7

        assert_as_expected(during(held, act))
        assert (held[0][6] == 7).all()
    owner = VALUES.flatten()
    held = [owner.reshape(VALUES.shape)]
    assert_as_expected(during(held, lambda: owner.fill(7)))
    assert (held[0] == 7).all()


def test_arrays_that_share_memory_are_locked_together():
    array = VALUES.copy()
    part = array[:3000]
    expected = sememe.neighbors(VALUES[:3000].copy(), VALUES.copy(), 2)
    seen = []
    progress = lambda *_: seen.append((part.flags.writeable, array.flags.writeable))  # noqa: E731
    found = sememe.neighbors(part, array, 2, progress=progress)
    assert (found[0] == expected[0]).all() and seen and set(seen) == {(False, False)}
    assert_free(array)
    assert part.flags.writeable
    part = None
    found = sememe.neighbors(array, array, 2, progress=lambda *_: seen.append(array.flags.writeable))
    assert seen[-1] is False and (found[0][:, 0] == np.arange(len(array))).all()
    assert_free(array)


def test_searches_within_searches_share_the_lock():
    held = [VALUES.copy()]

    def act():
        assert_as_expected(sememe.neighbors(QUERIES, held[0], 3))
        assert not held[0].flags.writeable

    assert_as_expected(during(held, act))
    assert_free(held[0])


def test_an_array_is_free_again_after_an_error():
    array = VALUES.copy()

    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as caught:
        sememe.neighbors(array, array, 3, "csls", progress=fail)
    # The work may still read it, until it finds that nobody wants it any more. The traceback does not keep it.
    end = time.monotonic() + 300
    while not array.flags.writeable and time.monotonic() < end:
        time.sleep(0.01)
    assert caught.value.__traceback__ is not None
    assert_free(array)
    broken = VALUES.copy()
    broken[5, 5] = np.nan
    with pytest.raises(ValueError, match="not finite in row 5"):
        sememe.neighbors(QUERIES, broken, 3)
    assert_free(broken)


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_arrays_may_change_during_a_fit():
    X, Y = VALUES[:3000, :32].copy(), VALUES[:3000, 20:60].copy()
    how = {"max_iter": 30, "shrinkage": 0.1, "solver": "em"}
    expected = sememe.MBFA(10, **how).fit([X, Y]).log_likelihood_

    def change(*_):
        X[:] = 7
        Y.resize((1, 40), refcheck=False)

    assert sememe.MBFA(10, **how).fit([X, Y], progress=change).log_likelihood_ == expected
    assert (X == 7).all()


def test_other_threads_that_write_and_resize():
    # In a process of its own, which would crash.
    program = """
import threading, time
import numpy as np, sememe
rng = np.random.default_rng(0)
queries, values = (rng.normal(size=(rows, 64)).astype("f4") for rows in (500, 30_000))
expected = sememe.neighbors(queries, values, 3)[0]
refused = [0]

def disturb(arrays, done):
    while not done.is_set():
        for array in arrays:
            try:
                array[:] = 7
                array.resize((1, 64), refcheck=False)
            except ValueError:
                refused[0] += 1

def begun(*_):
    # Until here only one name refers to the array, so that it is locked now.
    if not arrays:
        arrays.append(target)
        before = refused[0]
        while refused[0] == before:
            time.sleep(0.001)

for round in range(6):
    arrays, done, target = [], threading.Event(), values.copy()
    if round % 2:
        arrays.append(target)
    thread = threading.Thread(target=disturb, args=(arrays, done))
    thread.start()
    try:
        found = sememe.neighbors(queries, target, 3, progress=begun)[0]
        assert round % 2 or (found == expected).all()
    except ValueError as error:
        assert round % 2 and "only 1 targets" in str(error), error
    done.set()
    thread.join()
print(refused[0] > 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


# Memory.


def growth(before: str, work: str) -> float:
    """By how many bytes the greatest size of a process grows."""
    peak = "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024"
    program = f"import resource, numpy as np, sememe\n{before}\nbefore = {peak}\n{work}\nprint({peak} - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_a_search_makes_no_copy():
    # What is looked at before scores are computed has a quarter of the size.
    before = """
targets = np.ones((200_000, 300), "f4") + np.arange(200_000, dtype="f4")[:, None] % 7
sememe.neighbors(targets[:20], targets[:50], 5)
"""
    assert growth(before, "sememe.neighbors(targets[:20], targets, 5)") < 0.6 * 200_000 * 300 * 4


def test_rows_are_given_no_names():
    rows = 1_000_000
    before = f"""
X, Y = np.ones(({rows}, 4), "f4"), np.ones(({rows}, 4), "f4")
X[::2], Y[1::3] = 2, 3
sememe.Moments().update([X[:99], Y[:99]])
"""
    # A copy of the numbers, and the tuples; there is no room for strings and for tables that find them.
    assert growth(before, "sememe.Moments().update([X, Y])") < 300 * rows


def test_threads_of_python_go_on_while_arrays_are_locked():
    array = RNG.normal(size=(20_000, 64)).astype("f4")
    sums = []
    worker = threading.Thread(target=lambda: sememe.neighbors(array, array, 5))
    worker.start()
    while worker.is_alive():
        sums.append(float(array.sum()))
        worker.join(0.001)
    assert len(sums) > 3 and len(set(sums)) == 1
