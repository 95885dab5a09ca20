"""One class per kind of failure, each saying what its caller can do.

Every error has ``kind`` (the same word that HTTP and the command line use), ``message``, and where
they are known ``field`` (what of the request is wrong) and ``remedy`` (what to do about it).
"""

from __future__ import annotations

__all__ = [
    "BusyError",
    "ConflictError",
    "Error",
    "InternalError",
    "InvalidError",
    "NotFoundError",
    "PermissionError_",
    "StoreError",
    "TooLargeError",
    "UnavailableError",
]


class Error(Exception):
    """What every call of Oneiro raises when it fails."""

    kind: str = "internal"

    def __init__(
        self,
        message: str,
        kind: str | None = None,
        field: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or type(self).kind
        self.field = field
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n  {self.remedy}" if self.remedy else self.message

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str | None, str | None]]:
        return type(self), (self.message, self.kind, self.field, self.remedy)


class InvalidError(Error, ValueError):
    """The request is malformed: change it and try again."""

    kind = "invalid"


class PermissionError_(Error, PermissionError):
    """The credentials, or the file's permissions, do not allow this."""

    kind = "forbidden"


class NotFoundError(Error, LookupError):
    """What the request names does not exist."""

    kind = "not_found"


class ConflictError(Error):
    """The request contradicts what is stored."""

    kind = "conflict"


class TooLargeError(Error, ValueError):
    """The request passes a size limit."""

    kind = "too_large"


class BusyError(Error):
    """Another writer held the store for longer than the wait, or there were too many requests: try again."""

    kind = "busy"


class UnavailableError(Error):
    """The store, disk or server cannot be reached now, or the handle is closed."""

    kind = "unavailable"


class StoreError(Error):
    """The store is damaged, or was written by a newer Oneiro; ``kind`` tells which."""

    kind = "corrupt"


class InternalError(Error):
    """A fault of Oneiro itself."""

    kind = "internal"
