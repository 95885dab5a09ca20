"""The measurements, each one run of one store. It knows no ratios and no budgets."""

from __future__ import annotations

import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from sides import Side
from texts import role, session_id, terms, texts, typed

__all__ = [
    "append_one",
    "append_processes",
    "append_threads",
    "import_module",
    "move_in",
    "reads",
    "searches",
]

SESSIONS = 50
THREADS = 16
PROCESSES = 4
#: A process stops after this many failed appends, or this many seconds.
FAILURES, TIMEOUT = 50, 300

Result = dict[str, float | int | None]


def _fresh(side: Side, path: str) -> Any:
    db = side.open(path)
    for number in range(SESSIONS):
        db.create_session(session_id(number), "cli")
    return db


def _expect(db: Any, count: int, side: Side) -> None:
    """What was acknowledged is there."""
    found = db.message_count()
    if found != count:
        raise SystemExit(f"{side.name}: {count} appends were acknowledged, {found} are there")


def append_one(side: Side, path: str, count: int) -> Result:
    """Appends by one thread, and the size of the store that came of them."""
    said = texts(count)
    db = _fresh(side, path)
    start = time.perf_counter()
    for place, text in enumerate(said):
        db.append_message(session_id(place % SESSIONS), role(place), text)
    spent = time.perf_counter() - start
    _expect(db, count, side)
    db.close()
    return {"per_s": count / spent, "bytes": side.size(path)}


def append_threads(side: Side, path: str, count: int) -> Result:
    """Appends by 16 threads that share one store."""
    each = max(count // THREADS, 1)
    said = texts(each * THREADS)
    db = _fresh(side, path)
    guard, barrier = side.guard(), threading.Barrier(THREADS + 1)
    failed: list[BaseException] = []

    def work(first: int) -> None:
        barrier.wait()
        try:
            for place in range(first, each * THREADS, THREADS):
                with guard:
                    db.append_message(session_id(place % SESSIONS), role(place), said[place])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - start
    if failed:
        raise SystemExit(f"{side.name}: a thread failed: {failed[0]!r}")
    _expect(db, each * THREADS, side)
    db.close()
    return {"per_s": each * THREADS / spent}


def _process(side: Side, path: str, job: tuple[int, int], barrier: Any, results: Any) -> None:
    number, count = job
    said = texts(count, number)
    db = side.open(path)
    done = errors = 0
    barrier.wait(TIMEOUT)
    start = time.monotonic()
    for place, text in enumerate(said):
        if errors >= FAILURES or time.monotonic() - start > TIMEOUT:
            break
        try:
            session = session_id((place * PROCESSES + number) % SESSIONS)
            db.append_message(session, role(place), text)
            done += 1
        except Exception:
            side.recover(db)
            errors += 1
    results.put((done, errors, start, time.monotonic()))
    db.close()


def append_processes(side: Side, path: str, count: int) -> Result:
    """Appends by four processes; what is refused is counted, not tried again."""
    each = max(count // PROCESSES, 1)
    _fresh(side, path).close()
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    children = [
        context.Process(target=_process, args=(side, path, (number, each), barrier, results))
        for number in range(PROCESSES)
    ]
    for child in children:
        child.start()
    reports = [results.get(timeout=2 * TIMEOUT) for _ in children]
    for child in children:
        child.join(TIMEOUT)
    done, errors, starts, ends = zip(*reports, strict=True)
    db = side.open(path)
    _expect(db, sum(done), side)
    db.close()
    return {"per_s": sum(done) / (max(ends) - min(starts)), "errors": sum(errors)}


def _ms(action: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def searches(db: Any, questions: str) -> Result:
    """Every question once: the median time of those that were answered, and how many were."""
    times, found, refused = [], 0, 0
    for query in typed() if questions == "typed" else terms():
        start = time.perf_counter()
        try:
            hits = db.search_messages(query)
        except Exception:
            refused += 1
            continue
        times.append(time.perf_counter() - start)
        found += bool(hits)
    if not times:
        return {"ms": None, "p95_ms": None, "found": 0, "refused": refused}
    times.sort()
    return {
        "ms": statistics.median(times) * 1000,
        "p95_ms": times[int(len(times) * 0.95)] * 1000,
        "found": found,
        "refused": refused,
    }


def reads(db: Any) -> dict[str, Result]:
    """Loading the conversation of 120 messages, and lists of 20."""
    long = session_id(0)
    found: dict[str, Result] = {
        "load_120": {"ms": _ms(lambda: db.get_messages(long), 30)},
        "conversation_120": {"ms": _ms(lambda: db.get_messages_as_conversation(long), 30)},
        "list_20": {"ms": _ms(lambda: db.search_sessions(limit=20), 30)},
    }
    if hasattr(db, "list_sessions_rich"):
        found["list_rich_20"] = {"ms": _ms(lambda: db.list_sessions_rich(limit=20), 10)}
    return found


def move_in(state: str, target: str, count: int, binary: str | None) -> Result | None:
    """Importing a state.db into an empty store; None while there is nothing that could."""
    try:
        from oneiro.compat.hermes import import_state_db
    except ImportError:
        import_state_db = None
    start = time.perf_counter()
    if import_state_db is not None:
        import_state_db(state, target)
    elif binary is not None:
        command = [binary, "--store", target, "import", "hermes", state]
        subprocess.run(command, check=True, capture_output=True)
    else:
        return None
    return {"per_s": count / (time.perf_counter() - start)}


def import_module() -> Result:
    """``import oneiro`` in a fresh process, the interpreter's own start left out."""
    code = "import time; t = time.perf_counter(); import oneiro; print(time.perf_counter() - t)"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], check=True, capture_output=True, env=environment
            ).stdout
        )
        for _ in range(5)
    ]
    return {"ms": statistics.median(times) * 1000}
