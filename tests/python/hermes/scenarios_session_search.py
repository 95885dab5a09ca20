"""The session_search tool, of hermes and of ours."""

from __future__ import annotations

import json
from typing import Any

from differential import Observation, Wanted, tick
from scenarios_lineage import begin, end, say

WANTED: dict[str, dict[str, Wanted]] = {
    "scenario_browse": {
        "current": Wanted(
            ["c1", "s1"], "the current conversation is left out, whichever segment is named"
        ),
    },
    "scenario_discover": {
        "relaxed": Wanted(
            {
                "success": True,
                "mode": "discover",
                "query": "parent zebra unheard",
                "results": ["p", "s1", "c1"],
                "count": 3,
                "sessions_searched": 3,
                "relaxed": True,
                "message": "No message meets the whole query; these meet part of it.",
            },
            "when nothing meets the whole query, what meets part of it is told as such",
        ),
    },
}


def asked(db: Any, *args: Any, **named: Any) -> Any:
    """The answer of the tool that goes with the store; snippets on one line."""
    if type(db).__module__ == "hermes_state":
        from tools.session_search_tool import session_search
    else:
        from oneiro.compat.hermes.session_search import session_search
    answer = json.loads(session_search(*args, db=db, **named))
    for result in answer.get("results", ()):
        if "snippet" in result:
            result["snippet"] = " ".join(result["snippet"].split())
    return answer


def found(answer: dict[str, Any]) -> list[str]:
    return [result["session_id"] for result in answer["results"]]


def history(db: Any) -> dict[str, int]:
    begin(db, "s1", model="gpt")
    db.set_session_title("s1", "Auth Refactor")
    for number in range(20):
        tick()
        role = "assistant" if number % 2 else "user"
        word = " zebra" if number == 10 else ""
        db.append_message("s1", role, f"message {number} about things{word}")
    tick()
    db.append_message("s1", "tool", "zebra in tool", tool_name="grep", tool_call_id="tc")
    tick()
    call = [{"id": "1", "function": {"name": "x", "arguments": "{}"}}]
    db.append_message("s1", "assistant", None, tool_calls=call)
    begin(db, "c1", source="cron")
    say(db, "c1", "zebra zebra cron")
    begin(db, "sub", source="subagent")
    say(db, "sub", "zebra sub")
    begin(db, "p")
    parent = say(db, "p", "parent zebra one")
    end(db, "p", "compression")
    begin(db, "ch", "p")
    child = say(db, "ch", "child zebra two words and a few more of them to make it long")
    return {"parent": parent, "child": child}


def scenario_discover(db: Any) -> list[Observation]:
    history(db)
    relaxed = asked(db, "parent zebra unheard")
    return [
        ("by words", sorted(found(asked(db, "zebra", limit=10)))),
        ("cron is last", found(asked(db, "zebra", limit=10))[-1]),
        ("message", asked(db, "message 10 zebra")),
        ("hit of a child", asked(db, "child zebra two")),
        ("not the current", sorted(found(asked(db, "zebra", current_session_id="ch")))),
        ("role", asked(db, "zebra", role_filter="tool")),
        ("roles", sorted(found(asked(db, "zebra", role_filter="user, tool", limit=10)))),
        ("newest", found(asked(db, "zebra", sort="newest"))),
        ("oldest", found(asked(db, "zebra", sort="oldest"))),
        ("one", asked(db, "zebra", limit=1, sort="newest")),
        ("limits", [asked(db, "zebra", limit=given)["count"] for given in (0, -5, None, 99, "2x")]),
        ("nothing", asked(db, "nothinghere")),
        ("relaxed", {**relaxed, "results": found(relaxed)}),
        ("hidden by name", found(asked(db, "sub", limit=10))),
    ]


def scenario_titles(db: Any) -> list[Observation]:
    history(db)
    begin(db, "o")
    say(db, "o", "Auth Refactor is what this says")
    begin(db, "empty")
    db.set_session_title("empty", "Empty One")
    return [
        ("title", asked(db, "Auth Refactor")),
        ("quoted", found(asked(db, "'Auth Refactor'"))[:1]),
        ("only one", found(asked(db, "Auth Refactor", limit=1))),
        ("current", found(asked(db, "Auth Refactor", current_session_id="s1"))),
        ("empty", asked(db, "Empty One")),
    ]


def scenario_scroll(db: Any) -> list[Observation]:
    ids = history(db)
    around = {"session_id": "s1", "around_message_id": 11}
    return [
        ("window", asked(db, **around)),
        ("small", asked(db, **around, window=1)),
        ("large", asked(db, **around, window=99)),
        ("wins over a query", asked(db, "zebra", **around)["mode"]),
        ("text for numbers", asked(db, session_id="s1", around_message_id="11", window="x")),
        ("no number", asked(db, session_id="s1", around_message_id="abc")),
        ("no such message", asked(db, session_id="s1", around_message_id=9999)),
        ("no such session", asked(db, session_id="nobody", around_message_id=3)),
        ("in a child", asked(db, session_id="p", around_message_id=ids["child"])),
        ("in a parent", asked(db, session_id="ch", around_message_id=ids["parent"])),
        ("elsewhere", asked(db, session_id="c1", around_message_id=ids["parent"])),
        ("current", asked(db, session_id="p", around_message_id=ids["parent"], current_session_id="ch")),
    ]


def scenario_read(db: Any) -> list[Observation]:
    history(db)
    begin(db, "long")
    for number in range(40):
        say(db, "long", f"m {number}")
    return [
        ("all", asked(db, session_id="s1")),
        ("long", asked(db, session_id="long")),
        ("current", asked(db, session_id="s1", current_session_id="s1")["mode"]),
        ("nobody", asked(db, session_id="nobody")),
        ("wins over a query", asked(db, "zebra", session_id="s1")["mode"]),
    ]


def scenario_browse(db: Any) -> list[Observation]:
    before = asked(db)
    history(db)
    return [
        ("nothing", before),
        ("all", asked(db)),
        ("blank", asked(db, "  ", session_id=" ")),
        ("one", asked(db, limit=1)),
        ("current", found(asked(db, current_session_id="p"))),
    ]
