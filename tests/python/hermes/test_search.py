"""Search of messages: what both generations find, and what punctuation must never do."""

from __future__ import annotations

import random
from typing import Any

import pytest
from oneiro.compat.hermes import fts
from seeds import FIRST_SEED


def say(db: Any, session: str, *contents: Any, role: str = "user", **more: Any) -> list[int]:
    return [db.append_message(session, role, content, **more) for content in contents]


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in rows)


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("docker", "(docker)"),
        ("red apple", "(red AND apple)"),
        ("a b NOT c d OR e", "(((a AND b) AND NOT (c AND d)) OR e)"),
        ("a AND NOT b", "(a AND NOT b)"),
        ("a OR AND b", "(a AND b)"),
        ("NOT a", "(a)"),
        ("a OR", "(a)"),
        ("role:user since:3d", "(role AND user AND since AND 3d)"),
        ("/ap+le/ -x +y", "(ap AND le AND x AND y)"),
        ("*in* pre* **", "(in* AND pre*)"),
        ("chat-send my_app.config.ts", '("chat-send" AND "my_app.config.ts")'),
        ("what's up?", '("what\'s" AND up)'),
        ('"two  words" "AND"', '("two words" AND "AND")'),
        ('"one"* x"y', "(one* AND x AND y)"),
        ("大别山项目 docker", '("大别山项目" AND docker)'),
        ("东京 项目", '("东京" OR "项目")'),
        ("东京 AND 项目 NOT x", '("东京" AND ("项目" AND NOT x))'),
        ("日本*", '("日本")'),
        ("(a OR b) c", "(a OR (b AND c))"),
    ],
)
def test_queries_are_taken_as_hermes_means_them(query: str, printed: str) -> None:
    expr = fts.parse(query)
    assert expr is not None
    assert fts.printed(fts.loosened(expr)) == printed


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("(a OR b) c", "((a OR b) AND c)"),
        ("((a", "(a)"),
        ("a) b", "(a AND b)"),
        ("() a ( AND )", "(a)"),
        ("(" * 5_000 + "a", "(a)"),
        ("(a) " * 500, None),
    ],
)
def test_parentheses_group_in_the_seed(query: str, printed: str | None) -> None:
    expr = fts.parse(query, groups=True)
    assert expr is None or fts.printed(expr) == (printed or fts.printed(expr))


@pytest.mark.parametrize(
    "query", ["", "  ", "*", '""', '"', "AND", "NOT OR", "()", "--", "\x00", "?!"]
)
def test_no_word_finds_nothing(db: Any, query: str) -> None:
    db.create_session("s", "cli")
    say(db, "s", "something")
    assert db.search_messages(query) == []


def test_nothing_a_person_types_is_an_error(db: Any, seed: Any) -> None:
    db.create_session("s", "cli")
    say(db, "s", "deploy the docker container")
    letters = "ab *\"'()[]{}<>:;,.!?-_+^~|&/\\#@$%=\n\t\x00é京🎉" + "\u202e\u200b\ud800"
    random_one = random.Random(FIRST_SEED)
    words = ["docker", "AND", "OR", "NOT", "NEAR", "role:tool", "since:x", "regex:(", "/[/"]
    for _ in range(300):
        parts = random_one.choices([*letters, *words], k=random_one.randint(1, 12))
        query = random_one.choice(["", " "]).join(parts)
        for one in (db, seed):
            assert isinstance(one.search_messages(query), list), query


def test_ordinary_punctuation_hides_nothing(db: Any) -> None:
    db.create_session("s", "cli")
    (one,) = say(db, "s", "todo: run chat-send (see docs/setup.md) for user@host, isn't it?")
    for query in (
        "todo: run",
        "chat-send",
        "docs/setup.md",
        "user@host",
        "isn't",
        "(see docs",
        "run, see",
    ):
        assert ids(db.search_messages(query)) == [one], query


def test_only_exact_hits_unless_relaxed_ones_are_asked_for(db: Any) -> None:
    db.create_session("s", "cli")
    (one,) = say(db, "s", "deploy the docker container")
    assert db.search_messages("docker giraffe") == []
    (hit,) = db.search_messages("docker giraffe", relaxed=True)
    assert (hit["id"], hit["tier"]) == (one, "relaxed")
    (both,) = say(db, "s", "a giraffe in a docker container")
    found = db.search_messages("docker giraffe", relaxed=True)
    assert [(hit["id"], hit["tier"]) for hit in found] == [(both, "precise"), (one, "relaxed")]
    assert ids(db.search_messages("docker giraffe NOT deploy", relaxed=True)) == [both]
    assert len(db.search_messages("docker giraffe", relaxed=True, limit=1)) == 1
    assert ids(db.search_messages("docker giraffe", relaxed=True, limit=1, offset=1)) == [one]
    assert {hit["tier"] for hit in db.search_messages("docker", relaxed=True)} == {"precise"}
    assert "tier" not in db.search_messages("docker")[0]


def test_cjk_from_one_character_up(db: Any) -> None:
    db.create_session("s", "cli")
    one, two = say(db, "s", "东京旅行计划", "한국어 테스트")
    for query in ("东", "东京", "京旅", "旅行计划", "东京旅行计划"):
        assert ids(db.search_messages(query)) == [one], query
    assert ids(db.search_messages("한국")) == [two]
    assert db.search_messages("京东") == []
    assert db.search_messages("东京")[0]["snippet"] == ">>>东京<<<旅行计划"


@pytest.mark.parametrize("query", ["unsaid", "前言", "前言撤回"])
def test_what_was_taken_back_is_hidden_on_every_path(db: Any, query: str) -> None:
    db.create_session("s", "cli")
    say(db, "s", "kept")
    (gone,) = say(db, "s", "unsaid 前言撤回")
    db.rewind_to_message("s", gone)
    assert db.search_messages(query) == []
    (hit,) = db.search_messages(query, include_inactive=True)
    assert hit["id"] == gone
    assert ">>>" in hit["snippet"]
    assert [one["content"] for one in hit["context"]] == ["kept", "unsaid 前言撤回"]
    assert db.search_messages(query, include_inactive=True, role_filter=["assistant"]) == []
    assert db.search_messages(query, include_inactive=True, exclude_sources=["cli"]) == []
    db.restore_rewound("s", gone)
    assert ids(db.search_messages(query)) == [gone]


def test_what_was_replaced_is_found_nowhere(db: Any) -> None:
    db.create_session("s", "cli")
    say(db, "s", "beforeword")
    db.replace_messages("s", [{"role": "user", "content": "afterword"}])
    assert db.search_messages("beforeword") == []
    assert db.search_messages("beforeword", include_inactive=True) == []
    assert len(db.search_messages("afterword")) == 1


def test_compacted_messages_tool_names_and_arguments_are_found(db: Any) -> None:
    db.create_session("s", "cli")
    call = [{"id": "1", "function": {"name": "grep_files", "arguments": '{"pattern": "needle"}'}}]
    (calling,) = say(db, "s", None, role="assistant", tool_calls=call)
    (answer,) = say(db, "s", "exit code 0", role="tool", tool_name="terminal_run")
    db.archive_and_compact("s", [{"role": "user", "content": "summary"}])
    assert ids(db.search_messages("needle")) == [calling]
    assert ids(db.search_messages("grep_files")) == [calling]
    assert ids(db.search_messages("terminal_run")) == [answer]
    assert db.search_messages("terminal_run")[0]["tool_name"] == "terminal_run"


def test_context_is_of_the_same_session(db: Any, seed: Any) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    for number in range(3):
        say(db, "a", f"a{number} " + "x" * 300)
        say(db, "b", f"b{number}")
    for one in (db, seed):
        (hit,) = one.search_messages("a1")
        assert [near["content"][:2] for near in hit["context"]] == ["a0", "a1", "a2"]
        assert [len(near["content"]) for near in hit["context"]] == [200, 200, 200]
        assert set(hit["context"][0]) == {"role", "content"}


def test_pages_fit_together_beyond_one_native_page(db: Any) -> None:
    db.create_session("s", "cli")
    said = say(db, "s", *(f"needle number {number}" for number in range(450)))
    assert ids(db.search_messages("needle", limit=1_000)) == said
    assert ids(db.search_messages("needle", limit=-1)) == said
    pages = [db.search_messages("needle", limit=100, offset=at) for at in range(0, 500, 100)]
    assert [len(page) for page in pages] == [100, 100, 100, 100, 50]
    assert sorted(one for page in pages for one in ids(page)) == said
    oldest = db.search_messages("needle", sort="oldest", limit=3, offset=201)
    assert [row["id"] for row in oldest] == said[201:204]


def test_snippets_have_forty_words_at_most(db: Any) -> None:
    db.create_session("s", "cli")
    say(db, "s", "a b c d e f g h i j " * 20 + "needle " + "k l m n o p q r s t " * 20)
    snippet = db.search_messages("needle")[0]["snippet"]
    assert snippet.startswith("...") and snippet.endswith("...")
    assert ">>>needle<<<" in snippet
    assert len(snippet.replace("...", " ").split()) <= 40


def test_the_seed_looks_at_the_usual_sources_first_and_hides_none_for_good(seed: Any) -> None:
    seed.create_session("c", "cron")
    seed.create_session("t", "telegram")
    (in_cron,) = say(seed, "c", "apple pear")
    (in_telegram,) = say(seed, "t", "apple")
    assert ids(seed.search_messages("apple")) == [in_telegram]
    assert ids(seed.search_messages("pear")) == [in_cron]
    assert ids(seed.search_messages("apple", source_filter=["cron", "telegram"])) == [
        in_cron,
        in_telegram,
    ]
    assert seed.search_messages("apple", source_filter=[]) == []


def test_arguments_of_the_seed_by_position(seed: Any) -> None:
    seed.create_session("s", "cli")
    said = say(seed, "s", *["apple"] * 30)
    (other,) = say(seed, "s", "apple", role="assistant")
    assert ids(seed.search_messages("apple", None, ["assistant"])) == [other]
    assert ids(seed.search_messages("apple", ["cli"], ["assistant"], 5)) == [other]
    assert len(seed.search_messages("apple", None, ["user"], 5)) == 5
    assert len(seed.search_messages("apple", None, None, 5)) == 5
    assert len(seed.search_messages("apple", None, None, 20, 20)) == 11
    assert len(seed.search_messages("apple", None, ["user"], 20, 20)) == 10
    assert len(seed.search_messages("apple")) == 20
    assert ids(seed.search_messages("apple", role_filter=["user"], limit=100)) == said


def test_keys_of_a_result(db: Any, seed: Any) -> None:
    db.create_session("s", "cli", model="m")
    say(db, "s", "apple")
    for one in (db, seed):
        (hit,) = one.search_messages("apple")
        assert list(hit) == [
            "id",
            "session_id",
            "role",
            "snippet",
            "timestamp",
            "tool_name",
            "source",
            "model",
            "session_started",
            "context",
        ]
        assert isinstance(hit["timestamp"], float) and isinstance(hit["session_started"], float)
        assert hit["session_started"] == one.get_session("s")["started_at"]
        assert hit["timestamp"] == one.get_messages("s")[0]["timestamp"]


def test_a_query_of_any_length(db: Any) -> None:
    db.create_session("s", "cli")
    (one,) = say(db, "s", "apple")
    assert ids(db.search_messages("apple " * 10_000)) == [one]
    assert db.search_messages("x" * 100_000) == []


@pytest.mark.parametrize(
    ("query", "sanitised"),
    [
        ("hello world", "hello world"),
        ("C++", "C"),
        ('"open', "open"),
        ('"closed up" x', '"closed up" x'),
        ("chat-send a_b P2.2", '"chat-send" "a_b" "P2.2"'),
        ("a-b* **c* *", '"a-b"* c*'),
        ("AND a OR", "a"),
        ("todo:x (y) ^z", "todo x  y   z"),
        ("***", ""),
    ],
)
def test_hosts_can_ask_what_hermes_would_hand_to_fts5(db: Any, query: str, sanitised: str) -> None:
    assert db._sanitize_fts5_query(query) == sanitised


def test_a_word_is_not_its_parts_anywhere(db: Any) -> None:
    db.create_session("s", "cli")
    for text in ("256 and sha", "the sha256 of it", "topic1 item3", "topic3 item1", "topic3 item3"):
        db.append_message("s", "user", text)

    def found(query: str) -> list[str]:
        return [row["snippet"] for row in db.search_messages(query)]

    assert found("sha256") == ["the >>>sha256<<< of it"]
    assert sorted(found("topic3")) == [">>>topic3<<< item1", ">>>topic3<<< item3"]
    assert found("topic3 NOT item3") == [">>>topic3<<< item1"]


def test_equals_come_in_the_order_they_were_said_and_prefixes_rank(db: Any) -> None:
    db.create_session("s", "cli")
    texts = ["docker here", "docker there", "docker docker dockerfile"]
    ids = [db.append_message("s", "user", text) for text in texts]
    assert [row["id"] for row in db.search_messages("docker")][1:] == ids[:2]
    assert db.search_messages("dock*")[0]["id"] == ids[2]
