"""The same handle for asyncio: each call runs in a thread, so that the event loop goes on."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any

from oneiro.handle import Oneiro
from oneiro.types import Session

__all__ = ["AsyncOneiro", "open"]


async def open(*args: Any, **options: Any) -> AsyncOneiro:
    """As :func:`oneiro.open`, for ``async with``.

    >>> import asyncio, tempfile
    >>> from oneiro import aio
    >>> async def main(folder):
    ...     async with await aio.open(folder) as memory:
    ...         await memory.append("s", {"role": "user", "content": "hello"}, create={})
    ...         return len(await memory.messages("s"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(main(folder))
    1
    """
    return AsyncOneiro(await asyncio.to_thread(functools.partial(Oneiro, *args, **options)))


class AsyncOneiro:
    """Every method of :class:`~oneiro.Oneiro`, to be awaited."""

    def __init__(self, handle: Oneiro) -> None:
        self.handle = handle

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.handle, name)
        return _awaited(found) if callable(found) else found

    async def sessions(self, **filters: Any) -> AsyncIterator[Session]:
        """Every session that passes the filters, page by page."""
        filters.setdefault("limit", 200)
        while True:
            page = await self.list_sessions(**filters)
            for session in page.items:
                yield session
            if page.next is None:
                return
            filters["cursor"] = page.next

    async def __aenter__(self) -> AsyncOneiro:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.handle.close)


def _awaited(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    async def call(*args: Any, **options: Any) -> Any:
        return await asyncio.to_thread(method, *args, **options)

    return call
