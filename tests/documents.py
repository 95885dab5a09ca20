"""Runs the commands that a document shows, one after the other, and compares what they print.

Blocks marked `console` are run; `sh` blocks are not. A line that begins with `$ ` is a command, `> `
continues it, and the other lines are what it must print on standard output. Two marks stand for what
changes from run to run: a line `...` for any lines, `[..]` for any characters within a line. A
command without output below it must only succeed.

Two commands are run differently, because nobody is there to answer or to stop them: `oneiro setup`
gets --yes, and `oneiro serve` listens on a free port until it has answered.
"""

import dataclasses
import re
import shlex
import shutil
import subprocess

import rig

# The home of somebody with several agents.
AGENTS_HOME = rig.ROOT / "crates/cli/tests/fixtures/home"

DOCUMENTS = [rig.ROOT / "README.md", *sorted(rig.ROOT.glob("docs/guide/*.md"))]


@dataclasses.dataclass
class Command:
    """A command of a document, and what it prints according to it."""

    line: int
    text: str
    output: list[str]


def commands(text):
    """The commands of all `console` blocks, in order."""
    found, is_console = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_console = line == "```console"
        elif not is_console:
            continue
        elif line.startswith("$ "):
            found.append(Command(number, line[2:], []))
        elif line.startswith("> ") and not found[-1].output:
            found[-1].text += "\n" + line[2:]
        else:
            found[-1].output.append(line)
    return found


def matches(shown, printed):
    """Whether the shown lines describe the printed text."""
    pattern = ""
    for line in shown:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r".*".join(re.escape(part) for part in line.split("[..]")) + r"\s*?\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


def run(home, command):
    """Runs a command in a shell, as somebody would type it."""
    words = shlex.split(command.text, comments=True)
    if words[:2] == ["oneiro", "serve"]:
        with home.serve(*words[2:]) as server:
            status, _, _ = server.ask("GET", "/", headers={"Accept": "text/html"})
            assert status == 200, f"the page answers {status}"
        return ""
    text = command.text
    if words == ["oneiro", "setup"]:
        text += " --yes"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        env=rig.environment(home.folder) | {"PATH": f"{home.folder / 'bin'}:/usr/bin:/bin"},
        cwd=home.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=rig.TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def check(path):
    """Runs a document in a home with agents, and a store with other messages; how many commands."""
    found = commands(path.read_text())
    with rig.fresh_home() as home:
        shutil.copytree(AGENTS_HOME, home.folder, dirs_exist_ok=True)
        (home.folder / "bin").mkdir()
        (home.folder / "bin/oneiro").symlink_to(rig.binary())
        # Ids of messages are of the space: without others before, every place would be an id.
        for text in ("there were messages", "before these"):
            home.run("append", "earlier", "--create", "--text", text)
        for command in found:
            where = f"{path.relative_to(rig.ROOT)}:{command.line}: {command.text}"
            try:
                printed = run(home, command)
            except AssertionError as error:
                raise AssertionError(f"{where}\n{error}") from None
            shown = "\n".join(command.output)
            assert not command.output or matches(command.output, printed), (
                f"{where}\nThe document shows\n{shown}\nbut this is printed\n{printed}"
            )
    return len(found)
