"""What a provider answered: the message in it, what it used, and a name of its own by which it is
kept once. A stream that was not merged is refused. It knows no store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from oneiro.compat.openai.known import digest
from oneiro.compat.openai.plain import Fields, cleaned, plain
from oneiro.errors import InvalidError

__all__ = ["Answer", "read_answer"]

_EVENTS = ("message_start", "message_delta", "message_stop", "ping")


@dataclass(slots=True)
class Answer:
    """One answer of a model."""

    dialect: Literal["openai", "anthropic"]
    message: Fields
    model: str | None
    used: dict[str, int] = field(default_factory=dict)

    def name(self, asked: str) -> str:
        """The same for the same answer to the same words, which go by the name of their chain. The
        provider's id alone will not do: some servers count theirs, others give none."""
        return f"{self.dialect}:{digest([self.message, asked])}"


def read_answer(response: Any, *, choice: int | None = None, partial: bool = False) -> Answer:
    """Reads a ChatCompletion of OpenAI or a Message of Anthropic, as an object or a dict."""
    if not isinstance(response, dict) and not hasattr(response, "model_dump"):
        kind = type(response).__name__
        raise _refused(f"{kind} is no answer", "merge a stream first, and give what came of it")
    answer = plain(response, "response")
    kind = answer.get("type") or answer.get("object")
    if kind == "error" or (answer.get("error") and not answer.get("choices")):
        raise _refused(f"is the provider's error: {answer.get('error')!r}", "ask again")
    if kind == "response":
        raise _refused(
            "is an answer of OpenAI's Responses API", "give one of chat.completions.create"
        )
    if kind == "chat.completion.chunk" or kind in _EVENTS or str(kind).startswith("content_block"):
        raise _half(f"is one event of a stream ({kind})")
    if "choices" in answer:
        return _openai(answer, choice, partial)
    if kind == "message" or (isinstance(answer.get("content"), list) and "stop_reason" in answer):
        return _anthropic(answer, partial)
    raise _refused(
        "is neither a ChatCompletion (choices) nor an Anthropic Message (type, content)",
        "give what the client returned, or its model_dump()",
    )


def _openai(answer: Fields, choice: int | None, partial: bool) -> Answer:
    choices = answer["choices"]
    if not isinstance(choices, list) or not choices:
        raise _refused("has no choices", "ask again: nothing was said")
    if choice is None and len(choices) > 1:
        raise _refused(f"has {len(choices)} choices", "say with choice= which one was taken")
    at = choice or 0
    if not 0 <= at < len(choices):
        raise _refused(f"has {len(choices)} choices and no choice {at}", "count from 0")
    taken = choices[at]
    if not isinstance(taken, dict) or not isinstance(taken.get("message"), dict):
        if isinstance(taken, dict) and "delta" in taken:
            raise _half("has a delta where the message should be")
        raise _refused(f"choices[{at}] has no message", "give what the client returned")
    if taken.get("finish_reason") is None and not partial:
        raise _half(f"choices[{at}] has no finish_reason")
    message = cleaned({"role": "assistant", **taken["message"]})
    audio = message.get("audio")
    if message.get("content") is None and isinstance(audio, dict) and audio.get("transcript"):
        # What was only spoken is found and shown by its words.
        message["content"] = audio["transcript"]
    if taken.get("finish_reason") is not None:
        message["finish_reason"] = taken["finish_reason"]
    envelope = {name: item for name, item in answer.items() if name != "choices"}
    if taken.get("logprobs") is not None:
        envelope["logprobs"] = taken["logprobs"]
    return _answer("openai", message, envelope, _openai_used(answer.get("usage")))


def _anthropic(answer: Fields, partial: bool) -> Answer:
    content = answer.get("content")
    if not isinstance(content, list):
        raise _refused("has no list of content", "give what the client returned")
    if answer.get("stop_reason") is None and not partial:
        raise _half("has no stop_reason")
    message = cleaned({"role": "assistant", "content": content})
    for place, block in enumerate(message["content"]):
        if isinstance(block, dict) and block.get("type") == "tool_use" and "input" not in block:
            raise _half(f"content[{place}] is a tool_use without input")
    envelope = {name: item for name, item in answer.items() if name not in ("role", "content")}
    return _answer("anthropic", message, envelope, _anthropic_used(answer.get("usage")))


def _answer(
    dialect: Literal["openai", "anthropic"],
    message: Fields,
    envelope: Fields,
    used: dict[str, int],
) -> Answer:
    message["response"] = {name: item for name, item in envelope.items() if item is not None}
    model = envelope.get("model")
    return Answer(dialect, message, model if isinstance(model, str) else None, used)


def _openai_used(usage: Any) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    read = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    thought = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    # OpenAI counts what came from the cache among the prompt; Oneiro counts it apart.
    return {
        "input_tokens": max(_count(usage, "prompt_tokens") - read, 0),
        "output_tokens": _count(usage, "completion_tokens"),
        "cache_read_tokens": read,
        "reasoning_tokens": thought,
    }


def _anthropic_used(usage: Any) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    return {
        "input_tokens": _count(usage, "input_tokens"),
        "output_tokens": _count(usage, "output_tokens"),
        "cache_read_tokens": _count(usage, "cache_read_input_tokens"),
        "cache_write_tokens": _count(usage, "cache_creation_input_tokens"),
    }


def _count(fields: Any, name: str) -> int:
    found = fields.get(name) if isinstance(fields, dict) else None
    return found if isinstance(found, int) and found > 0 else 0


def _refused(what: str, remedy: str) -> InvalidError:
    return InvalidError(f"response: {what}", field="response", remedy=remedy)


def _half(what: str) -> InvalidError:
    return _refused(
        f"{what}: this is half a stream",
        "merge the stream to its end first; partial=True keeps what was said before it broke off",
    )
