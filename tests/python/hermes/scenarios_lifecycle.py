"""Sessions: begun, filled in, ended, changed."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried, unset

WANTED = {
    "scenario_odd_arguments": {
        "empty id": Wanted("raises ProgrammingError", "an id that is empty names nothing"),
        "no id": Wanted("raises ProgrammingError", "an id that is None names nothing"),
        "its own parent": Wanted(
            {"id": "loop", "source": "cli", "started_at": 1_700_000_000.0},
            "a session is not its own parent",
        ),
        "a config that is text": Wanted(
            '{"a": 1}', "JSON text is kept as the JSON it is, not quoted once more"
        ),
    },
}


def scenario_create(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    everything = {
        "model": "m",
        "model_config": {"ä": [1, 2.5, None]},
        "system_prompt": "be kind",
        "user_id": "u",
        "session_key": "k",
        "chat_id": "c",
        "chat_type": "dm",
        "thread_id": "t",
        "cwd": "/w",
        "profile_name": "p",
    }
    db.create_session("root", "cli")
    seen.append(("answer", db.create_session("all", "cli", parent_session_id="root", **everything)))
    seen.append(("row", db.get_session("all")))
    seen.append(("columns", list(db.get_session("all"))))
    seen.append(("plain", db.get_session("root")))
    seen.append(("unknown", [db.get_session("nobody"), db.get_session("")]))
    db.create_session("empty", "cli", model_config={}, system_prompt="", model="")
    seen.append(("empty values", db.get_session("empty")))
    return seen


def scenario_fill_in(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    db.create_session("p", "cli")
    db.create_session("a", "cli", model="first", chat_id="c1")
    tick()
    fill = {
        "model": "second",
        "model_config": {"x": 1},
        "system_prompt": "s",
        "user_id": "u2",
        "parent_session_id": "p",
        "cwd": "/w",
        "chat_id": "c2",
        "chat_type": "group",
        "thread_id": "t",
        "session_key": "k",
        "profile_name": "prof",
    }
    seen.append(("again", db.create_session("a", "telegram", **fill)))
    seen.append(("row", unset(db.get_session("a"))))
    seen.append(("ensure", db.ensure_session("e")))
    seen.append(("ensured", unset(db.get_session("e"))))
    seen.append(("ensure again", db.ensure_session("e", "cli", "m", cwd="/e")))
    seen.append(("filled", unset(db.get_session("e"))))
    return seen


def scenario_odd_arguments(db: Any) -> list[Observation]:
    return [
        ("unknown parent", tried(db.create_session, "x", "cli", parent_session_id="nobody")),
        ("nothing stored", db.get_session("x")),
        ("unknown argument", tried(db.create_session, "x", "cli", colour="blue")),
        ("title is no argument", tried(db.create_session, "x", "cli", title="t")),
        ("ensure, unknown argument", tried(db.ensure_session, "x", "cli", None, colour="blue")),
        ("ensure, unknown parent", tried(db.ensure_session, "x", parent_session_id="nobody")),
        ("no source", tried(db.create_session, "x", None)),
        ("empty id", tried(db.create_session, "", "cli")),
        ("no id", tried(db.create_session, None, "cli")),
        (
            "its own parent",
            [db.create_session("loop", "cli", parent_session_id="loop")]
            and unset(db.get_session("loop")),
        ),
        (
            "a config that is text",
            [db.create_session("t", "cli", model_config='{"a": 1}')]
            and db.get_session("t")["model_config"],
        ),
        (
            "a config that is a list",
            [db.create_session("l", "cli", model_config=[1])]
            and db.get_session("l")["model_config"],
        ),
        ("a config that is no JSON", tried(db.create_session, "s", "cli", model_config={1, 2})),
        ("nothing stored of it", db.get_session("s")),
    ]


def scenario_end(db: Any) -> list[Observation]:
    seen: list[Observation] = []

    def end(session_id: str) -> Any:
        row = db.get_session(session_id)
        return row and (row["ended_at"], row["end_reason"])

    db.create_session("a", "cli")
    tick()
    seen.append(("end", [db.end_session("a", "done"), end("a")]))
    tick()
    seen.append(("end again", [db.end_session("a", "other"), end("a")]))
    seen.append(("reopen", [db.reopen_session("a"), end("a")]))
    tick()
    seen.append(("end anew", [db.end_session("a", "later"), end("a")]))
    seen.append(("unknown", [db.end_session("x", "r"), db.reopen_session("x"), end("x")]))
    db.create_session("n", "cli")
    seen.append(("no reason", [db.end_session("n", None), end("n")]))
    tick()
    seen.append(("no reason stays", [db.end_session("n", "r"), end("n")]))
    tick(0.1234567)
    db.create_session("f", "cli")
    db.end_session("f", "")
    seen.append(("empty reason", end("f")[1]))
    return seen


def scenario_promote(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    reasons = [None, "agent_close", "ws_orphan_reap", "compression", "done", "session_reset"]
    for reason in reasons:
        session_id = f"s {reason}"
        db.create_session(session_id, "cli")
        if reason:
            db.end_session(session_id, reason)
        tick()
        promoted = db.promote_to_session_reset(session_id)
        again = db.promote_to_session_reset(session_id, "idle")
        row = db.get_session(session_id)
        seen.append((str(reason), [promoted, again, row["ended_at"], row["end_reason"]]))
    db.create_session("x", "cli")
    db.promote_to_session_reset("x", reason="daily")
    seen.append(("reason given", db.get_session("x")["end_reason"]))
    seen.append(("unknown", db.promote_to_session_reset("nobody")))
    return seen


def scenario_change(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    db.create_session("a", "cli", model="m", model_config={"x": 1}, system_prompt="old")

    def after(label: str, call: Any, *args: Any, **named: Any) -> None:
        answer = tried(call, *args, **named)
        seen.append((label, [answer, unset(db.get_session("a"))]))

    after("prompt", db.update_system_prompt, "a", "new")
    after("no prompt", db.update_system_prompt, "a", None)
    after("prompt again", db.update_system_prompt, "a", "kept")
    after("model", db.update_session_model, "a", "m2")
    after("no model", db.update_session_model, "a", None)
    after("meta", db.update_session_meta, "a", '{"z":1}')
    after("meta and model", db.update_session_meta, "a", '{"z": 2}', "m3")
    after("meta that is no JSON", db.update_session_meta, "a", "{z")
    after("no meta", db.update_session_meta, "a", None)
    after("meta that is a dict", db.update_session_meta, "a", {"z": 1})
    after(
        "route", db.update_session_billing_route, "a", provider="p", base_url="b", billing_mode="m"
    )
    after("route without mode", db.update_session_billing_route, "a", provider="p2", base_url="b2")
    after("empty route", db.update_session_billing_route, "a", provider="", base_url=None)
    after("cwd", db.update_session_cwd, "a", "/w")
    after("cwd, branch, root", db.update_session_cwd, "a", "/w2", "main", "/r")
    after("cwd, nothing known", db.update_session_cwd, "a", "/w3", "", None)
    after("no cwd", db.update_session_cwd, "a", "", "b", "r")
    after("expiry", db.set_expiry_finalized, "a")
    after("expiry off", db.set_expiry_finalized, "a", False)
    nobody = [
        db.update_system_prompt("x", "p"),
        db.update_session_model("x", "m"),
        db.update_session_meta("x", "{}"),
        db.update_session_billing_route("x", provider="p", base_url="b"),
        db.update_session_cwd("x", "/w"),
        db.set_expiry_finalized("x"),
        db.get_session("x"),
    ]
    seen.append(("nobody", nobody))
    return seen


def scenario_peer(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    db.create_session("g", "telegram", user_id="u", chat_id="c")

    def after(label: str, **named: Any) -> None:
        answer = db.record_gateway_session_peer("g", **named)
        seen.append((label, [answer, unset(db.get_session("g"))]))

    after("no key", source="slack", user_id="u2", chat_id="c2")
    after(
        "all",
        source="discord",
        user_id="u1",
        session_key="k",
        chat_id="c1",
        chat_type="dm",
        thread_id="t",
        display_name="D",
        origin_json='{"o":1}',
    )
    after("key only", source="slack", session_key="k2")
    seen.append(("nobody", [db.record_gateway_session_peer("x", source="s", session_key="k")]))
    return seen


def scenario_repo_roots(db: Any) -> list[Observation]:
    for session_id, cwd in (("a", "/w/1"), ("b", "/w/1/sub"), ("c", "/w/1"), ("d", None)):
        db.create_session(session_id, "cli", cwd=cwd)
    db.update_session_cwd("c", "/w/1", None, "/have")
    answer = db.backfill_repo_roots({"/w/1": "/w", "/w/1/sub": "", "": "x", "/none": "/n"})
    roots = {name: db.get_session(name)["git_repo_root"] for name in "abcd"}
    return [("answer", answer), ("roots", roots), ("nothing", db.backfill_repo_roots({}))]
