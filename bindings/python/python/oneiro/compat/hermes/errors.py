"""The errors of the hermes shim: each is one of Oneiro's and one of sqlite3's at the same time.

Owns the translation of what the native layer raises into classes that callers of hermes catch.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from oneiro import errors as own


class _Told:
    """What every error of the shim says: Oneiro's four facts, whatever its class."""

    KIND = "internal"

    def __init__(self, message: str, *, field: str | None = None, remedy: str | None = None) -> None:
        text = f"{message}: {remedy}" if remedy else message
        Exception.__init__(self, text)  # type: ignore[arg-type]
        self.kind = self.KIND
        self.message = message
        self.field = field
        self.remedy = remedy


class IntegrityError(_Told, own.ConflictError, sqlite3.IntegrityError):
    """The request contradicts what is stored."""

    KIND = "conflict"


class ProgrammingError(_Told, own.InvalidError, sqlite3.ProgrammingError):
    """A value that cannot be stored was given."""

    KIND = "invalid"


class OperationalError(_Told, own.UnavailableError, sqlite3.OperationalError):
    """The store cannot be used now."""

    KIND = "unavailable"


class LockedError(_Told, own.BusyError, sqlite3.OperationalError):
    """Another writer held the store for longer than the wait."""

    KIND = "busy"


class DatabaseError(_Told, own.StoreError, sqlite3.DatabaseError):
    """The store is damaged, or newer than this Oneiro."""

    KIND = "corrupt"


class NotHermesStoreError(_Told, own.InvalidError, sqlite3.DatabaseError):
    """The path holds a file that is not a store of Oneiro's."""

    KIND = "invalid"


_CLASSES: tuple[tuple[type, type[Any]], ...] = (
    (own.ConflictError, IntegrityError),
    (own.BusyError, LockedError),
    (own.UnavailableError, OperationalError),
    (own.StoreError, DatabaseError),
    (own.InvalidError, ProgrammingError),
)


def translated(error: own.Error) -> own.Error:
    """The same error as a class that a caller of hermes catches; one that has none stays."""
    if isinstance(error, _Told):
        return error
    for native, ours in _CLASSES:
        if isinstance(error, native):
            told: own.Error = ours.__new__(ours)
            told.args = error.args
            for name in ("kind", "message", "field", "remedy"):
                setattr(told, name, getattr(error, name, None))
            return told
    return error
