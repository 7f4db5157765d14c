"""Words with their vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Union, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _sememe, adapters
from ._arrays import Rows, as_rows
from ._progress import Progress, reporting
from ._warnings import ReadWarning, warn

if TYPE_CHECKING:
    import gensim.models
    import pandas
    import pyarrow
    import spacy.vocab

Path = Union[str, "PathLike[str]"]
#: A word, a vector, or several of them.
Terms = Union[str, ArrayLike, Iterable[Union[str, ArrayLike]], None]


def listed(terms: Terms) -> list[Any]:
    """The words and vectors of an argument, one by one."""
    if terms is None:
        return []
    is_one = isinstance(terms, str) or isinstance(terms, np.ndarray) and terms.ndim == 1
    return [terms] if is_one else list(cast("Iterable[Any]", terms))


def summed_directions(positive: Terms, negative: Terms, vector: Callable[[str], Rows]) -> Rows:
    """The sum of the directions of words, and of vectors as they are, minus that of others: one row."""
    signed = [(term, 1.0) for term in listed(positive)] + [(term, -1.0) for term in listed(negative)]
    if not signed:
        raise ValueError("similar to what? give positive or negative words, or vectors")
    directions = []
    for term, sign in signed:
        values = np.asarray(vector(term) if isinstance(term, str) else term, np.float64)
        if values.ndim != 1:
            raise TypeError(f"{term!r} is neither a word nor a vector")
        length = np.linalg.norm(values) if isinstance(term, str) else 1.0
        directions.append(sign * values / (length or 1.0))
    return np.stack(directions).sum(axis=0)[None, :].astype(np.float32)


class Embeddings:
    """Words in the order of their file, each with a vector; immutable.

    Parameters
    ----------
    words
        Distinct words, at least a character each.
    vectors
        An array with one row per word. It is copied, unless nothing can change it: ``vectors`` of other embeddings, an array
        over ``bytes``, or a file mapped for reading (``numpy.load(..., mmap_mode="r")``), of contiguous float32.

    Examples
    --------
    >>> import numpy as np, sememe
    >>> emb = sememe.Embeddings(["house", "dog", "cat"], np.eye(3, dtype="float32"))
    >>> emb["dog"]
    array([0., 1., 0.], dtype=float32)
    >>> "bird" in emb, len(emb), emb.vectors.shape
    (False, 3, (3, 3))
    >>> emb[:2].words
    ['house', 'dog']
    """

    def __init__(self, words: Iterable[str], vectors: ArrayLike):
        self._adopt(_sememe.Embeddings(list(words), as_rows(vectors, "vectors")))

    def _adopt(self, native: _sememe.Embeddings) -> None:
        self._native = native
        self._words: list[str] | None = None
        self._vectors = native.vectors()

    @classmethod
    def _of(cls, native: _sememe.Embeddings) -> Embeddings:
        embeddings = cls.__new__(cls)
        embeddings._adopt(native)
        return embeddings

    @property
    def words(self) -> list[str]:
        """The words in order."""
        if self._words is None:
            self._words = self._native.words()
        return self._words

    @property
    def vectors(self) -> Rows:
        """The vectors, one per row: a read-only view without a copy."""
        return self._vectors

    @property
    def dim(self) -> int:
        """Length of each vector."""
        return self._native.dim

    @property
    def shape(self) -> tuple[int, int]:
        """Number of words and length of their vectors."""
        return (len(self), self.dim)

    @property
    def fingerprint(self) -> str:
        """A hash of words and numbers, independent of the file format."""
        return self._native.fingerprint()

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._native.index(word) is not None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.vectors, dtype=dtype, copy=bool(copy) or dtype not in (None, np.float32))

    def __repr__(self) -> str:
        return f"Embeddings({len(self):,} words x {self.dim})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Embeddings, (self.words, self.vectors))

    @overload
    def __getitem__(self, key: str | int | Sequence[str]) -> Rows: ...
    @overload
    def __getitem__(self, key: slice) -> Embeddings: ...
    def __getitem__(self, key: str | int | slice | Sequence[str]) -> Rows | Embeddings:
        """The vector of a word or of a row, the vectors of several words, or a part of the words with their vectors."""
        if isinstance(key, str):
            return self._vector(key)
        if isinstance(key, slice):
            return Embeddings(self.words[key], self.vectors[key])
        if isinstance(key, (int, np.integer)):
            return self.vectors[key]
        return np.stack([self._vector(word) for word in key])

    def _vector(self, word: str) -> Rows:
        if not isinstance(word, str):
            raise TypeError(f"a word is a string, not {type(word).__name__}")
        index = self._native.index(word)
        vector = self._native.compose(word) if index is None else self.vectors[index]
        if vector is None:
            raise KeyError(word)
        return vector

    def get(self, word: str, default: Any = None) -> Any:
        """The vector of a word, or a default if there is none."""
        try:
            return self._vector(word)
        except KeyError:
            return default

    def index(self, word: str) -> int:
        """The row of a word."""
        index = self._native.index(word)
        if index is None:
            raise KeyError(word)
        return index

    def spellings(self, word: str, limit: int = 3) -> list[str]:
        """The closest spellings of a word."""
        return self._native.spellings(word, limit)

    def select(self, words: Iterable[str]) -> Embeddings:
        """The given words with their vectors; a fastText model composes a vector for any word."""
        words = list(dict.fromkeys(words))
        return Embeddings(words, self[words])

    def lower(self) -> Embeddings:
        """The same in lower case; the first of words that become equal is kept."""
        return Embeddings._of(self._native.lowercased())

    def neighbors(self, query: str | ArrayLike, k: int = 10) -> list[tuple[str, float]]:
        """The words nearest to a word, or to a vector, by cosine.

        >>> import numpy as np, sememe
        >>> emb = sememe.Embeddings(["a", "b", "c"], [[1, 0], [1, 1], [0, 1]])
        >>> emb.neighbors("a", k=1)[0][0]
        'b'
        """
        from .retrieval import neighbors

        own = self._native.index(query) if isinstance(query, str) else None
        vector = self._vector(query) if isinstance(query, str) else np.asarray(query)
        count = min(k + (own is not None), len(self))
        ids, scores = neighbors(vector[None, :], self.vectors, count)
        found = [(self._native.word(i), float(score)) for i, score in zip(ids[0], scores[0]) if i not in (own, -1)]
        return found[:k]

    def most_similar(self, positive: Terms = None, negative: Terms = None, topn: int = 10) -> list[tuple[str, float]]:
        """The words nearest to a sum of directions, by cosine, as gensim's ``KeyedVectors.most_similar``.

        ``positive`` and ``negative`` are a word, a vector, or a list of them. Positive ones are added and negative ones subtracted,
        words at length 1 and vectors as they are. The given words are not among the results.

        >>> import numpy as np, sememe
        >>> emb = sememe.Embeddings(["man", "woman", "king", "queen"], [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
        >>> emb.most_similar(["king", "woman"], negative="man", topn=1)[0][0]
        'queen'
        """
        from .retrieval import _count, neighbors

        query = summed_directions(positive, negative, self._vector)
        given = {self._native.index(word) for word in [*listed(positive), *listed(negative)] if isinstance(word, str)}
        ids, scores = neighbors(query, self.vectors, min(_count(topn, "topn") + len(given), len(self)))
        found = [(self._native.word(i), float(score)) for i, score in zip(ids[0], scores[0]) if i >= 0 and i not in given]
        return found[:topn]

    def save(self, path: Path, format: str | None = None) -> None:
        """Writes a file. Its extension decides the format: ``.vec``, ``.txt`` (no header), ``.bin`` (word2vec), ``.npy``,
        ``.safetensors``, ``.parquet`` or ``.arrow``."""
        self._native.write(path, format)

    @classmethod
    def from_gensim(cls, model: Any) -> Embeddings:
        """From gensim's ``KeyedVectors``, or a model that has them; the vectors are copied."""
        return cls(*adapters.of_gensim(model))

    @classmethod
    def from_fasttext(cls, model: Any, max_words: int | None = None) -> Embeddings:
        """From a model of the module ``fasttext``: its words, the most frequent first. (:func:`load` reads its file.)"""
        return cls(*adapters.of_fasttext(model, max_words))

    @classmethod
    def from_spacy(cls, vocab: Any) -> Embeddings:
        """From the vocabulary of a spaCy pipeline, or the pipeline."""
        return cls(*adapters.of_spacy(vocab))

    @classmethod
    def from_table(cls, table: Any, word: str | None = None, vector: str | None = None) -> Embeddings:
        """From a table of pandas, polars or Arrow.

        Words are in the column ``word``; by default in the index of a pandas table, else in the first column. Numbers are in
        the column ``vector``, an array each, or by default in all other columns.
        """
        return cls(*adapters.of_table(table, word, vector))

    @classmethod
    def from_arrow(
        cls, table: Any, columns: Sequence[str] | None = None, *, max_words: int | None = None, strict: bool = False
    ) -> Embeddings:
        """From anything with the Arrow C stream interface: tables of pyarrow, polars, pandas or duckdb.

        ``columns`` names the column of words or ids and the one of vectors (lists of float32, float64 or float16), by default the
        only ones of such types. Vectors are not copied if they are float32, in one piece, and no row has to be skipped. Rows
        are skipped as by :func:`load`.

        >>> import numpy as np, sememe
        >>> emb = sememe.Embeddings(["house", "dog"], np.eye(2, dtype="float32"))
        >>> sememe.Embeddings.from_arrow(emb).words
        ['house', 'dog']
        """
        native, _, notes = _sememe.Embeddings.from_arrow(table, columns, max_words, strict)
        warn(notes, ReadWarning)
        return cls._of(native)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns ``word`` and ``vector`` (lists of fixed size) as an Arrow stream, which shares the vectors:
        ``pyarrow.table(embeddings)``, ``polars.DataFrame(embeddings)``."""
        return self._native.__arrow_c_stream__(requested_schema)

    def to_gensim(self) -> gensim.models.KeyedVectors:
        """gensim's ``KeyedVectors``."""
        return adapters.to_gensim(self)

    def to_spacy(self, vocab: spacy.vocab.Vocab) -> spacy.vocab.Vocab:
        """Puts the vectors into the vocabulary of a spaCy pipeline, instead of those that it has."""
        return adapters.to_spacy(self, vocab)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas table whose index are the words."""
        return adapters.to_pandas(self)

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table with the columns ``word`` and ``vector``."""
        return adapters.to_arrow(self)


def load(
    path: Path,
    max_words: int | None = None,
    lower: bool = False,
    *,
    format: str | None = None,
    words: Path | None = None,
    columns: Sequence[str] | None = None,
    strict: bool = False,
    mmap: bool = False,
    progress: Progress = None,
) -> Embeddings:
    """Reads word vectors: word2vec or fastText text, GloVe, word2vec or fastText binary, NumPy, safetensors; also compressed;
    and tables, Parquet and Arrow.

    Parameters
    ----------
    path
        The file; its format is detected from its content.
    max_words
        Read only this number of words from the beginning.
    lower
        Lower-case all words; the first of words that become equal is kept.
    format
        Insist on a format: text, glove, word2vec, fasttext, npy, safetensors, parquet or arrow.
    words
        The word list of an array; by default ``STEM.words.txt``, ``STEM.txt`` or ``words.txt`` beside it.
    columns
        Of a table: the column of words or ids and the one of vectors; by default the only ones of such types.
    strict
        Anything skipped is an error. Otherwise up to 1 % of the lines may be skipped, with a :class:`ReadWarning`.
    mmap
        Map a binary file into memory instead of reading it. float32 arrays (``.npy``, ``.safetensors``) are not copied then, and
        of a fastText model only what is used is read. The file must not change while the vectors are in use: they would
        change with it, and if it is truncated the system ends the interpreter (SIGBUS). Files that are replaced by renaming,
        as sememe writes them, are safe.
    progress
        Receives the progress of reading: a function of two numbers, ``tqdm``, or True.

    Examples
    --------
    >>> import pathlib, sememe, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "en.vec"
    >>> _ = path.write_text("2 3\\nhouse 0.1 0.2 0.3\\nNew York 1 2 3\\n")
    >>> sememe.load(path)["New York"]
    array([1., 2., 3.], dtype=float32)
    """
    with reporting(progress, "reading") as report:
        native, _, notes = _sememe.Embeddings.read(path, max_words, format, words, columns, strict, mmap, report)
    warn((f"{path}: {note}" for note in notes), ReadWarning)
    embeddings = Embeddings._of(native)
    return embeddings.lower() if lower else embeddings
