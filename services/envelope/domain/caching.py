"""Conditional dispatch: when a presented ETag still stands (SPEC-003 §11; ADR 0006)."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum, unique
from typing import Final

from services.common.encoding import canonical_json

ANY_ETAG: Final = "*"
RELEVANT_COSINE: Final = 0.50
"""only-if-ckf asks for at least one fact this relevant (CRP-SPEC-002: else 424)."""

_MAX_AGE: Final = re.compile(r"max-age=(\d{1,9})")
_PLAIN_DIRECTIVES: Final = frozenset({"no-store", "no-cache", "reuse-ckf", "only-if-ckf"})


@unique
class MissReason(StrEnum):
    """Why an envelope was built; the token after ``MISS; reason=``."""

    NOT_CONDITIONAL = "not-conditional"
    NO_CACHE = "no-cache"
    UNKNOWN_ETAG = "unknown-etag"
    EXPIRED = "expired"
    FACTS_UPDATED = "facts-updated"


def miss_status(reason: MissReason) -> str:
    """Return the value of CRP-Context-Cache-Status for an envelope that was built (SPEC-003 §11.2)."""
    return f"MISS; reason={reason.value}"


@dataclass(frozen=True, slots=True)
class CacheDirectives:
    """What CRP-Context-Cache asks for."""

    no_store: bool = False
    no_cache: bool = False
    reuse_ckf: bool = False
    only_if_ckf: bool = False
    max_age_s: int | None = None


def is_cache_directive(text: str) -> bool:
    """Say whether ``text`` is a directive of CRP-Context-Cache."""
    return text in _PLAIN_DIRECTIVES or _MAX_AGE.fullmatch(text) is not None


def read_directives(texts: Sequence[str]) -> CacheDirectives:
    """Read directives that ``is_cache_directive`` takes; the shortest max-age wins."""
    ages = [int(match.group(1)) for match in map(_MAX_AGE.fullmatch, texts) if match]
    return CacheDirectives(
        no_store="no-store" in texts,
        no_cache="no-cache" in texts,
        reuse_ckf="reuse-ckf" in texts,
        only_if_ckf="only-if-ckf" in texts,
        max_age_s=min(ages, default=None),
    )


def plan_key(*parts: object) -> str:
    """Return one key over everything in the parts: a field that is added tomorrow counts unless it says otherwise.

    Fields with ``BESIDE_THE_BUILD`` are left out, sets and mappings have no order (ADR 0111).

    Raises:
        TypeError: a value of a kind that has no plain form here.
    """
    return hashlib.sha256(canonical_json([_plain(part) for part in parts])).hexdigest()


def _plain(value: object) -> object:  # noqa: PLR0911 - a form for each kind
    if isinstance(value, Enum):
        return _plain(value.value)
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value // timedelta(microseconds=1))
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((_plain(inner) for inner in value), key=repr)
    if isinstance(value, Sequence):
        return [_plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        counted = (one for one in fields(value) if not one.metadata.get("beside the build"))
        return {one.name: _plain(getattr(value, one.name)) for one in counted}
    msg = f"a {type(value).__name__} cannot be part of a build's key"
    raise TypeError(msg)


def build_key(parts: Sequence[Sequence[str]]) -> str:
    """Return one key over everything that a build depends on beside the knowledge.

    Lengths are hashed as well, so that no two different lists of parts run into each other.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"[{len(part)}]".encode())
        for text in part:
            data = text.encode()
            digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Standing:
    """What is remembered of a build to judge it by: its ETag, the state it saw, and when.

    Attributes:
        stands_until: when it would come out otherwise although nothing was written: a fact outlives its ttl, or the
            newest one is no longer new enough for a time-sensitive query. ``None`` = never.
    """

    etag: str
    state_hash: str
    built_at: datetime
    stands_until: datetime | None = None


def miss_reason(
    presented: str, directives: CacheDirectives, standing: Standing | None, now: datetime
) -> MissReason | None:
    """Return why an envelope must be built without looking at the knowledge, or ``None`` when the state decides.

    ``no-cache`` overrides If-Match (SPEC-003 §11.4).
    """
    if not presented:
        return MissReason.NOT_CONDITIONAL
    if directives.no_cache:
        return MissReason.NO_CACHE
    if standing is None or presented not in {ANY_ETAG, standing.etag}:
        return MissReason.UNKNOWN_ETAG
    if directives.max_age_s is not None and (now - standing.built_at).total_seconds() > directives.max_age_s:
        return MissReason.EXPIRED
    if standing.stands_until is not None and now > standing.stands_until:
        return MissReason.FACTS_UPDATED
    return None
