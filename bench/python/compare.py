#!/usr/bin/env python3
"""The same work on Oneiro's SessionDB, on the first hermes SessionDB (our stand-in), and on the
SessionDB of hermes-agent where it is installed. README.md beside this has the commands."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import measures
from sides import Side, sides
from texts import conversations

Results = dict[str, dict[str, dict[str, Any]]]

#: The target of the project: how many times faster than the first hermes SessionDB.
BUDGETS = {
    "append_1": 1.5,
    "append_16": 8.0,
    "append_4_processes": 3.0,
    "size": 1.0,
    "size_appended": 1.0,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000, help="in the stores that are read")
    parser.add_argument("--appends", type=int, default=2_000, help="in each run of appends")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--durability", choices=("full", "normal"), default="full")
    parser.add_argument("--generation", choices=("0.19", "seed"), default="0.19")
    parser.add_argument("--only", nargs="+", choices=("oneiro", "seed", "hermes"))
    parser.add_argument("--skip", nargs="+", default=[], choices=("append", "read", "import"))
    parser.add_argument("--dir", help="where the files go: name a real disk, not tmpfs")
    parser.add_argument("--keep", help="a folder for the stores that are read, built once")
    parser.add_argument("--binary", help="the oneiro that imports, when Python cannot")
    parser.add_argument("--wheel", help="a wheel to weigh")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.messages < 240 or given.appends < 16 or given.rounds < 1:
        parser.error("at least 240 messages, 16 appends and one round")
    return given


def told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def appends(found: list[Side], given: argparse.Namespace, folder: str) -> Results:
    """Rounds of appends, the stores in turn so that a busy moment hits them all."""
    runs: dict[str, dict[str, list[Any]]] = {}
    kinds = {
        "append_1": measures.append_one,
        "append_16": measures.append_threads,
        "append_4_processes": measures.append_processes,
    }
    for round_ in range(given.rounds):
        for name, measure in kinds.items():
            for side in _turn(found, round_):
                with tempfile.TemporaryDirectory(dir=folder) as place:
                    run = measure(side, os.path.join(place, "state.db"), given.appends)
                runs.setdefault(name, {}).setdefault(side.name, []).append(run)
        told(f"appends: round {round_ + 1} of {given.rounds}")
    out = {name: {side: _median(of) for side, of in by.items()} for name, by in runs.items()}
    sized = {side: {"bytes": figures.pop("bytes")} for side, figures in out["append_1"].items()}
    return out | {"size_appended": sized}


def _turn(found: list[Side], round_: int) -> list[Side]:
    at = round_ % len(found)
    return [*found[at:], *found[:at]]


def _median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure; refusals and errors are summed."""
    out: dict[str, Any] = {}
    for name in runs[0]:
        values = [run[name] for run in runs if run[name] is not None]
        if name in ("errors", "refused"):
            out[name] = sum(values)
        else:
            middle = statistics.median(values) if values else None
            out[name] = int(middle) if name == "found" and middle is not None else middle
    return out


def stores(found: list[Side], given: argparse.Namespace, folder: str) -> dict[str, str]:
    """The stores that are read, built where they are not there yet."""
    paths = {}
    for side in found:
        path = os.path.join(folder, f"{side.name}-{given.messages}", "state.db")
        if not os.path.exists(f"{path}.built"):
            told(f"building {given.messages} messages: {side.name}")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            side.build(path, given.messages)
            # Written last: a build that was ended half-way is seen.
            Path(f"{path}.built").touch()
        paths[side.name] = path
    return paths


def reads(found: list[Side], given: argparse.Namespace, paths: dict[str, str]) -> Results:
    """Rounds of searches, loads and lists; the first of each store warms it and is not counted."""
    runs: dict[str, dict[str, list[Any]]] = {}
    dbs = {side.name: side.open(paths[side.name]) for side in found}
    for round_ in range(-1, given.rounds):
        for side in _turn(found, round_):
            db = dbs[side.name]
            taken = measures.reads(db)
            taken["search_typed"] = measures.searches(db, "typed")
            taken["search_terms"] = measures.searches(db, "terms")
            for name, run in taken.items():
                if round_ >= 0:
                    runs.setdefault(name, {}).setdefault(side.name, []).append(run)
        told(f"reads: round {round_ + 1} of {given.rounds}")
    for db in dbs.values():
        db.close()
    return {name: {side: _median(of) for side, of in by.items()} for name, by in runs.items()}


def sizes(found: list[Side], given: argparse.Namespace, paths: dict[str, str]) -> Results:
    text = sum(len(said.encode()) for _, all in conversations(given.messages) for _, said in all)
    measured = {side.name: side.size(paths[side.name]) for side in found}
    return {
        "size": {
            name: {"bytes": size, "of_text": size / text} for name, size in measured.items()
        }
    }


def moving(given: argparse.Namespace, paths: dict[str, str], folder: str) -> Results:
    """Imports of the state.db of each peer."""
    out: Results = {"import": {}}
    for name in ("seed", "hermes"):
        if name not in paths:
            continue
        runs = []
        for _ in range(min(given.rounds, 3)):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                target = os.path.join(place, "moved.db")
                run = measures.move_in(paths[name], target, given.messages, given.binary)
            if run is not None:
                runs.append(run)
        if runs:
            out["import"][f"oneiro from {name}"] = _median(runs)
    return out if out["import"] else {}


def ratios(results: Results) -> dict[str, dict[str, float]]:
    """How many times better we are: more appends, fewer milliseconds, fewer bytes."""
    out: dict[str, dict[str, float]] = {}
    for name, by in results.items():
        ours = by.get("oneiro")
        for peer in ("seed", "hermes"):
            # A search that finds nothing of what is there is not quick, it is wrong.
            if ours is None or peer not in by or by[peer].get("found") == 0:
                continue
            for figure, more in (("per_s", True), ("ms", False), ("bytes", False)):
                mine, theirs = ours.get(figure), by[peer].get(figure)
                if mine and theirs:
                    out.setdefault(name, {})[peer] = mine / theirs if more else theirs / mine
    return out


def machine() -> str:
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{system}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"


def show(report: dict[str, Any]) -> None:
    print(f"{report['machine']}; durability {report['durability']}; median of {report['rounds']}")
    names = sorted({name for by in report["results"].values() for name in by})
    for measure, by in report["results"].items():
        print(f"\n{measure}")
        for name in (one for one in names if one in by):
            figures = [
                f"{figure} {value:,.3f}" if isinstance(value, float) else f"{figure} {value}"
                for figure, value in by[name].items()
            ]
            print(f"  {name:<22}{', '.join(figures)}")
        for peer, times in report["ratios"].get(measure, {}).items():
            wanted = BUDGETS.get(measure) if peer == "seed" else None
            verdict = "" if wanted is None else f" (at least {wanted}: {times >= wanted})"
            print(f"  {times:.2f} times {peer}{verdict}")


def main() -> None:
    given = arguments()
    found = sides(given.durability, given.generation, given.only)
    for folder in (given.dir, given.keep):
        if folder:
            os.makedirs(folder, exist_ok=True)
    results: Results = {}
    with tempfile.TemporaryDirectory(dir=given.dir, prefix="compare-") as folder:
        if "append" not in given.skip:
            results |= appends(found, given, folder)
        if "read" not in given.skip or "import" not in given.skip:
            paths = stores(found, given, given.keep or folder)
            if "read" not in given.skip:
                results |= sizes(found, given, paths)
                results |= reads(found, given, paths)
            if "import" not in given.skip:
                results |= moving(given, paths, folder)
    results["import_oneiro"] = {"oneiro": measures.import_module()}
    if given.wheel:
        results["wheel"] = {"oneiro": {"bytes": os.path.getsize(given.wheel)}}
    report = {
        "machine": machine(),
        "durability": given.durability,
        "generation": given.generation,
        "messages": given.messages,
        "appends": given.appends,
        "rounds": given.rounds,
        "results": results,
        "ratios": ratios(results),
    }
    if given.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
