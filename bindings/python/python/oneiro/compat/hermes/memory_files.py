"""The files of the memory tool: entries between delimiters, and what of a file the tool did not
write."""

from __future__ import annotations

import re
import time
from pathlib import Path

from oneiro.compat.files import UnreadableFileError, read_text, replace_file, without_bom

from .memory_threats import NAMES, threats

ENTRY_DELIMITER = "\n§\n"

_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")

#: An entry that the scan blocked, as :func:`for_prompt` names it: with a file and rules.
_BLOCKED = "[BLOCKED: {} entry contained threat pattern(s): {}. Removed from system prompt; use "
_BLOCKED += "memory(action=remove) to delete the original.]"


def whole_characters(text: str) -> str:
    """A text with half a character replaced, as it can be written."""
    return _HALF_CHARACTERS.sub("\ufffd", text)


def clean(text: str) -> str:
    """A text as an entry holds it: trimmed, and half a character replaced."""
    return whole_characters(text).strip()


def split_entries(text: str) -> list[str]:
    """The entries of a text. Only a line with § alone delimits, so that an entry may contain one."""
    return [entry for part in text.split(ENTRY_DELIMITER) if (entry := part.strip())]


def load_text(path: Path) -> str:
    """The text of a file with plain line ends, empty if there is none. A file that cannot be read
    as text raises UnreadableFileError."""
    text = without_bom(read_text(path) or "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def store_entries(path: Path, entries: list[str]) -> None:
    """Replaces a file by these entries, in one step."""
    try:
        replace_file(path, ENTRY_DELIMITER.join(entries), prefix=".mem_")
    except OSError as error:
        raise RuntimeError(f"Failed to write memory file {path}: {error}") from error


def is_drifted(text: str, limit: int) -> bool:
    """Whether a file has what the tool did not write: it is not what its entries are written as, or
    one entry is larger than the whole file may be."""
    entries = split_entries(text)
    is_ours = text.strip() == ENTRY_DELIMITER.join(entries)
    return not is_ours or any(len(entry) > limit for entry in entries)


def back_up(path: Path) -> str:
    """Copies a file beside itself; answers the path of the copy, or says that there is none."""
    copy = path.with_suffix(f"{path.suffix}.bak.{int(time.time())}")
    try:
        data = path.read_bytes()
        further = 1
        while copy.exists() and copy.read_bytes() != data:
            further += 1
            copy = path.with_suffix(f"{path.suffix}.bak.{int(time.time())}.{further}")
        replace_file(copy, data, prefix=".mem_")
    except OSError:
        return f"{copy} (BACKUP FAILED — file unchanged on disk)"
    return str(copy)


def for_prompt(entry: str, file_name: str) -> str:
    """An entry as the prompt has it: one that the scan blocks is named, not shown."""
    found = threats(entry)
    if not found or _is_placeholder(entry, file_name):
        return entry
    return _BLOCKED.format(file_name, ", ".join(found))


def _is_placeholder(entry: str, file_name: str) -> bool:
    """Whether an entry is nothing but the name of a blocked one. Rules that are not hermes's are
    read as words, so that a list of them is no way to write an order."""
    start, end = (re.escape(part) for part in _BLOCKED.format(file_name, "\0").split("\0"))
    whole = re.fullmatch(rf"{start}([\w.+]+(?:, [\w.+]+)*){end}", entry)
    if whole is None:
        return False
    others = (rule for rule in whole[1].split(", ") if rule not in NAMES)
    return not threats(re.sub(r"[\W_]+", " ", " ".join(others)))


__all__ = [
    "ENTRY_DELIMITER",
    "UnreadableFileError",
    "back_up",
    "clean",
    "for_prompt",
    "is_drifted",
    "load_text",
    "split_entries",
    "store_entries",
    "whole_characters",
]
