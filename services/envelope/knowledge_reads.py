"""What reads knowledge, wired: the tenant's own and the shared namespaces, in every mode, at a known version."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.common.errors import ErrorReason, PermissionDeniedError
from services.common.ports.graph import KnowledgeGraph
from services.envelope.domain.namespaces import is_shared
from services.envelope.granted_states import GrantedStates
from services.envelope.outlines import Outlines
from services.envelope.readable_facts import ErasedSources, ReadableFacts
from services.envelope.readable_sources import ReadableSources
from services.envelope.retrieval import Retriever
from services.envelope.warm_facts import WarmFacts


@dataclass(frozen=True, slots=True)
class KnowledgeReads:
    """Everything that phase 1 and the reading RPCs need.

    Attributes:
        facts: what callers may read.
        sources: the documents of which they may read the names.
        retriever: searches it.
        states: at which version it stands.
        warm: what was retrieved a moment ago.
        erased: sources of which nothing is returned any more.
        outlines: how facts stand in their sources.
    """

    facts: ReadableFacts
    sources: ReadableSources
    retriever: Retriever
    states: GrantedStates
    warm: WarmFacts
    erased: ErasedSources
    outlines: Outlines

    def forget(self, tenant_id: str, source_id: str) -> None:
        """Return nothing of a source from now on, and drop what memory holds of its tenant (SPEC-003 §17.2)."""
        self.erased.add(tenant_id, source_id)
        self.retriever.forget(tenant_id)
        self.warm.forget(tenant_id)
        self.outlines.forget(tenant_id, source_id)

    async def refuse_shared_source(self, tenant_id: str, source_id: str, graph: KnowledgeGraph) -> None:
        """Refuse to write a source that the tenant may only read.

        Raises:
            PermissionDeniedError: NAMESPACE_READ_ONLY.
        """
        for namespace in self.facts.shared_with(tenant_id):
            if await graph.get_source(namespace, source_id) is not None:
                raise _read_only("source", source_id, namespace)

    async def refuse_shared_facts(self, tenant_id: str, fact_ids: Sequence[str]) -> None:
        """Refuse to write facts that the tenant may only read.

        Raises:
            PermissionDeniedError: NAMESPACE_READ_ONLY.
        """
        for fact in await self.facts.get(tenant_id, fact_ids) if self.facts.shared_with(tenant_id) else ():
            if is_shared(fact.tenant_id) and fact.tenant_id != tenant_id:
                raise _read_only("fact", fact.fact_id, fact.tenant_id)


def _read_only(what: str, name: str, namespace: str) -> PermissionDeniedError:
    return PermissionDeniedError(
        ErrorReason.NAMESPACE_READ_ONLY,
        f"{what} {name} stands in the shared namespace {namespace}, which tenants only read; ask the operator, who "
        "changes it with a credential of that namespace",
        namespace=namespace,
        name=name,
    )
