"""Copying a tenant's knowledge from one pair of stores to another, and proving that both have the same.

Facts go with vectors, statuses and times, tombstones as tombstones; sources, outlines and communities go along. What
stands in the target already is not written again, so a copy that was broken off goes on where it was. Nothing that was
erased in the target comes back, and nothing that was changed there later is overwritten.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.common.errors import FieldViolation, InvalidRequestError
from services.common.ports.facts import FactRecord, FactStatus
from services.common.ports.graph import SourceRecord, SourceStatus
from services.envelope.store_pictures import (
    FactMark,
    Picture,
    Stores,
    communities_of,
    fact_pages,
    outlines_of,
    source_digest,
    take_picture,
)

_SHOWN = 3
"""Ids that a refusal names."""
_UNFINISHED = (SourceStatus.INGESTING, SourceStatus.ERASING)


@dataclass(frozen=True, slots=True)
class CopyPlan:
    """What has to be done for one tenant.

    Attributes:
        before: what the source has.
        there: what the target had.
        facts: ids to write.
        sources: ids to write, with their outlines.
        kept: ids of facts and sources that were erased, or changed later, in the target, and stay as they are there.
        others: how many facts and sources the target has that the source has not.
        communities: whether to write them; a target that is clustered in its own way keeps its own.
    """

    tenant_id: str
    before: Picture
    there: Picture
    facts: frozenset[str]
    sources: frozenset[str]
    kept: frozenset[str]
    others: int
    communities: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """Counts and hashes of both sides.

    Attributes:
        facts: in the source, tombstones included; ``tombstones`` are those alone.
        kept: facts and sources that were left as the target has them.
        others: facts and sources that only the target has.
        state: state hash of source and target (SPEC-003 §11.3).
        content: hash of source and target over everything of what was copied.
    """

    facts: int
    tombstones: int
    sources: int
    outlines: int
    communities: int
    kept: int
    others: int
    state: tuple[str, str]
    content: tuple[str, str]

    @property
    def equal(self) -> bool:
        """Whether what was copied is the same on both sides, and all there is unless the target has more."""
        merged = bool(self.kept or self.others)
        return self.content[0] == self.content[1] and (merged or self.state[0] == self.state[1])


class StoreCopy:
    """Copies between two pairs of stores.

    Args:
        source, target: the stores.
        model: fingerprint of the embedding model that the target is searched with.
        advance: told how many facts were worked through.
    """

    def __init__(self, source: Stores, target: Stores, model: str, advance: Callable[[int], None]) -> None:
        self._source = source
        self._target = target
        self._model = model
        self._advance = advance

    async def plan(self, tenant_id: str, *, merge: bool) -> CopyPlan:
        """Compare both sides and return what to do; nothing is written.

        Raises:
            InvalidRequestError: INVALID_FIELD: it must not be done: an ingestion or erasure is unfinished, vectors are
                of another model, or the target has other facts and ``merge`` was not asked for.
        """
        before = await take_picture(self._source, tenant_id, self._advance)
        there = await take_picture(self._target, tenant_id, self._advance)
        kept_sources = {key for key, one in before.sources.items() if _source_later(one, there.sources.get(key))}
        kept = {
            key
            for key, one in before.facts.items()
            if (key in there.facts and _later(one, there.facts[key]))
            or (key not in there.facts and one.source_id in kept_sources)
        }
        plan = CopyPlan(
            tenant_id,
            before,
            there,
            facts=frozenset(
                key
                for key, one in before.facts.items()
                if key not in kept and (key not in there.facts or there.facts[key].digest != one.digest)
            ),
            sources=frozenset(key for key in before.sources.keys() - kept_sources if _differs(key, before, there)),
            kept=frozenset(kept | kept_sources),
            others=len(there.facts.keys() - before.facts) + len(there.sources.keys() - before.sources),
            communities=before.communities != there.communities and not (merge and there.clustering.epoch),
        )
        await self._check(plan, merge=merge)
        return plan

    async def carry_out(self, plan: CopyPlan) -> None:
        """Write what is missing: facts first, so that no source stands there whose facts do not."""
        if plan.facts:
            async for page in fact_pages(self._source.facts, plan.tenant_id):
                await self._write([fact for fact in page if fact.fact_id in plan.facts], plan)
                self._advance(len(page))
        for source_id in sorted(plan.sources):
            await self._write_source(plan.before.sources[source_id])
        if plan.communities:
            communities = [one async for one in communities_of(self._source.graph, plan.tenant_id)]
            await self._target.graph.replace_communities(plan.before.clustering, communities)

    async def prove(self, plan: CopyPlan) -> Proof:
        """Read both sides again, whole, and compare."""
        before = await take_picture(self._source, plan.tenant_id, self._advance)
        after = await take_picture(self._target, plan.tenant_id, self._advance)
        facts, sources = before.facts.keys() - plan.kept, before.sources.keys() - plan.kept  # ids are UUIDs
        communities = plan.communities or before.communities == after.communities
        return Proof(
            facts=len(before.facts),
            tombstones=sum(one.status is FactStatus.DELETED for one in before.facts.values()),
            sources=len(before.sources),
            outlines=len(before.outlines),
            communities=before.community_count,
            kept=len(plan.kept),
            others=plan.others,
            state=(before.state_hash(self._model), after.state_hash(self._model)),
            content=(
                before.content_hash(facts, sources, communities=communities),
                after.content_hash(facts, sources, communities=communities),
            ),
        )

    async def _write(self, facts: Sequence[FactRecord], plan: CopyPlan) -> None:
        for fact in facts:  # content that stands there is destroyed, not only replaced
            there = plan.there.facts.get(fact.fact_id)
            if fact.status is FactStatus.DELETED and there is not None and there.status is not FactStatus.DELETED:
                gone = [fact.fact_id]
                await self._target.facts.set_status(plan.tenant_id, gone, FactStatus.DELETED, at=fact.modified_at)
        if facts:
            await self._target.facts.upsert(facts)

    async def _write_source(self, source: SourceRecord) -> None:
        await self._target.graph.put_source(source)
        outlines = [one async for one in outlines_of(self._source.graph, source)]
        for outline in outlines:
            await self._target.graph.put_outline(outline, keep=max(1, len(outlines)))

    async def _check(self, plan: CopyPlan, *, merge: bool) -> None:
        before = plan.before
        if unfinished := [one.source_id for one in before.sources.values() if one.status in _UNFINISHED]:
            text = "an ingestion or erasure was broken off; start the services on it once, they finish or undo it: "
            raise _refused("FROM", text + _some(unfinished))
        alive = (one for key, one in before.facts.items() if key in plan.facts and one.status is not FactStatus.DELETED)
        if foreign := sorted({one.embedding_model for one in alive} - {self._model}):
            text = f"its facts have vectors of {', '.join(foreign)}, the target is searched with {self._model}: "
            raise _refused("FROM", text + "set the model of their ingestion, or ingest the documents again")
        if not merge and (plan.kept or plan.others):
            text = (
                f"tenant {plan.tenant_id} has {plan.others} other facts and sources there, and {len(plan.kept)} that "
            )
            text += "were erased or changed there later; nothing was written. --merge copies beside them, and leaves "
            raise _refused("TO", text + "those as they are")
        if merge:
            await self._check_uris(plan)

    async def _check_uris(self, plan: CopyPlan) -> None:
        taken = []
        for source_id in sorted(plan.sources):
            source = plan.before.sources[source_id]
            if source.status is SourceStatus.ACTIVE:
                known = await self._target.graph.find_source(plan.tenant_id, source.uri)
                if known is not None and known.source_id != source_id:
                    taken.append(source.uri)
        if taken:
            raise _refused("TO", f"other sources stand there under the same uris; erase one of each: {_some(taken)}")


def _later(one: FactMark, there: FactMark) -> bool:
    """Say whether a fact was erased, or changed later, in the target."""
    if FactStatus.DELETED in {one.status, there.status} and one.status is not there.status:
        return there.status is FactStatus.DELETED
    return there.modified_at > one.modified_at


def _source_later(one: SourceRecord, there: SourceRecord | None) -> bool:
    if there is None:
        return False
    if SourceStatus.ERASED in {one.status, there.status} and one.status is not there.status:
        return there.status is SourceStatus.ERASED
    return there.ingested_at > one.ingested_at


def _differs(source_id: str, before: Picture, there: Picture) -> bool:
    known = there.sources.get(source_id)
    if known is None or source_digest(known) != source_digest(before.sources[source_id]):
        return True
    return before.outlines_of({source_id}) != there.outlines_of({source_id})


def _refused(where: str, text: str) -> InvalidRequestError:
    return InvalidRequestError.of(FieldViolation(where, text))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
