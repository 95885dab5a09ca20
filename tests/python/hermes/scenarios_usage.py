"""Tokens and costs."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried, unset

NO_NULL = "None is no tokens; hermes turns the counter into NULL"

WANTED = {
    "scenario_odd_amounts": {
        "none": Wanted([None, 5], NO_NULL),
        "less than nothing": Wanted(["raises ProgrammingError", 5], "counters only grow"),
    },
}


def scenario_add(db: Any) -> list[Observation]:
    seen: list[Observation] = []

    def after(label: str, *args: Any, **named: Any) -> None:
        tick()
        answer = db.update_token_counts(*args, **named)
        seen.append((label, [answer, db.get_session(args[0])]))

    db.create_session("a", "cli", model="asked for")
    after("tokens", "a", 10, 5)
    after(
        "first route",
        "a",
        10,
        5,
        model="m1",
        billing_provider="p1",
        billing_base_url="b1",
        billing_mode="bm",
        api_call_count=1,
        estimated_cost_usd=0.5,
        cost_status="cs",
        cost_source="co",
        pricing_version="pv",
    )
    after(
        "other route",
        "a",
        10,
        5,
        model="m2",
        billing_provider="p2",
        billing_base_url="b2",
        billing_mode="bm2",
        api_call_count=1,
        actual_cost_usd=0.25,
        cost_status="cs2",
        cost_source="co2",
        pricing_version="pv2",
    )
    after("by position", "a", 10, 5, "m1", 1, 2, 3, 0.125, 0.25)
    after(
        "absolute",
        "a",
        7,
        8,
        "m3",
        1,
        2,
        3,
        0.1,
        None,
        api_call_count=9,
        absolute=True,
        billing_provider="px",
        cost_status="z",
    )
    after("absolute costs", "a", absolute=True, estimated_cost_usd=0.5, actual_cost_usd=0.75)
    after("absolute nothing", "a", absolute=True)
    after("unknown", "new", 1, 2)
    after("unknown, absolute", "new2", 1, 2, model="x", absolute=True)
    return seen


def scenario_routes(db: Any) -> list[Observation]:
    seen: list[Observation] = []

    def route(session_id: str) -> Any:
        row = db.get_session(session_id)
        names = (
            "input_tokens",
            "api_call_count",
            "model",
            "billing_provider",
            "billing_base_url",
            "billing_mode",
        )
        return [row[name] for name in names]

    def calls(name: str, given: dict[str, Any], *updates: dict[str, Any]) -> None:
        db.create_session(name, "cli", **given)
        after = []
        for update in updates:
            db.update_token_counts(name, **update)
            after.append(route(name))
        seen.append((name, after))

    one = {"input_tokens": 1}
    asked = {"model": "req"}
    calls(
        "counted first",
        asked,
        {**one, "api_call_count": 1},
        {**one, "billing_provider": "p", "billing_base_url": "u"},
        {**one, "billing_provider": "p2", "billing_mode": "m"},
        {"billing_mode": "z"},
    )
    calls(
        "same route",
        asked,
        {**one, "model": "req", "billing_provider": "p", "billing_base_url": "u"},
        {**one, "model": "req", "billing_provider": "p", "billing_base_url": "u2"},
        {**one, "model": "req", "billing_provider": "p", "billing_mode": "m"},
        {**one, "billing_provider": "p7"},
    )
    calls(
        "provider only", asked, {**one, "billing_provider": "p7"}, {**one, "billing_base_url": "b"}
    )
    calls("calls only", {}, {"api_call_count": 1, "model": "m", "billing_provider": "p"})
    calls("nothing used", asked, {"model": "m", "billing_provider": "p", "estimated_cost_usd": 0.0})
    calls("cost only", asked, {"model": "m", "billing_provider": "p", "estimated_cost_usd": 0.5})
    calls("cache only", asked, {"model": "m", "billing_provider": "p", "cache_read_tokens": 3})
    calls(
        "no model",
        {},
        {"billing_provider": "p"},
        {**one, "billing_provider": "p"},
        {**one, "model": "late"},
    )
    calls(
        "empty texts",
        asked,
        {**one, "model": "m", "billing_provider": ""},
        {**one, "model": "", "billing_provider": "p"},
    )
    calls(
        "until calls are counted",
        asked,
        {**one, "model": "m1", "billing_provider": "p1"},
        {**one, "model": "m2", "billing_provider": "p2", "api_call_count": 1},
        {**one, "model": "m3", "billing_provider": "p3", "api_call_count": 1},
    )
    calls(
        "absolute",
        asked,
        {**one, "model": "m", "billing_provider": "p", "absolute": True, "api_call_count": 2},
        {**one, "model": "m2", "billing_provider": "p2", "absolute": True},
    )
    return seen


def scenario_auxiliary(db: Any) -> list[Observation]:
    db.create_session("a", "cli", model="m")
    db.update_token_counts("a", 1, 2, model="m", billing_provider="p", api_call_count=1)
    used = db.record_auxiliary_usage
    return [
        ("answer", used("a", "title", model="aux", input_tokens=3, estimated_cost_usd=0.5)),
        ("no model", used("a", "title", input_tokens=3)),
        ("no task", used("a", "", model="q", input_tokens=3)),
        ("totals stay", db.get_session("a")),
        ("unknown", [used("n", "title", model="aux"), unset(db.get_session("n"))]),
        ("nobody", used("", "title", model="aux")),
    ]


def scenario_odd_amounts(db: Any) -> list[Observation]:
    db.create_session("a", "cli")
    db.update_token_counts("a", 5)
    seen: list[Observation] = []
    for label, amount in (("none", None), ("less than nothing", -3)):
        answer = tried(db.update_token_counts, "a", amount)
        seen.append((label, [answer, db.get_session("a")["input_tokens"]]))
    return seen
