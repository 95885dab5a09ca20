#!/usr/bin/env python3
"""A stand-in for a peer: the first SessionDB of hermes-agent (schema 1).

This is our own code, written from a description of that store's behaviour
(tables, indexes, triggers, connection settings, method results) without the
peer's source at hand; nothing is copied from it. It keeps what costs time: one SQLite file in
WAL mode, one connection shared by all callers, an FTS5 external content table
kept in step by triggers, and one commit per method. Only the methods that the
benchmark needs are here.

One thing is explicit that the peer leaves to SQLite's default: `synchronous`,
FULL unless `--durability normal` is given.

Run `python3 session_store.py --help`; only the standard library is needed.
"""

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import platform
import queue
import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

# ------------------------------------------------------------------ the store

BUSY_SECONDS = 10
DEFAULT_SOURCES = ("cli", "telegram", "discord", "whatsapp", "slack")

SCHEMA = """
CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    user_id TEXT,
    model TEXT,
    model_config TEXT,
    system_prompt TEXT,
    parent_session_id TEXT REFERENCES sessions(id),
    started_at REAL NOT NULL,
    ended_at REAL,
    end_reason TEXT,
    message_count INTEGER DEFAULT 0,
    tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0,
    output_tokens INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions(id),
    role TEXT NOT NULL,
    content TEXT,
    tool_call_id TEXT,
    tool_calls TEXT,
    tool_name TEXT,
    timestamp REAL NOT NULL,
    token_count INTEGER
);
CREATE INDEX IF NOT EXISTS sessions_by_source ON sessions(source);
CREATE INDEX IF NOT EXISTS sessions_by_parent ON sessions(parent_session_id);
CREATE INDEX IF NOT EXISTS sessions_by_start ON sessions(started_at DESC);
CREATE INDEX IF NOT EXISTS messages_by_session ON messages(session_id, timestamp);
"""

FTS_SCHEMA = """
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content=messages, content_rowid=id);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
    INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE ON messages BEGIN
    INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
"""


class SessionStore:
    """Like the peer, it has no lock of its own: threads that share it must bring one."""

    def __init__(self, path, durability="full"):
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.db = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
        self.db.row_factory = sqlite3.Row
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA foreign_keys=ON")
        self.db.execute("PRAGMA synchronous=FULL" if durability == "full"
                        else "PRAGMA synchronous=NORMAL")
        self.db.executescript(SCHEMA)
        if self.db.execute("SELECT version FROM schema_version").fetchone() is None:
            self.db.execute("INSERT INTO schema_version VALUES (1)")
        try:
            self.db.execute("SELECT rowid FROM messages_fts LIMIT 0")
        except sqlite3.OperationalError:
            self.db.executescript(FTS_SCHEMA)
        self.db.commit()

    def close(self):
        if self.db is not None:
            self.db.close()
            self.db = None

    def create_session(self, session_id, source, model=None, model_config=None,
                       system_prompt=None, user_id=None, parent_session_id=None):
        self.db.execute(
            "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt,"
            " parent_session_id, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (session_id, source, user_id, model,
             json.dumps(model_config) if model_config else None,
             system_prompt, parent_session_id, time.time()))
        self.db.commit()
        return session_id

    def append_message(self, session_id, role, content=None, tool_name=None,
                       tool_calls=None, tool_call_id=None, token_count=None):
        row = self.db.execute(
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls,"
            " tool_name, timestamp, token_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (session_id, role, content, tool_call_id,
             json.dumps(tool_calls) if tool_calls else None,
             tool_name, time.time(), token_count))
        is_tool = role == "tool" or tool_calls is not None
        self.db.execute(
            "UPDATE sessions SET message_count = message_count + 1,"
            " tool_call_count = tool_call_count + ? WHERE id = ?",
            (int(is_tool), session_id))
        self.db.commit()
        return row.lastrowid

    def get_messages(self, session_id):
        rows = self.db.execute(
            "SELECT * FROM messages WHERE session_id = ? ORDER BY timestamp, id", (session_id,))
        messages = [dict(row) for row in rows]
        for message in messages:
            if message["tool_calls"]:
                # What is no JSON is left as it was stored.
                with contextlib.suppress(ValueError):
                    message["tool_calls"] = json.loads(message["tool_calls"])
        return messages

    def search_sessions(self, source=None, limit=20, offset=0):
        where, values = ("WHERE source = ?", [source]) if source else ("", [])
        rows = self.db.execute(
            f"SELECT * FROM sessions {where} ORDER BY started_at DESC LIMIT ? OFFSET ?",
            (*values, limit, offset))
        return [dict(row) for row in rows]

    def search_messages(self, query, source_filter=None, role_filter=None, limit=20, offset=0):
        """The query goes to FTS5 as it is; a syntax fault raises OperationalError."""
        if not query or not query.strip():
            return []
        sources = DEFAULT_SOURCES if source_filter is None else source_filter
        where = f"messages_fts MATCH ? AND s.source IN ({placeholders(sources)})"
        values = [query, *sources]
        if role_filter:
            where += f" AND m.role IN ({placeholders(role_filter)})"
            values += role_filter
        rows = self.db.execute(
            "SELECT m.id, m.session_id, m.role,"
            " snippet(messages_fts, 0, '>>>', '<<<', '...', 40) AS snippet,"
            " m.timestamp, m.tool_name, s.source, s.model, s.started_at AS session_started"
            " FROM messages_fts JOIN messages m ON m.id = messages_fts.rowid"
            f" JOIN sessions s ON s.id = m.session_id WHERE {where}"
            " ORDER BY rank LIMIT ? OFFSET ?", (*values, limit, offset))
        hits = [dict(row) for row in rows]
        for hit in hits:
            hit["context"] = self._context(hit)
        return hits

    def _context(self, hit):
        """Neighbours by id, which interleaved sessions do not have."""
        try:
            rows = self.db.execute(
                "SELECT role, content FROM messages"
                " WHERE session_id = ? AND id BETWEEN ? AND ? ORDER BY id",
                (hit["session_id"], hit["id"] - 1, hit["id"] + 1))
            return [{"role": r["role"], "content": (r["content"] or "")[:200]} for r in rows]
        except sqlite3.Error:
            return []


def placeholders(values):
    return ", ".join("?" * len(values))


# --------------------------------------------------------------- the workload

SESSIONS = 50
LONG = 120  # messages in session 0, the conversation that is read back
WORDS = 60  # words in a message
SEED = 4747
VOCABULARY = 8000


def make_vocabulary():
    """Made-up words of 3 to 9 letters, 6 on average, with Zipf weights."""
    rng = random.Random(SEED)
    words = {}  # a dict keeps insertion order: the rank
    for _ in range(VOCABULARY * 20):
        if len(words) == VOCABULARY:
            break
        length = rng.randint(3, 9)
        letters = ("bcdfghjklmnprstvz"[rng.randrange(17)] if i % 2 == 0 else rng.choice("aeiou")
                   for i in range(length))
        words["".join(letters)] = None
    weights = itertools.accumulate(1 / rank for rank in range(1, len(words) + 1))
    return list(words), list(weights)


def make_texts(count, seed):
    words, weights = make_vocabulary()
    rng = random.Random(seed)
    for _ in range(count):
        yield " ".join(rng.choices(words, cum_weights=weights, k=WORDS))


def session_id(number):
    return f"session-{number:02}"


def schedule(count):
    """The session of each message: 120 spread evenly go to session 0, the rest take turns."""
    stride = count // LONG
    for i in range(count):
        if i % stride == 0 and i // stride < LONG:
            yield session_id(0)
        else:
            yield session_id(1 + i % (SESSIONS - 1))


def role(i):
    return "assistant" if i % 2 else "user"


def new_store(path, durability):
    store = SessionStore(path, durability)
    for number in range(SESSIONS):
        store.create_session(session_id(number), "cli", model="bench")
    return store


# --------------------------------------------------------------- measurements

THREADS = 16
PROCESSES = 4
MAX_ERRORS = 20  # a process gives up after this many failed appends
MAX_SECONDS = 120  # or after so long


def median_ms(action, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return round(statistics.median(times) * 1000, 4)


def open_ms(path, durability):
    """Opening a store that exists; closing it is not timed."""
    times = []
    for _ in range(50):
        start = time.perf_counter()
        store = SessionStore(path, durability)
        times.append(time.perf_counter() - start)
        store.close()
    return round(statistics.median(times) * 1000, 4)


def append_single(store, count):
    """Only the appends are timed, not the making of the texts."""
    spent, text_bytes = 0.0, 0
    for i, (sid, text) in enumerate(zip(schedule(count), make_texts(count, SEED), strict=False)):
        start = time.perf_counter()
        store.append_message(sid, role(i), text)
        spent += time.perf_counter() - start
        text_bytes += len(text.encode())
    return {"per_s": round(count / spent, 1)}, text_bytes


def append_threads(path, durability, count):
    store = new_store(path, durability)
    each = count // THREADS
    texts = list(make_texts(each * THREADS, SEED + 1))
    sids = list(schedule(count))
    lock, barrier = threading.Lock(), threading.Barrier(THREADS + 1)

    def work(first):
        barrier.wait()
        for i in range(first, each * THREADS, THREADS):
            with lock:
                store.append_message(sids[i], role(i), texts[i])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    barrier.wait()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - start
    expect_rows(store, each * THREADS)
    store.close()
    return {"per_s": round(each * THREADS / spent, 1)}


def process_work(number, path, durability, count, barrier, results):
    store = SessionStore(path, durability)
    texts = list(make_texts(count, SEED + 2 + number))
    done = errors = 0
    barrier.wait(60)
    start = time.monotonic()  # one clock for all processes
    for i, text in enumerate(texts):
        if errors >= MAX_ERRORS or time.monotonic() - start > MAX_SECONDS:
            break
        try:
            store.append_message(session_id((i * PROCESSES + number) % SESSIONS), role(i), text)
            done += 1
        except sqlite3.Error:
            store.db.rollback()
            errors += 1
    results.put((done, errors, start, time.monotonic()))
    store.close()


def append_processes(path, durability, count):
    each = min(1000, max(300, count // 10))
    store = new_store(path, durability)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    children = [context.Process(target=process_work,
                                args=(n, path, durability, each, barrier, results))
                for n in range(PROCESSES)]
    for child in children:
        child.start()
    try:
        reports = [results.get(timeout=MAX_SECONDS + 90) for _ in children]
    except queue.Empty:
        raise SystemExit("a writer process ended without a report") from None
    finally:
        for child in children:
            child.join(15)
            if child.is_alive():
                child.terminate()
    done, errors, starts, ends = zip(*reports, strict=True)
    expect_rows(store, sum(done))
    store.close()
    return {"per_s": round(sum(done) / (max(ends) - min(starts)), 1), "errors": sum(errors)}


def expect_rows(store, count):
    """What was acknowledged is there, in the table and in the counters."""
    rows = store.db.execute("SELECT count(*) FROM messages").fetchone()[0]
    counted = store.db.execute("SELECT sum(message_count) FROM sessions").fetchone()[0]
    if not rows == counted == count:
        raise SystemExit(f"{count} appends, but {rows} rows and {counted} counted")


def expect_search(store):
    """The full-text index is in step and a search finds the message it should."""
    store.db.execute("INSERT INTO messages_fts(messages_fts, rank) VALUES ('integrity-check', 1)")
    store.db.commit()
    target = store.get_messages(session_id(0))[0]
    phrase = '"' + " ".join(target["content"].split()[:6]) + '"'
    if target["id"] not in [hit["id"] for hit in store.search_messages(phrase)]:
        raise SystemExit("search does not find a message that is there")


def peak_rss_mb():
    """VmHWM where there is one: ru_maxrss may include what the parent had before exec."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def machine():
    cpu = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return (f"{platform.system()} {platform.machine()}, {cpu}, {os.cpu_count()} cores,"
            f" Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")


def measure(directory, count, durability):
    path = os.path.join(directory, "single.db")
    store = new_store(path, durability)
    single, text_bytes = append_single(store, count)
    expect_rows(store, count)
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    size = os.path.getsize(path)
    if len(store.get_messages(session_id(0))) != LONG:
        raise SystemExit(f"the long conversation does not have {LONG} messages")
    read_ms = median_ms(lambda: store.get_messages(session_id(0)), 200)
    list_ms = median_ms(store.search_sessions, 200)
    rss = peak_rss_mb()  # before the parts that hold all their texts in memory
    expect_search(store)
    store.close()
    return {
        "machine": machine(),
        "durability": durability,
        "messages": count,
        "append_single": single,
        "append_16": append_threads(os.path.join(directory, "threads.db"), durability, count),
        "append_4_processes": append_processes(
            os.path.join(directory, "processes.db"), durability, count),
        "read_120_ms": read_ms,
        "list_ms": list_ms,
        "open_ms": open_ms(path, durability),
        "size_ratio": round(size / text_bytes, 3),
        "rss_mb": rss,
    }


def main():
    parser = argparse.ArgumentParser(description="Measure the stand-in for the peer's store.")
    parser.add_argument("--messages", type=int, default=5000, help="at least 240 (default 5000)")
    parser.add_argument("--dir", help="where to put the database files (default: a temp dir)")
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    parser.add_argument("--json", action="store_true", help="one line instead of indented JSON")
    args = parser.parse_args()
    if args.messages < 2 * LONG:
        parser.error(f"--messages must be at least {2 * LONG}")
    if args.dir:
        os.makedirs(args.dir, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="peer-", dir=args.dir) as directory:
        result = measure(directory, args.messages, args.durability)
    print(json.dumps(result, indent=None if args.json else 2))


if __name__ == "__main__":
    main()
