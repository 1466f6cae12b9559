"""When communities are computed: after 50 new facts, weekly, and on demand (CRP-SPEC-009, ADR 0069).

For small tenants a clustering after an ingestion is part of that call, so that what an envelope holds depends on what
was ingested and never on timing. For large ones it runs beside the calls: what is new joins the communities that there
are, and all are computed anew when enough has grown. Builds go on meanwhile, with the communities of before.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum, auto
from typing import Final

from services.common.errors import CrpError
from services.common.ports.facts import FactFilter, FactStatus
from services.common.settings.envelope import EnvelopeSettings
from services.envelope.community_search import CommunitySearch
from services.envelope.community_writer import CommunityWriter
from services.envelope.knowledge_stores import KnowledgeStores
from services.envelope.ports import CommunityDetector
from services.envelope.requests import ClusteringOutcome, WriteTicket

_LOG: Final = logging.getLogger(__name__)
_REST: Final = 4.0
"""Rest after work beside the calls, in times of what it took: at most a fifth of one core goes into it."""
_AGE_CHECK_S: Final = 3_600.0
_TENANTS_AT_ONCE: Final = 100
_TOMBSTONES_AT_ONCE: Final = 1_000


class _Step(Enum):
    ADOPT = auto()
    REBUILD = auto()


@dataclass(slots=True)
class _Progress:
    """What has happened to a tenant since its communities were last written.

    Attributes:
        new: facts that were added and have not been put into communities.
        total: facts of the tenant, counted once and then reckoned; 0 = not counted.
        is_old: its communities were computed too long ago.
    """

    new: list[str] = field(default_factory=list)
    total: int = 0
    is_old: bool = False


class CommunityApp:
    """RebuildCommunities, and the clustering that ingestion, erasure and age cause.

    Args:
        stores: where facts and communities are.
        detector: finds the communities of small tenants.
        settings: when to cluster on our own, and how much.
        embedding_model: fingerprint of the model in use.
    """

    def __init__(
        self, stores: KnowledgeStores, detector: CommunityDetector, settings: EnvelopeSettings, embedding_model: str
    ) -> None:
        self._stores = stores
        self._settings = settings
        search = CommunitySearch(detector, settings.cluster_apart_above)
        self._writer = CommunityWriter(stores, search, settings.max_clustered_facts, embedding_model)
        self._progress: dict[str, _Progress] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._ageing: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def start(self) -> None:
        """Look every hour for communities that are too old."""
        if self._settings.recluster_after_days:
            self._ageing = asyncio.create_task(self._watch_ages())

    async def close(self) -> None:
        """Stop what runs beside the calls; idempotent."""
        tasks = [*self._working.values(), *([self._ageing] if self._ageing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def settled(self) -> None:
        """Return when nothing is to be done beside the calls, without the rests that it would take."""
        self._hurry.set()
        try:
            while self._working:
                await asyncio.gather(*self._working.values())
        finally:
            self._hurry.clear()

    async def facts_added(self, tenant_id: str, fact_ids: Sequence[str]) -> None:
        """Cluster when enough facts are new: 50, and for all communities a share of those clustered already."""
        if not fact_ids or not self._settings.recluster_after_facts:
            return
        progress = self._of(tenant_id)
        progress.new.extend(fact_ids)
        progress.total += len(fact_ids)
        if progress.total <= self._settings.cluster_apart_above or progress.total == len(progress.new):
            progress.total = await self._stores.facts.count(tenant_id)
        if progress.total > self._settings.cluster_apart_above:
            self._wake(tenant_id)
        elif await self._due(tenant_id) is _Step.REBUILD:
            await self.rebuild(tenant_id)

    async def facts_erased(self, tenant_id: str, source_id: str) -> None:
        """Cluster anew after a source's erasure: labels are made of words of the facts, and must not outlive them.

        Of a large tenant the communities that held erased facts go at once; the others keep their labels, which hold
        words of their own facts alone, until all are computed beside the calls (ADR 0084).
        """
        if not (await self._stores.graph.clustering(tenant_id)).epoch:
            return
        progress = self._of(tenant_id)
        progress.total = await self._stores.facts.count(tenant_id)
        if progress.total <= self._settings.cluster_apart_above:
            await self.rebuild(tenant_id)
            return
        labels = await self._labels_of_erased(tenant_id, source_id)
        if not labels:
            return
        await self._writer.clear(tenant_id, labels)
        if self._settings.recluster_after_facts:
            self._wake(tenant_id)

    async def _labels_of_erased(self, tenant_id: str, source_id: str) -> frozenset[str]:
        where = FactFilter(source_ids=(source_id,), statuses=(FactStatus.DELETED,))
        labels, after = set[str](), ""
        while page := await self._stores.facts.page(tenant_id, where, after=after, limit=_TOMBSTONES_AT_ONCE):
            labels.update(fact.community_label for fact in page)
            after = page[-1].fact_id
        return frozenset(labels - {""})

    async def rebuild(self, tenant_id: str, ticket: WriteTicket[ClusteringOutcome] | None = None) -> ClusteringOutcome:
        """Compute the tenant's communities anew.

        Raises:
            LimitExceededError: QUEUE_FULL, more facts than this process may cluster.
        """
        progress = self._of(tenant_id)
        covered = len(progress.new)
        outcome = await self._writer.rebuild(tenant_id, ticket)
        del progress.new[:covered]
        progress.is_old = False
        return outcome

    def _of(self, tenant_id: str) -> _Progress:
        return self._progress.setdefault(tenant_id, _Progress())

    async def _due(self, tenant_id: str) -> _Step | None:
        """Return what is to be done for the tenant now."""
        progress, settings = self._of(tenant_id), self._settings
        clustering = await self._stores.graph.clustering(tenant_id)
        total = progress.total or await self._stores.facts.count(tenant_id)
        if total > settings.max_clustered_facts:
            return None
        new = max(len(progress.new), total - clustering.facts_at_clustering)
        share = clustering.facts_at_clustering * settings.recluster_growth_ratio
        after = settings.recluster_after_facts
        if progress.is_old or (after and new >= max(after, share)):
            return _Step.REBUILD
        return _Step.ADOPT if after and clustering.epoch and len(progress.new) >= after else None

    def _wake(self, tenant_id: str) -> None:
        if tenant_id not in self._working:
            self._working[tenant_id] = asyncio.create_task(self._work(tenant_id))

    async def _work(self, tenant_id: str) -> None:
        """Do what is due, rest, and look again, until nothing is."""
        try:
            while (step := await self._due(tenant_id)) is not None:
                began = time.monotonic()
                if step is _Step.REBUILD:
                    await self.rebuild(tenant_id)
                else:
                    await self._adopt(tenant_id)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._hurry.wait(), _REST * (time.monotonic() - began))
        except (CrpError, RuntimeError) as error:  # the next ingestion tries again
            _LOG.warning("communities were not computed", extra={"error": type(error).__name__})
        finally:
            del self._working[tenant_id]

    async def _adopt(self, tenant_id: str) -> None:
        progress = self._of(tenant_id)
        new = list(progress.new)
        await self._writer.adopt(tenant_id, new)
        del progress.new[: len(new)]

    async def _watch_ages(self) -> None:
        while True:
            with contextlib.suppress(CrpError):  # a store that is down is asked again in an hour
                await self.renew_old()
            await asyncio.sleep(_AGE_CHECK_S)

    async def renew_old(self) -> int:
        """Compute communities that are older than the settings allow, beside the calls; return how many tenants'."""
        before = self._stores.clock.now() - timedelta(days=self._settings.recluster_after_days)
        old = await self._stores.graph.clusterings_before(before, _TENANTS_AT_ONCE)
        for clustering in old:
            self._of(clustering.tenant_id).is_old = True
            self._wake(clustering.tenant_id)
        return len(old)
