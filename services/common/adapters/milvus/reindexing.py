"""Writing rows anew that earlier programs, or other settings, wrote in another way.

The words of all facts (ADR 0082) and the hashes that tombstones kept until ADR 0112. It goes tenant by tenant through
the writes that everything goes through, so that whatever ends it half way leaves every fact as it was or written anew,
and the next opening goes on: what is right already is not written again.
"""

import logging
from collections.abc import Callable
from typing import Final

from services.common.adapters.milvus.database import Level, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import WHOLE_FIELDS, fact_id_of, reworded, without_hash
from services.common.adapters.milvus.journal import DONE
from services.common.adapters.milvus.reads import FactReads
from services.common.adapters.milvus.schema import Collections, bare
from services.common.adapters.milvus.tenants import Change, Tenants, View
from services.common.keywords import Stemming, edition
from services.common.ports.facts import FactFilter, FactStatus

_LOG: Final = logging.getLogger(__name__)
_WORDS_KEY: Final = "words"
_TOMBSTONES_KEY: Final = "tombstones"
_WITHOUT_HASHES: Final = "without hashes"
_FACTS_PER_WRITE: Final = 1_000
_ALIVE: Final = FactFilter(statuses=tuple(status for status in FactStatus if status is not FactStatus.DELETED))
_DEAD: Final = FactFilter(statuses=(FactStatus.DELETED,))


class Reindexing:
    """Brings the rows of all collections to what this program writes.

    Args:
        database: open.
        collections: loaded.
        tenants: through which is written.
    """

    def __init__(self, database: MilvusDatabase, collections: Collections, tenants: Tenants) -> None:
        self._database = database
        self._collections = collections
        self._tenants = tenants

    async def ready(self, stemming: Stemming) -> None:
        """Return when no tombstone has a hash and all rows have the words that ``stemming`` makes.

        That takes minutes for 100,000 facts that do not.

        Raises:
            UnavailableError: STORE_UNAVAILABLE; the next opening goes on.
            LimitExceededError: STORAGE_FULL.
        """
        await self._once(_TOMBSTONES_KEY, _WITHOUT_HASHES, _DEAD, without_hash)
        await self._once(_WORDS_KEY, edition(stemming), _ALIVE, lambda row: reworded(row, stemming))

    async def _once(self, key: str, wanted: str, where: FactFilter, changed: Callable[[Row], Row | None]) -> None:
        """Write anew what ``changed`` changes of every tenant's facts, unless ``meta`` says that this was done."""
        meta = self._collections.meta
        rows = await self._database.rows(meta, f'key == "{key}"', ("key", "value"), Level.STRONG)
        if rows and rows[0]["value"] == wanted:
            return
        done = await self._database.all_rows(
            self._collections.journal, f'state == "{DONE}"', ("key", "tenant"), Level.STRONG
        )
        written = 0
        for tenant in sorted({row["tenant"] for row in done}):
            for collection in self._collections.facts:
                written += await self._rewrite(tenant, collection, where, changed)
        await self._database.upsert(meta, [bare({"key": key, "value": wanted})])
        if written:
            _LOG.info("facts were written anew", extra={"facts": written, "what": key, "now": wanted})

    async def _rewrite(
        self, tenant: str, collection: str, where: FactFilter, changed: Callable[[Row], Row | None]
    ) -> int:
        """Write anew what a tenant (given by its digest) has in a collection, and return how many facts."""
        after, written, more = "", 0, True

        async def prepare(view: View) -> Change:
            nonlocal after, written, more
            reads = FactReads(self._database, self._collections, view)
            rows: list[Row] = await reads.page(where, after, _FACTS_PER_WRITE, WHOLE_FIELDS, [collection])
            more = len(rows) == _FACTS_PER_WRITE
            after = fact_id_of(rows[-1]["key"]) if rows else after
            change = Change.replacing({collection: rows}, changed)
            written += sum(map(len, change.rows.values()))
            return change

        while more:
            await self._tenants.write_of(tenant, prepare)
        return written
