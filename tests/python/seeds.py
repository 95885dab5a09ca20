"""The seeds of random tests: the same on every run unless ONEIRO_TEST_SEED names another first one."""

from __future__ import annotations

import os

FIRST_SEED = int(os.environ.get("ONEIRO_TEST_SEED", "0"))


def seeds(count: int) -> range:
    """As many seeds, one after another; pytest shows each in the name of its test."""
    return range(FIRST_SEED, FIRST_SEED + count)
