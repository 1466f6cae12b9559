"""What the suites on one Neo4j share: how to reach it, emptied, and a connection of the test's own."""

import pytest

from tests.integration.neo4j_target import empty_neo4j, neo4j_settings


@pytest.fixture
async def emptied_neo4j():
    """Settings of a Neo4j without data; the test is skipped where none is named."""
    settings = neo4j_settings()
    await empty_neo4j(settings)
    return settings


@pytest.fixture
async def neo4j_database(emptied_neo4j):
    """A connection to it, beside that of what is tested."""
    from services.common.adapters.neo4j.database import Neo4jDatabase

    opened = await Neo4jDatabase.open(emptied_neo4j)
    yield opened
    await opened.close()
