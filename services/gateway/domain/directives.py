"""What a safety policy finds in an analysed answer: one finding for each directive that does not hold (CRP-SPEC-006).

A signal that a directive needs and that was not computed is a finding too (ADR 0018): the directive
fails closed and says so. A signal that has no meaning for this answer (NOT_APPLICABLE, or no factual claim to measure)
breaks nothing. Deciding what follows from the findings is left to ``outcome.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.taxonomy import QualityTier, RepetitionLevel, RiskLevel, StageStatus
from services.gateway.domain.policy import SafetyPolicy
from services.gateway.domain.window import ReportSummary

SIGNAL_NOT_COMPUTED: Final = "SIGNAL_NOT_COMPUTED"
RISK_ABOVE_ACCEPTED: Final = "RISK_ABOVE_ACCEPTED"


@dataclass(frozen=True, slots=True)
class Finding:
    """One directive that does not hold.

    Attributes:
        directive: as it is in force, e.g. ``require-grounding 0.75``.
        violation_type: upper snake case, e.g. ``GROUNDING_BELOW_THRESHOLD``.
        description: for people; numbers and levels only, never content.
        blocking: the directive withholds the answer; otherwise it warns.
        signal_missing: the directive failed closed for want of its signal.
    """

    directive: str
    violation_type: str
    description: str
    blocking: bool = True
    signal_missing: bool = False


def evaluate(policy: SafetyPolicy, report: ReportSummary, tier: QualityTier) -> tuple[Finding, ...]:
    """Return the findings in the order of the policy's directives."""
    return (
        *_sources(policy, report),
        *_risk(policy, report),
        *_warnings(policy, report),
        *_minimum(report, _Score("require-grounding", policy.require_grounding, report.grounding_pct, "2")),
        *_minimum(report, _Score("require-entailment", policy.require_entailment, report.entailment_score, "4")),
        *_tier(policy, tier),
        *_minimum(report, _Score("require-flow", policy.require_flow, report.flow_score, "9")),
        *_minimum(report, _Score("require-completeness", policy.require_completeness, report.completeness_score, "8")),
        *_relevance(policy, report),
        *_blocks(policy, report),
        *_repetition(policy, report),
    )


def _sources(policy: SafetyPolicy, report: ReportSummary) -> Iterator[Finding]:
    if policy.default_src is None or "parametric" in policy.default_src:
        return
    listed = " ".join(sorted(policy.default_src)) or "'none'"
    directive = f"default-src {listed}"
    if policy.default_src:
        yield from _forbidden_count(
            report, _Count(directive, "PARAMETRIC_SOURCE", "2", report.attributed("PARAMETRIC"))
        )
        return
    grounded = report.attributed("CONTEXT_GROUNDED")
    parametric = report.attributed("PARAMETRIC")
    total = None if grounded is None or parametric is None else grounded + parametric
    yield from _forbidden_count(report, _Count(directive, "SOURCE_NOT_ALLOWED", "2", total))


def _risk(policy: SafetyPolicy, report: ReportSummary) -> Iterator[Finding]:
    level = report.risk_level
    if policy.halt_on is not None and level.rank >= policy.halt_on.rank:
        yield Finding(
            f"halt-on {policy.halt_on}",
            f"HALT_ON_{level}",
            f"the answer's risk is {level}{_because(report)}; the policy halts from {policy.halt_on}",
        )
    if policy.warn_on is not None and level.rank >= policy.warn_on.rank:
        yield Finding(
            f"warn-on {policy.warn_on}",
            f"WARN_ON_{level}",
            f"the answer's risk is {level}{_because(report)}; the policy warns from {policy.warn_on}",
            blocking=False,
        )


def _because(report: ReportSummary) -> str:
    """Return the reasons of the floors that the level comes from, in brackets; empty where it is the composite's."""
    return f" ({', '.join(report.floor_reasons)})" if report.floor_reasons else ""


def _warnings(policy: SafetyPolicy, report: ReportSummary) -> Iterator[Finding]:
    if policy.warn_on_contradiction:
        count = _Count("warn-on-contradiction", "WARN_ON_CONTRADICTION", "3", report.contradicted, blocking=False)
        yield from _forbidden_count(report, count)
    if policy.warn_on_undecided:
        count = _Count("warn-on-undecided", "WARN_ON_UNDECIDED", "3", report.undecided_claims, blocking=False)
        yield from _forbidden_count(report, count)


@dataclass(frozen=True, slots=True)
class _Score:
    """A score and the least that a directive asks for."""

    name: str
    least: float | None
    value: float | None
    stage: str


def _minimum(report: ReportSummary, score: _Score) -> Iterator[Finding]:
    if score.least is None:
        return
    directive = f"{score.name} {score.least:g}"
    if score.value is None:
        yield from _missing(report, directive, score.stage)
    elif score.value < score.least:
        subject = score.name.removeprefix("require-")
        yield Finding(
            directive,
            f"{subject.upper()}_BELOW_THRESHOLD",
            f"{subject} is {score.value:.3f}; the policy asks for {score.least:g}",
        )


def _relevance(policy: SafetyPolicy, report: ReportSummary) -> Iterator[Finding]:
    """A refusal answers nothing and asserts nothing: the directive asks nothing of it (ADR 0096)."""
    if policy.require_relevance is None or report.relevance_status == REFUSAL:
        return
    if report.relevance_status == _NOT_ASSESSED:
        yield Finding(
            f"require-relevance {policy.require_relevance:g}",
            SIGNAL_NOT_COMPUTED,
            f"relevance was not assessed ({report.relevance_reason}); the directive cannot be met",
            signal_missing=True,
        )
        return
    yield from _minimum(report, _Score("require-relevance", policy.require_relevance, report.relevance_score, "8"))


REFUSAL: Final = "REFUSAL"
_NOT_ASSESSED: Final = "NOT_ASSESSED"


def _tier(policy: SafetyPolicy, tier: QualityTier) -> Iterator[Finding]:
    if policy.require_quality is not None and tier not in policy.require_quality:
        allowed = " ".join(each for each in QualityTier if each in policy.require_quality) or "'none'"
        yield Finding(
            f"require-quality {allowed}", "QUALITY_BELOW_THRESHOLD", f"the tier is {tier}; the policy takes {allowed}"
        )


@dataclass(frozen=True, slots=True)
class _Count:
    """A number that a directive wants to be zero."""

    directive: str
    violation_type: str
    stage: str
    value: int | None
    blocking: bool = True


def _forbidden_count(report: ReportSummary, count: _Count) -> Iterator[Finding]:
    if count.value is None:
        yield from _missing(report, count.directive, count.stage, blocking=count.blocking)
    elif count.value:
        wanted = "allows none" if count.blocking else "warns of any"
        text = f"{count.value} found; the policy {wanted}"
        yield Finding(count.directive, count.violation_type, text, blocking=count.blocking)


def _blocks(policy: SafetyPolicy, report: ReportSummary) -> Iterator[Finding]:
    if policy.block_ungrounded:
        # UNVERIFIABLE is SPEC-005 §4.2's ungrounded claim: specific, and matched by nothing.
        count = report.attributed("UNVERIFIABLE")
        yield from _forbidden_count(report, _Count("block-ungrounded", "UNGROUNDED_CLAIM", "2", count))
    if policy.block_parametric:
        count = report.attributed("PARAMETRIC")
        yield from _forbidden_count(report, _Count("block-parametric", "PARAMETRIC_CLAIM", "2", count))
    if policy.block_pii:
        pii = None if report.gdpr_pii_detected is None else int(report.gdpr_pii_detected)
        yield from _forbidden_count(report, _Count("block-pii", "PII_DETECTED", "11", pii))
    if policy.block_fabrication:
        count = report.fabrication_count
        yield from _forbidden_count(report, _Count("block-fabrication", "FABRICATION_DETECTED", "3a", count))
    if policy.block_contradiction:
        count = report.contradicted
        yield from _forbidden_count(report, _Count("block-contradiction", "CONTRADICTION_DETECTED", "3", count))
    if policy.block_distortion:
        count = report.distortion_count
        yield from _forbidden_count(report, _Count("block-distortion", "DISTORTION_DETECTED", "3b", count))
    if policy.block_undecided:
        count = report.undecided_claims
        yield from _forbidden_count(report, _Count("block-undecided", "UNDECIDED_CLAIM", "3", count))


def _repetition(policy: SafetyPolicy, report: ReportSummary) -> Iterator[Finding]:
    limits: list[tuple[str, RepetitionLevel]] = []
    if policy.max_repetition is not None:
        limits.append((f"max-repetition {policy.max_repetition}", policy.max_repetition))
    if policy.block_repetition:
        # A level that only logs or recommends (SPEC-005 §9.2) does not block; SEVERE does.
        limits.append(("block-repetition", RepetitionLevel.SIGNIFICANT))
    for directive, limit in limits:
        if report.repetition_level is None:
            yield from _missing(report, directive, "7")
        elif report.repetition_level.rank > limit.rank:
            found = f"repetition is {report.repetition_level}; the policy allows {limit}"
            yield Finding(directive, "REPETITION_ABOVE_THRESHOLD", found)


def _missing(report: ReportSummary, directive: str, stage: str, *, blocking: bool = True) -> Iterator[Finding]:
    """Yield the finding of a signal that is absent, unless its stage says that there was nothing to measure."""
    state = report.stage(stage)
    if state is not None and state.status in {StageStatus.COMPLETED, StageStatus.NOT_APPLICABLE}:
        return
    why = f"{state.status}, {state.reason}" if state is not None else "not run"
    yield Finding(
        directive,
        SIGNAL_NOT_COMPUTED,
        f"stage {stage} gave no value ({why}); the directive cannot be met",
        blocking=blocking,
        signal_missing=True,
    )


def risk_above(report: ReportSummary, accepted: RiskLevel | None) -> Finding | None:
    """Return the finding that the risk is above what the caller accepts (CRP-Accept-Risk), or ``None``."""
    if accepted is None or report.risk_level.rank <= accepted.rank:
        return None
    description = f"the answer's risk is {report.risk_level}; the caller accepts up to {accepted}"
    return Finding(f"accept-risk {accepted}", RISK_ABOVE_ACCEPTED, description)
