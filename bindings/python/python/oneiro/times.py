"""Moments: aware datetimes for people, whole microseconds of UTC for the store."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import TypeAlias

from oneiro.errors import InvalidError

__all__ = ["Moment", "from_micros", "from_text", "moment_from", "to_micros"]

#: What a caller may give for a moment: an aware datetime, seconds since the epoch, RFC 3339, or a
#: date, which is where that day begins in UTC; as an end it includes the day.
Moment: TypeAlias = "datetime | date | float | int | str"

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The moment this many microseconds after the epoch.

    >>> from_micros(1_700_000_000_000_000).isoformat()
    '2023-11-14T22:13:20+00:00'
    """
    return _EPOCH + timedelta(microseconds=micros)


def from_text(text: str) -> datetime:
    """Reads RFC 3339 as Oneiro writes it.

    >>> from_text("2023-11-14T22:13:20Z") == from_micros(1_700_000_000_000_000)
    True
    """
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def moment_from(native: int | str) -> datetime:
    """A moment as the native half tells it: microseconds or RFC 3339.

    >>> moment_from(0) == moment_from("1970-01-01T00:00:00Z")
    True
    """
    return from_micros(native) if isinstance(native, int) else from_text(native)


def to_micros(moment: Moment, field: str = "at") -> int | str:
    """The moment as the store takes it; a string or a date is handed on as text, to be read there.

    >>> to_micros(1.5)
    1500000
    >>> to_micros(date(2026, 1, 31))
    '2026-01-31'
    """
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            raise InvalidError(
                f"{field}: {moment!r} has no time zone",
                field=field,
                remedy="give an aware datetime, such as datetime.now(timezone.utc)",
            )
        return (moment - _EPOCH) // _MICROSECOND
    if isinstance(moment, date):
        return moment.isoformat()
    if isinstance(moment, str):
        return moment
    if isinstance(moment, bool) or not isinstance(moment, (int, float)):
        raise InvalidError(
            f"{field}: {moment!r} is not a moment",
            field=field,
            remedy="give an aware datetime, a date, seconds since the epoch, or an RFC 3339 string",
        )
    try:
        return round(moment * 1_000_000)
    except (OverflowError, ValueError):
        raise InvalidError(f"{field}: {moment!r} is not a moment", field=field) from None
