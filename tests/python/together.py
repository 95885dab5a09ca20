"""Processes that start their work at the same moment."""

from __future__ import annotations

import subprocess
import sys

#: What such a process says when it has imported what it needs, and waits for.
READY = """
import sys
print("ready", flush=True)
sys.stdin.readline()
"""


def run_together(*scripts: tuple[str, list[str]], timeout: float = 120) -> list[int]:
    """Runs scripts with their arguments, each in a process of its own, from where they include
    `READY` on at the same moment. Answers their exit codes."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for script, given in scripts
    ]
    for child in children:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    codes = [child.wait(timeout) for child in children]
    for child in children:
        child.communicate()
    return codes
