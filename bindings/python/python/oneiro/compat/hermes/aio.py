"""SessionDB for asyncio: every call runs in a thread, so that the event loop is never held up."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .session_db import SessionDB


class AsyncSessionDB:
    """The methods of a SessionDB as coroutines; anything else is passed through."""

    def __init__(self, db: SessionDB) -> None:
        self._db = db

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._db, name)
        if not callable(found):
            return found

        @functools.wraps(found)
        async def call(*args: Any, **named: Any) -> Any:
            return await asyncio.to_thread(found, *args, **named)

        return call
