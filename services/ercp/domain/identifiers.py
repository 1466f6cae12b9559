"""Ids that follow from what they name, so that a step done again gets the same ones (ADR 0073).

They look like random UUIDs (version 4), which is what the document and the services take, and are as hard to guess as
the trace or request id that they are made from.
"""

import hashlib
import uuid


def derived_uuid(*parts: str) -> str:
    """Return the id of a part of something; the same parts give the same id."""
    digest = hashlib.sha256("/".join(("groundtrail-ercp", *parts)).encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))
