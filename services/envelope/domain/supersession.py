"""What ingesting a version of a source does to the facts that it already has.

A fact that still stands is left alone, one that is missing was superseded, one that returns is written again. What an
operator quarantined stays quarantined, and is superseded all the same: whoever restores it gets what it is by then.

A version that says from when on it holds does not end the one before sooner: next year's fees, taken in today, leave
those of this year standing until then, and what both state never ceases to hold (ADR 0109).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.common.ports.facts import FactRecord, FactStatus
from services.envelope.domain.validity import Validity


@dataclass(frozen=True, slots=True)
class VersionChange:
    """The difference between what is stored and what a new version says; every tuple is ordered and without duplicates.

    Attributes:
        written: ids to embed and write: new, superseded before or to be, embedded by another model, or of another
            validity or importance.
        revived: those of ``written`` that were stored before (an undo keeps them instead of removing them).
        unchanged: ids that are left as they are.
        stale: ids that are superseded.
        reinstated: withheld ids that had been superseded and stand in the source again.
    """

    written: tuple[str, ...]
    revived: tuple[str, ...]
    unchanged: tuple[str, ...]
    stale: tuple[str, ...]
    reinstated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredFact:
    """What the decision needs to know of a stored fact."""

    status: FactStatus
    embedding_model: str
    is_superseded: bool = False
    is_to_be_superseded: bool = False
    has_other_terms: bool = False


def version_change(
    stored: Mapping[str, StoredFact], incoming: Iterable[str], embedding_model: str, *, replaces_all: bool
) -> VersionChange:
    """Compare a source's stored facts with a new version's.

    Args:
        stored: the source's facts by id, DELETED ones excepted.
        incoming: ids of the new version, in reading order; duplicates count once.
        embedding_model: fingerprint of the model in use.
        replaces_all: the version is the whole document, so what it lacks is superseded.
    """
    ids = tuple(dict.fromkeys(incoming))
    written = tuple(fact_id for fact_id in ids if _must_be_written(stored.get(fact_id), embedding_model))
    rewritten = set(written)
    new_version = set(ids)
    stale = (
        tuple(
            sorted(
                fact_id
                for fact_id, fact in stored.items()
                if fact_id not in new_version and not fact.is_superseded and fact.status in _SUPERSEDABLE
            )
        )
        if replaces_all
        else ()
    )
    return VersionChange(
        written=written,
        revived=tuple(fact_id for fact_id in written if fact_id in stored),
        unchanged=tuple(fact_id for fact_id in ids if fact_id not in rewritten),
        stale=stale,
        reinstated=tuple(
            fact_id
            for fact_id in ids
            if fact_id in stored and stored[fact_id].status is FactStatus.QUARANTINED and stored[fact_id].is_superseded
        ),
    )


_SUPERSEDABLE: Final = frozenset({FactStatus.ACTIVE, FactStatus.QUARANTINED})


def _must_be_written(stored: StoredFact | None, embedding_model: str) -> bool:
    if stored is None:
        return True
    if stored.status is FactStatus.QUARANTINED:
        return False
    return (
        stored.status is not FactStatus.ACTIVE
        or stored.is_superseded
        or stored.is_to_be_superseded
        or stored.has_other_terms
        or stored.embedding_model != embedding_model
    )


def begins_at(validities: Iterable[Validity]) -> datetime | None:
    """Return when a version begins as a whole: where each of its facts says when, the first of these moments."""
    starts = [validity.valid_from for validity in validities]
    return min((start for start in starts if start is not None), default=None) if None not in starts else None


def joined_validity(stated: Validity, before: FactRecord | None, begins: datetime | None, now: datetime) -> Validity:
    """Return from when to when a fact holds that a changed document states again.

    Args:
        stated: as the new version says.
        before: the fact as it is stored; ``None`` = it is new.
        begins: when the new version begins.
        now: the moment.
    """
    if before is None or begins is None or stated.valid_from != begins or before.status is not FactStatus.ACTIVE:
        return stated
    has_begun = before.valid_from is None or before.valid_from <= min(now, begins)
    goes_on = before.ends_at is None or before.ends_at >= begins
    return Validity(before.valid_from, stated.valid_to) if has_begun and goes_on else stated


def ends_of(stale: Iterable[FactRecord], begins: datetime | None, now: datetime) -> dict[datetime, Sequence[str]]:
    """Return when facts end that a new version lacks.

    That is now, unless the version begins at another time. One that is to come leaves what has begun until then, and
    takes the place of what had not; one that has begun ended what began before it.

    Args:
        stale: the facts.
        begins: when the version begins; ``None`` = nobody said.
        now: when it was taken in.
    """
    found: dict[datetime, list[str]] = defaultdict(list)
    for fact in stale:
        end = now
        if begins is not None and begins > now:
            end = begins if fact.valid_from is None or fact.valid_from <= now else now
        elif begins is not None and fact.valid_from is not None and fact.valid_from < begins:
            end = begins
        found[end].append(fact.fact_id)
    return {end: tuple(fact_ids) for end, fact_ids in found.items()}
