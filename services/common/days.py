"""The day that people name for a moment at which something ended."""

from datetime import date, datetime, timedelta


def last_day(end: datetime) -> date:
    """Return the last day on which something held that held no more from ``end`` on: of midnight the day before."""
    return (end - timedelta(microseconds=1)).date()
