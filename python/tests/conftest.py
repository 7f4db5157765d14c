"""What several tests need: bundled vectors, the command, and data with a known structure."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import sememe

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "crates/sememe-report/demo"
TRAIN, TEST = DEMO / "concepts.train.tsv", DEMO / "concepts.test.tsv"

# Shells start what they run in the background with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def demo() -> dict[str, sememe.Embeddings]:
    """The most frequent words of three languages."""
    return {name: sememe.load(DEMO / f"{name}.npy.zst", max_words=2000) for name in ("en", "fr", "ru")}


@pytest.fixture(scope="session")
def command():
    """Runs the command; returns what it prints as JSON, or where it fails with this status, what it says."""
    path = Path(os.environ.get("SEMEME_COMMAND", ROOT / "target/debug/sememe"))
    assert path.exists(), f"{path} is not there: build it by `cargo build -p sememe-cli`"

    def run(*arguments: object, fails: int = 0):
        words = [str(path), *map(str, arguments), "--json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == fails, done.stderr
        return done.stderr if fails else json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def space(demo, tmp_path_factory) -> sememe.Space:
    """English and French by IBFA."""
    path = tmp_path_factory.mktemp("spaces") / "space"
    pair = {name: demo[name] for name in ("en", "fr")}
    sememe.IBFA(100, shrinkage=0.3).fit(pair, TRAIN).save(path)
    return sememe.Space.open(path)


def files(folder: Path) -> dict[str, bytes]:
    """What a space holds."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".safetensors"}


def as_json(result):
    """As the command prints it: keys are strings."""
    return {str(k): as_json(v) for k, v in result.items()} if isinstance(result, dict) else result


def factors(dims: tuple[int, ...], rows: int = 400, latent: int = 3, noise: float = 0.3, seed: int = 0):
    """Views of one hidden vector, as the model has them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, latent))
    return [z @ rng.normal(size=(latent, dim)) + noise * rng.normal(size=(rows, dim)) + 1.0 for dim in dims]
