"""Messages of any dialect as Anthropic's. It sends nothing and knows no store; windows come from
the engine, which has its own rules for what fits."""

from __future__ import annotations

import json
import re
from typing import Any

from oneiro.compat.openai.convert import OURS, Lost, handle
from oneiro.compat.openai.plain import Fields, blocks_of, instructions, messages_of, words

__all__ = ["to_anthropic"]

_OPENING = "(the conversation goes on)"
_DATA_URL = re.compile(r"data:(?P<mime>[^;,]*)(?:;[^;,]*)*;base64,(?P<data>.*)", re.S)
_TEXTS = ("text", "input_text", "output_text")
_KNOWN = frozenset(
    {
        *("role", "content", "name", "refusal", "audio", "tool_calls", "function_call"),
        *("tool_call_id", "tool_use_id", "is_error", "annotations"),
    }
)


def to_anthropic(messages: Any, *, lost: list[str] | None = None) -> Fields:
    """Messages, as they were stored or as OpenAI has them, as Anthropic takes them: a dict with
    ``messages``, and ``system`` where the host speaks first. User and assistant take turns.

    What has no place there (sound, for one) is named in ``lost``, a line to each, or in a
    :class:`~oneiro.compat.openai.LossWarning` without it.

    >>> to_anthropic([
    ...     {"role": "system", "content": "Be brief."},
    ...     {"role": "user", "content": "Hi."}])  # doctest: +NORMALIZE_WHITESPACE
    {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'Hi.'}]}],
     'system': 'Be brief.'}
    """
    losses = Lost(lost, "Anthropic")
    given = messages_of(messages)
    leading = 0
    while leading < len(given) and instructions(given[leading]):
        leading += 1
    system = "\n\n".join(filter(None, (words(one.get("content")) for one in given[:leading])))
    turns: list[Fields] = []
    called: dict[str, str] = {}
    for place, message in enumerate(given[leading:], leading):
        _others(message, place, losses)
        if message["role"] == "assistant":
            role, blocks = "assistant", _assistant(message, place, losses, called)
        else:
            role, blocks = "user", _user(message, place, losses, called)
        if not turns and role == "assistant" and blocks:
            turns.append({"role": "user", "content": [_text(_OPENING)]})
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    losses.tell()
    return {"messages": turns} | ({"system": system} if system else {})


def _others(message: Fields, place: int, losses: Lost) -> None:
    for name in message.keys() - _KNOWN - OURS:
        losses.name(place, name)


def _text(text: str) -> Fields:
    return {"type": "text", "text": text}


def _assistant(
    message: Fields, place: int, losses: Lost, called: dict[str, str]
) -> list[Fields]:
    out: list[Fields] = []
    audio = message.get("audio")
    if isinstance(audio, dict):
        losses.name(place, "audio")
        if not message.get("content") and audio.get("transcript"):
            out.append(_text(audio["transcript"]))
    out += _blocks(message.get("content"), place, losses)
    if message.get("refusal"):
        out.append(_text(message["refusal"]))
    known = [block.get("id") for block in out if block.get("type") == "tool_use"]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict) and call.get("id") not in known:
            function = call.get("function") or call.get("custom") or call
            out.append(_tool_use(call.get("id"), function))
    old = message.get("function_call")
    if isinstance(old, dict):
        # The calls of old have a name and no id.
        id = called[str(old.get("name"))] = f"call_{place}"
        out.append(_tool_use(id, old))
    return out


def _tool_use(id: Any, function: Fields) -> Fields:
    given = function.get("arguments", function.get("input"))
    if isinstance(given, str):
        try:
            read = json.loads(given) if given.strip() else {}
        except ValueError:
            read = None
        given = read if isinstance(read, dict) else {"arguments": given}
    elif not isinstance(given, dict):
        given = {} if given is None else {"arguments": given}
    return {"type": "tool_use", "id": id, "name": function.get("name", ""), "input": given}


def _user(message: Fields, place: int, losses: Lost, called: dict[str, str]) -> list[Fields]:
    role, content = message["role"], message.get("content")
    blocks = _blocks(content, place, losses)
    has_results = any(block.get("type") == "tool_result" for block in blocks)
    if role in ("tool", "function") and not has_results:
        answered = message.get("tool_call_id") or message.get("tool_use_id")
        if role == "function":
            answered = called.get(str(message.get("name")))
        result: Fields = {"type": "tool_result", "tool_use_id": answered, "content": blocks}
        return [result | ({"is_error": True} if message.get("is_error") else {})]
    if instructions(message):
        return [_text(f"<system>{words(content)}</system>")]
    name = message.get("name") or (role if role not in ("user", "tool") else None)
    if name and blocks and blocks[0].get("type") == "text":
        return [{**blocks[0], "text": f"{name}: {blocks[0]['text']}"}, *blocks[1:]]
    return [_text(f"{name}:"), *blocks] if name else blocks


def _blocks(content: Any, place: int, losses: Lost) -> list[Fields]:
    """Content as blocks; blank text is refused by the provider and says nothing."""
    found = [_block(block, place, losses) for block in blocks_of(content)]
    return [block for block in found if block.get("type") != "text" or block["text"].strip()]


def _block(block: Fields, place: int, losses: Lost) -> Fields:
    kind = block.get("type")
    if kind in _TEXTS and isinstance(block.get("text"), str):
        return block if kind == "text" else _text(block["text"])
    if kind == "refusal":
        return _text(str(block.get("refusal", "")))
    if kind == "image_url":
        image = block.get("image_url")
        fields = image if isinstance(image, dict) else {"url": image}
        if fields.get("detail") not in (None, "auto"):
            losses.name(place, f"detail of an image ({fields['detail']})")
        return {"type": "image", "source": _source(str(fields.get("url")))}
    if kind == "file":
        return _document(block, place, losses)
    if kind == "input_audio":
        losses.name(place, handle(block))
        return _text(handle(block))
    return block


def _document(block: Fields, place: int, losses: Lost) -> Fields:
    file = block.get("file")
    fields = file if isinstance(file, dict) else {}
    data = _DATA_URL.fullmatch(str(fields.get("file_data")))
    if data is None:
        losses.name(place, handle(block))
        return _text(handle(block))
    document: Fields = {"type": "document", "source": _base64(data)}
    return document | ({"title": fields["filename"]} if fields.get("filename") else {})


def _source(url: str) -> Fields:
    data = _DATA_URL.fullmatch(url)
    return {"type": "url", "url": url} if data is None else _base64(data)


def _base64(data: re.Match[str]) -> Fields:
    return {"type": "base64", "media_type": data["mime"], "data": data["data"]}
