"""nanobot's own GitStore and MemoryStore, loaded without the rest of nanobot.

Only the modules that are compared are executed; what they import for sessions, models and prompts
is replaced by names without content.
"""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(sysconfig.get_paths()["purelib"], "nanobot")

# Executed as they are, in the order of what they need.
REAL = (
    "nanobot.utils.gitstore",
    "nanobot.utils.helpers",
    "nanobot.runtime_context",
    "nanobot.utils.workspace_prompts",
    "nanobot.agent.memory",
)
EMPTY = (
    "tiktoken",
    "nanobot",
    "nanobot.agent",
    "nanobot.events",
    "nanobot.llm_usage",
    "nanobot.llm_usage.context",
    "nanobot.providers",
    "nanobot.providers.base",
    "nanobot.providers.conversation_state",
    "nanobot.session",
    "nanobot.session.manager",
    "nanobot.session.summary",
    "nanobot.utils",
    "nanobot.utils.prompt_templates",
)


class _Names(ModuleType):
    """A module in which every name is a class without content."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def load() -> dict[str, ModuleType] | None:
    """The modules by name, or None if nanobot or what it needs is not installed."""
    needed = ("loguru", "dulwich")
    if not FOLDER.is_dir() or any(importlib.util.find_spec(name) is None for name in needed):
        return None
    before = {name: sys.modules.get(name) for name in (*EMPTY, *REAL)}
    loaded: dict[str, ModuleType] = {}
    try:
        for name in EMPTY:
            sys.modules[name] = _Names(name)
        for name in REAL:
            path = FOLDER.joinpath(*name.split(".")[1:]).with_suffix(".py")
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
            loaded[name] = module
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module
    return loaded
