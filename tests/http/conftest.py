"""A server for each module of tests, in a home of its own; what asks for the demonstration gets it."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import rig


@pytest.fixture(scope="module")
def home():
    with rig.fresh_home() as home:
        yield home


@pytest.fixture(scope="module")
def server(home):
    """A server on an empty space."""
    with home.serve() as server:
        yield server


@pytest.fixture(scope="module")
def demo(home):
    """A server on the demonstration."""
    with home.serve("--demo") as server:
        yield server
