"""What a request must hold before it is converted; all violations at once.

What is checked here would otherwise end as a wrong verdict: a vector that is not of length 1 makes any similarity, a
window of another session makes any contradiction. Texts over a limit are refused whole, never cut.
"""

import re
from typing import Final

import numpy as np
from crp.common.v1 import regulation_pb2, taxonomy_pb2
from crp.dpe.v1 import constraint_pb2, opinion_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.errors import ErrorReason, LimitExceededError
from services.common.questions.following import MOST_EARLIER
from services.common.regulation import MAX_EVIDENCE, MAX_EVIDENCE_CHARS, MAX_PURPOSE_CHARS, MAX_SECTOR_CHARS
from services.common.rpc.validation import Violations, require_member, require_members
from services.common.settings.dpe import DpeSettings
from services.dpe.domain.regulation.system import Domain, domain_of

_MAX_ID_CHARS = 64
_ID = f"must hold 1 to {_MAX_ID_CHARS} characters"
_MAX_QUERY_CHARS = 100_000
_MAX_SUB_QUERIES = 100
_MAX_SUB_QUERY_CHARS = 32_768
"""As long as the longest query that the gateway takes: one sentence may be the whole of it."""
_PROMPTS_PER_RESPONSE = 4
"""A prompt may be so many times as long as an answer: it holds the envelope."""
_FLOAT_BYTES = 4
_UNIT_TOLERANCE = 0.01
"""Of a vector's length from 1; float16 on the way costs less than a tenth of it."""
_VECTOR = "must be a unit vector of little-endian float32: finite, of length 1"
_MAX_CONSTRAINTS: Final = 200
_MAX_CONSTRAINT_CHARS: Final = 2_000
_MAX_CONSTRAINT_SPANS: Final = 64
_MAX_SOURCE_CHARS: Final = 4_096
"""More than any title, URI or path of headings that the knowledge base takes."""
_MAX_WHY_CHARS: Final = 1_000
_MAX_TITLE_CHARS: Final = 1_000
_MAX_DOCUMENTS: Final = 100
_MAX_OPINION_S: Final = 3_600
_NANOS: Final = 1_000_000_000
_DETECTOR: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_TRAIL_ID: Final = re.compile(r"(crp_trail_[A-Za-z0-9]{16,32})?")


def validate_analyze(request: pb.AnalyzeRequest, settings: DpeSettings, prefix: str = "") -> None:
    """Refuse a malformed AnalyzeRequest.

    Args:
        request: the request.
        settings: limits on texts and on numbers of facts and windows.
        prefix: path of the message inside an outer request, e.g. ``analysis.``.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE, the answer is too long.
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    require_size(prefix + "response_text", request.response_text, settings.max_response_chars)
    found = Violations()
    for name in ("session_id", "window_id"):
        value = getattr(request, name)
        found.require(0 < len(value) <= _MAX_ID_CHARS, prefix + name, _ID)
    require_member(found, prefix + "incomplete_risk_level", request.incomplete_risk_level, taxonomy_pb2.RiskLevel)
    found.require(request.window_number >= 1, prefix + "window_number", "must be 1 or more")
    found.require(request.query.strip(), prefix + "query", "must not be empty")
    found.require(
        len(request.query) <= _MAX_QUERY_CHARS, prefix + "query", f"must hold at most {_MAX_QUERY_CHARS} characters"
    )
    found.require(
        request.HasField("envelope"), prefix + "envelope", "is required; send an empty one if there are no facts"
    )
    found.require(
        len(request.sub_queries) <= _MAX_SUB_QUERIES, prefix + "sub_queries", f"must be at most {_MAX_SUB_QUERIES}"
    )
    for index, part in enumerate(request.sub_queries[:_MAX_SUB_QUERIES]):
        _chars(found, f"{prefix}sub_queries[{index}]", part, _MAX_SUB_QUERY_CHARS)
    found.require(len(request.leans_on) <= MOST_EARLIER, prefix + "leans_on", f"must be at most {MOST_EARLIER}")
    for index, question in enumerate(request.leans_on[:MOST_EARLIER]):
        _chars(found, f"{prefix}leans_on[{index}]", question, _MAX_QUERY_CHARS)
    _chars(found, prefix + "prompt", request.prompt, _PROMPTS_PER_RESPONSE * settings.max_response_chars)
    require_member(found, prefix + "grounding_mode", request.grounding_mode, taxonomy_pb2.GroundingMode)
    _ai_system(request, prefix, found)
    _opinion_limits(request, prefix, found)
    _facts(request, settings, prefix, found)
    _prior_windows(request, settings, prefix, found)
    if request.HasField("constraint_verdicts"):
        _constraint_verdicts(request, f"{prefix}constraint_verdicts.verdicts", found)
    found.raise_if_any()


def _opinion_limits(request: pb.AnalyzeRequest | pb.CheckRequest, prefix: str, found: Violations) -> None:
    if request.HasField("opinion_limits"):
        path, asked = f"{prefix}opinion_limits", request.opinion_limits
        require_member(found, f"{path}.scope", asked.scope, opinion_pb2.OpinionScope)
        held = asked.max_time
        usable = 0 <= held.seconds <= _MAX_OPINION_S and 0 <= held.nanos < _NANOS
        found.require(usable, f"{path}.max_time", f"must be 0 to {_MAX_OPINION_S} seconds")


def validate_segment(request: pb.SegmentClaimsRequest, settings: DpeSettings) -> None:
    """Refuse a malformed SegmentClaimsRequest. Raises as ``validate_analyze``."""
    require_size("text", request.text, settings.max_response_chars)
    found = Violations()
    found.require(request.text.strip(), "text", "must not be empty")
    found.raise_if_any()


def validate_summary(request: pb.VerifySummaryRequest, settings: DpeSettings) -> None:
    """Refuse a malformed VerifySummaryRequest. Raises as ``validate_analyze``."""
    found = Violations()
    for name in ("summary", "original"):
        require_size(name, getattr(request, name), settings.max_response_chars)
        found.require(getattr(request, name).strip(), name, "must not be empty")
    if len(request.grounded_spans) > settings.max_claims:
        found.add("grounded_spans", f"must be at most {settings.max_claims}")
    else:
        for index, span in enumerate(request.grounded_spans):
            inside = span.start < span.end <= len(request.original)
            found.require(inside, f"grounded_spans[{index}]", "must be a stretch inside original, start before end")
    found.raise_if_any()


def validate_check(request: pb.CheckRequest, settings: DpeSettings) -> None:
    """Refuse a malformed CheckRequest. Raises as ``validate_analyze``."""
    limit = settings.max_response_chars
    require_size("answer", request.answer, limit)
    found = Violations()
    found.require(request.answer.strip(), "answer", "must not be empty")
    _chars(found, "question", request.question, _MAX_QUERY_CHARS)
    require_member(found, "grounding_mode", request.grounding_mode, taxonomy_pb2.GroundingMode)
    _opinion_limits(request, "", found)
    if not request.facts and not request.documents and not request.earlier_answers:
        text = "must not be empty when there are neither documents nor earlier_answers: a check needs something to hold"
        found.add("facts", f"{text} the answer against")
    found.require(len(request.facts) <= settings.max_facts, "facts", f"must be at most {settings.max_facts}")
    for index, fact in enumerate(request.facts[: settings.max_facts]):
        found.require(fact.content.strip(), f"facts[{index}].content", "must not be empty")
        _chars(found, f"facts[{index}].content", fact.content, limit)
        _chars(found, f"facts[{index}].title", fact.title, _MAX_TITLE_CHARS)
    found.require(len(request.documents) <= _MAX_DOCUMENTS, "documents", f"must be at most {_MAX_DOCUMENTS}")
    for index, document in enumerate(request.documents[:_MAX_DOCUMENTS]):
        named = 0 < len(document.name) <= _MAX_TITLE_CHARS
        found.require(named, f"documents[{index}].name", f"must hold 1 to {_MAX_TITLE_CHARS} characters")
        found.require(document.content, f"documents[{index}].content", "must not be empty")
    most = settings.max_prior_windows
    found.require(len(request.earlier_answers) <= most, "earlier_answers", f"must be at most {most}")
    for index, text in enumerate(request.earlier_answers[:most]):
        found.require(text.strip(), f"earlier_answers[{index}]", "must not be empty")
        _chars(found, f"earlier_answers[{index}]", text, limit)
    found.raise_if_any()


def require_size(field: str, text: str, limit: int) -> None:
    """Refuse a text that is too long to be analysed.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE.
    """
    if len(text) > limit:
        raise LimitExceededError(
            ErrorReason.MESSAGE_TOO_LARGE,
            f"{field} holds {len(text)} characters, the limit is {limit}; split the text into windows.",
            field=field,
            actual=str(len(text)),
            limit=str(limit),
            unit="characters",
        )


def _chars(found: Violations, field: str, text: str, limit: int) -> None:
    found.require(len(text) <= limit, field, f"must hold at most {limit} characters")


def _ai_system(request: pb.AnalyzeRequest, prefix: str, found: Violations) -> None:
    name = prefix + "ai_system"
    text = "must be empty or crp_trail_ and 16 to 32 letters and digits"
    found.require(_TRAIL_ID.fullmatch(request.audit_trail_id), prefix + "audit_trail_id", text)
    found.require(
        len(request.ai_system_id) <= _MAX_ID_CHARS,
        prefix + "ai_system_id",
        f"must hold at most {_MAX_ID_CHARS} characters",
    )
    if not request.HasField("ai_system"):
        return
    system = request.ai_system
    found.require(request.ai_system_id, prefix + "ai_system_id", "must not be empty when ai_system is given")
    domains = f"must be one of {', '.join(Domain)} (CRP-SPEC-005 §14.2)"
    found.require(domain_of(system.domain) is not None, f"{name}.domain", domains)
    require_members(found, f"{name}.annex_iii_areas", system.annex_iii_areas, regulation_pb2.AnnexIiiArea)
    require_members(
        found, f"{name}.prohibited_practices", system.prohibited_practices, regulation_pb2.ProhibitedPractice
    )
    require_member(found, f"{name}.role", system.role, regulation_pb2.AiActRole)
    require_member(found, f"{name}.regulated_sector", system.regulated_sector, regulation_pb2.RegulatedSector)
    for field, most in (("sector", MAX_SECTOR_CHARS), ("intended_purpose", MAX_PURPOSE_CHARS)):
        found.require(len(getattr(system, field)) <= most, f"{name}.{field}", f"must hold at most {most} characters")
    evidence = system.iso_42001_evidence
    sizes = f"must hold at most {MAX_EVIDENCE} entries of at most {MAX_EVIDENCE_CHARS} characters"
    fits = len(evidence) <= MAX_EVIDENCE and all(len(text) <= MAX_EVIDENCE_CHARS for text in evidence.values())
    found.require(fits, f"{name}.iso_42001_evidence", sizes)


def _facts(request: pb.AnalyzeRequest, settings: DpeSettings, prefix: str, found: Violations) -> None:
    facts, path = request.envelope.facts, prefix + "envelope.facts"
    if len(facts) > settings.max_facts:
        found.add(path, f"must be at most {settings.max_facts}")
        return
    seen: set[str] = set()
    for index, fact in enumerate(facts):
        found.require(fact.fact_id, f"{path}[{index}].fact_id", "must not be empty")
        found.require(fact.fact_id not in seen, f"{path}[{index}].fact_id", "must be unique in the envelope")
        found.require(0.0 <= fact.importance_weight <= 1.0, f"{path}[{index}].importance_weight", "must be 0.0 to 1.0")
        _chars(found, f"{path}[{index}].content", fact.content, settings.max_response_chars)
        for name in ("source_id", "uri", "title", "section"):
            _chars(found, f"{path}[{index}].source.{name}", getattr(fact.source, name), _MAX_SOURCE_CHARS)
        _entities(fact, f"{path}[{index}]", found)
        seen.add(fact.fact_id)
    _vectors(request.envelope, path, found)


def _entities(fact: envelope_pb2.EnvelopeFact, path: str, found: Violations) -> None:
    for number, entity in enumerate(fact.entities):
        inside = entity.span.start < entity.span.end <= len(fact.content)
        found.require(inside, f"{path}.entities[{number}].span", "must be a stretch inside content, start before end")


def _vectors(envelope: envelope_pb2.ContextEnvelope, path: str, found: Violations) -> None:
    """Note every vector that is none, or not as long as the first: one model made them all."""
    expected = 0
    for index, fact in enumerate(envelope.facts):
        size = len(fact.embedding)
        if not size:
            continue
        field = f"{path}[{index}].embedding"
        expected = expected or size
        if size % _FLOAT_BYTES or not _is_unit(fact.embedding):
            found.add(field, _VECTOR)
        elif size != expected:
            found.add(field, "must have as many dimensions as the envelope's other vectors")


def _is_unit(embedding: bytes) -> bool:
    length = float(np.linalg.norm(np.frombuffer(embedding, dtype="<f4").astype(np.float64)))
    return abs(length - 1.0) <= _UNIT_TOLERANCE  # false for NaN and infinity


def _prior_windows(request: pb.AnalyzeRequest, settings: DpeSettings, prefix: str, found: Violations) -> None:
    windows, path = request.prior_windows, prefix + "prior_windows"
    if len(windows) > settings.max_prior_windows:
        found.add(path, f"must be at most {settings.max_prior_windows}")
        return
    seen = {request.window_id}
    for index, window in enumerate(windows):
        field = f"{path}[{index}]"
        found.require(0 < len(window.window_id) <= _MAX_ID_CHARS, f"{field}.window_id", _ID)
        unseen = not window.window_id or window.window_id not in seen
        found.require(unseen, f"{field}.window_id", "must be unique, and not the analysed window's")
        found.require(
            1 <= window.window_number < request.window_number,
            f"{field}.window_number",
            "must be 1 or more and smaller than window_number",
        )
        own = window.session_id in {"", request.session_id}
        found.require(own, f"{field}.session_id", "must be empty or the request's session_id")
        _chars(found, f"{field}.text", window.text, settings.max_response_chars)
        seen.add(window.window_id)


def _constraint_verdicts(request: pb.AnalyzeRequest, path: str, found: Violations) -> None:
    verdicts = request.constraint_verdicts.verdicts
    if not 0 < len(verdicts) <= _MAX_CONSTRAINTS:
        found.add(path, f"must be 1 to {_MAX_CONSTRAINTS}; leave constraint_verdicts away where there is none")
        return
    seen: set[str] = set()
    for index, verdict in enumerate(verdicts):
        name = f"{path}[{index}]"
        found.require(0 < len(verdict.constraint_id) <= _MAX_ID_CHARS, f"{name}.constraint_id", _ID)
        unseen = not verdict.constraint_id or verdict.constraint_id not in seen
        found.require(unseen, f"{name}.constraint_id", "must be unique in the request")
        words = 0 < len(verdict.nl_text) <= _MAX_CONSTRAINT_CHARS
        found.require(words, f"{name}.nl_text", f"must hold 1 to {_MAX_CONSTRAINT_CHARS} characters")
        _chars(found, f"{name}.why", verdict.why, _MAX_WHY_CHARS)
        text = "must be a lower-case letter, then at most 63 of them, digits or underscores"
        found.require(_DETECTOR.fullmatch(verdict.detector), f"{name}.detector", text)
        _constraint_state(request, verdict, name, found)
        seen.add(verdict.constraint_id)


def _constraint_state(
    request: pb.AnalyzeRequest, verdict: constraint_pb2.ConstraintVerdict, name: str, found: Violations
) -> None:
    """Note a state that is none, and what does not go with it."""
    states = {constraint_pb2.CONSTRAINT_STATE_HELD, constraint_pb2.CONSTRAINT_STATE_VIOLATED}
    is_unknown = verdict.state == constraint_pb2.CONSTRAINT_STATE_UNKNOWN
    known = is_unknown or verdict.state in states
    found.require(known, f"{name}.state", "must be one of HELD, VIOLATED, UNKNOWN")
    found.require(verdict.why.strip() or not is_unknown, f"{name}.why", "must say why the state is UNKNOWN")
    is_violated = verdict.state == constraint_pb2.CONSTRAINT_STATE_VIOLATED
    if len(verdict.spans) > _MAX_CONSTRAINT_SPANS:
        found.add(f"{name}.spans", f"must be at most {_MAX_CONSTRAINT_SPANS}")
        return
    found.require(is_violated or not verdict.spans, f"{name}.spans", "must be empty unless the state is VIOLATED")
    for number, span in enumerate(verdict.spans):
        inside = span.start < span.end <= len(request.response_text)
        text = "must be a stretch inside response_text, start before end"
        found.require(inside, f"{name}.spans[{number}]", text)
