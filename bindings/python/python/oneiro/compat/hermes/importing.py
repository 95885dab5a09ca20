"""Moving in: the state.db of hermes, carried into a store of Oneiro's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oneiro.errors import Error

from .errors import translated
from .session_db import SessionDB


def import_state_db(
    path: str | Path,
    into: SessionDB | str | Path,
    *,
    space: str | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    """Carries every session and message of hermes's file `path` into a store: an open SessionDB,
    or the file or URL of one.

    The file is only read, also while hermes writes to it. Run again, it adds what is new. The
    answer counts both sides and says whether they agree; with `dry_run` nothing is stored.
    """
    if isinstance(into, SessionDB):
        return _imported(into, Path(path), dry_run)
    with SessionDB(into, space=space) as db:
        return _imported(db, Path(path), dry_run)


def _imported(db: SessionDB, source: Path, dry_run: bool) -> dict[str, Any]:
    handle = db._native.handle
    carry = handle.preview_hermes if dry_run else handle.import_hermes
    try:
        counted: dict[str, Any] = carry(source)
    except Error as error:
        raise translated(error) from error
    return counted
