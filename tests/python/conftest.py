"""What the tests of the package share: a fresh store on each engine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import oneiro
import pytest
from seeds import FIRST_SEED


@dataclass(frozen=True)
class Place:
    """Where a fresh space is."""

    store: str
    space: str | None

    def open(self, **options: object) -> oneiro.Oneiro:
        options.setdefault("durability", "normal")
        return oneiro.open(self.store, space=self.space, **options)  # type: ignore[arg-type]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(str(tmp_path / "memory.db"), None)
    url = os.environ.get("ONEIRO_TEST_POSTGRES")
    assert url, "ONEIRO_TEST_POSTGRES is not set: run this through scripts/test --only python"
    return Place(url, f"py{secrets.token_hex(6)}")


@pytest.fixture
def memory(place: Place) -> Iterator[oneiro.Oneiro]:
    with place.open() as opened:
        yield opened


@pytest.fixture
def said() -> Callable[[str], dict[str, str]]:
    return lambda text: {"role": "user", "content": text}


# The fixtures of tests/python/nanobot are here, because a second module of the name conftest, in a folder
# that is no package, would hide this one. As a package it would hide nanobot.


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of nanobot's."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def open_versions(place: Place, workspace: Path) -> Iterator[Callable[..., Any]]:
    """Opens the versions of the workspace, on each engine; again, the same ones."""
    from oneiro.compat.nanobot import VersionStore

    opened: list[VersionStore] = []

    def opening(
        kind: type[VersionStore] = VersionStore, tracked: list[str] | None = None
    ) -> VersionStore:
        files = tracked or ["SOUL.md", "USER.md", "memory/MEMORY.md", "memory/.dream_cursor"]
        versions = kind(workspace, files, store=place.store, space=place.space)
        opened.append(versions)
        return versions

    yield opening
    for versions in opened:
        versions.close()


@pytest.fixture
def versions(open_versions: Callable[..., Any]) -> Any:
    """Versions of the workspace, initialised."""
    store = open_versions()
    assert store.init() is True
    return store


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    if exitstatus:
        replay = f"ONEIRO_TEST_SEED={FIRST_SEED} scripts/test --only python"
        terminalreporter.write_line(f"Random tests are replayed with: {replay}")
