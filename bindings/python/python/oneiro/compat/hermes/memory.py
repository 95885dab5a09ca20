"""The memory of hermes: two bounded files of entries, and the tool by which an agent edits them.

Owns MemoryStore in both generations, and the JSON that the tool answers with.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from oneiro.compat.files import file_lock, replace_file
from oneiro.compat.recorded import RecordedFiles, Store

from . import memory_files, paths
from .generations import chosen_generation
from .memory_answers import Answers, disabled, drifted, unreadable
from .memory_approval import held_back
from .memory_files import (
    ENTRY_DELIMITER,
    UnreadableFileError,
    clean,
    split_entries,
    whole_characters,
)
from .memory_schema import MEMORY_SCHEMA, SEED_MEMORY_SCHEMA
from .memory_threats import threat_message
from .replaced import current

__all__ = [
    "ENTRY_DELIMITER",
    "MEMORY_BLOCK_HEADERS",
    "MEMORY_DIR",
    "MEMORY_SCHEMA",
    "SEED_MEMORY_SCHEMA",
    "MemoryStore",
    "apply_memory_pending",
    "check_memory_requirements",
    "get_memory_dir",
    "load_on_disk_store",
    "memory_tool",
]

logger = logging.getLogger(__name__)

Answer = dict[str, Any]

#: How the block of each target begins in a prompt.
MEMORY_BLOCK_HEADERS = {
    "memory": "MEMORY (your personal notes)",
    "user": "USER PROFILE (who the user is)",
}

#: The slots that say which revisions this store has made or taken in.
REVISIONS = "hermes/memory"

_RULE = "═" * 46


def get_memory_dir() -> Path:
    """The folder of the two files in the home of hermes, which a profile may change at any time."""
    return paths.hermes_home() / "memories"


#: The same by the name that the first version had for it. It is used if a host replaces it.
MEMORY_DIR = get_memory_dir()

_OWN_DIR, _OWN_DIR_OF_HOME = MEMORY_DIR, get_memory_dir


def _folder() -> Path:
    """The folder of the two files, looked up at every call: one that a host names, else hermes's."""
    find = current("get_memory_dir", _OWN_DIR_OF_HOME, __name__)
    if find is not _OWN_DIR_OF_HOME:
        return Path(find())
    named = current("MEMORY_DIR", _OWN_DIR, __name__)
    return get_memory_dir() if named is _OWN_DIR else Path(named)


def _scan_memory_content(content: str) -> str | None:
    """Why a text is not kept, or None."""
    return threat_message(whole_characters(content))


_OWN_SCAN = _scan_memory_content


def _blocked(content: str) -> str | None:
    """Why a text is not kept, by the scan that a host may have put in the place of ours."""
    return current("_scan_memory_content", _OWN_SCAN, __name__)(content)


class MemoryStore(Answers):
    """The notes of an agent (MEMORY.md) and what it knows about the user (USER.md), each a list of
    entries within a limit of characters.

    Every change is read, made and written under a lock, so that no writer loses what another wrote.
    What is in the prompt is taken when the store is loaded, and stays as it is while entries change.

    ``generation`` is "0.19", or "seed" for the answers of the first version; without it that of
    $ONEIRO_HERMES_GENERATION, else "0.19". A target that ``memory_enabled`` or
    ``user_profile_enabled`` switches off is not in the prompt, and changes of it are refused.

    With ``store`` (a folder, a ``.db`` file, ``postgres://...`` with its ``space``, or a handle)
    every change is also a revision there, which can be shown, blamed and undone.

    >>> import os, tempfile
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, HERMES_HOME=tempfile.mkdtemp()):
    ...     store = MemoryStore()
    ...     store.load_from_disk()
    ...     store.add("user", "Prefers metric units.")["usage"]
    '1% — 21/1,375 chars'
    """

    _MAX_CONSOLIDATION_FAILURES_PER_TURN = 3
    _default_generation: str | None = None

    def __init__(
        self,
        memory_char_limit: int = 2200,
        user_char_limit: int = 1375,
        *,
        memory_enabled: bool = True,
        user_profile_enabled: bool = True,
        generation: str | None = None,
        store: Store | None = None,
        space: str | None = None,
    ) -> None:
        given = self._default_generation if generation is None else generation
        self.generation = chosen_generation(given)
        self.memory_enabled = memory_enabled
        self.user_profile_enabled = user_profile_enabled
        self.memory_entries: list[str] = []
        self.user_entries: list[str] = []
        self.memory_char_limit = memory_char_limit
        self.user_char_limit = user_char_limit
        self._system_prompt_snapshot: dict[str, str] = {"memory": "", "user": ""}
        self._consolidation_failures = 0
        self._history = None if store is None else RecordedFiles(store, space)

    # --- the prompt ---------------------------------------------------------------------------

    def load_from_disk(self) -> None:
        """Reads both files, and takes what prompts show until the next load. An entry that the scan
        blocks is named there and not shown; it stays in the file, where it can be removed."""
        _folder().mkdir(parents=True, exist_ok=True)
        for target in MEMORY_BLOCK_HEADERS:
            path = self._path_for(target)
            try:
                with self._file_lock(path):
                    self._reload_target(target, skip_drift=True)
            except UnreadableFileError as error:
                logger.warning("%s; it is left alone, and cannot be changed until it is", error)
                self._set_entries(target, [])
            entries = self._sanitize_entries_for_snapshot(self._entries_for(target), path.name)
            self._system_prompt_snapshot[target] = self._render_block(target, entries)

    def format_for_system_prompt(self, target: str) -> str | None:
        """The block of a target as it was when the store was loaded; None if it was empty or is
        disabled."""
        if not self._is_enabled(target):
            return None
        return self._system_prompt_snapshot.get(target) or None

    @staticmethod
    def _sanitize_entries_for_snapshot(entries: list[str], filename: str) -> list[str]:
        shown = [memory_files.for_prompt(entry, filename) for entry in entries]
        for entry, instead in zip(entries, shown, strict=True):
            if entry != instead:
                logger.warning("an entry of %s is not in the prompt: %s", filename, instead)
        return shown

    def _render_block(self, target: str, entries: list[str]) -> str:
        if not entries:
            return ""
        content = ENTRY_DELIMITER.join(entries)
        usage = self._usage(len(content), self._char_limit(target))
        return f"{_RULE}\n{MEMORY_BLOCK_HEADERS[target]} [{usage}]\n{_RULE}\n{content}"

    # --- changes ------------------------------------------------------------------------------

    def add(self, target: str, content: str) -> Answer:
        """Adds an entry. One that is there already is not added again."""
        if (problem := _not_text(content=content)) is not None:
            return problem
        content = clean(content)
        if not content:
            return {"success": False, "error": "Content cannot be empty."}
        if (blocked := _blocked(content)) is not None:
            return {"success": False, "error": blocked}
        return self._changing(target, lambda: self._add(target, content), guards_drift=False)

    def _add(self, target: str, content: str) -> Answer:
        entries = self._entries_for(target)
        if content in entries and not self._is_seed:
            return self._success_response(target, "Entry already exists (no duplicate added).")
        new = [*entries, *split_entries(content)]
        if self._size(new) > self._char_limit(target):
            return self._add_would_exceed(target, content)
        return self._save(target, new, "Entry added.", "Add an entry to")

    def replace(self, target: str, old_text: str, new_content: str) -> Answer:
        """Replaces the one entry that contains ``old_text``."""
        if (problem := _not_text(old_text=old_text, content=new_content)) is not None:
            return problem
        old_text, new_content = clean(old_text), clean(new_content)
        if not old_text:
            return {"success": False, "error": "old_text cannot be empty."}
        if not new_content:
            return {
                "success": False,
                "error": "new_content cannot be empty. Use 'remove' to delete entries.",
            }
        if (blocked := _blocked(new_content)) is not None:
            return {"success": False, "error": blocked}
        return self._changing(target, lambda: self._replace(target, old_text, new_content))

    def _replace(self, target: str, old_text: str, new_content: str) -> Answer:
        entries = self._entries_for(target)
        place = self._find(entries, old_text, "replace")
        if isinstance(place, dict):
            return place
        new = [*entries[:place], *split_entries(new_content), *entries[place + 1 :]]
        if self._size(new) > self._char_limit(target):
            return self._replacement_would_exceed(target, self._size(new))
        return self._save(target, new, "Entry replaced.", "Replace an entry of")

    def remove(self, target: str, old_text: str) -> Answer:
        """Removes the one entry that contains ``old_text``."""
        if (problem := _not_text(old_text=old_text)) is not None:
            return problem
        old_text = clean(old_text)
        if not old_text:
            return {"success": False, "error": "old_text cannot be empty."}
        return self._changing(target, lambda: self._remove(target, old_text))

    def _remove(self, target: str, old_text: str) -> Answer:
        entries = self._entries_for(target)
        place = self._find(entries, old_text, "remove")
        if isinstance(place, dict):
            return place
        new = [*entries[:place], *entries[place + 1 :]]
        return self._save(target, new, "Entry removed.", "Remove an entry of")

    def read(self, target: str) -> Answer:
        """The entries of a target, as the first version could read them."""
        if not self._is_enabled(target):
            return disabled(target)
        with self._file_lock(self._path_for(target)):
            try:
                self._reload(target)
            except UnreadableFileError as error:
                return unreadable(error)
        return self._success_response(target)

    def apply_batch(self, target: str, operations: list[dict[str, Any]]) -> Answer:
        """Applies several changes, all or none. Only the result has to fit the limit."""
        if not operations:
            return {"success": False, "error": "operations list is empty."}
        if (problem := _not_operations(operations)) is not None:
            return problem
        for place, operation in enumerate(operations, 1):
            content = _new_content(operation or {})
            if (operation or {}).get("action") in ("add", "replace") and content:
                # Not trimmed: a space at the end may be a part of what is looked for.
                blocked = _blocked(content)
                if blocked is not None:
                    return {"success": False, "error": f"Operation {place}: {blocked}"}
        return self._changing(target, lambda: self._apply_batch(target, operations))

    def _apply_batch(self, target: str, operations: list[dict[str, Any]]) -> Answer:
        entries = list(self._entries_for(target))
        for place, operation in enumerate(operations, 1):
            operation = operation or {}
            problem = _apply(entries, operation)
            if problem is not None:
                action = operation.get("action") or "unknown"
                return self._batch_error(target, f"Operation {place} ({action}): {problem}")
        if self._size(entries) > self._char_limit(target):
            return self._batch_would_exceed(target, len(operations), self._size(entries))
        message = f"Applied {len(operations)} operation(s)."
        return self._save(target, entries, message, f"Edit {len(operations)} entries of")

    def reset_consolidation_failures(self) -> None:
        """Forgets the failures of the last turn; to be called when a turn begins."""
        self._consolidation_failures = 0

    def save_to_disk(self, target: str) -> None:
        """Writes the entries of a target to its file."""
        self._write_file(self._path_for(target), self._entries_for(target))

    def close(self) -> None:
        """Lets go of the store of revisions, if there is one."""
        if self._history is not None:
            self._history.close()

    # --- below the changes --------------------------------------------------------------------

    @property
    def _is_seed(self) -> bool:
        return self.generation == "seed"

    def _changing(
        self, target: str, change: Callable[[], Answer], guards_drift: bool = True
    ) -> Answer:
        """Makes a change under the lock of its file, on what the file holds then."""
        if not self._is_enabled(target):
            return disabled(target)
        path = self._path_for(target)
        with self._file_lock(path):
            try:
                backup = self._reload_target(target, skip_drift=self._is_seed or not guards_drift)
            except UnreadableFileError as error:
                return unreadable(error)
            if backup is not None:
                return drifted(path, backup)
            return change()

    def _reload_target(self, target: str, *, skip_drift: bool = False) -> str | None:
        """Reads the entries of a target again. If the file has what the tool did not write, answers
        the path of a copy of it."""
        self._take_in(target)
        backup = None if skip_drift else self._detect_external_drift(target)
        self._reload(target)
        self._record(target, f"Edit {self._path_for(target).name} outside of hermes")
        return backup

    def _reload(self, target: str) -> None:
        entries = self._read_file(self._path_for(target))
        self._set_entries(target, entries if self._is_seed else list(dict.fromkeys(entries)))

    def _detect_external_drift(self, target: str) -> str | None:
        path = self._path_for(target)
        text = memory_files.load_text(path)
        if not memory_files.is_drifted(text, self._char_limit(target)):
            return None
        return memory_files.back_up(path)

    def _save(self, target: str, entries: list[str], message: str, revision: str) -> Answer:
        self._write_file(self._path_for(target), entries)
        self._set_entries(target, entries)
        self._record(target, f"{revision} {self._path_for(target).name}")
        return self._success_response(target, message)

    def _record(self, target: str, message: str) -> None:
        """Makes what a file holds a revision, if it differs from the last one. What was written
        before a crash, or by another program, is recorded by the next one who comes here."""
        if self._history is not None:
            value = {"message": message}
            self._history.commit(self._held(target), message, scope=REVISIONS, value=value)

    def _take_in(self, target: str) -> None:
        """Brings into a file what was changed in the store of revisions. If the file was changed as
        well, its text holds, and the other is in the history."""
        if self._history is None:
            return
        path = self._path_for(target)
        changed = self._history.changed_elsewhere(self._held(target), REVISIONS)
        if changed.conflicts:
            other = changed.revisions[0]["id"]
            logger.warning("%s was changed in the file and in the store (%s)", path, other)
        for text in changed.wanted.values():
            replace_file(path, text or "", prefix=".mem_")
        self._history.accept(changed, REVISIONS)

    def _held(self, target: str) -> dict[str, str | None]:
        path = self._path_for(target)
        return {path.name: memory_files.load_text(path) if path.exists() else None}

    def _is_enabled(self, target: str) -> bool:
        if target == "user":
            return self.user_profile_enabled
        return self.memory_enabled or target != "memory"

    def _entries_for(self, target: str) -> list[str]:
        return self.user_entries if target == "user" else self.memory_entries

    def _set_entries(self, target: str, entries: list[str]) -> None:
        if target == "user":
            self.user_entries = entries
        else:
            self.memory_entries = entries

    def _char_limit(self, target: str) -> int:
        return self.user_char_limit if target == "user" else self.memory_char_limit

    @staticmethod
    def _path_for(target: str) -> Path:
        return _folder() / ("USER.md" if target == "user" else "MEMORY.md")

    @staticmethod
    @contextmanager
    def _file_lock(path: Path) -> Iterator[None]:
        """The lock beside a file, which hermes takes as well."""
        with file_lock(path.with_suffix(f"{path.suffix}.lock")):
            yield

    @staticmethod
    def _read_file(path: Path) -> list[str]:
        return split_entries(memory_files.load_text(path))

    @staticmethod
    def _write_file(path: Path, entries: list[str]) -> None:
        memory_files.store_entries(path, entries)


def _new_content(operation: dict[str, Any]) -> str:
    """The text of an operation that adds or replaces; ``new_text`` is another name for it."""
    return operation.get("content") or operation.get("new_text") or ""


def _not_text(**given: Any) -> Answer | None:
    """The answer for arguments that are no texts; None if all of them are, or are left out."""
    for name, value in given.items():
        if not isinstance(value, (str, type(None))):
            kind = type(value).__name__
            return {"success": False, "error": f"{name} must be a string, not {kind}."}
    return None


def _not_operations(operations: Any) -> Answer | None:
    """The answer for operations that are no list of objects with texts; None if they are."""
    expected = "operations must be a list of {action, content?, old_text?} objects."
    if not isinstance(operations, list):
        return {"success": False, "error": expected}
    for place, operation in enumerate(operations, 1):
        if not isinstance(operation, (dict, type(None))):
            return {"success": False, "error": f"Operation {place}: {expected}"}
        texts = ("action", "content", "new_text", "old_text")
        problem = _not_text(**{name: (operation or {}).get(name) for name in texts})
        if problem is not None:
            return {"success": False, "error": f"Operation {place}: {problem['error']}"}
    return None


def _apply(entries: list[str], operation: dict[str, Any]) -> str | None:
    """Applies one operation of a batch to a list of entries; why not, if it cannot be."""
    action = operation.get("action")
    content, old_text = clean(_new_content(operation)), clean(operation.get("old_text") or "")
    if action not in ("add", "replace", "remove"):
        return "unknown action. Use add, replace, or remove."
    if action == "add":
        if not content:
            return "content is required."
        if content not in entries:
            entries += split_entries(content)
        return None
    if not old_text:
        return "old_text is required."
    if action == "replace" and not content:
        return "content is required (use action='remove' to delete)."
    places = [place for place, entry in enumerate(entries) if old_text in entry]
    if not places:
        return f"no entry matched '{old_text}'."
    if len({entries[place] for place in places}) > 1:
        return f"'{old_text}' matched multiple distinct entries -- be more specific."
    entries[places[0] : places[0] + 1] = split_entries(content) if action == "replace" else []
    return None


def load_on_disk_store() -> MemoryStore:
    """A loaded store for programs without an agent, with the limits and switches of hermes's
    configuration where hermes is installed."""
    return loaded(MemoryStore)


S = TypeVar("S", bound=MemoryStore)


def loaded(kind: type[S]) -> S:
    """A loaded store of a class, as the configuration of hermes has it."""
    options: dict[str, Any] = {}
    try:
        config = importlib.import_module("hermes_cli.config")
        configured = (config.load_config() or {}).get("memory") or {}
        for name in ("memory_char_limit", "user_char_limit"):
            if name in configured:
                options[name] = int(configured[name])
        for name in ("memory_enabled", "user_profile_enabled"):
            if name in configured:
                options[name] = bool(configured[name])
    except Exception as error:
        logger.debug("the limits are hermes's defaults: %s", error)
    store = kind(**options)
    store.load_from_disk()
    return store


def memory_tool(
    action: str | None = None,
    target: str | None = "memory",
    content: str | None = None,
    old_text: str | None = None,
    operations: list[dict[str, Any]] | None = None,
    store: MemoryStore | None = None,
    new_text: str | None = None,
) -> str:
    """The tool: one change (``action`` with ``content`` and ``old_text``) or several
    (``operations``) of one target; ``new_text`` is another name for ``content``. Answers JSON."""
    if store is None:
        return _error("Memory is not available. It may be disabled in config or this environment.")
    target = "memory" if target is None else target
    if not isinstance(target, str) or target not in MEMORY_BLOCK_HEADERS:
        return _error(f"Invalid target '{target}'. Use 'memory' or 'user'.")
    if not store._is_enabled(target):
        return _json(disabled(target))
    if operations and not store._is_seed:
        problem = _not_operations(operations)
        if problem is not None:
            return _error(problem["error"])
        payload: Answer = {"action": "batch", "target": target, "operations": operations}
    else:
        content = content or new_text
        answer = _missing(action, target, content, old_text, store)
        if answer is not None:
            return answer
        payload = {"action": action, "target": target, "content": content, "old_text": old_text}
    held = held_back(payload)
    return _json(apply_memory_pending(payload, store) if held is None else held)


def _missing(
    action: str | None,
    target: str,
    content: str | None,
    old_text: str | None,
    store: MemoryStore,
) -> str | None:
    """What a single change lacks, as an answer; None if it lacks nothing."""
    if action == "read" and store._is_seed:
        return None
    if action not in ("add", "replace", "remove"):
        more = ", read" if store._is_seed else ""
        return _error(f"Unknown action '{action}'. Use: add, replace, remove{more}")
    if action != "add" and not old_text:
        if store._is_seed:
            return _error(f"old_text is required for '{action}' action.")
        return _json(store._missing_old_text(target, action))
    if action != "remove" and not content:
        name = "Content" if action == "add" else "content"
        return _error(f"{name} is required for '{action}' action.")
    wrong = _not_text(content=content, old_text=old_text)
    return None if wrong is None else _error(wrong["error"])


def apply_memory_pending(payload: dict[str, Any], store: MemoryStore) -> Answer:
    """Makes a change without asking for approval: one that was staged, and was approved since."""
    action, target = payload.get("action"), payload.get("target", "memory")
    content, old_text = payload.get("content") or "", payload.get("old_text") or ""
    if action == "batch":
        return store.apply_batch(target, payload.get("operations") or [])
    if action == "add":
        return store.add(target, content)
    if action == "replace":
        return store.replace(target, old_text, content)
    if action == "remove":
        return store.remove(target, old_text)
    if action == "read" and store._is_seed:
        return store.read(target)
    return {"success": False, "error": f"Unknown staged action '{action}'."}


# Names of hermes for what it calls at these places.
_drift_error = drifted


def _missing_old_text_error(store: MemoryStore, target: str, action: str) -> str:
    return _json(store._missing_old_text(target, action))


def _apply_write_gate(
    action: str, target: str, content: str | None, old_text: str | None
) -> str | None:
    if action not in ("add", "replace", "remove"):
        return None
    held = held_back({"action": action, "target": target, "content": content, "old_text": old_text})
    return None if held is None else _json(held)


def _apply_batch_write_gate(target: str, operations: list[dict[str, Any]]) -> str | None:
    held = held_back({"action": "batch", "target": target, "operations": operations})
    return None if held is None else _json(held)


def check_memory_requirements() -> bool:
    """Whether the tool can be offered: it needs nothing but a folder."""
    return True


def _json(answer: Answer) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _error(message: str) -> str:
    return _json({"error": message, "success": False})
