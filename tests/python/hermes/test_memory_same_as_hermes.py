"""Every script of calls on hermes's memory tool and on ours: the same answers, prompts and files."""

from __future__ import annotations

from pathlib import Path

import pytest
from differential import standing_clock
from memory_lines import LINES
from memory_scripts import SCRIPTS, Tool
from oneiro.compat.hermes import memory as ours
from oneiro.compat.hermes import memory_threats

theirs = pytest.importorskip("tools.memory_tool", reason="hermes-agent is not installed")


@pytest.mark.parametrize("name", SCRIPTS)
def test_memory_same_as_hermes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for label, module in (("theirs", theirs), ("ours", ours)):
        home = tmp_path / label
        monkeypatch.setenv("HERMES_HOME", str(home))
        with standing_clock():
            tool = Tool(module, home)
            SCRIPTS[name](tool)
        seen.append(tool.seen)
    assert len(seen[0]) == len(seen[1]) > 1
    for place, (expected, actual) in enumerate(zip(*seen, strict=True)):
        assert actual == expected, f"observation {place} of {name}"


def test_changes_that_a_person_approves_are_staged_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = pytest.importorskip("tools.write_approval")
    monkeypatch.setattr(approval, "write_approval_enabled", lambda _: True)
    seen = []
    for label, module in (("theirs", theirs), ("ours", ours)):
        home = tmp_path / label
        monkeypatch.setenv("HERMES_HOME", str(home))
        tool = Tool(module, home)
        answers = [
            tool.call("add", content="tea"),
            tool.call("replace", target="user", old_text="a", content="b"),
            tool.call("remove", old_text="tea"),
            tool.call(
                operations=[
                    {"action": "add", "content": "tin"},
                    {"action": "replace", "old_text": "a", "content": "b"},
                    {"action": "remove", "old_text": "c"},
                ]
            ),
            tool.call("add"),
        ]
        assert [answer.pop("pending_id", None) is not None for answer in answers] == [True] * 4 + [
            False
        ]
        staged = sorted(approval.list_pending(approval.MEMORY), key=lambda one: one["summary"])
        shown = [(one["summary"], one["action"], one["payload"]) for one in staged]
        assert not tool.memory.exists()
        applied = [module.apply_memory_pending(one["payload"], tool.store) for one in staged]
        seen.append((answers, shown, applied))
    assert seen[0] == seen[1]
    assert len(seen[0][1]) == 4


def test_what_hermes_blocks_is_blocked_under_the_same_name() -> None:
    patterns = pytest.importorskip("tools.threat_patterns")
    blocked = 0
    for line in LINES:
        named = patterns.scan_for_threats(line, scope="strict")
        found = memory_threats.threats(line)
        assert set(named) <= set(found), line
        # Only rules of the engine, which have a dot in their names, may be more.
        assert all("." in name for name in set(found) - set(named)), line
        if len(named) == 1:
            assert ours._scan_memory_content(line) == theirs._scan_memory_content(line)
        blocked += bool(named)
    assert len(LINES) > blocked > 80


def test_the_same_things_can_be_imported() -> None:
    for name in (
        "ENTRY_DELIMITER",
        "MEMORY_BLOCK_HEADERS",
    ):
        assert getattr(ours, name) == getattr(theirs, name)
    for name in (
        "_apply_batch_write_gate",
        "_apply_write_gate",
        "_drift_error",
        "_missing_old_text_error",
        "_scan_memory_content",
    ):
        assert callable(getattr(theirs, name)) and callable(getattr(ours, name))
    expected, actual = theirs.MEMORY_SCHEMA["parameters"], ours.MEMORY_SCHEMA["parameters"]
    assert actual["required"] == expected["required"]
    assert actual["properties"].keys() == expected["properties"].keys()
    for name in ("action", "target"):
        assert actual["properties"][name]["enum"] == expected["properties"][name]["enum"]
    items = actual["properties"]["operations"]["items"]
    assert items["required"] == ["action"]
    assert items["properties"].keys() == {"action", "content", "old_text"}
    public = {name for name in vars(theirs.MemoryStore) if not name.startswith("__")}
    assert public - set(dir(ours.MemoryStore)) == set()
