"""How sessions descend: tips of compression chains, what to resume, roots and lineages.

Owns every walk along parents and children. Each is bounded and survives a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from oneiro import errors as own

from . import rows
from .walk import Session, Walk

# Well past any real chain; a bound for damaged data only.
HOPS = 1_000


class Lineage(Walk):
    """Parents, children, tips and roots."""

    def get_compression_tip(self, session_id: str) -> str | None:
        """Where the compression chain of a session has come to; the id itself when it has none.

        Of several continuations the one that was itself compressed wins, then a live one, then
        the latest active.
        """
        session = self._find(session_id)
        if session is None:
            return session_id
        tip = session_id
        for tip_session in self._forward(session):
            tip = tip_session["id"]
        return tip

    def resolve_resume_session_id(self, session_id: str) -> str:
        """The session that holds what a resume of this one is about: the tip of its chain, or
        the deepest descendant of that with messages."""
        session = self._find(session_id)
        if session is None:
            return session_id
        for session in self._forward(session):
            pass
        best: str = session["id"]
        seen = {best}
        for _ in range(HOPS):
            child = next(filter(_is_resumable, self._children(session["id"])), None)
            if child is None or child["id"] in seen:
                break
            session = child
            seen.add(session["id"])
            if session["message_count"] or session["rewind_count"]:
                best = session["id"]
        return best

    def get_conversation_root(self, session_id: str) -> str:
        """The first ancestor of a session, through every kind of descent."""
        if self._find(session_id) is None:
            return session_id
        try:
            root: str = self._native.session_root(session_id)
        except own.NotFoundError:
            return session_id
        return root

    def get_compression_lineage(self, session_id: str) -> list[str]:
        """The ids of a session's compression chain, root first, to its tip."""
        session = self._find(session_id)
        if session is None:
            return []
        before = [one["id"] for one in self._backward(session)]
        after = [one["id"] for one in self._forward(session, set(before))]
        return [*reversed(before), session["id"], *after]

    def _session_lineage_root_to_tip(self, session_id: str) -> list[str]:
        """The ids of every ancestor of a session, root first, and the session itself."""
        ids: list[str] = []
        session = self._find(session_id)
        while session is not None and session["id"] not in ids and len(ids) < HOPS:
            ids.append(session["id"])
            session = self._find(session["parent_id"])
        return ids[::-1] or [session_id]

    def _is_branch_child_row(self, session: dict[str, Any]) -> bool:
        return rows.is_branch(session, self._parent_row(session))

    def _is_compression_child_row(self, child: dict[str, Any]) -> bool:
        return rows.is_continuation(child, self._parent_row(child))

    def _parent_row(self, row: dict[str, Any]) -> dict[str, Any] | None:
        parent = self._find(row.get("parent_session_id"))
        return None if parent is None else rows.session_row(parent)

    def _forward(self, session: Session, seen: set[str] | None = None) -> Iterator[Session]:
        """The continuations after a session, one after another, to the tip of its chain."""
        seen = {session["id"], *(seen or ())}
        for _ in range(HOPS):
            if session["end_reason"] != "compression":
                return
            parent = session
            found = [
                child
                for child in self._children(parent["id"])
                if child["id"] not in seen and rows.is_continuation(child, parent)
            ]
            if not found:
                return
            session = max(found, key=_by_standing)
            seen.add(session["id"])
            yield session

    def _backward(self, session: Session) -> Iterator[Session]:
        """What a session continues, nearest first."""
        seen = {session["id"]}
        for _ in range(HOPS):
            parent = self._find(session["parent_id"])
            if parent is None or parent["id"] in seen or not rows.is_continuation(session, parent):
                return
            seen.add(parent["id"])
            yield parent
            session = parent

    def _chain(self, root: Session) -> list[Session]:
        """A session and everything that continues it, forks included."""
        chain = [root]
        seen = {root["id"]}
        at = 0
        while at < len(chain) and len(chain) < HOPS:
            parent = chain[at]
            at += 1
            if parent["end_reason"] != "compression":
                continue
            for child in self._children(parent["id"]):
                if child["id"] not in seen and rows.is_continuation(child, parent):
                    seen.add(child["id"])
                    chain.append(child)
        return chain


def _by_standing(session: Session) -> tuple[bool, bool, int, int]:
    return (
        session["end_reason"] == "compression",
        session["ended_at"] is None,
        session["last_active_at"],
        session["started_at"],
    )


def _is_resumable(child: Session) -> bool:
    """Whether a child may carry its parent's conversation on, however the parent ended."""
    config = child["model_config"]
    return (
        child["source"] != "tool"
        and rows.marker(config, "_delegate_from") is None
        and rows.marker(config, "_branched_from") is None
    )
