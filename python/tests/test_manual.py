"""The documents are true: their commands and their code run, their links lead somewhere, their options exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import ROOT

COMMAND = Path(os.environ.get("SEMEME_COMMAND", ROOT / "target/debug/sememe"))
#: Words of each language in the files that pages run on: enough for learning, which needs 500, and few enough to be quick.
WORDS = 1500
#: Seconds that one block may take before something is taken to hang.
LIMIT = 900

MANUAL = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OTHERS = [
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benches/RESULTS.md")),
    *sorted(ROOT.glob("crates/*/README.md")),
]
#: Languages of code blocks. The crate `docs` compiles those of Rust as doc tests; text is only shown.
RUN, COMPILED, SHOWN = ("sh", "python"), ("rust", "rust,no_run"), ("text",)
MARKER = re.compile(r"<!-- not run: (.+) -->$")


class Block(NamedTuple):
    """A fenced code block."""

    page: Path
    line: int
    language: str
    code: str
    #: Why it is not run, where it says so.
    why_not: str | None

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.language in RUN and self.why_not is None


def blocks(page: Path) -> Iterator[Block]:
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        if not lines[number].startswith("```"):
            number += 1
            continue
        marker = MARKER.match(lines[number - 1]) if number else None
        end = next(at for at in range(number + 1, len(lines)) if lines[at] == "```")
        code = "\n".join(lines[number + 1 : end])
        yield Block(page, number + 1, lines[number][3:].strip(), code, marker and marker[1])
        number = end + 1


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


BLOCKS = [block for page in MANUAL for block in blocks(page)]
PAGES_THAT_RUN = sorted({block.page for block in BLOCKS if block.is_run})


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Path:
    """The files of the manual, and a folder for the PATH with the command."""
    assert COMMAND.exists(), f"{COMMAND} is not there: build it by `cargo build -p sememe-cli`"
    folder = tmp_path_factory.mktemp("manual")
    (folder / "bin").mkdir()
    (folder / "bin/sememe").symlink_to(COMMAND.resolve())
    script = [str(ROOT / "scripts/make-example-data"), str(folder / "example"), str(WORDS)]
    subprocess.run(script, check=True, env={**os.environ, "SEMEME_COMMAND": str(COMMAND.resolve())}, timeout=LIMIT)
    return folder


@pytest.mark.filterwarnings("ignore::sememe.FitWarning")
@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs(page, example, tmp_path, monkeypatch):
    """From top to bottom, in one folder with the example files."""
    folder = tmp_path / "example"
    shutil.copytree(example / "example", folder)
    monkeypatch.setenv("PATH", f"{example / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCKS:
        if block.page != page or not block.is_run:
            continue
        if block.language == "python":
            exec(compile(block.code, block.where, "exec"), names)
        else:
            shell = ["bash", "-euo", "pipefail", "-c", block.code]
            done = subprocess.run(shell, capture_output=True, text=True, check=False, timeout=LIMIT)
            assert done.returncode == 0, f"{block.where} failed:\n{block.code}\n{done.stdout}{done.stderr}"


def test_every_block_is_run_or_says_why_not(capsys):
    for block in BLOCKS:
        known = (*RUN, *COMPILED, *SHOWN)
        assert block.language in known, f"{block.where}: a block is one of {known}, not {block.language!r}"
        if block.language in COMPILED:
            compiled = (ROOT / "docs/manual.rs").read_text(encoding="utf-8")
            name = os.path.relpath(block.page, ROOT / "docs")
            assert f'include_str!("{name}")' in compiled, f"{block.where}: docs/manual.rs does not compile {name}"
    for page in MANUAL:
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"<!-- not run", text)) == sum(block.why_not is not None for block in blocks(page)), page
    left_out = [block for block in BLOCKS if block.why_not is not None]
    with capsys.disabled():
        run = sum(block.is_run for block in BLOCKS)
        print(f"\n{run} blocks of the documents run; {len(left_out)} do not:")
        for block in left_out:
            print(f"  {block.where}: {block.why_not}")


def anchors(page: Path) -> set[str]:
    """What headings can be linked by, as hosts of Markdown name them."""
    found: dict[str, int] = {}
    names = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        names.add(slug if slug not in found else f"{slug}-{found[slug]}")
        found[slug] = found.get(slug, 0) + 1
    return names


@pytest.mark.parametrize("page", [*MANUAL, *OTHERS], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{page.relative_to(ROOT)} links to {target}, which is not there"
        assert not anchor or anchor in anchors(linked), f"{page.relative_to(ROOT)} links to {target}: no such heading"


def test_every_page_can_be_reached():
    for folder in (ROOT / "docs", ROOT / "docs/decisions"):
        index = (folder / "README.md").read_text(encoding="utf-8")
        for page in folder.glob("*.md"):
            assert page.name == "README.md" or f"({page.name})" in index, f"{folder.name}/README.md lacks {page.name}"
    index = (ROOT / "docs/stores.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs/stores").glob("*.md"):
        assert f"(stores/{page.name})" in index, f"docs/stores.md lacks {page.name}"


def test_the_readme_stays_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def helps(*command: str) -> Iterator[str]:
    """What `--help` says of a command and of all its subcommands."""
    done = subprocess.run([str(COMMAND), *command, "--help"], capture_output=True, text=True, check=True)
    yield done.stdout
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", done.stdout, flags=re.MULTILINE)
    for name in re.findall(r"^  ([a-z-]+)", listed[1] if listed else "", flags=re.MULTILINE):
        if name != "help":
            yield from helps(*command, name)


def test_options_that_are_named_exist_and_commands_are_described():
    texts = list(helps())
    options = set(re.findall(r"--[a-z][a-z-]*", "\n".join(texts)))
    for page in MANUAL:
        # Options of other programs stand beside ours there.
        begins = "sememe" if page.name == "coming-from.md" else "(?:sememe|--)"
        for span in re.findall(rf"`({begins}[^`\n]*)`", prose(page)):
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span):
                assert option in options, f"{page.relative_to(ROOT)} names {option} in `{span}`"
    manual = "\n".join(page.read_text(encoding="utf-8") for page in MANUAL)
    for command in re.findall(r"^  ([a-z-]+) ", re.search(r"Commands:\n((?:  .*\n)+)", texts[0])[1], flags=re.MULTILINE):
        assert command == "help" or f"sememe {command}" in manual, f"no page has the command {command}"
