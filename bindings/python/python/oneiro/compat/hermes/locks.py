"""The leases and memories of compression: locks with an end, cooldowns after failures, streaks.

Owns the scope of slots for locks and the fields of a session for the rest.
"""

from __future__ import annotations

from oneiro.errors import Error

from .rows import Row
from .walk import Walk

LOCKS = "hermes/compression_locks"

_TRIES = 100


class Locks(Walk):
    """Compression locks, failure cooldowns, fallback streaks."""

    def try_acquire_compression_lock(
        self, session_id: str, holder: str, ttl_seconds: float = 300.0
    ) -> bool:
        """Takes the lock of a session: when it is free, has run out, or is one's own already.
        A store that cannot be used is a lock that was not taken."""
        if not session_id or holder is None:
            return False
        try:
            for _ in range(_TRIES):
                now = self._now()
                before = self._native.slot(LOCKS, session_id)
                if before is not None and before["expires_at"] >= now:
                    return bool(before["holder"] == holder)
                lock = {"holder": holder, "acquired_at": now, "expires_at": now + ttl_seconds}
                # The lock of a session goes with it; one of an id that is no session stays.
                owner = session_id if self._find(session_id) is not None else None
                if self._native.swap_slot(LOCKS, session_id, before, lock, owner):
                    return True
        except Error:
            pass
        return False

    def refresh_compression_lock(
        self, session_id: str, holder: str, ttl_seconds: float = 300.0
    ) -> bool:
        """Makes one's own lock last longer; False when it is another's, or has run out."""
        if not session_id:
            return False
        now = self._now()
        try:
            before = self._native.slot(LOCKS, session_id)
            if before is None or before["holder"] != holder or before["expires_at"] < now:
                return False
            after = {**before, "expires_at": now + ttl_seconds}
            owner = session_id if self._find(session_id) is not None else None
            return bool(self._native.swap_slot(LOCKS, session_id, before, after, owner))
        except Error:
            return False

    def release_compression_lock(self, session_id: str, holder: str) -> None:
        """Gives one's own lock back; another's stays."""
        if not session_id:
            return
        before = self._native.slot(LOCKS, session_id)
        if before is not None and before["holder"] == holder:
            self._native.swap_slot(LOCKS, session_id, before, None)

    def get_compression_lock_holder(self, session_id: str) -> str | None:
        """Who holds the lock of a session now."""
        lock = self._native.slot(LOCKS, session_id) if session_id else None
        if lock is None or lock["expires_at"] <= self._now():
            return None
        holder: str = lock["holder"]
        return holder

    def record_compression_failure_cooldown(
        self, session_id: str, cooldown_until: float, error: str | None = None
    ) -> None:
        """Remembers that compression failed and until when it is not to be tried again. A time
        that is none is passed over: hosts call this while they deal with another failure."""
        try:
            until = float(cooldown_until)
        except (TypeError, ValueError):
            return
        self._change(
            session_id,
            metadata={
                "compression_failure_cooldown_until": until,
                "compression_failure_error": error,
            },
        )

    def get_compression_failure_cooldown(self, session_id: str) -> Row | None:
        """The cooldown of a session while it lasts."""
        session = self._find(session_id)
        if session is None:
            return None
        until = session["metadata"].get("compression_failure_cooldown_until")
        now = self._now()
        if until is None or until <= now:
            return None
        return {
            "cooldown_until": until,
            "remaining_seconds": until - now,
            "error": session["metadata"].get("compression_failure_error"),
        }

    def clear_compression_failure_cooldown(self, session_id: str) -> None:
        """Forgets the cooldown of a session."""
        self._change(
            session_id,
            metadata={
                "compression_failure_cooldown_until": None,
                "compression_failure_error": None,
            },
        )

    def get_compression_fallback_streak(self, session_id: str) -> int:
        """How often in a row compression fell back to what needs no model."""
        session = self._find(session_id)
        return 0 if session is None else session["metadata"].get("compression_fallback_streak", 0)

    def set_compression_fallback_streak(self, session_id: str, streak: int) -> None:
        """Remembers that."""
        self._change(
            session_id, metadata={"compression_fallback_streak": max(0, int(streak)) or None}
        )
