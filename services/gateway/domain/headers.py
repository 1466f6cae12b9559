"""The CRP response headers of a dispatch, from typed values (CRP-SPEC-002 facts; SPEC-003 §15, -004 §14, -005 §20).

A header whose value was not computed is absent; nothing is defaulted. No text of the model, the query or a fact enters
a value: labels and sub-queries are cut down to slugs of ``[a-z0-9-]``, everything else is a number, an enum, an id or a
digest. ``Header`` itself refuses anything but printable ASCII, so a value can never end a line.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from services.common.taxonomy import PROTOCOL_VERSION, DispatchStrategy, QualityTier, RepetitionLevel
from services.gateway.domain.agent_state import AgentState
from services.gateway.domain.vocabulary import OversightMode
from services.gateway.domain.window import CommittedWindow, EnvelopeSummary, ReportSummary, WindowPlace

STREAM_MODE: Final = "CRP-Stream-Safety-Mode"
_PRINTABLE: Final = re.compile(r"[\x20-\x7e]+\Z")
_SLUG_LENGTH: Final = 48


@dataclass(frozen=True, slots=True)
class Header:
    """One response header; the value is printable ASCII.

    Raises:
        ValueError: an empty value, or a character that is not printable ASCII.
    """

    name: str
    value: str

    def __post_init__(self) -> None:
        if not _PRINTABLE.match(self.value):
            raise ValueError(f"{self.name} holds a character that a header must not hold")


@dataclass(frozen=True, slots=True)
class PolicyOutcome:
    """What the policy in force is and what it found, as the headers state it."""

    applied: str
    oversight: OversightMode
    violated: tuple[str, ...] = ()
    retry_after: str = ""


@dataclass(frozen=True, slots=True)
class HeaderInputs:
    """Everything that a path may know; what it does not know is ``None`` or empty and gives no header.

    ``eu_ai_act_class`` is said where there is no report that says it, ``safety_budget`` where no window was committed.
    ``strategy`` is ``None`` where nothing was dispatched: an answer of somebody else's was checked. ``stream_mode`` is
    the word for what of a stream waited, ``agent`` how far a strategy came that works in steps.
    """

    strategy: DispatchStrategy | None
    policy: PolicyOutcome
    tier: QualityTier | None = None
    place: WindowPlace | None = None
    envelope: EnvelopeSummary | None = None
    report: ReportSummary | None = None
    committed: CommittedWindow | None = None
    data_residency: str = ""
    community_header: bool = True
    eu_ai_act_class: str = ""
    safety_budget: float | None = None
    stream_mode: str = ""
    agent: AgentState | None = None


def response_headers(inputs: HeaderInputs) -> tuple[Header, ...]:
    """Return the headers of one response in the order of the header table."""
    pairs = [
        *_context(inputs),
        *_safety(inputs),
        *_provenance(inputs),
        *_compliance(inputs),
        *_agent(inputs),
        *_memory(inputs),
        *_quality(inputs.report),
    ]
    if inputs.committed is not None:
        pairs.append(("CRP-Set-Session", inputs.committed.set_session))
    pairs.append((STREAM_MODE, inputs.stream_mode))
    return tuple(Header(name, value) for name, value in pairs if value)


def fraction(value: float | None) -> str:
    """Return a 0.0-1.0 value with at most three decimals and at least one, or an empty text for ``None``."""
    if value is None:
        return ""
    text = f"{min(1.0, max(0.0, value)):.3f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def iso_duration(span: timedelta | None) -> str:
    """Return an ISO 8601 duration in days, hours, minutes and seconds; a part of a second is dropped."""
    if span is None:
        return ""
    seconds = max(0, int(span.total_seconds()))
    days, seconds = divmod(seconds, 86_400)
    hours, seconds = divmod(seconds, 3_600)
    minutes, seconds = divmod(seconds, 60)
    time = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if count)
    date = f"{days}D" if days else ""
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"


def slug(text: str) -> str:
    """Return the words of ``text`` in ``[a-z0-9]`` joined by hyphens, at most 48 characters; perhaps empty."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_SLUG_LENGTH].strip("-")


def _digest(value: str) -> str:
    return f"sha256:{value}" if value and not value.startswith("sha256:") else value


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


def _context(inputs: HeaderInputs) -> list[tuple[str, str]]:
    envelope, place, committed = inputs.envelope, inputs.place, inputs.committed
    pairs = [("CRP-Context-Quality-Tier", inputs.tier or "")]
    if place is not None:
        pairs.append(("CRP-Context-Window", f"{place.window_number}/{place.max_windows}"))
    if envelope is not None:
        pairs += [
            ("CRP-Context-Saturation", fraction(envelope.saturation)),
            ("CRP-Context-Facts-Used", f"{envelope.facts_included}/{envelope.facts_available}"),
            ("CRP-Context-Tokens-Used", str(envelope.token_count)),
        ]
    pairs.append(("CRP-Context-Strategy", inputs.strategy or ""))
    if place is not None:
        pairs.append(("CRP-Context-Session-Id", place.session_id))
    if envelope is not None:
        pairs += [
            ("CRP-Context-ETag", _digest(envelope.etag)),
            ("CRP-Context-Cache-Status", envelope.cache_status),
        ]
    if committed is not None:
        pairs.append(("CRP-Context-Continuation-Id", committed.continuation_id))
    pairs.append(("CRP-Context-Protocol-Version", PROTOCOL_VERSION))
    return pairs


def _safety(inputs: HeaderInputs) -> list[tuple[str, str]]:
    report, policy = inputs.report, inputs.policy
    pairs: list[tuple[str, str]] = []
    if report is not None:
        pairs += [
            ("CRP-Safety-Hallucination-Risk", report.risk_level),
            ("CRP-Safety-Hallucination-Score", fraction(report.composite_score)),
            ("CRP-Safety-Attribution", report.attribution_dominant),
            ("CRP-Safety-Grounding-Pct", fraction(report.grounding_pct)),
            ("CRP-Safety-Fabrications", _count(report.fabrication_count)),
            ("CRP-Safety-Entailment-Score", fraction(report.entailment_score)),
            ("CRP-Safety-Distortions", _distortions(report)),
            ("CRP-Safety-Contradictions", _contradictions(report)),
            ("CRP-Safety-Omissions", _omissions(report)),
        ]
    pairs += [
        ("CRP-Safety-Oversight-Mode", policy.oversight),
        ("CRP-Safety-Policy-Applied", policy.applied),
        ("CRP-Safety-Policy-Violation", ", ".join(policy.violated)),
        ("CRP-Safety-Retry-After", policy.retry_after),
    ]
    if inputs.committed is not None:
        pairs.append(("CRP-Safety-Budget-Warning", inputs.committed.budget_warning))
    return pairs


def _distortions(report: ReportSummary) -> str:
    # SPEC-005 §5.3: "1; types=NUMBER_CHANGED".
    if report.distortion_count is None:
        return ""
    types = f"; types={','.join(report.distortion_types)}" if report.distortion_types else ""
    return f"{report.distortion_count}{types}"


def _contradictions(report: ReportSummary) -> str:
    # SPEC-005 §8.4: "1; scope=cross-window".
    if report.contradiction_count is None:
        return ""
    scope = f"; scope={report.contradiction_scope}" if report.contradiction_scope else ""
    return f"{report.contradiction_count}{scope}"


def _omissions(report: ReportSummary) -> str:
    # SPEC-005 §12.3: "CRITICAL:0, HIGH:1, MEDIUM:2".
    if not report.omissions:
        return ""
    counts = dict(report.omissions)
    return ", ".join(f"{severity}:{counts.get(severity, 0)}" for severity in ("CRITICAL", "HIGH", "MEDIUM"))


def _provenance(inputs: HeaderInputs) -> list[tuple[str, str]]:
    committed, report = inputs.committed, inputs.report
    pairs: list[tuple[str, str]] = []
    if committed is not None:
        pairs += [
            ("CRP-Provenance-HMAC", _digest(committed.hmac)),
            ("CRP-Provenance-Window-HMAC", _digest(committed.window_hmac)),
            ("CRP-Provenance-DAG-Root", committed.dag_root),
            ("CRP-Provenance-Chain-Integrity", committed.chain_integrity),
        ]
    if report is not None:
        pairs += [
            ("CRP-Provenance-Claim-Count", _count(report.claims_total)),
            ("CRP-Provenance-Attribution-Score", fraction(report.grounding_pct)),
            ("CRP-Provenance-Fidelity-Score", fraction(report.fidelity_score)),
        ]
    if committed is not None:
        report_uri = f"/v1/reports/{committed.report_id}" if committed.report_id else ""
        pairs += [
            ("CRP-Provenance-Report-URI", report_uri),
            ("CRP-Provenance-Window-Lineage", committed.lineage),
        ]
    return pairs


def _compliance(inputs: HeaderInputs) -> list[tuple[str, str]]:
    report, committed, place = inputs.report, inputs.committed, inputs.place
    pairs: list[tuple[str, str]] = []
    if report is not None:
        pii = "" if report.gdpr_pii_detected is None else str(report.gdpr_pii_detected).lower()
        pairs += [
            ("CRP-Compliance-EU-AI-Act", report.eu_ai_act_class),
            ("CRP-Compliance-NIST-Tier", report.nist_tier),
            ("CRP-Compliance-GDPR-PII", pii),
            ("CRP-Compliance-ISO-42001", ", ".join(report.iso_42001_controls)),
        ]
    else:
        pairs.append(("CRP-Compliance-EU-AI-Act", inputs.eu_ai_act_class))
    if committed is not None:
        pairs.append(("CRP-Compliance-Audit-Trail-Id", committed.audit_trail_id))
    if place is not None:
        pairs.append(("CRP-Compliance-Audit-Trail-URI", audit_trail_uri(place.session_id)))
    pairs.append(("CRP-Compliance-Data-Residency", inputs.data_residency))
    if report is not None and report.controls_met is not None and report.controls_total is not None:
        pairs.append(("CRP-Compliance-Controls-Met", f"{report.controls_met}/{report.controls_total}"))
    return pairs


def audit_trail_uri(session_id: str) -> str:
    """Return where the session's audit trail can be read, relative to the HTTP surface."""
    return f"/v1/sessions/{session_id}/audit"


def _agent(inputs: HeaderInputs) -> list[tuple[str, str]]:
    agent = inputs.agent or AgentState()
    pairs = [("CRP-Agent-Phase", agent.phase or "")]
    if inputs.place is not None:
        pairs.append(("CRP-Agent-Loop-Depth", str(inputs.place.loop_depth)))
    pairs.append(("CRP-Agent-Tool-Calls", _count(agent.tool_calls)))
    if agent.revision is not None:
        pairs.append(("CRP-Agent-Revision-Round", f"{agent.revision.current}/{agent.revision.most}"))
    left = inputs.safety_budget if inputs.committed is None else inputs.committed.safety_budget
    pairs.append(("CRP-Agent-Safety-Budget", fraction(left)))
    if inputs.place is not None:
        pairs.append(("CRP-Agent-Session-Parent", inputs.place.parent_session_id))
    return pairs


def _memory(inputs: HeaderInputs) -> list[tuple[str, str]]:
    envelope = inputs.envelope
    if envelope is None:
        return []
    # SPEC-003 §12.3: communities[0]; §16.3: a deployment may suppress it.
    community = slug(envelope.communities[0]) if envelope.communities and inputs.community_header else ""
    return [
        ("CRP-Memory-Tier-Hit", str(envelope.memory_tier_hit)),
        ("CRP-Memory-CKF-Hits", str(envelope.ckf_hits)),
        ("CRP-Memory-CKF-Community", community),
        ("CRP-Memory-Knowledge-Age", iso_duration(envelope.knowledge_age)),
    ]


def _quality(report: ReportSummary | None) -> list[tuple[str, str]]:
    if report is None:
        return []
    return [
        ("CRP-Quality-Repetition", _repetition(report)),
        ("CRP-Quality-Completeness", _completeness(report)),
        ("CRP-Quality-Flow", _flow(report)),
        ("CRP-Quality-Relevance", _relevance(report)),
        ("CRP-Quality-Score", fraction(report.quality_score)),
    ]


def _repetition(report: ReportSummary) -> str:
    # SPEC-005 §9.4: "NONE" alone, "SIGNIFICANT; overlap=0.28" otherwise.
    level = report.repetition_level
    if level is None:
        return ""
    overlap = fraction(report.repetition_overlap)
    return f"{level}; overlap={overlap}" if level is not RepetitionLevel.NONE and overlap else level


def _completeness(report: ReportSummary) -> str:
    # SPEC-005 §10.4: "PARTIAL; sub-queries=3/5; uncovered=eu-ai-act-requirements,gdpr-requirements".
    if not report.completeness_level:
        return ""
    total = report.sub_queries_total
    parts = [report.completeness_level, f"sub-queries={total - len(report.uncovered_sub_queries)}/{total}"]
    uncovered = [name for name in map(slug, report.uncovered_sub_queries) if name]
    return "; ".join(parts + ([f"uncovered={','.join(uncovered)}"] if uncovered else []))


def _relevance(report: ReportSummary) -> str:
    # ADR 0096: "RELEVANT; score=0.93", "REFUSAL", "NOT_ASSESSED; reason=LANGUAGE_NOT_SUPPORTED".
    score = fraction(report.relevance_score)
    parts = [report.relevance_status, f"score={score}" if score else ""]
    parts.append(f"reason={report.relevance_reason}" if report.relevance_reason else "")
    return "; ".join(part for part in parts if part)


def _flow(report: ReportSummary) -> str:
    # SPEC-005 §11.6: "0.34; remediation=prompt-augmented".
    score = fraction(report.flow_score)
    return f"{score}; remediation={report.flow_remediation}" if score and report.flow_remediation else score
