"""What every mixin of SessionDB stands on: the native handle, the clock and the generation."""

from __future__ import annotations

import time
from typing import Any

from oneiro.errors import InvalidError, NotFoundError

from . import rows
from .native import Native

#: The clock of the machine. A time of it nobody has seen yet may be rounded; where a host or a test
#: has put its own clock in place, the time is kept to the last digit.
CLOCK = time.time


class Base:
    """The state that the mixins share."""

    _native: Native
    generation: str

    @staticmethod
    def _now() -> float:
        """The wall clock, looked up at every call so that a test's clock is obeyed."""
        return time.time()

    def _beginning(self) -> float:
        """The time for what begins now."""
        now = self._now()
        return rows.to_micros(now) if time.time is CLOCK else now

    @property
    def _is_seed(self) -> bool:
        return self.generation == "seed"

    def _find(self, session_id: Any) -> dict[str, Any] | None:
        """The native session, or None for anything that names none."""
        if not isinstance(session_id, str) or not session_id:
            return None
        try:
            found: dict[str, Any] | None = self._native.find_session(session_id)
        except UnicodeEncodeError:
            # Half a character is part of no id.
            return None
        return found

    def _change(self, session_id: Any, **patch: Any) -> dict[str, Any] | None:
        """Changes a session; None when it is not there."""
        if not isinstance(session_id, str) or not session_id:
            return None
        try:
            changed: dict[str, Any] = self._native.change_session(session_id, patch)
            return changed
        except NotFoundError:
            return None

    def _row(self, session: dict[str, Any]) -> rows.Row:
        """The row of a session in this generation, with its counts as hermes gives them."""
        if self._is_seed:
            session["tool_rows"] = self._native.counts(session["id"])["tool_messages"]
            return rows.seed_session_row(session)
        if "compacted_count" not in session:
            counts = self._native.counts(session["id"])
            session["message_count"] = counts["live"]
            session["tool_call_count"] = counts["tool_calls"]
        return rows.session_row(session)

    def _all(self, session_id: Any, hidden: bool) -> list[dict[str, Any]]:
        """The native messages of a session, without those that were replaced; [] for no session."""
        if not isinstance(session_id, str) or not session_id:
            return []
        try:
            found: list[dict[str, Any]] = self._native.all_messages(session_id, hidden)
        except (NotFoundError, InvalidError, UnicodeEncodeError):
            return []
        if not hidden or not found:
            return found
        session = self._find(session_id)
        return rows.visible(found, session["metadata"]) if session else []
