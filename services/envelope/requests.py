"""What the apps are asked and what they answer, in domain terms; the wire's messages are converted to these."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from services.common.ports.graph import SourceRecord
from services.common.ports.receipts import Receipt
from services.common.ports.tokens import ModelProfile
from services.common.taxonomy import DispatchStrategy, RetrievalMode
from services.envelope.domain.candidates import RankedFact
from services.envelope.domain.conflicts import Conflict
from services.envelope.domain.importance import SourceType
from services.envelope.domain.ingestion_report import DocumentReport
from services.envelope.domain.instructions import SuspectedFact
from services.envelope.domain.quality_gap import QualityGap
from services.envelope.domain.quality_tier import TierVerdict

OutcomeT = TypeVar("OutcomeT")


@dataclass(frozen=True, slots=True)
class WriteTicket(Generic[OutcomeT]):
    """Makes a write idempotent: what the receipt needs that the app does not know.

    Attributes:
        encode: serialises the outcome as the RPC's response.
    """

    rpc: str
    request_id: str
    body_hash: str
    encode: Callable[[OutcomeT], bytes]

    def receipt(self, tenant_id: str, outcome: OutcomeT, at: datetime) -> Receipt:
        """Return the receipt to store with the write."""
        return Receipt(tenant_id, self.rpc, self.request_id, self.body_hash, self.encode(outcome), at)


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document to ingest.

    Attributes:
        media_type: as declared; empty = detect.
        source_type: ``None`` = that of the version before, or INTERNAL.
        importance_weight: ``None`` = by the source's type.
        supersedes_uris: documents that it takes the place of, for example under its former name: their facts end.
    """

    uri: str
    title: str
    media_type: str
    source_type: SourceType | None
    content: bytes = field(repr=False)
    metadata: Mapping[str, str] = field(default_factory=dict)
    importance_weight: float | None = None
    ttl: timedelta | None = None
    supersedes_uris: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactEntry:
    """A fact that the caller has cut."""

    content: str = field(repr=False)
    source_location: str = ""
    importance_weight: float | None = None
    ttl: timedelta | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    supersedes_fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactEntries:
    """Facts to add to one source."""

    uri: str
    title: str
    source_type: SourceType
    facts: tuple[FactEntry, ...]


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """What an ingestion did; ``fact_ids`` is in the order of the input, ``created_fact_ids`` those that are new.

    ``report`` says how the document was read; ``None`` where none was.
    """

    source: SourceRecord
    facts_created: int
    facts_stale: int
    facts_unchanged: int
    unchanged: bool = False
    warnings: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    created_fact_ids: tuple[str, ...] = ()
    report: DocumentReport | None = None


@dataclass(frozen=True, slots=True)
class EraseOutcome:
    """What an erasure did."""

    source: SourceRecord
    facts_erased: int


@dataclass(frozen=True, slots=True)
class ClusteringOutcome:
    """What a clustering gave."""

    epoch: int
    community_count: int
    fact_count: int
    unclustered_fact_count: int


@dataclass(frozen=True, slots=True)
class EnvelopeSummary:
    """Everything about an envelope but its facts: what outlives the build to answer If-Match."""

    total_facts_available: int
    total_facts_included: int
    token_count: int
    token_budget: int
    saturation: float
    verdict: TierVerdict
    etag: str
    created_at: datetime
    communities: tuple[str, ...]
    memory_tier_hit: int
    ckf_hits: int
    knowledge_age: timedelta | None
    state_hash: str
    embedding_model: str
    retrieval_mode: RetrievalMode = RetrievalMode.DENSE
    shared_namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuiltEnvelope:
    """The outcome of a build; with ``not_modified`` there are no facts and no deferred facts.

    Attributes:
        counting: the model's profile: whose tokenizer counted, and how exactly.
        gap: why the tier is not accepted; ``None`` when it is.
        recommended_strategy: what may reach an accepted tier, where the caller's policy allows an upgrade.
        stands_until: when it would come out otherwise although nothing was written; ``None`` = never.
        sources: the documents of the facts, by id; for the reader alone, the build does not depend on them.
        conflicts: current facts of it that give different values for the same thing (ADR 0109).
        suspected: candidates that speak to a model, and what was done with them (ADR 0145).
    """

    summary: EnvelopeSummary
    counting: ModelProfile
    facts: tuple[RankedFact, ...]
    deferred: tuple[RankedFact, ...]
    grounding_instruction: str
    sub_queries: tuple[str, ...]
    cache_status: str
    warnings: tuple[str, ...]
    continuation_recommended: bool
    reuse_recommended: bool
    gap: QualityGap | None = None
    recommended_strategy: DispatchStrategy | None = None
    not_modified: bool = False
    stands_until: datetime | None = None
    sources: Mapping[str, SourceRecord] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    suspected: tuple[SuspectedFact, ...] = ()

    @property
    def accepted(self) -> bool:
        """Say whether the caller takes the tier (SPEC-003 §8.4)."""
        return self.gap is None
