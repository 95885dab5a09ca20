"""The errors of the hermes shim: each is one of Oneiro's and one of sqlite3's at the same time.

Owns the translation of what the native layer raises into classes that callers of hermes catch.
"""

from __future__ import annotations

import sqlite3

from oneiro import errors as own


class IntegrityError(own.ConflictError, sqlite3.IntegrityError):
    """The request contradicts what is stored."""


class ProgrammingError(own.InvalidError, sqlite3.ProgrammingError):
    """A value that cannot be stored was given."""


class OperationalError(own.UnavailableError, sqlite3.OperationalError):
    """The store cannot be used now."""


class LockedError(own.BusyError, sqlite3.OperationalError):
    """Another writer held the store for longer than the wait."""


class DatabaseError(own.StoreError, sqlite3.DatabaseError):
    """The store is damaged, or newer than this Oneiro."""


class NotSupportedError(own.InvalidError, sqlite3.NotSupportedError):
    """The store does this for nobody."""


class ForeignStoreError(own.InvalidError, sqlite3.DatabaseError):
    """The path holds a file that is not a store of Oneiro's."""


_CLASSES: tuple[tuple[type[own.Error], type[own.Error]], ...] = (
    (own.ConflictError, IntegrityError),
    (own.BusyError, LockedError),
    (own.UnavailableError, OperationalError),
    (own.StoreError, DatabaseError),
    (own.InvalidError, ProgrammingError),
)


def translated(error: own.Error) -> own.Error:
    """The same error as a class that a caller of hermes catches; one that has none stays."""
    for native, ours in _CLASSES:
        if isinstance(error, native):
            message = error.message
            if native is own.BusyError:
                # Hosts that retry look for sqlite's words.
                message = f"database is locked: {message}"
            return ours(message, error.kind, error.field, error.remedy)
    return error


def readonly() -> OperationalError:
    """The error of a write through a handle that only reads, in sqlite's words."""
    return OperationalError(
        "attempt to write a readonly database", remedy="open SessionDB without read_only=True"
    )
