"""When somebody else wants to be asked again (RFC 9110 §10.2.3)."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

MAX_RETRY_AFTER_S: Final = 3600.0


def retry_after_s(value: str, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for (RFC 9110), 0 to 3600; ``None`` for what is none."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_RETRY_AFTER_S)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (moment - now).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S) if math.isfinite(seconds) else None
