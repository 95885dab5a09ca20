"""What MemoryStore answers: how a change went, in the words and fields of its generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oneiro.compat.files import UnreadableFileError

from .memory_files import ENTRY_DELIMITER

Answer = dict[str, Any]

_PREVIEW_CHARS = 80


class Answers:
    """The answers of a store, and the count of its failures in one turn."""

    _MAX_CONSOLIDATION_FAILURES_PER_TURN: int
    _consolidation_failures: int

    @property
    def _is_seed(self) -> bool:
        raise NotImplementedError

    def _entries_for(self, target: str) -> list[str]:
        raise NotImplementedError

    def _char_limit(self, target: str) -> int:
        raise NotImplementedError

    @staticmethod
    def _size(entries: list[str]) -> int:
        """Characters of entries as they are written, delimiters counted."""
        return len(ENTRY_DELIMITER.join(entries))

    def _char_count(self, target: str) -> int:
        return self._size(self._entries_for(target))

    def _usage(self, size: int, limit: int) -> str:
        percent = int(size / limit * 100) if limit > 0 else 0
        # The first version did not stop at 100 %.
        percent = percent if self._is_seed else min(100, percent)
        return f"{percent}% — {size:,}/{limit:,} chars"

    def _success_response(self, target: str, message: str | None = None) -> Answer:
        self._consolidation_failures = 0
        entries = self._entries_for(target)
        usage = self._usage(self._char_count(target), self._char_limit(target))
        if self._is_seed:
            answer: Answer = {"success": True, "target": target, "entries": entries}
        else:
            answer = {"success": True, "done": True, "target": target}
        answer |= {"usage": usage, "entry_count": len(entries)}
        if message:
            answer["message"] = message
        if not self._is_seed:
            answer["note"] = "Write saved. This update is complete — do not repeat it."
        return answer

    def _full(self, target: str) -> Answer:
        """The entries of a target that has no room, and how full it is."""
        size, limit = self._char_count(target), self._char_limit(target)
        return {"current_entries": self._entries_for(target), "usage": f"{size:,}/{limit:,}"}

    def _consolidation_failure(self, answer: Answer) -> Answer:
        """Counts a failure. After too many in one turn the agent is asked to stop trying, so that
        the user gets a reply."""
        if self._is_seed:
            return answer
        self._consolidation_failures += 1
        if self._consolidation_failures <= self._MAX_CONSOLIDATION_FAILURES_PER_TURN:
            return answer
        return {
            "success": False,
            "done": True,
            "error": (
                f"Memory consolidation failed {self._consolidation_failures} times this turn. Stop "
                "retrying memory calls — leave memory unchanged for now and continue with your "
                "reply to the user. The fact can be saved in a later turn."
            ),
        }

    def _add_would_exceed(self, target: str, content: str) -> Answer:
        size, limit = self._char_count(target), self._char_limit(target)
        error = (
            f"Memory at {size:,}/{limit:,} chars. Adding this entry ({len(content)} chars) would "
            "exceed the limit. "
        )
        if self._is_seed:
            error += "Replace or remove existing entries first."
        else:
            error += (
                "Consolidate now: use 'replace' to merge overlapping entries into shorter ones or "
                "'remove' stale or less important entries (see current_entries below), then retry "
                "this add — all in this turn."
            )
        return self._consolidation_failure({"success": False, "error": error, **self._full(target)})

    def _replacement_would_exceed(self, target: str, size: int) -> Answer:
        error = f"Replacement would put memory at {size:,}/{self._char_limit(target):,} chars. "
        if self._is_seed:
            error += "Shorten the new content or remove other entries first."
            return {"success": False, "error": error}
        error += (
            "Shorten the new content, or 'remove' other stale or less important entries to make "
            "room (see current_entries below), then retry — all in this turn."
        )
        return self._consolidation_failure({"success": False, "error": error, **self._full(target)})

    def _batch_would_exceed(self, target: str, operations: int, size: int) -> Answer:
        error = (
            f"After applying all {operations} operations, memory would be at "
            f"{size:,}/{self._char_limit(target):,} chars -- over the limit. Remove or shorten more "
            "entries in the same batch (see current_entries below), then retry."
        )
        return self._consolidation_failure({"success": False, "error": error, **self._full(target)})

    def _batch_error(self, target: str, problem: str) -> Answer:
        error = f"{problem} No operations were applied (batch is all-or-nothing)."
        return self._consolidation_failure({"success": False, "error": error, **self._full(target)})

    @staticmethod
    def _previews(entries: list[str], width: int = _PREVIEW_CHARS) -> list[str]:
        """The beginnings of entries."""
        return [entry[:width] + ("..." if len(entry) > width else "") for entry in entries]

    def _missing_old_text(self, target: str, action: str) -> Answer:
        error = (
            f"'{action}' needs old_text -- a short unique substring of the entry to {action}. None "
            f"was provided. Reissue the {action} with old_text set to part of one of the "
            "current_entries below."
        )
        return {"success": False, "error": error, **self._full(target)}

    def _find(self, entries: list[str], old_text: str, action: str) -> int | Answer:
        """Where the one entry stands that contains a text, of identical ones the first; or the
        answer if there is none, or more than one."""
        places = [place for place, entry in enumerate(entries) if old_text in entry]
        found = [entries[place] for place in places]
        if len(set(found)) == 1 and (len(found) == 1 or not self._is_seed):
            return places[0]
        if found:
            return {
                "success": False,
                "error": f"Multiple entries matched '{old_text}'. Be more specific.",
                "matches": self._previews(found),
            }
        if self._is_seed:
            return {"success": False, "error": f"No entry matched '{old_text}'."}
        error = (
            f"No entry matched '{old_text}'. Check current_entries below and retry with the exact "
            f"text of the entry you want to {action}."
        )
        return self._consolidation_failure(
            {"success": False, "error": error, "current_entries": entries}
        )


def drifted(path: Path, backup: str) -> Answer:
    """The answer for a file that has what the tool did not write."""
    return {
        "success": False,
        "error": (
            f"Refusing to write {path.name}: file on disk has content that wouldn't round-trip "
            "through the memory tool (likely added by the patch tool, a shell append, a manual "
            f"edit, or a concurrent session). A snapshot was saved to {backup}. Resolve the drift "
            "first — either rewrite the file as a clean §-delimited list of entries, or move the "
            "extra content out — then retry. This guard exists to prevent silent data loss (issue "
            "#26045)."
        ),
        "drift_backup": backup,
        "remediation": (
            "Open the .bak file, integrate the missing entries into the memory tool one at a time "
            "via memory(action=add, content=...), then remove or rewrite the original file to a "
            "clean state."
        ),
    }


def disabled(target: str) -> Answer:
    """The answer for a target that the configuration switches off."""
    switch = {"memory": "memory_enabled", "user": "user_profile_enabled"}[target]
    return {
        "success": False,
        "error": (
            f"Target '{target}' is disabled in the configuration (memory.{switch}). Nothing was "
            "changed."
        ),
    }


def unreadable(error: UnreadableFileError) -> Answer:
    """The answer for a file that cannot be read: nothing is known of what a write would destroy."""
    return {
        "success": False,
        "error": (
            f"Refusing to write {error.path.name}: the file on disk {error.reason}. Nothing was "
            "changed."
        ),
        "remediation": "Save the file as UTF-8, or make it readable, then retry.",
    }
