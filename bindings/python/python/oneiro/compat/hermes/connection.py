"""`SessionDB._conn`: SQL as hosts write it against hermes's tables, over what Oneiro keeps.

Hosts and their reports (insights, dashboards) read hermes's tables through this attribute, and some
repair a row with it. It owns a mirror of those tables in memory, read again whenever the store has
changed, and hands changes of rows back to the store. What the store does not do - change what was
said - it refuses by name. It is for reports and repairs: the methods of SessionDB never use it.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from . import mirror
from .errors import OperationalError

if TYPE_CHECKING:
    from .session_db import SessionDB

Parameters = Sequence[Any] | dict[str, Any]

_READS = ("SELECT", "WITH", "PRAGMA", "EXPLAIN", "VALUES")
_TRANSACTIONS = ("SAVEPOINT", "RELEASE", "ROLLBACK")
_JOURNAL = re.compile(r"\s*PRAGMA\s+journal_mode\s*;?\s*\Z", re.I)
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
        self._open = False

    @property
    def row_factory(self) -> Any:
        """What makes a row of the columns read."""
        return self._tables.row_factory

    @row_factory.setter
    def row_factory(self, factory: Any) -> None:
        self._tables.row_factory = factory

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction was begun and not ended."""
        return self._open

    @property
    def total_changes(self) -> int:
        """How many rows were changed through this connection."""
        return self._tables.total_changes

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Runs one statement. A change of rows is in the store when this returns or, inside a
        transaction, when that is committed."""
        verb = _COMMENT.sub("", sql, count=1)[:12].upper()
        with self._lock:
            if verb.startswith("BEGIN"):
                self._begin()
            elif verb.startswith(("COMMIT", "END")):
                self.commit()
            elif verb.startswith("ROLLBACK") and not re.search(r"\bTO\b", sql, re.I):
                self.rollback()
            elif _JOURNAL.match(sql):
                return self._tables.execute("SELECT 'wal' AS journal_mode")
            elif not verb.startswith(_MAINTENANCE):
                return self._run(verb, sql, parameters)
            return self._tables.execute("SELECT 1 WHERE 0")

    def _run(self, verb: str, sql: str, parameters: Parameters) -> sqlite3.Cursor:
        if verb.startswith(_TRANSACTIONS):
            return self._tables.execute(sql)
        if not self._open:
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

    def _begin(self) -> None:
        if self._open:
            raise OperationalError("cannot start a transaction within a transaction")
        # What a transaction reads is what there was when it began.
        self._look(" ".join(mirror.TABLES))
        self._tables.execute("BEGIN")
        self._open = True

    def commit(self) -> None:
        """Hands the changes of the transaction over to the store, if one was begun."""
        with self._lock:
            if self._open:
                try:
                    self._hand_back()
                    self._tables.execute("COMMIT")
                except BaseException:
                    self.rollback()
                    raise
                self._open = False
                self._seen.clear()

    def rollback(self) -> None:
        """Takes back what the transaction changed, if one was begun."""
        with self._lock:
            if self._open:
                self._tables.execute("ROLLBACK")
                self._open = False
                self._tables.execute("DELETE FROM _changed")

    def close(self) -> None:
        """Lets the mirror go; the store stays open."""
        self._tables.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            self.rollback()

    def _look(self, sql: str) -> None:
        """Reads again those tables that a statement may read and that have changed."""
        mark = tuple(self._db._native.change_mark())
        for table in mirror.named(sql):
            # Slots and accounts are not told of when they change.
            if self._seen.get(table) != mark or table in mirror.UNTOLD:
                mirror.fill(self._tables, table, self._db)
                self._seen[table] = mark

    def _change(self, sql: str, parameters: Parameters) -> sqlite3.Cursor:
        if self._open:
            return self._tables.execute(sql, parameters)
        self._tables.execute("DELETE FROM _changed")
        self._tables.execute("BEGIN")
        self._open = True
        try:
            cursor = self._tables.execute(sql, parameters)
            # What RETURNING answers is taken before the end, which would wait for it.
            answered = cursor.fetchall() if cursor.description is not None else None
        except BaseException:
            self.rollback()
            raise
        # The store may make more of it: counts, ids, order.
        self.commit()
        return cursor if answered is None else Answered(cursor, answered)

    def _hand_back(self) -> None:
        changed = self._tables.execute("SELECT DISTINCT name, verb, key FROM _changed").fetchall()
        mirror.hand_back(self._tables, [tuple(row) for row in changed], self._db)
        self._tables.execute("DELETE FROM _changed")


class Answered(sqlite3.Cursor):
    """The rows that a change has answered."""

    def __init__(self, cursor: sqlite3.Cursor, rows: list[Any]) -> None:
        super().__init__(cursor.connection)
        self._rows = iter(rows)

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        return list(islice(self._rows, size))

    def __iter__(self) -> Answered:
        return self

    def __next__(self) -> Any:
        return next(self._rows)


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
        """This many rows."""
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
