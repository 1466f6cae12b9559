"""What a statement does in Neo4j: its profile, taken without keeping what it changed."""

from collections.abc import Iterator
from typing import Any

import pytest
from neo4j import AsyncManagedTransaction

from services.common.adapters.neo4j.database import Neo4jDatabase

_SCANS = ("Scan",)
_BY_INDEX = {"NodeIndexScan", "NodeUniqueIndexScan"}


class RolledBackError(Exception):
    """Ends a transaction that was only to be looked at."""


async def plan_of(database: Neo4jDatabase, statement: str, values: dict[str, object]) -> dict[str, Any]:
    """Run a statement, take back what it did, and return its profile."""
    profile: list[dict[str, Any]] = []

    async def job(transaction: AsyncManagedTransaction) -> None:
        result = await transaction.run(f"PROFILE {statement}", values)
        profile.append((await result.consume()).profile)
        raise RolledBackError

    with pytest.raises(RolledBackError):
        await database.run(job)
    return profile[0]


def kinds(plan: dict[str, Any]) -> set[str]:
    """Return the kinds of operators in a plan."""
    return {str(operator["operatorType"]).split("@")[0] for operator in _operators(plan)}


def scans(plan: dict[str, Any]) -> set[str]:
    """Return the operators that look at every node or at every node of a label."""
    return {kind for kind in kinds(plan) if kind.endswith(_SCANS) and kind not in _BY_INDEX}


def hits(plan: dict[str, Any]) -> int:
    """Return how many records the statement touched."""
    return sum(int(operator["args"].get("DbHits", 0)) for operator in _operators(plan))


def _operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", ()):
        yield from _operators(child)
