"""Texts for the journal: without a model's thinking, and cut to a length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["format_messages", "strip_think", "truncate_text"]

TRUNCATED = "\n... (truncated)"

_TAG = "(?:thinking|thought|think)"


def _beginnings(*words: str) -> str:
    """A pattern for every beginning of these words, longest first."""
    found = {word[:end] for word in words for end in range(1, len(word) + 1)}
    return "|".join(sorted(found, key=lambda one: (-len(one), one)))


# Applied one after the other; each says what of a model's control text goes.
_THINKING = [
    # A whole block, wherever it is.
    re.compile(rf"<({_TAG})>[\s\S]*?</\1>"),
    # A block that is never closed, at the start.
    re.compile(rf"^\s*<{_TAG}>[\s\S]*$"),
    # An empty marker at either end.
    re.compile(r"^\s*<thinking/>\s*"),
    re.compile(r"\s*<thinking/>\s*$"),
    # A tag without its bracket, unless what follows may be the rest of a longer name. Letters of
    # other scripts may not.
    re.compile(rf"<{_TAG}(?![A-Za-z0-9_\-:>/])"),
    # A closing tag alone, at either end: in the middle somebody may be writing about it.
    re.compile(rf"^\s*</{_TAG}>\s*"),
    re.compile(rf"\s*</{_TAG}>\s*$"),
    # The marker of a channel at the start.
    re.compile(r"^\s*<\|?channel\|?>\s*"),
    # The beginning of a tag at the end, where a stream was cut.
    re.compile(
        rf"(?:</?(?:{_beginnings('think', 'thinking', 'thought')})>?"
        rf"|<\|?(?:{_beginnings('channel')})(?:\|?>?)?)$"
    ),
    re.compile(r"^\s*<\|?$"),
]


def strip_think(text: str) -> str:
    """A text without what a model wrote for itself.

    >>> strip_think("<think>is it tea?</think>It is tea.")
    'It is tea.'
    """
    if "<" in text:
        for pattern in _THINKING:
            text = pattern.sub("", text)
    return text.strip()


def truncate_text(text: str, max_chars: int) -> str:
    """A text of this many characters, and a line that says so if there was more."""
    if max_chars <= 0 or len(text) <= max_chars:
        return text
    return text[:max_chars] + TRUNCATED


def format_messages(messages: Iterable[Mapping[str, Any]]) -> str:
    """Messages as lines: when, who, with which tools, what. Those without content are left out."""
    lines = []
    for message in messages:
        content = _content(message)
        if not content:
            continue
        used = message.get("tools_used")
        tools = f" [tools: {', '.join(used)}]" if used else ""
        at = message.get("timestamp")
        when = "?" if at is None else str(at)[:16]
        role = str(message.get("role") or "unknown").upper()
        lines.append(f"[{when}] {role}{tools}: {content}")
    return "\n".join(lines)


def _content(message: Mapping[str, Any]) -> Any:
    """What of a message is for the journal: without context that only the model was given, with a
    line for each picture of the user."""
    content, media = _without_context(message), message.get("media")
    if message.get("role") != "user" or not isinstance(content, str) or not isinstance(media, list):
        return content
    pictures = [f"[image: {path}]" for path in media if isinstance(path, str) and path]
    return "\n".join([content, *pictures] if content else pictures)


def _without_context(message: Mapping[str, Any]) -> Any:
    content, mark = message.get("content", ""), message.get("_runtime_context")
    if not isinstance(mark, Mapping) or mark.get("version") != 1:
        return content
    suffix, blocks = mark.get("suffix"), mark.get("blocks")
    if isinstance(content, str) and isinstance(suffix, str) and suffix:
        return "" if content == suffix else content.removesuffix(f"\n\n{suffix}")
    if isinstance(content, list) and isinstance(blocks, list) and blocks:
        return content[: -len(blocks)] if content[-len(blocks) :] == blocks else content
    return content
