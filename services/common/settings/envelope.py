"""Settings of the envelope service (CRP-SPEC-003) and of the knowledge fabric it writes (CRP-SPEC-009 facts)."""

import re
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

_NAMESPACE: Final = re.compile(r"shared:[a-z0-9][a-z0-9._-]{0,62}")


class EnvelopeSettings(BaseModel):
    """Retrieval, packing, ingestion and clustering; what the specification fixes stands in the domain."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrieval_k: int = Field(default=50, ge=1, le=1000)
    """Nearest neighbours for each sub-query (SPEC-003 §5.2 step 1.2). Facts, 1-1000, default 50."""

    retrieval_k_pull: int = Field(default=100, ge=1, le=1000)
    """The same in the strategy pull. Facts, 1-1000, default 100."""

    retrieval_mode: Literal["dense", "text", "hybrid", "reranked", "late_interaction"] = "hybrid"
    """How facts are found when the request does not say (ADR 0066, ADR 0110): by vectors, by words (BM25), by both, or
    by both and a third list of the best, the cross-encoder's or late interaction's. Default hybrid."""

    retrieval_least_cosine: float = Field(default=-1.0, ge=-1.0, le=1.0)
    """Vectors less alike than this count as not found; where none is found, words are searched. Raw cosine, -1 to 1,
    default -1: everything counts."""

    fusion_depth: int = Field(default=100, ge=1, le=1000)
    """Facts of the vectors' and of the words' ranking that hybrid retrieval fuses, at least what is asked for. 1-1000,
    default 100."""

    hybrid_words_weight: float = Field(default=0.33, ge=0.0, le=1.0)
    """What the words' list weighs of hybrid's two; the vectors' has the rest (ADR 0110). 0-1, default 0.33."""

    hybrid_exact_weight: float = Field(default=0.3, ge=0.0, le=10.0)
    """What a fact gains that holds all identifiers, numbers and quoted phrases of the query as they are written, beside
    a score of at most 1 (ADR 0110). 0-10, default 0.3; 0 turns it off."""

    hybrid_candidates: int = Field(default=5, ge=0, le=1000)
    """Best facts of hybrid's order that are candidates of an envelope beside the nearest ones of a sub-query (SPEC-003
    §5.2 step 1.2, ADR 0110). 0-1000, default 5."""

    reranked_candidates: int = Field(default=5, ge=1, le=500)
    """Best facts of a sub-query that the cross-encoder scores anew; the others stay behind them. Of all sub-queries
    together at most 512. It changes what an envelope may hold only above retrieval_k. 1-500, default 5."""

    reranked_weight: float = Field(default=0.1, gt=0.0, le=1000.0)
    """What the cross-encoder's ranking weighs beside each of hybrid's two (ADR 0082). Above 0, at most 1000,
    default 0.1: the delivered model does not rank passages."""

    late_interaction_candidates: int = Field(default=50, ge=1, le=500)
    """The same for late interaction. 1-500, default 50."""

    late_interaction_weight: float = Field(default=0.2, gt=0.0, le=1000.0)
    """What late interaction's ranking weighs beside each of hybrid's two. Above 0, at most 1000, default 0.2."""

    rescoring_deadline_share: float = Field(default=0.5, gt=0.0, le=1.0)
    """Share of the time left to a call that ordering anew may take; beyond it the answer is hybrid's, with a warning.
    Above 0, at most 1, default 0.5."""

    token_cache_tenant_mib: int = Field(default=64, ge=0, le=65_536)
    """Memory for the token vectors of one tenant's facts (late interaction). MiB, default 64; 0 keeps none."""

    token_cache_total_mib: int = Field(default=256, ge=0, le=1_048_576)
    """The same for all tenants together. MiB, default 256."""

    validity_from_text: bool = True
    """Whether sentences and headings of a document may say from when to when its facts hold ("this policy is effective
    from 1 January 2026", ADR 0109); metadata and front matter always may. Default true."""

    max_sub_queries: int = Field(default=8, ge=1, le=64)
    """Most sub-queries of one query (SPEC-003 §5.2 step 1.1, ADR 0062); 1 turns decomposition off. 1-64, default 8."""

    warm_facts: int = Field(default=20_000, ge=0)
    """Facts of recent retrievals that are kept in memory (tier 2, SPEC-003 §5.2 step 1.4), over all tenants; one tenant
    takes a quarter at most. About 4 KB each, default 20,000; 0 searches every time."""

    shared_namespaces: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Read-only knowledge of the operator and the tenants that read it (CRP-SPEC-009), as JSON:
    ``{"shared:regulations": ["*"], "shared:clinics": ["acme"]}``. ``*`` = every tenant. Default: none."""

    neighbours_of: int = Field(default=2, ge=0, le=100)
    """Best facts of each sub-query whose neighbours in their section become candidates too, where the store keeps the
    order of a source's facts (ADR 0110). 0-100, default 2; 0 turns it off."""

    neighbours_each_side: int = Field(default=1, ge=1, le=10)
    """Neighbours before such a fact, and as many behind it. 1-10, default 1."""

    expansion_communities: int = Field(default=8, ge=0, le=100)
    """Communities that one build looks into again (SPEC-003 §5.2 step 1.3). 0-100, default 8; 0 turns it off."""

    expansion_slack_cosine: float = Field(default=0.10, ge=0.0, le=1.0)
    """How far below the last hit's cosine a fact still counts as within retrieval distance. 0-1, default 0.10."""

    freshness_horizon_days: float = Field(default=365.0, gt=0.0)
    """Age at which freshness reaches 0 (SPEC-003 §6.4). Days, > 0, default 365; 90 for temporal queries."""

    relevance_weight: float = Field(default=0.50, ge=0.0, le=1.0)
    """Weight of relevance in the composite score (SPEC-003 §6.2). 0-1, default 0.50."""

    importance_factor: float = Field(default=0.25, ge=0.0, le=1.0)
    """Weight of importance in the composite score (SPEC-003 §6.2). 0-1, default 0.25."""

    freshness_weight: float = Field(default=0.15, ge=0.0, le=1.0)
    """Weight of freshness in the composite score (SPEC-003 §6.2). 0-1, default 0.15."""

    diversity_weight: float = Field(default=0.10, ge=0.0, le=1.0)
    """Weight of the diversity bonus in the composite score (SPEC-003 §6.2). 0-1, default 0.10."""

    compare_duplicate_values: bool = True
    """Whether facts above 0.95 (SPEC-003 §6.6) are kept when they state different values (ADR 0063). Default on."""

    expected_response_tokens: int = Field(default=2048, ge=1)
    """Tokens reserved for the reply when the request names none (SPEC-003 §7.2). Default 2048."""

    safety_margin_tokens: int = Field(default=512, ge=0)
    """Tokens kept free for tokenizer variance (SPEC-003 §7.2, §10.1). Default 512."""

    fact_overhead_tokens: int = Field(default=4, ge=0, le=64)
    """Tokens that numbering a fact in the prompt costs, counted into its token_count. 0-64, default 4."""

    tokenizer_model: str = Field(default="gpt-4o", min_length=1)
    """Model whose tokenizer measures chunks at ingestion. Default gpt-4o."""

    etag_salt: bool = False
    """Whether the session id is hashed into ETags, so that sessions cannot be compared (§16.2). Default off."""

    remembered_builds: int = Field(default=4096, ge=0)
    """Builds whose state is kept in memory to answer If-Match (SPEC-003 §11); the oldest go first. Default 4096."""

    max_query_chars: int = Field(default=32_768, ge=1)
    """Longest query. Unicode code points, default 32,768."""

    max_document_bytes: int = Field(default=32 * 1024 * 1024, ge=1)
    """Largest document. Bytes, default 32 MiB; the server's message limit applies as well."""

    max_document_pages: int = Field(default=2_000, ge=1)
    """Most pages of a PDF. Default 2,000."""

    max_document_chars: int = Field(default=20_000_000, ge=1)
    """Most text that a document may unfold to. Unicode code points, default 20,000,000."""

    max_facts_per_source: int = Field(default=50_000, ge=1)
    """Most facts of one document. Default 50,000."""

    embedding_batch: int = Field(default=64, ge=1, le=1024)
    """Facts embedded and searched for entities in one call during ingestion. 1-1024, default 64."""

    compare_with_other_sources: bool = True
    """Whether a document's facts are compared with those of the tenant's other sources while it is ingested, for the
    report: one search for each new fact. Default on."""

    suspected_facts: Literal["report", "quarantine", "mask"] = "report"
    """What becomes of facts that speak to a language model (SPEC-003 §16, ADR 0125, ADR 0145): report, they are told of
    and written as any other; quarantine, they are written quarantined until somebody restores them; mask, they are
    written without the sentences that do, and quarantined where nothing else is left. Default report."""

    suspected_in_envelopes: Literal["off", "report", "leave_out", "mask"] = "off"
    """What becomes of candidates of an envelope that speak to a language model (SPEC-003 §16, ADR 0125, ADR 0145): off,
    they are not looked for; report, those that are packed are told of; leave_out, they are not packed; mask, they are
    packed without the sentences that do, unless nothing else is left. Default off: ingestion tells of them."""

    recluster_after_facts: int = Field(default=50, ge=0)
    """New facts after which communities are computed again (CRP-SPEC-009). Default 50; 0 = only on demand."""

    recluster_growth_ratio: float = Field(default=0.05, ge=0.0, le=1.0)
    """Share of the clustered facts that must be new as well before all communities are computed again, so that bulk
    loads stay cheap; large tenants' new facts join communities before. 0-1, default 0.05."""

    recluster_after_days: float = Field(default=7.0, ge=0.0)
    """Age at which communities are computed again, whatever has changed (CRP-SPEC-009). Days, default 7; 0 = never."""

    cluster_apart_above: int = Field(default=5_000, ge=0)
    """Facts of one tenant above which communities are computed beside the calls, in a process of low priority, instead
    of in the ingestion that makes it due (ADR 0069). Default 5,000."""

    max_clustered_facts: int = Field(default=200_000, ge=1)
    """Most facts of one tenant that are clustered. The first time takes some 90 seconds of one core for 100,000 facts
    and grows with the square; later ones compare what is new. Default 200,000."""

    shared_store: bool = False
    """Whether other processes write the same stores: a store that cannot tell what changed is then read anew for every
    build (ADR 0068), and embedded stores are not kept for one process alone (ADR 0090). Default off: a second server on
    one data directory is refused."""

    @field_validator("shared_namespaces")
    @classmethod
    def _namespaces_are_named(cls, grants: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for namespace, tenants in grants.items():
            if not _NAMESPACE.fullmatch(namespace):
                raise ValueError(
                    f"{namespace!r} is no shared namespace: it must be shared: and 1 to 63 of a-z, 0-9, dot, dash, "
                    "underscore, the first a letter or digit"
                )
            if not all(tenants) or any(tenant.startswith("shared:") for tenant in tenants):
                raise ValueError(f"{namespace} must be granted to tenant ids or *, not to nothing or to a namespace")
        return grants
