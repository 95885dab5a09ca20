"""Messages of any dialect as OpenAI's. It sends nothing and knows no store; windows come from the
engine, which has its own rules for what fits."""

from __future__ import annotations

import json
from typing import Any

from oneiro.compat.openai.convert import (
    OURS,
    Lost,
    arguments_text,
    handle,
    title_and_words,
)
from oneiro.compat.openai.plain import Fields, blocks_of, messages_of, words

__all__ = ["to_openai"]

_TEXTS = ("text", "input_text", "output_text")
_THEIRS = ("image_url", "input_audio", "file", "refusal")


def to_openai(messages: Any, *, lost: list[str] | None = None) -> list[Fields]:
    """Messages, as they were stored or as Anthropic has them, as OpenAI takes them.

    What has no place there (signed thinking, for one) is named in ``lost``, a line to each, or in a
    :class:`~oneiro.compat.openai.LossWarning` without it. A block that nobody knows is said as its
    JSON.

    >>> to_openai([{"role": "user", "content": [
    ...     {"type": "tool_result", "tool_use_id": "t1", "content": "21 degrees"},
    ...     {"type": "text", "text": "And tomorrow?"}]}])
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'role': 'tool', 'tool_call_id': 't1', 'content': '21 degrees'},
     {'role': 'user', 'content': 'And tomorrow?'}]
    """
    losses = Lost(lost, "OpenAI")
    out: list[Fields] = []
    for place, message in enumerate(messages_of(messages)):
        fields = {name: item for name, item in message.items() if name not in OURS}
        match fields["role"]:
            case "assistant":
                out.append(_assistant(fields, place, losses))
            case "tool":
                out += _tool(fields, place, losses)
            case "user" | "system" | "developer" | "function":
                out += _user(fields, place, losses)
            case role:
                # A role that nobody knows is a name.
                out += _user({"name": role, **fields, "role": "user"}, place, losses)
    losses.tell()
    return out


def _assistant(fields: Fields, place: int, losses: Lost) -> Fields:
    parts: list[Fields] = []
    calls: list[Any] = []
    if isinstance(fields.get("audio"), dict) and fields["audio"].get("id"):
        fields["audio"] = {"id": fields["audio"]["id"]}
    if not isinstance(fields.get("content"), list):
        return fields
    for block in blocks_of(fields["content"]):
        kind = block.get("type")
        if kind in ("thinking", "redacted_thinking"):
            losses.name(place, kind)
        elif kind == "tool_use":
            function = {
                "name": block.get("name", ""),
                "arguments": arguments_text(block.get("input")),
            }
            calls.append({"id": block.get("id"), "type": "function", "function": function})
        else:
            parts.append(_part(block, place, losses, speaks=False))
    beside = fields.get("tool_calls")
    known = [call["id"] for call in calls]
    for call in beside if isinstance(beside, list) else []:
        if not (isinstance(call, dict) and call.get("id") in known):
            calls.append(call)
    fields["content"] = _content(parts) if parts else None
    return fields | ({"tool_calls": calls} if calls else {})


def _tool(fields: Fields, place: int, losses: Lost) -> list[Fields]:
    content = fields.get("content")
    blocks = blocks_of(content)
    if any(block.get("type") == "tool_result" for block in blocks):
        return _user({**fields, "role": "user"}, place, losses)
    if fields.pop("is_error", False):
        losses.name(place, "is_error of a result")
    kept = {name: item for name, item in fields.items() if name != "name"}
    if isinstance(content, list):
        kept["content"] = _told(content, place, losses)
    return [kept | ({"content": ""} if content is None else {})]


def _user(fields: Fields, place: int, losses: Lost) -> list[Fields]:
    if not isinstance(fields.get("content"), list):
        return [fields]
    results: list[Fields] = []
    parts: list[Fields] = []
    for block in blocks_of(fields["content"]):
        if block.get("type") != "tool_result":
            parts.append(_part(block, place, losses, speaks=True))
            continue
        if block.get("is_error"):
            losses.name(place, "is_error of a result")
        told = _told(block.get("content"), place, losses)
        answered = block.get("tool_use_id")
        results.append({"role": "tool", "tool_call_id": answered, "content": told})
    if not parts:
        return results or [{**fields, "content": ""}]
    return [*results, {**fields, "content": _content(parts)}]


def _told(content: Any, place: int, losses: Lost) -> str | list[Fields]:
    """What a tool answered: words alone, and a handle for what is none."""
    blocks = blocks_of(content)
    if all(block.get("type") in _TEXTS for block in blocks):
        return words(content) if len(blocks) < 2 else _content([_text(block) for block in blocks])
    lines: list[str] = []
    for block in blocks:
        part = _part(block, place, losses, speaks=False)
        lines.append(part.get("text", ""))
    return "\n".join(lines)


def _content(parts: list[Fields]) -> Any:
    only = parts[0] if len(parts) == 1 else {}
    return only["text"] if only.get("type") == "text" else parts


def _text(block: Fields) -> Fields:
    return {"type": "text", "text": block.get("text", "")}


def _part(block: Fields, place: int, losses: Lost, *, speaks: bool) -> Fields:
    """A block as a content part; only who speaks as a user may show something."""
    kind = block.get("type")
    if kind in _TEXTS and isinstance(block.get("text"), str):
        if block.get("citations"):
            losses.name(place, "citations")
        return _text(block)
    if kind in _THEIRS:
        return block
    source = block.get("source")
    if kind in ("image", "document") and isinstance(source, dict):
        if kind == "document" and source.get("type") in ("text", "content"):
            return {"type": "text", "text": title_and_words(block)}
        sent = _sent(kind, block, source) if speaks else None
        if sent is None:
            losses.name(place, handle(block))
            return {"type": "text", "text": handle(block)}
        return sent
    said = {name: item for name, item in block.items() if name != "cache_control"}
    return {"type": "text", "text": json.dumps(said, ensure_ascii=False)}


def _sent(kind: str, block: Fields, source: Fields) -> Fields | None:
    data = f"data:{source.get('media_type')};base64,{source.get('data')}"
    match kind, source.get("type"):
        case "image", "base64":
            return {"type": "image_url", "image_url": {"url": data}}
        case "image", "url":
            return {"type": "image_url", "image_url": {"url": source.get("url")}}
        case "document", "base64":
            name = block.get("title") or "file"
            return {"type": "file", "file": {"filename": name, "file_data": data}}
    return None
