"""The native handle as the mixins call it: its errors come out as classes that callers of hermes
catch, a read-only handle refuses to write, and a closed one says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from oneiro.errors import Error

from .errors import readonly, translated

if TYPE_CHECKING:
    from oneiro._oneiro import Handle

READS = frozenset(
    {
        "all_messages",
        "check",
        "children",
        "closed",
        "context",
        "count_messages",
        "count_sessions",
        "counts",
        "expand",
        "find_message",
        "find_messages",
        "find_session",
        "find_sessions",
        "find_title",
        "grep",
        "jobs",
        "list_sessions",
        "message",
        "messages",
        "next_title",
        "pins",
        "resolve_session",
        "resolve_title",
        "rewind_points",
        "search",
        "search_sessions",
        "session_children",
        "session_family",
        "session_root",
        "session_summary",
        "session_tip",
        "settings",
        "slot",
        "slots",
        "stats",
        "summaries",
        "summary",
        "target",
        "usage",
    }
)


class Native:
    """A handle whose methods raise what callers of hermes catch."""

    def __init__(self, handle: Handle, *, read_only: bool = False) -> None:
        self.handle = handle
        self.read_only = read_only

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self.handle, name)
        call = _refuse if self.read_only and name not in READS else _translating(method)
        # Found on the instance from now on: appends pass here once only.
        setattr(self, name, call)
        return call

    def close(self) -> None:
        """Lets go of the store."""
        self.handle.close()


class Closed:
    """What stands where the handle was: hermes's connection is None after close, so every use of
    it is an AttributeError."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError("this SessionDB is closed; open a new one")

    def close(self) -> None:
        """Does nothing: closing is idempotent."""


def _translating(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        try:
            return method(*args, **named)
        except Error as error:
            raise translated(error) from error

    return call


def _refuse(*_args: Any, **_named: Any) -> NoReturn:
    raise readonly()
