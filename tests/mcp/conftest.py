"""What the tests of MCP share: a throw-away store, the binary on it, and clients over both transports.

ONEIRO_BIN is the binary.
"""

import contextlib
import json
import os
import subprocess
import sys

import pytest
from mcp import Client, StdioServerParameters

BIN = os.environ.get("ONEIRO_BIN", "")


class Store:
    """A store in a folder of its own."""

    def __init__(self, folder):
        config = folder / "config.toml"
        config.write_text("")
        self.path = str(folder / "memory.db")
        # Nothing of this machine's configuration.
        self.env = {"ONEIRO_CONFIG": str(config), "HOME": str(folder), "PATH": os.environ["PATH"]}

    def run(self, *args, input=None):
        command = [BIN, "--store", self.path, *args]
        done = subprocess.run(command, input=input, env=self.env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def append(self, session, *messages, create=True):
        lines = "".join(json.dumps(message) + "\n" for message in messages)
        flags = ["--create"] if create else []
        return json.loads(self.run("append", session, "--json", *flags, input=lines))["ids"]

    def stdio(self, *args):
        return StdioServerParameters(command=BIN, args=["--store", self.path, "mcp", *args], env=self.env)


@pytest.fixture
def store(tmp_path):
    assert BIN, "ONEIRO_BIN must name the binary"
    return Store(tmp_path)


@contextlib.contextmanager
def serving(store):
    """A server on the store, at a port of its own; gives the address of its MCP."""
    command = [BIN, "--store", store.path, "serve", "--listen", "127.0.0.1:0", "--json"]
    server = subprocess.Popen(command, env=store.env, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        yield f"{url}/mcp"
    finally:
        server.terminate()
        assert server.wait(timeout=20) == 0


@pytest.fixture(params=["stdio", "http"])
def place(request, store):
    """Where a client connects to, over each transport."""
    if request.param == "stdio":
        yield store.stdio()
        return
    with serving(store) as url:
        yield url


@pytest.fixture
def connect(place):
    """A client of the newest protocol, or as told."""
    return lambda **how: Client(place, read_timeout_seconds=30, **how)


@pytest.fixture
def anyio_backend():
    return "asyncio"
