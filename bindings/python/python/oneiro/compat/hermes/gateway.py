"""What a messaging gateway keeps: routing entries, meta values, and whose session is whose.

Owns the scopes of slots for routing and meta, and how a peer's session is found.
"""

from __future__ import annotations

from typing import Any

from .rows import Row
from .walk import Session, Walk

META = "hermes/meta"
ROUTING = "hermes/routing/"

# Ends that were accidents: such a session may be taken up again.
RECOVERABLE_END_REASONS = frozenset({"agent_close", "ws_orphan_reap"})


class Gateway(Walk):
    """Routing entries, meta values, sessions by peer."""

    def get_meta(self, key: str) -> str | None:
        """A meta value."""
        value = self._native.slot(META, key) if key else None
        return value if value is None or isinstance(value, str) else str(value)

    def set_meta(self, key: str, value: str) -> None:
        """Stores a meta value; None takes it away."""
        if key:
            self._native.set_slots(META, {key: None if value is None else str(value)})

    def save_gateway_routing_entry(
        self, session_key: str, entry_json: str, *, scope: str = ""
    ) -> None:
        """Stores one routing entry of a scope."""
        if session_key and entry_json:
            self._native.set_slots(ROUTING + scope, {session_key: self._entry(entry_json)})

    def replace_gateway_routing_entries(self, entries: dict[str, str], *, scope: str = "") -> None:
        """Makes these all the routing entries of a scope, in one transaction."""
        values = {key: self._entry(entry) for key, entry in entries.items() if key and entry}
        self._native.set_slots(ROUTING + scope, values, True)

    def load_gateway_routing_entries(self, *, scope: str = "") -> dict[str, str]:
        """The routing entries of a scope by session key."""
        found = self._native.slots(ROUTING + scope)
        return {key: value["entry_json"] for key, value, _ in found}

    def delete_gateway_routing_entries(self, session_keys: list[str], *, scope: str = "") -> None:
        """Takes routing entries of a scope away."""
        gone = dict.fromkeys(key for key in session_keys or () if key)
        if gone:
            self._native.set_slots(ROUTING + scope, gone)

    def list_gateway_sessions(
        self, *, platform: str | None = None, active_only: bool = True
    ) -> list[Row]:
        """The newest session of each routing key, most recently active first; with `active_only`
        those of them that have not ended."""
        newest: dict[str, Session] = {}
        for session in self._of_peers(platform):
            newest.setdefault(session["metadata"]["session_key"], session)
        shown = [one for one in newest.values() if not active_only or one["ended_at"] is None]
        shown.sort(key=lambda one: one["last_active_at"], reverse=True)
        return [
            {**self._row(session), "last_active": session["last_active_at"] / 1e6}
            for session in self._wholes(shown)
        ]

    def find_session_by_origin(
        self,
        *,
        platform: str,
        chat_id: str,
        thread_id: str | None = None,
        user_id: str | None = None,
    ) -> str | None:
        """The id of the most recent live session of a chat. A user's own session is preferred;
        where several people share a chat and none is the one asked for, there is no answer."""
        if not platform or not chat_id:
            return None
        found = self._of_peers(platform, ended=False, metadata_is={"chat_id": str(chat_id)})
        if thread_id is not None:
            # The empty thread is the chat itself.
            wanted = str(thread_id)
            found = [one for one in found if (one["metadata"].get("thread_id") or "") == wanted]
        if user_id:
            own = [session for session in found if session["user_id"] == str(user_id)]
            if not own and len(found) > 1:
                return None
            found = own or found
        elif len({session["user_id"] for session in found if session["user_id"]}) > 1:
            return None
        newest: str | None = found[0]["id"] if found else None
        return newest

    def find_latest_gateway_session_for_peer(
        self,
        *,
        source: str,
        user_id: str | None = None,
        session_key: str | None = None,
        chat_id: str | None = None,
        chat_type: str | None = None,
        thread_id: str | None = None,
    ) -> Row | None:
        """The latest session of a routing key that may be taken up again: with messages, and live
        or ended by accident. Without one of the key, the latest of exactly this peer."""
        if not source or not session_key:
            return None
        asked = {"source": source, "order": "started", "with_prompts": True}
        of_key = self._walk({**asked, "metadata_is": {"session_key": session_key}}, 4)
        found = next(filter(_is_recoverable, of_key), None)
        if found is None and chat_id:
            peer = {"chat_id": chat_id, "chat_type": chat_type, "thread_id": thread_id}
            of_peer = self._walk({**asked, "metadata_is": peer}, 4)
            recoverable = filter(_is_recoverable, of_peer)
            found = next((one for one in recoverable if one["user_id"] == user_id), None)
        return None if found is None else self._row(found)

    def _of_peers(self, platform: str | None, **also: Any) -> list[Session]:
        """Sessions that have a routing key, newest first."""
        request: dict[str, Any] = {"order": "started", "has_metadata": ["session_key"], **also}
        if platform:
            request["source"] = platform
        return list(self._walk(request, 1_000))

    def _entry(self, entry_json: str) -> Row:
        return {"entry_json": entry_json, "updated_at": self._now()}


def _is_recoverable(session: Session) -> bool:
    if not session["message_count"] and not session["rewind_count"]:
        return False
    return session["ended_at"] is None or session["end_reason"] in RECOVERABLE_END_REASONS
