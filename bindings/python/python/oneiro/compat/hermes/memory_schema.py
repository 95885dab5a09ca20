"""How the memory tool is described to a model: its parameters, and when to use it."""

from __future__ import annotations

from typing import Any

ACTIONS = ("add", "replace", "remove")

_DESCRIPTION = """\
Keeps facts that should outlast this conversation. What is kept here stands in the prompt of every \
later session, so entries are short and worth repeating.

Give all changes of one target in one call, as 'operations': a list of {action, content?, \
old_text?}. They are applied together or not at all, and only the result has to fit the limit, so \
one call can remove what is stale and add what is new. A single change can be given as action, \
content and old_text. A call that succeeds is finished; it is not repeated.

Worth keeping: what the user prefers, corrects or tells about themselves; stable facts about the \
environment, conventions and tools. Not worth keeping: task progress, completed work, temporary \
TODO state, raw data, what is found again easily (session_search finds past conversations).

Targets: 'user' is who the user is; 'memory' is your own notes. When a target is full, the answer \
lists its entries: remove or shorten some of them in the same call that adds the new one."""


def _schema(actions: tuple[str, ...], batches: bool) -> dict[str, Any]:
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "action": text | {"enum": list(actions), "description": "What to do, for a single change."},
        "target": text | {"enum": ["memory", "user"], "description": "Which of the two to change."},
        "content": text | {"description": "The entry, for 'add' and 'replace'."},
        "old_text": text
        | {
            "description": "For 'replace' and 'remove', REQUIRED: a short part of the entry that "
            "no other entry contains."
        },
    }
    if batches:
        operation = {
            "action": text | {"enum": list(actions)},
            "content": text | {"description": "The entry, for add and replace."},
            "old_text": text | {"description": "A part of the entry, for replace and remove."},
        }
        properties["operations"] = {
            "type": "array",
            "description": "Several changes of one target, all or none.",
            "items": {"type": "object", "properties": operation, "required": ["action"]},
        }
    return {
        "name": "memory",
        "description": _DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": ["target"] if batches else ["action", "target"],
        },
    }


MEMORY_SCHEMA = _schema(ACTIONS, batches=True)

#: The tool of the first version, which could also read, and made one change at a time.
SEED_MEMORY_SCHEMA = _schema((*ACTIONS, "read"), batches=False)
