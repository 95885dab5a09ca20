"""Scripts of calls for a version store, which tests run on nanobot's GitStore and on ours.

A script is a function `script_*(box)`. Ids are seen as numbers, in the order in which they are first
met, because no two stores give the same ones.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seeds import seeds

TRACKED = ["SOUL.md", "USER.md", "memory/MEMORY.md", "memory/.dream_cursor"]


class Box:
    """A version store under test, and its workspace."""

    def __init__(self, store: Any, workspace: Path) -> None:
        self.store = store
        self.workspace = workspace
        self.seen: list[Any] = []
        self.ids: list[str] = []

    def write(self, path: str, text: str | bytes) -> None:
        """Writes a file as an editor would."""
        target = self.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)

    def commit(self, message: str, **files: str) -> str | None:
        """Writes files, with their names up to the dot, and commits; the id is seen."""
        for name, text in files.items():
            self.write({"memory": "memory/MEMORY.md"}.get(name, f"{name.upper()}.md"), text)
        return self.made(self.store.auto_commit(message))

    def made(self, sha: str | None) -> str | None:
        """Sees the id of a commit."""
        if sha is not None:
            assert re.fullmatch("[0-9a-f]{8}", sha), sha
            if sha not in self.ids:
                self.ids.append(sha)
        self.see(sha)
        return sha

    def see(self, value: Any) -> None:
        """Adds an observation."""
        text = repr(value)
        for number, sha in enumerate(self.ids):
            text = text.replace(sha, f"<{number}>")
        self.seen.append(text)

    def see_log(self, **given: Any) -> None:
        """Sees the log, its times left out."""
        self.see([(commit.sha, commit.message) for commit in self.store.log(**given)])

    def see_commit(self, sha: str, **given: Any) -> None:
        """Sees a commit with its difference."""
        shown = self.store.show_commit_diff(sha, **given)
        self.see(None if shown is None else (shown[0].sha, shown[0].subject(), shown[1]))

    def see_files(self) -> None:
        """Sees what the tracked files hold."""
        paths = {path: self.workspace / path for path in TRACKED}
        self.see({name: path.read_bytes() for name, path in paths.items() if path.exists()})


def began(box: Box) -> None:
    """Begins the history; the first commit is the first id."""
    box.see(box.store.init())
    box.made(box.store.log()[-1].sha)


def script_before_the_beginning(box: Box) -> None:
    store = box.store
    box.see([store.is_initialized(), store.auto_commit("early"), store.log()])
    box.see([store.show_commit_diff("abc"), store.revert("abc"), store.diff_commits("a", "b")])
    box.see(store.summarize_working_tree(TRACKED))
    box.write("SOUL.md", "Kind.\n")
    began(box)
    box.see([store.is_initialized(), store.init()])
    box.see_log()
    box.see_files()
    box.commit("nothing changed")
    box.see_log()


def script_commits_and_their_differences(box: Box) -> None:
    began(box)
    one = box.commit("dream: one", soul="Kind.\n", memory="# Facts\n- tea\n")
    two = box.commit("dream: two\n\nwith a body", soul="Kind.\nPatient.\n")
    three = box.commit("edit: three", user="Ann", memory="# Facts\n- tea\n- coffee")
    box.commit("edit: nothing")
    box.see_log()
    box.see_log(max_entries=2)
    box.see_log(max_entries=0)
    box.see_log(message_prefix="dream:")
    box.see_log(max_entries=1, message_prefix="dream:")
    for sha in (*box.ids, "zzzz", ""):
        box.see_commit(sha)
        box.see_commit(sha, message_prefix="dream:")
        box.see_commit(sha, max_entries=1)
    box.see(box.store.diff_commits(one, three))
    box.see(box.store.diff_commits(three, one))
    box.see(box.store.diff_commits(two, two))
    box.see(box.store.diff_commits(two, "zzzz"))
    box.see([len(box.store._resolve_sha(two)) > 8, box.store._resolve_sha("zzzz")])


def script_texts_of_all_kinds(box: Box) -> None:
    began(box)
    for text in (
        "no end",
        "no end\nmore",
        "an end\n",
        "\n\n\n",
        "windows\r\nlines\r\n",
        "form\x0cfeed\x0bin\u2028lines\n",
        "茶\n",
        "".join(f"line {number}\n" for number in range(40)),
        "".join(f"line {number}\n" for number in range(40) if number not in (3, 4, 30)),
        "",
    ):
        box.commit(f"write {text!r}", memory=text)
        box.see_commit(box.ids[-1])


def script_deleted_files(box: Box) -> None:
    began(box)
    box.commit("one", soul="Kind.\n", user="Ann\n")
    (box.workspace / "SOUL.md").unlink()
    box.commit("deleted")
    box.see_commit(box.ids[-1])
    box.commit("nothing")
    box.commit("back", soul="Kind again.\n")
    box.see_commit(box.ids[-1])
    # Before this commit there was no such file: it is left alone.
    box.made(box.store.revert(box.ids[-1]))
    box.see_files()
    box.made(box.store.revert(box.ids[2]))
    box.see_files()
    box.see_log()


def script_reverting(box: Box) -> None:
    began(box)
    one = box.commit("dream: one", soul="Kind.\n", memory="- tea\n")
    two = box.commit("dream: two", user="Ann\n")
    three = box.commit("edit: three", memory="- tea\n- coffee\n")
    box.made(box.store.revert(three, message_prefix="dream:"))
    box.made(box.store.revert("zzzz"))
    box.made(box.store.revert(box.ids[0]))
    box.see_files()
    # To the state before: what came later goes as well.
    box.made(box.store.revert(two))
    box.see_files()
    box.made(box.store.revert(two, message_prefix="dream:"))
    box.made(box.store.revert(box.ids[-1]))
    box.see_files()
    box.made(box.store.revert(one))
    box.see_files()
    box.see_log()
    box.see_commit(box.ids[-1])


def script_the_working_tree(box: Box) -> None:
    began(box)
    box.commit("one", soul="Kind.\n", user="Ann\nlikes tea\n", memory="- a\n- b\n- c\n")
    box.see(box.store.summarize_working_tree(TRACKED))
    box.write("SOUL.md", "Kind.\r\n")
    box.see(box.store.summarize_working_tree(TRACKED))
    box.write("SOUL.md", "Kind.")
    box.see(box.store.summarize_working_tree(["SOUL.md"]))
    box.write("SOUL.md", "Kind.\rPatient.\n")
    box.write("memory/MEMORY.md", "- a\n- B\n- c\n- d\n")
    box.see(box.store.summarize_working_tree(TRACKED))
    box.see(box.store.summarize_working_tree(["memory/MEMORY.md"]))
    (box.workspace / "USER.md").unlink()
    box.see(box.store.summarize_working_tree(TRACKED))
    box.write("USER.md", b"\xff\xfe")
    box.see(box.store.summarize_working_tree(["USER.md", "SOUL.md"]))
    box.see(box.store.summarize_working_tree(["USER.md"]))
    box.see(box.store.summarize_working_tree(["nothing.md"]))
    box.write("memory/MEMORY.md", "".join(f"- fact {number}\n" for number in range(1000)))
    box.see(box.store.summarize_working_tree(["memory/MEMORY.md"]))


def script_messages(box: Box) -> None:
    began(box)
    long = "dream: periodic memory consolidation\n\n" + "memory/MEMORY.md: +1 -0\n" * 200
    for number, message in enumerate(
        ["", "  around  ", "two\nlines\n", "詩", long, "a\n\n```diff\n-x\n+y\n```"]
    ):
        box.commit(message, soul=f"{number}\n")
    box.made(box.store.auto_commit(b"bytes"))
    box.write("SOUL.md", "bytes\n")
    box.made(box.store.auto_commit(b"bytes \xff"))
    box.see_log()
    box.see([commit.subject() for commit in box.store.log()])
    box.see([commit.format("+x")[-20:] for commit in box.store.log()])
    box.see([commit.format()[-20:] for commit in box.store.log()])


def random_script(seed: int) -> Callable[[Box], None]:
    """A script of thirty commits and reverts that a seed decides."""

    def run(box: Box) -> None:
        chance = random.Random(seed)
        began(box)
        lines = [f"- fact {number}\n" for number in range(6)]
        for number in range(30):
            if chance.random() < 0.25:
                box.made(box.store.revert(chance.choice(box.ids)))
            else:
                name = chance.choice(["soul", "user", "memory"])
                text = "".join(chance.sample(lines, chance.randint(0, 6)))
                box.commit(f"dream: {number}", **{name: text})
            box.see_files()
        box.see_log(max_entries=100)
        for sha in box.ids:
            box.see_commit(sha, max_entries=100)

    return run


SCRIPTS: dict[str, Callable[[Box], None]] = {
    name.removeprefix("script_"): value
    for name, value in list(globals().items())
    if name.startswith("script_")
} | {f"random_{seed}": random_script(seed) for seed in seeds(2)}
