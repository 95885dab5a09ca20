"""Housekeeping by the names hermes gives it, done as Oneiro does it.

Owns the answers to those names; the engine keeps its index and its file in order by itself.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from .gateway import Gateway
from .retention import Retention

_LAST_RUN = "last_auto_prune"
_HOUR = 3_600.0

logger = logging.getLogger(__name__)


class Maintenance(Retention, Gateway):
    """Index, file, and the sweep of old sessions."""

    def optimize_fts(self) -> int:
        """Puts everything that was said into the index, merged; returns how many indexes there
        are: one."""
        self._native.index()
        return 1

    def rebuild_fts(self) -> int:
        """Rebuilds the index from the messages; returns how many indexes there are: one."""
        self._native.rebuild_index()
        return 1

    def vacuum(self) -> int:
        """Merges the index and gives back the room that deleted sessions held; returns how many
        indexes were merged."""
        merged = self.optimize_fts()
        self._native.vacuum()
        return merged

    def maybe_auto_prune_and_vacuum(
        self,
        retention_days: int = 90,
        min_interval_hours: int = 24,
        vacuum: bool = True,
        sessions_dir: Path | None = None,
    ) -> dict[str, Any]:
        """Prunes old sessions, at most once in an interval. Never raises: what fails is told in
        `error`."""
        result: dict[str, Any] = {"skipped": False, "pruned": 0, "vacuumed": False}
        try:
            now = self._now()
            if self._ran_since(now - min_interval_hours * _HOUR):
                return {**result, "skipped": True}
            result["pruned"] = self.prune_sessions(
                older_than_days=retention_days, sessions_dir=sessions_dir
            )
            if vacuum and result["pruned"]:
                self.vacuum()
                result["vacuumed"] = True
            self.set_meta(_LAST_RUN, str(now))
        except Exception as error:
            logger.warning("auto-maintenance of the session store failed: %s", error)
            result["error"] = str(error)
        return result

    def _ran_since(self, moment: float) -> bool:
        try:
            return float(self.get_meta(_LAST_RUN) or "") > moment
        except ValueError:
            return False
