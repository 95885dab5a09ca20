"""Search of messages. What is found is compared, not its order by relevance: the two rank by
different measures."""

from __future__ import annotations

from typing import Any

from differential import Observation, Wanted, tick
from scenarios_lineage import begin

_STEMS = "words are found in every form they take"
_PUNCTUATION = "ordinary punctuation is no error and hides nothing"
_MARKS = "short words are marked as all others are"

WANTED: dict[str, dict[str, Wanted]] = {
    "scenario_queries": {
        "deploy": Wanted([1, 3], _STEMS),
        "docker/production": Wanted([1], _PUNCTUATION),
        "what's docker?": Wanted([10], _PUNCTUATION),
        "docker, container": Wanted([1], _PUNCTUATION),
        "docker!": Wanted([1, 2, 3, 10], _PUNCTUATION),
        "#docker": Wanted([1, 2, 3, 10], _PUNCTUATION),
        "docker | container": Wanted([1], _PUNCTUATION),
        "-docker": Wanted([1, 2, 3, 10], _PUNCTUATION),
        "docker -container": Wanted([1], _PUNCTUATION),
        "docker AND NOT interleaved": Wanted([1, 3, 10], "NOT after AND is NOT"),
        "<docker> & [container]": Wanted([1], _PUNCTUATION),
    },
    "scenario_snippets": {
        "short cjk": Wanted(">>>东京<<<旅行计划大别山项目", _MARKS),
        "call": Wanted(
            "grep_files\npattern\n>>>needlearg<<<", "what a call says is shown, not its JSON"
        ),
        "parts": Wanted("structured >>>haystack<<<", "what was said is shown, not its JSON"),
        "tool": Wanted("exit code 0\n>>>terminal_run<<<", "a line for the name"),
        "long": Wanted(
            "...w91 w92 w93 w94 w95 w96 w97 w98 w99 >>>target<<< v0 v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 "
            "v11 v12 v13 v14 v15 v16 v17 v18 v19 v20 v21 v22 v23 v24 v25 v26 v27 v28 v29...",
            "as long, but with more of what follows",
        ),
    },
    "scenario_visibility": {
        "rewound, short cjk": Wanted([], "what was taken back is hidden on every path"),
    },
}


def history(db: Any) -> None:
    begin(db, "s1", model="m")
    begin(db, "s2", source="cron")
    said: list[tuple[str, str, Any, dict[str, Any]]] = [
        ("s1", "user", "Deploy the docker container to production please", {}),
        ("s2", "user", "interleaved docker text", {}),
        ("s1", "assistant", "I deployed with docker-compose up -d; café résumé", {}),
        ("s1", "tool", "exit code 0", {"tool_name": "terminal_run"}),
        (
            "s1",
            "assistant",
            None,
            {"tool_calls": [{"id": "1", "function": {"name": "grep_files", "arguments": '{"pattern":"needlearg"}'}}]},
        ),
        ("s1", "user", " ".join(f"w{n}" for n in range(100)) + " target " + " ".join(f"v{n}" for n in range(100)), {}),
        ("s1", "user", [{"type": "text", "text": "structured haystack"}, {"type": "image_url", "image_url": {"url": "data:xxx"}}], {}),
        ("s1", "user", "东京旅行计划大别山项目", {}),
        ("s1", "assistant", "P2.2 my_app.config.ts chat-send", {}),
        ("s2", "assistant", "what's docker", {}),
    ]
    for session, role, content, more in said:
        tick()
        db.append_message(session, role, content, **more)


QUERIES = (
    "", "  ", "docker", "DOCKER", "deploy", "deploy*", '"docker container"', '"container docker"',
    "container docker", "docker NOT interleaved", "docker OR needlearg", "docker AND", "AND docker",
    "NOT docker", "docker AND container", "docker AND NOT interleaved", "cafe", "Résumé",
    "docker-compose", "terminal_run", "needlearg", "grep_files", "haystack", "东京", "大别山", "京",
    "东京 项目", "东京旅行 大别山", "东京旅行 OR nothing", "P2.2", "my_app.config.ts", "chat-send",
    "chat send", "todo: docker", "(docker) container", '"unbalanced', 'docker"', "docker/production",
    "what's docker?", "docker, container", "*docker", "*", "**", '"', '""', "docker!", "#docker",
    "{docker}", "deploy the docker", "docker container missing", "docker | container", "-docker",
    "docker -container", "<docker> & [container]", "日本", "zzz",
)  # fmt: skip


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in rows)


def scenario_queries(db: Any) -> list[Observation]:
    history(db)
    return [(query, ids(db.search_messages(query))) for query in QUERIES]


def scenario_filters(db: Any) -> list[Observation]:
    history(db)
    search = db.search_messages

    def ordered(**asked: Any) -> list[int]:
        return [row["id"] for row in search("docker", **asked)]

    return [
        ("source", ids(search("docker", source_filter=["cron"]))),
        ("second argument", ids(search("docker", ["cli"]))),
        ("no source", search("docker", source_filter=[])),
        ("not these", ids(search("docker", exclude_sources=["cron"]))),
        ("third argument", ids(search("docker", None, ["cli"]))),
        ("role", ids(search("docker", role_filter=["assistant"]))),
        ("fourth argument", ids(search("docker", None, None, ["user"]))),
        ("any role", ids(search("docker", role_filter=[]))),
        ("newest", ordered(sort="newest")),
        ("oldest", ordered(sort="oldest")),
        ("sort of its own", len(ordered(sort="bogus"))),
        ("pages", [ordered(sort="oldest", limit=2, offset=at) for at in (0, 2, 4)]),
        ("none", ordered(limit=0)),
        ("all", ordered(sort="oldest", limit=-1)),
        ("blank", [search(""), search(" "), search(None)]),
    ]


def scenario_snippets(db: Any) -> list[Observation]:
    history(db)

    def snippet(query: str) -> str:
        found: str = db.search_messages(query)[0]["snippet"]
        return found.strip()

    return [
        ("one word", snippet("container")),
        ("words", snippet("docker production")),
        ("phrase", snippet('"docker container"')),
        ("joined", snippet("docker-compose")),
        ("marks", snippet("resume")),
        ("prefix", snippet("prod*")),
        ("long", snippet("target")),
        ("cjk", snippet("大别山")),
        ("short cjk", snippet("东京")),
        ("call", snippet("needlearg")),
        ("parts", snippet("haystack")),
        ("tool", snippet("terminal_run")),
    ]


def scenario_rows(db: Any) -> list[Observation]:
    history(db)

    def row(query: str) -> dict[str, Any]:
        found: dict[str, Any] = db.search_messages(query)[0]
        return {**found, "snippet": found["snippet"].strip() if query == "container" else ""}

    return [
        (query, row(query))
        for query in ("container", "terminal_run", "needlearg", "haystack", "interleaved", "chat-send", "target")
    ]


def scenario_visibility(db: Any) -> list[Observation]:
    history(db)
    tick()
    taken_back = db.append_message("s1", "user", "rewoundword 东山再起 东山")
    db.rewind_to_message("s1", taken_back)
    search = db.search_messages
    seen: list[Observation] = [
        ("rewound", ids(search("rewoundword"))),
        ("rewound, cjk", ids(search("东山再起"))),
        ("rewound, short cjk", ids(search("东山"))),
        ("rewound, asked for", [[row["id"], row["snippet"].strip()] for row in search("rewoundword", include_inactive=True)]),
    ]
    tick()
    db.archive_and_compact("s1", [{"role": "user", "content": "the summary"}])
    seen.append(("compacted", ids(search("haystack"))))
    seen.append(("summary", ids(search("summary"))))
    seen.append(("compacted, cjk", ids(search("东京旅行"))))
    db.delete_session("s1")
    seen.append(("deleted", ids(search("docker"))))
    return seen
