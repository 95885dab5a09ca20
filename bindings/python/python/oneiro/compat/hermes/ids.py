"""Ids of sessions: found by their beginning or by a part of them."""

from __future__ import annotations

from typing import Any

from .base import Base

_PAGE = 1000


class Ids(Base):
    """Finding sessions by id."""

    def resolve_session_id(self, session_id_or_prefix: str) -> str | None:
        """The id that this is, or that only one session's id begins with; else None."""
        if not session_id_or_prefix:
            return None
        if self._find(session_id_or_prefix) is not None:
            return session_id_or_prefix
        found = self._ids_beginning(session_id_or_prefix)
        return found[0] if len(found) == 1 else None

    def _ids_beginning(self, prefix: str) -> list[str]:
        """Up to two ids that begin with this."""
        found: list[str] = []
        cursor = None
        while len(found) < 2:
            page = self._native.list_sessions(
                {"all": True, "archived": None, "id_prefix": prefix, "limit": 2, "cursor": cursor}
            )
            found.extend(
                session["id"] for session in page["items"] if session["id"].startswith(prefix)
            )
            cursor = page["next"]
            if cursor is None:
                break
        return found

    def search_sessions_by_id(
        self, query: str, limit: int = 20, include_archived: bool = True
    ) -> list[dict[str, Any]]:
        """Listed sessions whose id, or the id of any session they carry on, is this, begins with
        it or holds it, in that order."""
        raise NotImplementedError
