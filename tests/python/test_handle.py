"""The engine from Python: sessions, messages, search, context, jobs, the space."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import oneiro
import pytest
from conftest import Place

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def say(memory: oneiro.Oneiro, session: str, *texts: str) -> list[int]:
    messages = [{"role": "user", "content": text} for text in texts]
    return memory.append(session, messages, create={}).ids


def test_a_session_lives(memory: oneiro.Oneiro) -> None:
    begun = memory.create_session(
        "a", source="cli", title="Tea", metadata={"chat": 7}, started_at=NOON, cwd="/srv"
    )
    assert (begun.id, begun.started_at, begun.metadata) == ("a", NOON, {"chat": 7})
    again = memory.create_session("a", source="other", model="m", cwd="/other")
    assert (again.source, again.model, again.cwd) == ("cli", "m", "/srv")
    assert memory.session("nobody") is None
    assert memory.resolve_session("Tea") == "a"
    changed = memory.change_session("a", title=None, metadata={"chat": None, "x": [1]}, model=None)
    assert (changed.title, changed.metadata, changed.model) == (None, {"x": [1]}, None)
    ended = memory.end_session("a", "done", at=NOON + timedelta(hours=1))
    assert (ended.end_reason, ended.ended_at) == ("done", NOON + timedelta(hours=1))
    assert memory.end_session("a", "later").end_reason == "done"
    assert memory.reopen_session("a").ended_at is None
    assert memory.delete_session("a").sessions == ["a"]


def test_lists_come_in_pages(memory: oneiro.Oneiro) -> None:
    for number in range(7):
        memory.create_session(f"s{number}", source="cli" if number % 2 else "cron")
    page = memory.list_sessions(limit=3, order="started")
    assert [session.id for session in page.items] == ["s6", "s5", "s4"]
    rest = memory.list_sessions(limit=9, order="started", cursor=page.next)
    assert [session.id for session in rest.items] == ["s3", "s2", "s1", "s0"]
    assert rest.next is None
    assert {session.id for session in memory.sessions(source="cron", limit=2)} == {"s0", "s2", "s4", "s6"}


def test_messages_come_back_as_they_were(memory: oneiro.Oneiro) -> None:
    odd = {
        "role": "assistant",
        "content": [{"type": "text", "text": "π \x00 \u2028"}, {"type": "image_url", "image_url": {"url": "data:,"}}],
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{\"a\": 1}"}}],
        "numbers": [1, -1, 10**30, 1.5, 1e300, 0.1],
        "nothing": None,
        "deep": {"b": {"a": [True, False]}},
        "at": NOON,
        "external_id": "e-1",
    }
    answer = memory.append("s", odd, create={"source": "test"})
    assert (answer.ids, answer.duplicates) == ([1], 0)
    assert memory.append("s", odd).duplicates == 1
    (found,) = memory.messages("s")
    assert found == odd | {"id": 1, "session_id": "s"}
    assert list(found["deep"]) == ["b"] and found["at"].tzinfo is not None
    assert memory.message(1) == found


def test_lone_surrogates_are_replaced_and_counted(memory: oneiro.Oneiro) -> None:
    answer = memory.append("s", {"role": "user", "content": "a\ud800b \ud83e\udd80"}, create={})
    assert answer.repaired == 1
    assert memory.messages("s")[0]["content"] == "a\ufffdb 🦀"


def test_pages_of_messages(memory: oneiro.Oneiro) -> None:
    ids = say(memory, "s", *[f"number {n}" for n in range(10)])
    assert [m["id"] for m in memory.messages("s", after=ids[2], limit=4)] == ids[3:7]
    assert [m["id"] for m in memory.messages("s", after=ids[7])] == ids[8:]


def test_a_message_is_named_by_its_place(memory: oneiro.Oneiro) -> None:
    say(memory, "other", "these", "come", "first")
    ids = say(memory, "s", "one", "two", "three")
    assert memory.message("s#2")["id"] == memory.message(str(ids[1]))["id"] == ids[1]
    assert memory.pin("s", "#3") and [m["id"] for m in memory.pins("s")] == [ids[2]]
    assert memory.unpin("s", "s#3")
    assert memory.branch_session("s", at="#2").message_count == 2
    assert [m["id"] for m in memory.expand("s#1-2").messages] == ids[:2]
    assert memory.rewind("s", "#2").target["id"] == ids[1]
    assert memory.erase("s#1")["id"] == str(ids[0])
    with pytest.raises(oneiro.NotFoundError, match="2 messages"):
        memory.message("s#3")
    with pytest.raises(oneiro.InvalidError, match="does not name a message"):
        memory.pin("s", "three")


def test_rewind_and_restore(memory: oneiro.Oneiro) -> None:
    ids = say(memory, "s", "one", "two", "three")
    rewound = memory.rewind("s", ids[1])
    assert (rewound.rewound, rewound.target["content"], rewound.head) == (2, "two", ids[0])
    assert [m["content"] for m in memory.messages("s")] == ["one"]
    assert [m.get("visibility") for m in memory.messages("s", hidden=True)] == [None, "rewound", "rewound"]
    assert memory.restore("s") == 2
    assert memory.rewind("s", turns=2).target["content"] == "two"
    assert memory.restore("s", all=True) == 2
    with pytest.raises(oneiro.InvalidError, match="to"):
        memory.rewind("s", ids[1], turns=1)
    shown = memory.set_history("s", [{"role": "user", "content": "one"}, {"role": "user", "content": "new"}])
    assert [m["content"] for m in shown] == ["one", "new"]


def test_search_finds_what_was_just_said(memory: oneiro.Oneiro) -> None:
    say(memory, "s", "the boiler needs a new valve", "we ordered the valve on monday")
    found = memory.search("where is the valve?", neighbours=1)
    assert found.tier is not None and len(found.hits) == 2
    hit = found.hits[0]
    assert "valve" in hit.snippet and "**valve**" in hit.marked() and hit.at.tzinfo is not None
    assert hit.neighbours and hit.neighbours[0].text
    assert memory.search("valve", roles=["assistant"]).hits == []
    assert memory.search("valve", until=NOON).hits == []
    (conversation,) = memory.search_sessions("valve")
    assert conversation.session["id"] == "s"
    assert memory.grep("valve", session="s")["messages"]


def test_until_a_day_includes_that_day(memory: oneiro.Oneiro) -> None:
    memory.append("s", {"role": "user", "content": "the valve came", "at": NOON}, create={})
    day = NOON.date()
    for until in (day, day.isoformat(), NOON + timedelta(seconds=1)):
        assert memory.search("valve", until=until).hits, until
        assert memory.grep("valve", until=until)["messages"], until
        assert memory.list_sessions(until=until).items, until
    for until in (day - timedelta(days=1), NOON):
        assert not memory.search("valve", until=until).hits, until
        assert not memory.list_sessions(until=until).items, until
    assert memory.search("valve", since=day).hits
    assert memory.create_session("b", started_at=date(2026, 3, 2)).started_at == datetime(
        2026, 3, 2, tzinfo=timezone.utc
    )


def test_names_of_before_are_still_read(memory: oneiro.Oneiro) -> None:
    say(memory, "s", "the boiler needs a new valve")
    assert memory.search_sessions("valve", role_filter=["user"])
    assert memory.search_sessions("valve", current="s") == []
    with pytest.raises(oneiro.InvalidError, match="twice"):
        memory.search_sessions("valve", current="s", exclude_lineage="s")


def test_windows_summaries_and_the_way_back(memory: oneiro.Oneiro) -> None:
    texts = [f"{n}: the plan for week {n} is to paint room {n} in colour {n * 7}. " * 20 for n in range(60)]
    ids = say(memory, "s", *texts)
    memory.change_session("s", system_prompt="You are kind.")
    compacted = memory.compact("s", until=4_000)
    assert compacted.created and compacted.tokens_after < compacted.tokens_before
    window = memory.context("s", 6_000, format="anthropic")
    assert window.system and window.system.startswith("You are kind.")
    assert window.tokens <= 6_000 and window.summaries
    node = memory.summary(window.summaries[0])
    assert node.session_id == "s" and node.created_at is not None
    seen, cursor = [], None
    while True:
        part = memory.expand(node.id, session="s", tokens=3_000, cursor=cursor)
        seen += [message["content"] for message in part.messages]
        cursor = part.next
        if cursor is None:
            break
    assert seen == texts[: len(seen)] and seen
    assert {summary.id for summary in memory.summaries("s")} >= set(compacted.created)
    found = memory.search("room 3", kinds=["summary"])
    assert found.hits == [] and isinstance(found.summaries[0], oneiro.SummaryHit)
    assert found.summaries[0].id in compacted.created and found.summaries[0].at.tzinfo is not None
    assert memory.search("room 3").summaries == []
    assert memory.pin("s", ids[0]) and [m["id"] for m in memory.pins("s")] == [ids[0]]
    assert memory.unpin("s", ids[0])
    memory.set_summary("s", "they paint the house")
    assert memory.session_summary("s").startswith("they paint the house")


def test_usage_adds_up(memory: oneiro.Oneiro) -> None:
    memory.create_session("s")
    memory.add_usage("s", model="m", input_tokens=10, estimated_cost_usd=0.25, api_calls=1)
    session = memory.add_usage("s", model="m", input_tokens=5, api_calls=1)
    assert (session.input_tokens, session.api_call_count, session.estimated_cost_usd) == (15, 2, 0.25)
    memory.add_usage("s", model="small", task="title", input_tokens=99)
    rows = memory.usage("s")
    assert [(row.model, row.task, row.input_tokens) for row in rows] == [("m", "", 15), ("small", "title", 99)]
    assert rows[0].first_at.tzinfo is not None


def test_branches_and_continuations(memory: oneiro.Oneiro) -> None:
    ids = say(memory, "s", "one", "two")
    branch = memory.branch_session("s", at=ids[0], new_id="b")
    assert (branch.parent_id, branch.lineage, branch.message_count) == ("s", "branch", 1)
    child = memory.split_session("s", new_id="c")
    assert (child.parent_id, child.lineage) == ("s", "continuation")


def test_prune_export_import_backup(memory: oneiro.Oneiro, tmp_path: Path) -> None:
    say(memory, "old", "x")
    memory.end_session("old", at=NOON)
    later = datetime.now(timezone.utc) + timedelta(days=1)
    assert memory.prune_sessions(ended_before=later, dry_run=True).sessions == ["old"]
    assert memory.export(tmp_path / "all.jsonl") == 1
    assert memory.prune_sessions(ended_before=later).messages == 1
    brought = memory.import_(tmp_path / "all.jsonl")
    assert (brought.sessions, brought.messages) == (1, 1)
    memory.backup(tmp_path / "copy.db")
    with oneiro.open(tmp_path / "copy.db") as copy:
        assert copy.messages("old")[0]["content"] == "x"
    assert memory.check()["ok"]


def test_jobs_and_settings(memory: oneiro.Oneiro) -> None:
    assert memory.jobs().items == [] or memory.jobs().items[0].kind
    assert memory.run_jobs(0.1) == (0, 0)
    memory.set_setting("ignore_session_patterns", ["cron:*"])
    assert memory.settings()["ignore_session_patterns"] == ["cron:*"]
    assert memory.append("cron:1", {"role": "user", "content": "x"}, create={}).skipped == 1
    assert memory.stats()["sessions"] == 0


def test_capture_is_chosen_paused_and_resumed(memory: oneiro.Oneiro, tmp_path: Path) -> None:
    status = memory.capture_status()
    assert (status.pause, status.other_projects, status.projects) == (None, None, [])
    real = tmp_path.resolve()
    status = memory.include_project(tmp_path)
    assert [(project.folder, project.capture) for project in status.projects] == [(str(real), "on")]
    assert memory.exclude_project(tmp_path).projects[0].capture == "excluded"
    assert memory.include_project().other_projects == "on"
    assert memory.exclude_project().other_projects == "off"
    paused = memory.pause_capture(until=datetime.now(timezone.utc) + timedelta(hours=1)).pause
    assert paused is not None and paused.ended_at is not None
    assert memory.resume_capture().pause is None
    with pytest.raises(oneiro.InvalidError, match="future"):
        memory.pause_capture(until=1.0)


def test_erasure_leaves_nothing(memory: oneiro.Oneiro) -> None:
    ids = say(memory, "s", "keep this", "the code is 8675309zq")
    erased = memory.erase(ids[1])
    assert erased["proof"]["found"] == 0
    assert [m["content"] for m in memory.messages("s")] == ["keep this"]


def test_the_same_store_as_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONEIRO_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with oneiro.open() as memory:
        assert memory.target == str(tmp_path / "oneiro" / "default.db")
    monkeypatch.setenv("ONEIRO_STORE", str(tmp_path / "one.db"))
    with oneiro.open() as memory:
        assert memory.target == str(tmp_path / "one.db")


def test_a_place_is_told_without_secrets(place: Place) -> None:
    with place.open() as memory:
        assert "password" not in memory.target
        assert repr(memory) == f"<oneiro {memory.target}>"
    assert "(closed)" in repr(memory)


def test_only_people_mount_folders(memory: oneiro.Oneiro, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    memory.write_note("MEMORY.md", "- tea\n")
    with pytest.raises(oneiro.PermissionError_):
        memory.mount_notes(folder, layout="hermes")
    assert list(folder.iterdir()) == []
    assert memory.mounts() == [] and memory.sync_mounts() == []
    with pytest.raises(oneiro.PermissionError_):
        memory.unmount_notes(tmp_path)
