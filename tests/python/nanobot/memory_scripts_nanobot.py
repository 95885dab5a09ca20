"""Scripts of calls for the memory store of nanobot, which tests run on nanobot's and on ours.

A script is a function `script_*(box)`; it answers nothing, and what it sees is compared.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from seeds import seeds

THOUGHTS = [
    "plain",
    "  spaces around  ",
    "<think>hidden</think>shown",
    "shown<thinking>hidden\nlines</thinking> and shown",
    "<thought>hidden</thought>",
    "<think>never closed",
    "text <think>never closed, in the middle",
    "<thinking/>marker",
    "marker<thinking/>",
    "marker <thinking/> inside",
    "<think广场 is here",
    "<thinker>is another word",
    "<think-tank> is another word",
    "</think>alone",
    "alone</thinking>",
    "one </think> inside",
    "<|channel|>final text",
    "<channel|>final",
    "text with <channel> inside",
    "cut off <thi",
    "cut off </though",
    "cut off <|chan",
    "cut off <",
    "<|",
    "a < b and c > d",
    "<think>a</think><think>b</think>c",
    "<think>outer <think>inner</think> rest</think> end",
    "<THINK>case</THINK>",
    "line\n<think>\nmulti\n</think>\nline",
    "ends with a tag <thi\n",
    "",
]


class Box:
    """A memory store under test: nanobot's class or ours, and one workspace."""

    def __init__(self, kind: Any, workspace: Path) -> None:
        self.kind = kind
        self.workspace = workspace
        self.seen: list[Any] = []
        self.store: Any = kind(workspace)

    def open(self, **options: Any) -> Any:
        """A new store on the same workspace."""
        self.store = self.kind(self.workspace, **options)
        return self.store

    def see(self, value: Any) -> None:
        """Adds an observation."""
        self.seen.append(json.loads(json.dumps(value)))

    def see_files(self) -> None:
        """Sees every file of the workspace."""
        paths = sorted(path for path in self.workspace.rglob("*") if path.is_file())
        named = {str(path.relative_to(self.workspace)): path.read_bytes() for path in paths}
        self.see({name: data.decode("utf-8", "replace") for name, data in named.items()})

    def lines(self, *lines: Any) -> None:
        """Writes the journal: objects as JSON, texts as they are."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        text = "".join(f"{line}\n" for line in texts)
        self.store.history_file.write_text(text, encoding="utf-8")


def entry(cursor: Any, content: Any = "text", **more: Any) -> dict[str, Any]:
    return {"cursor": cursor, "timestamp": "2026-01-31 10:00", "content": content, **more}


def script_files(box: Box) -> None:
    store = box.store
    box.see([store.read_memory(), store.read_soul(), store.read_user(), store.get_memory_context()])
    store.write_memory("# Facts\n- tea\n")
    store.write_soul("Kind.\r\nPatient.\r\n")
    store.write_user("名前: Ann")
    box.see([store.read_memory(), store.read_user(), store.get_memory_context()])
    box.see(store.read_soul())
    box.see_files()


def script_thinking_is_left_out(box: Box) -> None:
    for text in THOUGHTS:
        box.see(box.store.append_history(text))
    box.see_files()


def script_entries_are_cut(box: Box) -> None:
    box.store.append_history("x" * 64_001)
    box.store.append_history("y" * 50, max_chars=10)
    box.store.append_history(
        "<think>hidden</think>" + "z" * 20, max_chars=20, session_key="cli:direct"
    )
    box.store.append_history("w" * 50, max_chars=0)
    box.see_files()


def script_cursors(box: Box) -> None:
    store = box.store
    box.see([store.get_latest_cursor(), store.get_last_dream_cursor()])
    box.see([store.append_history("a"), store.append_history("b")])
    store._cursor_file.write_text("10")
    box.see(store.append_history("c"))
    store._cursor_file.write_text("3")
    box.see(store.append_history("d"))
    store._cursor_file.unlink()
    box.see(store.append_history("e"))
    for text in ("", "x", "-5", " 40 \n"):
        store._cursor_file.write_text(text)
        box.see(store.append_history("f"))
    store.history_file.write_text("not json\n")
    box.see(store.append_history("g"))
    for cursor in ("7", 7.5, None, True, -1, [7]):
        box.lines(entry(5), entry(cursor))
        store._cursor_file.unlink(missing_ok=True)
        box.see(store._next_cursor())
    box.lines(entry(5), [1, 2], "{}", "42")
    box.see(store._next_cursor())
    store.set_last_dream_cursor(12)
    box.see(store.get_last_dream_cursor())
    for text in ("", "abc", "-3", " 9\n"):
        store._dream_cursor_file.write_text(text)
        box.see(store.get_last_dream_cursor())


def script_reading_is_tolerant(box: Box) -> None:
    box.lines(
        entry(1),
        "",
        "not json",
        "[1, 2]",
        "null",
        {"content": "without a cursor"},
        entry("2"),
        entry(2.0),
        entry(True),
        entry(-1),
        entry(3, content=None),
        entry(4, timestamp=5),
        entry(5, session_key=7),
        entry(6, session_key=None),
        entry(9, session_key="telegram:1"),
        entry(8),
        entry(0),
    )
    box.see(box.store.read_unprocessed_history(since_cursor=0))
    box.see(box.store.read_unprocessed_history(since_cursor=8))
    box.see(box.store.read_unprocessed_history(since_cursor=-1))
    box.see(box.store._read_entries())


def script_compaction(box: Box) -> None:
    for limit, dreamed in ((3, 0), (3, 10), (3, 5), (3, 9), (0, 10), (-1, 10), (10, 10), (1, 10)):
        store = box.open(max_history_entries=limit)
        box.lines(*(entry(cursor) for cursor in range(1, 11)))
        store.set_last_dream_cursor(dreamed)
        store.compact_history()
        box.see([item["cursor"] for item in store._read_entries()])
        box.see(store.append_history("next"))


def script_old_history(box: Box) -> None:
    texts = [
        "[2026-01-31 10:00] First.\nmore of it\n\n[2026-01-31 11:00] Second.\n\nThird, undated.",
        "[2026-01-31 10:00] [RAW] 2 messages\n[2026-01-31 10:00] USER: hello\n"
        "[2026-01-31 10:01] ASSISTANT [tools: read_file, exec]: hi\n[2026-01-31 12:00] Summary.",
        "[2026-01-31] Dated only.\n[2026-01-31 10:00:30] With seconds.\n[2026-01-31 10:00]",
        "\r\n\r\n[2026-01-31 10:00] Windows.\r\nline\r\n\r\nold\rmac\r",
        "   \n\n ",
        "no blank lines\n[not a date] text\n[2026-01-31 10:00] dated",
    ]
    for place, text in enumerate(texts):
        workspace = box.workspace / str(place)
        legacy = workspace / "memory" / "HISTORY.md"
        legacy.parent.mkdir(parents=True)
        legacy.write_bytes(text.encode("utf-8") + (b"\xff" if place == 5 else b""))
        (workspace / "memory" / "HISTORY.md.bak").write_text("older")
        os.utime(legacy, (1_700_000_000, 1_700_000_000))
        store = box.kind(workspace)
        box.see([store.get_latest_cursor(), store.get_last_dream_cursor()])
    kept = box.workspace / "kept" / "memory"
    kept.mkdir(parents=True)
    (kept / "HISTORY.md").write_text("[2026-01-31 10:00] Stays.")
    (kept / "history.jsonl").write_text(json.dumps(entry(1)) + "\n")
    box.kind(kept.parent)
    box.see_files()


def script_conversations_without_a_summary(box: Box) -> None:
    messages = [
        {"role": "user", "content": "hello", "timestamp": "2026-01-31T10:00:59"},
        {"role": "assistant", "content": "hi", "tools_used": ["read_file", "exec"]},
        {"role": "assistant", "content": ""},
        {"role": None, "content": "who?", "timestamp": 12345678901234567890},
        {"content": [{"type": "text", "text": "blocks"}]},
        {"role": "user", "content": "look", "media": ["/a.png", "", 3, "/b.png"]},
        {"role": "user", "content": "", "media": ["/c.png"]},
        {"role": "assistant", "content": "no", "media": ["/d.png"]},
        {
            "role": "user",
            "content": "question\n\nfor the model",
            "_runtime_context": {"version": 1, "suffix": "for the model"},
        },
        {"role": "user", "content": "all", "_runtime_context": {"version": 1, "suffix": "all"}},
        {"role": "user", "content": "kept", "_runtime_context": {"version": 2, "suffix": "kept"}},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "_runtime_context": {"version": 1, "blocks": [{"type": "text", "text": "b"}]},
        },
        {"role": "assistant", "content": "<think>not at the start</think>"},
    ]
    box.see(box.store.raw_archive(messages, session_key="cli:direct"))
    box.see(box.store.raw_archive(messages, max_chars=60))
    box.see(box.store.raw_archive([{"role": "user", "content": "x" * 20_000}]))
    box.see(box.store.raw_archive([]))
    box.see_files()


def script_the_prompt_of_dream(box: Box) -> None:
    store = box.store
    box.see(store.build_dream_prompt())
    for number in range(25):
        store.append_history(f"fact {number} " + "x" * (1100 if number == 2 else 0))
    store.dream_prompt_file.parent.mkdir(parents=True, exist_ok=True)
    box.see(store.has_dream_prompt_override())
    for text in ("  \n", "Own words.\n\n", "y" * 32_001):
        store.dream_prompt_file.write_text(text)
        box.see(store.has_dream_prompt_override())
        if text.strip():
            box.see(store.build_dream_prompt())
    store.set_last_dream_cursor(20)
    box.see(store.build_dream_prompt(max_entries=3))
    store.set_last_dream_cursor(25)
    box.see(store.build_dream_prompt())


def script_the_end_of_a_dream(box: Box) -> None:
    for answer in (
        None,
        SimpleNamespace(metadata={"_stop_reason": "completed"}),
        SimpleNamespace(metadata={"_stop_reason": "max_iterations"}),
        SimpleNamespace(metadata={}),
        SimpleNamespace(metadata=None),
    ):
        box.see([box.kind.dream_run_completed(answer), box.kind.dream_incompletion_reason(answer)])
    for body in ("", "  ", "SOUL.md: +1 -0\n", None):
        box.see(box.kind.build_dream_commit_message("dream: manual run", body))
    box.see(box.kind.dream_session_key())
    box.see(box.store.dream_content_diff())


def random_script(seed: int) -> Callable[[Box], None]:
    """A script of two hundred calls that a seed decides."""

    def run(box: Box) -> None:
        chance = random.Random(seed)
        store = box.open(max_history_entries=8)
        for _ in range(200):
            step = chance.random()
            if step < 0.6:
                box.see(store.append_history(chance.choice(THOUGHTS), session_key="a"))
            elif step < 0.75:
                store.set_last_dream_cursor(chance.randint(0, store.get_latest_cursor()))
            elif step < 0.9:
                store.compact_history()
            elif step < 0.95:
                store._cursor_file.write_text(str(chance.randint(0, 20)))
            else:
                store = box.open(max_history_entries=8)
            box.see([store.get_latest_cursor(), store.get_last_dream_cursor()])
        box.see_files()

    return run


SCRIPTS: dict[str, Callable[[Box], None]] = {
    name.removeprefix("script_"): value
    for name, value in list(globals().items())
    if name.startswith("script_")
} | {f"random_{seed}": random_script(seed) for seed in seeds(3)}
