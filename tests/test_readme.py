"""The examples of the README and of the guides run, print what their comments promise, and name commands that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from veilgym.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROMISE = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


@pytest.fixture(params=PAGES, ids=[page.stem for page in PAGES], name="text")
def text_fixture(request: pytest.FixtureRequest) -> str:
    page: Path = request.param
    return page.read_text("utf-8")


def test_no_placeholder_is_left(text: str) -> None:
    assert not re.search(r"@[A-Z]+@|TODO", text)


def test_the_examples_run_and_print_what_they_promise(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    namespace: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "example", "exec"), namespace)
    promised = [line for block in blocks for line in PROMISE.findall(block)]
    assert capsys.readouterr().out.splitlines() == promised


def test_the_commands_exist_and_take_these_arguments(text: str) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL):
        for line in re.findall(r"(?:^|&& )veilgym (.*)$", block, re.MULTILINE):
            name, *arguments = shlex.split(line, comments=True)
            commands[name].make_context(name, arguments)


def test_the_links_lead_to_files(text: str) -> None:
    folder = next(page.parent for page in PAGES if page.read_text("utf-8") == text)
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (folder / target).exists(), target
