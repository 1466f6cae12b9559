"""The envelope's ETag (SPEC-003 §7.5, §16.2)."""

from collections.abc import Iterable

from services.common.encoding import SHA256_PREFIX, sha256_hex


def envelope_etag(fact_ids: Iterable[str], salt: str = "") -> str:
    """Return ``sha256:`` and 64 hex digits over the sorted ids and their number, joined by ``|``.

    Args:
        fact_ids: ids of the packed facts, in any order.
        salt: the session id where salted ETags are set, else empty: then the hash is exactly that of §7.5.
    """
    ids = sorted(fact_ids)
    text = "|".join(ids) + "|" + str(len(ids))
    return SHA256_PREFIX + sha256_hex(f"{text}|{salt}" if salt else text)
