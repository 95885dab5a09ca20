"""Which part of a request a session has already. It compares what was said, not how it is written:
a string and a single block of text are the same; blanks around words, hints for caches and thinking
do not count."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from oneiro.compat.openai.plain import Fields, blocks_of, words

__all__ = ["Unit", "chain", "digest", "first_new", "units"]

# In JSON text, where the blanks that a tag may have before its end are escaped.
_BLANK = r"(?:\s|\\[nrtf])*"
_PRIVATE = re.compile(rf"<private{_BLANK}>.*?</private{_BLANK}>", re.S | re.I)
_THINKING = ("thinking", "redacted_thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing said: a block, a call, a result."""

    message: int
    block: int | None
    print: str


def units(messages: list[Fields]) -> list[Unit]:
    """Everything said in these messages, in order."""
    found: list[Unit] = []
    for place, message in enumerate(messages):
        said = _said(message)
        found += [Unit(place, block, digest(what)) for block, what in said]
    return found


def chain(found: list[Unit]) -> list[str]:
    """A name for each beginning of what was said: the same words before give the same name."""
    names: list[str] = []
    before = b""
    for unit in found:
        before = hashlib.sha256(before + unit.print.encode()).digest()
        names.append(before.hex()[:40])
    return names


def first_new(request: list[Unit], stored: list[Unit]) -> int:
    """Where the request goes on behind what is stored.

    The request may be all of the history, or its end (hosts that slide a window), or the history
    with a change in it. What stands before the last stored words is not new, whatever it is.
    """
    asked, kept = [one.print for one in request], [one.print for one in stored]
    if not kept:
        return 0
    same = 0
    while same < min(len(asked), len(kept)) and asked[same] == kept[same]:
        same += 1
    if same == len(asked):
        return same
    best, end = 0, same
    for place, said in enumerate(asked):
        if said != kept[-1]:
            continue
        run = 0
        while run <= place and run < len(kept) and asked[place - run] == kept[-1 - run]:
            run += 1
        # Of equal runs the first: rather something twice than something lost.
        if run > best:
            best, end = run, place + 1
    return max(end, same) if best else same


def digest(value: Any) -> str:
    """A short name for a value. Private spans are as good as their marker: what is not stored must
    not be guessed from a hash of it either."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(_PRIVATE.sub("<private withheld/>", text).encode()).hexdigest()[:32]


def _said(message: Fields) -> list[tuple[int | None, tuple[Any, ...]]]:
    role = "system" if message["role"] == "developer" else message["role"]
    if role == "tool":
        answered = message.get("tool_call_id") or message.get("tool_use_id")
        return [(None, ("result", answered, _told(message.get("content"))))]
    said: list[tuple[int | None, tuple[Any, ...]]] = []
    audio = message.get("audio")
    if isinstance(audio, dict) and audio.get("id"):
        said.append((None, (role, "audio", audio["id"])))
    else:
        split = isinstance(message.get("content"), list)
        for place, block in enumerate(blocks_of(message.get("content"))):
            what = _block(role, block)
            if what is not None:
                said.append((place if split else None, what))
        if isinstance(message.get("refusal"), str):
            said.append((None, (role, "text", message["refusal"].strip())))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict):
            function = call.get("function") or call.get("custom") or call
            said.append((None, _call(call.get("id"), function)))
    if isinstance(message.get("function_call"), dict):
        said.append((None, _call(None, message["function_call"])))
    # Blank words beside something else come and go with the host.
    return [one for one in said if one[1] != (role, "text", "")] or said


def _block(role: str, block: Fields) -> tuple[Any, ...] | None:
    kind = block.get("type")
    if kind in _THINKING:
        return None
    if kind == "tool_use":
        return _call(block.get("id"), block)
    if kind == "tool_result":
        return ("result", block.get("tool_use_id"), _told(block.get("content")))
    if kind in ("text", "input_text", "output_text") and isinstance(block.get("text"), str):
        return (role, "text", block["text"].strip())
    hints = ("cache_control", "citations")
    return (role, {name: item for name, item in block.items() if name not in hints})


def _call(id: Any, call: Any) -> tuple[Any, ...]:
    fields = call if isinstance(call, dict) else {}
    given = fields.get("arguments", fields.get("input"))
    if isinstance(given, str):
        with contextlib.suppress(ValueError):
            given = json.loads(given) if given.strip() else {}
    return ("call", id, fields.get("name"), {} if given is None else given)


def _told(content: Any) -> Any:
    blocks = blocks_of(content)
    if all(isinstance(block.get("text"), str) for block in blocks):
        return words(content)
    return [_block("tool", block) for block in blocks]
