"""Spaces over HTTP: a server for notebooks, and a client of any server."""

from __future__ import annotations

import html
import io
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _sememe
from ._arrays import Rows
from .space import Candidate, Space

__all__ = ["Client", "ServerError", "Server", "serve"]

Path = Union[str, "PathLike[str]"]
_NPY = "application/x-npy"


class Server:
    """A server in the background of this process; see :func:`serve`. In a notebook it shows its page."""

    def __init__(self, native: _sememe.Server):
        self._native = native

    @property
    def url(self) -> str:
        """The address of the page, with the token if there is one."""
        return self._native.url

    @property
    def is_running(self) -> bool:
        """Whether it still answers."""
        return self._native.is_running

    def stop(self) -> None:
        """Let it answer what it has begun, and end it."""
        self._native.stop()

    def client(self) -> Client:
        """A client of this server."""
        address, _, token = self.url.partition("#token=")
        return Client(address, token or None)

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Server({self.url.partition('#')[0]!r}{'' if self.is_running else ', stopped'})"

    def _repr_html_(self) -> str:
        url = html.escape(self.url, quote=True)
        frame = f'<iframe src="{url}" width="100%" height="640" style="border: 1px solid #8888"></iframe>'
        return f'<p><a href="{url}" target="_blank" rel="noopener">{url}</a></p>{frame if self.is_running else ""}'


def serve(
    space: Space | Path | Mapping[str, Space | Path],
    *,
    bind: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    insecure: bool = False,
    max_batch: int = 512,
    timeout: float = 30.0,
) -> Server:
    """Serve a space, or several by name: a page to look around in them, and an HTTP API.

    The server runs in the background of this process until ``stop()``, until the ``with`` block ends, or until nothing
    refers to it. Only this machine can reach it, unless ``bind`` says otherwise; then it needs a ``token``, or
    ``insecure=True``.

    Examples
    --------
    >>> import numpy as np, sememe, tempfile
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 8))
    >>> words = lambda name: [f"{name}{row}" for row in range(300)]
    >>> views = {"a": sememe.Embeddings(words("a"), x), "b": sememe.Embeddings(words("b"), x @ rng.normal(size=(8, 8)))}
    >>> path = tempfile.mkdtemp() + "/space"
    >>> _ = sememe.IBFA(8).fit(views, [(f"a{row}", f"b{row}") for row in range(200)]).save(path)
    >>> with sememe.serve(path) as server:
    ...     server.client().translate("a250", "a", "b")[0].word
    'b250'
    """
    named = space if isinstance(space, Mapping) else {_name(space): space}
    spaces = [(name, _path(one)) for name, one in named.items()]
    return Server(_sememe.Server.start(spaces, bind, port, token, insecure, max_batch, timeout))


def _path(space: Space | Path) -> str:
    return str(space.path) if isinstance(space, Space) else os.fspath(space)


def _name(space: Space | Path) -> str:
    return os.path.basename(os.path.abspath(_path(space))) or "space"


class ServerError(Exception):
    """What a server says against a request."""

    def __init__(self, status: int, code: str, message: str):
        super().__init__(message)
        #: The HTTP status.
        self.status = status
        #: What is wrong, for programs: ``unknown_word``, ``bad_k``, ``token``.
        self.code = code


class Client:
    """Asks a server (``sememe serve``), by the standard library alone.

    >>> import sememe
    >>> sememe.Client("http://localhost:8080/")
    Client('http://localhost:8080')
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 60.0):
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url is {url!r}: it must begin with http:// or https://")
        self._url, self._token, self._timeout = url.rstrip("/"), token, timeout

    def spaces(self) -> list[dict[str, Any]]:
        """The spaces of the server, their views and criteria."""
        return json.loads(self._ask("/v1/spaces"))["spaces"]

    def translate(
        self,
        words: str | Sequence[str],
        source: str,
        target: str,
        k: int = 5,
        criterion: str = "auto",
        *,
        space: str | None = None,
    ) -> list[Candidate] | list[list[Candidate]]:
        """The best translations of a word, or of several; those of unknown words are empty.

        The results are those of :meth:`sememe.Space.translate`.
        """
        several = [words] if isinstance(words, str) else list(words)
        asked = {"from": source, "to": target, "words": several, "k": k, "criterion": criterion, "space": space}
        answer = json.loads(self._ask("/v1/translate", asked))
        unknown, found = set(answer["unknown"]), iter(answer["translations"])
        if isinstance(words, str) and unknown:
            close = " or ".join(map(repr, answer["suggestions"].get(words, [])))
            hint = f"; did you mean {close}?" if close else ""
            raise KeyError(f"{words!r} is not in the vocabulary of {source}{hint}")
        candidates = [
            [] if word in unknown else [Candidate(**candidate) for candidate in next(found)["candidates"]]
            for word in several
        ]
        return candidates[0] if isinstance(words, str) else candidates

    def neighbors(
        self,
        queries: Sequence[str] | ArrayLike,
        source: str,
        target: str | None = None,
        k: int = 10,
        criterion: str | None = None,
        *,
        space: str | None = None,
    ) -> list[list[tuple[str, float]]]:
        """The nearest words of words, or of latent vectors; without a target, within the view.

        Those of unknown words are empty.
        """
        words = _words(queries)
        given = {"words": words} if words else {"vectors": np.asarray(queries, dtype=np.float32).tolist()}
        asked = {"from": source, "to": target or source, "k": k, "criterion": criterion, "space": space, **given}
        answer = json.loads(self._ask("/v1/neighbors", asked))
        found = [[(hit["word"], hit["score"]) for hit in one["hits"]] for one in answer["neighbors"]]
        if not words:
            return found
        unknown, known = set(answer["unknown"]), iter(found)
        return [[] if word in unknown else next(known) for word in words]

    def vectors(self, words: Sequence[str], view: str, *, space: str | None = None) -> Rows:
        """The latent vectors of words, one a row. Unknown words are a ``KeyError``."""
        words = list(words)
        found = _array(self._ask("/v1/vectors", {"view": view, "words": words, "space": space}, accept=_NPY))
        if len(found) < len(words):
            answer = json.loads(self._ask("/v1/vectors", {"view": view, "words": words, "space": space}))
            raise KeyError(f"not in the vocabulary of {view}: {', '.join(map(repr, answer['unknown']))}")
        return found

    def project(
        self, vectors: ArrayLike, view: str, *, compared_with: str | None = None, space: str | None = None
    ) -> Rows:
        """Vectors of a view in the latent space, or in the coordinates in which it is compared with another one."""
        given = {"view": view, "compared_with": compared_with, "space": space}
        query = urllib.parse.urlencode({name: value for name, value in given.items() if value is not None})
        body = io.BytesIO()
        np.save(body, np.ascontiguousarray(vectors, dtype=np.float32))
        return _array(self._ask(f"/v1/project?{query}", body.getvalue(), accept=_NPY))

    def _ask(self, path: str, body: Mapping[str, Any] | bytes | None = None, accept: str | None = None) -> bytes:
        headers = {"Accept": accept or "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        data: bytes | None = None
        if isinstance(body, bytes):
            headers["Content-Type"], data = _NPY, body
        elif body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
        request = urllib.request.Request(self._url + path, data, headers)
        end = time.monotonic() + self._timeout
        while True:
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                    return answer.read()
            except urllib.error.HTTPError as error:
                with error:
                    problem = _problem(error.code, error.read())
                # The first start on a space takes a while, and says when to ask again.
                if problem.code != "preparing" or time.monotonic() > end:
                    raise problem from None
                time.sleep(float(error.headers.get("Retry-After", 1)))

    def __repr__(self) -> str:
        return f"Client({self._url!r})"


def _words(queries: Sequence[str] | ArrayLike) -> list[str]:
    """The words, if these are words and not vectors."""
    if isinstance(queries, (list, tuple)) and all(isinstance(query, str) for query in queries):
        return list(queries)
    return []


def _problem(status: int, body: bytes) -> ServerError:
    try:
        error = json.loads(body)["error"]
        return ServerError(status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return ServerError(status, "unknown", f"the server answered {status}, and not as sememe does")


def _array(body: bytes) -> Rows:
    return np.load(io.BytesIO(body), allow_pickle=False)
