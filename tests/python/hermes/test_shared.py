"""What several processes share: locks and handoffs have one winner."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

_RACE = """
import sys
from oneiro.compat.hermes import SessionDB
store, space, call, name = sys.argv[1:]
db = SessionDB(store, space=space or None, durability="normal")
print("ready", flush=True)
sys.stdin.readline()
won = []
for number in range(20):
    if call == "lock":
        won.append(db.try_acquire_compression_lock(f"s{number}", name))
    elif call == "claim":
        won.append(db.claim_handoff(f"s{number}"))
    else:
        won.append(db.request_handoff(f"s{number}", name))
print("".join(map(str, map(int, won))), flush=True)
db.close()
"""


def race(place: Any, call: str, runners: int = 4) -> list[int]:
    """How many of the runners won each of twenty races."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _RACE, place.store, place.space or "", call, f"h{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(runners)
    ]
    for one in started:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    answers = []
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in started:
        out, _ = one.communicate(timeout=120)
        assert one.returncode == 0
        answers.append(out.strip())
    return [sum(int(answer[number]) for answer in answers) for number in range(20)]


@pytest.mark.parametrize("call", ["lock", "claim", "request"])
def test_one_winner(db: Any, place: Any, call: str) -> None:
    for number in range(20):
        db.create_session(f"s{number}", "cli")
        if call == "claim":
            db.request_handoff(f"s{number}", "telegram")
    assert race(place, call) == [1] * 20
    if call == "lock":
        holders = [db.get_compression_lock_holder(f"s{number}") for number in range(20)]
        assert all(holders)
        for number, holder in enumerate(holders):
            db.release_compression_lock(f"s{number}", "nobody")
            assert db.get_compression_lock_holder(f"s{number}") == holder
            db.release_compression_lock(f"s{number}", holder)
            assert db.get_compression_lock_holder(f"s{number}") is None


def test_a_lock_goes_with_its_session(db: Any) -> None:
    db.create_session("s", "cli")
    assert db.try_acquire_compression_lock("s", "h1")
    db.delete_session("s")
    assert db.get_compression_lock_holder("s") is None


def test_a_store_that_is_closed_gives_no_lock(db: Any) -> None:
    db.create_session("s", "cli")
    db.close()
    with pytest.raises(AttributeError):
        db.try_acquire_compression_lock("s", "h1")
