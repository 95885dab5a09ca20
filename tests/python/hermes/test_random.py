"""Long random lives of a few sessions, lived on hermes and on ours at once.

Left out is where the stores are meant to differ (see the scenarios): counts after a rewind, a
restore over a compaction, a replacement that leaves rewound rows, and merged parts of assistants.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from differential import plain, standing_clock, tick, tried
from seeds import seeds

hermes_state = pytest.importorskip("hermes_state", reason="hermes-agent is not installed")

STEPS = 60


class Life:
    """One random life: every step is done on both stores, and what both show is compared."""

    def __init__(self, theirs: Any, ours: Any, seed: int) -> None:
        self.stores = (theirs, ours)
        self.choose = random.Random(seed)
        self.sessions: list[str] = []
        self.compacted: set[str] = set()
        self.rewound: set[str] = set()
        self.log: list[Any] = []

    def step(self) -> None:
        tick()
        steps = ["begin", "append", "append", "append", "append", "rewind", "restore", "compact"]
        steps += ["replace", "replace_live", "clear", "end", "reopen", "promote", "title", "auto"]
        steps += ["tokens", "api"]
        name = self.choose.choice(steps) if self.sessions else "begin"
        session = self.choose.choice(self.sessions) if self.sessions else ""
        answers = getattr(self, name)(session)
        self.log.append((name, session))
        assert answers is None or plain(answers[0]) == plain(answers[1]), self.log[-5:]

    def both(self, method: str, *args: Any, **named: Any) -> list[Any]:
        self.log.append((method, args, named))
        return [tried(getattr(store, method), *args, **named) for store in self.stores]

    def messages(self) -> list[dict[str, Any]]:
        return [self.message() for _ in range(self.choose.randint(0, 4))]

    def message(self) -> dict[str, Any]:
        pick = self.choose.choice
        role = pick(["user", "user", "assistant", "tool", "system"])
        texts: list[Any] = ["q", "r", " s ", "", None, f"t{len(self.log)}"]
        if role != "assistant":
            texts.append([{"type": "text", "text": "p"}])
        message = {"role": role, "content": pick(texts)}
        if role == "assistant" and pick([True, False]):
            message["tool_calls"] = [{"id": str(one)} for one in range(pick([1, 2]))]
        if role == "tool":
            message["tool_call_id"] = pick(["0", "1", "2", None])
        return message

    def begin(self, _session: str) -> list[Any]:
        pick = self.choose.choice
        parent = pick([*self.sessions, None])
        config = pick([None, None, {"_branched_from": "x"}, {"_delegate_from": "y"}])
        self.sessions.append(f"s{len(self.sessions)}")
        named = {"parent_session_id": parent, "model_config": config}
        source = pick(["cli", "tool", "telegram"])
        return self.both("create_session", self.sessions[-1], source, **named)

    def append(self, session: str) -> None:
        assert all(
            isinstance(one, int) for one in self.both("append_message", session, **self.message())
        )

    def ids(self, session: str) -> list[list[int]]:
        return [
            [row["id"] for row in store.get_messages(session, include_inactive=True)]
            for store in self.stores
        ]

    def rewind(self, session: str) -> list[Any] | None:
        ids = self.ids(session)
        if not ids[0]:
            return None
        place = self.choose.randrange(len(ids[0]))
        answers = []
        for store, there in zip(self.stores, ids, strict=True):
            answer = tried(store.rewind_to_message, session, there[place])
            if isinstance(answer, dict):
                head, target = answer["new_head_id"], answer["target_message"]
                head = None if head is None else there.index(head)
                answer = [answer["rewound_count"], target["content"], target["active"], head]
            answers.append(answer)
        self.rewound.add(session)
        return answers

    def restore(self, session: str) -> list[Any] | None:
        ids = self.ids(session)
        if session in self.compacted or not ids[0]:
            return None
        place = self.choose.randrange(len(ids[0]))
        pairs = zip(self.stores, ids, strict=True)
        return [store.restore_rewound(session, there[place]) for store, there in pairs]

    def compact(self, session: str) -> list[Any]:
        self.compacted.add(session)
        return self.both("archive_and_compact", session, self.messages())

    def replace(self, session: str) -> list[Any]:
        self.compacted.discard(session)
        self.rewound.discard(session)
        return self.both("replace_messages", session, self.messages())

    def replace_live(self, session: str) -> list[Any] | None:
        if session in self.rewound:
            return None
        return self.both("replace_messages", session, self.messages(), active_only=True)

    def clear(self, session: str) -> list[Any]:
        self.compacted.discard(session)
        self.rewound.discard(session)
        return self.both("clear_messages", session)

    def end(self, session: str) -> list[Any]:
        reasons = ["compression", "branched", "done", "agent_close"]
        return self.both("end_session", session, self.choose.choice(reasons))

    def reopen(self, session: str) -> list[Any]:
        return self.both("reopen_session", session)

    def promote(self, session: str) -> list[Any]:
        return self.both("promote_to_session_reset", session)

    def title(self, session: str) -> list[Any]:
        title = self.choose.choice(["A", "B", "A #2", "A #3", "C", None])
        return self.both("set_session_title", session, title)

    def auto(self, session: str) -> list[Any]:
        title = self.choose.choice(["A", "B", "A #2", None])
        return self.both("set_auto_title_if_empty", session, title)

    def tokens(self, session: str) -> list[Any]:
        pick = self.choose.choice
        return self.both(
            "update_token_counts",
            session,
            input_tokens=pick([0, 1, 2]),
            model=pick([None, "m1", "m2"]),
            billing_provider=pick([None, "p1", "p2"]),
            billing_base_url=pick([None, "u"]),
            api_call_count=pick([0, 1]),
            estimated_cost_usd=pick([None, 0.25]),
            absolute=pick([True, False, False]),
        )

    def api(self, session: str) -> list[Any]:
        return self.both("set_latest_user_api_content", session, self.choose.choice("qr"), "sent")

    def compare(self) -> None:
        theirs, ours = self.stores
        for session in self.sessions:
            shown = [plain(look(store, session)) for store in self.stores]
            for name, value in shown[0].items():
                assert shown[1][name] == value, (name, session, self.log[-6:])
            row, live = ours.get_session(session), ours.get_messages(session)
            assert row["message_count"] == len(live), self.log[-6:]
            calls = [one for turn in live for one in turn["tool_calls"] or []]
            assert row["tool_call_count"] == len(calls), self.log[-6:]
        for method in ("resolve_session_by_title", "get_next_title_in_lineage"):
            assert getattr(ours, method)("A") == getattr(theirs, method)("A"), self.log[-6:]
        assert ours.message_count() == theirs.message_count(), self.log[-6:]


def look(db: Any, session: str) -> dict[str, Any]:
    """All that a store shows of a session, but ids and times of messages and stale counts."""
    stale = ("message_count", "tool_call_count")
    load = db.get_messages_as_conversation
    everything = db.get_messages(session, include_inactive=True)
    hidden = ("id", "timestamp")

    def turns(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{name: turn[name] for name in turn if name not in hidden} for turn in found]

    return {
        "row": {
            name: value for name, value in db.get_session(session).items() if name not in stale
        },
        "rows": turns(everything),
        "conversation": turns(load(session)),
        "lineage": turns(load(session, include_ancestors=True, repair_alternation=True)),
        "resume": [turns(one) for one in db.get_resume_conversations(session)],
        "count": db.message_count(session),
        "archived": db.has_archived_messages(session),
        "tip": db.get_compression_tip(session),
        "root": db.get_conversation_root(session),
    }


@pytest.mark.parametrize("seed", seeds(4))
def test_a_random_life(seed: int, open_db: Callable[..., Any], tmp_path: Path) -> None:
    with standing_clock():
        theirs = hermes_state.SessionDB(tmp_path / "hermes.db")
        try:
            life = Life(theirs, open_db(), seed)
            for _ in range(STEPS):
                life.step()
                life.compare()
        finally:
            theirs.close()
