"""Every failure has the class of its kind, and says what to do."""

from __future__ import annotations

import pickle
from datetime import datetime
from pathlib import Path
from typing import Any

import oneiro
import pytest
from oneiro import _oneiro, errors


def test_every_kind_has_its_class() -> None:
    for kind, name in _oneiro.kinds():
        made = getattr(errors, name)("what", kind)
        assert isinstance(made, oneiro.Error) and made.kind == kind


def test_errors_tell_and_travel(memory: oneiro.Oneiro) -> None:
    with pytest.raises(oneiro.NotFoundError) as caught:
        memory.append("nobody", {"role": "user", "content": "x"})
    error = caught.value
    assert error.kind == "not_found" and "nobody" in error.message and error.remedy
    assert error.remedy in str(error) and isinstance(error, LookupError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.remedy) == (type(error), error.message, error.remedy)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ({"content": "x"}, "role"),
        ({"role": "user", "content": float("nan")}, "NaN"),
        ({"role": "user", "content": {1: 2}}, "key"),
        ({"role": "user", "content": b"bytes"}, "bytes"),
        ({"role": "user", "content": object()}, "object"),
        ({"role": "user", "at": "yesterday"}, "at"),
        ({"role": "user", "at": datetime(2026, 1, 1)}, "time zone"),
        ({"role": "user", "at": True}, "moment"),
        ({"role": "user", "external_id": ""}, "external_id"),
        ({"role": ""}, "role"),
    ],
)
def test_bad_messages_are_named_and_change_nothing(
    memory: oneiro.Oneiro, message: dict[str, Any], wanted: str
) -> None:
    memory.create_session("s")
    good = {"role": "user", "content": "good"}
    with pytest.raises(oneiro.InvalidError, match=wanted):
        memory.append("s", [good, message])
    assert memory.messages("s") == []


@pytest.mark.parametrize("given", ["text", None, 5, [{"role": "user"}, 5]])
def test_what_is_no_message_is_said(memory: oneiro.Oneiro, given: Any) -> None:
    with pytest.raises(oneiro.InvalidError, match="is no message"):
        memory.append("s", given, create={})


def test_nesting_without_end_is_refused(memory: oneiro.Oneiro) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(oneiro.InvalidError, match="nested"):
        memory.append("s", {"role": "user", "content": loop}, create={})


def test_fields_nobody_knows_are_named(memory: oneiro.Oneiro) -> None:
    memory.create_session("s")
    with pytest.raises(oneiro.InvalidError, match="titel") as caught:
        memory.change_session("s", titel="x")
    assert caught.value.field == "titel" and "title" in str(caught.value.remedy)
    with pytest.raises(oneiro.InvalidError, match="between 1 and 200"):
        memory.search("x", limit=0)
    with pytest.raises(oneiro.InvalidError, match="neighbours"):
        memory.search("x", neighbours=21)
    with pytest.raises(oneiro.InvalidError):
        memory.add_usage("s", input_tokens=-1)
    memory.create_session("a", title="same")
    with pytest.raises(oneiro.ConflictError):
        memory.create_session("b", title="same")


def test_what_is_no_store_is_said(tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_bytes(b"this is not a database, it is a letter" * 100)
    with pytest.raises(oneiro.Error) as caught:
        oneiro.open(tmp_path / "junk.db")
    assert caught.value.kind in ("corrupt", "invalid", "conflict"), caught.value.kind
    with pytest.raises(oneiro.NotFoundError):
        oneiro.open(tmp_path / "missing.db", create=False)
    with pytest.raises(oneiro.InvalidError):
        oneiro.open("mysql://nowhere")
    with pytest.raises(oneiro.UnavailableError):
        oneiro.open("postgres://nobody@127.0.0.1:1/none")
    assert (tmp_path / "junk.db").read_bytes().startswith(b"this is not")
