"""Search of messages with the answers of hermes: snippets with marks, neighbours as context.

Owns how a search is asked of the engine and how a hit is shown. Only exact hits are answered,
unless relaxed ones are asked for; `fts` says what a query means.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from . import fts, rows
from .rows import Row
from .walk import Session, Walk, started_at

# What the seed generation looks at first.
USUAL_SOURCES = ("cli", "telegram", "discord", "whatsapp", "slack")

_PAGE = 200
_SNIPPET_WORDS = 40
_CONTEXT_CHARS = 200
_WORD = re.compile(r"[^\W_]+")


class _Default(int):
    """A number that nobody gave."""


_LIMIT = _Default(20)


class Search(Walk):
    """Search of messages."""

    def search_messages(
        self,
        query: str,
        source_filter: list[str] | None = None,
        exclude_sources: list[str] | None = None,
        role_filter: list[str] | None = None,
        limit: int = _LIMIT,
        offset: int = 0,
        sort: str | None = None,
        include_inactive: bool = False,
        *,
        relaxed: bool = False,
    ) -> list[Row]:
        """Messages that meet a query, best first.

        Words are all wanted; `"phrases"`, `OR`, `NOT` and `prefix*` work; punctuation is
        harmless. `sort` is None (relevance), "newest" or "oldest". Rewound messages are hidden,
        compacted ones are found. With `relaxed`, what meets part of the query follows what meets
        the whole of it, and every hit says its `tier`.

        In the seed generation the third to fifth arguments are `role_filter`, `limit` and
        `offset`, parentheses group, and without `source_filter` the five usual sources are asked
        first and all others only if those have nothing.
        """
        if self._is_seed:
            if role_filter is not None and isinstance(role_filter, int):
                offset = 0 if isinstance(limit, _Default) else limit
                exclude_sources, role_filter, limit = None, exclude_sources, role_filter
            elif exclude_sources is not None:
                exclude_sources, role_filter = None, exclude_sources
        expr = fts.parse(query, groups=self._is_seed) if isinstance(query, str) else None
        if expr is None or limit == 0 or (source_filter is not None and not source_filter):
            return []
        request: dict[str, Any] = {"neighbours": 1}
        if exclude_sources:
            request["exclude_sources"] = list(exclude_sources)
        if role_filter:
            request["roles"] = list(role_filter)
        sort = sort.strip().lower() if isinstance(sort, str) else None
        if sort in ("newest", "oldest"):
            request["sort"] = sort
        until = sys.maxsize if limit < 0 else max(offset, 0) + limit
        page = slice(max(offset, 0), until)
        for sources in self._sources(source_filter):
            hits = list(self._hits(expr, {**request, **sources}, until, relaxed))
            if hits or include_inactive:
                break
        found = self._found_rows(hits[page], relaxed)
        if include_inactive:
            hidden = list(self._hidden(expr, source_filter, exclude_sources, role_filter))
            found = _merged(self._found_rows(hits, relaxed), hidden, sort)[page]
        return found

    @staticmethod
    def _sanitize_fts5_query(query: str) -> str:
        return fts.sanitised(query)

    @staticmethod
    def _is_cjk_codepoint(cp: int) -> bool:
        return fts.is_cjk(chr(cp))

    @staticmethod
    def _contains_cjk(text: str) -> bool:
        return any(map(fts.is_cjk, text))

    @classmethod
    def _count_cjk(cls, text: str) -> int:
        return sum(map(fts.is_cjk, text))

    def _best_of_lineages(
        self,
        query: str,
        *,
        roles: list[str],
        hidden_sources: Sequence[str],
        demoted_sources: Sequence[str],
        current: str | None,
        sort: str | None,
        limit: int,
        relaxed: bool,
    ) -> list[Row]:
        """The best hit of each lineage but the current one, those of demoted sources last."""
        expr = fts.parse(query, groups=self._is_seed)
        if expr is None:
            return []
        request: dict[str, Any] = {
            "roles": roles,
            "exclude_sources": list(hidden_sources),
            "demote_sources": list(demoted_sources),
            "one_per_lineage": True,
            "neighbours": 0,
        }
        if sort in ("newest", "oldest"):
            request["sort"] = sort
        if self._find(current) is not None:
            request["exclude_lineage"] = current
        return self._found_rows(list(self._hits(expr, request, limit, relaxed)), relaxed)

    def _sources(self, source_filter: list[str] | None) -> Iterator[dict[str, Any]]:
        """Where to look, one place after another until something is found."""
        if source_filter is not None:
            yield {"sources": list(source_filter)}
            return
        if self._is_seed:
            yield {"sources": list(USUAL_SOURCES)}
        yield {}

    def _hits(
        self, expr: fts.Expr, request: dict[str, Any], until: int, relaxed: bool
    ) -> Iterator[dict[str, Any]]:
        """What meets the whole query and, if relaxed, after it what meets part of it."""
        seen: set[int] = set()
        exact = {**request, "query": fts.printed(fts.loosened(expr)), "exact": True}
        for hit in self._pages(exact, until):
            seen.add(hit["id"])
            yield hit
        if not relaxed or len(seen) >= until:
            return
        for hit in self._pages({**request, "query": fts.loose(expr)}, until):
            if hit["id"] not in seen:
                seen.add(hit["id"])
                # To the engine, a question is met without its small words; to hermes it is not.
                yield {**hit, "tier": "relaxed"} if hit["tier"] == "precise" else hit
            if len(seen) >= until:
                return

    def _pages(self, request: dict[str, Any], until: int) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        left = until
        while left > 0:
            asked = {**request, "limit": min(left, _PAGE), "cursor": cursor}
            answer = self._native.search(asked)
            left -= len(answer["hits"])
            yield from answer["hits"]
            cursor = answer.get("next")
            if cursor is None:
                return

    def _found_rows(self, hits: list[dict[str, Any]], relaxed: bool) -> list[Row]:
        if not hits:
            return []
        # Neighbours are read whole: the engine shows the words of their tools as well.
        wanted = {hit["id"] for hit in hits}
        wanted.update(near["id"] for hit in hits for near in hit.get("neighbours") or ())
        found_messages = self._native.find_messages(sorted(wanted))
        messages = {one["id"]: one for one in found_messages if one is not None}
        ids = list(dict.fromkeys(hit["session_id"] for hit in hits))
        sessions = dict(zip(ids, self._native.find_sessions(ids, False), strict=True))
        found = []
        for hit in hits:
            message = messages.get(hit["id"])
            session = sessions[hit["session_id"]]
            # Deleted since: a hit without its session would be a riddle.
            if message is None or session is None:
                continue
            snippet = _snippet(hit["snippet"], hit["highlights"])
            row = _result(message, session, snippet, _context(hit, messages))
            if relaxed:
                row["tier"] = hit["tier"]
            found.append(row)
        return found

    def _hidden(
        self,
        expr: fts.Expr,
        source_filter: list[str] | None,
        exclude_sources: list[str] | None,
        role_filter: list[str] | None,
    ) -> Iterator[Row]:
        """Rewound messages that meet a query. They are in no index: the sessions that were ever
        rewound are read."""
        for session in self._walk({"order": "active"}, 1_000):
            source = session["source"]
            if not session["rewind_count"] or source in (exclude_sources or ()):
                continue
            if source_filter is not None and source not in source_filter:
                continue
            messages = self._native.all_messages(session["id"], True)
            shown = rows.visible(messages, session["metadata"])
            for at, message in enumerate(shown):
                if message.get("visibility") != "rewound":
                    continue
                if role_filter and message["role"] not in role_filter:
                    continue
                row = rows.message_row(message)
                text = f"{_text(row['content'])} {row['tool_name'] or ''}".strip()
                if fts.holds(expr, text):
                    near = shown[max(at - 1, 0) : at + 2]
                    context = [_said(one["role"], one.get("content")) for one in near]
                    yield _result(message, session, _marked(text, expr), context)


def _result(message: Row, session: Session, snippet: str, context: list[Row]) -> Row:
    row = rows.message_row(message)
    return {
        "id": row["id"],
        "session_id": row["session_id"],
        "role": row["role"],
        "snippet": snippet,
        "timestamp": row["timestamp"],
        "tool_name": row["tool_name"],
        "source": session["source"],
        "model": session["model"],
        "session_started": started_at(session),
        "context": context,
    }


def _context(hit: dict[str, Any], messages: dict[int, Row]) -> list[Row]:
    """What was said right before and after a hit, and the hit itself between them."""
    ids = {hit["id"], *(near["id"] for near in hit.get("neighbours") or ())}
    shown = [messages[one] for one in sorted(ids) if one in messages]
    return [_said(message["role"], message.get("content")) for message in shown]


def _said(role: str, content: Any) -> Row:
    return {"role": role, "content": _text(content)[:_CONTEXT_CHARS]}


def _text(content: Any) -> str:
    """The words of a content; a placeholder when it has none but is not empty."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        texts += [part for part in content if isinstance(part, str)]
        return " ".join(text for text in texts if text) or "[multimodal content]"
    return "[multimodal content]"


def _snippet(text: str, highlights: list[list[int]]) -> str:
    """A snippet as hermes shows it: marked matches, at most forty words, dots where it is cut."""
    starts_cut, ends_cut = text.startswith("…"), text.endswith("…")
    start, end = int(starts_cut), len(text) - int(ends_cut)
    if len(_WORD.findall(text, start, end)) > _SNIPPET_WORDS:
        spans = [found.span() for found in _WORD.finditer(text, start, end)]
        wanted = highlights[0][0] if highlights else start
        at = next((i for i, (_, word_end) in enumerate(spans) if word_end > wanted), 0)
        first = max(0, min(at - _SNIPPET_WORDS // 4, len(spans) - _SNIPPET_WORDS))
        starts_cut |= first > 0
        ends_cut |= first + _SNIPPET_WORDS < len(spans)
        start, end = spans[first][0], spans[first + _SNIPPET_WORDS - 1][1]
    pieces = ["..."] if starts_cut else []
    for mark_start, mark_end in highlights:
        if mark_start < start or mark_end > end:
            continue
        pieces += [text[start:mark_start], ">>>", text[mark_start:mark_end], "<<<"]
        start = mark_end
    pieces.append(text[start:end])
    return "".join([*pieces, "..."] if ends_cut else pieces)


def _marked(text: str, expr: fts.Expr) -> str:
    """A snippet of a text that no index knows."""
    lowered = text.casefold()
    places = []
    for term in fts.terms(expr):
        at = lowered.find(term.text.casefold())
        # Casefolding may lengthen a text; then places in one are none in the other.
        if at >= 0 and len(lowered) == len(text):
            places.append([at, at + len(term.text)])
    places.sort()
    apart = [place for i, place in enumerate(places) if not i or place[0] >= places[i - 1][1]]
    return _snippet(text, apart)


def _merged(found: list[Row], hidden: list[Row], sort: str | None) -> list[Row]:
    merged = found + hidden
    if sort in ("newest", "oldest"):
        merged.sort(key=lambda row: (row["timestamp"], row["id"]), reverse=sort == "newest")
    return merged
