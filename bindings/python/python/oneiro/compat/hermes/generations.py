"""Which generation of hermes a store answers as."""

from __future__ import annotations

import os

__all__ = ["GENERATIONS", "VARIABLE", "chosen_generation"]

GENERATIONS = ("seed", "0.19")

#: The environment variable with the generation of stores that are opened without naming one, so
#: that a suite of the first version runs as it is.
VARIABLE = "ONEIRO_HERMES_GENERATION"


def chosen_generation(given: str | None) -> str:
    """The generation that a caller names; else that of the environment, else 0.19."""
    generation = given
    if generation is None:
        generation = os.environ.get(VARIABLE, "").strip() or "0.19"
    if generation not in GENERATIONS:
        raise ValueError(f'generation {generation!r} is not "seed" or "0.19"')
    return generation
