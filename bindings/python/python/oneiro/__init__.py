"""Oneiro, the memory of AI agents: it keeps every word, finds it in milliseconds, and keeps the
prompt in its budget. :func:`open` gives the handle; :mod:`oneiro.aio` has it for asyncio, and
:mod:`oneiro.compat` stands in for what agents use already.

>>> import oneiro, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> memory = oneiro.open(folder.name)
>>> memory.append("monday", {"role": "user", "content": "the key is under the mat"}, create={}).ids
[1]
>>> memory.search("where is the key?").hits[0].marked()
'the **key** is under the mat'
>>> memory.context("monday", budget=8_000).messages
[{'role': 'user', 'content': 'the key is under the mat'}]
>>> memory.close()
"""

from oneiro._oneiro import __version__
from oneiro.errors import (
    BusyError,
    ConflictError,
    Error,
    InternalError,
    InvalidError,
    NotFoundError,
    PermissionError_,
    StoreError,
    TooLargeError,
    UnavailableError,
)
from oneiro.handle import ModelServer, Oneiro, default_store, open
from oneiro.types import (
    Appended,
    CapturePause,
    CaptureProject,
    CaptureStatus,
    Compacted,
    Conversation,
    Deleted,
    Expanded,
    Found,
    Hit,
    Imported,
    Job,
    Message,
    Neighbour,
    Omitted,
    Page,
    Pruned,
    Rewound,
    Session,
    Summary,
    SummaryHit,
    Usage,
    Window,
)

__all__ = [
    "Appended",
    "BusyError",
    "CapturePause",
    "CaptureProject",
    "CaptureStatus",
    "Compacted",
    "ConflictError",
    "Conversation",
    "Deleted",
    "Error",
    "Expanded",
    "Found",
    "Hit",
    "Imported",
    "InternalError",
    "InvalidError",
    "Job",
    "Message",
    "ModelServer",
    "Neighbour",
    "NotFoundError",
    "Omitted",
    "Oneiro",
    "Page",
    "PermissionError_",
    "Pruned",
    "Rewound",
    "Session",
    "StoreError",
    "Summary",
    "SummaryHit",
    "TooLargeError",
    "UnavailableError",
    "Usage",
    "Window",
    "__version__",
    "default_store",
    "open",
]
