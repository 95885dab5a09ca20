"""One scenario, run on two stores, compared.

A scenario is a function `scenario_*(db)` in a file `scenarios_*.py`; it answers a list of
observations, each a label and a value. Its clock stands still but for `tick`, so that times are
compared exactly. `WANTED` of its module says where the stores are meant to differ: for a scenario,
the labels with what ours answers and why.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

Observation = tuple[str, Any]
Scenario = Callable[[Any], list[Observation]]


class Wanted(NamedTuple):
    """A difference that is meant: what ours answers, and why."""

    ours: Any
    reason: str


class _Clock:
    now = 1_700_000_000.0


def tick(seconds: float = 1.0) -> float:
    """Moves the clock of the scenario on; answers the time."""
    _Clock.now += seconds
    return _Clock.now


@contextmanager
def standing_clock() -> Iterator[None]:
    """A clock that only `tick` moves."""
    real, _Clock.now = time.time, 1_700_000_000.0
    time.time = lambda: _Clock.now
    try:
        yield
    finally:
        time.time = real


def tried(call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What a call answers, or the class of what it raises, by the name both stores share."""
    try:
        return call(*args, **named)
    except Exception as error:
        return f"raises {shared_class(error)}"


def shared_class(error: BaseException) -> str:
    """The name of the class of an error that a caller of hermes can name."""
    for module in ("sqlite3", "builtins"):
        for one in type(error).__mro__:
            if one.__module__ == module:
                return one.__name__
    return "BaseException"


def unset(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """A row without what is unset."""
    return row and {name: value for name, value in row.items() if value not in (None, 0)}


def plain(value: Any) -> Any:
    """A value as JSON has it, so that tuples and lists are one."""
    return json.loads(json.dumps(value, default=repr))


def scenarios() -> list[tuple[str, str]]:
    """Every scenario: module and function."""
    found = []
    for path in sorted(Path(__file__).parent.glob("scenarios_*.py")):
        module = importlib.import_module(path.stem)
        found += [(path.stem, name) for name in vars(module) if name.startswith("scenario_")]
    return found


def observed(module: str, name: str, db: Any) -> dict[str, Any]:
    """What a scenario observes, by label."""
    scenario: Scenario = getattr(importlib.import_module(module), name)
    with standing_clock():
        seen = scenario(db)
    labels = [label for label, _ in seen]
    assert len(labels) == len(set(labels)), f"{name} uses a label twice: {labels}"
    return {label: plain(value) for label, value in seen}


def wanted(module: str, name: str) -> dict[str, Wanted]:
    """Where a scenario's observations are meant to differ."""
    found: dict[str, Wanted] = getattr(importlib.import_module(module), "WANTED", {}).get(name, {})
    return found


__all__ = [
    "Observation",
    "Wanted",
    "observed",
    "plain",
    "scenarios",
    "shared_class",
    "standing_clock",
    "tick",
    "tried",
    "unset",
    "wanted",
]
