"""What makes a source when it is ingested for the first time: a random id, and a key for its facts' ids (ADR 0112)."""

import secrets
import uuid


def fresh_source_id() -> str:
    """Return an id that no source has or had; it tells nothing of the document's name."""
    return str(uuid.uuid4())


def fresh_source_key() -> str:
    """Return a key of 32 random bytes in hex, for the ids of one source's facts."""
    return secrets.token_hex(32)
