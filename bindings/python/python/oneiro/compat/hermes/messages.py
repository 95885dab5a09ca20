"""Messages: appended, read, replaced, and set aside by a compaction."""

from __future__ import annotations

import time
from typing import Any

from oneiro.errors import InvalidError, NotFoundError

from . import rows
from .base import CLOCK, Base
from .errors import IntegrityError

API_CONTENT_SCOPE = "hermes/api_content/"

# Tool calls that are given and empty: stored as none, and yet the seed counts them as one.
_NO_CALLS = ""


class Messages(Base):
    """Messages of a session."""

    def append_message(
        self,
        session_id: str,
        role: str,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        token_count: int | None = None,
        finish_reason: str | None = None,
        reasoning: str | None = None,
        reasoning_content: str | None = None,
        reasoning_details: Any = None,
        codex_reasoning_items: Any = None,
        codex_message_items: Any = None,
        platform_message_id: str | None = None,
        observed: bool = False,
        effect_disposition: str | None = None,
        timestamp: Any = None,
        api_content: str | None = None,
    ) -> int:
        """Appends a message to a session and returns its id."""
        if role.__class__ is not str:
            role = rows.stored_role(role)
        if content.__class__ is not str or content[:1] == "\x00":
            content = rows.stored_content(content, self.generation)
        message: dict[str, Any] = {"role": role, "content": content}
        if tool_calls:
            message["tool_calls"] = tool_calls
        elif tool_calls is not None and self.generation == "seed":
            message["tool_calls"] = _NO_CALLS
        if tool_call_id is not None:
            message["tool_call_id"] = rows.stored_text("tool_call_id", tool_call_id)
        if tool_name is not None:
            name = "name" if role == "tool" else "tool_name"
            message[name] = rows.stored_text("tool_name", tool_name)
        if token_count is not None:
            rows.put_tokens(message, token_count)
        if finish_reason is not None:
            message["finish_reason"] = rows.stored_text("finish_reason", finish_reason)
        if reasoning is not None:
            message["reasoning"] = rows.stored_text("reasoning", reasoning)
        if reasoning_content is not None:
            message["reasoning_content"] = rows.stored_text("reasoning_content", reasoning_content)
        if reasoning_details:
            message["reasoning_details"] = reasoning_details
        if codex_reasoning_items:
            message["codex_reasoning_items"] = codex_reasoning_items
        if codex_message_items:
            message["codex_message_items"] = codex_message_items
        if platform_message_id is not None:
            message["platform_message_id"] = rows.stored_text(
                "platform_message_id", platform_message_id
            )
        if observed:
            message["observed"] = True
        if effect_disposition is not None:
            message["effect_disposition"] = rows.stored_text(
                "effect_disposition", effect_disposition
            )
        if api_content.__class__ is str:
            message["api_content"] = api_content
        if timestamp is None:
            now = time.time()
            if time.time is CLOCK:
                message["at"] = round(now * 1e6)
            else:
                rows.put_time(message, now, now)
        else:
            rows.put_time(message, timestamp, time.time())
        try:
            return self._native.append_one(session_id, message)  # type: ignore[no-any-return]
        except InvalidError as error:
            # What a tool answered is kept, though JSON has no word for some of it.
            plain = rows.storable(message)
            if plain == message or self._find(session_id) is None:
                raise _no_session(session_id, error) from error
            return self._native.append_one(session_id, plain)  # type: ignore[no-any-return]
        except NotFoundError as error:
            raise _no_session(session_id, error) from error

    def get_messages(
        self,
        session_id: str,
        include_inactive: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[dict[str, Any]]:
        """The messages of a session in the order they were appended. The first hermes went by the
        clock, and one that stepped back tore calls from their results."""
        if self._is_seed:
            return [rows.seed_message_row(message) for message in self._all(session_id, False)]
        offset = max(offset or 0, 0)
        if limit is None or limit < 0:
            messages = self._all(session_id, include_inactive)[offset:]
        elif include_inactive:
            messages = self._all(session_id, True)[offset : offset + limit]
        else:
            messages = self._page(session_id, offset + limit)[offset:]
        return self._rows(session_id, messages)

    def _page(self, session_id: str, limit: int) -> list[dict[str, Any]]:
        """The first live messages of a session."""
        found: list[dict[str, Any]] = []
        after = 0
        while len(found) < limit:
            request = {"after": after, "limit": min(limit - len(found), 1000)}
            try:
                page = self._native.messages(session_id, request)
            except (NotFoundError, InvalidError, TypeError):
                return found
            found.extend(page["items"])
            if page["next_after"] is None:
                break
            after = page["next_after"]
        return found

    def _rows(self, session_id: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of messages, with the api_content that was given after they were appended."""
        if not messages:
            return []
        found = [rows.message_row(message) for message in messages]
        for key, value, _ in self._native.slots(API_CONTENT_SCOPE + session_id):
            for row in found:
                if row["id"] == int(key):
                    row["api_content"] = value.get("api_content")
        return found

    def replace_messages(
        self, session_id: str, messages: list[dict[str, Any]], active_only: bool = False
    ) -> None:
        """Makes these the messages of a session, in one transaction. What was there is shown
        nowhere any more; with `active_only` what was compacted stays as it is."""
        new = rows.new_messages(messages, self._now())
        before = self._find(session_id)
        if before is None:
            if new:
                raise _no_session(session_id, None)
            return
        put = self._native.set_history if active_only else self._native.replace_history
        try:
            shown = put(session_id, new)
        except NotFoundError as error:
            raise _no_session(session_id, error) from error
        self._hide_replaced(before, shown, all_new=not active_only)

    def _hide_replaced(
        self, before: dict[str, Any], shown: list[dict[str, Any]], *, all_new: bool
    ) -> None:
        """Notes up to which id the messages of a session were replaced: hermes deletes those."""
        session_id, metadata = before["id"], before["metadata"]
        if shown and all_new:
            until = shown[0]["id"] - 1
        else:
            taken_back = self._native.all_messages(session_id, True)
            ids = [one["id"] for one in taken_back if one.get("visibility") == "rewound"]
            until = max(ids, default=0)
        after = self._find(session_id)
        # The engine counts a replaced history as a rewind; hermes does not.
        rewinds = after["rewind_count"] - before["rewind_count"] if after else 0
        if rewinds <= 0:
            return
        rewinds += metadata.get(rows.REPLACED_REWINDS, 0)
        changed = {rows.REPLACED_UNTIL: until, rows.REPLACED_REWINDS: rewinds}
        self._change(session_id, metadata=changed)

    def clear_messages(self, session_id: str) -> None:
        """Takes all messages of a session away."""
        self.replace_messages(session_id, [])

    def archive_and_compact(self, session_id: str, compacted_messages: list[dict[str, Any]]) -> int:
        """Sets aside all that a session shows, still searchable, and appends what stands for it,
        in one transaction; returns how many messages it shows now."""
        new = rows.new_messages(compacted_messages, self._now())
        if not new and self._find(session_id) is None:
            return 0
        try:
            self._native.compact_into(session_id, new)
        except (NotFoundError, InvalidError) as error:
            raise _no_session(session_id, error) from error
        return len(new)

    def has_archived_messages(self, session_id: str) -> bool:
        """Whether a session has messages that it does not show."""
        session = self._find(session_id)
        if session is None:
            return False
        counts = self._native.counts(session_id)
        if not counts["compacted"] and not counts["rewound"]:
            return False
        if not rows.has_replaced(session["metadata"]):
            return True
        return any(message.get("visibility") for message in self._all(session_id, True))

    def has_platform_message_id(self, session_id: str, platform_message_id: str) -> bool:
        """Whether a message of a session has this id of its platform."""
        if not platform_message_id:
            return False
        wanted = str(platform_message_id)
        session = self._find(session_id)
        if session is None:
            return False
        if self._native.find_message(session_id, "platform_message_id", wanted) is not None:
            return True
        # Those taken back count as well.
        return session["rewind_count"] > 0 and any(
            message.get("platform_message_id") == wanted for message in self._all(session_id, True)
        )

    def set_latest_user_api_content(
        self, session_id: str, content: Any, api_content: str | None
    ) -> int:
        """Gives the newest user message, if it has this content, what was sent for it."""
        if api_content is not None:
            api_content = rows.stored_text("api_content", api_content)
        try:
            newest = self._native.rewind_points(session_id, 1)
        except (NotFoundError, InvalidError, TypeError):
            return 0
        wanted = rows.scrubbed(rows.stored_content(content, self.generation))
        if not newest or newest[0].get("content") != wanted:
            return 0
        self._native.set_slots(
            API_CONTENT_SCOPE + session_id,
            {str(newest[0]["id"]): {"api_content": api_content}},
            session=session_id,
        )
        return 1

    def message_count(self, session_id: str | None = None) -> int:
        """How many messages there are, in one session or in all; those taken back count."""
        if session_id:
            session = self._find(session_id)
            if session is None:
                return 0
            if rows.has_replaced(session["metadata"]):
                return len(self._all(session_id, True))
            counts = self._native.counts(session_id)
            return int(counts["live"] + counts["compacted"] + counts["rewound"])
        return self._count_all()

    def _count_all(self) -> int:
        stats = self._native.stats()
        total = int(stats["messages"] + stats["rewound"])
        cursor = None
        while True:
            page = self._native.list_sessions(
                {
                    "all": True,
                    "archived": "any",
                    "has_metadata": [rows.REPLACED_UNTIL],
                    "limit": 1000,
                    "cursor": cursor,
                }
            )
            for session in page["items"]:
                counts = self._native.counts(session["id"])
                there = counts["live"] + counts["compacted"] + counts["rewound"]
                total -= there - len(self._all(session["id"], True))
            cursor = page["next"]
            if cursor is None:
                return total


def _no_session(session_id: Any, error: Exception | None) -> Exception:
    """The error of a message for a session that is not there; any other one stays."""
    if isinstance(error, InvalidError) and error.field != "session id":
        return error
    return IntegrityError(
        f"FOREIGN KEY constraint failed: there is no session {session_id!r}",
        field="session_id",
        remedy="create it first, with create_session",
    )
