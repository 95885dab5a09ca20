"""Names that hosts, and tests of hosts, replace: on the package they import, or on the module that
has the name."""

from __future__ import annotations

import sys
from typing import TypeVar

__all__ = ["current"]

T = TypeVar("T")

_PACKAGE = __name__.rpartition(".")[0]
_PLACES = (_PACKAGE, f"{_PACKAGE}.seed")


def current(name: str, own: T, module: str) -> T:
    """What a name of a module stands for now: what it was replaced by in one of these places, or
    ``own``, which it was when the module was imported."""
    for place in (*_PLACES, module):
        found: T = getattr(sys.modules.get(place), name, own)
        if found is not own:
            return found
    return own
