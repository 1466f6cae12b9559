"""Clients of the servers that stores may stand on: installed or not, and whether the server answers now."""

from importlib.util import find_spec

from services.common.errors import StartupError
from services.common.settings import MilvusSettings, Neo4jSettings


async def answering_neo4j(settings: Neo4jSettings) -> None:
    """Return when Neo4j answers now, under the user and for the database of the settings; change nothing.

    Raises:
        UnavailableError: STORE_UNAVAILABLE.
        StartupError: its driver is not installed, or a file that the settings name cannot be read.
    """
    check_neo4j_driver()
    from services.common.adapters.neo4j.database import Neo4jDatabase

    patience = {"start_timeout_s": settings.connect_timeout_s}
    await (await Neo4jDatabase.open(settings.model_copy(update=patience))).close()


async def answering_milvus(settings: MilvusSettings) -> None:
    """Return when Milvus answers now, under the token of the settings; change nothing.

    Raises:
        UnavailableError: STORE_UNAVAILABLE.
        StartupError: its client is not installed, or a file that the settings name cannot be read.
    """
    check_milvus_client()
    from services.common.adapters.milvus.database import MilvusDatabase

    patience = {"start_timeout_s": min(settings.timeout_s, settings.start_timeout_s)}
    await (await MilvusDatabase.open(settings.model_copy(update=patience))).close()


def check_milvus_client() -> None:
    """Raise ``StartupError`` where Milvus's client is not installed."""
    if find_spec("pymilvus") is None:
        raise StartupError(
            "facts on Milvus (GROUNDTRAIL_STORE__FACTS=milvus) need its client: pip install 'groundtrail[milvus]'"
        )


def check_neo4j_driver() -> None:
    """Raise ``StartupError`` where Neo4j's driver is not installed."""
    if find_spec("neo4j") is None:
        raise StartupError(
            "a store on Neo4j (GROUNDTRAIL_STORE__…=neo4j) needs its driver: pip install 'groundtrail[neo4j]'"
        )
