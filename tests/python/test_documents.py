"""Docstrings run, stubs say what the native half has, and the package type-checks."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import oneiro
import pytest
from oneiro import _oneiro

PACKAGE = Path(oneiro.__file__).parent


def modules() -> list[str]:
    found = pkgutil.walk_packages([str(PACKAGE)], "oneiro.")
    return ["oneiro", *(module.name for module in found if module.name != "oneiro._oneiro")]


@pytest.mark.parametrize("name", modules())
def test_examples_run(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} does not say what it owns"
    assert doctest.testmod(module).failed == 0


def test_stubs_name_every_native_method() -> None:
    stub = ast.parse((PACKAGE / "_oneiro.pyi").read_text())
    (handle,) = (node for node in stub.body if isinstance(node, ast.ClassDef))
    told = {node.name for node in handle.body if isinstance(node, ast.FunctionDef)}
    there = {name for name in vars(_oneiro.Handle) if not name.startswith("__")}
    assert told == there


def test_the_package_type_checks() -> None:
    assert (PACKAGE / "py.typed").exists()
    args = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "/dev/null"]
    checked = subprocess.run([*args, "-p", "oneiro"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
