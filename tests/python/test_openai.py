"""OpenAI's and Anthropic's messages: windows, capture exactly once, and conversions both ways."""

from __future__ import annotations

import copy
import json
import random
import warnings
from typing import Any

import oneiro
import pytest
from oneiro.aio import AsyncOneiro
from oneiro.compat.openai import (
    LossWarning,
    capture,
    from_anthropic,
    from_openai,
    to_anthropic,
    to_openai,
    window,
)
from oneiro.compat.openai.known import first_new, units
from oneiro.compat.openai.served import Served
from seeds import seeds

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"at": 1}'}}


class Model:
    """Stands for an object of a client: not a dict, with model_dump()."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return {
            name: [one.model_dump() if isinstance(one, Model) else one for one in item]
            if isinstance(item, list)
            else item.model_dump()
            if isinstance(item, Model)
            else item
            for name, item in self.fields.items()
        }


def completion(text: str | None, *, id: str = "chatcmpl-1", **more: Any) -> dict[str, Any]:
    calls = more.pop("tool_calls", None)
    message = {"role": "assistant", "content": text, "refusal": None, "tool_calls": calls, **more}
    return {
        "id": id,
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "gpt-x",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 60},
            "completion_tokens_details": {"reasoning_tokens": 7},
        },
    }


def claude(*content: dict[str, Any], id: str = "msg_1") -> dict[str, Any]:
    return {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 30,
            "output_tokens": 5,
            "cache_read_input_tokens": 11,
            "cache_creation_input_tokens": 13,
        },
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(words: Any) -> dict[str, Any]:
    return {"role": "user", "content": words}


def assistant(words: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": words}


def said(memory: oneiro.Oneiro, session: str = "s") -> list[Any]:
    """What a session has, in short."""
    return [
        (message["role"], message["content"] if message["content"] else message.get("tool_calls"))
        for message in memory.messages(session)
    ]


# --- capture ------------------------------------------------------------------------------------


def test_a_growing_list_is_captured_once(memory: oneiro.Oneiro) -> None:
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, user("weather?")]
    first = completion(None, id="a", tool_calls=[CALL])
    assert capture(memory, "s", messages, first, source="cli").ids == [1, 2]
    messages.append(Model(**first["choices"][0]["message"]))
    messages.append({"role": "tool", "tool_call_id": "c1", "content": "21"})
    second = completion("It is 21.", id="b")
    kept = capture(memory, "s", messages, second)
    assert kept.ids == [3, 4] and kept.known == 2 and not kept.duplicate
    messages += [assistant("It is 21."), user("thanks")]
    capture(memory, "s", messages, completion("Welcome.", id="c"))
    assert said(memory) == [
        ("user", "weather?"),
        ("assistant", [CALL]),
        ("tool", "21"),
        ("assistant", "It is 21."),
        ("user", "thanks"),
        ("assistant", "Welcome."),
    ]
    session = memory.session("s")
    assert session is not None
    assert (session.system_prompt, session.model, session.source) == ("Be brief.", "gpt-x", "cli")
    assert (session.input_tokens, session.cache_read_tokens) == (3 * 40, 3 * 60)
    assert (session.output_tokens, session.reasoning_tokens) == (3 * 20, 3 * 7)
    (account,) = memory.usage("s")
    assert (account.model, account.provider, account.api_calls) == ("gpt-x", "openai", 3)


def test_capturing_again_changes_nothing(memory: oneiro.Oneiro) -> None:
    messages, answer = [user("hi")], completion("hello")
    first = capture(memory, "s", messages, answer)
    again = capture(memory, "s", messages, answer)
    assert again.ids == first.ids and again.duplicate and again.used == {}
    assert len(said(memory)) == 2
    session = memory.session("s")
    assert session is not None and session.api_call_count == 1


def test_two_captures_at_once_keep_one(memory: oneiro.Oneiro, place: Any) -> None:
    """The second has read the session before the first wrote: the store decides."""
    messages, answer = [user("hi")], completion("hello")
    with place.open() as other:
        capture(memory, "s", messages, answer)
        other.session = lambda id: None  # type: ignore[method-assign,assignment]
        assert capture(other, "s", messages, answer).duplicate
    assert len(said(memory)) == 2


def test_another_answer_to_the_same_words_is_kept(memory: oneiro.Oneiro) -> None:
    capture(memory, "s", [user("hi")], completion("hello", id="a"))
    kept = capture(memory, "s", [user("hi")], completion("hey", id="b"))
    assert kept.known == 1 and not kept.duplicate
    assert said(memory) == [("user", "hi"), ("assistant", "hello"), ("assistant", "hey")]


def test_ids_that_servers_count_do_not_swallow_answers(memory: oneiro.Oneiro) -> None:
    messages = [user("one")]
    capture(memory, "s", messages, completion("yes", id="chatcmpl-7"))
    messages += [assistant("yes"), user("two")]
    capture(memory, "s", messages, completion("yes", id="chatcmpl-7"))
    assert [words for _, words in said(memory)] == ["one", "yes", "two", "yes"]


def test_repeated_words_are_not_lost(memory: oneiro.Oneiro) -> None:
    messages: list[Any] = []
    for turn in range(4):
        messages.append(user("go on"))
        capture(memory, "s", messages, completion("ok", id=f"r{turn}"))
        messages.append(assistant("ok"))
    assert len(said(memory)) == 8


def nameless(text: str) -> dict[str, Any]:
    """An answer of a server that gives no id, no time and no account."""
    return {"choices": [{"finish_reason": "stop", "message": assistant(text)}]}


@pytest.mark.parametrize("seed", seeds(12))
def test_hosts_of_every_kind_are_captured_exactly(memory: oneiro.Oneiro, seed: int) -> None:
    """Loops of few words, where everything repeats itself: a growing list, windows, both."""
    draw = random.Random(seed)
    memory.create_session("s", system_prompt="Be brief.")
    truth: list[tuple[str, str]] = []
    messages: list[Any] = [{"role": "system", "content": "Be brief."}]
    for _ in range(30):
        if seed % 3 == 1 or (seed % 3 == 2 and draw.random() < 0.3):
            messages = window(memory, "s", 100_000)
        for role in ["user"] * draw.choice([1, 1, 2]):
            truth.append((role, draw.choice(["ok", "go"])))
            messages.append({"role": role, "content": truth[-1][1]})
        answered = draw.choice(["ok", "go"])
        truth.append(("assistant", answered))
        for _again in range(draw.choice([1, 1, 2])):
            capture(memory, "s", messages, nameless(answered))
        messages.append(assistant(draw.choice([answered, f" {answered}\n", [text(answered)]])))
    assert said(memory) == truth


def test_history_captured_elsewhere_is_recognised(memory: oneiro.Oneiro) -> None:
    """Without any record of ours: the messages were appended by hand."""
    memory.append("s", [user("a"), assistant("b"), user("c"), assistant("d")], create={})
    capture(memory, "s", [user("a"), assistant("b"), user("c"), assistant("d"), user("e")],
            completion("f", id="1"))
    capture(memory, "s", [user("e"), assistant("f"), user("g")], completion("h", id="2"))
    assert [words for _, words in said(memory)] == list("abcdefgh")


def test_new_says_what_cannot_be_told(memory: oneiro.Oneiro) -> None:
    capture(memory, "s", [user("ok")], completion("fine", id="1"))
    capture(memory, "s", [user("ok")], completion("still fine", id="2"), new=1)
    assert [words for _, words in said(memory)] == ["ok", "fine", "ok", "still fine"]
    with pytest.raises(oneiro.InvalidError, match="new: 2 of 1"):
        capture(memory, "s", [user("ok")], completion("x", id="3"), new=2)


def test_rewound_words_may_be_said_anew(memory: oneiro.Oneiro) -> None:
    messages = [user("a")]
    capture(memory, "s", messages, completion("b", id="1"))
    messages += [assistant("b"), user("wrong")]
    capture(memory, "s", messages, completion("no", id="2"))
    memory.rewind("s", memory.messages("s")[2]["id"])
    messages[2] = user("right")
    capture(memory, "s", messages, completion("yes", id="3"))
    assert [words for _, words in said(memory)] == ["a", "b", "right", "yes"]


def test_everything_in_an_answer_is_kept(memory: oneiro.Oneiro) -> None:
    audio = {"id": "audio_1", "data": "AAAA", "expires_at": 1, "transcript": "spoken words"}
    answer = completion(None, audio=audio, annotations=[{"type": "url_citation"}])
    capture(memory, "s", [user("sing")], answer)
    capture(memory, "s", [user("sing"), {"role": "assistant", "audio": {"id": "audio_1"}},
                          user("harm me")], completion(None, id="2", refusal="I will not."))
    _, sung, _, refused = memory.messages("s")
    assert sung["audio"] == audio and sung["content"] == "spoken words"
    assert sung["annotations"] == [{"type": "url_citation"}]
    assert sung["finish_reason"] == "stop" and sung["response"]["id"] == "chatcmpl-1"
    assert sung["response"]["usage"]["prompt_tokens"] == 100
    assert refused["refusal"] == "I will not." and refused["content"] is None


@pytest.mark.parametrize("as_object", [False, True])
def test_anthropic_blocks_are_kept_whole(memory: oneiro.Oneiro, as_object: bool) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "sealed"},
        {"type": "redacted_thinking", "data": "xyz"},
        text("Let me look."),
        {"type": "tool_use", "id": "t1", "name": "weather", "input": {"at": None}},
    ]
    answer: Any = claude(*blocks)
    content: Any = blocks
    if as_object:
        content = [Model(**block, citations=None) for block in blocks]
        answer = Model(**{**answer, "content": content, "usage": Model(**answer["usage"])})
    request: Any = {"system": [text("Be brief.")], "messages": [user("weather?")], "model": "m"}
    capture(memory, "s", request, answer)
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "21", "is_error": True}
    request["messages"] += [{"role": "assistant", "content": content}, user([result])]
    capture(memory, "s", request, claude(text("21."), id="msg_2"))
    assert [message["content"] for message in memory.messages("s")] == [
        "weather?",
        blocks,
        [result],
        [text("21.")],
    ]
    session = memory.session("s")
    assert session is not None and session.system_prompt == "Be brief."
    assert (session.input_tokens, session.output_tokens) == (60, 10)
    assert (session.cache_read_tokens, session.cache_write_tokens) == (22, 26)
    assert memory.usage("s")[0].provider == "anthropic"


# --- windows and capture ------------------------------------------------------------------------


def filled(memory: oneiro.Oneiro) -> None:
    memory.create_session("s", system_prompt="Be brief.")
    for turn in range(40):
        words = f" {turn}" * 60
        memory.append("s", [user(f"question{words}"), assistant(f"answer{words}")])
    memory.pin("s", memory.messages("s", limit=3)[2]["id"])
    memory.compact("s")


@pytest.mark.parametrize("format", ["openai", "anthropic"])
def test_a_window_brought_back_is_not_captured(memory: oneiro.Oneiro, format: Any) -> None:
    filled(memory)
    count = len(memory.messages("s", hidden=True))
    shown: Any = window(memory, "s", 2_000, format=format, reserve=200)
    request: Any = json.loads(json.dumps(shown))
    messages = request if format == "openai" else request["messages"]
    served = request[0]["content"] if format == "openai" else request["system"]
    assert "<earlier>" in served and "<pinned" in served
    if format == "anthropic":
        # Hosts mark where the cache ends.
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    messages.append(user("And now?"))
    answer: Any = completion("Now.") if format == "openai" else claude(text("Now."))
    kept = capture(memory, "s", request, answer)
    assert len(kept.ids) == 2
    stored = memory.messages("s", hidden=True)
    assert len(stored) == count + 2
    assert not any("<earlier>" in str(message["content"]) for message in stored)
    assert memory.session("s").system_prompt == "Be brief."  # type: ignore[union-attr]
    assert capture(memory, "s", request, answer).duplicate
    # The loop goes on with the same list, then with a new window.
    messages += [assistant("Now."), user("More.")]
    more: Any = completion("M.", id="2") if format == "openai" else claude(text("M."), id="2")
    assert len(capture(memory, "s", request, more).ids) == 2
    again: Any = window(memory, "s", 2_000, format=format)
    last: Any = completion("L.", id="3") if format == "openai" else claude(text("L."), id="3")
    assert len(capture(memory, "s", again, last).ids) == 1
    assert len(memory.messages("s", hidden=True)) == count + 5


@pytest.mark.parametrize("format", ["openai", "anthropic"])
def test_words_that_a_window_writes_anew_are_known(memory: oneiro.Oneiro, format: Any) -> None:
    """A name goes in front of the words: the stored message and the served one differ."""
    memory.append("s", {"role": "user", "name": "Ann Lee", "content": "hi"}, create={})
    request: Any = window(memory, "s", 4_000, format=format)
    messages = request if format == "openai" else request["messages"]
    assert "Ann Lee: hi" in str(messages)
    messages.append(user("new"))
    answer: Any = completion("x") if format == "openai" else claude(text("x"))
    assert len(capture(memory, "s", request, answer).ids) == 2


def test_words_that_are_stored_otherwise_are_known(memory: oneiro.Oneiro) -> None:
    """Half of a character pair cannot be stored as it is."""
    messages = [user("a \ud83d")]
    capture(memory, "s", messages, completion("b \ud83d", id="1"))
    messages += [assistant("b \ud83d"), user("c")]
    assert len(capture(memory, "s", messages, completion("d", id="2")).ids) == 2


def test_private_words_are_known_and_kept_nowhere(memory: oneiro.Oneiro) -> None:
    messages = [user("<private>my secret</private>")]
    capture(memory, "s", messages, completion("<Private\n>your secret</private>", id="1"))
    messages += [assistant("<Private\n>your secret</private>"), user("forget it")]
    assert len(capture(memory, "s", messages, completion("Done.", id="2")).ids) == 2
    assert "secret" not in str(memory.messages("s"))
    # No hash of them either: other secrets give the same.
    first, second = ([user(f"<private>{word}</private>")] for word in ("one", "two"))
    assert units(first)[0].print == units(second)[0].print == units(
        [user("<private withheld/>")])[0].print


def test_what_is_remembered_of_requests_is_bounded(memory: oneiro.Oneiro) -> None:
    messages: list[Any] = []
    for turn in range(70):
        messages.append(user(f"{turn}"))
        capture(memory, "s", messages, completion("ok", id=f"{turn}"))
        messages.append(assistant("ok"))
    assert len(said(memory)) == 140
    served = Served(memory, "s")
    assert len(served._slots) == 64
    memory.delete_session("s")
    assert Served(memory, "s")._slots == []


def test_blocks_added_to_the_last_message_of_a_window_are_new(memory: oneiro.Oneiro) -> None:
    memory.append("s", [user("a")], create={})
    request = window(memory, "s", 2_000, format="anthropic")
    request["messages"][-1]["content"].append(text("b"))
    capture(memory, "s", request, claude(text("c")))
    assert said(memory) == [("user", "a"), ("user", [text("b")]), ("assistant", [text("c")])]


def test_summaries_moved_elsewhere_are_taken_out(memory: oneiro.Oneiro) -> None:
    """For models without a system role hosts put the system text into the user's words."""
    filled(memory)
    shown = window(memory, "s", 2_000)
    moved = [user(f"{shown[0]['content']}\n\nWhat did I ask?")]
    capture(memory, "s", moved, completion("Much."))
    last = memory.messages("s")[-2]["content"]
    assert "<earlier>" not in last and last.endswith("What did I ask?")


def test_a_call_that_waits_is_not_captured_twice(memory: oneiro.Oneiro) -> None:
    messages = window_and(memory, user("weather?"))
    capture(memory, "s", messages, completion(None, tool_calls=[CALL], id="a"))
    # The call waits for its result, so that a window does not show it yet.
    messages = window(memory, "s", 4_000)
    messages += [{"role": "assistant", "content": None, "tool_calls": [CALL]},
                 {"role": "tool", "tool_call_id": "c1", "content": "21"}]
    capture(memory, "s", messages, completion("21.", id="b"))
    assert [role for role, _ in said(memory)] == ["user", "assistant", "tool", "assistant"]


def window_and(memory: oneiro.Oneiro, message: dict[str, Any]) -> list[dict[str, Any]]:
    memory.create_session("s")
    return [*window(memory, "s", 4_000), message]


def test_placeholders_are_not_captured(memory: oneiro.Oneiro) -> None:
    memory.append("s", [user("a"), {"role": "assistant", "content": None, "tool_calls": [CALL]},
                        user("never mind")], create={})
    shown = window(memory, "s", 4_000)
    assert any(message["role"] == "tool" for message in shown)
    # Another session is told all of it: what Oneiro wrote is left out.
    capture(memory, "t", shown, completion("Fine."))
    assert [role for role, _ in said(memory, "t")] == ["user", "assistant", "user", "assistant"]


def test_the_handle_of_asyncio_is_refused(memory: oneiro.Oneiro) -> None:
    for call in (lambda it: window(it, "s", 9), lambda it: capture(it, "s", [], completion("x"))):
        with pytest.raises(oneiro.InvalidError, match="AsyncOneiro is not a handle"):
            call(AsyncOneiro(memory))


def test_formats_that_are_no_clients_are_refused(memory: oneiro.Oneiro) -> None:
    memory.create_session("s")
    with pytest.raises(oneiro.InvalidError, match="'text' is not a client's"):
        window(memory, "s", 100, format="text")  # type: ignore[call-overload]


# --- bad input ----------------------------------------------------------------------------------

BAD_REQUESTS = [
    ("hello", "str is not a list of messages"),
    (None, "NoneType is not a list"),
    ({"system": "x"}, "has no messages"),
    (["hello"], r"request\[0\]: 'hello' is not a message"),
    ([user("a"), {"content": "b"}], r"request\[1\]: has no role"),
    ([{"role": 5, "content": "b"}], r"request\[0\]: has the role 5"),
    ([user(5)], r"request\[0\].content: int"),
    ([user([{"type": "image", "data": b"x"}])], "bytes is neither JSON"),
    ([{"role": "tool", "tool_call_id": "nobody", "content": "x"}], "for 'nobody', and no call"),
    ([user([{"type": "tool_result", "tool_use_id": "t9"}])], "for 't9', and no call"),
]


@pytest.mark.parametrize(("request_", "told"), BAD_REQUESTS)
def test_bad_requests_are_named(memory: oneiro.Oneiro, request_: Any, told: str) -> None:
    with pytest.raises(oneiro.InvalidError, match=told) as raised:
        capture(memory, "s", request_, completion("x"))
    assert raised.value.remedy and raised.value.field
    assert memory.session("s") is None


CHUNK = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "x"}}]}
UNFINISHED = {"choices": [{"message": assistant("half"), "finish_reason": None}]}
BAD_ANSWERS = [
    (iter([]), "iterator is no answer"),
    ("text", "str is no answer"),
    (CHUNK, "half a stream"),
    ({"choices": [{"delta": {}}]}, "half a stream"),
    (UNFINISHED, "no finish_reason: this is half a stream"),
    ({"type": "content_block_delta", "delta": {}}, "half a stream"),
    ({**claude(text("x")), "stop_reason": None}, "no stop_reason: this is half a stream"),
    ({"choices": []}, "has no choices"),
    ({"object": "response", "output": []}, "Responses API"),
    ({"type": "error", "error": {"message": "overloaded"}}, "overloaded"),
    ({"text": "x"}, "neither a ChatCompletion"),
    ({"choices": [{"message": assistant("a")}, {"message": assistant("b")}]}, "2 choices"),
]


@pytest.mark.parametrize(("answer", "told"), BAD_ANSWERS)
def test_bad_answers_are_named(memory: oneiro.Oneiro, answer: Any, told: str) -> None:
    with pytest.raises(oneiro.InvalidError, match=told) as raised:
        capture(memory, "s", [user("hi")], answer)
    assert raised.value.field == "response" and raised.value.remedy
    assert memory.session("s") is None


def test_what_broke_off_is_kept_when_asked_for(memory: oneiro.Oneiro) -> None:
    capture(memory, "s", [user("hi")], UNFINISHED, partial=True)
    assert said(memory)[-1] == ("assistant", "half")


def test_the_choice_that_was_taken_is_kept(memory: oneiro.Oneiro) -> None:
    answer = completion("a")
    answer["choices"].append({"message": assistant("b"), "finish_reason": "stop", "index": 1})
    capture(memory, "s", [user("hi")], answer, choice=1)
    assert said(memory)[-1] == ("assistant", "b")


# --- what is new, by table ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "stored", "start"),
    [
        ("abcd", "", 0),
        ("abcd", "abcd", 4),
        ("abcde", "abcd", 4),
        ("ab", "abcd", 2),  # asked again
        ("abX", "abcd", 2),  # the history was changed
        ("cde", "abcd", 2),  # the host slides a window
        ("aScde", "abcd", 4),  # with a summary of its own in front
        ("e", "abcd", 0),
        ("abab", "ab", 2),  # of equal endings the one that fits best
        ("kxkxk", "kx", 2),
        ("xkxk", "kx", 3),
    ],
)
def test_where_the_new_begins(request_: str, stored: str, start: int) -> None:
    def told(letters: str) -> Any:
        return units([user(letter) for letter in letters])

    assert first_new(told(request_), told(stored)) == start


# --- conversions --------------------------------------------------------------------------------

IMAGE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "BBBB"}
USE = {"type": "tool_use", "id": "c1", "name": "weather", "input": {"at": 1}}

# What both can say: OpenAI's messages, Anthropic's request.
BOTH: list[tuple[str, list[dict[str, Any]], dict[str, Any]]] = [
    (
        "system and words",
        [{"role": "system", "content": "Be brief."}, user("hi"), assistant("hello")],
        {
            "system": "Be brief.",
            "messages": [user([text("hi")]), assistant([text("hello")])],
        },
    ),
    (
        "calls and results",
        [
            user("weather?"),
            {"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "21"},
            assistant("21."),
        ],
        {
            "messages": [
                user([text("weather?")]),
                assistant([text("Let me look."), USE]),
                user([{"type": "tool_result", "tool_use_id": "c1", "content": [text("21")]}]),
                assistant([text("21.")]),
            ]
        },
    ),
    (
        "a call without words",
        [user("go"), {"role": "assistant", "content": None, "tool_calls": [CALL]}],
        {"messages": [user([text("go")]), assistant([USE])]},
    ),
    (
        "pictures and files",
        [
            user(
                [
                    text("look"),
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                    {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                    {
                        "type": "file",
                        "file": {
                            "filename": "a.pdf",
                            "file_data": "data:application/pdf;base64,BBBB",
                        },
                    },
                ]
            )
        ],
        {
            "messages": [
                user(
                    [
                        text("look"),
                        {"type": "image", "source": IMAGE},
                        {
                            "type": "image",
                            "source": {"type": "url", "url": "https://example.org/a.png"},
                        },
                        {"type": "document", "source": PDF, "title": "a.pdf"},
                    ]
                )
            ]
        },
    ),
]


@pytest.mark.parametrize(("openai", "anthropic"), [case[1:] for case in BOTH],
                         ids=[case[0] for case in BOTH])
def test_what_both_say_goes_both_ways(openai: Any, anthropic: Any) -> None:
    lost: list[str] = []
    before = copy.deepcopy((openai, anthropic))
    assert to_anthropic(from_openai(openai), lost=lost) == anthropic
    back = to_openai(from_anthropic(anthropic), lost=lost)
    # Arguments are text with OpenAI: the same JSON, however it is spaced.
    assert back == openai
    assert to_openai(from_openai(openai), lost=lost) == openai
    assert to_anthropic(from_anthropic(anthropic), lost=lost) == anthropic
    assert lost == []
    assert (openai, anthropic) == before


TO_OPENAI: list[tuple[Any, Any, list[str]]] = [
    (
        [assistant([{"type": "thinking", "thinking": "hm", "signature": "s"}, text("so")])],
        [assistant("so")],
        ["messages[0]: thinking, for which OpenAI has no place"],
    ),
    (
        [user([{"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}])],
        [{"role": "tool", "tool_call_id": "t", "content": "no"}],
        ["messages[0]: is_error of a result, for which OpenAI has no place"],
    ),
    (
        [user([{"type": "tool_result", "tool_use_id": "t",
                "content": [text("a"), {"type": "image", "source": IMAGE}]}])],
        [{"role": "tool", "tool_call_id": "t", "content": "a\n[image, image/png]"}],
        ["messages[0]: [image, image/png], for which OpenAI has no place"],
    ),
    (
        [assistant([text("a"), text("b")])],
        [assistant([text("a"), text("b")])],
        [],
    ),
    (
        [user([{"type": "document", "title": "T", "source": {"type": "text", "data": "w"}}])],
        [user("T\nw")],
        [],
    ),
    ([user([{"type": "odd", "x": 1}])], [user('{"type": "odd", "x": 1}')], []),
    (
        [{"role": "scout", "content": "seen"}],
        [{"name": "scout", "role": "user", "content": "seen"}],
        [],
    ),
    # What is Oneiro's own goes; what a vendor wants back stays.
    (
        [{"id": 4, "session_id": "s", "at": 5, "role": "assistant", "content": "a",
          "response": {"id": "x"}, "finish_reason": "stop", "reasoning_content": "r"}],
        [{"role": "assistant", "content": "a", "reasoning_content": "r"}],
        [],
    ),
]


@pytest.mark.parametrize(("given", "want", "named"), TO_OPENAI)
def test_to_openai(given: Any, want: Any, named: list[str]) -> None:
    lost: list[str] = []
    assert to_openai(given, lost=lost) == want
    assert lost == named


TO_ANTHROPIC: list[tuple[Any, Any, list[str]]] = [
    (
        [user("a"), {"role": "system", "content": "now French"}],
        {"messages": [user([text("a"), text("<system>now French</system>")])]},
        [],
    ),
    (
        [assistant("first")],
        {"messages": [user([text("(the conversation goes on)")]), assistant([text("first")])]},
        [],
    ),
    (
        [user("go"), {"role": "assistant", "content": None, "function_call":
                      {"name": "f", "arguments": "{"}},
         {"role": "function", "name": "f", "content": "r"}],
        {"messages": [
            user([text("go")]),
            assistant([{"type": "tool_use", "id": "call_1", "name": "f",
                        "input": {"arguments": "{"}}]),
            user([{"type": "tool_result", "tool_use_id": "call_1", "content": [text("r")]}]),
        ]},
        [],
    ),
    (
        [user([{"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}}])],
        {"messages": [user([text("[input_audio, wav]")])]},
        ["messages[0]: [input_audio, wav], for which Anthropic has no place"],
    ),
    (
        [user([{"type": "image_url", "image_url": {"url": "https://e.org/a", "detail": "low"}}])],
        {"messages": [user([{"type": "image",
                             "source": {"type": "url", "url": "https://e.org/a"}}])]},
        ["messages[0]: detail of an image (low), for which Anthropic has no place"],
    ),
    (
        [user("hi"), {"role": "assistant", "content": None, "refusal": "No."}],
        {"messages": [user([text("hi")]), assistant([text("No.")])]},
        [],
    ),
    (
        [user("hi"), {"role": "assistant", "content": None,
                      "audio": {"id": "x", "transcript": "la"}}],
        {"messages": [user([text("hi")]), assistant([text("la")])]},
        ["messages[1]: audio, for which Anthropic has no place"],
    ),
    (
        [{"role": "user", "name": "Ann", "content": "hi"}],
        {"messages": [user([text("Ann: hi")])]},
        [],
    ),
    (
        [user("hi"), {"role": "assistant", "content": "a", "reasoning_content": "r"}],
        {"messages": [user([text("hi")]), assistant([text("a")])]},
        ["messages[1]: reasoning_content, for which Anthropic has no place"],
    ),
]


@pytest.mark.parametrize(("given", "want", "named"), TO_ANTHROPIC)
def test_to_anthropic(given: Any, want: Any, named: list[str]) -> None:
    lost: list[str] = []
    assert to_anthropic(given, lost=lost) == want
    assert lost == named


def test_losses_are_told_to_whoever_did_not_ask() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    with pytest.warns(LossWarning, match="thinking"):
        to_openai([assistant([thinking, text("so")])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        to_openai([assistant([text("so")])])


@pytest.mark.parametrize("convert", [to_openai, to_anthropic, from_openai, from_anthropic])
def test_conversions_name_bad_input(convert: Any) -> None:
    for given, told in [("hello", "not a list"), ([5], "not a message"), ([{}], "no role")]:
        with pytest.raises(oneiro.InvalidError, match=told):
            convert(given)


def test_stored_messages_convert(memory: oneiro.Oneiro) -> None:
    """What capture stored comes out as the client had it."""
    capture(memory, "s", [user("weather?")], completion("Look:", tool_calls=[CALL]))
    assert to_openai(memory.messages("s")) == [
        user("weather?"),
        {"role": "assistant", "content": "Look:", "tool_calls": [CALL]},
    ]
