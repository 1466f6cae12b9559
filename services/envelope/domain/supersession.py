"""What ingesting a version of a source does to the facts that it already has.

A fact that still stands is left alone, one that is missing was superseded, one that returns is written again. What an
operator quarantined stays quarantined, and is superseded all the same: whoever restores it gets what it is by then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from services.common.ports.facts import FactStatus


@dataclass(frozen=True, slots=True)
class VersionChange:
    """The difference between what is stored and what a new version says; every tuple is ordered and without duplicates.

    Attributes:
        written: ids to embed and write: new, superseded before, embedded by another model, or of another validity.
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
    has_other_validity: bool = False


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
        or stored.has_other_validity
        or stored.embedding_model != embedding_model
    )
