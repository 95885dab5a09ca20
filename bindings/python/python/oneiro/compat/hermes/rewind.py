"""Rewind: taking a conversation back to something the person said, and undoing that."""

from __future__ import annotations

from typing import Any

from oneiro.errors import ConflictError, InvalidError, NotFoundError

from . import rows
from .base import Base

PREVIEW_CHARS = 80


class Rewind(Base):
    """Rewind and restore."""

    def rewind_to_message(self, session_id: str, target_message_id: int) -> dict[str, Any]:
        """Takes back a user message and everything after it. A ValueError when it is not of this
        session, or not the user's."""
        target = self._of_session(session_id, target_message_id)
        if target is None:
            raise ValueError(f"message {target_message_id} not found in session {session_id}")
        if target["role"] != "user":
            raise ValueError(
                f"rewind target must be a 'user' message (got role={target['role']!r}, "
                f"id={target_message_id})"
            )
        if target.get("visibility"):
            count, head = self._rewind_from(session_id, target["id"])
        else:
            rewound = self._native.rewind_again(session_id, target["id"])
            count, head = rewound["rewound"], rewound["head"]
        return {
            "rewound_count": count,
            "target_message": rows.message_row(target),
            "new_head_id": head,
        }

    def _rewind_from(self, session_id: str, target_id: int) -> tuple[int, int | None]:
        """Takes back what is live from a message on that is not live itself; what is compacted
        stays searchable. A rewind that takes nothing back is counted as well."""
        live = self._native.all_messages(session_id, False)
        kept = [message for message in live if message["id"] < target_id]
        if len(kept) < len(live):
            self._native.set_history(session_id, kept)
        else:
            session = self._find(session_id)
            uncounted = session["metadata"].get(rows.REPLACED_REWINDS, 0) - 1 if session else 0
            self._change(session_id, metadata={rows.REPLACED_REWINDS: uncounted})
        return len(live) - len(kept), kept[-1]["id"] if kept else None

    def _of_session(self, session_id: str, message_id: Any) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._native.message(int(message_id))
        except (NotFoundError, InvalidError, TypeError, ValueError, OverflowError):
            return None
        if found["session_id"] != session_id:
            return None
        if found.get("visibility"):
            session = self._find(session_id)
            if session is None or not rows.visible([found], session["metadata"]):
                return None
        return found

    def restore_rewound(self, session_id: str, since_message_id: int) -> int:
        """Shows again what was rewound from this message on; returns how many messages came back.
        What was compacted or replaced stays as it is."""
        session = self._find(session_id)
        if session is None:
            return 0
        metadata = session["metadata"]
        replaced = max(
            metadata.get(rows.REPLACED_UNTIL, 0), metadata.get(rows.REPLACED_ALL_UNTIL, 0)
        )
        try:
            since = max(int(since_message_id), replaced + 1)
            return int(self._native.restore_since(session_id, since))
        except (NotFoundError, TypeError, ValueError, OverflowError):
            return 0

    def list_recent_user_messages(
        self, session_id: str, limit: int = 20, include_inactive: bool = False
    ) -> list[dict[str, Any]]:
        """The newest things the person said, newest first: where a rewind may go."""
        limit = int(limit)
        if include_inactive:
            found = [one for one in self._all(session_id, True) if one["role"] == "user"]
            found.reverse()
            found = found if limit < 0 else found[:limit]
        else:
            try:
                count = limit if limit >= 0 else 1 << 30
                found = self._native.rewind_points(session_id, count)
            except (NotFoundError, InvalidError, ConflictError, TypeError):
                return []
        return [
            {
                "id": message["id"],
                "timestamp": rows.message_row(message)["timestamp"],
                "preview": preview(message.get("content")),
            }
            for message in found
        ]


def preview(content: Any) -> str:
    """The beginning of a content on one line; of parts their texts."""
    if isinstance(content, list):
        texts = [
            part["text"]
            for part in content
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        ]
        content = " ".join(texts) if texts else "[multimodal content]"
    text = " ".join(content.split()) if isinstance(content, str) else ""
    return text if len(text) <= PREVIEW_CHARS else f"{text[: PREVIEW_CHARS - 3]}..."
