"""The first SessionDB of hermes-agent, as far as it is measured: our stand-in of bench/peers, with
the name and the methods that the comparison calls. Nothing in it is the peer's code."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))

from session_store import SessionStore

__all__ = ["SessionDB"]


class SessionDB(SessionStore):
    """One connection that threads share without a lock, WAL, a commit in each method."""

    def get_messages_as_conversation(self, session_id: str) -> list[dict[str, Any]]:
        """Messages as a client takes them."""
        names = ("tool_call_id", "tool_name", "tool_calls")
        return [
            {"role": row["role"], "content": row["content"]}
            | {name: row[name] for name in names if row[name]}
            for row in self.get_messages(session_id)
        ]

    def message_count(self) -> int:
        """All messages."""
        return self.db.execute("SELECT count(*) FROM messages").fetchone()[0]

    def fill(self, session_id: str, messages: list[tuple[str, str]]) -> None:
        """Appends many messages in the open transaction, for stores that are only read."""
        now = time.time()
        self.db.executemany(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
            [(session_id, role, text, now) for role, text in messages],
        )
        self.db.execute(
            "UPDATE sessions SET message_count = message_count + ? WHERE id = ?",
            (len(messages), session_id),
        )
