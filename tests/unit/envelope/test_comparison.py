"""A document's facts beside those of other sources: the same, other values, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.encoding import sha256_hex
from services.common.ports.facts import FactStatus
from services.envelope.comparison import compare
from services.envelope.domain.ingestion_report import LISTED
from services.envelope.domain.subjects import Stated, SubjectIndex
from tests.contract.adapters import DIMENSION
from tests.contract.records import fact, vector

FEE = "The fee for a passport is 60 euros."
NEAR = vector(1.0, 0.1)
HERE = vector(1.0)


def stored(fact_id, content, embedding=NEAR, source_id="other", **changes):
    found = replace(fact(fact_id), content=content, content_hash=sha256_hex(content), source_id=source_id)
    return replace(found, embedding=embedding, **changes)


async def compared(*others, content=FEE, embedding=HERE):
    store = MemoryFactStore(DIMENSION)
    await store.upsert(others)
    return await compare(
        store, SubjectIndex(), "tenant-a", "own", [Stated("new", "own", content)], np.stack([embedding])
    )


@pytest.mark.parametrize(
    ("other", "duplicate", "exact", "values"),
    [
        (stored("f", FEE), 1, True, None),
        (stored("f", "A passport's fee is 60 euros."), 1, False, None),
        (stored("f", "The fee for a passport is 75 euros."), 0, False, ("60 euros", "75 euros")),
        (stored("f", "The fee for a visa is 75 euros."), 0, False, None),
        (stored("f", FEE, source_id="own"), 0, False, None),
        (stored("f", FEE, status=FactStatus.STALE), 0, False, None),
        (stored("f", FEE, status=FactStatus.QUARANTINED), 0, False, None),
        (stored("f", FEE, embedding=vector(0.0, 1.0)), 0, False, None),
        (replace(stored("f", FEE), tenant_id="tenant-b"), 0, False, None),
    ],
    ids=["same", "same in other words", "other value", "another thing", "own", "stale", "withheld", "far", "tenant"],
)
async def test_one_fact_beside_one(other, duplicate, exact, values):
    found = await compared(other)
    assert (found.duplicate_count, found.disagreement_count) == (duplicate, int(values is not None))
    for one in found.duplicates:
        assert (one.fact_id, one.other_fact_id, one.other_source_id, one.is_exact) == ("new", "f", "other", exact)
    assert [one.values for one in found.disagreements] == ([values] if values else [])


async def test_the_same_text_goes_before_the_nearer_one():
    found = await compared(stored("a", "A passport's fee is 60 euros.", HERE), stored("b", FEE, NEAR))
    assert [(one.other_fact_id, one.is_exact) for one in found.duplicates] == [("b", True)]


async def test_a_fact_may_be_known_here_and_contradicted_there():
    found = await compared(stored("a", FEE), stored("b", "The fee for a passport is 75 euros."))
    assert (found.duplicate_count, found.disagreement_count) == (1, 1)


async def test_one_sentence_of_several_may_be_on_the_same_thing():
    other = stored("a", "The fee for a passport is 75 euros. Photos are taken at the desk.", vector(0.6, 0.8))
    found = await compared(other, content=f"Memo to the desk. {FEE}")
    assert [one.values for one in found.disagreements] == [("60 euros", "75 euros")]
    assert found.duplicate_count == 0


async def test_lists_are_bounded_and_counts_are_exact():
    store = MemoryFactStore(DIMENSION)
    await store.upsert([stored("a", FEE)])
    count = LISTED + 200
    facts = [Stated(f"n{number}", "own", FEE) for number in range(count)]
    found = await compare(store, SubjectIndex(), "tenant-a", "own", facts, np.stack([HERE] * count))
    assert (found.duplicate_count, len(found.duplicates)) == (count, LISTED)
