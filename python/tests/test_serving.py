"""A server in the background, and its client: what they say is what the space says."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.request

import numpy as np
import pytest

import sememe


@pytest.fixture(scope="module")
def server(space):
    with sememe.serve(space) as server:
        yield server


@pytest.fixture(scope="module")
def client(server) -> sememe.Client:
    return server.client()


def test_answers_are_those_of_the_space(client, space):
    words = ["house", "king", "water"]
    assert client.translate(words, "en", "fr", 3) == space.translate(words, "en", "fr", k=3)
    assert client.translate("house", "en", "fr", criterion="nn") == space.translate("house", "en", "fr", criterion="nn")
    assert client.translate(["house", "unheardof"], "en", "fr")[1] == []
    vectors = client.vectors(words, "en")
    np.testing.assert_array_equal(vectors, [space["en"][word] for word in words])
    assert client.neighbors(words, "en", "fr", 4) == client.neighbors(vectors, "en", "fr", 4)
    assert client.neighbors(["house", "unheardof"], "en")[1] == []
    assert all(word != "house" for word, _ in client.neighbors(["house"], "en")[0])
    (only,) = client.spaces()
    assert [view["name"] for view in only["views"]] == ["en", "fr"]


def test_vectors_are_projected(client, space, demo):
    rows = demo["en"].vectors[:5]
    np.testing.assert_allclose(client.project(rows, "en"), space.model.transform(rows, "en"), rtol=1e-5, atol=1e-6)
    compared = space.model.transform(rows, "en", compared_with="fr")
    np.testing.assert_allclose(client.project(rows, "en", compared_with="fr"), compared, rtol=1e-5, atol=1e-6)


def test_problems_are_exceptions(client, space, tmp_path):
    with pytest.raises(KeyError, match="did you mean"):
        client.translate("hous", "en", "fr")
    with pytest.raises(KeyError, match="unheardof"):
        client.vectors(["house", "unheardof"], "en")
    with pytest.raises(sememe.ServerError, match="no view named 'xx'|no view named \"xx\"") as problem:
        client.translate("house", "en", "xx")
    assert (problem.value.status, problem.value.code) == (404, "unknown_view")
    with pytest.raises(ValueError, match="token"):
        sememe.serve(space, bind="0.0.0.0")
    with pytest.raises(ValueError, match="IP address"):
        sememe.serve(space, bind="here")
    with pytest.raises(OSError, match="no-space"):
        sememe.serve(tmp_path / "no-space")
    with pytest.raises(ValueError, match="http://"):
        sememe.Client("localhost:8080")


def test_a_token_is_needed_and_sent(space):
    with sememe.serve({"named": space}, token="0123456789abcdef") as server:
        assert "#token=" in server.url and "0123" not in repr(server)
        assert server.client().spaces()[0]["name"] == "named"
        with pytest.raises(sememe.ServerError) as problem:
            sememe.Client(server.url.partition("#")[0]).spaces()
        assert (problem.value.status, problem.value.code) == (401, "token")


class Preparing(http.server.BaseHTTPRequestHandler):
    """Answers the second request, and says to the first that it prepares what that asks for."""

    asked = 0

    def do_GET(self):
        Preparing.asked += 1
        is_ready = Preparing.asked > 1
        error = {"error": {"code": "preparing", "message": "ask again in a moment"}}
        body = json.dumps({"spaces": []} if is_ready else error).encode()
        self.send_response(200 if is_ready else 429)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_server_that_still_prepares_is_asked_again():
    with http.server.HTTPServer(("127.0.0.1", 0), Preparing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = sememe.Client(f"http://127.0.0.1:{server.server_port}")
        assert client.spaces() == [] and Preparing.asked == 2
        server.shutdown()


def test_a_notebook_shows_the_page(space):
    server = sememe.serve(space)
    try:
        assert server.is_running and "<iframe" in server._repr_html_() and server.url in server._repr_html_()
        with urllib.request.urlopen(server.url) as page:
            assert page.read().startswith(b"<!doctype html>")
            assert "frame-ancestors http://localhost:*" in page.headers["content-security-policy"]
    finally:
        server.stop()
    assert not server.is_running and "stopped" in repr(server) and "<iframe" not in server._repr_html_()
    server.stop()
