"""Lineages: tips of chains, what to resume, roots."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick

_DELEGATE = "a delegate and a tool's session are no part of a chain: the tip is the end of it"

WANTED = {
    "scenario_forks": {
        "lineage of two live ones": Wanted(["p", "b"], "a lineage leads to the tip"),
    },
    "scenario_not_continued": {
        "delegate": Wanted(["p", "p", ["p"]], _DELEGATE),
        "tool": Wanted(["p", "p", ["p"]], _DELEGATE),
    },
    "scenario_long_chain": {
        "tip": Wanted("s119", "a chain of more than a hundred has a tip, too"),
        "resume": Wanted("s119", "a chain of more than a hundred has a tip, too"),
        "root": Wanted("s0", "a chain of more than a hundred has a root, too"),
    },
}


def begin(db: Any, session_id: str, parent: str | None = None, source: str = "cli", **more: Any) -> None:
    tick()
    db.create_session(session_id, source, parent_session_id=parent, **more)


def say(db: Any, session_id: str, content: str = "x") -> int:
    tick()
    answer: int = db.append_message(session_id, "user", content)
    return answer


def end(db: Any, session_id: str, reason: str) -> None:
    tick()
    db.end_session(session_id, reason)


def places(db: Any, session_id: str) -> list[Any]:
    return [
        db.get_compression_tip(session_id),
        db.resolve_resume_session_id(session_id),
        db.get_compression_lineage(session_id),
    ]


def scenario_chain(db: Any) -> list[Observation]:
    begin(db, "root")
    say(db, "root")
    end(db, "root", "compression")
    begin(db, "mid", "root")
    say(db, "mid")
    end(db, "mid", "compression")
    begin(db, "tip", "mid")
    seen: list[Observation] = [(one, places(db, one)) for one in ("root", "mid", "tip")]
    seen.append(("roots", [db.get_conversation_root(one) for one in ("root", "mid", "tip")]))
    say(db, "tip")
    seen.append(("with a message", places(db, "root")))
    begin(db, "branch", "mid", model_config={"_branched_from": "mid"})
    say(db, "branch")
    seen.append(("branch", [*places(db, "branch"), *places(db, "root")]))
    return seen


def scenario_unknown(db: Any) -> list[Observation]:
    begin(db, "alone")
    return [
        (repr(one), [*places(db, one), db.get_conversation_root(one)])
        for one in ("alone", "nobody", "")
    ]


def scenario_forks(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    begin(db, "p")
    end(db, "p", "compression")
    begin(db, "a", "p")
    begin(db, "b", "p")
    seen.append(("two live ones", [db.get_compression_tip("p"), db.resolve_resume_session_id("p")]))
    seen.append(("lineage of two live ones", db.get_compression_lineage("p")))
    say(db, "a")
    seen.append(("the more active", db.get_compression_tip("p")))
    end(db, "a", "ws_orphan_reap")
    seen.append(("the live one", db.get_compression_tip("p")))
    db.reopen_session("a")
    end(db, "a", "compression")
    seen.append(("the compressed one", db.get_compression_tip("p")))
    begin(db, "c", "a")
    seen.append(("and on", places(db, "p")))
    return seen


def scenario_not_continued(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    kinds: dict[str, dict[str, Any]] = {
        "delegate": {"model_config": {"_delegate_from": "p"}},
        "branch": {"model_config": {"_branched_from": "p"}},
        "tool": {"source": "tool"},
        "subagent": {"source": "subagent"},
        "reset": {"model_config": {"_reset_from": "p"}},
    }
    for kind, more in kinds.items():
        begin(db, f"p-{kind}")
        end(db, f"p-{kind}", "compression")
        begin(db, f"c-{kind}", f"p-{kind}", **more)
        say(db, f"c-{kind}")
        tip, resumed, lineage = places(db, f"p-{kind}")
        seen.append((kind, [tip[0], resumed[0], [one[0] for one in lineage]]))
    return seen


def scenario_resume_without_compression(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    begin(db, "p")
    begin(db, "c", "p")
    begin(db, "g", "c")
    seen.append(("nothing said", db.resolve_resume_session_id("p")))
    say(db, "p")
    seen.append(("the start", db.resolve_resume_session_id("p")))
    message = say(db, "g")
    seen.append(("the deepest", db.resolve_resume_session_id("p")))
    db.rewind_to_message("g", message)
    seen.append(("the deepest, rewound", db.resolve_resume_session_id("p")))
    begin(db, "later", "p")
    seen.append(("a later child that is empty", db.resolve_resume_session_id("p")))
    for kind, more in (
        ("delegate", {"model_config": {"_delegate_from": "q"}}),
        ("branch", {"model_config": {"_branched_from": "q"}}),
        ("tool", {"source": "tool"}),
    ):
        begin(db, f"q-{kind}")
        begin(db, f"r-{kind}", f"q-{kind}", **more)
        say(db, f"r-{kind}")
        seen.append((kind, db.resolve_resume_session_id(f"q-{kind}")))
    return seen


def scenario_long_chain(db: Any) -> list[Observation]:
    parent = None
    for number in range(120):
        begin(db, f"s{number}", parent)
        parent = f"s{number}"
        if number < 119:
            end(db, parent, "compression")
    return [
        ("tip", db.get_compression_tip("s0")),
        ("resume", db.resolve_resume_session_id("s0")),
        ("lineage", len(db.get_compression_lineage("s60"))),
        ("root", db.get_conversation_root("s119")),
    ]


def scenario_markers(db: Any) -> list[Observation]:
    begin(db, "p")
    begin(db, "early", "p")
    end(db, "p", "branched")
    begin(db, "late", "p")
    begin(db, "marked", "p", model_config={"_branched_from": "p"})
    listed = [row["id"] for row in db.list_sessions_rich()]
    return [
        ("listed", listed),
        ("resume", db.resolve_resume_session_id("p")),
    ]
