"""Titles: cleaned, unique, numbered along a lineage."""

from __future__ import annotations

import re
from typing import Any

from oneiro.errors import ConflictError, InvalidError, NotFoundError

from . import rows
from .walk import Walk

# ASCII control characters that are no white space, and characters that make two titles look alike.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc]"
)
_CONTROL = re.compile("[\x80-\x9f]")
_SHY = re.compile("[\xad\u061c\u180e]")
_NUMBER_ONLY = re.compile(r" #\d+")

_MOST_ANCESTORS = 100


class Titles(Walk):
    """Titles of sessions."""

    MAX_TITLE_LENGTH = 100

    @staticmethod
    def sanitize_title(title: str | None) -> str | None:
        """The title cleaned, or None when nothing is left; a ValueError when it is too long."""
        if not title:
            return None
        cleaned = " ".join(_UNSEEN.sub("", rows.scrubbed(title)).split())
        if not cleaned:
            return None
        if len(cleaned) > Titles.MAX_TITLE_LENGTH:
            raise ValueError(
                f"Title too long ({len(cleaned)} chars, max {Titles.MAX_TITLE_LENGTH})"
            )
        return cleaned

    def set_session_title(self, session_id: str, title: str | None) -> bool:
        """Gives a session a title, or with nothing takes it away; False when it is not there. A
        ValueError when the title is another session's, unless this one carries that one on."""
        return self._set_title(session_id, title, only_if_unset=False)

    def set_auto_title_if_empty(self, session_id: str, title: str | None) -> bool:
        """Gives a session a title if it has none; True when it did."""
        return self._set_title(session_id, title, only_if_unset=True)

    def _set_title(self, session_id: str, title: str | None, *, only_if_unset: bool) -> bool:
        cleaned = self.sanitize_title(title)
        if cleaned:
            # The engine allows still fewer of the characters that cannot be seen.
            seen = _SHY.sub("", _CONTROL.sub(" ", rows.scrubbed(cleaned)))
            cleaned = " ".join(seen.split()) or None
        if only_if_unset and not self._is_untitled(session_id):
            return False
        holder = self._holder(cleaned) if cleaned else None
        if holder is not None and holder != session_id:
            if not self._carries_on(session_id, holder):
                raise ValueError(f"Title {cleaned!r} is already in use by session {holder}")
            self._change(holder, title=None)
        patch = {"title": cleaned, "title_if_unset": only_if_unset}
        try:
            changed = self._change(session_id, **patch)
        except ConflictError as error:
            # Taken since it was looked up.
            raise ValueError(
                f"Title {cleaned!r} is already in use by session {self._holder(cleaned)}"
            ) from error
        # Another process may have been first.
        return changed is not None and changed["title"] == cleaned

    def _is_untitled(self, session_id: str) -> bool:
        session = self._find(session_id)
        return session is not None and session["title"] is None

    def _holder(self, title: str | None) -> str | None:
        """The id of the session that has exactly this title."""
        if not isinstance(title, str) or not title:
            return None
        try:
            found: str | None = self._native.find_title(title)
            return found
        except (InvalidError, UnicodeEncodeError):
            return None

    def _carries_on(self, session_id: str, ancestor_id: str) -> bool:
        """Whether every session from the ancestor down to this one's parent was compressed."""
        session = self._find(session_id)
        for _ in range(_MOST_ANCESTORS):
            if session is None or session["parent_id"] is None:
                return False
            session = self._find(session["parent_id"])
            if session is None or session["end_reason"] != "compression":
                return False
            if session["id"] == ancestor_id:
                return True
        return False

    def get_session_title(self, session_id: str) -> str | None:
        """The title of a session, or None."""
        session = self._find(session_id)
        return None if session is None else session["title"]

    def get_session_by_title(self, title: str) -> dict[str, Any] | None:
        """The row of the session that has exactly this title, or None."""
        holder = self._holder(title)
        session = None if holder is None else self._find(holder)
        return None if session is None else self._row(session)

    def resolve_session_by_title(self, title: str) -> str | None:
        """The id that a title means: of `title` and `title #N` the most recently started numbered
        one, else the one that has exactly this title."""
        if not isinstance(title, str) or not title:
            return None
        try:
            newest: str | None = self._native.resolve_title(title)
        except (InvalidError, NotFoundError, UnicodeEncodeError):
            return None
        if newest is None or newest != self._holder(title):
            return newest
        # The plain title began last; a numbered one is what carries it on all the same.
        numbered = re.compile(rf"{re.escape(title)} #\d+")
        walked = self._walk({"matching": f"{title} #", "order": "started"})
        found = (one["id"] for one in walked if numbered.fullmatch(one["title"] or ""))
        return next(found, newest)

    def get_next_title_in_lineage(self, base_title: str) -> str:
        """The title that would carry this one on: its base with the next free number."""
        if not base_title.strip() or _NUMBER_ONLY.fullmatch(base_title):
            return ""
        following: str = self._native.next_title(base_title)
        return following
