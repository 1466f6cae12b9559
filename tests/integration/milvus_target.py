"""Which Milvus the tests use: the one that GROUNDTRAIL_TEST_MILVUS_URI names (``make test-real`` starts one).

What they write stands in collections with a prefix of their own, which are emptied; nothing else there is touched.
"""

import asyncio
import os
from typing import Any

import pytest

from services.common.settings.milvus import MilvusSettings
from tests.patience import patient
from tools.real_servers.milvus import VARIABLE, is_ready

PREFIX = "groundtrail_tests"
_ATTEMPTS = 4
"""Questions to a server that may be busy with other tests; milvus-lite also hangs up on who pings too often."""


def milvus_settings(variable: str = VARIABLE, **changes: object) -> MilvusSettings:
    """Return how to reach it; unset: the test is skipped; set, and nobody answers there: it fails."""
    uri = os.environ.get(variable, "")
    if not uri:
        pytest.skip(f"set {variable} to http://host:port of a Milvus, as make test-real does")
    if not any(is_ready(uri) for _ in range(_ATTEMPTS)):
        pytest.fail(f"{variable} is set, and no Milvus answers at {uri}")
    roomy: dict[str, Any] = {"timeout_s": 60.0, "start_timeout_s": 120.0, "partitions": 4}
    values: dict[str, Any] = {"uri": uri, "collection_prefix": PREFIX} | roomy  # the machine may be busy
    return MilvusSettings(**values | changes)


async def empty_milvus(settings: MilvusSettings) -> None:
    """Delete every row of the tests' collections; the collections stay."""
    await asyncio.to_thread(_empty, settings)


def _empty(settings: MilvusSettings) -> None:
    from pymilvus import MilvusClient

    client = MilvusClient(settings.uri, timeout=settings.start_timeout_s)
    try:
        for name in client.list_collections():
            if not name.startswith(settings.collection_prefix) or name.endswith("_meta"):
                continue
            while rows := client.query(
                name, filter='key > ""', output_fields=["key"], limit=1_000, consistency_level="Strong", timeout=60.0
            ):
                client.delete(name, ids=[row["key"] for row in rows], timeout=patient(60.0))
    finally:
        client.close()
