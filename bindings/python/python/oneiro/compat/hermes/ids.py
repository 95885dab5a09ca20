"""Ids of sessions: found by their beginning or by a part of them."""

from __future__ import annotations

from typing import Any

from oneiro.errors import ConflictError, InvalidError, NotFoundError

from .listing import Listing

# Ids hold random letters: what matches more sessions than this is no id.
_MOST_FOUND = 10_000


class Ids(Listing):
    """Finding sessions by id."""

    def resolve_session_id(self, session_id_or_prefix: str) -> str | None:
        """The id that this is, or that only one session's id begins with; else None."""
        if not session_id_or_prefix:
            return None
        if self._find(session_id_or_prefix) is not None:
            return session_id_or_prefix
        try:
            found: str = self._native.resolve_session(session_id_or_prefix)
        except (ConflictError, NotFoundError, InvalidError, UnicodeEncodeError):
            return None
        # Natively a title names a session as well.
        return found if found.startswith(session_id_or_prefix) else None

    def search_sessions_by_id(
        self, query: str, limit: int = 20, include_archived: bool = True
    ) -> list[dict[str, Any]]:
        """Listed sessions whose id, or the id of any session they carry on, is this, begins with
        it or holds it, in that order."""
        wanted = (query or "").strip().lower()
        if not wanted or limit <= 0:
            return []
        found = self.list_sessions_rich(
            limit=_MOST_FOUND,
            order_by_last_active=True,
            include_archived=include_archived,
            id_query=wanted,
        )
        return sorted(found, key=lambda row: _rank(row, wanted))[:limit]


def _rank(row: dict[str, Any], wanted: str) -> int:
    """How well a row's own id, or that of its root, is what was typed."""
    ids = [str(one).lower() for one in (row["id"], row.get("_lineage_root_id")) if one]
    if wanted in ids:
        return 0
    if any(one.startswith(wanted) for one in ids):
        return 1
    return 2 if any(wanted in one for one in ids) else 3
