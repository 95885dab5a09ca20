"""How a hermes row reads and writes as what Oneiro keeps.

Owns the columns of both generations, the exactness of times, and the class of a child row. It
calls nothing: every function is a plain mapping of one dict to another.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from .columns import (
    ACTUAL_COST_SET as ACTUAL_COST_SET,
)
from .columns import (
    CONTENT_JSON_PREFIX as CONTENT_JSON_PREFIX,
)
from .columns import (
    END_REASON_UNSET as END_REASON_UNSET,
)
from .columns import (
    ESTIMATED_COST_SET as ESTIMATED_COST_SET,
)
from .columns import (
    EXACT_MODEL_CONFIG as EXACT_MODEL_CONFIG,
)
from .columns import (
    JSON_MESSAGE_COLUMNS as JSON_MESSAGE_COLUMNS,
)
from .columns import (
    MESSAGE_COLUMNS as MESSAGE_COLUMNS,
)
from .columns import (
    METADATA_COLUMNS as METADATA_COLUMNS,
)
from .columns import (
    REPLACED_ALL_UNTIL as REPLACED_ALL_UNTIL,
)
from .columns import (
    REPLACED_REWINDS as REPLACED_REWINDS,
)
from .columns import (
    REPLACED_UNTIL as REPLACED_UNTIL,
)
from .columns import (
    SEED_MESSAGE_COLUMNS as SEED_MESSAGE_COLUMNS,
)
from .columns import (
    SEED_SESSION_COLUMNS as SEED_SESSION_COLUMNS,
)
from .columns import (
    SESSION_COLUMNS as SESSION_COLUMNS,
)
from .errors import IntegrityError, ProgrammingError

Row = dict[str, Any]

# The years 1 to 9999, in microseconds: what every part of Oneiro can print.
_FIRST_MICROS = -62_135_596_800_000_000
_LAST_MICROS = 253_402_300_799_000_000


# Times


def micros(seconds: float) -> int:
    """The nearest microsecond to a time of hermes, held inside what can be printed."""
    if not math.isfinite(seconds):
        return _LAST_MICROS if seconds > 0 else _FIRST_MICROS
    return min(max(round(seconds * 1e6), _FIRST_MICROS), _LAST_MICROS)


def to_micros(seconds: float) -> float:
    """A time of the clock, which nobody has seen yet, as whole microseconds."""
    return micros(seconds) / 1e6


def said_at(message: Mapping[str, Any], exact: float) -> float:
    """The exact time that is kept with a message, unless its time was amended since."""
    at: int = message["at"]
    return exact if abs(micros(exact) - at) <= 1 else at / 1e6


def is_exact(seconds: float) -> bool:
    """Whether a time comes back as the same float from its microseconds."""
    return micros(seconds) / 1e6 == seconds


# Sessions


def model_config_text(value: Any) -> str | None:
    """The model_config of a row: JSON text, as hermes keeps it."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def model_config_value(text: str | None) -> Any:
    """The model_config that Oneiro keeps for hermes's text: parsed, or the text if no JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def _exact_config(config: Any, metadata: Mapping[str, Any]) -> str | None:
    """The text that was given, when it is kept and still says what is stored."""
    exact = metadata.get(EXACT_MODEL_CONFIG)
    if isinstance(exact, str) and model_config_value(exact) == config:
        return exact
    return model_config_text(config)


def session_row(session: Mapping[str, Any]) -> Row:
    """The 0.19 row of a session."""
    meta = session["metadata"]
    kept = meta.get
    ended = session["ended_at"]
    started_at = kept("started_at")
    ended_at = kept("ended_at") if ended is not None else None
    config = session["model_config"]
    return {
        "id": session["id"],
        "source": session["source"],
        "user_id": session["user_id"],
        "session_key": kept("session_key"),
        "chat_id": kept("chat_id"),
        "chat_type": kept("chat_type"),
        "thread_id": kept("thread_id"),
        "display_name": kept("display_name"),
        "origin_json": kept("origin_json"),
        "expiry_finalized": kept("expiry_finalized", 0),
        "model": session["model"],
        "model_config": config if config is None else _exact_config(config, meta),
        "system_prompt": session["system_prompt"],
        "parent_session_id": session["parent_id"],
        "started_at": session["started_at"] / 1e6 if started_at is None else started_at,
        "ended_at": ended / 1e6 if ended_at is None and ended is not None else ended_at,
        "end_reason": None
        if kept(END_REASON_UNSET) and ended is not None
        else session["end_reason"],
        "message_count": session["message_count"] - session.get("compacted_count", 0),
        "tool_call_count": session["tool_call_count"] - session.get("compacted_tool_calls", 0),
        "input_tokens": session["input_tokens"],
        "output_tokens": session["output_tokens"],
        "cache_read_tokens": session["cache_read_tokens"],
        "cache_write_tokens": session["cache_write_tokens"],
        "reasoning_tokens": session["reasoning_tokens"],
        "cwd": session["cwd"],
        "git_branch": kept("git_branch"),
        "git_repo_root": kept("git_repo_root"),
        "billing_provider": kept("billing_provider"),
        "billing_base_url": kept("billing_base_url"),
        "billing_mode": kept("billing_mode"),
        "estimated_cost_usd": _cost(session["estimated_cost_usd"], kept(ESTIMATED_COST_SET)),
        "actual_cost_usd": _cost(session["actual_cost_usd"], kept(ACTUAL_COST_SET)),
        "cost_status": kept("cost_status"),
        "cost_source": kept("cost_source"),
        "pricing_version": kept("pricing_version"),
        "title": session["title"],
        "api_call_count": session["api_call_count"],
        "handoff_state": kept("handoff_state"),
        "handoff_platform": kept("handoff_platform"),
        "handoff_error": kept("handoff_error"),
        "compression_failure_cooldown_until": kept("compression_failure_cooldown_until"),
        "compression_failure_error": kept("compression_failure_error"),
        "compression_fallback_streak": kept("compression_fallback_streak", 0),
        "profile_name": kept("profile_name"),
        "rewind_count": session["rewind_count"] - kept(REPLACED_REWINDS, 0),
        "archived": 1 if session["archived"] else 0,
    }


def seed_session_row(session: Mapping[str, Any]) -> Row:
    """The seed row of a session. `tool_rows`, when the caller has put it in, is the seed's count
    of tools, which counts messages and not calls."""
    row = session_row(session)
    row["message_count"] = session["message_count"]
    row["tool_call_count"] = session.get("tool_rows", session["tool_call_count"])
    return {name: row[name] for name in SEED_SESSION_COLUMNS}


def _cost(cost: float | None, is_set: Any) -> float | None:
    return cost if is_set or cost else None


def new_session(session_id: str, source: str, started_at: float, columns: Mapping[str, Any]) -> Row:
    """The native fields of a session with these hermes columns; columns that are None are unset."""
    fields: Row = {"id": session_id, "source": source, "started_at": micros(started_at)}
    metadata: Row = {}
    if not is_exact(started_at):
        metadata["started_at"] = started_at
    for name, value in columns.items():
        if value is None:
            continue
        if name != "model_config":
            value = stored_text(name, value)
        if name in METADATA_COLUMNS:
            metadata[name] = scrubbed(value)
        else:
            kept = storable(value) if name == "model_config" else scrubbed(value)
            fields["parent_id" if name == "parent_session_id" else name] = kept
    if metadata:
        fields["metadata"] = metadata
    return fields


# Messages


def message_row(message: Mapping[str, Any]) -> Row:
    """The 0.19 row of a message."""
    get = message.get
    role = message["role"]
    tokens = get("tokens")
    timestamp = get("timestamp")
    visibility = get("visibility")
    details = get("reasoning_details")
    reasoning_items = get("codex_reasoning_items")
    message_items = get("codex_message_items")
    return {
        "id": message["id"],
        "session_id": message["session_id"],
        "role": role,
        "content": get("content"),
        "tool_call_id": get("tool_call_id"),
        "tool_calls": get("tool_calls") or None,
        "tool_name": get("name") if role == "tool" else get("tool_name"),
        "effect_disposition": get("effect_disposition"),
        "timestamp": message["at"] / 1e6 if timestamp is None else said_at(message, timestamp),
        "token_count": get("token_count") if tokens is None else tokens,
        "finish_reason": get("finish_reason"),
        "reasoning": get("reasoning"),
        "reasoning_content": get("reasoning_content"),
        "reasoning_details": details if details is None else json.dumps(details),
        "codex_reasoning_items": (
            reasoning_items if reasoning_items is None else json.dumps(reasoning_items)
        ),
        "codex_message_items": message_items
        if message_items is None
        else json.dumps(message_items),
        "platform_message_id": get("platform_message_id"),
        "observed": 1 if get("observed") else 0,
        "active": 1 if visibility is None else 0,
        "compacted": 1 if visibility == "compacted" else 0,
        "api_content": get("api_content"),
    }


def seed_message_row(message: Mapping[str, Any]) -> Row:
    """The seed row of a message."""
    get = message.get
    role = message["role"]
    tokens = get("tokens")
    timestamp = get("timestamp")
    return {
        "id": message["id"],
        "session_id": message["session_id"],
        "role": role,
        "content": get("content"),
        "tool_call_id": get("tool_call_id"),
        "tool_calls": get("tool_calls") or None,
        "tool_name": get("name") if role == "tool" else get("tool_name"),
        "timestamp": message["at"] / 1e6 if timestamp is None else said_at(message, timestamp),
        "token_count": get("token_count") if tokens is None else tokens,
    }


# Columns of a message that are kept in the body under the name hermes gives them.
_PLAIN_COLUMNS = (
    "tool_call_id",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "effect_disposition",
    "platform_message_id",
)


def new_message(columns: Mapping[str, Any], now: float) -> Row:
    """The native message for the hermes columns of a message. `now` is its time when it has none
    that can be read."""
    get = columns.get
    role = stored_role(get("role", "unknown"))
    message: Row = {"role": role, "content": stored_content(get("content"))}
    tool_calls = get("tool_calls")
    if tool_calls:
        message["tool_calls"] = tool_calls
    tool_name = get("tool_name")
    if tool_name is not None:
        message["name" if role == "tool" else "tool_name"] = stored_text("tool_name", tool_name)
    for name in _PLAIN_COLUMNS:
        value = get(name)
        if value is not None:
            message[name] = stored_text(name, value)
    if "platform_message_id" not in message and get("message_id") is not None:
        message["platform_message_id"] = stored_text("message_id", get("message_id"))
    token_count = get("token_count")
    if token_count is not None:
        put_tokens(message, token_count)
    for name in JSON_MESSAGE_COLUMNS:
        value = get(name)
        if value:
            message[name] = value
    if get("observed"):
        message["observed"] = True
    api_content = get("api_content")
    if isinstance(api_content, str):
        message["api_content"] = api_content
    put_time(message, get("timestamp"), now)
    return message


def new_messages(messages: Iterable[Mapping[str, Any]], now: float) -> list[Row]:
    """The native messages of a list that is stored at once: each a microsecond after the last."""
    return [new_message(message, now + place * 1e-6) for place, message in enumerate(messages)]


def stored_role(role: Any) -> str:
    """The role of a message as it is kept."""
    if role is None:
        raise IntegrityError(
            "a message needs a role", field="role", remedy="give user, assistant, system or tool"
        )
    return role if isinstance(role, str) else str(role)


def put_tokens(message: Row, token_count: Any) -> None:
    """Puts a token count where the engine reads it, if it is one; anything else is only kept."""
    if isinstance(token_count, str):
        with contextlib.suppress(ValueError):
            token_count = int(token_count)
    counts = isinstance(token_count, int) and 0 <= token_count < 1 << 63
    message["tokens" if counts else "token_count"] = int(token_count) if counts else token_count


def put_time(message: Row, timestamp: Any, now: float) -> None:
    """Puts the time of a message: the exact one that was given, else `now`."""
    if timestamp is not None:
        seconds = readable_time(timestamp)
        if seconds is not None:
            at = micros(seconds)
            message["at"] = at
            if at / 1e6 != seconds:
                message["timestamp"] = seconds
            return
    message["at"] = round(now * 1e6)


def readable_time(value: Any) -> float | None:
    """A time that a caller gave, as epoch seconds; None when it is none."""
    if hasattr(value, "timestamp"):
        value = value.timestamp()
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if math.isfinite(seconds) else None


def stored_content(content: Any, generation: str = "0.19") -> Any:
    """The content of a message as it is kept: text, a list, a dict or nothing. What hermes keeps
    as marked JSON comes apart here; a number becomes its text as in a TEXT column. The seed knows
    text only."""
    if content is None:
        return None
    if generation == "seed" and isinstance(content, (list, dict, tuple)):
        raise ProgrammingError(
            f"content is a {type(content).__name__}, and the seed generation stores text",
            field="content",
            remedy='give a str, or open SessionDB with generation="0.19"',
        )
    if isinstance(content, (list, dict)):
        return content
    if isinstance(content, str):
        return content if not content.startswith(CONTENT_JSON_PREFIX) else decoded(content)
    if isinstance(content, tuple):
        return list(content)
    return stored_text("content", content)


def decoded(content: str) -> Any:
    """What marked JSON says; the text itself when it is damaged."""
    try:
        return json.loads(content[len(CONTENT_JSON_PREFIX) :])
    except ValueError:
        return content


def stored_text(field: str, value: Any) -> str:
    """A value as a TEXT column keeps it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            pass
    elif field == "content":
        return str(value)
    raise ProgrammingError(
        f"{field} is a {type(value).__name__}, which is no text", field=field, remedy="give a str"
    )


def scrubbed(value: Any) -> Any:
    """The value with every lone surrogate replaced: no store can hold one."""
    if isinstance(value, str):
        return (
            value
            if value.isascii()
            else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        )
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [scrubbed(item) for item in value]
    return value


#: How deep a value may be nested that the store takes.
_DEPTH = 100


def storable(value: Any, depth: int = 0) -> Any:
    """The value as JSON can say it: keys become text as json.dumps makes them, numbers that are
    none become their names, and what is nested too deeply becomes text."""
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)
    if isinstance(value, (dict, list, tuple)) and depth >= _DEPTH:
        return json.dumps(value, default=str)
    if isinstance(value, dict):
        return {_key(key): storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item, depth + 1) for item in value]
    return scrubbed(value)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return cast(str, scrubbed(key))
    return "null" if key is None else json.dumps(key) if isinstance(key, bool) else str(key)


# Lineage


def marker(config: Any, name: str) -> Any:
    """A marker in the model_config (text or value) of a row; None when it has none."""
    if isinstance(config, str):
        if name not in config:
            return None
        config = model_config_value(config)
    return config.get(name) if isinstance(config, dict) else None


def is_delegate(row: Mapping[str, Any]) -> bool:
    """Whether a row is work handed to another agent."""
    return marker(row["model_config"], "_delegate_from") is not None


def is_branch(row: Mapping[str, Any], parent: Mapping[str, Any] | None) -> bool:
    """Whether a row is its parent's conversation taken another way."""
    if marker(row["model_config"], "_branched_from") is not None:
        return True
    if parent is None or parent["end_reason"] != "branched" or is_delegate(row):
        return False
    return parent["ended_at"] is not None and row["started_at"] >= parent["ended_at"]


def is_continuation(row: Mapping[str, Any], parent: Mapping[str, Any] | None) -> bool:
    """Whether a row carries its compressed parent on."""
    return (
        parent is not None
        and parent["end_reason"] == "compression"
        and row["source"] != "tool"
        and not is_delegate(row)
        and not is_branch(row, parent)
    )


def lineage_of(config: Any, source: str, parent_end_reason: str | None) -> str:
    """The native lineage of a child: by its markers, else by how its parent ended."""
    for name, lineage in (
        ("_delegate_from", "delegate"),
        ("_branched_from", "branch"),
        ("_reset_from", "reset"),
    ):
        if marker(config, name) is not None:
            return lineage
    compressed = parent_end_reason == "compression" and source != "tool"
    return "continuation" if compressed else "branch"


def has_replaced(metadata: Mapping[str, Any]) -> bool:
    """Whether a session has messages that hermes would have deleted."""
    return REPLACED_UNTIL in metadata or REPLACED_ALL_UNTIL in metadata


def visible(messages: Iterable[Mapping[str, Any]], metadata: Mapping[str, Any]) -> list[Any]:
    """The messages without those that were replaced: rows that hermes would have deleted."""
    until = metadata.get(REPLACED_UNTIL)
    all_until = metadata.get(REPLACED_ALL_UNTIL)
    if until is None and all_until is None:
        return list(messages)
    rewound = max(until or 0, all_until or 0)
    compacted = all_until or 0
    return [
        message
        for message in messages
        if message["id"] > (rewound if message.get("visibility") == "rewound" else compacted)
        or message.get("visibility") is None
    ]
