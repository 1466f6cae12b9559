"""Which Neo4j the tests use: the one that GROUNDTRAIL_TEST_NEO4J_URI names (``make test-real`` starts one).

Its data are deleted: name none that anybody needs. Community edition has one database, so that tests on it run one
after another.
"""

import os
from typing import Any

import pytest
from pydantic import SecretStr

from services.common.settings.neo4j import Neo4jSettings
from tools.real_servers.neo4j import PASSWORD_VARIABLE, VARIABLE, is_ready


def neo4j_settings(**changes: object) -> Neo4jSettings:
    """Return how to reach it; unset: the test is skipped; set, and nobody answers there: it fails."""
    uri, password = os.environ.get(VARIABLE, ""), os.environ.get(PASSWORD_VARIABLE, "")
    if not uri:
        pytest.skip(
            f"set {VARIABLE} to bolt://host:port of a Neo4j whose data may be deleted, and {PASSWORD_VARIABLE}, "
            "as make test-real does"
        )
    if not is_ready(uri, password):
        pytest.fail(f"{VARIABLE} is set, and no Neo4j answers at {uri} with the password of {PASSWORD_VARIABLE}")
    roomy = {"timeout_s": 60.0, "connect_timeout_s": 30.0}  # the machine may be busy with other tests
    values: dict[str, Any] = {"uri": uri, "password": SecretStr(password)} | roomy
    return Neo4jSettings(**values | changes)


async def empty_neo4j(settings: Neo4jSettings) -> None:
    """Delete every node; the schema stays."""
    from services.common.adapters.neo4j.database import Neo4jDatabase

    database = await Neo4jDatabase.open(settings)
    try:
        while (
            await database.rows(
                "MATCH (n) WHERE NOT n:SchemaVersion WITH n LIMIT 5000 DETACH DELETE n RETURN count(*) AS deleted"
            )
        )[0]["deleted"]:
            pass
    finally:
        await database.close()
