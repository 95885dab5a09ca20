"""Messages: appended, read, replaced, compacted."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried

WANTED: dict[str, dict[str, Wanted]] = {}


def counts(db: Any, session_id: str) -> dict[str, Any]:
    row = db.get_session(session_id)
    return {name: row[name] for name in ("message_count", "tool_call_count", "rewind_count")}


def contents(db: Any, session_id: str, **named: Any) -> list[Any]:
    return [
        (row["role"], row["content"], row["active"], row["compacted"], round(row["timestamp"], 6))
        for row in db.get_messages(session_id, **named)
    ]


def talk(db: Any, session_id: str, count: int, **named: Any) -> list[int]:
    db.create_session(session_id, "cli", **named)
    ids = []
    for place in range(count):
        role = "assistant" if place % 2 else "user"
        ids.append(db.append_message(session_id, role, f"m{place}"))
        tick()
    return ids


def scenario_append(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    db.create_session("a", "cli")
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"ä": 1}'}}]
    appended = {
        "text": {"role": "user", "content": "hello"},
        "nothing": {"role": "user"},
        "empty": {"role": "user", "content": ""},
        "parts": {"role": "user", "content": [{"type": "text", "text": "ä\u0000b"}, 1, None, 2.5]},
        "dict": {"role": "user", "content": {"a": {"b": []}}},
        "tuple": {"role": "user", "content": (1, 2)},
        "number": {"role": "user", "content": 5},
        "fraction": {"role": "user", "content": 5.5},
        "truth": {"role": "user", "content": True},
        "nul": {"role": "user", "content": "a\u0000b"},
        "marked": {"role": "user", "content": '\u0000json:[1, "x"]'},
        "marked, broken": {"role": "user", "content": "\u0000json:[1"},
        "surrogate": {"role": "user", "content": "a\ud800b"},
        "emoji": {"role": "user", "content": "👩‍🚀 ﷽ \u202e"},
        "other role": {"role": "weird", "content": "x"},
        "call": {"role": "assistant", "content": None, "tool_calls": calls},
        "no calls": {"role": "assistant", "content": "x", "tool_calls": []},
        "calls that are text": {"role": "assistant", "content": "x", "tool_calls": "raw"},
        "calls that are JSON": {"role": "assistant", "content": "x", "tool_calls": '[{"id":1}]'},
        "calls that are a dict": {"role": "assistant", "content": "x", "tool_calls": {"ä": "b"}},
        "result": {"role": "tool", "content": "r", "tool_call_id": "c1", "tool_name": "f"},
        "named": {"role": "user", "content": "x", "tool_name": "n", "tool_call_id": "i"},
        "reasoning": {
            "role": "assistant",
            "content": "x",
            "reasoning": "r",
            "reasoning_content": "",
            "reasoning_details": [{"ä": 1}],
            "codex_reasoning_items": [1],
            "codex_message_items": [2],
            "finish_reason": "stop",
        },
        "empty lists": {
            "role": "assistant",
            "content": "x",
            "reasoning": "",
            "reasoning_details": [],
            "codex_reasoning_items": [],
            "codex_message_items": [],
        },
        "details that are text": {"role": "assistant", "content": "x", "reasoning_details": "t"},
        "rest": {
            "role": "user",
            "content": "x",
            "platform_message_id": "p",
            "observed": True,
            "effect_disposition": "e",
            "api_content": "sent",
            "token_count": 7,
        },
        "empty texts": {
            "role": "user",
            "content": "x",
            "platform_message_id": "",
            "effect_disposition": "",
            "api_content": "",
            "tool_name": "",
            "tool_call_id": "",
            "finish_reason": "",
        },
        "numbers for texts": {
            "role": "user",
            "content": "x",
            "platform_message_id": 5,
            "finish_reason": 6,
            "tool_name": 7,
        },
        "less than no tokens": {"role": "user", "content": "x", "token_count": -3},
        "tokens as text": {"role": "user", "content": "x", "token_count": "7"},
        "part of a token": {"role": "user", "content": "x", "token_count": 1.5},
        "api_content that is no text": {"role": "user", "content": "x", "api_content": {"a": 1}},
    }
    for label, columns in appended.items():
        answer = tried(db.append_message, "a", **columns)
        seen.append((label, [answer, db.get_messages("a")[-1], counts(db, "a")]))
        tick(0.5)
    seen.append(("columns", list(db.get_messages("a")[0])))
    seen.append(("unknown session", tried(db.append_message, "x", "user", "y")))
    seen.append(("empty session", tried(db.append_message, "", "user", "y")))
    seen.append(("no role", tried(db.append_message, "a", None, "y")))
    seen.append(
        (
            "a reason that is a dict",
            tried(db.append_message, "a", "user", "y", None, None, None, None, {"a": 1}),
        )
    )
    seen.append(("count", [counts(db, "a"), db.message_count("a"), len(db.get_messages("a"))]))
    return seen


def scenario_times(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    db.create_session("a", "cli")
    given = [1.5, "1.5", "never", 0, -1, 1e12, 1_700_000_000.1234567, True, [1], None]
    for place, timestamp in enumerate(given):
        db.append_message("a", "user", "x", timestamp=timestamp)
        seen.append((f"{place}: {timestamp!r}", db.get_messages("a")[-1]["timestamp"]))
    ids = [row["id"] for row in db.get_messages("a")]
    seen.append(("in the order they came", ids == sorted(ids)))
    return seen


def scenario_pages(db: Any) -> list[Observation]:
    talk(db, "a", 6)
    asked: list[dict[str, Any]] = [
        {"limit": 2},
        {"limit": 2, "offset": 1},
        {"offset": 4},
        {"limit": 0},
        {"limit": -1},
        {"offset": -1},
        {"limit": 2, "offset": 100},
        {"limit": -5, "offset": 2},
        {"limit": 3, "offset": 2, "include_inactive": True},
    ]
    seen = [(str(named), contents(db, "a", **named)) for named in asked]
    return [*seen, ("unknown", [db.get_messages("x"), db.get_messages(""), db.get_messages(None)])]


def scenario_around(db: Any) -> list[Observation]:
    db.create_session("a", "cli")
    db.create_session("o", "cli")
    ids = []
    for place in range(20):
        role = ("user", "assistant", "tool")[place % 3]
        ids.append(db.append_message("a", role, f"m{place}" if place % 5 else ""))
        db.append_message("o", "user", "x")
        tick()

    def shown(answer: Any) -> Any:
        if not isinstance(answer, dict):
            return answer
        return {
            name: [(row["role"], row["content"], row["active"]) for row in value]
            if isinstance(value, list)
            else value
            for name, value in answer.items()
        }

    def around(*args: Any) -> Any:
        return shown(tried(db.get_messages_around, *args))

    def view(*args: Any, **named: Any) -> Any:
        return shown(tried(db.get_anchored_view, *args, **named))

    seen = [
        ("middle", around("a", ids[10], 2)),
        ("first", around("a", ids[0], 2)),
        ("last", around("a", ids[19], 2)),
        ("usual", around("a", ids[10])),
        ("no window", around("a", ids[10], 0)),
        ("less than no window", around("a", ids[10], -1)),
        ("as text", around("a", str(ids[10]), 1)),
        ("of another session", around("a", ids[10] + 1)),
        ("nowhere", [around("a", 9999), around("x", 1), around("a", None)]),
        ("a row", db.get_messages_around("a", ids[10], 0)["window"][0]),
        ("view", view("a", ids[10])),
        ("small view", view("a", ids[10], window=1)),
        ("view of a result", view("a", ids[11], window=2, bookend=1)),
        ("view without ends", view("a", ids[10], window=1, bookend=0)),
        ("view of all roles", view("a", ids[10], window=1, keep_roles=None)),
        ("view of results", view("a", ids[10], window=1, keep_roles=("tool",))),
        ("view of no role", view("a", ids[3], 1, keep_roles=[])),
        ("view of nothing", view("a", ids[10], window=0, bookend=-1)),
        ("view from nowhere", view("a", 9999)),
    ]
    db.rewind_to_message("a", ids[15])
    seen.append(("after a rewind", [around("a", ids[14], 3), view("a", ids[8], 1, 2)]))
    db.archive_and_compact(
        "a", [{"role": "user", "content": "s"}, {"role": "assistant", "content": "ok"}]
    )
    seen.append(("after a compaction", [around("a", ids[3], 1), view("a", ids[8], 1, 2)]))
    return seen


BATCH = [
    {"role": "user", "content": "[summary]"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}], "timestamp": 5.0},
    {"role": "tool", "content": "r", "tool_call_id": "1", "name": "not a column"},
    {"role": "tool", "content": "r2", "tool_name": "t"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "n"}],
        "reasoning": "r",
        "reasoning_content": "",
        "reasoning_details": [1],
        "codex_reasoning_items": [2],
        "codex_message_items": [3],
        "finish_reason": "stop",
        "message_id": "pm",
        "observed": True,
        "api_content": "api",
        "token_count": 4,
        "effect_disposition": "e",
    },
    {"role": "user", "content": "z", "timestamp": "never", "platform_message_id": "pp", "id": 4},
    {"content": "no role"},
]


def rest(row: dict[str, Any]) -> dict[str, Any]:
    """A row without its id, its time to the microsecond."""
    there = {name: value for name, value in row.items() if name != "id"}
    return {**there, "timestamp": round(row["timestamp"], 6)}


def scenario_compact(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    talk(db, "a", 4)
    db.append_message("a", "assistant", "x", tool_calls=[{"id": "1"}, {"id": "2"}])
    seen.append(("before", [counts(db, "a"), db.has_archived_messages("a")]))
    seen.append(("answer", db.archive_and_compact("a", BATCH)))
    seen.append(("after", [counts(db, "a"), db.has_archived_messages("a")]))
    seen.append(("live", [rest(row) for row in db.get_messages("a")]))
    seen.append(("all", contents(db, "a", include_inactive=True)))
    seen.append(("count", [db.message_count("a"), db.message_count()]))
    tick()
    db.append_message("a", "user", "after", tool_calls=None)
    seen.append(("appended", counts(db, "a")))
    seen.append(("into nothing", [db.archive_and_compact("a", []), counts(db, "a")]))
    seen.append(("unknown", tried(db.archive_and_compact, "x", [{"role": "user", "content": "s"}])))
    seen.append(("unknown into nothing", tried(db.archive_and_compact, "x", [])))
    seen.append(
        (
            "no dict",
            [
                tried(db.archive_and_compact, "a", ["text"]),
                contents(db, "a", include_inactive=True),
            ],
        )
    )
    seen.append(("archived", [db.has_archived_messages("a"), db.has_archived_messages("x")]))
    return seen


def scenario_replace(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    ids = talk(db, "b", 4)
    db.rewind_to_message("b", ids[2])
    seen.append(("answer", db.replace_messages("b", BATCH)))
    seen.append(("after", [counts(db, "b"), db.has_archived_messages("b")]))
    seen.append(("rows", [rest(row) for row in db.get_messages("b", include_inactive=True)]))
    tick()
    db.archive_and_compact("b", [{"role": "user", "content": "s"}])
    db.replace_messages("b", [{"role": "user", "content": "z"}], active_only=True)
    seen.append(("active only", [counts(db, "b"), contents(db, "b", include_inactive=True)]))
    seen.append(("count", [db.message_count("b"), db.message_count()]))
    tick()
    db.replace_messages("b", [{"role": "user", "content": "z"}, {"role": "user", "content": "z"}])
    seen.append(("all", [counts(db, "b"), contents(db, "b", include_inactive=True)]))
    seen.append(("count of all", [db.message_count("b"), db.message_count()]))
    seen.append(("restore", [db.restore_rewound("b", 1), contents(db, "b")]))
    seen.append(
        ("around", len(db.get_messages_around("b", db.get_messages("b")[0]["id"])["window"]))
    )
    seen.append(("unknown", tried(db.replace_messages, "x", [{"role": "user", "content": "z"}])))
    seen.append(("unknown by nothing", tried(db.replace_messages, "x", [])))
    seen.append(("no role", tried(db.replace_messages, "b", [{"role": None, "content": "q"}])))
    seen.append(("nothing lost", contents(db, "b")))
    seen.append(("clear", [db.clear_messages("b"), counts(db, "b")]))
    seen.append(
        (
            "cleared",
            [
                contents(db, "b", include_inactive=True),
                db.message_count("b"),
                db.has_archived_messages("b"),
            ],
        )
    )
    db.append_message("b", "user", "again")
    seen.append(("after a clear", [counts(db, "b"), contents(db, "b", include_inactive=True)]))
    seen.append(("clear nobody", db.clear_messages("x")))
    return seen


def scenario_platform_ids(db: Any) -> list[Observation]:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    message = db.append_message("a", "user", "x", platform_message_id="P1")
    asked = [("a", "P1"), ("a", "P2"), ("b", "P1"), ("x", "P1"), ("a", ""), ("a", None)]
    seen = [(str(pair), tried(db.has_platform_message_id, *pair)) for pair in asked]
    db.append_message("a", "user", "twice", platform_message_id="P1")
    seen.append(("twice", len(db.get_messages("a"))))
    db.rewind_to_message("a", message)
    seen.append(("taken back", db.has_platform_message_id("a", "P1")))
    return seen


def scenario_api_content(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    db.create_session("c", "cli")
    for role, content in (("user", "q1"), ("user", "q2"), ("assistant", "an")):
        db.append_message("c", role, content)

    def given(label: str, *args: Any) -> None:
        answer = tried(db.set_latest_user_api_content, *args)
        rows = [row["api_content"] for row in db.get_messages("c")]
        turns = [turn.get("api_content") for turn in db.get_messages_as_conversation("c")]
        seen.append((label, [answer, rows, turns]))

    given("not the newest", "c", "q1", "A")
    given("the newest", "c", "q2", "A")
    given("again", "c", "q2", "B")
    given("nobody", "x", "q2", "B")
    given("taken away", "c", "q2", None)
    given("no text", "c", "q2", {"a": 1})
    db.append_message("c", "user", [{"type": "text", "text": "hi"}])
    given("parts", "c", [{"type": "text", "text": "hi"}], "L")
    seen.append(("a turn", db.get_messages_as_conversation("c")[-1]))
    seen.append(("around", db.get_messages_around("c", db.get_messages("c")[-1]["id"], 0)))
    return seen


def scenario_counts(db: Any) -> list[Observation]:
    talk(db, "a", 3)
    talk(db, "b", 2)
    return [
        ("one", db.message_count("a")),
        ("all", db.message_count()),
        ("empty is all", db.message_count("")),
        ("unknown", db.message_count("x")),
    ]
