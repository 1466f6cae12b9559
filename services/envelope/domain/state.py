"""The state hash of a tenant's knowledge (SPEC-003 §11.3; architecture decision 5)."""

import hashlib
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from services.common.encoding import SHA256_PREFIX, iso_micros
from services.common.ports.facts import FactStatus


@lru_cache(maxsize=4096)
def _moment(value: datetime) -> str:
    """Return the moment as text; the facts of one batch share theirs."""
    return iso_micros(value)


def state_entry(fact_id: str, content_hash: str, modified_at: datetime, status: FactStatus) -> str:
    """Return one entry: ``fact_id:content_hash:modified_at:status``."""
    return f"{fact_id}:{content_hash}:{_moment(modified_at)}:{status.value}"


def state_hash(entries: Iterable[str], epoch: int, embedding_model: str) -> str:
    """Return ``sha256:`` and 64 hex digits over sorted entries, the clustering's epoch and the model, joined by ``|``.

    Args:
        entries: what ``state_entry`` gave, in any order.
        epoch: number of the clustering; 0 = never clustered.
        embedding_model: fingerprint of the model in use.
    """
    text = "|".join([*sorted(entries), f"epoch:{epoch}", f"model:{embedding_model}"])
    return SHA256_PREFIX + hashlib.sha256(text.encode()).hexdigest()
