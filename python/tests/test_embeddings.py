"""Words with their vectors: reading, looking up, and other packages."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sememe
from conftest import DEMO

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)
WORDS = ["house", "dog", "New York", "Dog"]


def test_looked_up_by_word_row_slice_and_list():
    emb = sememe.Embeddings(WORDS, VECTORS)
    assert emb.words == WORDS and emb.shape == (4, 3) and emb.dim == 3 and list(emb) == WORDS
    assert (emb["New York"] == VECTORS[2]).all() and (emb[1] == VECTORS[1]).all() and (emb[-1] == VECTORS[3]).all()
    assert (emb[["dog", "house"]] == VECTORS[[1, 0]]).all()
    assert "dog" in emb and "bird" not in emb and 3 not in emb
    assert emb[1:3].words == ["dog", "New York"] and (emb[::-1].vectors == VECTORS[::-1]).all()
    assert emb.get("bird") is None and emb.index("Dog") == 3
    assert emb.lower().words == ["house", "dog", "new york"]
    assert emb.select(["Dog", "house"]).words == ["Dog", "house"]
    assert (np.asarray(emb) == VECTORS).all()
    for missing in (lambda: emb["bird"], lambda: emb.index("bird"), lambda: emb[["dog", "bird"]]):
        with pytest.raises(KeyError, match="bird"):
            missing()
    assert repr(emb) == "Embeddings(4 words x 3)"


def test_vectors_are_looked_at_without_a_copy_and_cannot_be_written():
    emb = sememe.Embeddings(WORDS, VECTORS)
    for part in (emb[:2].vectors, emb["dog"], np.asarray(emb), emb.vectors):
        assert np.shares_memory(part, emb.vectors) and not np.shares_memory(part, VECTORS)
    with pytest.raises(ValueError, match="read-only"):
        emb.vectors[0] = 1
    vectors = emb.vectors
    del emb
    assert vectors.sum() == 66  # The view keeps what it needs.


def test_most_similar_words_are_those_of_gensim(demo):
    pytest.importorskip("gensim")
    emb = demo["en"][:1000]
    theirs = emb.to_gensim()
    for positive, negative in (
        ("king", None),
        (["king", "woman"], ["man"]),
        (["house", emb["city"]], "water"),
        ([], "house"),
        (emb["house"], None),
    ):
        found = emb.most_similar(positive, negative, topn=5)
        expected = theirs.most_similar(positive, negative, topn=5)
        assert [word for word, _ in found] == [word for word, _ in expected]
        assert np.allclose([score for _, score in found], [score for _, score in expected], atol=1e-5)
    assert len(emb.most_similar("king", topn=5000)) == 999  # It is not its own neighbour.
    with pytest.raises(KeyError, match="kingg"):
        emb.most_similar("kingg")
    with pytest.raises(TypeError, match="neither a word nor a vector"):
        emb.most_similar([1.0, 2.0])


@pytest.mark.parametrize("ending", ["vec", "txt", "bin", "npy", "safetensors"])
def test_written_and_read_again(tmp_path, ending):
    words = [word.replace(" ", "_") for word in WORDS]
    emb = sememe.Embeddings(words, VECTORS + 1)
    emb.save(tmp_path / f"en.{ending}")
    read = sememe.load(tmp_path / f"en.{ending}")
    assert read.words == words and (read.vectors == VECTORS + 1).all() and read.fingerprint == emb.fingerprint
    assert sememe.load(tmp_path / f"en.{ending}", max_words=2, lower=True).words == ["house", "dog"]


@pytest.mark.parametrize("ending", ["npy", "safetensors"])
def test_what_happens_to_a_file_after_reading_does_not_matter(tmp_path, ending):
    path = tmp_path / f"en.{ending}"
    sememe.Embeddings(WORDS, VECTORS + 1).save(path)
    emb = sememe.load(path)
    if ending == "npy":
        np.save(path, emb.vectors * 2)  # In place: numpy truncates the file, then writes to it.
        assert (emb.vectors == VECTORS + 1).all() and (np.load(path) == 2 * (VECTORS + 1)).all()
    path.write_bytes(b"")
    assert (emb.vectors == VECTORS + 1).all()
    assert (emb["dog"] == VECTORS[1] + 1).all()


def test_arrays_are_mapped_on_request(tmp_path):
    path = tmp_path / "en.npy"
    sememe.Embeddings(WORDS, VECTORS + 1).save(path)
    mapped, read = sememe.load(path, mmap=True), sememe.load(path)
    with open(path, "r+b") as file:  # Mapped vectors change with their file, which is why it must not be changed.
        file.seek(-4, 2)
        file.write(np.float32(99).tobytes())
    assert mapped.vectors[-1, -1] == 99 and read.vectors[-1, -1] == 12


def test_what_is_skipped_is_said_and_progress_told(tmp_path):
    path = tmp_path / "en.vec"
    lines = [f"w{i} {i} 1" for i in range(1, 300)] + ["broken 1"]
    path.write_text("300 2\n" + "\n".join(lines) + "\n", encoding="utf-8")
    told = []
    with pytest.warns(sememe.ReadWarning, match="skipped 1"):
        emb = sememe.load(path, progress=lambda done, total: told.append((done, total)))
    assert len(emb) == 299 and told and 0 < told[-1][0] <= told[-1][1]
    with pytest.raises(ValueError, match="too many unusable"):
        sememe.load(path, strict=True)


def test_a_fasttext_model_composes_words():
    path = DEMO.parents[1] / "sememe/tests/golden/subwords.fasttext.bin"
    emb = sememe.load(path)
    assert "unheardofword" not in emb
    composed = emb["unheardofword"]
    assert composed.shape == (emb.dim,) and np.isfinite(composed).all()
    assert emb.select(["unheardofword"]).words == ["unheardofword"]


def test_pickled():
    emb = pickle.loads(pickle.dumps(sememe.Embeddings(WORDS, VECTORS)))
    assert emb.words == WORDS and (emb.vectors == VECTORS).all()


def test_nearest_words_are_those_of_gensim(demo):
    models = pytest.importorskip("gensim.models")
    en = demo["en"]
    keyed = en.to_gensim()
    assert isinstance(keyed, models.KeyedVectors)
    for word in ("house", "seven", "king"):
        ours, theirs = en.neighbors(word, 5), keyed.most_similar(word, topn=5)
        assert [w for w, _ in ours] == [w for w, _ in theirs]
        assert np.allclose([s for _, s in ours], [s for _, s in theirs], atol=1e-5)
    back = sememe.Embeddings.from_gensim(keyed)
    assert back.words == en.words and (back.vectors == en.vectors).all()


def test_tables_of_pandas():
    pandas = pytest.importorskip("pandas")
    emb = sememe.Embeddings(WORDS, VECTORS)
    table = emb.to_pandas()
    assert list(table.index) == WORDS
    assert (sememe.Embeddings.from_table(table).vectors == VECTORS).all()
    flat = table.reset_index()
    assert sememe.Embeddings.from_table(flat, word="word").words == WORDS
    nested = pandas.DataFrame({"token": WORDS, "embedding": list(VECTORS)})
    assert (sememe.Embeddings.from_table(nested, "token", "embedding").vectors == VECTORS).all()


def test_tables_of_arrow():
    pytest.importorskip("pyarrow")
    table = sememe.Embeddings(WORDS, VECTORS).to_arrow()
    back = sememe.Embeddings.from_table(table, vector="vector")
    assert back.words == WORDS and (back.vectors == VECTORS).all()


class FakeFastText:
    def get_words(self):
        return WORDS

    def get_word_vector(self, word):
        return VECTORS[WORDS.index(word)]


class FakeVocab:
    """What spaCy's vocabulary looks like."""

    def __init__(self):
        self.strings = {i: word for i, word in enumerate(WORDS)}
        self.vectors = type("Vectors", (), {"data": VECTORS, "key2row": {0: 0, 1: 1, 2: 1, 77: 3}})()
        self.set = {}

    def reset_vectors(self, width):
        self.width = width

    def set_vector(self, word, vector):
        self.set[word] = vector


def test_models_of_fasttext_and_spacy_by_what_they_look_like():
    assert sememe.Embeddings.from_fasttext(FakeFastText(), max_words=3).words == WORDS[:3]
    vocab = FakeVocab()
    emb = sememe.Embeddings.from_spacy(vocab)
    assert emb.words == WORDS[:3] and (emb["New York"] == VECTORS[1]).all()
    emb.to_spacy(vocab)
    assert vocab.width == 3 and (vocab.set["dog"] == VECTORS[1]).all()
    for wrong in (sememe.Embeddings.from_gensim, sememe.Embeddings.from_fasttext, sememe.Embeddings.from_spacy):
        with pytest.raises(TypeError, match="int is not"):
            wrong(3)
