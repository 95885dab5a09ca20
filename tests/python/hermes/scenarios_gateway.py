"""What a gateway keeps: routing, meta, peers, topics, handoffs, locks."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried
from scenarios_lineage import begin, end, say

WANTED: dict[str, dict[str, Wanted]] = {}


def peer(db: Any, session_id: str, source: str, key: str, *, said: bool = True, **more: Any) -> None:
    begin(db, session_id, source=source)
    db.record_gateway_session_peer(session_id, source=source, session_key=key, **more)
    if said:
        say(db, session_id)


def scenario_routing(db: Any) -> list[Observation]:
    load = db.load_gateway_routing_entries
    db.save_gateway_routing_entry("b", "{}")
    db.save_gateway_routing_entry("a", '{"x":1}')
    db.save_gateway_routing_entry("a", '{"x":2}', scope="s")
    seen: list[Observation] = [("scopes", [load(), load(scope="s"), load(scope="zz")])]
    db.save_gateway_routing_entry("a", '{"x":3}')
    seen.append(("overwritten", load()))
    db.replace_gateway_routing_entries({"z": "1", "y": "2"})
    seen.append(("replaced", [load(), load(scope="s")]))
    db.delete_gateway_routing_entries(["z", "nobody"])
    db.delete_gateway_routing_entries([])
    seen.append(("deleted", load()))
    db.replace_gateway_routing_entries({}, scope="s")
    seen.append(("emptied", [load(), load(scope="s")]))
    for key, entry in (("", "{}"), ("k", ""), ("k", None), (None, "x")):
        db.save_gateway_routing_entry(key, entry)
    seen.append(("nothing to keep", load()))
    return seen


def scenario_meta(db: Any) -> list[Observation]:
    seen: list[Observation] = [("unset", db.get_meta("x")), ("set", db.set_meta("x", "1"))]
    seen.append(("value", db.get_meta("x")))
    db.set_meta("x", "2 ü")
    seen.append(("overwritten", db.get_meta("x")))
    db.set_meta("n", 5)
    seen.append(("number", db.get_meta("n")))
    return seen


def scenario_gateway_sessions(db: Any) -> list[Observation]:
    peer(db, "a", "tg", "k1", user_id="u1", chat_id="c1", chat_type="group", thread_id="t1", display_name="D", origin_json="{}")
    peer(db, "b", "tg", "k1", user_id="u1", chat_id="c1", chat_type="group", thread_id="t1")
    peer(db, "c", "tg", "k2", user_id="u2", chat_id="c1", chat_type="group")
    peer(db, "d", "discord", "k3", user_id="u1", chat_id="c9", said=False)
    begin(db, "plain", source="tg")
    say(db, "a")
    listed = db.list_gateway_sessions
    seen: list[Observation] = [
        ("rows", listed()),
        ("platform", [row["id"] for row in listed(platform="discord")]),
    ]
    end(db, "b", "x")
    seen.append(("newest of a key has ended", [row["id"] for row in listed()]))
    seen.append(("ended, too", [row["id"] for row in listed(active_only=False)]))
    return seen


def scenario_origins(db: Any) -> list[Observation]:
    find = db.find_session_by_origin
    peer(db, "a", "tg", "k1", user_id="u1", chat_id="c1", thread_id="t1")
    peer(db, "b", "tg", "k2", user_id="u2", chat_id="c1")
    peer(db, "d", "discord", "k3", user_id="u1", chat_id="c9")

    def asked() -> list[Any]:
        return [
            find(platform="tg", chat_id="c1"),
            find(platform="tg", chat_id="c1", user_id="u1"),
            find(platform="tg", chat_id="c1", user_id="u9"),
            find(platform="tg", chat_id="c1", thread_id="t1"),
            find(platform="tg", chat_id="c1", thread_id="t9"),
            find(platform="tg", chat_id="c1", thread_id="t1", user_id="u9"),
            find(platform="discord", chat_id="c9", user_id="zz"),
            find(platform="x", chat_id="c1"),
            find(platform="tg", chat_id="c1", thread_id=""),
            find(platform="", chat_id=""),
        ]

    seen: list[Observation] = [("several people", asked())]
    peer(db, "b2", "tg", "k2b", user_id="u2", chat_id="c1")
    end(db, "a", "x")
    seen.append(("one person twice", asked()))
    peer(db, "n", "tg", "kn", chat_id="c1")
    seen.append(("and nobody", asked()))
    begin(db, "no key", source="tg2", user_id="u", chat_id="cc")
    seen.append(("without a key", find(platform="tg2", chat_id="cc")))
    begin(db, "number", source="tg3", chat_id="5", session_key="q")
    seen.append(("a number", find(platform="tg3", chat_id=5)))
    return seen


def scenario_peers(db: Any) -> list[Observation]:
    def find(**asked: Any) -> Any:
        row = db.find_latest_gateway_session_for_peer(**asked)
        return row and row["id"]

    peer(db, "a", "tg", "k1", user_id="u1", chat_id="c1", chat_type="group", thread_id="t1")
    peer(db, "b", "tg", "k1", user_id="u1", chat_id="c1", chat_type="group", thread_id="t1")
    peer(db, "c", "tg", "k2", user_id="u2", chat_id="c1", chat_type="group")
    seen: list[Observation] = [
        ("row", db.find_latest_gateway_session_for_peer(source="tg", session_key="k1")),
        ("no key", [find(source="tg"), find(source="tg", user_id="u1", chat_id="c1")]),
        ("other key", find(source="tg", session_key="nope")),
        ("other source", find(source="x", session_key="k1")),
        ("peer", find(source="tg", session_key="nope", user_id="u2", chat_id="c1", chat_type="group")),
    ]
    for reason in ("agent_close", "ws_orphan_reap", "compression", "session_reset", "idle"):
        db.reopen_session("c")
        end(db, "c", reason)
        seen.append((f"ended by {reason}", find(source="tg", session_key="k2")))
    say(db, "a")
    seen.append(("a later word elsewhere", find(source="tg", session_key="k1")))
    end(db, "b", "session_reset")
    seen.append(("the newer was reset", find(source="tg", session_key="k1")))
    peer(db, "empty", "tg", "k5", said=False)
    seen.append(("empty", find(source="tg", session_key="k5")))
    db.rewind_to_message("empty", say(db, "empty"))
    seen.append(("taken back", find(source="tg", session_key="k5")))
    begin(db, "l1", source="signal", user_id="lu", chat_id="lc", chat_type="dm")
    begin(db, "l2", source="signal", user_id="lu2", chat_id="lc", chat_type="group", thread_id="tt")
    begin(db, "l3", source="signal", user_id="lu3")
    begin(db, "l4", source="signal", chat_id="only", chat_type="group")
    for one in ("l1", "l2", "l3", "l4"):
        say(db, one)
    whole = {"user_id": "lu", "chat_id": "lc", "chat_type": "dm"}
    key = {"source": "signal", "session_key": "zz"}
    seen.append(("whole", find(**key, **whole)))
    for left_out in whole:
        part = {name: value for name, value in whole.items() if name != left_out}
        seen.append((f"without {left_out}", find(**key, **part)))
    seen.append(("a thread", find(**key, **whole, thread_id="x")))
    seen.append(("user only", find(**key, user_id="lu3")))
    seen.append(("chat only", find(**key, chat_id="only", chat_type="group")))
    seen.append(("their thread", find(**key, user_id="lu2", chat_id="lc", chat_type="group", thread_id="tt")))
    begin(db, "l5", source="signal", session_key="other", **whole)
    say(db, "l5")
    seen.append(("another key, newer", find(**key, **whole)))
    return seen


def scenario_topics(db: Any) -> list[Observation]:
    one = {"chat_id": "1", "user_id": "u"}
    seen: list[Observation] = [
        (
            "before",
            [
                db.is_telegram_topic_mode_enabled(**one),
                db.get_telegram_topic_binding(chat_id="1", thread_id="2"),
                db.list_telegram_topic_bindings_for_chat(chat_id="1"),
                db.get_telegram_topic_binding_by_session(session_id="s"),
                db.delete_telegram_topic_binding(chat_id="1", thread_id="2"),
                db.is_telegram_session_linked_to_topic(session_id="s"),
                db.list_unlinked_telegram_sessions_for_user(**one),
                db.disable_telegram_topic_mode(chat_id="1"),
            ],
        )
    ]
    db.enable_telegram_topic_mode(**one, has_topics_enabled=True)
    on = db.is_telegram_topic_mode_enabled
    seen.append(("on", [on(**one), on(chat_id="1", user_id="v"), on(chat_id=1, user_id="u")]))
    for session in "stuv":
        begin(db, session, source="telegram", user_id="u")
        say(db, session, f"hello {session}")
    common = {**one, "session_key": "k"}
    bind = db.bind_telegram_topic
    bind(thread_id="10", session_id="s", **common)
    tick()
    bind(thread_id="10", session_id="s", **common)
    seen.append(("bound", db.get_telegram_topic_binding(chat_id="1", thread_id="10")))
    seen.append(("bound twice", tried(bind, thread_id="11", session_id="s", **common)))
    seen.append(("nobody", tried(bind, thread_id="11", session_id="nobody", **common)))
    tick()
    bind(thread_id="10", session_id="t", managed_mode="restored", **common)
    seen.append(("another session", db.get_telegram_topic_binding(chat_id="1", thread_id="10")))
    linked = db.is_telegram_session_linked_to_topic
    seen.append(("linked", [linked(session_id="s"), linked(session_id="t")]))
    tick()
    bind(thread_id="12", session_id="u", **common)
    seen.append(("of the chat", db.list_telegram_topic_bindings_for_chat(chat_id="1")))
    seen.append(("of a session", db.get_telegram_topic_binding_by_session(session_id="u")))
    free = db.list_unlinked_telegram_sessions_for_user
    seen.append(("free", free(**one)))
    seen.append(("free, one", [row["id"] for row in free(**one, limit=1)]))
    delete = db.delete_telegram_topic_binding
    seen.append(("deleted", [delete(chat_id="1", thread_id="10"), on(**one)]))
    seen.append(("the last", [delete(chat_id="1", thread_id="12"), on(**one)]))
    seen.append(("again", delete(chat_id="1", thread_id="12")))
    db.enable_telegram_topic_mode(**one)
    bind(thread_id="12", session_id="u", **common)
    db.disable_telegram_topic_mode(chat_id="1", clear_bindings=False)
    seen.append(("off, kept", [len(db.list_telegram_topic_bindings_for_chat(chat_id="1")), on(**one)]))
    db.delete_session("u")
    seen.append(("session gone", db.list_telegram_topic_bindings_for_chat(chat_id="1")))
    bind(thread_id="12", session_id="v", **common)
    db.disable_telegram_topic_mode(chat_id="1")
    seen.append(("off", db.list_telegram_topic_bindings_for_chat(chat_id="1")))
    return seen


def scenario_handoff(db: Any) -> list[Observation]:
    begin(db, "h", system_prompt="S")
    begin(db, "i")
    state = db.get_handoff_state
    seen: list[Observation] = [
        ("before", [state("h"), state("nobody"), db.request_handoff("nobody", "tg"), db.claim_handoff("h")]),
        ("asked", [db.request_handoff("h", "tg"), state("h"), db.request_handoff("h", "tg2")]),
    ]
    db.request_handoff("i", "tg")
    seen.append(("waiting", db.list_pending_handoffs()))
    seen.append(("claimed", [db.claim_handoff("h"), db.claim_handoff("h"), db.request_handoff("h", "x")]))
    seen.append(("left", [row["id"] for row in db.list_pending_handoffs()]))
    db.complete_handoff("h")
    seen.append(("done", state("h")))
    seen.append(("once more", [db.request_handoff("h", "again"), state("h")]))
    db.fail_handoff("h", "x" * 5000)
    seen.append(("failed", state("h")))
    seen.append(("and again", [db.request_handoff("h", "third"), state("h")]))
    seen.append(("nobody", [db.complete_handoff("nobody"), db.fail_handoff("nobody", "x")]))
    return seen


def scenario_locks(db: Any) -> list[Observation]:
    take, holder = db.try_acquire_compression_lock, db.get_compression_lock_holder
    refresh, release = db.refresh_compression_lock, db.release_compression_lock
    begin(db, "s")
    seen: list[Observation] = [
        ("taken", [take("s", "h1"), take("s", "h2"), take("s", "h1"), holder("s")]),
        ("refreshed", [refresh("s", "h2"), refresh("s", "h1")]),
    ]
    tick(299)
    seen.append(("lasting", [holder("s"), take("s", "h2")]))
    tick(2)
    seen.append(("run out", [holder("s"), refresh("s", "h1")]))
    seen.append(("another's", [take("s", "h2"), holder("s"), release("s", "h1"), holder("s")]))
    release("s", "h2")
    seen.append(("released", [holder("s"), release("s", "h2"), take("s", "h3", 10)]))
    tick(11)
    seen.append(("short", [holder("s"), take("s", "h4")]))
    seen.append(("no session of that id", [take("nobody", "h"), holder("nobody")]))
    seen.append(("no id", [take("", "h"), refresh("", "h"), release("", "h"), holder("")]))
    return seen


def scenario_cooldowns(db: Any) -> list[Observation]:
    begin(db, "s")
    get = db.get_compression_failure_cooldown
    seen: list[Observation] = [("before", [get("s"), get("nobody")])]
    db.record_compression_failure_cooldown("s", 1_700_000_100.0, "boom")
    seen.append(("cooling", get("s")))
    seen.append(("row", db.get_session("s")))
    tick(200)
    seen.append(("over", get("s")))
    db.record_compression_failure_cooldown("s", 1_800_000_000.0)
    seen.append(("without a reason", get("s")))
    db.clear_compression_failure_cooldown("s")
    seen.append(("cleared", [get("s"), db.get_session("s")["compression_failure_error"]]))
    db.record_compression_failure_cooldown("nobody", 1e12, "e")
    streak = db.get_compression_fallback_streak
    seen.append(("streak", [streak("s"), streak("nobody"), streak("")]))
    for number in (3, 0, -3):
        db.set_compression_fallback_streak("s", number)
        seen.append((f"streak {number}", streak("s")))
    db.set_compression_fallback_streak("nobody", 3)
    return seen
