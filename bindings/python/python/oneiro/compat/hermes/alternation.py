"""A conversation repaired for a model: one speaker after the other, every tool result after its
call.

Providers refuse a history in which a role speaks twice in a row or a result answers no call. The
stored rows are not touched.
"""

from __future__ import annotations

from typing import Any

Turn = dict[str, Any]

# Items of a provider's own protocol that say which turn they belong to.
_OWN_ITEMS = ("codex_reasoning_items", "codex_message_items")


def repaired(turns: list[Turn]) -> list[Turn]:
    """The turns, repaired. The list and its turns are the caller's own and are changed."""
    return _users_merged(_results_answered(_assistants_merged(turns)))


def _assistants_merged(turns: list[Turn]) -> list[Turn]:
    kept: list[Turn] = []
    for turn in turns:
        last = kept[-1] if kept else None
        if last is not None and _is_whole(last) and _is_whole(turn):
            _merge_assistant(last, turn)
        else:
            kept.append(turn)
    return kept


def _is_whole(turn: Turn) -> bool:
    """Whether an assistant's turn may be merged: an incomplete one is part of a provider's
    exchange, and so is one with items of its own."""
    return (
        turn["role"] == "assistant"
        and turn.get("finish_reason") != "incomplete"
        and not any(turn.get(name) for name in _OWN_ITEMS)
    )


def _merge_assistant(first: Turn, second: Turn) -> None:
    first["content"] = _joined(first["content"], second["content"])
    if second.get("tool_calls"):
        first["tool_calls"] = [*_listed(first.get("tool_calls")), *_listed(second["tool_calls"])]
    if not first.get("reasoning_content") and second.get("reasoning_content"):
        first["reasoning_content"] = second["reasoning_content"]


def _listed(calls: Any) -> list[Any]:
    if not calls:
        return []
    return list(calls) if isinstance(calls, list) else [calls]


def _joined(first: Any, second: Any) -> Any:
    """Both contents as one; parts and text become parts."""
    if not second:
        return second if first is None else first
    if not first:
        return second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content} if isinstance(content, str) else content]


def _results_answered(turns: list[Turn]) -> list[Turn]:
    """The turns without tool results that answer no open call of what the assistant said last."""
    kept: list[Turn] = []
    open_calls: set[str] = set()
    for turn in turns:
        role = turn["role"]
        if role == "tool":
            call = turn.get("tool_call_id")
            if call not in open_calls:
                continue
            open_calls.discard(call)
        elif role == "assistant":
            open_calls = _ids(turn.get("tool_calls"))
        elif role == "user":
            open_calls = set()
        kept.append(turn)
    return kept


def _ids(calls: Any) -> set[str]:
    """The ids of calls; one may have two."""
    return {
        call[name]
        for call in (calls if isinstance(calls, list) else [])
        if isinstance(call, dict)
        for name in ("id", "call_id")
        if isinstance(call.get(name), str) and call[name]
    }


def _users_merged(turns: list[Turn]) -> list[Turn]:
    kept: list[Turn] = []
    for turn in turns:
        last = kept[-1] if kept else None
        if last is not None and _is_user_text(last) and _is_user_text(turn):
            texts = (last["content"].strip(), turn["content"].strip())
            last["content"] = "\n\n".join(text for text in texts if text)
            # What was sent for one of them is not what is sent for both.
            last.pop("api_content", None)
        else:
            kept.append(turn)
    return kept


def _is_user_text(turn: Turn) -> bool:
    return turn["role"] == "user" and isinstance(turn["content"], str)
