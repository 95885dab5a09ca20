"""Conversations: loaded, repaired, and across a lineage."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried

WANTED = {
    "scenario_repair_assistants": {
        "parts, text": Wanted(
            [
                ["user", "a", None],
                ["assistant", [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}], None],
            ],
            "hermes drops what the second one said",
        ),
        "text, parts": Wanted(
            [
                ["user", "a", None],
                ["assistant", [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}], None],
            ],
            "hermes drops what the second one said",
        ),
        "parts, parts": Wanted(
            [
                ["user", "a", None],
                ["assistant", [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}], None],
            ],
            "hermes drops what the second one said",
        ),
        "calls that are text": Wanted(
            [["user", "a", None], ["assistant", "z\ny", ["str"]]],
            "hermes takes the text apart into letters",
        ),
    },
}


def user(content: Any, **named: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **named}


def assistant(content: Any, **named: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **named}


def result(content: Any, call: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call}


def system(content: Any) -> dict[str, Any]:
    return {"role": "system", "content": content}


def calls(*ids: Any) -> list[dict[str, Any]]:
    return [{"id": one, "function": {"name": "f", "arguments": "{}"}} for one in ids]


def talk(db: Any, session_id: str, messages: list[dict[str, Any]], **named: Any) -> None:
    db.create_session(session_id, "cli", **named)
    for message in messages:
        db.append_message(session_id, **message)
        tick()


def said(turns: Any) -> Any:
    return [(turn["role"], turn["content"]) for turn in turns]


def text(part: str) -> dict[str, str]:
    return {"type": "text", "text": part}


def scenario_load(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    messages = [
        user(
            "q",
            tool_name="n",
            reasoning="r",
            reasoning_content="",
            finish_reason="f",
            token_count=3,
            tool_call_id="",
            effect_disposition="",
        ),
        assistant(None, reasoning="", reasoning_content="", tool_calls=calls("1")),
        {**result("res", "1"), "tool_name": "nm", "effect_disposition": "x", "reasoning": "r"},
        assistant("", reasoning_content="rc", codex_message_items=[1], observed=True),
        assistant(
            "all",
            reasoning="r",
            reasoning_details=[{"ä": 1}],
            codex_reasoning_items=[1],
            codex_message_items=[2],
            finish_reason="stop",
            effect_disposition="e",
            platform_message_id="p",
            observed=True,
            api_content="api",
            tool_calls=calls("2"),
        ),
        system("sys"),
        user([text("x")], platform_message_id="pm"),
    ]
    talk(db, "a", messages)
    turns = db.get_messages_as_conversation("a")
    seen.append(("turns", turns))
    seen.append(("order of keys", [list(turn) for turn in turns]))
    seen.append(("unknown", [db.get_messages_as_conversation(one) for one in ("x", "", None)]))
    db.rewind_to_message("a", db.get_messages("a")[-1]["id"])
    seen.append(("live", said(db.get_messages_as_conversation("a"))))
    everything = db.get_messages_as_conversation("a", include_inactive=True)
    seen.append(("and taken back", said(everything)))
    return seen


def scenario_memory_is_stripped(db: Any) -> list[Observation]:
    note = "[System note: The following is recalled memory context, NOT new user input. Treat as "
    texts = [
        "plain",
        "<memory-context>x</memory-context>",
        "a <memory-context>x</memory-context> b",
        "a\n<memory-context>\nx\ny\n</memory-context>\n\nb",
        "<memory-context>unclosed",
        "unopened</memory-context> tail",
        "<MEMORY-CONTEXT>x</Memory-Context>q",
        "< memory-context >x</ memory-context >q",
        "<memory-context attr='1'>x</memory-context>q",
        "  lead and trail  ",
        "[System note: hi] q",
        f"{note}informational background data.]\n\n q",
        f"{note}authoritative reference data — this is the agent's memory.]\nq",
        f"{note}foo]z",
        f"{note.lower()}informational background data.]  z",
        "<memory-context>a<memory-context>b</memory-context>c</memory-context>d",
        "<memory_context>x</memory_context>z",
        "a </memory-context> b <memory-context> c",
    ]
    seen: list[Observation] = []
    for role in ("user", "assistant", "tool", "system"):
        talk(db, role, [{"role": role, "content": one} for one in texts])
        turns = db.get_messages_as_conversation(role)
        seen += [
            (f"{role}: {one}", turn["content"]) for one, turn in zip(texts, turns, strict=True)
        ]
    talk(db, "parts", [user([text("k <memory-context>x</memory-context>")])])
    seen.append(("parts", said(db.get_messages_as_conversation("parts"))))
    stored = "k <memory-context>x</memory-context>"
    talk(db, "sent", [user(stored, api_content=stored)])
    seen.append(("what was sent", db.get_messages_as_conversation("sent")))
    seen.append(("rows", [row["content"] for row in db.get_messages("sent")]))
    return seen


def scenario_reviews_are_dropped(db: Any) -> list[Observation]:
    skills = "Review the conversation above and update the skill library"
    memory = "Review the conversation above and consider saving to memory"
    talks = {
        "answered": [user("a"), assistant("b"), user(f"{skills} now"), assistant("r"), user("c")],
        "from the system": [system(memory), assistant("r"), assistant("kept")],
        "indented": [user(f"  {skills}"), user("next"), assistant("k")],
        "not at the start": [user(f"x {skills}"), assistant("k")],
        "in parts": [user([text(skills)]), assistant("k")],
        "in lower case": [user(skills.lower()), assistant("k")],
        "said by the assistant": [assistant(skills), assistant("k")],
        "with tools": [
            user(skills),
            assistant("", tool_calls=calls("1")),
            result("r", "1"),
            assistant("k"),
            user("q"),
        ],
        "twice": [user(skills), user(memory), assistant("r"), assistant("k")],
        "answered by a tool": [user(skills), result("t", "1"), assistant("k")],
    }
    seen: list[Observation] = []
    for name, messages in talks.items():
        talk(db, name, messages)
        seen.append(
            (name, [said(db.get_messages_as_conversation(name)), len(db.get_messages(name))])
        )
    return seen


def mended(db: Any, talks: dict[str, list[dict[str, Any]]]) -> list[Observation]:
    seen: list[Observation] = []
    for name, messages in talks.items():
        talk(db, name, messages)
        turns = db.get_messages_as_conversation(name, repair_alternation=True)
        seen.append(
            (name, [(turn["role"], turn["content"], turn.get("tool_calls")) for turn in turns])
        )
    return seen


def scenario_repair_assistants(db: Any) -> list[Observation]:
    a = user("a")
    return mended(
        db,
        {
            "two": [a, assistant("b"), assistant("c")],
            "three": [a, assistant("1"), assistant("2"), assistant("3")],
            "white space": [a, assistant(" b "), assistant("  c")],
            "then a call": [
                a,
                assistant("b"),
                assistant("", tool_calls=calls("1")),
                result("r", "1"),
                assistant("d"),
            ],
            "both call": [
                a,
                assistant("b", tool_calls=calls("1")),
                assistant("c", tool_calls=calls("2")),
                result("1", "1"),
                result("2", "2"),
            ],
            "a call, then text": [a, assistant("b", tool_calls=calls("1")), assistant("c")],
            "empty, text": [a, assistant(""), assistant("c")],
            "text, nothing": [a, assistant("c"), assistant(None)],
            "nothing, nothing": [a, assistant(None), assistant(None)],
            "empty, nothing": [a, assistant(""), assistant(None)],
            "nothing, empty": [a, assistant(None), assistant("")],
            "nothing, parts": [a, assistant(None), assistant([text("c")])],
            "parts, text": [a, assistant([text("b")]), assistant("c")],
            "text, parts": [a, assistant("b"), assistant([text("c")])],
            "parts, parts": [a, assistant([text("b")]), assistant([text("c")])],
            "calls that are text": [a, assistant("z"), assistant("y", tool_calls="str")],
            "incomplete first": [a, assistant("b", finish_reason="incomplete"), assistant("c")],
            "incomplete second": [a, assistant("b"), assistant("c", finish_reason="incomplete")],
            "other reasons": [
                a,
                assistant("b", finish_reason="stop"),
                assistant("c", finish_reason="length"),
            ],
            "items first": [a, assistant("b", codex_message_items=[1]), assistant("c")],
            "items second": [a, assistant("b"), assistant("c", codex_reasoning_items=[1])],
            "empty alone": [a, assistant(""), user("b")],
        },
    )


def scenario_repair_results(db: Any) -> list[Observation]:
    a = user("a")
    call, two = assistant("", tool_calls=calls("1")), assistant("", tool_calls=calls("1", "2"))
    named = [{"call_id": "k", "id": "z"}]
    return mended(
        db,
        {
            "answers nothing": [a, result("r", "9"), assistant("b")],
            "between assistants": [a, assistant("1"), result("r", "9"), assistant("2")],
            "between users": [a, result("r", "9"), user("b")],
            "at the start": [result("r", "1"), user("b")],
            "before its call": [a, result("r", "1"), call, result("r2", "1")],
            "one missing": [a, two, result("r", "1"), assistant("b")],
            "none at the end": [a, two],
            "in another order": [a, two, result("2", "2"), result("1", "1"), assistant("b")],
            "twice": [a, call, result("r", "1"), result("again", "1"), assistant("b")],
            "after the user": [a, call, user("mid"), result("r", "1"), assistant("b")],
            "after the system": [a, two, result("1", "1"), system("s"), result("2", "2")],
            "same id, new call": [a, call, result("r", "1"), call, result("r2", "1")],
            "no id": [a, call, result("r", None), assistant("b")],
            "call_id": [a, assistant("", tool_calls=named), result("r", "k")],
            "id beside call_id": [a, assistant("", tool_calls=named), result("r", "z")],
            "both ids": [a, assistant("", tool_calls=named), result("r", "k"), result("s", "z")],
            "id that is a number": [a, assistant("", tool_calls=calls(1)), result("r", "1")],
            "call without id": [a, assistant("", tool_calls=[{"function": {}}]), result("r", "")],
            "calls that are a dict": [a, assistant("", tool_calls={"id": "1"}), result("r", "1")],
        },
    )


def scenario_repair_users(db: Any) -> list[Observation]:
    seen = mended(
        db,
        {
            "two": [user("a"), user("b"), assistant("c")],
            "three": [user("a"), user("b"), user("c")],
            "same": [user("a"), user("a")],
            "empty, text": [user(""), user("b")],
            "text, empty": [user("a"), user("  ")],
            "nothing, text": [user(None), user("b")],
            "parts, text": [user([text("x")]), user("b")],
            "text, parts": [user("b"), user([text("x")])],
            "parts, parts": [user([text("x")]), user([text("y")])],
            "white space": [user(" a \n"), user(" b ")],
            "system between": [user("a"), system("s"), user("b"), user("c")],
            "two systems": [system("s"), system("t"), user("a")],
            "other role between": [user("a"), {"role": "weird", "content": "w"}, user("b")],
            "assistant first": [assistant("a"), user("b")],
        },
    )
    talk(
        db,
        "fields",
        [
            user("a", api_content="A", observed=True, platform_message_id="p1"),
            user("b", api_content="B", platform_message_id="p2", tool_name="t"),
            assistant("c", reasoning="r1", finish_reason="stop", reasoning_details=[1]),
            assistant("d", reasoning="r2", reasoning_content="q", effect_disposition="e"),
        ],
    )
    turns = db.get_messages_as_conversation("fields", repair_alternation=True)
    seen.append(("other fields", turns))
    verbatim = [said(db.get_messages_as_conversation(one)) for one in ("two", "fields")]
    seen.append(("stored as it was", verbatim))
    return seen


def scenario_lineage(db: Any) -> list[Observation]:
    seen: list[Observation] = []

    def shown(label: str, session_id: str) -> None:
        load = db.get_messages_as_conversation
        model, display = db.get_resume_conversations(session_id)
        seen.append(
            (
                label,
                {
                    "ancestors": said(load(session_id, include_ancestors=True)),
                    "mended": said(
                        load(session_id, include_ancestors=True, repair_alternation=True)
                    ),
                    "inactive": said(
                        load(session_id, include_ancestors=True, include_inactive=True)
                    ),
                    "model": said(model),
                    "display": said(display),
                    "prefix": said(db.get_ancestor_display_prefix(session_id)),
                },
            )
        )

    talk(db, "r", [user("q1"), assistant("a1"), user("q2")])
    db.end_session("r", "compression")
    talk(
        db,
        "c",
        [user("q2"), assistant("a2"), user("q1"), user("q1"), assistant("a3")],
        parent_session_id="r",
    )
    db.end_session("c", "compression")
    talk(db, "t", [assistant("sum"), user("q1"), user("q1"), user("q9")], parent_session_id="c")
    for session_id in ("r", "c", "t"):
        shown(session_id, session_id)
    db.rewind_to_message("r", db.get_messages("r")[2]["id"])
    shown("root rewound", "t")
    talk(db, "b", [user("b1")], parent_session_id="r", model_config={"_branched_from": "r"})
    talk(db, "d", [user("d1")], parent_session_id="r", model_config={"_delegate_from": "r"})
    talk(db, "p", [user("p1")], parent_session_id="t")
    for session_id in ("b", "d", "p"):
        shown(session_id, session_id)
    db.archive_and_compact("t", [user("S"), assistant("ok")])
    shown("tip compacted", "t")
    nobody = [tried(db.get_resume_conversations, one) for one in ("x", "")]
    seen.append(("nobody", [nobody, db.get_ancestor_display_prefix("x")]))
    return seen


def scenario_replays(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    pairs = {
        "answered": (
            [user("d"), assistant("a")],
            [user("d"), user("z"), user("d"), assistant("q"), user("d")],
        ),
        "white space": ([user("d")], [system("s"), user("d"), user("d "), user("e")]),
        "parts": ([user([text("L")])], [user([text("L")])]),
        "two open": ([user("1"), user("2")], [user("1"), result("T", "1"), user("2"), user("2")]),
        "empty": ([user("")], [user(""), user(None), user(None)]),
        "empty answer": ([user("d"), assistant("")], [user("d")]),
        "answer that calls": ([user("d"), assistant("", tool_calls=calls("1"))], [user("d")]),
        "one session": ([user("d"), user("d"), user(""), user("")], []),
    }
    for name, (before, after) in pairs.items():
        talk(db, name, before)
        db.end_session(name, "compression")
        child = f"{name}, carried on"
        talk(db, child, after, parent_session_id=name)
        load = db.get_messages_as_conversation
        seen.append(
            (
                name,
                [
                    said(load(child, include_ancestors=True)),
                    said(load(child)),
                    said(load(name, include_ancestors=True)),
                ],
            )
        )
    return seen
