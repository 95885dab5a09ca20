"""What is removed and what is archived: delete, prune, archive, empty sessions, orphans.

Owns which sessions a retention call takes and what happens to their children. A call that fails
leaves every session as it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oneiro.errors import NotFoundError

from . import rows
from .lineage import HOPS
from .listing import Listing, under
from .rows import Row
from .walk import Session, started_at

_DAY = 86_400.0
# A session of the terminal interface that stayed empty for so long was opened and left.
_GHOST_AGE = _DAY
# A continuation that nobody carried on for so long will not be.
_ORPHAN_AGE = 7 * _DAY

_CANDIDATE = (
    "id",
    "source",
    "title",
    "model",
    "started_at",
    "ended_at",
    "message_count",
    "archived",
)


class Retention(Listing):
    """Deleting, pruning and archiving."""

    def delete_session(self, session_id: str, sessions_dir: Path | None = None) -> bool:
        """Deletes a session, its messages and the delegates under it; other children become
        roots. False when there is no such session."""
        return self.delete_sessions([session_id], sessions_dir) > 0

    def delete_sessions(self, session_ids: list[str], sessions_dir: Path | None = None) -> int:
        """Deletes several sessions in one transaction; ids that are not there are skipped.
        Returns how many of the named were deleted."""
        named = [one for one in dict.fromkeys(session_ids or ()) if self._find(one) is not None]
        if not named:
            return 0
        gone = self._delete([*named, *self._delegates(named)], sessions_dir)
        return sum(1 for one in named if one in gone)

    def delete_session_if_empty(self, session_id: str, sessions_dir: Path | None = None) -> bool:
        """Deletes a session that has no message, no title and no child."""
        session = self._find(session_id)
        if session is None or session["title"] or session["message_count"]:
            return False
        if self._all(session_id, True) or self._native.session_children(session_id):
            return False
        return session_id in self._delete([session_id], sessions_dir, empty=True)

    def count_empty_sessions(self) -> int:
        """How many sessions have ended without a message and are not archived."""
        return len(self._empty())

    def delete_empty_sessions(self, sessions_dir: Path | None = None) -> int:
        """Deletes what count_empty_sessions counts; children become roots."""
        return len(self._delete(self._empty(), sessions_dir, cascade=False, ended=True))

    def prune_empty_ghost_sessions(self, sessions_dir: Path | None = None) -> int:
        """Deletes sessions of the terminal interface that ended, are a day old, and have neither
        message nor title."""
        before = self._now() - _GHOST_AGE
        ghosts = [
            session["id"]
            for session in self._walk({"source": "tui", "ended": True, "order": "started"}, 1_000)
            if _is_empty(session) and not session["title"] and started_at(session) < before
        ]
        return len(self._delete(ghosts, sessions_dir, cascade=False, ended=True))

    def finalize_orphaned_compression_sessions(self) -> int:
        """Ends continuations that were begun a week ago, have messages, and were never used: no
        call of a model, no end."""
        now = self._now()
        count = 0
        for session in self._walk({"ended": False, "order": "started"}, 1_000):
            if session["parent_id"] is None or session["api_call_count"]:
                continue
            if not session["message_count"]:
                continue
            if started_at(session) >= now - _ORPHAN_AGE:
                continue
            parent = self._find(session["parent_id"])
            if parent is None or parent["end_reason"] != "compression":
                continue
            ending = {"reason": "orphaned_compression", "at": rows.micros(now)}
            try:
                self._native.end_session(session["id"], ending)
            except NotFoundError:
                continue
            count += 1
        return count

    def set_session_archived(self, session_id: str, archived: bool) -> bool:
        """Puts a session away or brings it back, and the whole compression chain with it."""
        archived = bool(archived)
        if self._find(session_id) is None or self._change(session_id, archived=archived) is None:
            return False
        session = self._find(session_id)
        if session is not None:
            for other in self._chain(self._root_of_chain(session)):
                if other["archived"] != archived:
                    self._change(other["id"], archived=archived)
        return True

    def list_prune_candidates(
        self, older_than_days: float | None = None, source: str | None = None, **filters: Any
    ) -> list[Row]:
        """What prune_sessions would delete, oldest first. Nothing is changed."""
        return [
            {name: row[name] for name in _CANDIDATE}
            for row in self._candidates(older_than_days, source, filters)
        ]

    def archive_sessions(
        self, older_than_days: float | None = None, source: str | None = None, **filters: Any
    ) -> int:
        """Archives every ended session that passes the filters, each with its chain; returns how
        many passed. Archived ones are left out unless asked for."""
        filters.setdefault("archived", False)
        found = self._candidates(older_than_days, source, filters)
        for row in found:
            self.set_session_archived(row["id"], True)
        return len(found)

    def prune_sessions(
        self,
        older_than_days: float | None = 90,
        source: str | None = None,
        sessions_dir: Path | None = None,
        **filters: Any,
    ) -> int:
        """Deletes every ended session that passes all filters (see `PruneFilters`); children that
        stay become roots. Returns how many were deleted."""
        found = [row["id"] for row in self._candidates(older_than_days, source, filters)]
        return len(self._delete(found, sessions_dir, cascade=False, ended=True))

    def _candidates(
        self, older_than_days: float | None, source: str | None, filters: dict[str, Any]
    ) -> list[Row]:
        if older_than_days is not None and filters.get("started_before") is None:
            filters = {**filters, "started_before": self._now() - older_than_days * _DAY}
        wanted = PruneFilters(source=source, **filters)
        request: dict[str, Any] = {"ended": True, "archived": wanted.archived, "order": "started"}
        if source:
            request["source"] = source
        # A microsecond to either side: rows keep times that are finer.
        if wanted.started_before is not None:
            request["started_until"] = rows.micros(wanted.started_before) + 1
        if wanted.started_after is not None:
            request["started_since"] = rows.micros(wanted.started_after) - 1
        walked = map(rows.session_row, self._walk(request, 1_000))
        found = [row for row in walked if wanted.takes(row)]
        found.sort(key=lambda row: row["started_at"])
        return found

    def _empty(self) -> list[str]:
        request = {"ended": True, "archived": False, "order": "started"}
        return [one["id"] for one in self._walk(request, 1_000) if _is_empty(one)]

    def _delegates(self, session_ids: Iterable[str]) -> list[str]:
        """The ids of the delegates under sessions, and of those under them."""
        found: list[str] = []
        seen = set(session_ids)
        left = list(seen)
        while left and len(found) < HOPS:
            for child in self._children(left.pop()):
                if child["id"] not in seen and rows.is_delegate(child):
                    seen.add(child["id"])
                    found.append(child["id"])
                    left.append(child["id"])
        return found

    def _delete(
        self,
        session_ids: list[str],
        sessions_dir: Path | None,
        *,
        cascade: bool = True,
        ended: bool = False,
        empty: bool = False,
    ) -> set[str]:
        """Deletes sessions in one transaction and answers which are gone; what may go is looked
        at again inside of it, so that one which came to life meanwhile stays."""
        if not session_ids:
            return set()
        options = {"keep_delegates": not cascade, "only_ended": ended, "only_empty": empty}
        deleted = self._native.delete_sessions(session_ids, options)
        gone = set(deleted["sessions"])
        for session_id in gone:
            self._remove_session_files(sessions_dir, session_id)
        return gone

    @staticmethod
    def _remove_session_files(sessions_dir: Path | None, session_id: str) -> None:
        """Removes the transcript files of a session. What cannot be removed stays; an id that
        would lead out of the folder removes nothing."""
        if sessions_dir is None or Path(session_id).name != session_id:
            return
        folder = Path(sessions_dir)
        paths = [folder / f"{session_id}.json", folder / f"{session_id}.jsonl"]
        prefix = f"request_dump_{session_id}_"
        with suppress(OSError):
            dumps = [path for path in folder.iterdir() if path.name.startswith(prefix)]
            paths += [path for path in dumps if path.suffix == ".json"]
        for path in paths:
            with suppress(OSError):
                path.unlink(missing_ok=True)


@dataclass(frozen=True)
class PruneFilters:
    """What a session must be to be pruned or archived. All that is given holds together; only
    ended sessions are ever looked at. `..._like` is a part of a text in any case; provider is
    compared without case; `archived` None means both."""

    source: str | None = None
    started_before: float | None = None
    started_after: float | None = None
    title_like: str | None = None
    end_reason: str | None = None
    cwd_prefix: str | None = None
    min_messages: int | None = None
    max_messages: int | None = None
    archived: bool | None = None
    model_like: str | None = None
    provider: str | None = None
    user_id: str | None = None
    chat_id: str | None = None
    chat_type: str | None = None
    branch_like: str | None = None
    min_tokens: int | None = None
    max_tokens: int | None = None
    min_cost: float | None = None
    max_cost: float | None = None
    min_tool_calls: int | None = None
    max_tool_calls: int | None = None

    def takes(self, row: Row) -> bool:
        """Whether a row passes."""
        return self._in_time(row) and self._by_text(row) and self._by_number(row)

    def _in_time(self, row: Row) -> bool:
        started = row["started_at"]
        return (
            row["ended_at"] is not None
            and (self.started_before is None or started < self.started_before)
            and (self.started_after is None or started >= self.started_after)
            and (self.archived is None or bool(row["archived"]) == bool(self.archived))
        )

    def _by_text(self, row: Row) -> bool:
        return (
            _same(self.source, row["source"])
            and _same(self.end_reason, row["end_reason"])
            and _same(self.user_id, row["user_id"])
            and _same(self.chat_id, row["chat_id"])
            and _same(self.chat_type, row["chat_type"])
            and _same((self.provider or "").lower(), (row["billing_provider"] or "").lower())
            and _has(self.title_like, row["title"])
            and _has(self.model_like, row["model"])
            and _has(self.branch_like, row["git_branch"])
            and (not self.cwd_prefix or under(row["cwd"], self.cwd_prefix))
        )

    def _by_number(self, row: Row) -> bool:
        actual = row["actual_cost_usd"]
        cost = row["estimated_cost_usd"] if actual is None else actual
        tokens = row["input_tokens"] + row["output_tokens"]
        return (
            _between(self.min_messages, row["message_count"], self.max_messages)
            and _between(self.min_tokens, tokens, self.max_tokens)
            and _between(self.min_cost, cost or 0.0, self.max_cost)
            and _between(self.min_tool_calls, row["tool_call_count"], self.max_tool_calls)
        )


def _is_empty(session: Session) -> bool:
    # What was taken back can be brought back: such a session is not empty.
    return not session["message_count"] and not rows.session_row(session)["rewind_count"]


def _same(wanted: str | None, there: str | None) -> bool:
    return not wanted or wanted == there


def _has(wanted: str | None, there: str | None) -> bool:
    return not wanted or wanted.lower() in (there or "").lower()


def _between(least: float | None, value: float, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)
