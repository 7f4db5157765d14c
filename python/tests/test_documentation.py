"""What is written down is true: docstrings, the tutorial, the examples, the types."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import sememe
from conftest import ROOT
from sememe import _sememe

NAMES = [module.name for module in pkgutil.walk_packages(sememe.__path__, "sememe.")]
MODULES = [name for name in NAMES if name != "sememe._sememe"]


@pytest.mark.parametrize("name", ["sememe", *MODULES])
def test_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_everything_public_is_described():
    for name in sememe.__all__:
        thing = getattr(sememe, name)
        assert thing.__doc__, name
        for attribute, value in vars(thing).items() if isinstance(thing, type) else ():
            if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{attribute}"


def test_stubs_name_what_there_is():
    stubs = ast.parse(Path(_sememe.__file__).with_name("_sememe.pyi").read_text(encoding="utf-8"))
    described = {node.name: node for node in stubs.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert set(described) == {name for name in dir(_sememe) if not name.startswith("_")}
    for name, node in described.items():
        if isinstance(node, ast.ClassDef):
            methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            there = {method for method in vars(getattr(_sememe, name)) if not method.startswith("_")}
            assert {method for method in methods if not method.startswith("_")} == there, name


def test_types_are_right():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a file of the documentation in an empty folder; returns what it defines."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("SEMEME_DEMO", str(ROOT / "crates/sememe-report/demo"))
    monkeypatch.chdir(tmp_path)
    return lambda path: runpy.run_path(str(ROOT / path))


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
def test_the_tutorial_runs(run, tmp_path):
    made = run("python/examples/tutorial.py")
    assert all(value > 60 for value in made["precision"].values()), made["precision"]
    assert made["precision"]["en", "fr", "csls"] > 80
    assert abs(made["sure"].mean() - made["right"].mean()) < 0.1
    plots = {path.name for path in tmp_path.glob("*.png")}
    assert plots == {"likelihood.png", "confidence.png", "space.png"}


def test_two_embedding_models_are_aligned(run):
    made = run("python/examples/embedding_models.py")
    assert made["before"][1] < 0.02 and made["after"][0] > 0.5 and made["after"][1] > 0.8
    assert made["best"] > made["after"]
    sure, right = made["sure"], made["right"]
    assert right[sure > 0.75].mean() > 0.9 > 0.3 > right[sure < 0.25].mean()
