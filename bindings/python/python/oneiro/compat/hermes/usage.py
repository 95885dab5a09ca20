"""Tokens and costs: what a session used, by model and by task."""

from __future__ import annotations

from typing import Any

from . import rows
from .base import Base
from .errors import ProgrammingError

_COUNTERS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)

_ROUTE = ("billing_provider", "billing_base_url", "billing_mode")


class Usage(Base):
    """Accounts of sessions."""

    def update_token_counts(
        self,
        session_id: str,
        input_tokens: int = 0,
        output_tokens: int = 0,
        model: str | None = None,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        estimated_cost_usd: float | None = None,
        actual_cost_usd: float | None = None,
        cost_status: str | None = None,
        cost_source: str | None = None,
        pricing_version: str | None = None,
        billing_provider: str | None = None,
        billing_base_url: str | None = None,
        billing_mode: str | None = None,
        api_call_count: int = 0,
        absolute: bool = False,
    ) -> None:
        """Adds to the counters of a session, or with `absolute` sets them. In 0.19 a session that
        is not there is created, and the first accounted call decides its model and route."""
        used: dict[str, Any] = {
            "input_tokens": input_tokens or 0,
            "output_tokens": output_tokens or 0,
            "cache_read_tokens": cache_read_tokens or 0,
            "cache_write_tokens": cache_write_tokens or 0,
            "reasoning_tokens": reasoning_tokens or 0,
            "api_calls": api_call_count or 0,
        }
        session = self._find(session_id)
        if session is None:
            if self._is_seed:
                return
            session = self._begin_unknown(session_id)
        accounted = any(used.values()) or bool(estimated_cost_usd) or bool(actual_cost_usd)
        route = {
            "model": model,
            "billing_provider": billing_provider,
            "billing_base_url": billing_base_url,
            "billing_mode": billing_mode,
        }
        patch = _route_patch(session, route, accounted)
        told = {
            "cost_status": cost_status,
            "cost_source": cost_source,
            "pricing_version": pricing_version,
            rows.ESTIMATED_COST_SET: None if self._is_seed else True,
            rows.ACTUAL_COST_SET: True if actual_cost_usd is not None else None,
        }
        metadata = session["metadata"]
        for name, value in told.items():
            if value is not None and metadata.get(name) != value:
                patch.setdefault("metadata", {})[name] = value
        if patch:
            session = self._native.change_session(session["id"], patch)
        if absolute:
            self._set_totals(session, used, estimated_cost_usd, actual_cost_usd)
        elif accounted:
            used["estimated_cost_usd"] = estimated_cost_usd or 0.0
            used["actual_cost_usd"] = actual_cost_usd or 0.0
            _refuse_negative(used)
            self._native.add_usage(session["id"], {**_account(session, route), **used})

    def _begin_unknown(self, session_id: str) -> dict[str, Any]:
        fields = rows.new_session(session_id, "unknown", self._beginning(), {})
        session: dict[str, Any] = self._native.create_session(fields)
        return session

    def _set_totals(
        self,
        session: dict[str, Any],
        used: dict[str, Any],
        estimated_cost_usd: float | None,
        actual_cost_usd: float | None,
    ) -> None:
        used["estimated_cost_usd"] = estimated_cost_usd or 0.0
        kept = session["actual_cost_usd"]
        used["actual_cost_usd"] = kept if actual_cost_usd is None else actual_cost_usd
        _refuse_negative(used)
        self._native.set_usage(session["id"], used)

    def record_auxiliary_usage(
        self,
        session_id: str,
        task: str,
        *,
        model: str | None = None,
        billing_provider: str | None = None,
        billing_base_url: str | None = None,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cache_read_tokens: int = 0,
        cache_write_tokens: int = 0,
        reasoning_tokens: int = 0,
        estimated_cost_usd: float | None = None,
    ) -> None:
        """Accounts one call of a model for a task beside the conversation. The session's totals and
        its route are not touched."""
        if not session_id or not task:
            return
        session = self._find(session_id) or self._begin_unknown(session_id)
        account = {
            "model": model or "unknown",
            "provider": billing_provider or "",
            "base_url": billing_base_url or "",
            "billing_mode": "",
            "task": task,
        }
        used = {
            "api_calls": 1,
            "input_tokens": input_tokens or 0,
            "output_tokens": output_tokens or 0,
            "cache_read_tokens": cache_read_tokens or 0,
            "cache_write_tokens": cache_write_tokens or 0,
            "reasoning_tokens": reasoning_tokens or 0,
            "estimated_cost_usd": estimated_cost_usd or 0.0,
        }
        _refuse_negative(used)
        self._native.add_usage(session["id"], {**account, **used})


def _route_patch(
    session: dict[str, Any], route: dict[str, str | None], accounted: bool
) -> dict[str, Any]:
    """What an accounted call changes of a session's model and route: the first one replaces what
    was asked for, a later one fills what is unset."""
    metadata, model = session["metadata"], route["model"]
    patch: dict[str, Any] = {}
    if accounted and session["api_call_count"] == 0 and model and route["billing_provider"]:
        stored = (session["model"] or model, metadata.get("billing_provider"))
        if (model, route["billing_provider"]) != stored:
            patch["model"] = model
            patch["metadata"] = {name: route[name] for name in _ROUTE}
            return patch
    if model is not None and session["model"] is None:
        patch["model"] = model
    if accounted:
        unset = {
            name: route[name] for name in _ROUTE if route[name] is not None and name not in metadata
        }
        if unset:
            patch["metadata"] = unset
    return patch


def _account(session: dict[str, Any], route: dict[str, str | None]) -> dict[str, str]:
    """The account of a call: by what it says of itself, else by what is known of the session."""
    metadata = session["metadata"]
    return {
        # A name would become the session's model.
        "model": route["model"] or session["model"] or "",
        "provider": route["billing_provider"] or metadata.get("billing_provider") or "",
        "base_url": route["billing_base_url"] or metadata.get("billing_base_url") or "",
        "billing_mode": route["billing_mode"] or metadata.get("billing_mode") or "",
        "task": "",
    }


def _refuse_negative(used: dict[str, Any]) -> None:
    for name, value in used.items():
        if value < 0:
            raise ProgrammingError(
                f"{name} is {value}, and counters only grow",
                field=name,
                remedy="give a number that is not negative, or set totals with absolute=True",
            )
