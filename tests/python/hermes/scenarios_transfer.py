"""Export and import."""

from __future__ import annotations

import copy
from typing import Any

from differential import Observation, Wanted, tick, tried
from scenarios_lineage import begin, end, say

WANTED: dict[str, dict[str, Wanted]] = {
    "scenario_long_title": {
        "answer": Wanted(
            {
                "ok": False,
                "imported": 0,
                "skipped": 0,
                "detached": 0,
                "errors": [
                    {"index": 0, "error": "title must be at most 100 characters", "session_id": "a"}
                ],
            },
            "a title that no one could set is not brought in either",
        ),
    },
    "scenario_odd_values": {
        "title": Wanted("T x", "titles are clean, however they come"),
        "negative": Wanted(0, "a counter is not less than nothing"),
    },
}


def history(db: Any) -> None:
    begin(db, "p", system_prompt="S", model_config={"a": 1}, user_id="u", session_key="k", chat_id="c")
    tick()
    db.append_message("p", "user", "hi")
    db.append_message(
        "p",
        "assistant",
        None,
        tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
        reasoning="r",
        reasoning_details=[{"x": 1}],
        codex_message_items=[2],
        api_content="z",
        finish_reason="tool_calls",
        token_count=4,
    )
    db.append_message("p", "user", [{"type": "text", "text": "q"}], platform_message_id="pm", observed=True)
    db.append_message("p", "tool", "res", tool_name="f", tool_call_id="1")
    db.update_token_counts("p", input_tokens=5, output_tokens=6, estimated_cost_usd=0.5, model="m", billing_provider="b", api_call_count=2)
    end(db, "p", "compression")
    begin(db, "c", "p")
    say(db, "c", "on")
    db.set_session_title("c", "Title")


def without_ids(session: dict[str, Any] | None) -> Any:
    """An export without what the store numbers."""
    if session is None:
        return None
    session = copy.deepcopy(session)
    for part in (session, *session.get("segments", ())):
        for message in part["messages"]:
            message.pop("id", None)
    return session


def scenario_export(db: Any) -> list[Observation]:
    history(db)
    return [
        ("session", without_ids(db.export_session("p"))),
        ("nobody", [db.export_session("nobody"), db.export_session_lineage("nobody")]),
        ("lineage", without_ids(db.export_session_lineage("p"))),
        ("lineage of the tip", without_ids(db.export_session_lineage("c"))),
        ("all", [without_ids(one) for one in db.export_all()]),
        ("source", db.export_all(source="zz")),
    ]




def scenario_import(db: Any) -> list[Observation]:
    history(db)
    exported = db.export_all()
    seen: list[Observation] = [("there", db.import_sessions(exported))]
    for one in ("c", "p"):
        db.delete_session(one)
    tick(1000)
    seen.append(("answer", db.import_sessions(exported)))
    seen.append(("p", without_ids(db.export_session("p"))))
    seen.append(("c", without_ids(db.export_session("c"))))
    seen.append(("lineage", db.get_compression_lineage("c")))
    seen.append(("again", db.import_sessions(exported)))
    seen.append(("title", db.get_session_title("c")))
    seen.append(("found", [row["session_id"] for row in db.search_messages("on")]))
    one = {**exported[0], "id": "kept", "parent_session_id": "p", "title": None, "archived": 1}
    seen.append(("a parent that is there", db.import_sessions([one])))
    seen.append(("archived", [db.get_session("kept")[name] for name in ("archived", "parent_session_id")]))
    return seen


def scenario_wrong(db: Any) -> list[Observation]:
    good: dict[str, Any] = {"id": "a", "source": "cli", "started_at": 1.0, "messages": []}
    wrong: dict[str, Any] = {
        "nothing": [],
        "not a list": None,
        "a dict": {},
        "numbers": [1],
        "no id": [{}],
        "empty id": [{"id": ""}],
        "twice": [good, good],
        "messages are text": [{**good, "messages": "x"}],
        "messages are numbers": [{**good, "messages": [1]}],
        "no role": [{**good, "messages": [{}]}],
        "role is a number": [{**good, "messages": [{"role": 5, "content": "x"}]}],
        "empty role": [{**good, "messages": [{"role": "", "content": "x"}]}],
        "source is a number": [{**good, "source": 5}],
        "config is no JSON": [{**good, "model_config": "no"}],
        "config is a list": [{**good, "model_config": "[1]"}],
        "title is a number": [{**good, "title": 5}],
        "cwd is a number": [{**good, "cwd": 5}],
        "tokens are text": [{**good, "messages": [{"role": "user", "content": "x", "token_count": "bad"}]}],
        "tool name is a number": [{**good, "messages": [{"role": "user", "content": "x", "tool_name": 5}]}],
        "several": [good, 5, {**good, "id": "b", "messages": "x"}],
        "too many": [{**good, "id": str(n)} for n in range(501)],
        "too long": [{**good, "messages": [{"role": "user", "content": "x"}] * 10_001}],
        "too long together": [
            {**good, "id": str(n), "messages": [{"role": "user", "content": "x"}] * 9_000}
            for n in range(6)
        ],
        "too large": [{**good, "messages": [{"role": "user", "content": "x" * (5 << 20)}]}],
        "too large together": [
            {**good, "id": str(n), "messages": [{"role": "user", "content": "x" * (4 << 20)}]}
            for n in range(7)
        ],
        "one title twice": [{**good, "title": "A"}, {**good, "id": "b", "title": "A"}],
    }
    seen: list[Observation] = [(name, tried(db.import_sessions, given)) for name, given in wrong.items()]
    seen.append(("nothing was brought in", db.session_count()))
    return seen


def scenario_long_title(db: Any) -> list[Observation]:
    return [("answer", db.import_sessions([{"id": "a", "title": "x" * 101}]))]


def scenario_parents(db: Any) -> list[Observation]:
    def one(name: str, parent: str | None) -> dict[str, Any]:
        return {"id": name, "source": "cli", "started_at": 1.0, "parent_session_id": parent}

    def there() -> list[Any]:
        return sorted([row["id"], row["parent_session_id"]] for row in db.search_sessions())

    return [
        ("missing", [db.import_sessions([one("a", "zz")]), there()]),
        ("itself", [db.import_sessions([one("b", "b")]), there()]),
        ("child first", [db.import_sessions([one("d", "c"), one("c", None)]), there()]),
        ("long line", [db.import_sessions([one("h", "g"), one("g", "f"), one("f", "a")]), there()]),
    ]


def scenario_circle(db: Any) -> list[Observation]:
    circle = [{"id": "a", "parent_session_id": "b"}, {"id": "b", "parent_session_id": "a"}]
    answer = db.import_sessions(circle)
    return [("answer", {name: answer[name] for name in ("ok", "imported", "detached")})]


def scenario_odd_values(db: Any) -> list[Observation]:
    def brought(**columns: Any) -> dict[str, Any]:
        db.import_sessions([{"id": "x", **columns}])
        row: dict[str, Any] = db.export_session("x")
        db.delete_session("x")
        return row

    seen: list[Observation] = [
        ("source", brought()["source"]),
        ("times", [brought(started_at=given)["started_at"] for given in ("x", None, "5", 7)]),
        ("id with spaces", db.import_sessions([{"id": " y "}])["imported_ids"]),
        ("number", db.import_sessions([{"id": 5}])["imported_ids"]),
        ("counters", [brought(input_tokens=given)["input_tokens"] for given in ("5", "x", None, 3.7)]),
        ("negative", brought(input_tokens=-5)["input_tokens"]),
        ("archived", [brought(archived=given)["archived"] for given in ("no", 0, False, 2, None)]),
        ("title", brought(title=" T  x ")["title"]),
        ("end", [brought(ended_at="5")[name] for name in ("ended_at", "end_reason")]),
        ("config", [brought(model_config=given)["model_config"] for given in ({"a": 1}, '{"a": 1}', None)]),
        ("cost", [brought(estimated_cost_usd=given)["estimated_cost_usd"] for given in ("x", 0, 1.5, None)]),
    ]
    message = {"role": "user", "content": 5, "timestamp": "bad", "reasoning": "r"}
    call = {**message, "role": "assistant", "timestamp": 9.5, "content": None}
    row = brought(messages=[message, {**call, "tool_calls": [{"id": 1}]}])
    seen.append(("messages", without_ids(row)["messages"]))
    seen.append(("counts", [row["message_count"], row["tool_call_count"]]))
    return seen
