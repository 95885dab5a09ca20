"""Files that drop-ins share with their hosts: read whole or not at all, replaced in one step, locked
across processes."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows: threads are kept apart, processes are not.
    fcntl = None

__all__ = [
    "UnreadableFileError",
    "directory_lock",
    "file_lock",
    "open_for_append",
    "read_text",
    "replace_file",
    "sync_directory",
    "without_bom",
]

_BOM = "\ufeff"


class UnreadableFileError(ValueError):
    """A file that is there and cannot be read as text. It is never taken for an empty one."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} {reason}")
        self.path = path
        self.reason = reason


def read_text(path: Path) -> str | None:
    """The text of a file, its line ends as they are; None if there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise UnreadableFileError(path, f"is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise UnreadableFileError(path, f"cannot be read: {error.strerror or error}") from error


def without_bom(text: str) -> str:
    """A text without the mark that some editors put before it."""
    return text.removeprefix(_BOM)


def replace_file(path: Path, data: str | bytes, *, prefix: str = ".oneiro-") -> None:
    """Replaces a file in one step: readers, and a crash, see the old text or the new one. A link
    stays a link, and the file keeps its permissions."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=".tmp")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data.encode("utf-8") if isinstance(data, str) else data)
            file.flush()
            with contextlib.suppress(OSError):
                os.chmod(name, target.stat().st_mode & 0o7777)
            os.fsync(file.fileno())
        _move(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    sync_directory(target.parent)


def _move(name: str, target: Path) -> None:
    try:
        os.replace(name, target)
    except OSError as error:
        # A file that is mounted by itself, as containers do, cannot be replaced, only rewritten.
        if error.errno not in (errno.EXDEV, errno.EBUSY):
            raise
        shutil.copyfile(name, target)
        os.unlink(name)


def sync_directory(path: Path) -> None:
    """Makes a rename in a folder durable, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


_LOCKS: dict[str, threading.Lock] = {}
_LOCKS_GUARD = threading.Lock()


def _thread_lock(path: Path) -> threading.Lock:
    with _LOCKS_GUARD:
        return _LOCKS.setdefault(os.path.realpath(path), threading.Lock())


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Holds the lock of a file that exists only for it, against other threads and processes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _thread_lock(path), open(path, "a+b") as file, _locked(file.fileno()):
        yield


@contextmanager
def directory_lock(path: Path) -> Iterator[None]:
    """Holds the lock of a folder itself, so that no file is needed for it."""
    with _thread_lock(path):
        if fcntl is None:
            yield
            return
        fd = os.open(path, os.O_RDONLY)
        try:
            with _locked(fd):
                yield
        finally:
            os.close(fd)


@contextmanager
def _locked(fd: int) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


@contextmanager
def open_for_append(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file at its end and holds its lock. A file that was replaced while the lock was
    waited for is opened again, so that nothing is written into one that is gone."""
    with _thread_lock(path):
        while True:
            with open(path, "a+b") as file, _locked(file.fileno()):
                if _is_same(file.fileno(), path):
                    yield file
                    return


def _is_same(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path))
    except FileNotFoundError:
        return False
