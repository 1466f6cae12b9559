"""AnalyzeRequest to domain."""

from datetime import UTC
from typing import Final

import numpy as np
from crp.ckf.v1 import ckf_pb2
from crp.common.v1 import taxonomy_pb2, text_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.days import last_day
from services.common.envelope_request import TOOL_URI
from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.text_types import Span
from services.common.rpc import enums
from services.common.taxonomy import GroundingMode
from services.common.tool_facts import disputed
from services.dpe.convert.constraints import constraint_verdicts
from services.dpe.convert.opinions import asked_limits
from services.dpe.convert.regulatory import ai_system
from services.dpe.domain.analysis import AnalysisInput, Disagreement
from services.dpe.domain.evidence import is_evidence
from services.dpe.domain.facts import EnvelopeFact, FactSource
from services.dpe.domain.prior_texts import PriorWindow

MAX_DISAGREEMENTS: Final = 20
"""As many as an envelope tells."""


def analysis_input(request: pb.AnalyzeRequest) -> AnalysisInput:
    """Return the domain's view of a validated request."""
    envelope = request.envelope
    untrue = _disputed(envelope)
    return AnalysisInput(
        session_id=request.session_id,
        window_id=request.window_id,
        window_number=request.window_number,
        query=request.query,
        answer=request.response_text,
        facts=tuple(
            _fact(fact)
            for fact in envelope.facts
            if is_evidence(fact.carried_from_window_id, fact.transfer_type)  # ADR 0023
            and fact.fact_id not in untrue
        ),
        disputed=tuple(_fact(fact) for fact in envelope.facts if fact.fact_id in untrue),
        grounding_mode=grounding_mode(request.grounding_mode, envelope.grounding_mode),
        prior_windows=tuple(
            PriorWindow(window.window_id, window.window_number, window.text, window.is_summary)
            for window in sorted(request.prior_windows, key=lambda window: (window.window_number, window.window_id))
        ),
        sub_queries=tuple(part for part in request.sub_queries if part.strip()),
        loop_depth=request.loop_depth,
        ai_system_id=request.ai_system_id,
        ai_system=ai_system(request.ai_system) if request.HasField("ai_system") else None,
        audit_trail_id=request.audit_trail_id,
        envelope_etag=envelope.etag,
        embedding_model=envelope.embedding_model,
        windows_remaining=request.windows_remaining,
        cache_no_cache=request.cache_no_cache,
        prompt=request.prompt,
        cache_no_store=request.cache_no_store,
        constraint_verdicts=constraint_verdicts(request),
        incomplete_level=enums.RISK_LEVELS.get(request.incomplete_risk_level),
        stands_alone=request.stands_alone,
        leans_on=tuple(question for question in request.leans_on if question.strip()),
        disagreements=tuple(
            Disagreement(tuple((value.fact_id, value.text) for value in conflict.values))
            for conflict in envelope.conflicts[:MAX_DISAGREEMENTS]
        ),
        opinion_limits=asked_limits(request),
    )


def _disputed(envelope: envelope_pb2.ContextEnvelope) -> frozenset[str]:
    """Return the facts of tools that a document contradicts: they bear nothing out (ADR 0161)."""
    tools = {fact.fact_id for fact in envelope.facts if fact.source.uri.startswith(TOOL_URI)}
    if not tools:
        return frozenset()
    stored = {fact.fact_id for fact in envelope.facts if not fact.carried_from_window_id} - tools
    conflicts = ([(value.fact_id, value.text) for value in each.values] for each in envelope.conflicts)
    return disputed(conflicts, tools, stored)


def grounding_mode(*asked: "taxonomy_pb2.GroundingMode") -> GroundingMode:
    """Return the first mode that is given, CONTEXT_PREFERRED where none is (ADR 0015)."""
    modes = enums.GROUNDING_MODES
    return next((modes[mode] for mode in asked if mode in modes), GroundingMode.CONTEXT_PREFERRED)


def grounded_spans(request: pb.VerifySummaryRequest) -> tuple[Span, ...]:
    """Return the grounded stretches of the original of a validated request."""
    return tuple(Span(span.start, span.end) for span in request.grounded_spans)


def _fact(fact: envelope_pb2.EnvelopeFact) -> EnvelopeFact:
    is_stale = fact.status == ckf_pb2.FACT_STATUS_STALE
    vector = np.frombuffer(fact.embedding, dtype="<f4").astype(np.float32) if fact.embedding else None
    return EnvelopeFact(
        fact.fact_id,
        fact.content,
        fact.importance_weight,
        tuple(read_entity(entity, fact.content) for entity in fact.entities) or None,
        vector,
        fact.source_id,
        superseded=fact.stale_reason in _OUT_OF_TIME or (is_stale and not fact.stale_reason),
        expired=fact.stale_reason == ckf_pb2.STALE_REASON_EXPIRED,
        time=_time(fact) if is_stale else "",
        ended_at=fact.ended_at.ToDatetime(UTC) if fact.HasField("ended_at") else None,
        stale_reason=ckf_pb2.StaleReason.Name(fact.stale_reason).removeprefix(_STALE) if fact.stale_reason else "",
        source=_source(fact.source) if fact.HasField("source") else None,
    )


_STALE: Final = "STALE_REASON_"
_OUT_OF_TIME: Final = frozenset(
    {
        ckf_pb2.STALE_REASON_SUPERSEDED,
        ckf_pb2.STALE_REASON_NO_LONGER_VALID,
        ckf_pb2.STALE_REASON_NOT_YET_VALID,
    }
)


def _time(fact: envelope_pb2.EnvelopeFact) -> str:
    """Return when a fact that does not hold now held, or will, as a sentence goes on after "that"."""
    if fact.stale_reason == ckf_pb2.STALE_REASON_EXPIRED:
        return "is past its time to live"
    if fact.stale_reason == ckf_pb2.STALE_REASON_NOT_YET_VALID:
        return f"is not valid before {fact.valid_from.ToDatetime():%Y-%m-%d}"
    last = f" until {last_day(fact.ended_at.ToDatetime()):%Y-%m-%d}" if fact.HasField("ended_at") else " before"
    why = "was valid" if fact.stale_reason == ckf_pb2.STALE_REASON_NO_LONGER_VALID else "stood there"
    return f"{why}{last} and does not hold now"


def _source(source: text_pb2.FactSource) -> FactSource:
    return FactSource(source.source_id, source.uri, source.title, source.section, source.page)


def read_entity(entity: text_pb2.Entity, content: str) -> Entity:
    """Return the entity as it stands in the content; what the message says of its text is not relied on."""
    name = text_pb2.EntityKind.Name(entity.kind).removeprefix("ENTITY_KIND_")
    kind = EntityKind(name) if name in EntityKind.__members__ else EntityKind.OTHER
    start, end = entity.span.start, entity.span.end
    return Entity(kind, content[start:end], start, end)
