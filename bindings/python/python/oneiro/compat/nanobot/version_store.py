"""The version store of nanobot's memory files: each commit is a revision in a store of Oneiro's.

The files stay where they are and are the user's; a repository around them is neither read nor
written.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from oneiro.compat.files import UnreadableFileError, directory_lock, read_text, replace_file
from oneiro.compat.recorded import RecordedFiles, Revision, Store, Texts, note_name
from oneiro.errors import ConflictError, Error, NotFoundError
from oneiro.times import moment_from

from .commits import (
    CommitInfo,
    GitStoreError,
    LineAge,
    difference,
    full_id,
    revision_prefix,
    short_id,
    summary,
)

__all__ = ["GitStore", "SQLiteStore", "VersionStore"]

logger = logging.getLogger(__name__)

#: The slots in which what belongs to a commit is kept: its whole message, under its id.
COMMITS = "nanobot/commits"
#: The slots of the store itself: whether it was initialised, and a restore that is under way.
STATE = "nanobot/versions"

INIT_MESSAGE = "init: nanobot memory store"
SAVE_MESSAGE = "save: changes that were not committed before"


class VersionStore:
    """Versions of the tracked files of a workspace, with the methods of nanobot's GitStore.

    ``store`` is where the versions are: a folder, a ``.db`` file, ``postgres://...`` with its
    ``space``, or a handle. Without it they are in the folder ``.oneiro`` of the workspace.

    >>> import tempfile
    >>> workspace = Path(tempfile.mkdtemp())
    >>> versions = VersionStore(workspace, ["SOUL.md"])
    >>> versions.init()
    True
    >>> _ = (workspace / "SOUL.md").write_text("Kind.\\n")
    >>> sha = versions.auto_commit("dream: manual run")
    >>> [commit.subject() for commit in versions.log()]
    ['dream: manual run', 'init: nanobot memory store']
    >>> undone = versions.revert(sha)
    >>> (workspace / "SOUL.md").read_text()
    ''
    >>> versions.close()
    """

    def __init__(
        self,
        workspace: Path,
        tracked_files: list[str],
        *,
        store: Store | None = None,
        space: str | None = None,
    ) -> None:
        self._workspace = Path(workspace)
        self._tracked_files = tracked_files
        self._files = RecordedFiles(self._workspace / ".oneiro" if store is None else store, space)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._workspace)!r}, {self._tracked_files!r})"

    def close(self) -> None:
        """Lets go of the store; the next call opens it again."""
        self._files.close()

    # --- making versions ----------------------------------------------------------------------

    def is_initialized(self) -> bool:
        """Whether there are versions of this workspace."""
        if not self._files.exists():
            return False
        with _told("Version store check failed"):
            return self._files.native.slot(STATE, "initialized") is not None

    def init(self) -> bool:
        """Begins the history: creates the tracked files that are missing, empty, and makes the first
        commit. False if there is one already."""
        return self._begin(INIT_MESSAGE)

    def _begin(self, message: str | bytes, **details: Any) -> bool:
        """Makes the first commit, unless there are no files for one; False if the history has
        begun."""
        if self.is_initialized():
            return False
        with _told(f"Version store init failed for {self._workspace}"):
            self._workspace.mkdir(parents=True, exist_ok=True)
            with directory_lock(self._workspace):
                if self.is_initialized():
                    return False
                for path in self._tracked_files:
                    if not (self._workspace / path).exists():
                        replace_file(self._workspace / path, "")
                # Nothing is made if a crash came after this commit and before the slot.
                self._commit(message, first=True, **details)
                self._files.native.set_slots(STATE, {"initialized": True})
        logger.info("Version store initialized for %s", self._workspace)
        return True

    def auto_commit(self, message: str) -> str | None:
        """Makes a version of what the tracked files hold. Answers its id, or None if nothing
        changed or the store is not initialised."""
        if not self.is_initialized():
            return None
        with _told(f"Auto-commit failed: {_text(message)}"), self._locked():
            made = self._commit(message)
        return None if made is None else short_id(made)

    def _commit(self, message: str | bytes, **details: Any) -> str | None:
        text = _text(message)
        subject = CommitInfo("", text, "").subject()
        return self._files.commit(
            self._held(), subject, scope=COMMITS, value={"message": text, **details}
        )

    def _held(self) -> Texts:
        """What the tracked files hold, None for one that is not there."""
        return {path: read_text(self._workspace / path) for path in self._tracked_files}

    # --- reading versions ---------------------------------------------------------------------

    def log(self, max_entries: int = 20, message_prefix: str | None = None) -> list[CommitInfo]:
        """Commits, newest first; with a prefix those whose message begins with it."""
        if not self.is_initialized():
            return []
        with _told("Version log failed"):
            found: list[CommitInfo] = []
            for revision in self._revisions():
                if len(found) >= max_entries:
                    break
                commit = self._info(revision)
                if commit.message.startswith(message_prefix or ""):
                    found.append(commit)
            return found

    def find_commit(self, short_sha: str, max_entries: int | None = None) -> CommitInfo | None:
        """The newest commit with this id prefix; of the newest ``max_entries`` if that is given."""
        if not self.is_initialized():
            return None
        with _told(f"Version lookup failed for {short_sha}"):
            found = self._find(short_sha, max_entries)
            return None if found is None else self._info(found)

    def show_commit_diff(
        self,
        short_sha: str,
        max_entries: int | None = None,
        message_prefix: str | None = None,
    ) -> tuple[CommitInfo, str] | None:
        """A commit with what it changed. Every commit is found, unless ``max_entries`` says among
        how many of the newest to look."""
        if not self.is_initialized():
            return None
        with _told(f"Commit display failed for {short_sha}"):
            found = self._find(short_sha, max_entries, message_prefix)
            if found is None:
                return None
            is_first = self._details(found).get("first", False)
            diff = "" if is_first else self._diff(found["parent"], found["id"])
            return self._info(found), diff

    def diff_commits(self, sha1: str, sha2: str) -> str:
        """The difference between two commits, as git writes it; empty if one is not known."""
        if not self.is_initialized():
            return ""
        with _told(f"Diff failed for {sha1}..{sha2}"):
            old, new = self._find(sha1), self._find(sha2)
            return "" if old is None or new is None else self._diff(old["id"], new["id"])

    def summarize_working_tree(self, paths: list[str]) -> str:
        """What of the files is not committed: a line per file, the sums and the difference; empty if
        there is nothing."""
        if not self.is_initialized():
            return ""
        with _told("Working-tree summary failed"):
            return summary(paths, self._files.texts(paths), self._texts_now(paths))

    def _texts_now(self, paths: Sequence[str]) -> Texts:
        """What files hold, empty for one that is not there, None for one that is not text."""
        found: Texts = {}
        for path in paths:
            try:
                found[path] = read_text(self._workspace / path) or ""
            except UnreadableFileError as error:
                if isinstance(error.__cause__, OSError):
                    raise
                found[path] = None
        return found

    def line_ages(self, file_path: str) -> list[LineAge]:
        """The age of each line of the last version of a file, in days of UTC."""
        if not self.is_initialized():
            return []
        with _told(f"Line annotation failed for {file_path}"):
            if not read_text(self._workspace / file_path):
                return []
            try:
                lines = self._files.native.blame(note_name(file_path))
            except NotFoundError:
                return []
            today = datetime.now(timezone.utc).date()
            days = [(today - moment_from(line["at"]).date()).days for line in lines]
            return [LineAge(max(0, age)) for age in days]

    def _revisions(self) -> Iterator[Revision]:
        """The revisions of tracked files, newest first."""
        return filter(self._is_shown, self._files.revisions(self._tracked_files))

    def _is_shown(self, revision: Revision) -> bool:
        """Whether a revision is a commit: it changed a tracked file."""
        return any(note_name(path) in revision["notes"] for path in self._tracked_files)

    def _details(self, revision: Revision) -> dict[str, Any]:
        held: dict[str, Any] | None = self._files.native.slot(COMMITS, revision["id"])
        return held or {}

    def _info(self, revision: Revision) -> CommitInfo:
        message = str(self._details(revision).get("message", revision["message"]))
        made = time.localtime(moment_from(revision["at"]).timestamp())
        timestamp = time.strftime("%Y-%m-%d %H:%M", made)
        return CommitInfo(short_id(revision["id"]), message.strip(), timestamp)

    def _find(
        self,
        short_sha: str,
        max_entries: int | None = None,
        message_prefix: str | None = None,
        *,
        must_be_unique: bool = False,
    ) -> Revision | None:
        """The newest revision with this id prefix. Where a wrong one would do harm, a second one
        with this prefix is an error."""
        known = self._find_by_index(short_sha) if max_entries is None else None
        if known is not None:
            # It is the only one with this prefix.
            is_meant = self._info(known).message.startswith(message_prefix or "")
            return known if is_meant else None
        found: Revision | None = None
        looked_at = 0
        for revision in self._revisions():
            if message_prefix and not self._info(revision).message.startswith(message_prefix):
                continue
            looked_at += 1
            if max_entries is not None and looked_at > max_entries:
                break
            if not full_id(revision["id"]).startswith(short_sha.lower()):
                continue
            if not must_be_unique:
                return revision
            if found is not None:
                raise GitStoreError(
                    f"several versions begin with {short_sha!r}, such as "
                    f"{full_id(found['id'])} and {full_id(revision['id'])}; give more of the id"
                )
            found = revision
        return found

    def _find_by_index(self, short_sha: str) -> Revision | None:
        """The only revision with this id prefix; None if that cannot be said without looking at all
        of them."""
        try:
            found: Revision = self._files.native.revision(revision_prefix(short_sha), {})
        except (ValueError, NotFoundError, ConflictError):
            return None
        is_it = full_id(found["id"]).startswith(short_sha.lower()) and self._is_shown(found)
        return found if is_it else None

    def _resolve_sha(self, short_sha: str) -> bytes | None:
        """The whole id of the commit with this id prefix."""
        with _told(f"Version lookup failed for {short_sha}"):
            found = self._find(short_sha) if self.is_initialized() else None
            return None if found is None else full_id(found["id"]).encode()

    def _diff(self, old: str, new: str) -> str:
        before, after = self._files.texts_at(old), self._files.texts_at(new)
        paths = sorted(set(self._tracked_files) & (before.keys() | after.keys()))
        return "".join(difference(path, before.get(path), after.get(path)) for path in paths)

    # --- taking back --------------------------------------------------------------------------

    def revert(self, commit: str, *, message_prefix: str | None = None) -> str | None:
        """Puts every tracked file to what it was before a commit, and commits that. Later changes go
        as well; :meth:`undo` takes back one commit alone.

        Changes that were not committed are committed first. Answers the id of the new commit; None
        if the commit is not known, does not begin with the prefix, is the first one, or nothing
        differs.
        """
        if not self.is_initialized():
            return None
        with _told(f"Revert failed for {commit}"), self._locked():
            found = self._revertible(commit, message_prefix)
            if found is None:
                return None
            wanted = self._files.texts_at(found["parent"])
            tracked = {path: wanted[path] for path in self._tracked_files if path in wanted}
            return self._set_files(tracked, f"revert: undo {commit}")

    def undo(self, commit: str) -> str | None:
        """Takes back one commit alone: what was changed later in other lines stays. Where the same
        lines were changed later, nothing is done and GitStoreError says what stands there."""
        if not self.is_initialized():
            return None
        with _told(f"Undo failed for {commit}"), self._locked():
            found = self._revertible(commit, None)
            if found is None:
                return None
            self._commit(SAVE_MESSAGE)
            message = f"undo: {self._info(found).subject()}"
            undone = self._files.native.undo_revision(found["id"], {"reason": message})
            self._take_in()
            return short_id(undone["id"])

    def _revertible(self, commit: str, message_prefix: str | None) -> Revision | None:
        found = self._find(commit, must_be_unique=True)
        if found is None:
            logger.warning("Revert: there is no version %s", commit)
            return None
        message = self._info(found).message
        if message_prefix is not None and not message.startswith(message_prefix):
            logger.warning("Revert: version %s does not begin with %r", commit, message_prefix)
            return None
        if self._details(found).get("first"):
            logger.warning("Revert: %s is the first version, nothing was before it", commit)
            return None
        return found

    def _set_files(self, wanted: Mapping[str, str], message: str) -> str | None:
        """Writes files and commits them. What is under way stands in the store, so that after a
        crash the next call finishes it."""
        self._commit(SAVE_MESSAGE)
        before = self._held()
        if all(before[path] == text for path, text in wanted.items()):
            logger.info("Revert: the files are what they were then already")
            return None
        native = self._files.native
        pending = {
            "message": message,
            "before": {path: _digest(before[path]) for path in wanted},
            "wanted": dict(wanted),
        }
        native.set_slots(STATE, {"pending": pending})
        try:
            self._write(dict(wanted), before)
        except OSError:
            native.set_slots(STATE, {"pending": None})
            raise
        # If this fails, the next call does it.
        made = self._commit(message)
        native.set_slots(STATE, {"pending": None})
        return None if made is None else short_id(made)

    def _write(self, wanted: Texts, before: Texts) -> None:
        """Sets files to texts, all of them or, if one cannot be written, none."""
        written: list[str] = []
        try:
            for path, text in wanted.items():
                if text != before[path]:
                    self._set_file(path, text)
                    written.append(path)
        except OSError:
            for path in written:
                self._set_file(path, before[path])
            raise

    def _set_file(self, path: str, text: str | None) -> None:
        if text is None:
            (self._workspace / path).unlink(missing_ok=True)
        else:
            replace_file(self._workspace / path, text)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keeps others out, in this process and in others, finishes what a crash left, and brings in
        what was changed elsewhere."""
        with directory_lock(self._workspace):
            pending = self._files.native.slot(STATE, "pending")
            if pending is not None:
                self._finish(pending)
            self._take_in()
            yield

    def _finish(self, pending: Mapping[str, Any]) -> None:
        """Finishes a revert. A file that was edited since the crash is left as it is."""
        for path, text in pending["wanted"].items():
            if _digest(read_text(self._workspace / path)) == pending["before"][path]:
                self._set_file(path, text)
        self._commit(pending["message"])
        self._files.native.set_slots(STATE, {"pending": None})
        logger.warning("Finished %r, which a crash had interrupted", pending["message"])

    def _take_in(self) -> None:
        """Brings into the files what was changed in the store: on its page, by its command line, by
        an undo. If a file was changed as well, its text holds, and the other is in the history."""
        held = self._held()
        changed = self._files.changed_elsewhere(held, COMMITS)
        for path in changed.conflicts:
            logger.warning(
                "%s was changed in the file and in the store; the file holds, and version %s has "
                "the other text",
                path,
                short_id(changed.revisions[0]["id"]),
            )
        self._write(changed.wanted, held)
        self._files.accept(changed, COMMITS)


class SQLiteStore(VersionStore):
    """The same with the habits of nanobot's SQLite store: it initialises itself, its log begins with
    the first change, and a file that is not there is an empty one."""

    def init(self) -> bool:
        """As :meth:`VersionStore.init`; what the files hold now is what the first change is
        compared with, and is no commit of the log."""
        return self._begin(INIT_MESSAGE, hidden=True)

    def auto_commit(self, message: str) -> str | None:
        """As :meth:`VersionStore.auto_commit`, and begins the history if there is none."""
        if not self._begin(message):
            return super().auto_commit(message)
        first = self.log(1)
        return first[0].sha if first else None

    def _is_shown(self, revision: Revision) -> bool:
        if not super()._is_shown(revision):
            return False
        return revision["message"] != INIT_MESSAGE or not self._details(revision).get("hidden")

    def _held(self) -> Texts:
        return {path: text or "" for path, text in super()._held().items()}


#: The name under which nanobot's callers import it.
GitStore = VersionStore


def _text(message: str | bytes) -> str:
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else message


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Every failure is a GitStoreError that says what failed and why."""
    try:
        yield
    except (Error, OSError, UnreadableFileError) as error:
        raise GitStoreError(f"{what}: {error}") from error
