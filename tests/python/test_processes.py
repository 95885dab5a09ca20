"""Threads, forks, processes, event loops, and the end of the interpreter."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import oneiro
import pytest
from conftest import Place
from oneiro import aio


def test_threads_share_a_handle(memory: oneiro.Oneiro) -> None:
    memory.create_session("s")

    def work(number: int) -> list[int]:
        return [memory.append("s", {"role": "user", "content": f"{number} {n}"}).ids[0] for n in range(25)]

    with ThreadPoolExecutor(8) as pool:
        ids = [id for part in pool.map(work, range(8)) for id in part]
    assert sorted(ids) == [m["id"] for m in memory.messages("s")] and len(set(ids)) == 200


HOLDER = """
    import sqlite3, sys
    held = sqlite3.connect(sys.argv[1], isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    print("held", flush=True)
    sys.stdin.readline()
    held.execute("ROLLBACK")
"""


def test_the_interpreter_goes_on_while_the_store_works(tmp_path: Path) -> None:
    """An append waits for another process, which waits for a thread of this one: if the append
    held the interpreter, that thread would never come to let the other go."""
    place = Place(str(tmp_path / "memory.db"), None)
    with place.open(busy_timeout=60) as memory:
        memory.create_session("s")
        code = [sys.executable, "-c", textwrap.dedent(HOLDER), place.store]
        holder = subprocess.Popen(code, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert holder.stdin and holder.stdout
        assert holder.stdout.readline() == "held\n"
        release = threading.Timer(0.1, holder.communicate, ("go\n",))
        release.start()
        assert memory.append("s", {"role": "user", "content": "at last"}).ids
        release.join()
        assert holder.returncode == 0


def test_a_closed_handle_says_so(place: Place) -> None:
    memory = place.open()
    memory.create_session("s")
    memory.close()
    memory.close()
    assert memory.closed
    with pytest.raises(oneiro.UnavailableError, match="closed"):
        memory.messages("s")


def _in_child(memory: oneiro.Oneiro, place: Place, out: multiprocessing.connection.Connection) -> None:
    try:
        memory.session("s")
        out.send("no error")
    except oneiro.UnavailableError as error:
        out.send(str(error))
    memory.close()
    with place.open() as own:
        own.append("s", {"role": "user", "content": "from the child"})
    out.send("done")
    out.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_is_told_to_open_its_own(place: Place) -> None:
    with place.open() as memory:
        memory.append("s", {"role": "user", "content": "from the parent"}, create={})
        here, there = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=_in_child, args=(memory, place, there))
        child.start()
        there.close()
        assert "forked" in here.recv() and here.recv() == "done"
        child.join(30)
        assert child.exitcode == 0
        memory.append("s", {"role": "user", "content": "still here"})
        texts = [m["content"] for m in memory.messages("s")]
        assert texts == ["from the parent", "from the child", "still here"]
        assert memory.check()["ok"]


WRITER = """
    import sys, oneiro
    store, space, name = sys.argv[1], sys.argv[2] or None, sys.argv[3]
    with oneiro.open(store, space=space) as memory:
        for n in range(50):
            memory.append("s", {"role": "user", "content": f"{name} {n}", "external_id": f"{name}-{n}"})
"""


def test_many_processes_write_at_once(place: Place) -> None:
    with place.open() as memory:
        memory.create_session("s")
        code = [sys.executable, "-c", textwrap.dedent(WRITER), place.store, place.space or ""]
        writers = [subprocess.Popen([*code, str(n)], stderr=subprocess.PIPE) for n in range(4)]
        for writer in writers:
            _, said = writer.communicate(timeout=120)
            assert writer.returncode == 0, said.decode()
        assert memory.session("s").message_count == 200  # type: ignore[union-attr]


KILLED = """
    import os, signal, sys, oneiro
    memory = oneiro.open(sys.argv[1], space=sys.argv[2] or None)
    for n in range(10_000):
        print(memory.append("s", {"role": "user", "content": str(n)}).ids[0], flush=True)
        if n == 40:
            os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_acknowledged_survives_a_kill(place: Place) -> None:
    with place.open() as memory:
        memory.create_session("s")
    code = [sys.executable, "-c", textwrap.dedent(KILLED), place.store, place.space or ""]
    ended = subprocess.run(code, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -9
    acknowledged = [int(line) for line in ended.stdout.split()]
    with place.open() as memory:
        assert [m["id"] for m in memory.messages("s")][: len(acknowledged)] == acknowledged
        assert len(acknowledged) == 41


def test_an_interpreter_that_ends_leaves_nothing_behind(place: Place) -> None:
    code = """
        import sys, oneiro
        kept = oneiro.open(sys.argv[1], space=sys.argv[2] or None)
        kept.append("s", {"role": "user", "content": "x"}, create={})
    """
    args = [sys.executable, "-c", textwrap.dedent(code), place.store, place.space or ""]
    ended = subprocess.run(args, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_asyncio(place: Place) -> None:
    async def main() -> None:
        async with await aio.open(place.store, space=place.space) as memory:
            await memory.create_session("s")
            texts = [{"role": "user", "content": str(n)} for n in range(20)]
            await asyncio.gather(*(memory.append("s", text) for text in texts))
            assert len(await memory.messages("s")) == 20
            assert [session.id async for session in memory.sessions()] == ["s"]
            assert (await memory.search("7")).hits
            with pytest.raises(oneiro.NotFoundError):
                await memory.message(10**6)

    asyncio.run(main())


def test_importing_is_cheap() -> None:
    """No clock: what is not imported costs nothing."""
    heavy = "asyncio multiprocessing sqlite3 http urllib.request concurrent.futures"
    code = f"import sys, oneiro; print([m for m in {heavy.split()!r} if m in sys.modules])"
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert ended.stdout.strip() == "[]", ended.stderr
