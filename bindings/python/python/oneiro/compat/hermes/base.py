"""What every part of SessionDB stands on: the native handle, the clock, and rows of sessions.

Owns how a session is looked up and walked; it must not know any one area of hermes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from oneiro import errors as own

from . import rows
from .rows import Row

Session = dict[str, Any]

# The first page of a walk and the largest: most callers want a screenful, few want everything.
_FIRST_PAGE = 32
_LAST_PAGE = 1_000


class Base:
    """The ground of all parts of SessionDB."""

    _native: Any
    generation: str

    def _now(self) -> float:
        # Looked up at each call, so that a caller who replaces time.time is obeyed.
        return time.time()

    @property
    def _is_seed(self) -> bool:
        return self.generation == "seed"

    def _find(self, session_id: Any) -> Session | None:
        """The native session with exactly this id; None also for what can be no id."""
        if not session_id or not isinstance(session_id, str):
            return None
        try:
            found: Session | None = self._native.find_session(session_id)
        except own.InvalidError:
            return None
        return found

    def _row(self, session: Session) -> Row:
        """The row of this generation for a native session."""
        if not self._is_seed:
            return rows.session_row(session)
        return rows.seed_session_row({**session, **self._native.counts(session["id"])})

    def _walk(self, request: dict[str, Any], page: int = _FIRST_PAGE) -> Iterator[Session]:
        """Native sessions one after another; a page is read when the one before is used up."""
        cursor: str | None = None
        asked = {"all": True, "archived": None, **request}
        while True:
            answer = self._native.list_sessions({**asked, "limit": page, "cursor": cursor})
            yield from answer["items"]
            cursor = answer["next"]
            if cursor is None:
                return
            page = min(page * 4, _LAST_PAGE)

    def _children(self, session_id: str) -> list[Session]:
        """The native sessions that descend from one directly, newest first."""
        return list(self._walk({"parent_id": session_id, "order": "started"}))
