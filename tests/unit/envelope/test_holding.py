"""Whether a fact holds at a moment, why not and since when (ADR 0109)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from services.common.ports.facts import FactRecord, FactStatus, StaleReason
from services.envelope.domain.holding import Holding, holding, shown

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
FACT = FactRecord(
    "t", "f", "x", "", "s", "", 0.5, NOW - timedelta(days=9), NOW, FactStatus.ACTIVE, np.zeros(2, np.float32)
)
STALE = FactStatus.STALE


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Holding(FactStatus.ACTIVE)),
        ({"superseded_at": NOW}, Holding(STALE, StaleReason.SUPERSEDED, NOW)),
        ({"superseded_at": NOW, "valid_to": NOW - TICK}, Holding(STALE, StaleReason.SUPERSEDED, NOW - TICK)),
        ({"valid_to": NOW}, Holding(STALE, StaleReason.NO_LONGER_VALID, NOW)),
        ({"valid_to": NOW + TICK}, Holding(FactStatus.ACTIVE)),
        ({"valid_from": NOW}, Holding(FactStatus.ACTIVE)),
        ({"valid_from": NOW + TICK}, Holding(STALE, StaleReason.NOT_YET_VALID)),
        ({"ttl": timedelta(days=8)}, Holding(STALE, StaleReason.EXPIRED)),
        ({"ttl": timedelta(days=10)}, Holding(FactStatus.ACTIVE)),
        ({"status": FactStatus.QUARANTINED, "superseded_at": NOW}, Holding(FactStatus.QUARANTINED)),
        ({"status": FactStatus.DELETED, "valid_to": NOW}, Holding(FactStatus.DELETED)),
    ],
    ids=["current", "replaced", "ended and replaced", "over", "last moment", "first moment", "to come", "old", "young",
         "withheld", "erased"],
)  # fmt: skip
def test_how_a_fact_stands(changes, expected):
    fact = replace(FACT, **changes)
    assert holding(fact, NOW) == expected
    assert (shown(fact, NOW).status, shown(fact, NOW).stale_reason) == (expected.status, expected.reason)


@pytest.mark.parametrize("reason", [None, *StaleReason])
def test_what_is_merely_old_is_not_out_of_time(reason):
    assert Holding(STALE, reason).is_out_of_time is (reason not in {None, StaleReason.EXPIRED})
