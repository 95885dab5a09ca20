"""`SessionDB._conn`: SQL as hosts write it against hermes's tables, over what Oneiro keeps.

Hosts and their reports (insights, dashboards) read hermes's tables through this attribute, and some
mend a row with it. It owns a mirror of those tables in memory, read anew whenever the store has
changed, and hands changes of rows back to the store. What the store does not do - change what was
said - it refuses by name. It is for reports and repairs: the methods of SessionDB never use it.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import mirror
from .errors import OperationalError

if TYPE_CHECKING:
    from .session_db import SessionDB

Parameters = Sequence[Any] | dict[str, Any]

_READS = ("SELECT", "WITH", "PRAGMA", "EXPLAIN", "VALUES")
_TRANSACTIONS = ("BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE")
_MAINTENANCE = ("VACUUM", "ANALYZE", "REINDEX")
_COMMENT = re.compile(r"\A(?:\s+|--[^\n]*\n|/\*.*?\*/)*", re.DOTALL)


class Connection:
    """As much of sqlite3.Connection as hosts use."""

    def __init__(self, db: SessionDB) -> None:
        self._db = db
        self._lock = threading.RLock()
        self._tables = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._tables.row_factory = sqlite3.Row
        mirror.create(self._tables, db.generation)
        self._seen: dict[str, tuple[int, int]] = {}

    @property
    def row_factory(self) -> Any:
        """What makes a row of the columns read."""
        return self._tables.row_factory

    @row_factory.setter
    def row_factory(self, factory: Any) -> None:
        self._tables.row_factory = factory

    @property
    def in_transaction(self) -> bool:
        """Never: every statement is durable when it returns."""
        return False

    @property
    def total_changes(self) -> int:
        """How many rows were changed through this connection."""
        return self._tables.total_changes

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Runs one statement. A change of rows is in the store when this returns."""
        verb = _COMMENT.sub("", sql, count=1)[:12].upper()
        with self._lock:
            if verb.startswith(_TRANSACTIONS) or verb.startswith(_MAINTENANCE):
                return self._tables.execute("SELECT 1 WHERE 0")
            self._look(sql)
            if verb.startswith(_READS) and not _changes(verb, sql):
                return self._tables.execute(sql, parameters)
            return self._change(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Parameters]) -> sqlite3.Cursor:
        """Runs one statement for each set of parameters."""
        cursor = self._tables.execute("SELECT 1 WHERE 0")
        for one in parameters:
            cursor = self.execute(sql, one)
        return cursor

    def executescript(self, script: str) -> sqlite3.Cursor:
        """Runs the statements of a script, one by one."""
        cursor, statement = self._tables.execute("SELECT 1 WHERE 0"), ""
        for part in script.split(";"):
            statement += part + ";"
            if sqlite3.complete_statement(statement):
                if statement.strip(" \n\t;"):
                    cursor = self.execute(statement)
                statement = ""
        return cursor

    def cursor(self) -> Cursor:
        """A cursor over this connection."""
        return Cursor(self)

    def commit(self) -> None:
        """Nothing waits to be committed."""

    def rollback(self) -> None:
        """Nothing can be taken back: every statement was durable when it returned."""

    def close(self) -> None:
        """Lets the mirror go; the store stays open."""
        self._tables.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _look(self, sql: str) -> None:
        """Reads anew those tables that a statement may read and that have changed."""
        mark = tuple(self._db._native.change_mark())
        for table in mirror.named(sql):
            # Slots and accounts are not told of when they change.
            if self._seen.get(table) != mark or table in mirror.UNTOLD:
                mirror.fill(self._tables, table, self._db)
                self._seen[table] = mark

    def _change(self, sql: str, parameters: Parameters) -> sqlite3.Cursor:
        tables = self._tables
        tables.execute("DELETE FROM _changed")
        tables.execute("BEGIN")
        try:
            cursor = tables.execute(sql, parameters)
            changed = tables.execute("SELECT DISTINCT name, verb, key FROM _changed").fetchall()
            wanted = [tuple(row) for row in changed]
            mirror.hand_back(tables, wanted, self._db)
        except BaseException:
            tables.execute("ROLLBACK")
            raise
        tables.execute("COMMIT")
        # The store may have made more of it: counts, ids, order.
        self._seen.clear()
        return cursor


class Cursor:
    """As much of sqlite3.Cursor as hosts use."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._last: sqlite3.Cursor | None = None

    def execute(self, sql: str, parameters: Parameters = ()) -> Cursor:
        """Runs one statement."""
        self._last = self.connection.execute(sql, parameters)
        return self

    def executemany(self, sql: str, parameters: Iterable[Parameters]) -> Cursor:
        """Runs one statement for each set of parameters."""
        self._last = self.connection.executemany(sql, parameters)
        return self

    def executescript(self, script: str) -> Cursor:
        """Runs the statements of a script."""
        self._last = self.connection.executescript(script)
        return self

    @property
    def _cursor(self) -> sqlite3.Cursor:
        if self._last is None:
            raise OperationalError("no statement was executed")
        return self._last

    def fetchone(self) -> Any:
        """The next row, or None."""
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        return self._cursor.fetchall()

    def fetchmany(self, size: int = 1) -> list[Any]:
        """So many rows."""
        return self._cursor.fetchmany(size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cursor)

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The id of the row that was inserted last."""
        return self._cursor.lastrowid

    @property
    def description(self) -> Any:
        """The columns of the rows."""
        return self._cursor.description

    def close(self) -> None:
        """Nothing is held."""


def _changes(verb: str, sql: str) -> bool:
    """Whether a WITH introduces a change."""
    return verb.startswith("WITH") and bool(re.search(r"\b(UPDATE|INSERT|DELETE)\b", sql, re.I))
