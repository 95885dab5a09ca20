"""Sessions: begun, ended, opened again, and what is known of them changed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

from oneiro.errors import ConflictError, NotFoundError

from . import rows
from .errors import IntegrityError, ProgrammingError
from .walk import Walk

# End reasons that were accidents: a deliberate reset may take their place.
ACCIDENTAL_END_REASONS = ("agent_close", "ws_orphan_reap")

# An end without a reason: natively every end has one.
_NO_REASON = "ended"


class Lifecycle(Walk):
    """Lifecycle of sessions."""

    def create_session(self, session_id: str, source: str, *args: Any, **kwargs: Any) -> str:
        """Begins a session and returns its id. In 0.19 an id that exists is filled in where it is
        unset; in the seed it is an IntegrityError.

        After `source`: model, model_config, system_prompt, user_id, parent_session_id (in the seed
        also by position); in 0.19 also session_key, chat_id, chat_type, thread_id, cwd,
        profile_name.
        """
        columns = _columns("create_session", args, kwargs, self._is_seed)
        self._put(session_id, source, columns)
        return session_id

    def ensure_session(
        self, session_id: str, source: str = "unknown", model: str | None = None, **kwargs: Any
    ) -> str:
        """Makes sure that a session is there, filling in what is unset; returns its id."""
        columns = _columns("ensure_session", (), {"model": model, **kwargs}, False)
        self._put(session_id, source, columns)
        return session_id

    def _put(self, session_id: str, source: str, columns: dict[str, Any]) -> None:
        if not isinstance(session_id, str) or not session_id:
            raise ProgrammingError(
                f"{session_id!r} cannot be the id of a session",
                field="session_id",
                remedy="give a str that is not empty",
            )
        if source is None:
            raise IntegrityError(
                "a session needs a source", field="source", remedy="give cli, telegram, cron ..."
            )
        fields = rows.new_session(session_id, source, self._beginning(), columns)
        parent_id = fields.get("parent_id")
        if parent_id == session_id:
            del fields["parent_id"]
        elif parent_id is not None:
            parent = self._find(parent_id)
            if parent is None:
                raise IntegrityError(
                    f"FOREIGN KEY constraint failed: there is no session {parent_id!r} to be the "
                    "parent",
                    field="parent_session_id",
                    remedy="create the parent first",
                )
            lineage = rows.lineage_of(fields.get("model_config"), source, parent["end_reason"])
            fields["lineage"] = lineage
        # A native continuation takes its parent's title by itself; in hermes the host decides.
        fields["untitled"] = True
        try:
            self._native.insert_session(fields)
        except ConflictError:
            if self._is_seed or self._find(session_id) is None:
                raise
            # Who talks to the agent, and since when, is decided when a session begins.
            fields.pop("user_id", None)
            fields.get("metadata", {}).pop("started_at", None)
            self._native.create_session(fields)

    def end_session(self, session_id: str, end_reason: str | None) -> None:
        """Ends a session. In 0.19 the first reason wins; in the seed the last."""
        self._end(session_id, end_reason, None if self._is_seed else ())

    def promote_to_session_reset(self, session_id: str, reason: str = "session_reset") -> bool:
        """Ends a session by a deliberate reset: one that is live, or that ended by accident."""
        return self._end(session_id, reason, ACCIDENTAL_END_REASONS)

    def _end(self, session_id: Any, reason: str | None, replaces: tuple[str, ...] | None) -> bool:
        """Ends a session that is open, or whose end has one of these reasons (None: any)."""
        before = self._find(session_id)
        if before is None:
            return False
        reason_there = (
            None if before["metadata"].get(rows.END_REASON_UNSET) else before["end_reason"]
        )
        is_open = before["ended_at"] is None
        if not is_open and replaces is not None and reason_there not in replaces:
            return False
        ending = {
            "reason": _NO_REASON if reason is None else str(reason),
            "at": rows.micros(self._now()),
            "over": "anything" if replaces is None else list(replaces) or "nothing",
        }
        try:
            ended = self._native.end_session(session_id, ending)
        except NotFoundError:
            return False
        if (ended["end_reason"], ended["ended_at"]) != (ending["reason"], ending["at"]):
            return False
        kept: dict[str, Any] = {
            # What an earlier end, or an import, had kept beside the time in microseconds.
            "ended_at": None,
            rows.END_REASON_UNSET: True if reason is None else None,
        }
        there = ended["metadata"]
        kept = {name: value for name, value in kept.items() if value != there.get(name)}
        if kept:
            self._native.change_session(session_id, {"metadata": kept})
        if "compression" in (reason, reason_there):
            self._relabel_children(session_id, reason)
        return True

    def _relabel_children(self, session_id: str, end_reason: str | None) -> None:
        """Children carry a compressed session on, and only a compressed one: the engine archives
        and deletes by what it gets of them."""
        for child_id in self._native.session_children(session_id):
            child = self._find(child_id)
            if child is not None:
                self._relabel(child, end_reason)

    def _relabel(self, child: dict[str, Any], parent_end_reason: str | None) -> None:
        label = rows.lineage_of(child["model_config"], child["source"], parent_end_reason)
        if child["parent_id"] is not None and child["lineage"] != label:
            self._change(child["id"], lineage=label)

    def reopen_session(self, session_id: str) -> None:
        """Takes the end of a session away, so that it can be carried on."""
        before = self._find(session_id)
        if before is None:
            return
        try:
            self._native.reopen_session(session_id)
        except NotFoundError:
            return
        if before["end_reason"] == "compression":
            self._relabel_children(session_id, None)

    def get_session(self, session_id: str) -> dict[str, Any] | None:
        """The row of a session, or None."""
        session = self._find(session_id)
        return None if session is None else self._row(session)

    def update_system_prompt(self, session_id: str, system_prompt: str | None) -> None:
        """Stores the assembled system prompt."""
        self._change(session_id, system_prompt=system_prompt)

    def update_session_model(self, session_id: str, model: str | None) -> None:
        """Sets the model, whatever it was."""
        self._change(session_id, model=model)

    def update_session_meta(
        self, session_id: str, model_config_json: str | None, model: str | None = None
    ) -> None:
        """Sets model_config (JSON text) and, when given, the model."""
        if model_config_json is not None and not isinstance(model_config_json, str):
            raise ProgrammingError(
                f"model_config_json is a {type(model_config_json).__name__}, not text",
                field="model_config_json",
                remedy="give json.dumps(config)",
            )
        value = rows.model_config_value(model_config_json)
        patch: dict[str, Any] = {"model_config": value}
        exact = None if rows.model_config_text(value) == model_config_json else model_config_json
        session = self._find(session_id)
        if session is None:
            return
        if exact is not None or rows.EXACT_MODEL_CONFIG in session["metadata"]:
            patch["metadata"] = {rows.EXACT_MODEL_CONFIG: exact}
        if model is not None:
            patch["model"] = model
        changed = self._change(session_id, **patch)
        # A marker may have come or gone with it.
        if changed is not None and changed["parent_id"] is not None:
            parent = self._find(changed["parent_id"])
            self._relabel(changed, parent["end_reason"] if parent else None)

    def update_session_billing_route(
        self,
        session_id: str,
        *,
        provider: str | None,
        base_url: str | None,
        billing_mode: str | None = None,
    ) -> None:
        """Sets the billing route, whatever it was, and drops the system prompt, which names it."""
        metadata = {"billing_provider": provider, "billing_base_url": base_url}
        if billing_mode is not None:
            metadata["billing_mode"] = billing_mode
        self._change(session_id, metadata=metadata, system_prompt=None)

    def update_session_cwd(
        self,
        session_id: str,
        cwd: str | None,
        git_branch: str | None = None,
        git_repo_root: str | None = None,
    ) -> None:
        """Sets the working directory; branch and repository only where they are known."""
        if not session_id or not cwd:
            return
        metadata = {"git_branch": git_branch, "git_repo_root": git_repo_root}
        known = {name: value for name, value in metadata.items() if value}
        self._change(session_id, cwd=cwd, metadata=known)

    def backfill_repo_roots(self, cwd_to_root: Mapping[str, str]) -> None:
        """Gives sessions whose repository is not known the one of their working directory."""
        roots = {cwd: root for cwd, root in cwd_to_root.items() if cwd and root}
        if not roots:
            return
        for session in self._walk({"order": "started"}):
            root = roots.get(session["cwd"] or "")
            if root is None or session["metadata"].get("git_repo_root"):
                continue
            patch = {
                "metadata": {"git_repo_root": root},
                "metadata_is": {"git_repo_root": None},
            }
            # Known since it was read, or gone.
            with contextlib.suppress(ConflictError, NotFoundError):
                self._native.change_session(session["id"], patch)

    def record_gateway_session_peer(
        self,
        session_id: str,
        *,
        source: str,
        user_id: str | None = None,
        session_key: str | None = None,
        chat_id: str | None = None,
        chat_type: str | None = None,
        thread_id: str | None = None,
        display_name: str | None = None,
        origin_json: str | None = None,
    ) -> None:
        """Stores whom a gateway's session talks to; a name or origin that is None stays."""
        if not session_id or not session_key:
            return
        metadata: dict[str, Any] = {
            "session_key": session_key,
            "chat_id": chat_id,
            "chat_type": chat_type,
            "thread_id": thread_id,
        }
        if display_name is not None:
            metadata["display_name"] = display_name
        if origin_json is not None:
            metadata["origin_json"] = origin_json
        # Hosts hand in ids as their platforms have them, numbers among them.
        texts = {
            name: value if value is None else rows.stored_text(name, value)
            for name, value in metadata.items()
        }
        user = user_id if user_id is None else rows.stored_text("user_id", user_id)
        place = rows.stored_text("source", source)
        self._change(session_id, source=place, user_id=user, metadata=texts)

    def set_expiry_finalized(self, session_id: str, finalized: bool = True) -> None:
        """Marks whether the expiry of a gateway's session was seen to."""
        self._change(session_id, metadata={"expiry_finalized": 1 if finalized else None})


_SEED_COLUMNS = ("model", "model_config", "system_prompt", "user_id", "parent_session_id")
_NEW_COLUMNS = frozenset(
    (
        *_SEED_COLUMNS,
        "session_key",
        "chat_id",
        "chat_type",
        "thread_id",
        "cwd",
        "profile_name",
    )
)


def _columns(
    method: str, args: tuple[Any, ...], kwargs: dict[str, Any], is_seed: bool
) -> dict[str, Any]:
    """The columns a caller gave, by name."""
    known = frozenset(_SEED_COLUMNS) if is_seed else _NEW_COLUMNS
    if len(args) > (len(_SEED_COLUMNS) if is_seed else 0):
        raise TypeError(f"SessionDB.{method}() takes no {len(args)} arguments after source")
    columns = dict(zip(_SEED_COLUMNS, args, strict=False))
    for name, value in kwargs.items():
        if name not in known:
            raise TypeError(f"SessionDB.{method}() got an unexpected keyword argument {name!r}")
        if name in columns:
            raise TypeError(f"SessionDB.{method}() got multiple values for argument {name!r}")
        columns[name] = value
    config = columns.get("model_config")
    if not config:
        columns.pop("model_config", None)
    else:
        # Refused before anything is written, as a config that is no JSON cannot be read back.
        json.dumps(config)
    return columns
