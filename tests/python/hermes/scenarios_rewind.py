"""Rewind, and undoing it."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick, tried

STALE = "hermes leaves message_count as it was before the rewind (the specification's pitfall)"

WANTED = {
    "scenario_rewind": {
        "counts": Wanted([2, 0, 1], STALE),
        "counts, again": Wanted([2, 0, 2], STALE),
        "counts, appended": Wanted([3, 0, 2], STALE),
        "counts, third": Wanted([2, 0, 3], STALE),
        "counts at the end": Wanted([2, 0, 3], STALE),
    },
    "scenario_restore": {
        "some": Wanted([2, ["m0", "m1", "m4", "m5"], [4, 0, 1]], STALE),
        "after a compaction": Wanted(
            [0, ["s"], [1, 0, 2]],
            "hermes brings compacted messages back, which their summary stands for",
        ),
        "over a compaction": Wanted(
            [1, ["s", "after"], [2, 0, 3]],
            "hermes brings compacted messages back, which their summary stands for",
        ),
    },
}


def talk(db: Any, session_id: str, count: int) -> list[int]:
    db.create_session(session_id, "cli")
    ids = []
    for place in range(count):
        ids.append(db.append_message(session_id, "assistant" if place % 2 else "user", f"m{place}"))
        tick()
    return ids


def counts(db: Any, session_id: str) -> list[int]:
    row = db.get_session(session_id)
    return [row["message_count"], row["tool_call_count"], row["rewind_count"]]


def contents(db: Any, session_id: str, **named: Any) -> list[Any]:
    return [row["content"] for row in db.get_messages(session_id, **named)]


def scenario_rewind(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    ids = talk(db, "a", 6)
    talk(db, "o", 2)
    seen.append(("answer", db.rewind_to_message("a", ids[2])))
    seen.append(("counts", counts(db, "a")))
    seen.append(("left", contents(db, "a")))
    seen.append(
        (
            "all",
            [
                (row["content"], row["active"], row["compacted"])
                for row in db.get_messages("a", include_inactive=True)
            ],
        )
    )
    seen.append(("again", db.rewind_to_message("a", ids[2])))
    seen.append(("counts, again", counts(db, "a")))
    db.append_message("a", "user", "new")
    seen.append(("counts, appended", counts(db, "a")))
    third = db.rewind_to_message("a", ids[4])
    seen.append(
        ("to a rewound one, with one after it", [third["rewound_count"], third["new_head_id"]])
    )
    seen.append(("counts, third", counts(db, "a")))
    seen.append(("left of it", contents(db, "a")))
    seen.append(("not the user's", tried(db.rewind_to_message, "a", ids[1])))
    seen.append(
        (
            "unknown",
            [
                tried(db.rewind_to_message, "a", 9999),
                tried(db.rewind_to_message, "x", ids[0]),
                tried(db.rewind_to_message, "o", ids[0]),
                tried(db.rewind_to_message, "a", None),
            ],
        )
    )
    seen.append(("counts at the end", counts(db, "a")))
    seen.append(("archived", [db.has_archived_messages("a"), db.has_archived_messages("o")]))
    first = db.rewind_to_message("o", db.get_messages("o")[0]["id"])
    seen.append(("to the first", [first["rewound_count"], first["new_head_id"]]))
    seen.append(("count", [db.message_count("a"), db.message_count("o"), db.message_count()]))
    return seen


def scenario_restore(db: Any) -> list[Observation]:
    seen: list[Observation] = []
    ids = talk(db, "a", 6)
    db.rewind_to_message("a", ids[2])

    def restored(label: str, since: int) -> None:
        answer = db.restore_rewound("a", since)
        seen.append((label, [answer, contents(db, "a"), counts(db, "a")]))

    restored("some", ids[4])
    restored("rest", 0)
    restored("nothing", 0)
    db.rewind_to_message("a", ids[0])
    restored("all", ids[0])
    db.archive_and_compact("a", [{"role": "user", "content": "s"}])
    restored("after a compaction", 0)
    db.rewind_to_message("a", db.append_message("a", "user", "after"))
    restored("over a compaction", 0)
    seen.append(("unknown", db.restore_rewound("x", 1)))
    return seen


def scenario_rewind_points(db: Any) -> list[Observation]:
    ids = talk(db, "a", 6)
    db.append_message("a", "user", "two\nlines\r\nand " + "x" * 100)
    db.append_message("a", "user", None)
    db.append_message("a", "user", "")
    points = db.list_recent_user_messages
    seen: list[Observation] = [
        ("all", points("a")),
        ("two", points("a", 2)),
        ("none", points("a", 0)),
        ("without end", points("a", -1)),
        ("unknown", points("x")),
    ]
    db.append_message("a", "user", [{"type": "text", "text": "in parts"}, {"type": "image_url"}])
    seen.append(("parts", points("a", 1)))
    db.rewind_to_message("a", ids[2])
    seen.append(("after a rewind", points("a")))
    seen.append(("inactive", [one["id"] for one in points("a", include_inactive=True)]))
    seen.append(("two inactive", [one["id"] for one in points("a", 2, True)]))
    return seen
