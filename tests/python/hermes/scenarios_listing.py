"""Lists of sessions."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick
from scenarios_lineage import begin, end, say

WANTED = {
    "scenario_directories": {
        "prefix /a_b": Wanted([["s7", "/a_b"]], "an underscore stands for itself"),
        "prefix /a%b": Wanted([["s8", "/a%b/c"]], "a percent sign stands for itself"),
        "prefix /a": Wanted(
            [["s10", "/a/"], ["s3", "/a/b/c"], ["s1", "/a/b"], ["s0", "/a"]],
            "directories differ by case",
        ),
        "prefix /a/": Wanted(
            [["s10", "/a/"], ["s3", "/a/b/c"], ["s1", "/a/b"], ["s0", "/a"]],
            "directories differ by case",
        ),
        "prefix /": Wanted(
            [
                [f"s{n}", cwd]
                for n, cwd in (
                    (10, "/a/"),
                    (8, "/a%b/c"),
                    (7, "/a_b"),
                    (6, "/A/b"),
                    (3, "/a/b/c"),
                    (2, "/ab"),
                    (1, "/a/b"),
                    (0, "/a"),
                )
            ],
            "every directory is under the root",
        ),
        "count": Wanted([4, 4], "directories differ by case"),
    },
    "scenario_previews": {
        "preview of spaces": Wanted("a b c d", "a preview is one line of words"),
        "preview of parts": Wanted("struct hello", "what was said is shown, not how it is kept"),
    },
}


def family(db: Any) -> None:
    """A chain with a branch and a delegate, a session with a child, and an empty one."""
    begin(db, "root", model="m1", cwd="/r", system_prompt="be kind")
    say(db, "root", "hello\nworld " + "x" * 80)
    tick()
    db.append_message("root", "assistant", "hi", tool_calls=[{"id": "1"}])
    end(db, "root", "compression")
    begin(db, "tip", "root", system_prompt="be brief")
    say(db, "tip", "in the tip")
    db.set_session_title("tip", "My Title")
    begin(db, "branch", "root", model_config={"_branched_from": "root"})
    say(db, "branch", "in the branch")
    begin(db, "delegate", "root", model_config={"_delegate_from": "root"})
    say(db, "delegate", "in the delegate")
    begin(db, "other", source="telegram", system_prompt="S")
    begin(db, "child", "other", source="telegram")
    begin(db, "cron_1", source="cron")
    say(db, "cron_1", "every morning")


def shown(rows: list[dict[str, Any]]) -> list[Any]:
    return [[row["id"], row.get("_lineage_root_id")] for row in rows]


def scenario_rich(db: Any) -> list[Observation]:
    family(db)
    rich = db.list_sessions_rich
    seen: list[Observation] = [
        ("rows", rich()),
        ("by activity", rich(order_by_last_active=True)),
        ("compact", rich(compact_rows=True)),
        ("children", rich(include_children=True)),
        ("children by activity", rich(include_children=True, order_by_last_active=True)),
        ("as they are", rich(project_compression_tips=False)),
        ("source", shown(rich(source="telegram"))),
        ("not these sources", shown(rich(exclude_sources=["cron", "telegram"]))),
        ("at least two", shown(rich(min_message_count=2))),
        ("at least two by activity", shown(rich(min_message_count=2, order_by_last_active=True))),
        ("pages", [shown(rich(limit=2, offset=at)) for at in range(5)]),
        ("none", rich(limit=0)),
        ("all", shown(rich(limit=-1))),
        ("one", db._get_session_rich_row("tip")),
        ("nobody", db._get_session_rich_row("nobody")),
    ]
    say(db, "root", "late words in an old segment")
    seen.append(("chain-wide activity", shown(rich(order_by_last_active=True))))
    seen.append(("with children", shown(rich(order_by_last_active=True, include_children=True))))
    say(db, "other", "now")
    seen.append(("and back", shown(rich(order_by_last_active=True))))
    seen.append(("by start still", shown(rich())))
    return seen


def scenario_found_in_lists(db: Any) -> list[Observation]:
    begin(db, "root-1")
    end(db, "root-1", "compression")
    begin(db, "side", "root-1")
    begin(db, "tip", "root-1")
    db.set_session_title("side", "AN-94 title_x")
    end(db, "side", "ws")
    begin(db, "lonely")
    db.set_session_title("lonely", "Another (big) title")

    def found(**asked: Any) -> list[Any]:
        return shown(db.list_sessions_rich(order_by_last_active=True, **asked))

    seen: list[Observation] = []
    for query in ("side", "ROOT", "root1", "lonely", "  ", "zz"):
        seen.append((f"id {query}", found(id_query=query)))
    for query in ("an94", "AN 94", "root1", "%", "title_x", "titleXx", "title", "-", "(BIG)", "  "):
        seen.append((f"text {query}", found(search_query=query)))
    seen.append(("both", found(id_query="root", search_query="an94")))
    seen.append(("both, apart", found(id_query="lonely", search_query="an94")))
    seen.append(("with children", found(id_query="side", include_children=True)))
    seen.append(("not by start", shown(db.list_sessions_rich(id_query="side"))))
    return seen


def scenario_counts(db: Any) -> list[Observation]:
    family(db)
    count = db.session_count
    seen: list[Observation] = [
        ("all", count()),
        ("conversations", count(exclude_children=True)),
        ("source", [count(source="cli"), count(source="zz"), count(source="")]),
        ("first argument", count("telegram")),
        ("not cron", count(exclude_sources=["cron"])),
        ("not cron, conversations", count(exclude_sources=["cron"], exclude_children=True)),
        ("with messages", count(min_message_count=1)),
        ("directory", count(cwd_prefix="/r")),
    ]
    db.set_session_archived("tip", True)
    seen.append(("archived", [count(), count(archived_only=True), count(include_archived=True)]))
    rich = db.list_sessions_rich
    seen.append(("lists", [shown(rich()), shown(rich(archived_only=True)), shown(rich(include_archived=True))]))
    return seen


def scenario_recent(db: Any) -> list[Observation]:
    family(db)
    return [
        ("all", db.search_sessions()),
        ("page", [row["id"] for row in db.search_sessions(limit=2, offset=1)]),
        ("source", [row["id"] for row in db.search_sessions("telegram")]),
        ("nothing", db.search_sessions("zz")),
    ]


def scenario_directories(db: Any) -> list[Observation]:
    directories = ["/a", "/a/b", "/ab", "/a/b/c", "", None, "/A/b", "/a_b", "/a%b/c", "C:\\x\\y", "/a/"]
    for number, cwd in enumerate(directories):
        begin(db, f"s{number}", cwd=cwd)
    seen: list[Observation] = []
    for prefix in ("/a", "/a/", "/a/b", "/", "/a_b", "/a%b", "C:\\x"):
        rows = db.list_sessions_rich(cwd_prefix=prefix)
        seen.append((f"prefix {prefix}", [[row["id"], row["cwd"]] for row in rows]))
    seen.append(("no prefix", len(db.list_sessions_rich(cwd_prefix=""))))
    seen.append(("count", [db.session_count(cwd_prefix="/a"), db.session_count(cwd_prefix="/a/")]))
    begin(db, "again", cwd="/a")
    say(db, "again")
    begin(db, "away", cwd="/gone")
    db.set_session_archived("away", True)
    seen.append(("distinct", db.distinct_session_cwds()))
    seen.append(("distinct, archived", db.distinct_session_cwds(include_archived=True)))
    return seen


def scenario_cron_runs(db: Any) -> list[Observation]:
    for one in ("cron_j1_1", "cron_j1_2", "cron_j10_1", "cron_j1", "xcron_j1_3", "cron_j1_%"):
        begin(db, one, source="cron", system_prompt="S")
    begin(db, "cron_j1_9")
    say(db, "cron_j1_1", "run")
    runs = db.list_cron_job_runs
    return [
        ("rows", runs("j1")),
        ("page", [row["id"] for row in runs("j1", limit=1, offset=1)]),
        ("no job", [runs(""), runs("j"), runs("zz")]),
    ]


def scenario_previews(db: Any) -> list[Observation]:
    said: dict[str, Any] = {
        "spaces": "a\n\nb   c\td",
        "parts": [{"type": "text", "text": "struct hello"}],
        "sixty": "z" * 60,
        "more": "z" * 61,
    }
    seen: list[Observation] = []
    for name, content in said.items():
        begin(db, name)
        say(db, name, content)
        seen.append((f"preview of {name}", db._get_session_rich_row(name)["preview"]))
    begin(db, "an empty first")
    say(db, "an empty first", "")
    say(db, "an empty first", "later")
    seen.append(("preview of an empty first", db._get_session_rich_row("an empty first")["preview"]))
    begin(db, "nothing")
    seen.append(("preview of nothing", db._get_session_rich_row("nothing")["preview"]))
    return seen


def scenario_activity(db: Any) -> list[Observation]:
    begin(db, "a")
    first = say(db, "a", "one")
    tick()
    db.append_message("a", "assistant", "two")
    last = say(db, "a", "three")
    row = db.list_sessions_rich
    seen: list[Observation] = [("before", row())]
    db.rewind_to_message("a", last)
    seen.append(("rewound", row()[0]["last_active"]))
    tick()
    db.archive_and_compact("a", [{"role": "user", "content": "summary"}])
    seen.append(("compacted", [row()[0][name] for name in ("last_active", "message_count")]))
    seen.append(("first", first))
    return seen
