"""Threads, processes, and processes that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

APPENDS = """
import sys
from oneiro.compat.hermes import SessionDB
store, space, name, count = sys.argv[1:]
db = SessionDB(store, space=space or None, durability="normal")
db.ensure_session("shared", "cli")
for number in range(int(count)):
    row = db.append_message("shared", "user", f"{name} {number}")
    print(row, flush=True)
db.close()
"""


def process(place: Any, code: str, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), place.store, place.space or "", *args]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_threads(db: Any) -> None:
    for name in "ab":
        db.create_session(name, "cli")

    def talk(number: int) -> list[int]:
        session = "ab"[number % 2]
        return [db.append_message(session, "user", f"{number} {n}") for n in range(20)]

    with ThreadPoolExecutor(8) as pool:
        ids = [one for part in pool.map(talk, range(8)) for one in part]
    assert len(set(ids)) == 160
    for name in "ab":
        rows = db.get_messages(name)
        assert len(rows) == 80 == db.get_session(name)["message_count"]
        for number in range(8):
            mine = [row["content"] for row in rows if row["content"].startswith(f"{number} ")]
            assert mine in ([], [f"{number} {n}" for n in range(20)])


def test_processes(place: Any, open_db: Callable[..., Any]) -> None:
    running = [process(place, APPENDS, f"p{number}", "25") for number in range(3)]
    printed = [one.communicate()[0].split() for one in running]
    assert [one.returncode for one in running] == [0, 0, 0]
    db = open_db()
    rows = db.get_messages("shared")
    assert sorted(int(one) for part in printed for one in part) == [row["id"] for row in rows]
    for number in range(3):
        mine = [row["content"] for row in rows if row["content"].startswith(f"p{number} ")]
        assert mine == [f"p{number} {n}" for n in range(25)]
    assert db.get_session("shared")["message_count"] == 75


def test_a_killed_process_loses_nothing_it_was_told(
    place: Any, open_db: Callable[..., Any]
) -> None:
    running = process(place, APPENDS, "k", "1000000")
    assert running.stdout is not None
    told = [int(running.stdout.readline()) for _ in range(30)]
    running.send_signal(signal.SIGKILL)
    rest = running.stdout.read().split("\n")[:-1]
    running.wait()
    told += [int(one) for one in rest if one]
    db = open_db()
    ids = [row["id"] for row in db.get_messages("shared")]
    assert set(told) <= set(ids)
    assert db.get_session("shared")["message_count"] == len(ids)
    assert db.append_message("shared", "user", "and on") > max(ids)


REWRITES = """
import sys
from oneiro.compat.hermes import SessionDB
store, space = sys.argv[1:]
db = SessionDB(store, space=space or None, durability="normal")
number = 0
while True:
    number += 1
    text = [{"role": "user", "content": f"{number} {n}"} for n in range(5)]
    db.replace_messages("s", text) if number % 2 else db.archive_and_compact("s", text)
    print(number, flush=True)
"""


def test_a_killed_rewrite_is_whole_or_not_there(place: Any, open_db: Callable[..., Any]) -> None:
    open_db().create_session("s", "cli")
    running = process(place, REWRITES)
    assert running.stdout is not None
    for _ in range(10):
        told = int(running.stdout.readline())
    running.send_signal(signal.SIGKILL)
    rest = running.stdout.read().split("\n")[:-1]
    running.wait()
    told = int(rest[-1]) if rest else told
    db = open_db()
    contents = [row["content"] for row in db.get_messages("s")]
    wholes = [[f"{number} {n}" for n in range(5)] for number in (told, told + 1)]
    assert contents in wholes
    assert db.get_session("s")["message_count"] == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told_to_open_its_own(db: Any) -> None:
    db.create_session("s", "cli")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            db.append_message("s", "user", "x")
            told = "stored"
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
        os.write(write, told.encode())
        os._exit(0)
    os.waitpid(child, 0)
    told = os.read(read, 10_000).decode()
    os.close(read)
    os.close(write)
    assert told.startswith("OperationalError") and "fork" in told
    assert db.append_message("s", "user", "y") > 0
    assert [row["content"] for row in db.get_messages("s")] == ["y"]
