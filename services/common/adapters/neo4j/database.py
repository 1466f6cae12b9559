"""One Neo4j database behind the official driver: transactions that are tried again, bounded and never left open."""

import asyncio
import importlib.metadata
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, Self, TypeVar

from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, Query, TrustCustomCAs, unit_of_work

from services.common.adapters.neo4j.failures import translated
from services.common.adapters.neo4j.values import Properties
from services.common.errors import StartupError, UnavailableError
from services.common.settings.neo4j import Neo4jSettings

_T = TypeVar("_T")
_LOG: Final = logging.getLogger(__name__)
_START_POLL_S: Final = 0.5
_FIRST_RETRY_S: Final = 0.02
"""Pause before the second attempt; it doubles. What is tried again is mostly two transactions in each other's way."""


class Neo4jDatabase:
    """A database of a server or cluster.

    Every transaction goes to the member that writes, so that each reads what the one before it wrote.

    Args:
        driver: opened by ``open``, or a test's own.
        settings: the database's name, times.
    """

    def __init__(self, driver: AsyncDriver, settings: Neo4jSettings) -> None:
        self._driver = driver
        self._settings = settings

    @classmethod
    async def open(cls, settings: Neo4jSettings) -> Self:
        """Wait until the server answers.

        Raises:
            UnavailableError: STORE_UNAVAILABLE: it did not answer in ``start_timeout_s``, or refuses the user.
            StartupError: the file of root certificates cannot be read.
        """
        database = cls(await _driver(settings), settings)
        try:
            await database._wait_until_answered()
        except BaseException:
            await database.close()
            raise
        return database

    async def run(self, job: Callable[[AsyncManagedTransaction], Awaitable[_T]]) -> _T:
        """Run ``job`` in a transaction and return its result once that is durable.

        It is run again, in a new transaction, when Neo4j gave it up for the sake of others or could not be reached,
        for up to ``retry_s``. It is rolled back when ``job`` raises. A server that is there and says nothing is waited
        for as long as the last attempt could take: Neo4j's own limit of a transaction ends nothing then.

        Raises:
            ConflictError: COMMIT_RACE: a constraint does not hold.
            UnavailableError: STORE_UNAVAILABLE.
        """
        settings = self._settings
        longest_s = settings.connect_timeout_s + settings.retry_s + settings.timeout_s
        with translated():
            async with (
                asyncio.timeout(longest_s),
                self._driver.session(database=settings.database) as session,
            ):
                return await session.execute_write(unit_of_work(timeout=settings.timeout_s)(job))

    async def rows(self, statement: str, **parameters: Any) -> list[Properties]:
        """Run one statement in a transaction as ``run`` does and return its rows."""
        return await self.run(lambda transaction: rows_of(transaction, statement, **parameters))

    async def change_schema(self, statement: str) -> None:
        """Run a statement that changes the schema; Neo4j wants it to be alone in its transaction."""
        with translated():
            async with self._driver.session(database=self._settings.database) as session:
                await (await session.run(Query(statement, timeout=self._settings.start_timeout_s))).consume()

    async def check(self) -> None:
        """Return when the server answers; asks once.

        Raises:
            UnavailableError: STORE_UNAVAILABLE.
        """
        with translated():
            async with (
                asyncio.timeout(self._settings.connect_timeout_s),
                self._driver.session(database=self._settings.database) as session,
            ):
                await (await session.run("RETURN 1")).consume()

    async def close(self) -> None:
        """Close every connection; idempotent."""
        await self._driver.close()

    async def _wait_until_answered(self) -> None:
        ends = time.monotonic() + self._settings.start_timeout_s
        while True:
            try:
                await self.check()
            except UnavailableError as error:
                refused = error.metadata["cause"].startswith("Neo.ClientError.")
                if refused or time.monotonic() + _START_POLL_S > ends:
                    raise
                _LOG.info("waiting for Neo4j: %s", error.metadata["cause"])
                await asyncio.sleep(_START_POLL_S)
            else:
                return


async def rows_of(transaction: AsyncManagedTransaction, statement: str, **parameters: Any) -> list[Properties]:
    """Run one statement in a transaction and return its rows."""
    return await (await transaction.run(statement, parameters)).data()


async def _driver(settings: Neo4jSettings) -> AsyncDriver:
    password = settings.password.get_secret_value()
    options: dict[str, Any] = {}
    if settings.tls_root_certificates is not None:
        path = settings.tls_root_certificates
        try:
            await asyncio.to_thread(path.read_bytes)
            trusted = TrustCustomCAs(str(path))
        except OSError as error:
            raise StartupError(
                f"GROUNDTRAIL_NEO4J__TLS_ROOT_CERTIFICATES: {path} cannot be read: {error.strerror}"
            ) from error
        options = {"encrypted": True, "trusted_certificates": trusted}
    return AsyncGraphDatabase.driver(
        settings.uri,
        auth=(settings.user, password) if password else None,
        user_agent=f"groundtrail/{importlib.metadata.version('groundtrail')}",
        max_connection_pool_size=settings.pool_size,
        connection_timeout=settings.connect_timeout_s,
        connection_acquisition_timeout=settings.connect_timeout_s,
        max_transaction_retry_time=settings.retry_s,
        initial_retry_delay=_FIRST_RETRY_S,
        notifications_min_severity="OFF",
        telemetry_disabled=True,
        **options,
    )
