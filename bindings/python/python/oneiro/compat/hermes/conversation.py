"""Conversations: the messages of a session, or of its whole lineage, as a model or a person reads
them. Owns what is left out of them and how a broken sequence is repaired."""

from __future__ import annotations

import re
from typing import Any

from . import rows
from .alternation import repaired
from .lineage import Lineage
from .messages import API_CONTENT_SCOPE

Turn = dict[str, Any]

_BLOCK = re.compile(r"<\s*memory-context\s*>.*?</\s*memory-context\s*>", re.I | re.S)
_TAG = re.compile(r"</?\s*memory-context\s*>", re.I)
_NOTE = re.compile(
    r"\[system\s+note:\s*the\s+following\s+is\s+recalled\s+memory\s+context,\s*not\s+new\s+user"
    r"\s+input\.\s*treat\s+as\s+(?:informational\s+background\s+data|authoritative\s+reference"
    r"\s+data[^\]]*)\.\]\s*",
    re.I,
)

# How the prompts of background reviews begin, which older hosts stored in the conversation.
REVIEW_PROMPTS = (
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
)


class Conversation(Lineage):
    """Conversations of sessions."""

    def get_messages_as_conversation(
        self,
        session_id: str,
        include_ancestors: bool = False,
        include_inactive: bool = False,
        repair_alternation: bool = False,
    ) -> list[Turn]:
        """The conversation in the form of OpenAI's messages. With `include_ancestors` from the
        root of the lineage on, prompts that were replayed left out; `repair_alternation` is for a
        conversation that a model is to carry on."""
        if self._is_seed:
            return self._seed_conversation(session_id)
        if include_ancestors:
            turns = self._lineage_turns(
                self._session_lineage_root_to_tip(session_id), include_inactive
            )
        else:
            turns = self._turns(session_id, include_inactive)
        turns = without_reviews(turns)
        return repaired(turns) if repair_alternation else turns

    def get_resume_conversations(self, session_id: str) -> tuple[list[Turn], list[Turn]]:
        """What the model goes on from (this session, repaired) and what the person sees (the whole
        lineage, as it was)."""
        ids = self._session_lineage_root_to_tip(session_id)
        placed = {one: self._placed_turns(one, False) for one in ids}
        shown = _without_replays(_in_order([pair for one in ids for pair in placed[one]]))
        own = [dict(turn) for _, turn in placed.get(session_id, [])]
        return repaired(without_reviews(own)), without_reviews(shown)

    def get_ancestor_display_prefix(self, session_id: str) -> list[Turn]:
        """What the person sees of the sessions before this one."""
        before = [one for one in self._session_lineage_root_to_tip(session_id) if one != session_id]
        return without_reviews(self._lineage_turns(before, False))

    def _lineage_turns(self, ids: list[str], include_inactive: bool) -> list[Turn]:
        placed = [pair for one in ids for pair in self._placed_turns(one, include_inactive)]
        return _without_replays(_in_order(placed))

    def _turns(self, session_id: str, include_inactive: bool) -> list[Turn]:
        return [turn for _, turn in self._placed_turns(session_id, include_inactive)]

    def _placed_turns(self, session_id: str, include_inactive: bool) -> list[tuple[int, Turn]]:
        """The turns of a session, each with the id of its message."""
        messages = self._all(session_id, include_inactive)
        if not messages:
            return []
        turns = [_turn(message) for message in messages]
        given = {key: value for key, value, _ in self._native.slots(API_CONTENT_SCOPE + session_id)}
        if given:
            for message, turn in zip(messages, turns, strict=True):
                value = given.get(str(message["id"]))
                if value is not None:
                    _put_api_content(turn, value.get("api_content"))
        return [(message["id"], turn) for message, turn in zip(messages, turns, strict=True)]

    def _seed_conversation(self, session_id: str) -> list[Turn]:
        found = [rows.seed_message_row(message) for message in self._all(session_id, False)]
        turns = []
        for row in found:
            turn = {"role": row["role"], "content": row["content"]}
            for name in ("tool_call_id", "tool_name", "tool_calls"):
                if row[name]:
                    turn[name] = row[name]
            turns.append(turn)
        return turns


def _in_order(placed: list[tuple[int, Turn]]) -> list[Turn]:
    """Turns of several sessions in the order they were said."""
    return [turn for _, turn in sorted(placed, key=lambda pair: pair[0])]


def sanitize_context(text: str) -> str:
    """The text without recalled memory that a host had put into it."""
    if "memory" not in text.lower():
        return text
    text = _BLOCK.sub("", text)
    text = _NOTE.sub("", text)
    return _TAG.sub("", text)


def _turn(message: dict[str, Any]) -> Turn:
    """A message as a turn of a conversation: what is unset is left out."""
    get = message.get
    role = message["role"]
    content = get("content")
    if role in ("user", "assistant") and isinstance(content, str):
        content = sanitize_context(content).strip()
    turn: Turn = {"role": role, "content": content}
    if get("api_content"):
        turn["api_content"] = get("api_content")
    timestamp = get("timestamp")
    turn["timestamp"] = message["at"] / 1e6 if timestamp is None else timestamp
    if get("tool_call_id"):
        turn["tool_call_id"] = get("tool_call_id")
    tool_name = get("name") if role == "tool" else get("tool_name")
    if tool_name:
        turn["tool_name"] = tool_name
    if get("effect_disposition"):
        turn["effect_disposition"] = get("effect_disposition")
    if get("tool_calls"):
        turn["tool_calls"] = get("tool_calls")
    if get("platform_message_id"):
        turn["message_id"] = get("platform_message_id")
    if get("observed"):
        turn["observed"] = True
    if role == "assistant":
        _put_reasoning(turn, message)
    return turn


def _put_reasoning(turn: Turn, message: dict[str, Any]) -> None:
    """What only an assistant has. An empty reasoning_content is kept: providers ask for it back."""
    get = message.get
    for name in ("finish_reason", "reasoning"):
        if get(name):
            turn[name] = get(name)
    if get("reasoning_content") is not None:
        turn["reasoning_content"] = get("reasoning_content")
    for name in rows.JSON_MESSAGE_COLUMNS:
        if get(name):
            turn[name] = get(name)


def _put_api_content(turn: Turn, api_content: str | None) -> None:
    if api_content:
        rest = {name: value for name, value in turn.items() if name not in ("role", "content")}
        role, content = turn["role"], turn["content"]
        turn.clear()
        turn.update(role=role, content=content, api_content=api_content)
        turn.update({name: value for name, value in rest.items() if name != "api_content"})
    else:
        turn.pop("api_content", None)


def _without_replays(turns: list[Turn]) -> list[Turn]:
    """The turns without prompts that were said already since the assistant last answered: a
    session that was carried on repeats the prompt it was carried on with."""
    kept: list[Turn] = []
    said: set[str] = set()
    for turn in turns:
        content = turn["content"]
        if turn["role"] == "assistant" and (content or turn.get("tool_calls")):
            said.clear()
        elif turn["role"] == "user" and isinstance(content, str) and content:
            if content in said:
                continue
            said.add(content)
        kept.append(turn)
    return kept


def without_reviews(turns: list[Turn]) -> list[Turn]:
    """The turns without prompts of background reviews and the answer right after each: replayed,
    they would turn the agent into the reviewer."""
    kept: list[Turn] = []
    after_review = False
    for turn in turns:
        if is_review(turn):
            after_review = True
            continue
        if not (after_review and turn["role"] == "assistant"):
            kept.append(turn)
        after_review = False
    return kept


def is_review(turn: Turn) -> bool:
    """Whether a turn is the prompt of a background review."""
    content = turn.get("content")
    return (
        turn.get("role") in ("user", "system")
        and isinstance(content, str)
        and content.lstrip().startswith(REVIEW_PROMPTS)
    )
