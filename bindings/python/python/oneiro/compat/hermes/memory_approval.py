"""Changes of memory that wait for a person: hermes asks, or stages them, if it is configured so."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["held_back"]

Answer = dict[str, Any]


def held_back(payload: Answer) -> Answer | None:
    """The answer for a change that hermes wants approved first, where hermes is installed and its
    configuration says so; None for one that may be made."""
    if payload["action"] == "read":
        return None
    try:
        write_approval = importlib.import_module("tools.write_approval")
    except Exception:
        return None
    summary, detail = _described(payload)
    decision = write_approval.evaluate_gate(
        write_approval.MEMORY, inline_summary=summary, inline_detail=detail
    )
    if decision.allow:
        return None
    if decision.blocked:
        return {"error": decision.message, "success": False}
    staged = write_approval.stage_write(
        write_approval.MEMORY,
        payload,
        summary=f"{summary}: {detail[:120]}",
        origin=write_approval.current_origin(),
    )
    return {
        "success": True,
        "staged": True,
        "pending_id": staged["id"],
        "message": decision.message,
    }


def _described(payload: Answer) -> tuple[str, str]:
    """A change for the person who approves it: in a few words, and in full."""
    label = "user profile" if payload["target"] == "user" else "memory"
    if payload["action"] == "batch":
        lines = [_line(operation or {}) for operation in payload["operations"]]
        return f"apply {len(lines)} op(s) to {label}", "\n".join(lines)
    old, new = payload["old_text"], payload["content"]
    return {
        "add": (f"add to {label}", new or ""),
        "replace": (f"replace in {label}", f"old: {old}\nnew: {new}"),
        "remove": (f"remove from {label}", old or ""),
    }[payload["action"]]


def _line(operation: Answer) -> str:
    action, old, new = (operation.get(name, "") for name in ("action", "old_text", "content"))
    shown = {"remove": old, "replace": f"{old} -> {new}"}.get(action, new)
    return f"- {action or '?'}: {shown}"
