"""HISTORY.md, the journal of nanobot before 0.1.5: free text, read once into history.jsonl."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["DATED", "SPOKEN", "TIMED", "is_dump", "is_start", "parse_history", "split_history"]

DATED = re.compile(r"\[\d{4}-\d{2}-\d{2}[^\]]*\]\s*")
TIMED = re.compile(r"\[(\d{4}-\d{2}-\d{2} \d{2}:\d{2})\]\s*")
# A line of a conversation that was dumped as it was.
SPOKEN = re.compile(r"\[\d{4}-\d{2}-\d{2}[^\]]*\]\s+[A-Z][A-Z0-9_]*(?:\s+\[tools:\s*[^\]]+\])?:")


def parse_history(text: str, fallback_timestamp: str) -> list[dict[str, Any]]:
    """The entries of a history; those without a time get the fallback.

    >>> parse_history("[2026-01-31 10:00] Tea.\\n\\nCoffee.", "2026-02-01 00:00")[1]["content"]
    'Coffee.'
    """
    normal = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    entries = []
    for cursor, chunk in enumerate(split_history(normal), 1):
        timestamp, content = fallback_timestamp, chunk
        timed = TIMED.match(chunk)
        if timed:
            timestamp = timed.group(1)
            content = chunk[timed.end() :].lstrip() or chunk
        entries.append({"cursor": cursor, "timestamp": timestamp, "content": content})
    return entries


def split_history(text: str) -> list[str]:
    """The chunks of a text: each begins after a blank line or with a date. The lines of a dumped
    conversation stay together."""
    chunks: list[list[str]] = [[]]
    for line in text.split("\n"):
        chunk = chunks[-1]
        is_after_blank = bool(chunk) and not chunk[-1].strip() and bool(line.strip())
        if chunk and (is_after_blank or is_start(line, chunk)):
            chunks.append([line])
        else:
            chunk.append(line)
    joined = ("\n".join(chunk).strip() for chunk in chunks)
    return [chunk for chunk in joined if chunk]


def is_start(line: str, chunk: list[str]) -> bool:
    """Whether a line begins a chunk of its own, and does not go on with this one."""
    if not chunk or not DATED.match(line):
        return False
    return not (is_dump(chunk) and SPOKEN.match(line))


def is_dump(chunk: list[str]) -> bool:
    """Whether a chunk is a conversation that was dumped as it was."""
    first = next((line for line in chunk if line.strip()), "")
    timed = TIMED.match(first)
    return timed is not None and first[timed.end() :].lstrip().startswith("[RAW]")
