"""Every script of calls on nanobot's GitStore and on ours: the same answers and files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import peer
import pytest
from oneiro.compat.nanobot import GitStore
from version_scripts import SCRIPTS, TRACKED, Box

modules = peer.load()
pytestmark = pytest.mark.skipif(modules is None, reason="nanobot-ai is not installed")


@pytest.mark.parametrize("name", SCRIPTS)
def test_versions_same_as_nanobot(
    name: str, tmp_path: Path, workspace: Path, open_versions: Callable[..., Any]
) -> None:
    assert modules is not None
    theirs = Box(modules["nanobot.utils.gitstore"].GitStore(tmp_path, TRACKED), tmp_path)
    ours = Box(open_versions(), workspace)
    # One after the other: the test's folders lie in each other, and GitStore looks for repositories
    # above it.
    SCRIPTS[name](ours)
    SCRIPTS[name](theirs)
    assert len(ours.seen) == len(theirs.seen) > 1
    for place, (expected, actual) in enumerate(zip(theirs.seen, ours.seen, strict=True)):
        assert actual == expected, f"observation {place} of {name}"


def test_nothing_that_callers_use_is_missing() -> None:
    assert modules is not None
    theirs = modules["nanobot.utils.gitstore"].GitStore
    inside_git = {
        "_build_gitignore",
        "_head_tree",
        "_is_inside_git_repo",
        "_read_blob_from_tree",
        "_staging_paths",
    }
    named = {name for name in vars(theirs) if not name.startswith("__")}
    assert named - inside_git - set(dir(GitStore)) == set()
