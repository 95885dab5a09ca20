"""Scripts of calls for the memory tool, which tests run on hermes's and on ours.

A script is a function `script_*(tool)`; it answers a list of what it saw.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from differential import tick
from seeds import seeds

MARK = "\n§\n"


class Tool:
    """A memory tool under test: hermes's module or ours, and one store of it."""

    def __init__(self, module: Any, home: Path, **options: Any) -> None:
        self.module = module
        self.memory = home / "memories" / "MEMORY.md"
        self.user = home / "memories" / "USER.md"
        self.home = home
        self.seen: list[Any] = []
        self.store: Any = None
        self.open(**options)

    def open(self, **options: Any) -> None:
        """A new store, as a new session has it."""
        self.store = self.module.MemoryStore(**options)
        self.store.load_from_disk()

    def call(self, action: str | None = None, **given: Any) -> dict[str, Any]:
        """What the tool answers; it is seen."""
        answer: dict[str, Any] = json.loads(
            self.module.memory_tool(action=action, store=self.store, **given)
        )
        self.see(answer)
        return answer

    def see(self, value: Any) -> None:
        """Adds an observation, in which the folder of the test is called HOME."""
        self.seen.append(json.loads(json.dumps(value).replace(str(self.home), "HOME")))

    def see_files(self) -> None:
        """Sees every file but locks, by name."""
        folder = self.memory.parent
        names = sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")
        self.see({name: (folder / name).read_bytes().decode("utf-8", "replace") for name in names})

    def see_prompt(self) -> None:
        """Sees both blocks of the prompt."""
        self.see([self.store.format_for_system_prompt(target) for target in ("memory", "user")])


def script_one_change_at_a_time(tool: Tool) -> None:
    tool.see_prompt()
    tool.call("add", target="memory", content="  The server runs Debian. ")
    tool.call("add", target="user", content="Prefers metric units.")
    tool.call("add", target="memory", content="The server runs Debian.")
    tool.call("add", target=None, content="Tests run with pytest.")
    tool.call("replace", target="memory", old_text="Debian", content="The server runs Fedora.")
    tool.call("remove", target="memory", old_text="pytest")
    tool.see_files()
    tool.see_prompt()
    tool.open()
    tool.see_prompt()
    tool.call("remove", target="user", old_text="metric")
    tool.see_files()


def script_what_is_missing(tool: Tool) -> None:
    tool.call("add", target="memory", content="One fact.")
    for given in (
        {"action": "add"},
        {"action": "add", "content": "   "},
        {"action": "replace", "old_text": "One"},
        {"action": "replace", "content": "Two."},
        {"action": "replace", "old_text": "  ", "content": "Two."},
        {"action": "replace", "old_text": "One", "content": " "},
        {"action": "remove"},
        {"action": "remove", "old_text": " "},
        {"action": "read"},
        {"action": "forget"},
        {"action": None},
        {"action": "add", "target": "world", "content": "x"},
        {"operations": "add"},
        {"operations": []},
    ):
        tool.call(**given)
    tool.see(json.loads(tool.module.memory_tool("add", content="x")))
    tool.see(tool.store.apply_batch("memory", []))
    tool.see_files()


def script_matching(tool: Tool) -> None:
    long = "green tea is in the blue tin, " * 5
    tool.call("add", content=long)
    tool.call("add", content="black tea is gone")
    tool.call("remove", old_text="tea")
    tool.call("replace", old_text="tea", content="coffee")
    tool.call("remove", old_text="chocolate")
    tool.call("replace", old_text="chocolate", content="coffee")
    tool.call("remove", old_text="black tea")
    tool.memory.write_text(MARK.join(["same", "same", "other"]), encoding="utf-8")
    tool.call("replace", old_text="sam", content="changed")
    tool.see_files()


def script_limits(tool: Tool) -> None:
    tool.open(memory_char_limit=40, user_char_limit=20)
    tool.call("add", content="a" * 20)
    tool.call("add", content="b" * 17)
    tool.call("add", content="c")
    tool.call("replace", old_text="aa", content="d" * 30)
    tool.call("add", content="e" * 41)
    tool.call("add", content="f" * 41)
    tool.call("add", content="g" * 41)
    tool.call("remove", old_text="bb")
    tool.call("add", content="h" * 41)
    tool.see_files()
    tool.store.reset_consolidation_failures()
    tool.call("add", target="user", content="i" * 21)
    tool.call("add", target="user", content="i" * 20)
    tool.open(memory_char_limit=10, user_char_limit=20)
    tool.see_prompt()
    tool.open(memory_char_limit=0)
    tool.call("add", content="k")


def script_batches(tool: Tool) -> None:
    tool.open(memory_char_limit=60)
    one = {"action": "add", "content": "one " * 5}
    two = {"action": "add", "content": "two"}
    tool.call(operations=[one, two, two])
    tool.call(
        operations=[{"action": "add", "content": "x" * 40}, {"action": "remove", "old_text": "one"}]
    )
    tool.call(
        operations=[{"action": "remove", "old_text": "two"}, {"action": "remove", "old_text": "no"}]
    )
    tool.call(operations=[{"action": "replace", "old_text": "two", "content": "2"}, two])
    tool.call(operations=[{"action": "replace", "old_text": "x"}])
    tool.call(operations=[{"action": "replace", "content": "x"}])
    tool.store.reset_consolidation_failures()
    tool.call(operations=[{"action": "remove"}])
    tool.call(operations=[{"action": "add"}])
    tool.call(operations=[None])
    tool.call(operations=[{"action": "rename", "content": "x"}])
    tool.store.reset_consolidation_failures()
    tool.call(
        operations=[{"action": "remove", "old_text": "2"}, {"action": "add", "content": "y" * 60}]
    )
    tool.call(operations=[{"action": "add", "content": "twofold"}])
    tool.call(operations=[{"action": "remove", "old_text": "two"}])
    tool.see_files()


def script_foreign_text_is_not_overwritten(tool: Tool) -> None:
    tool.call("add", content="mine")
    tool.memory.write_text("mine\n§\n\n§\nfrom an editor\n", encoding="utf-8")
    tool.call("replace", old_text="mine", content="new")
    tool.call("remove", old_text="mine")
    tool.call(operations=[{"action": "add", "content": "new"}])
    tool.see_files()
    tool.call("add", content="added")
    tool.see_files()
    # A copy is named by the second.
    tick()
    tool.memory.write_text("z" * 2201, encoding="utf-8")
    tool.call("remove", old_text="z")
    tool.see_files()


def script_another_program_writes(tool: Tool) -> None:
    tool.call("add", content="first")
    tool.memory.write_text(MARK.join(["first", "theirs", "theirs"]), encoding="utf-8")
    tool.call("add", content="second")
    tool.see_files()
    tool.memory.unlink()
    tool.call("add", content="third")
    tool.memory.write_bytes("first\r\n§\r\nwith a\r\nsecond line\r\n".encode())
    tool.call("replace", old_text="first", content="last")
    tool.see_files()
    tool.memory.write_text("  \n", encoding="utf-8")
    tool.call("remove", old_text="last")
    tool.open()
    tool.see_prompt()


def script_delimiters_in_entries(tool: Tool) -> None:
    tool.call("add", content="see § 5 of the lease")
    tool.call("add", content="§ at the start\nand a line with § in it")
    tool.call("add", content="third")
    tool.open()
    tool.see(tool.store.memory_entries)
    tool.call("remove", old_text="§ 5")
    tool.see_files()
    tool.see_prompt()


def script_scripts_of_the_world(tool: Tool) -> None:
    for text in ("茶は青い缶に", "naïve café", "🫖 tea", "ε" * 30, "شاي"):
        tool.call("add", target="user", content=text)
    tool.call("replace", target="user", old_text="青い", content="茶は赤い缶に")
    tool.see_files()


def script_approved_later(tool: Tool) -> None:
    pending = tool.module.apply_memory_pending
    tool.see(pending({"action": "add", "content": "a"}, tool.store))
    tool.see(pending({"action": "add", "target": "user", "content": "b"}, tool.store))
    tool.see(pending({"action": "replace", "old_text": "a", "content": "c"}, tool.store))
    tool.see(
        pending({"action": "batch", "operations": [{"action": "add", "content": "d"}]}, tool.store)
    )
    tool.see(pending({"action": "remove", "old_text": "c"}, tool.store))
    tool.see(pending({"action": "read"}, tool.store))
    tool.see(pending({"action": "add"}, tool.store))
    tool.see_files()


def random_script(seed: int) -> Callable[[Tool], None]:
    """A script of a hundred calls that a seed decides."""

    def run(tool: Tool) -> None:
        chance = random.Random(seed)
        tool.open(memory_char_limit=120, user_char_limit=60)
        words = [
            "tea",
            "tin",
            "blue tin",
            "blue",
            "green tea",
            "the blue tin of tea",
            "§",
            "x" * 50,
        ]

        def operation() -> dict[str, Any]:
            action = chance.choice(["add", "add", "replace", "remove"])
            return {
                "action": action,
                "content": " ".join(chance.sample(words, chance.randint(1, 3))),
                "old_text": chance.choice(words),
            }

        for _ in range(100):
            target = chance.choice(["memory", "user"])
            if chance.random() < 0.2:
                tool.call(
                    target=target, operations=[operation() for _ in range(chance.randint(1, 4))]
                )
            else:
                tool.call(target=target, **operation())
            if chance.random() < 0.1:
                tool.store.reset_consolidation_failures()
            if chance.random() < 0.05:
                tool.open(memory_char_limit=120, user_char_limit=60)
                tool.see_prompt()
        tool.see_files()

    return run


SCRIPTS: dict[str, Callable[[Tool], None]] = {
    name.removeprefix("script_"): value
    for name, value in list(globals().items())
    if name.startswith("script_")
} | {f"random_{seed}": random_script(seed) for seed in seeds(5)}
