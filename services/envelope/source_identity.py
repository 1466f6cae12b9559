"""What makes a source when it is ingested for the first time: a random id, and a key for its facts' ids (ADR 0112)."""

import hashlib
import secrets
import uuid


def fresh_source_id() -> str:
    """Return an id that no source has or had; it tells nothing of the document's name."""
    return str(uuid.uuid4())


def fresh_source_key() -> str:
    """Return a key of 32 random bytes in hex, for the ids of one source's facts."""
    return secrets.token_hex(32)


def look_of(tenant_id: str, uri: str) -> tuple[str, str]:
    """Return id and key of a source that is only looked at: the same at each look, and never those of an ingestion."""
    digest = hashlib.sha512(f"look\x1f{tenant_id}\x1f{uri}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4)), digest[32:].hex()
