"""What a version store answers with: commits, ages of lines, differences as git writes them."""

from __future__ import annotations

import base64
import difflib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

__all__ = [
    "CommitInfo",
    "GitStoreError",
    "LineAge",
    "compute_line_ages",
    "difference",
    "full_id",
    "short_id",
    "summary",
]

#: Characters of the id that people see.
SHORT_ID_CHARS = 8

#: Most characters of the difference in a commit's message.
SUMMARY_DIFF_CHARS = 6000

_REVISION = "rev_"
_NO_NEWLINE = "\n\\ No newline at end of file\n"


class GitStoreError(RuntimeError):
    """A version store that cannot do what it was asked for; its cause is attached."""


@dataclass
class CommitInfo:
    """A version of the tracked files."""

    #: Its id, eight digits.
    sha: str
    #: Its message, in full.
    message: str
    #: When it was made, as ``YYYY-MM-DD HH:MM`` in local time.
    timestamp: str

    def subject(self) -> str:
        """The first line of the message.

        >>> CommitInfo("0123abcd", "dream: manual run\\n\\nmore", "2026-01-31 10:00").subject()
        'dream: manual run'
        """
        return next(iter(self.message.splitlines()), "(no message)")

    def format(self, diff: str = "") -> str:
        """The commit as Markdown, with its difference."""
        body = f"```diff\n{diff}\n```" if diff else "(no file changes)"
        return f"## {self.subject()}\n`{self.sha}` — {self.timestamp}\n\n{body}"


@dataclass
class LineAge:
    """The age of a line."""

    #: Days since it was last changed.
    age_days: int


def compute_line_ages(annotated: Iterable[Any]) -> list[LineAge]:
    """The ages of lines that dulwich has annotated, each as ``((commit, entry), line)``, for callers
    that annotate a repository themselves."""
    today = datetime.now(tz=timezone.utc).date()
    times = (commit.commit_time for (commit, _), _ in annotated)
    made = (datetime.fromtimestamp(time, tz=timezone.utc).date() for time in times)
    return [LineAge((today - day).days) for day in made]


def full_id(revision: str) -> str:
    """The id of a revision in hexadecimal digits, as callers of git stores know ids.

    >>> full_id("rev_aaaaaaaaaaaaaaab")
    '00000000000000000001'
    """
    return base64.b32decode(revision.removeprefix(_REVISION).upper()).hex()


def revision_prefix(digits: str) -> str:
    """How the ids of revisions begin whose digits begin so. A digit has four bits and a letter five,
    so that what is left over at the end is not looked at.

    >>> revision_prefix("00000001")
    'rev_aaaaaa'
    """
    letters = len(digits) * 4 // 5
    data = bytes.fromhex(digits.ljust(20, "0"))
    return _REVISION + base64.b32encode(data).decode("ascii").lower()[:letters]


def short_id(revision: str) -> str:
    """The id that people see."""
    return full_id(revision)[:SHORT_ID_CHARS]


def difference(path: str, old: str | None, new: str | None) -> str:
    """The difference between two texts of a file as git writes it, None for no file; empty if there
    is none."""
    if old == new:
        return ""
    head = [f"diff --git a/{path} b/{path}\n"]
    if old is None:
        head.append("new file mode 100644\n")
    if new is None:
        head.append("deleted file mode 100644\n")
    mode = " 100644" if old is not None and new is not None else ""
    head.append(f"index {_blob(old)}..{_blob(new)}{mode}\n")
    hunks = difflib.unified_diff(
        _lines(old),
        _lines(new),
        fromfile="/dev/null" if old is None else f"a/{path}",
        tofile="/dev/null" if new is None else f"b/{path}",
    )
    return "".join([*head, *(_ended(line) for line in hunks)])


def _lines(text: str | None) -> list[str]:
    # Only line feeds end lines, as in git.
    parts = (text or "").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}{_NO_NEWLINE}"


def _blob(text: str | None) -> str:
    """The abbreviated name that git has for a text."""
    if text is None:
        return "0" * 7
    data = text.encode("utf-8")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]


def summary(paths: Iterable[str], before: Mapping[str, str], now: Mapping[str, str | None]) -> str:
    """What changed in files, for a commit's message: counts of lines and the difference, never what
    a model says about it. A file that is not text is None; line ends alone are no change."""
    counts: list[str] = []
    shown: list[str] = []
    total_added = total_removed = 0
    for path in paths:
        new = now[path]
        if new is None:
            counts.append(f"{path}: binary or non-UTF-8 file changed")
            continue
        old = before.get(path, "")
        if old.replace("\r\n", "\n") == new.replace("\r\n", "\n"):
            continue
        hunks = list(
            difflib.unified_diff(
                old.splitlines(), new.splitlines(), fromfile=path, tofile=path, lineterm=""
            )
        )
        # The first two lines are the names of the files.
        added = sum(line.startswith("+") for line in hunks[2:])
        removed = sum(line.startswith("-") for line in hunks[2:])
        counts.append(f"{path}: +{added} -{removed}")
        total_added += added
        total_removed += removed
        shown += hunks
    if not counts:
        return ""
    files = _counted(len(counts), "file")
    insertions, deletions = _counted(total_added, "insertion"), _counted(total_removed, "deletion")
    body = "\n".join([*counts, f"{files} changed, {insertions}(+), {deletions}(-)"])
    diff = "\n".join(shown)
    if len(diff) > SUMMARY_DIFF_CHARS:
        diff = f"{diff[:SUMMARY_DIFF_CHARS]}\n...[diff truncated]"
    return f"{body}\n\n```diff\n{diff}\n```" if shown else body


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
