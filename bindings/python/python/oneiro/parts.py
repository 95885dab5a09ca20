"""What the dataclasses of :mod:`oneiro.types` are made of and their schemas cannot say: messages,
pages, the marks in a snippet, and how a native answer is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from oneiro.times import from_micros, moment_from

__all__ = ["ARCHIVED", "Marked", "Message", "Page", "known", "message_from", "moments"]

#: A message: the dict that was appended, with ``id``, ``session_id`` and ``at`` (an aware
#: datetime), and ``visibility`` when it is compacted or rewound.
Message = dict[str, Any]

#: Which sessions are meant, by whether they are archived; None means both.
ARCHIVED = {None: "any", True: "true", False: "false"}

T = TypeVar("T")


@dataclass(slots=True)
class Page(Generic[T]):
    """One page of a list, and where the next begins."""

    items: list[T]
    next: str | None


class Marked:
    """A snippet whose ``highlights`` are pairs of places in it, in characters."""

    __slots__ = ()

    snippet: str
    highlights: list[tuple[int, int]]

    def marked(self, before: str = "**", after: str = "**") -> str:
        """The snippet with what met the query between marks."""
        out, done = [], 0
        for first, last in self.highlights:
            out += [self.snippet[done:first], before, self.snippet[first:last], after]
            done = last
        return "".join([*out, self.snippet[done:]])


def known(cls: type[Any], native: dict[str, Any]) -> dict[str, Any]:
    """The fields of an answer that a class has: a newer native half may tell more."""
    names = {field.name for field in fields(cls)}
    return {name: value for name, value in native.items() if name in names}


def moments(native: dict[str, Any], names: Iterable[str]) -> None:
    """Makes times of an answer datetimes."""
    for name in names:
        if native.get(name) is not None:
            native[name] = moment_from(native[name])


def message_from(native: dict[str, Any]) -> Message:
    """A message whose time is a datetime."""
    native["at"] = from_micros(native["at"])
    return native
