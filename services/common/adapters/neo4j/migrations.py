"""Bringing a database to the schema that a store expects: versions, each a list of statements, each idempotent.

Neo4j changes its schema in transactions of its own, so that a version is not taken in one step: a process that ends
half way leaves some constraints made and the version unwritten, and the next one makes the rest. Two processes that
start at once may do the same work; every statement says IF NOT EXISTS.
"""

from dataclasses import dataclass
from typing import Final

from services.common.adapters.neo4j.database import Neo4jDatabase
from services.common.adapters.neo4j.failures import unavailable
from services.common.settings.neo4j import Neo4jSettings

_RETRY_S: Final = 3_600.0
_OWN: Final = "CREATE CONSTRAINT schema_version_store IF NOT EXISTS FOR (n:SchemaVersion) REQUIRE n.store IS UNIQUE"
_READ: Final = "MATCH (n:SchemaVersion {store: $store}) RETURN n.version AS version"
_WRITE: Final = """
MERGE (n:SchemaVersion {store: $store})
SET n.version = CASE WHEN n.version > $version THEN n.version ELSE $version END
"""
_AWAIT: Final = "CALL db.awaitIndexes($seconds)"


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """What a store expects of the database.

    Attributes:
        store: its name.
        migrations: statements per version; entry ``n`` takes it from version ``n`` to ``n + 1``.
    """

    store: str
    migrations: tuple[tuple[str, ...], ...]


async def open_migrated(settings: Neo4jSettings, schema: GraphSchema) -> Neo4jDatabase:
    """Connect, and bring the database to the schema; nothing stays open when that fails.

    Raises:
        UnavailableError: STORE_UNAVAILABLE.
        StartupError: the file of root certificates cannot be read.
    """
    database = await Neo4jDatabase.open(settings)
    try:
        await migrate(database, schema)
    except BaseException:
        await database.close()
        raise
    return database


async def migrate(database: Neo4jDatabase, schema: GraphSchema, *, index_wait_s: int = 300) -> None:
    """Make what is not there yet and wait until every index can be used.

    Args:
        database: open.
        schema: to be there.
        index_wait_s: longest wait for Neo4j to fill new indexes, in seconds.

    Raises:
        UnavailableError: STORE_UNAVAILABLE: the database is of a later version, or cannot be reached.
    """
    known = len(schema.migrations)
    version = await _version(database, schema.store)
    if version > known:
        why = f"its {schema.store} have schema version {version}, this program knows {known}; upgrade the program"
        raise unavailable(why, "schema_version", _RETRY_S)
    if version == known:
        return
    await database.change_schema(_OWN)
    for number, statements in enumerate(schema.migrations[version:], start=version + 1):
        for statement in statements:
            await database.change_schema(statement)
        await database.rows(_AWAIT, seconds=index_wait_s)
        await database.rows(_WRITE, store=schema.store, version=number)


async def _version(database: Neo4jDatabase, store: str) -> int:
    rows = await database.rows(_READ, store=store)
    return int(rows[0]["version"]) if rows else 0
