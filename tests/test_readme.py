"""The README's Python examples run, in order, and print what their comments promise."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
PROMISE = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


def test_readme__has_no_placeholder():
    assert not re.search(r"@[A-Z]+@|TODO", README.read_text("utf-8"))


def test_readme__examples(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    namespace = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), namespace)
    promised = [line for block in blocks for line in PROMISE.findall(block)]
    assert capsys.readouterr().out.splitlines() == promised
