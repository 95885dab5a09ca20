"""Capture: of a request and its answer, what the session does not have yet, once. What Oneiro
itself put into the request is never kept again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oneiro.compat.openai.answers import Answer, read_answer
from oneiro.compat.openai.known import Unit, chain, first_new, units
from oneiro.compat.openai.plain import Fields, messages_of, words
from oneiro.compat.openai.served import Served, check_handle, spoken
from oneiro.errors import InvalidError
from oneiro.handle import Oneiro
from oneiro.types import Session

__all__ = ["Captured", "capture"]

# As windows write them: recalled text inside cannot close the tag.
_EARLIER = re.compile(
    r"<earlier>\nWhat follows condenses earlier parts of this conversation\..*?</earlier>\s*", re.S
)
_NO_RESULT = "[no result was recorded]"
_OPENING = "(the conversation goes on)"


@dataclass(slots=True)
class Captured:
    """What a capture kept: ``ids`` of the new messages, the answer's last; ``known``, how many
    messages of the request the session had; ``duplicate``, whether all of this was kept before."""

    ids: list[int]
    known: int
    duplicate: bool
    used: dict[str, int]


def capture(
    memory: Oneiro,
    session: str,
    request: Any,
    response: Any,
    *,
    new: int | None = None,
    choice: int | None = None,
    partial: bool = False,
    source: str | None = None,
    provider: str | None = None,
) -> Captured:
    """Appends what is new of a request and the answer to it; the session begins if it must.

    ``request`` is the list of messages that was sent, or the dict with ``messages`` and ``system``
    that went to Anthropic. It may be a :func:`window` with more behind it, the whole history, or
    the end of it: what the session has already is not appended again, nor what Oneiro injected.
    Where a host repeats itself so that this cannot be told, ``new`` says how many messages at the
    end are new. ``response`` is what the client returned, an object or a dict; a stream has to be
    merged first (``partial`` takes one that broke off), and of several choices ``choice`` names the
    one that was taken. The tokens used are added to the session's account of the model and
    ``provider`` (by default the dialect's name).

    Capturing the same answer to the same request again changes nothing. The instructions in front
    become the session's system prompt when the session begins.
    """
    check_handle(memory)
    answer = read_answer(response, choice=choice, partial=partial)
    system, messages = _request(request)
    found = memory.session(session)
    said = units(messages)
    name = answer.name(chain(said)[-1] if said else "")
    served = Served(memory, session)
    start = _start(memory, found, served, said, name) if new is None else _told(messages, new)
    fresh = _fresh(messages, said, start)
    _check_results(messages, fresh)
    brought = [message for message in map(_own, (message for _, message in fresh)) if message]
    for distance, message in enumerate(reversed(brought), 1):
        message["external_id"] = f"{name}/{distance}"
    kept = [*brought, {**answer.message, "external_id": name}]
    create = _beginning(system, answer, source)
    if found is not None:
        _fill(memory, found, create)
    appended = memory._append_kept(session, kept, create)
    duplicate = appended.duplicates == len(kept)
    counts: Fields = dict(answer.used)
    if counts and appended.ids and not duplicate:
        memory.add_usage(
            session,
            model=answer.model or "",
            provider=answer.dialect if provider is None else provider,
            api_calls=1,
            **counts,
        )
    if appended.ids:
        served.remember(units([*messages, answer.message]), appended.ids[-1])
    used = {} if duplicate else answer.used
    return Captured(appended.ids, len(messages) - len(fresh), duplicate, used)


def _request(request: Any) -> tuple[str, list[Fields]]:
    """The instructions, without what Oneiro put there, and the messages behind them."""
    system: Any = None
    if isinstance(request, Mapping):
        if "messages" not in request:
            raise InvalidError(
                "request: the dict has no messages",
                field="request",
                remedy="give the list of messages, or a dict with messages and system",
            )
        system, request = request.get("system"), request["messages"]
    messages = messages_of(request, "request")
    rest = spoken(messages)
    leading = [words(message.get("content")) for message in messages[: len(messages) - len(rest)]]
    texts = [_EARLIER.sub("", text).strip() for text in [words(system), *leading]]
    return "\n\n".join(text for text in texts if text), rest


def _start(
    memory: Oneiro, found: Session | None, served: Served, said: list[Unit], name: str
) -> int:
    """The first of what was said that is new."""
    if found is None:
        return 0
    place, until = served.longest(said)
    stored = [
        message
        for message in memory.messages(found.id, after=until, hidden=True)
        if message.get("visibility") != "rewound"
        and not str(message.get("external_id", "")).startswith(name)
    ]
    behind = [Unit(0, None, unit.print) for unit in said[place:]]
    return place + first_new(behind, units(spoken(stored) if until == 0 else stored))


def _told(messages: list[Fields], new: int) -> int:
    if isinstance(new, bool) or not 0 <= new <= len(messages):
        raise InvalidError(
            f"new: {new!r} of {len(messages)} messages cannot be new",
            field="new",
            remedy="count the messages at the end that the session does not have",
        )
    return len(units(messages[: len(messages) - new]))


def _fresh(messages: list[Fields], said: list[Unit], start: int) -> list[tuple[int, Fields]]:
    """The messages from the first new words on; of one that was known in part, the rest."""
    known = said[start - 1].message if start else -1
    fresh: list[tuple[int, Fields]] = []
    rest = [unit for unit in said[start:] if unit.message == known]
    if rest:
        message, first = messages[known], rest[0].block
        partly = first is not None and message["role"] == "user"
        content = message["content"][first:] if partly else message.get("content")
        fresh.append((known, {**message, "content": content}))
    fresh += list(enumerate(messages))[known + 1 :]
    return fresh


def _check_results(messages: list[Fields], fresh: list[tuple[int, Fields]]) -> None:
    """Refuses new results of calls that nobody made: providers would, too."""
    made: set[Any] = set()
    before = 0
    for place, message in fresh:
        for earlier in messages[before:place]:
            made.update(_calls(earlier))
        before = place
        for id in _results(message):
            if id not in made:
                here = f"request[{place}]"
                raise InvalidError(
                    f"{here}: a tool result for {id!r}, and no call before it has this id",
                    field=here,
                    remedy="send the assistant message that made the call before its result",
                )


def _calls(message: Fields) -> list[Any]:
    beside = message.get("tool_calls")
    blocks = message.get("content")
    found = [call for call in beside or () if isinstance(call, dict)]
    if isinstance(blocks, list):
        found += [
            block
            for block in blocks
            if isinstance(block, dict) and str(block.get("type", "")).endswith("tool_use")
        ]
    return [call.get("id") for call in found]


def _results(message: Fields) -> list[Any]:
    blocks = message.get("content")
    found = [
        block.get("tool_use_id")
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]
    if message["role"] == "tool" and not found:
        found.append(message.get("tool_call_id"))
    return found


def _own(message: Fields) -> Fields | None:
    """The message without what Oneiro put into it; None where nothing else is in it."""
    content = message.get("content")
    if message["role"] == "tool" and content == _NO_RESULT:
        return None
    kept = {name: item for name, item in message.items() if name not in ("id", "external_id")}
    if isinstance(message.get("id"), str):
        kept["response"] = {"id": message["id"]}
    if isinstance(content, str) and "<earlier>" in content:
        kept["content"] = _EARLIER.sub("", content).strip()
        return kept if kept["content"] else None
    if isinstance(content, list):
        blocks = [one for one in map(_own_block, content) if one is not None]
        kept["content"] = blocks
        return kept if blocks or not content else None
    return None if content == _OPENING else kept


def _own_block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") == "tool_result" and words(block.get("content")) == _NO_RESULT:
        return None
    text = block.get("text")
    if not isinstance(text, str) or ("<earlier>" not in text and text != _OPENING):
        return block
    text = "" if text == _OPENING else _EARLIER.sub("", text).strip()
    return {**block, "text": text} if text else None


def _beginning(system: str, answer: Answer, source: str | None) -> Fields:
    given = {"system_prompt": system or None, "model": answer.model, "source": source}
    return {name: item for name, item in given.items() if item is not None}


def _fill(memory: Oneiro, found: Session, create: Fields) -> None:
    """Tells a session that began empty what it was not told: its model, and its system prompt while
    nothing is said in it (later the instructions may be ours and others' together)."""
    fields: Fields = {}
    if found.model is None and "model" in create:
        fields["model"] = create["model"]
    empty = found.message_count == 0 and not found.system_prompt
    if empty and "system_prompt" in create:
        fields["system_prompt"] = create["system_prompt"]
    if fields:
        memory.create_session(found.id, **fields)
