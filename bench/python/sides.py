"""The stores that are compared, each opened with the durability that was asked for and filled by
the quickest way it has. It measures nothing."""

from __future__ import annotations

import importlib
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock
from typing import Any

import seed
from texts import conversations

__all__ = ["SIDES", "Side", "sides"]


class Side:
    """One store. ``options`` travel to other processes, so they are plain."""

    name = ""

    def __init__(self, durability: str = "full") -> None:
        self.durability = durability

    def open(self, path: str) -> Any:
        """The store at a path, created if it is not there."""
        raise NotImplementedError

    def guard(self) -> AbstractContextManager[Any]:
        """What threads must hold while they append; nothing, where the store minds itself."""
        return nullcontext()

    def recover(self, db: Any) -> None:
        """Puts a store right after an append that failed."""

    def build(self, path: str, count: int) -> None:
        """Fills a store in bulk, for the measurements that only read."""
        raise NotImplementedError

    def size(self, path: str) -> int:
        """Bytes on disk, once closed."""
        folder = Path(path)
        found = folder.rglob("*") if folder.is_dir() else folder.parent.glob(f"{folder.name}*")
        return sum(os.path.getsize(file) for file in found if file.is_file())


class Ours(Side):
    """oneiro.compat.hermes.SessionDB."""

    name = "oneiro"

    def __init__(self, durability: str = "full", generation: str = "0.19") -> None:
        super().__init__(durability)
        self.generation = generation

    def open(self, path: str) -> Any:
        from oneiro.compat.hermes import SessionDB

        return SessionDB(path, generation=self.generation, durability=self.durability)

    def build(self, path: str, count: int) -> None:
        import oneiro

        with oneiro.open(path, durability="normal") as memory:
            for session, messages in conversations(count):
                said = [{"role": role, "content": text} for role, text in messages]
                memory.append(session, said, create={"source": "cli"})
            memory._native.index()


class Seed(Side):
    """The first hermes SessionDB: our stand-in."""

    name = "seed"

    def __init__(self, durability: str = "full") -> None:
        super().__init__(durability)
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"durability": self.durability}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def open(self, path: str) -> Any:
        return seed.SessionDB(path, self.durability)

    def guard(self) -> AbstractContextManager[Any]:
        return self._lock

    def recover(self, db: Any) -> None:
        db.db.rollback()

    def build(self, path: str, count: int) -> None:
        db = seed.SessionDB(path, "normal")
        for session, messages in conversations(count):
            db.create_session(session, "cli")
            db.fill(session, messages)
        db.db.commit()
        db.close()


class Hermes(Side):
    """SessionDB of the hermes-agent that is installed."""

    name = "hermes"

    def open(self, path: str) -> Any:
        db = importlib.import_module("hermes_state").SessionDB(Path(path))
        db._conn.execute(f"PRAGMA synchronous={self.durability.upper()}")
        return db

    def build(self, path: str, count: int) -> None:
        db = self.open(path)
        conn = db._conn
        conn.execute("PRAGMA synchronous=NORMAL")
        for session, messages in conversations(count):
            db.create_session(session, "cli")
            conn.execute("BEGIN IMMEDIATE")
            now = float(os.path.getmtime(path))
            conn.executemany(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
                [(session, role, text, now) for role, text in messages],
            )
            conn.execute(
                "UPDATE sessions SET message_count = ? WHERE id = ?", (len(messages), session)
            )
            conn.execute("COMMIT")
        db.close()


SIDES: dict[str, type[Side]] = {side.name: side for side in (Ours, Seed, Hermes)}


def sides(durability: str, generation: str, only: list[str] | None) -> list[Side]:
    """The stores there are; hermes only when it can be imported."""
    found: list[Side] = [Ours(durability, generation), Seed(durability)]
    try:
        importlib.import_module("hermes_state")
        found.append(Hermes(durability))
    except ImportError:
        pass
    return [side for side in found if only is None or side.name in only]
