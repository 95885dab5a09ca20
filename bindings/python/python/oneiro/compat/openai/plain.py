"""What callers hand over, as plain JSON: the clients' objects become dicts, and what is no list of
messages is refused by name. It knows no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from oneiro.errors import InvalidError

__all__ = ["Fields", "blocks_of", "cleaned", "instructions", "messages_of", "plain", "words"]

Fields = dict[str, Any]

_LIST = 'give a list of messages, such as [{"role": "user", "content": "hello"}]'


def plain(value: Any, where: str) -> Any:
    """The value as dicts, lists and scalars; objects of a client are asked for ``model_dump()``."""
    if value is None or isinstance(value, (str, bool, int, float, datetime)):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item, f"{where}.{name}") for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return plain(dump(), where)
    raise InvalidError(
        f"{where}: {type(value).__name__} is neither JSON nor an object of the client",
        field=where,
        remedy="give dicts, lists, strings and numbers, or objects that have model_dump()",
    )


def cleaned(message: Fields) -> Fields:
    """A message without the nulls that clients write for what was not said. Arguments and results
    keep theirs: there a null means something."""
    kept = {name: item for name, item in message.items() if item is not None or name == "content"}
    for name in ("content", "tool_calls"):
        if isinstance(kept.get(name), list):
            kept[name] = [_block(item) for item in kept[name]]
    return kept


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    return {name: item for name, item in block.items() if item is not None or name == "input"}


def messages_of(given: Any, where: str = "messages") -> list[Fields]:
    """A list of messages, checked: each is a mapping with a role."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
        raise InvalidError(
            f"{where}: {type(given).__name__} is not a list of messages", field=where, remedy=_LIST
        )
    found: list[Fields] = []
    for place, item in enumerate(given):
        here = f"{where}[{place}]"
        message = plain(item, here)
        if not isinstance(message, dict):
            raise InvalidError(f"{here}: {item!r} is not a message", field=here, remedy=_LIST)
        role = message.get("role")
        if not isinstance(role, str) or not role.strip():
            said = "has no role" if role is None else f"has the role {role!r}"
            raise InvalidError(
                f"{here}: {said}", field=here, remedy="give user, assistant, system or tool"
            )
        content = message.get("content")
        if content is not None and not isinstance(content, (str, list)):
            raise InvalidError(
                f"{here}.content: {type(content).__name__} is neither text nor a list of parts",
                field=f"{here}.content",
                remedy="give a string, or a list of content parts",
            )
        found.append(cleaned(message))
    return found


def instructions(message: Fields) -> bool:
    """Whether the host speaks, not the user or the model."""
    return message["role"] in ("system", "developer")


def blocks_of(content: Any) -> list[Fields]:
    """Content as blocks: a string is one of text; a string among them as well."""
    if content is None:
        return []
    items = content if isinstance(content, list) else [content]
    return [
        item if isinstance(item, dict) else {"type": "text", "text": str(item)} for item in items
    ]


def words(content: Any) -> str:
    """The text of content, a line to each block; anything else as JSON is the caller's to tell."""
    texts = [block.get("text") for block in blocks_of(content)]
    return "\n".join(text for text in texts if isinstance(text, str))
