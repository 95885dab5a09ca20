"""The history of files in a store of Oneiro's: what they hold becomes revisions of notes.

Owns how drop-ins open that store, and how paths become names of notes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oneiro._oneiro import Handle
from oneiro.handle import Oneiro

__all__ = ["ChangedElsewhere", "RecordedFiles", "note_name", "path_of"]

Store = str | os.PathLike[str] | Oneiro

Revision = dict[str, Any]
Texts = dict[str, str | None]

_PAGE = 200

# A folder of ours in a folder of theirs is of no interest to the git around it.
_GITIGNORE = "*\n"


def note_name(path: str) -> str:
    """The name of the note of a file: its path, but for dots that would hide a part of it."""
    parts = path.replace("\\", "/").split("/")
    escaped = (part.replace("%", "%25") for part in parts)
    return "/".join(f"%2E{part[1:]}" if part.startswith(".") else part for part in escaped)


def path_of(name: str) -> str:
    """The path of the file of a note."""
    parts = (f".{part[3:]}" if part.startswith("%2E") else part for part in name.split("/"))
    return "/".join(part.replace("%25", "%") for part in parts)


def is_url(store: Store) -> bool:
    """Whether a store is on a server."""
    return isinstance(store, str) and store.startswith(("postgres://", "postgresql://"))


@dataclass(frozen=True)
class ChangedElsewhere:
    """What was changed in the store and not in the files: on its page, by its command line, by an
    undo."""

    #: What files should hold now, None for one that should go.
    wanted: Texts
    #: Files that were changed as well. Their text holds; the other is in the history.
    conflicts: list[str]
    #: The revisions that did it, newest first.
    revisions: list[Revision]


class RecordedFiles:
    """A store that is opened when it is needed, again after a fork, and closed with its owner.

    ``store`` is a folder, a file that ends in ``.db``, ``postgres://...``, or a handle, which stays
    its caller's.
    """

    def __init__(self, store: Store, space: str | None = None) -> None:
        self.store = store
        self.space = space
        self._handle: Handle | None = None
        self._process = 0

    def exists(self) -> bool:
        """Whether there can be anything in it: to look into a folder must not create it."""
        if isinstance(self.store, Oneiro) or is_url(self.store):
            return True
        return Path(self.store).exists()

    @property
    def native(self) -> Handle:
        """The handle of the store, opened in this process."""
        if isinstance(self.store, Oneiro):
            return self.store._native
        if self._handle is None or self._process != os.getpid():
            self._handle, self._process = self._open(), os.getpid()
        return self._handle

    def _open(self) -> Handle:
        assert not isinstance(self.store, Oneiro)
        target = os.fspath(self.store)
        options: Any = {"durability": "full", "jobs": False}
        if self.space is not None:
            options["space"] = self.space
        handle = Handle.open(target, options)
        if not is_url(target) and Path(target).is_dir() and Path(target).name == ".oneiro":
            ignore = Path(target, ".gitignore")
            if not ignore.exists():
                with contextlib.suppress(OSError):
                    ignore.write_text(_GITIGNORE, encoding="utf-8")
        return handle

    def close(self) -> None:
        """Lets go of the store, unless it is a caller's handle. The next call opens it again."""
        handle, self._handle = self._handle, None
        if handle is not None and self._process == os.getpid():
            handle.close()

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """What the last revision of each file holds; files without one are left out."""
        found = {}
        known = {one["name"] for one in self.native.list_notes({})}
        for path in paths:
            name = note_name(path)
            if name in known:
                found[path] = self.native.note(name)["content"]
        return found

    def texts_at(self, revision: str) -> dict[str, str]:
        """What every file held after a revision."""
        return {path_of(name): text for name, text in self.native.notes_at(revision).items()}

    def commit(
        self,
        texts: Mapping[str, str | None],
        message: str,
        *,
        scope: str | None = None,
        value: Any = None,
    ) -> str | None:
        """Records what files hold as one revision, None for one that is gone; answers its id, or
        None if nothing differs."""
        named = {note_name(path): text for path, text in texts.items()}
        return self.native.commit_notes(named, message, scope, value)

    def revisions(self, paths: Collection[str]) -> Iterator[Revision]:
        """The revisions that changed one of these files, newest first."""
        names = {note_name(path) for path in paths}
        request: Any = {"limit": _PAGE}
        while True:
            page = self.native.list_revisions(request)
            yield from (one for one in page["items"] if names.intersection(one["notes"]))
            if page["next"] is None:
                return
            request["cursor"] = page["next"]

    def changed_elsewhere(self, held: Mapping[str, str | None], scope: str) -> ChangedElsewhere:
        """What was changed in the store since the last commit with this scope, compared with what
        files hold."""
        slot = self.native.slot
        found = self.revisions(held.keys())
        new = list(itertools.takewhile(lambda one: slot(scope, one["id"]) is None, found))
        changed = ChangedElsewhere({}, [], new)
        if not new:
            return changed
        known, stored = self.texts_at(new[-1]["parent"]), self.texts(held)
        for path, text in held.items():
            if stored.get(path) in (known.get(path), text):
                continue
            if text == known.get(path):
                changed.wanted[path] = stored.get(path)
            else:
                changed.conflicts.append(path)
        return changed

    def accept(self, changed: ChangedElsewhere, scope: str) -> None:
        """Takes revisions for commits with this scope, once the files hold what they should."""
        taken = {one["id"]: {"message": one["message"]} for one in changed.revisions}
        if taken:
            self.native.set_slots(scope, taken)
