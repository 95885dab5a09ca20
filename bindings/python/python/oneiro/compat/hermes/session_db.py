"""SessionDB: the session store of hermes, kept by Oneiro.

Owns how a store is opened and closed; what it can do is in the mixins, one subject each.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from oneiro._oneiro import Handle
from oneiro.errors import Error

from . import paths
from .conversation import Conversation
from .errors import ForeignStoreError, OperationalError, translated
from .generations import chosen_generation
from .handoff import Handoff
from .ids import Ids
from .lifecycle import Lifecycle
from .locks import Locks
from .maintenance import Maintenance
from .native import Closed, Native
from .rewind import Rewind
from .search import Search
from .sql import Sql
from .telegram import Telegram
from .titles import Titles
from .transfer import Transfer
from .usage import Usage
from .windows import Windows


class SessionDB(
    Lifecycle,
    Windows,
    Conversation,
    Rewind,
    Titles,
    Usage,
    Ids,
    Search,
    Transfer,
    Telegram,
    Handoff,
    Locks,
    Maintenance,
    Sql,
):
    """The session store of hermes, in a store of Oneiro's.

    `db_path` is a file (created with its folders when it is not there) or a `postgres://` URL, in
    which `space` names the space; None is $HERMES_HOME/state.db, else ~/.hermes/state.db.
    `generation` is "0.19", or "seed" for the first version's behaviour and columns; without it
    that of $ONEIRO_HERMES_GENERATION, else "0.19". `durability` is "full" (what is acknowledged
    survives a power cut) or "normal".

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with SessionDB(f"{folder.name}/state.db") as db:
    ...     session = db.create_session("monday", "cli")
    ...     message = db.append_message("monday", "user", "the boiler needs a new valve")
    ...     db.search_messages("valve")[0]["snippet"]
    'the boiler needs a new >>>valve<<<'
    """

    _default_generation: str | None = None

    def __init__(
        self,
        db_path: str | Path | None = None,
        read_only: bool = False,
        *,
        generation: str | None = None,
        durability: str = "full",
        space: str | None = None,
    ) -> None:
        given = self._default_generation if generation is None else generation
        self.generation = chosen_generation(given)
        self.read_only = read_only
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._native: Any = Closed()
        target: str | Path = paths.default_db_path() if db_path is None else db_path
        self.db_path: str | Path = target
        if not is_url(target):
            target = self._prepared(target)
        options: Any = {"durability": durability, "must_exist": read_only}
        if not is_url(target):
            options["file"] = True
        if space is not None:
            options["space"] = space
        if read_only:
            options["jobs"] = False
        try:
            handle = Handle.open(str(target), options)
        except Error as error:
            told = _unopened(target, translated(error), read_only)
            paths.remember_init_error(told)
            raise told from error
        self._native = Native(handle, read_only=read_only)

    def _prepared(self, target: str | Path) -> Path:
        """The path of the store, its folder created."""
        if str(target) == ":memory:":
            self._folder = tempfile.TemporaryDirectory(prefix="oneiro-")
            return Path(self._folder.name) / "state.db"
        path = Path(target)
        self.db_path = path
        if not self.read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def close(self) -> None:
        """Closes the store; again, it does nothing. Every other call is an AttributeError then."""
        native, self._native = self._native, Closed()
        self._close_sql()
        native.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __enter__(self) -> SessionDB:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SessionDB({str(self.db_path)!r}, generation={self.generation!r})"


def is_url(target: str | Path) -> bool:
    """Whether a target names a server and not a file."""
    return isinstance(target, str) and target.startswith(("postgres://", "postgresql://"))


def _unopened(target: str | Path, error: Error, read_only: bool) -> Error:
    """Why a store did not open, in the words of a host of hermes."""
    if is_url(target):
        return error
    if read_only and not Path(target).exists():
        return OperationalError(
            f"unable to open database file: there is no {target}",
            field="db_path",
            remedy="open it once without read_only=True, which creates it",
        )
    # Only a file that the engine has refused is looked at: to open and close one that this process
    # uses would take its locks away.
    if error.kind != "invalid" or error.field is not None:
        return error
    foreign = paths.foreign_store(Path(target))
    if foreign is None:
        return error
    maker = "that hermes made" if foreign == "hermes" else "that Oneiro did not make"
    remedy = (
        f"import it into a store of its own with `oneiro import hermes {target} --store NEW.db`, "
        "or in Python with oneiro.compat.hermes.import_state_db, and give SessionDB that path"
    )
    if foreign != "hermes":
        remedy = f"give the path of another file; if this one is of hermes, {remedy}"
    return ForeignStoreError(
        f"{target} is a SQLite file {maker}; nothing in it was touched",
        field="db_path",
        remedy=remedy,
    )
