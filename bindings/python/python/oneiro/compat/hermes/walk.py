"""Walks over sessions: page after page, parents to children.

Owns how lists of the native layer are read to their end; it must not know what is looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from oneiro.parts import ARCHIVED

from .base import Base

Session = dict[str, Any]

# The first page of a walk and the largest: most callers want a screenful, few want everything.
_FIRST_PAGE = 32
_LAST_PAGE = 1_000


class Walk(Base):
    """Sessions one after another."""

    def _walk(self, request: dict[str, Any], page: int = _FIRST_PAGE) -> Iterator[Session]:
        """Native sessions in order; a page is read when the one before is used up."""
        cursor: str | None = None
        asked = {"all": True, **request, "archived": ARCHIVED[request.get("archived")]}
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

    def _wholes(self, sessions: Iterable[Session]) -> list[Session]:
        """Listed sessions with their system prompts, which walks leave out; those that went
        meanwhile are left out."""
        ids = [session["id"] for session in sessions]
        found = self._native.find_sessions(ids) if ids else []
        return [session for session in found if session is not None]


def started_at(session: Session) -> float:
    """When a session began: the exact time where microseconds do not hold it."""
    exact = session["metadata"].get("started_at")
    began: float = session["started_at"] / 1e6 if exact is None else exact
    return began
