"""Vectors from and to other packages, none of which needs to be installed: objects are recognised by their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .embeddings import Embeddings

WordsAndVectors = tuple[list[str], Any]


def of_gensim(model: Any) -> WordsAndVectors:
    vectors = getattr(model, "wv", model)
    _must_have(vectors, "gensim KeyedVectors", "index_to_key", "vectors")
    words = list(vectors.index_to_key)
    return words, vectors.vectors[: len(words)]


def of_fasttext(model: Any, max_words: int | None) -> WordsAndVectors:
    _must_have(model, "a fastText model", "get_words", "get_word_vector")
    words = list(model.get_words())[:max_words]
    return words, np.stack([model.get_word_vector(word) for word in words])


def of_spacy(vocab: Any) -> WordsAndVectors:
    vocab = getattr(vocab, "vocab", vocab)
    _must_have(vocab, "a spaCy vocabulary", "vectors", "strings")
    rows = {vocab.strings[key]: row for key, row in vocab.vectors.key2row.items() if key in vocab.strings}
    rows.pop("", None)
    data = vocab.vectors.data
    data = data.get() if hasattr(data, "get") else data  # On a graphics card.
    return list(rows), np.asarray(data)[list(rows.values())]


def of_table(table: Any, word: str | None, vector: str | None) -> WordsAndVectors:
    names: list[str] = list(getattr(table, "column_names", getattr(table, "columns", ())))
    if not names:
        raise TypeError(f"{type(table).__name__} is no table: it has no columns")
    has_index = hasattr(table, "index") and hasattr(table, "to_numpy")
    if word is None and has_index:
        words = list(table.index)
    else:
        word = names[0] if word is None else word
        words = _values(table[word])
    if vector is not None:
        return words, _vectors(table[vector], len(words))
    return words, np.column_stack([np.asarray(table[name]) for name in names if name != word])


def _values(column: Any) -> list[str]:
    for to_list in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, to_list):
            return list(getattr(column, to_list)())
    return list(column)


def _vectors(column: Any, count: int) -> Any:
    """A column of arrays as one array: Arrow stores them in one piece, others one by one."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if hasattr(column, "flatten") and hasattr(column, "type"):
        return column.flatten().to_numpy(zero_copy_only=False).reshape(count, -1)
    return np.stack([np.asarray(vector) for vector in column])


def to_gensim(embeddings: Embeddings) -> Any:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(embeddings.dim)
    vectors.add_vectors(embeddings.words, embeddings.vectors)
    return vectors


def to_spacy(embeddings: Embeddings, vocab: Any) -> Any:
    vocab.reset_vectors(width=embeddings.dim)
    for word, vector in zip(embeddings.words, embeddings.vectors):
        vocab.set_vector(word, vector)
    return vocab


def to_pandas(embeddings: Embeddings) -> Any:
    import pandas

    return pandas.DataFrame(embeddings.vectors, index=pandas.Index(embeddings.words, name="word"), copy=False)


def to_arrow(embeddings: Embeddings) -> Any:
    import pyarrow

    numbers = pyarrow.array(embeddings.vectors.reshape(-1))
    vectors = pyarrow.FixedSizeListArray.from_arrays(numbers, embeddings.dim)
    return pyarrow.table({"word": embeddings.words, "vector": vectors})


def _must_have(thing: Any, what: str, *attributes: str) -> None:
    missing = [name for name in attributes if not hasattr(thing, name)]
    if missing:
        raise TypeError(f"{type(thing).__name__} is not {what}: it has no {' and no '.join(missing)}")
