"""Writing the words of all rows anew, where they were made in another way than the settings ask for (ADR 0082).

It goes tenant by tenant through the writes that everything goes through, so that whatever ends it half way leaves every
fact as it was or with its new words, and the next opening goes on: what has its words already is not written again.
"""

import logging
from typing import Final

from services.common.adapters.milvus.database import Level, MilvusDatabase, Row
from services.common.adapters.milvus.fact_rows import WHOLE_FIELDS, fact_id_of, reworded
from services.common.adapters.milvus.journal import DONE
from services.common.adapters.milvus.reads import FactReads
from services.common.adapters.milvus.schema import Collections, bare
from services.common.adapters.milvus.tenants import Change, Tenants, View
from services.common.keywords import Stemming, edition
from services.common.ports.facts import FactFilter, FactStatus

_LOG: Final = logging.getLogger(__name__)
_KEY: Final = "words"
_FACTS_PER_WRITE: Final = 1_000
_ALIVE: Final = FactFilter(statuses=tuple(status for status in FactStatus if status is not FactStatus.DELETED))


class Rewording:
    """Brings the rows of all collections to the words of this program.

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
        """Return when all rows have the words that ``stemming`` makes; minutes for 100,000 facts that do not.

        Raises:
            UnavailableError: STORE_UNAVAILABLE; the next opening goes on.
            LimitExceededError: STORAGE_FULL.
        """
        meta = self._collections.meta
        rows = await self._database.rows(meta, f'key == "{_KEY}"', ("key", "value"), Level.STRONG)
        if rows and rows[0]["value"] == edition(stemming):
            return
        done = await self._database.all_rows(
            self._collections.journal, f'state == "{DONE}"', ("key", "tenant"), Level.STRONG
        )
        written = 0
        for tenant in sorted({row["tenant"] for row in done}):
            for collection in self._collections.facts:
                written += await self._reword(tenant, collection, stemming)
        await self._database.upsert(meta, [bare({"key": _KEY, "value": edition(stemming)})])
        if written:
            _LOG.info("the words of facts were written anew", extra={"facts": written, "stemming": stemming.value})

    async def _reword(self, tenant: str, collection: str, stemming: Stemming) -> int:
        """Write anew what a tenant (given by its digest) has in a collection, and return how many facts."""
        after, written, more = "", 0, True

        async def prepare(view: View) -> Change:
            nonlocal after, written, more
            reads = FactReads(self._database, self._collections, view)
            rows: list[Row] = await reads.page(_ALIVE, after, _FACTS_PER_WRITE, WHOLE_FIELDS, [collection])
            more = len(rows) == _FACTS_PER_WRITE
            after = fact_id_of(rows[-1]["key"]) if rows else after
            change = Change.replacing({collection: rows}, lambda row: reworded(row, stemming))
            written += sum(map(len, change.rows.values()))
            return change

        while more:
            await self._tenants.write_of(tenant, prepare)
        return written
