"""Windows as the clients take them, and the memory of which words were served or captured already,
so that a request which brings them back is not taken for something new."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, overload

from oneiro.compat.openai.known import Unit, chain, units
from oneiro.compat.openai.plain import Fields, instructions
from oneiro.errors import InvalidError
from oneiro.handle import Oneiro

__all__ = ["Served", "check_handle", "spoken", "window"]

#: How many beginnings of requests are remembered per session.
_KEPT = 64


class Served:
    """What a session has served and captured: names of beginnings, and up to which message each
    covers the session. Losing it costs time, not exactness: the session itself is compared then."""

    def __init__(self, memory: Oneiro, session: str) -> None:
        self._native = memory._native
        self._session = session
        self._scope = f"compat/openai/{hashlib.sha256(session.encode()).hexdigest()[:40]}"
        self._slots: list[tuple[str, Any, int]] = self._native.slots(self._scope)

    def longest(self, request: list[Unit]) -> tuple[int, int]:
        """How much of a request is a beginning we know, and the message up to which it covers."""
        known = {name: value for name, value, _ in self._slots}
        names = chain(request)
        for place in range(len(names), 0, -1):
            until = known.get(names[place - 1])
            if isinstance(until, int):
                return place, until
        return 0, 0

    def remember(self, said: list[Unit], until: int) -> None:
        """Keeps the beginning that these words are; the oldest one goes."""
        if not said:
            return
        name = chain(said)[-1]
        if any(known == name and value == until for known, value, _ in self._slots):
            return
        newest = sorted(self._slots, key=lambda slot: slot[2], reverse=True)
        gone: dict[str, Any] = {old: None for old, _, _ in newest[_KEPT - 1 :]}
        self._native.set_slots(self._scope, gone | {name: until}, session=self._session)


@overload
def window(
    memory: Oneiro,
    session: str,
    budget: int,
    *,
    format: Literal["openai"] = "openai",
    reserve: int = 0,
    peek: bool = False,
) -> list[Fields]: ...


@overload
def window(
    memory: Oneiro,
    session: str,
    budget: int,
    *,
    format: Literal["anthropic"],
    reserve: int = 0,
    peek: bool = False,
) -> Fields: ...


def window(
    memory: Oneiro,
    session: str,
    budget: int,
    *,
    format: Literal["openai", "anthropic"] = "openai",
    reserve: int = 0,
    peek: bool = False,
) -> list[Fields] | Fields:
    """The conversation within a budget of tokens, as the client takes it.

    For OpenAI a list of messages: ``client.chat.completions.create(model=..., messages=...)``. For
    Anthropic a dict with ``messages``, and ``system`` where there is something to say there:
    ``client.messages.create(model=..., max_tokens=..., **window)``. ``reserve`` keeps tokens of the
    budget free for the answer and for what is added behind the window; with ``peek`` nothing is
    compacted. :meth:`oneiro.Oneiro.context` tells more of the same window.
    """
    check_handle(memory)
    if format not in ("openai", "anthropic"):
        raise InvalidError(
            f"format: {format!r} is not a client's",
            field="format",
            remedy='give "openai" or "anthropic"',
        )
    shown = memory.context(
        session, budget, reserve=reserve, format=format, explain=True, peek=peek
    )
    # A call that waits for its result is not shown: it is still to be brought by the request.
    until = min(shown.omitted.pending, default=_last(shown.items) + 1) - 1
    Served(memory, session).remember(units(spoken(shown.messages)), until)
    if format == "openai":
        return shown.messages
    return {"messages": shown.messages} | ({"system": shown.system} if shown.system else {})


def check_handle(memory: Any) -> None:
    """Refuses what is not the plain handle: calls on that of asyncio would only be promises."""
    if not isinstance(memory, Oneiro):
        raise InvalidError(
            f"memory: {type(memory).__name__} is not a handle of oneiro.open",
            field="memory",
            remedy="of an AsyncOneiro give its handle, in a thread: "
            "await asyncio.to_thread(capture, memory.handle, ...)",
        )


def spoken(messages: list[Fields]) -> list[Fields]:
    """Messages without the instructions that stand before them."""
    for place, message in enumerate(messages):
        if not instructions(message):
            return messages[place:]
    return []


def _last(items: list[dict[str, Any]] | None) -> int:
    ids = [item.get("last") or item.get("id") for item in items or ()]
    return max((id for id in ids if isinstance(id, int)), default=0)
