"""The candidates of every gold word in a file, and Parquet files that lie."""

from __future__ import annotations

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import sememe
from conftest import TEST


def test_details_have_a_row_for_each_gold_word(space, command, tmp_path):
    arguments = ["evaluate", "translation", space.path, "--from", "en", "--to", "fr", "--gold", TEST, "--criterion", "nn,csls"]
    files = {ending: tmp_path / f"details.{ending}" for ending in ("tsv", "jsonl", "parquet")}
    results = [command(*arguments, "--details", path) for path in files.values()]
    assert results[0]["details"] == str(files["tsv"])
    rows = [json.loads(line) for line in files["jsonl"].read_text().splitlines()]
    table = pyarrow.parquet.read_table(files["parquet"])
    for name in ("word", "gold", "known", "rank", "candidates", "criterion"):
        assert table[name].to_pylist() == [row[name] for row in rows], name
    header, *lines = [line.split("\t") for line in files["tsv"].read_text().splitlines()]
    assert header[3:7] == ["word", "gold", "known", "rank"] and len(lines) == len(rows)
    assert [line[3] for line in lines] == [row["word"] for row in rows]
    for evaluation in results[0]["evaluations"]:
        own = [row for row in rows if row["criterion"] == evaluation["criterion"]]
        known = [row for row in own if row["known"]]
        assert len(own) == evaluation["gold_words"] and len(known) == evaluation["queries"]
        assert 100 * np.mean([row["rank"] == 1 for row in known]) == pytest.approx(evaluation["precision"]["1"])
    # What is written is what `translate` says.
    row = next(row for row in rows if row["criterion"] == "csls" and row["known"])
    candidates = space.translate(row["word"], "en", "fr", k=10, criterion="csls")
    assert [candidate.word for candidate in candidates] == row["candidates"]
    assert [candidate.score for candidate in candidates] == pytest.approx(row["scores"])


def varint(value: int) -> bytes:
    encoded = []
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


@pytest.mark.parametrize("column", ["word", "vector"])
def test_a_page_that_declares_two_gigabytes_is_refused(tmp_path, capfd, column):
    path = tmp_path / "x.parquet"
    vectors = np.random.default_rng(0).normal(size=(50, 4)).astype("f4")
    pyarrow.parquet.write_table(pyarrow.table({"word": [f"w{i}" for i in range(50)], "vector": list(vectors)}), path)
    group = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    chunk = next(group.column(i) for i in range(group.num_columns) if group.column(i).path_in_schema.startswith(column))
    data = path.read_bytes()
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    # The header begins with two fields of integers: the type, and the size when decompressed.
    assert data[start] == data[start + 2] == 0x15
    end = next(at for at in range(start + 3, start + 9) if data[at] < 128) + 1
    path.write_bytes(data[: start + 3] + varint(2 * (2**31 - 1)) + data[end:])
    with pytest.raises(ValueError, match="declares 2147483647 bytes"):
        sememe.load(path)
    assert capfd.readouterr().err == ""


def test_broken_footers_are_refused_quietly(tmp_path, capfd):
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"word": ["a", "b"], "vector": [[1.0, 2.0], [3.0, 4.0]]}), path)
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = len(data) - 8 - length
    hostile = [data[:-1], data[:-9] + data[-8:], data[:-8] + b"\xff\xff\xff\x7fPAR1", data[:-8] + b"\0\0\0\0PAR1"]
    hostile += [data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :] for at in range(footer, footer + length, 3)]
    for broken in hostile:
        path.write_bytes(broken)
        try:
            sememe.load(path)
        except ValueError as error:
            assert str(path) in str(error)
    assert capfd.readouterr().err == ""
