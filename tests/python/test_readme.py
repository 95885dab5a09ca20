"""The examples in the package's README run, in order, and print what their comments say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "bindings" / "python" / "README.md"
TOLD = re.compile(r"^\s*print\(.*\)  # (?P<told>.*)$")


def script() -> str:
    """The README with everything but its Python left blank: lines keep their numbers."""
    lines, inside = [], False
    for line in README.read_text().splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def test_every_example_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    code = script()
    told = [found["told"] for line in code.splitlines() if (found := TOLD.match(line))]
    assert told, "the README has no examples"
    copy = tmp_path / "readme.py"
    copy.write_text(code)
    ran = subprocess.run(
        [sys.executable, str(copy)],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "ONEIRO_STORE": str(tmp_path / "store")},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, f"{README.name}, by line: {ran.stderr}"
    assert ran.stdout.splitlines() == told


def test_every_print_says_what_it_prints() -> None:
    silent = [line for line in script().splitlines() if "print(" in line and not TOLD.match(line)]
    assert silent == []


def test_every_error_is_listed() -> None:
    import oneiro

    listed = set(re.findall(r"^\| `(\w+)` \|", README.read_text(), re.MULTILINE))
    there = {name for name in oneiro.__all__ if name.endswith(("Error", "Error_"))} - {"Error"}
    assert listed == there
