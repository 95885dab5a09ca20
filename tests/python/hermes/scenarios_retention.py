"""Deleting, pruning, archiving."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from differential import Observation, Wanted, tick, tried
from scenarios_lineage import begin, end, say

DAY = 86_400.0

WANTED: dict[str, dict[str, Wanted]] = {
    "scenario_delete": {
        "left": Wanted(
            [["b", None], ["c", None], ["db", None], ["dc", "c"], ["far", None], ["sa", None], ["t", None]],
            "a delegate that no parent has stays until it is named",
        ),
    },
    "scenario_filters": {
        "title_like %": Wanted([], "a percent sign stands for itself"),
    },
    "scenario_archive_chain": {
        "branch": Wanted(
            [["b", 1], ["c", 0], ["c2", 0], ["d", 0], ["early", 0], ["p", 0], ["t", 0]],
            "a branch is put away without what it branched from",
        ),
    },
    "scenario_files": {
        "outside": Wanted(True, "an id that leads out of the folder removes nothing"),
    },
}


def there(db: Any) -> list[Any]:
    rows = db.search_sessions(limit=1000)
    return sorted([row["id"], row["parent_session_id"]] for row in rows)


def scenario_delete(db: Any) -> list[Observation]:
    begin(db, "p")
    say(db, "p")
    delegate = "_delegate_from"
    begin(db, "d", "p", model_config={delegate: "p"})
    begin(db, "dd", "d", model_config={delegate: "d"})
    begin(db, "far", None, model_config={delegate: "p"})
    begin(db, "d3", "p", model_config={delegate: "other"})
    begin(db, "b", "p", model_config={"_branched_from": "p"})
    begin(db, "c", "p")
    begin(db, "dc", "c", model_config={delegate: "c"})
    begin(db, "db", "d")
    begin(db, "t", "p", source="tool")
    begin(db, "sa", "p", source="subagent")
    return [
        ("deleted", db.delete_session("p")),
        ("left", there(db)),
        ("again", [db.delete_session("p"), db.delete_session("")]),
        ("messages", db.message_count()),
    ]


def scenario_delete_many(db: Any) -> list[Observation]:
    begin(db, "p")
    begin(db, "d", "p", model_config={"_delegate_from": "p"})
    begin(db, "q")
    begin(db, "c", "q")
    return [
        ("count", db.delete_sessions(["p", "q", "nobody", "p", ""])),
        ("left", there(db)),
        ("nothing", [db.delete_sessions([]), db.delete_sessions(["nobody"])]),
    ]


def scenario_empty(db: Any) -> list[Observation]:
    for one in "abcdefg":
        begin(db, one)
    db.set_session_title("b", "T")
    begin(db, "cc", "c")
    say(db, "d")
    end(db, "e", "x")
    db.rewind_to_message("f", say(db, "f"))
    db.set_session_archived("g", True)
    seen: list[Observation] = [
        ("if empty", {one: db.delete_session_if_empty(one) for one in [*"abcdefg", "nobody"]})
    ]
    for one in "hijklm":
        begin(db, one)
        if one != "h":
            end(db, one, "x")
    begin(db, "delegate", "i", model_config={"_delegate_from": "i"})
    begin(db, "child", "j")
    say(db, "k")
    db.set_session_archived("l", True)
    db.set_session_title("m", "titled")
    seen.append(("count", db.count_empty_sessions()))
    seen.append(("deleted", db.delete_empty_sessions()))
    seen.append(("left", there(db)))
    return seen


def scenario_ghosts(db: Any) -> list[Observation]:
    for source in ("tui", "cli", "telegram"):
        for state in ("live", "ended", "titled", "said", "archived"):
            begin(db, f"{source}-{state}", source=source)
            if state == "titled":
                db.set_session_title(f"{source}-{state}", f"{source} title")
            if state == "said":
                say(db, f"{source}-{state}")
            if state == "archived":
                db.set_session_archived(f"{source}-{state}", True)
            if state != "live":
                end(db, f"{source}-{state}", "x")
    seen: list[Observation] = [("too early", db.prune_empty_ghost_sessions())]
    tick(DAY)
    begin(db, "young", source="tui")
    end(db, "young", "x")
    seen.append(("count", db.prune_empty_ghost_sessions()))
    seen.append(("left", there(db)))
    return seen


def scenario_orphans(db: Any) -> list[Observation]:
    def pair(name: str, reason: str | None, *, said: bool = True, used: bool = False) -> None:
        begin(db, f"p-{name}")
        if reason:
            end(db, f"p-{name}", reason)
        begin(db, f"c-{name}", f"p-{name}")
        if said:
            say(db, f"c-{name}")
        if used:
            db.update_token_counts(f"c-{name}", input_tokens=1, api_call_count=1)

    pair("orphan", "compression")
    pair("silent", "compression", said=False)
    pair("used", "compression", used=True)
    pair("other", "user_exit")
    pair("open", None)
    pair("ended", "compression")
    end(db, "c-ended", "done")
    seen: list[Observation] = [("too early", db.finalize_orphaned_compression_sessions())]
    tick(7 * DAY)
    pair("young", "compression")
    seen.append(("count", db.finalize_orphaned_compression_sessions()))
    rows = [db.get_session(f"c-{name}") for name in ("orphan", "silent", "used", "other", "open", "ended", "young")]
    seen.append(("ends", [[row["id"], row["ended_at"], row["end_reason"]] for row in rows]))
    seen.append(("again", db.finalize_orphaned_compression_sessions()))
    return seen


def scenario_archive_chain(db: Any) -> list[Observation]:
    begin(db, "p")
    end(db, "p", "compression")
    begin(db, "c", "p")
    end(db, "c", "compression")
    begin(db, "c2", "c")
    begin(db, "d", "c", model_config={"_delegate_from": "c"})
    begin(db, "b", "c", model_config={"_branched_from": "c"})
    begin(db, "t", "c", source="tool")
    begin(db, "early")

    def flags() -> list[Any]:
        return sorted([row["id"], row["archived"]] for row in db.search_sessions())

    seen: list[Observation] = [("from the tip", [db.set_session_archived("c2", True), flags()])]
    seen.append(("back from the root", [db.set_session_archived("p", False), flags()]))
    db.set_session_archived("b", True)
    seen.append(("branch", flags()))
    seen.append(("again", db.set_session_archived("b", True)))
    seen.append(("nobody", [db.set_session_archived("nobody", True), db.set_session_archived("", True)]))
    return seen


FILTERS: tuple[dict[str, Any], ...] = (
    {}, {"older_than_days": 90}, {"older_than_days": 90, "archived": False}, {"title_like": "hello"},
    {"title_like": "%"}, {"model_like": "gpt"}, {"provider": "openai"}, {"user_id": "u1"},
    {"chat_id": "c"}, {"chat_type": "dm"}, {"branch_like": "feat"}, {"min_tokens": 11},
    {"max_tokens": 10}, {"min_cost": 1}, {"max_cost": 1}, {"min_tool_calls": 1},
    {"max_tool_calls": 0}, {"min_messages": 1}, {"max_messages": 0}, {"cwd_prefix": "/a"},
    {"cwd_prefix": "/a/bc"}, {"end_reason": "x"}, {"source": "cli"}, {"source": "zz"},
    {"started_before": 1_700_000_002.0}, {"started_after": 1_700_000_002.0},
    {"started_before": 1_700_000_002.0, "older_than_days": 0}, {"archived": True},
    {"older_than_days": 0}, {"source": ""},
)  # fmt: skip


def scenario_filters(db: Any) -> list[Observation]:
    begin(db, "old", user_id="u1", model="GPT-4o", cwd="/a/b", chat_id="c", chat_type="dm")
    db.set_session_title("old", "Hello World")
    db.update_session_cwd("old", "/a/b", git_branch="Feat/x")
    db.update_token_counts(
        "old", input_tokens=5, output_tokens=6, estimated_cost_usd=1.5, billing_provider="OpenAI"
    )
    say(db, "old")
    db.append_message("old", "assistant", "ok", tool_calls=[{"id": "1"}])
    end(db, "old", "x")
    begin(db, "archived")
    db.update_token_counts("archived", actual_cost_usd=0.0, estimated_cost_usd=9.0)
    db.set_session_archived("archived", True)
    end(db, "archived", "y")
    begin(db, "live")
    tick(100 * DAY)
    begin(db, "new", "old")
    end(db, "new", "x")
    tick()
    seen: list[Observation] = []
    for asked in FILTERS:
        label = " ".join(f"{name} {value}" for name, value in asked.items()) or "none"
        seen.append((label, [row["id"] for row in db.list_prune_candidates(**asked)]))
    seen.append(("row", db.list_prune_candidates()[0]))
    seen.append(("unknown filter", tried(db.list_prune_candidates, foo=1)))
    seen.append(("unknown filter of prune", tried(db.prune_sessions, foo=1)))
    seen.append(("archive", [db.archive_sessions(older_than_days=90), db.archive_sessions(90)]))
    seen.append(("archived", sorted([row["id"], row["archived"]] for row in db.search_sessions())))
    seen.append(("prune nothing", db.prune_sessions(90, "zz")))
    seen.append(("prune", [db.prune_sessions(90, "cli"), there(db)]))
    seen.append(("prune all", [db.prune_sessions(older_than_days=None), there(db)]))
    return seen


def scenario_prune_children(db: Any) -> list[Observation]:
    begin(db, "p")
    end(db, "p", "compression")
    begin(db, "c", "p")
    begin(db, "q")
    begin(db, "d", "q", model_config={"_delegate_from": "q"})
    begin(db, "dd", "d", model_config={"_delegate_from": "d"})
    end(db, "q", "done")
    tick(100 * DAY)
    return [("count", db.prune_sessions()), ("left", there(db))]


def scenario_files(db: Any) -> list[Observation]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "sessions"
        folder.mkdir()
        for one in ("x1", "x2", "z*", "../out"):
            begin(db, one)
        files = ("x1.json", "x1.jsonl", "request_dump_x1_1.json", "x1.txt", "x2.json", "request_dump_x2_1.json", "zz.json")
        for file in files:
            (folder / file).write_text("x")
        (folder.parent / "out.json").write_text("x")
        seen: list[Observation] = [("deleted", db.delete_session("x1", sessions_dir=folder))]
        seen.append(("left", sorted(path.name for path in folder.iterdir())))
        db.delete_sessions(["z*", "../out"], folder)
        seen.append(("star", sorted(path.name for path in folder.iterdir())))
        seen.append(("outside", (folder.parent / "out.json").exists()))
        seen.append(("no folder", db.delete_session("x2", sessions_dir=folder / "nowhere")))
        return seen


def scenario_maintenance(db: Any) -> list[Observation]:
    begin(db, "old")
    say(db, "old")
    end(db, "old", "x")
    tick(100 * DAY)
    begin(db, "new")
    sweep = db.maybe_auto_prune_and_vacuum
    seen: list[Observation] = [("first", sweep()), ("second", sweep()), ("left", there(db))]
    tick(DAY + 1)
    seen.append(("a day later", sweep()))
    seen.append(("at once", sweep(min_interval_hours=0)))
    db.set_meta("last_auto_prune", "garbage")
    seen.append(("damaged", sweep()))
    seen.append(("meta", db.get_meta("last_auto_prune")))
    return seen
