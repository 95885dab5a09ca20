"""What hosts reach for behind SessionDB: its connection, its lock, its way of writing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .base import Base
from .connection import Connection
from .native import Closed

if TYPE_CHECKING:
    from .session_db import SessionDB

T = TypeVar("T")


class Sql(Base):
    """SQL over the tables that hermes has."""

    _connection: Connection | None = None
    _given: Any = None
    _guard = threading.Lock()
    _idle = threading.RLock()

    @property
    def _conn(self) -> Any:
        """A connection over a mirror of hermes's tables; None when the store is closed."""
        if self._given is not None:
            return self._given
        if isinstance(self._native, Closed):
            return None
        with self._guard:
            if self._connection is None:
                self._connection = Connection(cast("SessionDB", self))
            return self._connection

    @_conn.setter
    def _conn(self, given: Any) -> None:
        # Tests of hosts wrap it.
        self._given = given

    @property
    def _lock(self) -> Any:
        """What hosts hold around `_conn`; nothing else waits for it."""
        return getattr(self._conn, "_lock", self._idle)

    def _execute_write(self, fn: Callable[[Any], T]) -> T:
        """Runs what writes through `_conn`: all of it, or nothing if it fails."""
        connection = self._conn
        with self._lock:
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                return fn(connection)

    def _close_sql(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
