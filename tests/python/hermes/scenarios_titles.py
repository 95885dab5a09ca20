"""Titles and ids."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried, unset

WANTED = {
    "scenario_ids": {
        "2026_X": Wanted(None, "an id is told by its letters as they are"),
    },
}


def scenario_clean(db: Any) -> list[Observation]:
    titles: list[Any] = [
        None,
        "",
        "  ",
        "a\tb\n c",
        "a\x00b\x1fc",
        "a\x7fb",
        "a\u200bb\u202ec\u2066d\ufeffe",
        "x" * 100,
        "x" * 101,
        f" {'x' * 100} ",
        "é  ñ",
        "a\u3000b\xa0c\x85d",
        "a\u2028b\u2029c",
        "\u200b",
        5,
        "a\x9fb\xadc\u061cd\u180ee\u206af",
        "a\ufff9b\ufffcc\u2060d",
        "👨\u200d👩\u200d👧",
        "a\x0bb\x0cc\x1cd",
    ]
    seen: list[Observation] = [
        (f"{place}: {title!r}", tried(db.sanitize_title, title))
        for place, title in enumerate(titles)
    ]
    return [*seen, ("longest", db.MAX_TITLE_LENGTH)]


def scenario_titles(db: Any) -> list[Observation]:
    for session_id in "abc":
        db.create_session(session_id, "cli")
        tick()
    give, auto = db.set_session_title, db.set_auto_title_if_empty
    return [
        ("set", [give("a", " Plan  A "), db.get_session_title("a")]),
        ("same again", give("a", "Plan A")),
        ("taken", tried(give, "b", "Plan A")),
        ("taken, nobody", tried(give, "x", "Plan A")),
        ("nobody", give("x", "free")),
        ("other case", give("b", "plan a")),
        ("too long", tried(give, "a", "x" * 101)),
        ("unchanged", db.get_session_title("a")),
        ("auto, has one", auto("a", "Auto")),
        ("auto, taken", tried(auto, "c", "Plan A")),
        ("auto, nobody", auto("x", "Auto")),
        ("auto", [auto("c", " Auto "), db.get_session_title("c")]),
        ("auto, too long", tried(auto, "c", "x" * 101)),
        ("by title", unset(db.get_session_by_title("Plan A"))),
        ("by no title", [db.get_session_by_title(one) for one in ("nope", "", " Plan A ")]),
        ("title of", [db.get_session_title(one) for one in ("a", "x", "")]),
        ("taken away", [give("a", ""), db.get_session_title("a")]),
        ("taken away again", [give("a", None), give("b", "Plan A")]),
        ("free again", [give("b", None), give("a", "Plan A")]),
    ]


def scenario_lineage_of_titles(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    titles = ["Plan", "Plan #2", "Plan #10", "Plan #3", "A%b_c", "AXbYc #5", "lone #4", "C# #7"]
    for place, title in enumerate(titles):
        db.create_session(f"s{place}", "cli")
        db.set_session_title(f"s{place}", title)
        tick()
    db.create_session("late", "cli")
    db.set_session_title("late", "lone")
    asked = ["Plan", "Plan #2", "Plan #", "nope", "", "Pl%", " Plan ", "A%b_c", "lone", "C#"]
    seen += [(f"resolve {one!r}", db.resolve_session_by_title(one)) for one in asked]
    asked += ["Plan #99", "lone #4", "#3", "C# #7", "Plan #2 #3"]
    seen += [(f"next {one!r}", db.get_next_title_in_lineage(one)) for one in asked]
    return seen


def scenario_titles_are_handed_on(db: Any) -> list[Observation]:
    seen: list[Observation] = []

    def titles(*ids: str) -> list[Any]:
        return [db.get_session_title(one) for one in ids]

    db.create_session("p", "cli")
    db.set_session_title("p", "Big")
    db.end_session("p", "compression")
    tick()
    db.create_session("q", "cli", parent_session_id="p")
    seen.append(("a continuation begins without", titles("p", "q")))
    seen.append(("takes it", [db.set_session_title("q", "Big"), titles("p", "q")]))
    db.create_session("q2", "cli", parent_session_id="q")
    seen.append(("a child does not", tried(db.set_session_title, "q2", "Big")))
    db.end_session("q", "compression")
    db.create_session("r", "cli", parent_session_id="q")
    db.set_session_title("p", "Root")
    seen.append(("from its root", [db.set_session_title("r", "Root"), titles("p", "r")]))
    seen.append(("not back", tried(db.set_session_title, "p", "Root")))
    db.set_session_title("p", "Auto")
    db.set_session_title("r", None)
    seen.append(("by itself", [db.set_auto_title_if_empty("r", "Auto"), titles("p", "r")]))
    seen.append(("next", db.get_next_title_in_lineage("Big")))
    return seen


def scenario_search_by_id(db: Any) -> list[Observation]:
    for one in ("abc", "abc1", "xabc", "ABC2", "zz", "per%cent"):
        db.create_session(one, "cli")
        db.append_message(one, "user", f"hi {one}")
        tick()
    parent = None
    for one in ("root9", "mid9", "tip"):
        db.create_session(one, "cli", parent_session_id=parent)
        db.append_message(one, "user", f"hi {one}")
        tick()
        if one != "tip":
            db.end_session(one, "compression")
        parent = one
    db.create_session(
        "deleg_abc", "cli", parent_session_id="abc", model_config={"_delegate_from": "abc"}
    )
    db.set_session_archived("xabc", True)

    def found(*args: Any, **named: Any) -> Any:
        answer = tried(db.search_sessions_by_id, *args, **named)
        return [(row["id"], row.get("_lineage_root_id")) for row in answer]

    asked = ["abc", "ABC", " abc ", "root9", "mid9", "tip", "9", "", "  ", "%", "deleg", "none"]
    seen: list[Observation] = [(f"by {one!r}", found(one)) for one in asked]
    seen.append(("one", found("abc", limit=1)))
    seen.append(("none", [found("abc", limit=0), found("abc", limit=-1)]))
    seen.append(("not archived", found("abc", include_archived=False)))
    seen.append(("a row", db.search_sessions_by_id("root9")))
    return seen


def scenario_ids(db: Any) -> list[Observation]:
    for one in ("20260101_aaaa", "20260101_aabb", "2026_x", "per%cent", "per_cent", "Ü1"):
        db.create_session(one, "cli")
    asked = [
        "20260101_aaaa",
        "20260101_aaa",
        "20260101_a",
        "2026_",
        "per%",
        "per_",
        "per",
        "zz",
        "",
        " 2026_x",
        "Ü",
        "2026_X",
    ]
    return [(one, db.resolve_session_id(one)) for one in asked]
