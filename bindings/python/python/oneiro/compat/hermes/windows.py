"""Windows into a session: a message with its neighbours, and how the session began and ended.

Owns reading a part of a session without the rest of it: sessions grow to thousands of messages, and
a search shows a window of each it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from oneiro.errors import InvalidError, NotFoundError

from . import rows
from .messages import Messages

Message = dict[str, Any]

_CHUNK = 32


class Windows(Messages):
    """Windows into sessions."""

    def get_messages_around(
        self, session_id: str, around_message_id: int, window: int = 5
    ) -> dict[str, Any]:
        """A message with up to `window` messages of its session on either side, whatever became
        of them, and how many of those there are."""
        part = self._part(session_id, around_message_id)
        if part is None:
            return {"window": [], "messages_before": 0, "messages_after": 0}
        before, after = part.before(max(window, 0)), part.after(max(window, 0))
        return {
            "window": self._rows(session_id, [*before, part.anchor, *after]),
            "messages_before": len(before),
            "messages_after": len(after),
        }

    def get_anchored_view(
        self,
        session_id: str,
        around_message_id: int,
        window: int = 5,
        bookend: int = 3,
        keep_roles: Sequence[str] | None = ("user", "assistant"),
    ) -> dict[str, Any]:
        """The window around a message, and how its session began and ended outside of it."""
        part = self._part(session_id, around_message_id)
        if part is None:
            return {
                "window": [],
                "messages_before": 0,
                "messages_after": 0,
                "bookend_start": [],
                "bookend_end": [],
            }

        def kept(message: Message) -> bool:
            return keep_roles is None or message["role"] in keep_roles

        def said(message: Message) -> bool:
            return kept(message) and bool(message.get("content"))

        before, after = part.before(max(window, 0)), part.after(max(window, 0))
        first = before[0]["id"] if before else part.anchor["id"]
        last = after[-1]["id"] if after else part.anchor["id"]
        count = max(bookend, 0)
        shown = [*filter(kept, before), part.anchor, *filter(kept, after)]
        return {
            "window": self._rows(session_id, shown),
            "messages_before": len(before),
            "messages_after": len(after),
            "bookend_start": self._rows(session_id, part.start(first, count, said)),
            "bookend_end": self._rows(session_id, part.end(last, count, said)),
        }

    def _part(self, session_id: Any, message_id: Any) -> _Part | None:
        """The session around a message of it; None when it has no such message to show."""
        session = self._find(session_id)
        if session is None:
            return None
        try:
            anchor = self._native.message(int(message_id))
        except (NotFoundError, InvalidError, TypeError, ValueError, OverflowError):
            return None
        if anchor["session_id"] != session_id or not rows.visible([anchor], session["metadata"]):
            return None
        return _Part(self, session, anchor)


class _Part:
    """A session, read outwards from one of its messages. Rows that were replaced are not there."""

    def __init__(self, db: Windows, session: Message, anchor: Message) -> None:
        self._native = db._native
        self._id = session["id"]
        self._metadata = session["metadata"]
        self.anchor = anchor

    def after(self, count: int) -> list[Message]:
        """The next messages after the anchor."""
        found: list[Message] = []
        if count:
            for message in self._from(self.anchor["id"], min(count, 1000)):
                found.append(message)
                if len(found) == count:
                    break
        return found

    def before(self, count: int) -> list[Message]:
        """The last messages before the anchor, in their order."""
        return self._before(self.anchor["id"], count)

    def start(self, until: int, count: int, wanted: Callable[[Message], bool]) -> list[Message]:
        """The first wanted messages of the session that come before message `until`."""
        found: list[Message] = []
        if count:
            for message in self._from(0, _CHUNK):
                if message["id"] >= until or len(found) == count:
                    break
                if wanted(message):
                    found.append(message)
        return found

    def end(self, since: int, count: int, wanted: Callable[[Message], bool]) -> list[Message]:
        """The last wanted messages of the session that come after message `since`."""
        if not count:
            return []
        points = self._native.rewind_points(self._id, 1)
        start = max(since, points[0]["id"] - 1 if points else since)
        found = [message for message in self._from(start, 1000) if wanted(message)]
        while len(found) < count and start > since:
            chunk = [one for one in self._before(start + 1, _CHUNK) if one["id"] > since]
            if not chunk:
                break
            found = [*filter(wanted, chunk), *found]
            start = chunk[0]["id"] - 1
        return found[-count:]

    def _from(self, after: int, page: int) -> Iterator[Message]:
        """Every message after this id, in order, a page at a time."""
        while True:
            request = {"after": after, "hidden": True, "limit": page}
            answer = self._native.messages(self._id, request)
            yield from rows.visible(answer["items"], self._metadata)
            if answer["next_after"] is None:
                return
            after = answer["next_after"]

    def _before(self, until: int, count: int) -> list[Message]:
        """The last `count` messages before this id. Ids are those of the whole space: how far
        back to begin is tried, further each time."""
        reach = count * 4
        while count:
            start = max(until - 1 - reach, 0)
            found: list[Message] = []
            for message in self._from(start, min(reach, 1000)):
                if message["id"] >= until:
                    break
                found.append(message)
            if len(found) >= count or start == 0:
                return found[-count:]
            reach *= 8
        return []
