"""How fast a state.db of hermes is imported: makes one, and times `oneiro import hermes`.

Owns the file it makes: the tables of version 22 as far as they matter, messages of sixty words, fifty
sessions at a time. Nothing of hermes is needed. Run it as
`python bench/peers/import_hermes.py target/dist/oneiro --messages 200000`.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE schema_version (version INTEGER NOT NULL);
INSERT INTO schema_version VALUES (22);
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, title TEXT,
    input_tokens INTEGER DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
    timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT, reasoning TEXT,
    active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0);
CREATE INDEX idx_messages_session ON messages (session_id, timestamp);
"""

CALLS = '[{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]'


def make(path: Path, messages: int) -> None:
    """Fills a new file."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(8_000)]
    db = sqlite3.connect(path)
    db.executescript(TABLES)
    sessions = max(50, messages // 120)
    prompt = "You are kind and brief. " * 40
    db.executemany(
        "INSERT INTO sessions (id, source, model, system_prompt, started_at, title)"
        " VALUES (?, 'cli', 'm', ?, ?, ?)",
        ((f"s{n}", prompt, 1.7e9 + n, f"title {n}") for n in range(sessions)),
    )
    at = 1.7e9
    for n in range(messages):
        at += chance.random() * 9
        role = ("user", "assistant", "tool", "assistant")[n % 4]
        session = f"s{min(sessions - 1, n // 6_000 * 50 + n % 50)}"
        calls = CALLS if n % 4 == 1 else None
        text = " ".join(chance.choices(words, k=60))
        db.execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, timestamp, active)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (session, role, text, calls, at, int(n % 50 > 0)),
        )
    db.commit()
    db.close()


def measure(program: str, path: Path, messages: int) -> str:
    """One import into a new store: until both sides are counted, and until all is indexed."""
    with tempfile.TemporaryDirectory() as store:
        command = [program, "--store", store, "import", "hermes", str(path), "--json"]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            answer = json.loads(running.stdout.readline())
            stored = time.perf_counter() - began
        indexed = time.perf_counter() - began
    assert answer["messages"] == messages and answer["agrees"], answer
    return (
        f"stored and counted in {stored:.2f} s, {messages / stored:,.0f}/s;"
        f" indexed in {indexed:.2f} s, {messages / indexed:,.0f}/s"
    )


def main() -> None:
    """Makes the file and measures three times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="the binary")
    parser.add_argument("--messages", type=int, default=200_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        make(path, given.messages)
        for _ in range(3):
            print(measure(given.program, path, given.messages), flush=True)


if __name__ == "__main__":
    main()
