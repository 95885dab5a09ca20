"""AsyncSessionDB: the same answers, awaited."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from oneiro.compat.hermes import AsyncSessionDB


def test_every_call_is_awaited_in_a_thread(db: Any) -> None:
    store = AsyncSessionDB(db)
    seen: list[int] = []
    real = db.get_session

    def told(session_id: str) -> Any:
        seen.append(threading.get_ident())
        return real(session_id)

    db.get_session = told

    async def run() -> None:
        await store.create_session("s", "cli", model="m")
        await asyncio.gather(*(store.append_message("s", "user", f"apple {n}") for n in range(20)))
        assert (await store.get_session("s"))["message_count"] == 20
        assert len(await store.search_messages("apple", limit=50)) == 20

    asyncio.run(run())
    assert seen and threading.get_ident() not in seen
    assert store.generation == "0.19"


def test_errors_come_through(db: Any) -> None:
    db.create_session("s", "cli")
    with pytest.raises(ValueError, match="long"):
        asyncio.run(AsyncSessionDB(db).set_session_title("s", "x" * 200))
    with pytest.raises(AttributeError):
        asyncio.run(AsyncSessionDB(db).no_such_call())
