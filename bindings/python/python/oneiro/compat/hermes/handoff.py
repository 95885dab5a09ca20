"""A session handed over from one platform to another: none, pending, running, then completed or
failed. Owns the three fields that say so; every step is a compare-and-set.
"""

from __future__ import annotations

from typing import Any

from oneiro.errors import ConflictError, NotFoundError

from .rows import Row
from .walk import Walk

# More tells the reader nothing.
_ERROR_CHARS = 500
_TRIES = 100


class Handoff(Walk):
    """Handing a session over."""

    def request_handoff(self, session_id: str, platform: str) -> bool:
        """Asks for a session to be handed to a platform; False when it is not there or is being
        handed over."""
        for _ in range(_TRIES):
            session = self._find(session_id)
            if session is None:
                return False
            state = session["metadata"].get("handoff_state")
            if state in ("pending", "running"):
                return False
            if self._move(session_id, state, "pending", handoff_platform=platform):
                return True
        return False

    def get_handoff_state(self, session_id: str) -> Row | None:
        """`state`, `platform` and `error` of a handoff; None without such a session."""
        session = self._find(session_id)
        if session is None:
            return None
        kept = session["metadata"].get
        return {
            "state": kept("handoff_state"),
            "platform": kept("handoff_platform"),
            "error": kept("handoff_error"),
        }

    def list_pending_handoffs(self) -> list[Row]:
        """The sessions that wait to be handed over, the oldest first."""
        request = {"metadata_is": {"handoff_state": "pending"}, "order": "started"}
        waiting = list(self._walk({**request, "with_prompts": True}))
        return [self._row(session) for session in reversed(waiting)]

    def claim_handoff(self, session_id: str) -> bool:
        """Takes a waiting handoff; True for exactly one of those who try."""
        return self._move(session_id, "pending", "running")

    def complete_handoff(self, session_id: str) -> None:
        """Marks a handoff as done."""
        self._change(session_id, metadata={"handoff_state": "completed", "handoff_error": None})

    def fail_handoff(self, session_id: str, error: str) -> None:
        """Marks a handoff as failed, and why."""
        told = str(error)[:_ERROR_CHARS]
        self._change(session_id, metadata={"handoff_state": "failed", "handoff_error": told})

    def _move(self, session_id: Any, before: str | None, after: str, **also: Any) -> bool:
        if self._find(session_id) is None:
            return False
        patch = {
            "metadata": {"handoff_state": after, "handoff_error": None, **also},
            "metadata_is": {"handoff_state": before},
        }
        try:
            self._native.change_session(session_id, patch)
        except (ConflictError, NotFoundError):
            return False
        return True
