"""Whether what a store needs is installed, and whether a server that the settings name answers; nothing is changed.

Only composition roots use this module, as they do ``composition``.
"""

import asyncio
from importlib.util import find_spec

from services.common.errors import StartupError
from services.common.settings import MilvusSettings, Neo4jSettings, Settings


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


async def answering_vector_engine(settings: Settings) -> None:
    """Return when the vector engine of the settings answers now; change nothing. One without a URL is only looked for.

    Raises:
        StartupError: there is no such engine, its client is not installed, or it does not answer.
    """
    from services.common.adapters.vector_engines import check_installed, open_engine
    from services.common.model_repository import open_repository

    if not settings.vectors.url:
        check_installed(settings.vectors)
        return
    entry = (await asyncio.to_thread(open_repository, settings.inference)).entry(settings.inference.embedding_model)
    data_dir, dimension = settings.store.data_dir, entry.outputs[0].shape[1]
    engine = await asyncio.to_thread(open_engine, settings.vectors, data_dir, dimension)
    await asyncio.to_thread(engine.close)


def check_milvus_client() -> None:
    """Refuse facts on Milvus where its client is not installed.

    Raises:
        StartupError: it is not.
    """
    if find_spec("pymilvus") is None:
        raise StartupError(
            "facts on Milvus (GROUNDTRAIL_STORE__FACTS=milvus) need its client: pip install 'groundtrail[milvus]'"
        )


def check_neo4j_driver() -> None:
    """Refuse a store on Neo4j where its driver is not installed.

    Raises:
        StartupError: it is not.
    """
    if find_spec("neo4j") is None:
        raise StartupError(
            "a store on Neo4j (GROUNDTRAIL_STORE__…=neo4j) needs its driver: pip install 'groundtrail[neo4j]'"
        )
