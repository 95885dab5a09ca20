"""Messages of a client as Oneiro keeps them, and what both directions share: the names of ours that
no client takes, and the account of what a dialect cannot say."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from oneiro.compat.openai.plain import Fields, messages_of, words
from oneiro.errors import InvalidError

__all__ = [
    "OURS",
    "LossWarning",
    "Lost",
    "arguments_text",
    "from_anthropic",
    "from_openai",
    "handle",
    "title_and_words",
]

#: Fields of a stored message that are Oneiro's, not a client's.
OURS = frozenset(
    {
        *("id", "session_id", "at", "external_id", "visibility", "response", "finish_reason"),
        *("tokens", "trust"),
    }
)


class LossWarning(UserWarning):
    """Something was left out of a conversion because the other dialect has no word for it."""


class Lost:
    """What a conversion could not say, a line to each."""

    def __init__(self, into: list[str] | None, dialect: str) -> None:
        self._into = into
        self._dialect = dialect
        self._lines: list[str] = []

    def name(self, place: int, what: str) -> None:
        """Notes what is left out of a message."""
        self._lines.append(f"messages[{place}]: {what}, for which {self._dialect} has no place")

    def tell(self) -> None:
        """Hands the lines to the caller, or warns where nobody asked for them."""
        if self._into is not None:
            self._into.extend(self._lines)
        elif self._lines:
            warnings.warn("\n".join(self._lines), LossWarning, stacklevel=3)


def from_openai(messages: Any) -> list[Fields]:
    """OpenAI's messages as :meth:`oneiro.Oneiro.append` takes them. Every field is kept.

    >>> from_openai([{"role": "assistant", "content": "Hi.", "refusal": None}])
    [{'role': 'assistant', 'content': 'Hi.'}]
    """
    return [_kept(message) for message in messages_of(messages)]


def from_anthropic(messages: Any, system: Any = None) -> list[Fields]:
    """Anthropic's messages as :meth:`oneiro.Oneiro.append` takes them; the dict that goes to the
    client will do. The system text comes first, as a message; every block is kept as it is.

    >>> from_anthropic({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi."}]})
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi.'}]
    """
    if isinstance(messages, Mapping):
        if "messages" not in messages:
            raise InvalidError(
                "messages: the dict has no messages",
                field="messages",
                remedy="give the list of messages, or a dict with messages and system",
            )
        system = messages.get("system") if system is None else system
        messages = messages["messages"]
    given = messages_of(messages)
    if system is None or system == "" or system == []:
        return [_kept(message) for message in given]
    first = messages_of([{"role": "system", "content": system}], "system")
    return [_kept(message) for message in [*first, *given]]


def _kept(message: Fields) -> Fields:
    if isinstance(message.get("id"), str):
        # An id of the provider's: Oneiro gives its own.
        kept = {name: item for name, item in message.items() if name != "id"}
        return {**kept, "response": {"id": message["id"]}}
    return message


def arguments_text(given: Any) -> str:
    """Arguments as the JSON text that OpenAI wants; text is handed on as it was written."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return "{}"
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def handle(block: Fields) -> str:
    """What is said in place of a block that cannot be sent."""
    source = block.get("source") or block.get("file") or block.get("input_audio") or {}
    fields = source if isinstance(source, dict) else {}
    told = [fields.get(name) for name in ("media_type", "format", "filename", "file_id", "url")]
    return f"[{', '.join([str(block.get('type')), *(str(one) for one in told if one)])}]"


def title_and_words(block: Fields) -> str:
    """The words of a document that is text."""
    source = block.get("source") or {}
    said = source.get("data") or words(source.get("content"))
    return "\n".join(text for text in (block.get("title"), said) if text)
