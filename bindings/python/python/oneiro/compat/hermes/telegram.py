"""Topics of private Telegram chats, each bound to one session.

Owns the two scopes of slots that keep them. Nothing is stored until a chat opts in.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from .errors import IntegrityError
from .rows import Row
from .walk import Walk

MODE = "hermes/telegram/mode"
BINDINGS = "hermes/telegram/bindings"

# Attempts of a change that others disturb.
_TRIES = 100


class Telegram(Walk):
    """Topic mode and topic bindings."""

    def apply_telegram_topic_migration(self) -> None:
        """Does nothing: there are no tables to make."""

    def enable_telegram_topic_mode(
        self,
        *,
        chat_id: str,
        user_id: str,
        has_topics_enabled: bool | None = None,
        allows_users_to_create_topics: bool | None = None,
    ) -> None:
        """Turns topic mode on for a private chat and its user."""
        now = self._now()
        key = str(chat_id)
        for _ in range(_TRIES):
            before = self._native.slot(MODE, key)
            mode = {
                "intro_message_id": None,
                "pinned_message_id": None,
                "activated_at": now,
                **(before or {}),
                "chat_id": key,
                "user_id": str(user_id),
                "enabled": 1,
                "updated_at": now,
                "has_topics_enabled": _flag(has_topics_enabled),
                "allows_users_to_create_topics": _flag(allows_users_to_create_topics),
                "capability_checked_at": now,
            }
            if self._native.swap_slot(MODE, key, before, mode):
                return

    def disable_telegram_topic_mode(self, *, chat_id: str, clear_bindings: bool = True) -> None:
        """Turns topic mode off for a chat; its bindings go, too, unless they are to be kept."""
        self._turn_off(str(chat_id))
        if clear_bindings:
            gone = {_key(one["chat_id"], one["thread_id"]): None for one in self._bound(chat_id)}
            if gone:
                self._native.set_slots(BINDINGS, gone)

    def is_telegram_topic_mode_enabled(self, *, chat_id: str, user_id: str) -> bool:
        """Whether topic mode is on for this chat and this user."""
        mode = self._native.slot(MODE, str(chat_id))
        return bool(mode and mode.get("enabled") and mode.get("user_id") == str(user_id))

    def get_telegram_topic_binding(self, *, chat_id: str, thread_id: str) -> Row | None:
        """What a topic is bound to."""
        found: Row | None = self._native.slot(BINDINGS, _key(chat_id, thread_id))
        return found

    def list_telegram_topic_bindings_for_chat(self, *, chat_id: str) -> list[Row]:
        """The bindings of a chat, newest first."""
        found = self._bound(chat_id)
        found.sort(key=lambda one: one["updated_at"], reverse=True)
        return found

    def get_telegram_topic_binding_by_session(self, *, session_id: str) -> Row | None:
        """The topic that a session is bound to."""
        wanted = str(session_id)
        return next((one for one in self._bindings() if one["session_id"] == wanted), None)

    def delete_telegram_topic_binding(self, *, chat_id: str, thread_id: str) -> int:
        """Takes a binding away and answers how many went. With a chat's last binding its topic
        mode is turned off."""
        key = _key(chat_id, thread_id)
        for _ in range(_TRIES):
            before = self._native.slot(BINDINGS, key)
            if before is None:
                return 0
            if self._native.swap_slot(BINDINGS, key, before, None):
                break
        if not self._bound(chat_id):
            self._turn_off(str(chat_id))
        return 1

    def bind_telegram_topic(
        self,
        *,
        chat_id: str,
        thread_id: str,
        user_id: str,
        session_key: str,
        session_id: str,
        managed_mode: str = "auto",
    ) -> None:
        """Binds a topic to a session; ValueError when the session is bound to another one."""
        session_id = str(session_id)
        if self._find(session_id) is None:
            raise IntegrityError(
                f"FOREIGN KEY constraint failed: there is no session {session_id!r}",
                field="session_id",
                remedy="create it first, with create_session",
            )
        now = self._now()
        key = _key(chat_id, thread_id)
        for _ in range(_TRIES):
            there = self.get_telegram_topic_binding_by_session(session_id=session_id)
            if there is not None and _key(there["chat_id"], there["thread_id"]) != key:
                raise ValueError("session is already linked to another Telegram topic")
            before = self._native.slot(BINDINGS, key)
            binding = {
                "chat_id": str(chat_id),
                "thread_id": str(thread_id),
                "user_id": str(user_id),
                "session_key": str(session_key),
                "session_id": session_id,
                "managed_mode": managed_mode,
                "linked_at": before["linked_at"] if before else now,
                "updated_at": now,
            }
            # A slot of a session goes when the session goes.
            if self._native.swap_slot(BINDINGS, key, before, binding, session_id):
                return

    def is_telegram_session_linked_to_topic(self, *, session_id: str) -> bool:
        """Whether a session is bound to any topic."""
        return self.get_telegram_topic_binding_by_session(session_id=session_id) is not None

    def list_unlinked_telegram_sessions_for_user(
        self, *, chat_id: str, user_id: str, limit: int = 10
    ) -> list[Row]:
        """A user's Telegram sessions that no topic has, most recently active first."""
        bound = {one["session_id"] for one in self._bindings()}
        request = {"source": "telegram", "user_id": str(user_id), "order": "active"}
        free = (one for one in self._walk(request) if one["id"] not in bound)
        return [
            {
                **self._row(session),
                "last_active": session["last_active_at"] / 1e6,
                "preview": session["preview"] or "",
            }
            for session in self._wholes(islice(free, max(limit, 0)))
        ]

    def _bindings(self) -> list[Row]:
        return [value for _, value, _ in self._native.slots(BINDINGS)]

    def _bound(self, chat_id: Any) -> list[Row]:
        return [one for one in self._bindings() if one["chat_id"] == str(chat_id)]

    def _turn_off(self, chat_id: str) -> None:
        for _ in range(_TRIES):
            before = self._native.slot(MODE, chat_id)
            if not before or not before.get("enabled"):
                return
            after = {**before, "enabled": 0, "updated_at": self._now()}
            if self._native.swap_slot(MODE, chat_id, before, after):
                return


def _key(chat_id: Any, thread_id: Any) -> str:
    return f"{chat_id}/{thread_id}"


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)
