"""Whether an analysed answer is delivered or withheld, and the policy that decides it (SPEC-005 §7.4, CRP-SPEC-006).

The policy in force comes from four places: the request, the tenant (its floor), the session that is continued, and the
deployment's default, which holds only where none of them says anything. What needs a person is held until one has
decided (ADR 0148).
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum, unique
from typing import Final

from services.common.errors import ErrorReason, PermissionDeniedError
from services.common.taxonomy import QualityTier, RiskLevel, worst_tier
from services.gateway.domain.directives import REFUSAL, Finding, evaluate, risk_above
from services.gateway.domain.policy import (
    STRICT_MODE,
    Relaxation,
    SafetyPolicy,
    find_relaxation,
    parse_policy,
    stricter,
)
from services.gateway.domain.vocabulary import OversightMode, SafetyMode
from services.gateway.domain.window import ReportSummary

CRITICAL_RISK: Final = "CRITICAL_HALLUCINATION_RISK"
UNACCEPTABLE_SYSTEM: Final = "UNACCEPTABLE_EU_AI_ACT"
BUDGET_DEPLETED: Final = "SAFETY_BUDGET_DEPLETED"
OVERSIGHT_REQUIRED: Final = "OVERSIGHT_REQUIRED"
REVIEW_REJECTED: Final = "REVIEW_REJECTED"
REVIEW_EXPIRED: Final = "REVIEW_EXPIRED"
RETRY_OVERSIGHT: Final = "oversight-required"
RETRY_NEW_SESSION: Final = "0"


@unique
class Enforcement(StrEnum):
    """How a finding was dealt with."""

    HALTED = "HALTED"
    WARNED = "WARNED"
    REPORTED = "REPORTED"


class PolicyRelaxedError(ValueError):
    """The request's policy is weaker than its tenant's or its session's on a directive."""

    def __init__(self, relaxation: Relaxation) -> None:
        super().__init__(f"{relaxation.directive}: {relaxation.child_value} is weaker than {relaxation.parent_value}")
        self.relaxation = relaxation


def relaxed(error: PolicyRelaxedError, whose: str) -> PermissionDeniedError:
    """Return the refusal of a policy that is weaker than the tenant's or the session's."""
    return PermissionDeniedError(
        ErrorReason.POLICY_RELAXED,
        f"the request's policy is weaker than the {whose}'s: {error}",
        directive=error.relaxation.directive,
        parent_value=error.relaxation.parent_value,
        child_value=error.relaxation.child_value,
    )


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """What a request says about its policy; empty and ``None`` = nothing."""

    safety_policy: str = ""
    report_only: str = ""
    mode: SafetyMode | None = None
    oversight: OversightMode | None = None
    accept_risk: RiskLevel | None = None


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """The policy that a dispatch is judged by.

    Attributes:
        applied: the text that headers show and the hash is over; empty when nothing is in force.
        enforcing: whether findings can withhold the answer.
        asked: what the request itself says, its mode included; nothing of tenant and default.
        floor: the tenant's.
        held: of the windows that this one continues, as far as they were joined with it.
    """

    directives: SafetyPolicy
    report_only: SafetyPolicy
    oversight: OversightMode
    enforcing: bool
    applied: str
    accept_risk: RiskLevel | None = None
    asked: SafetyPolicy = field(default_factory=SafetyPolicy)
    floor: SafetyPolicy = field(default_factory=SafetyPolicy)
    held: SafetyPolicy = field(default_factory=SafetyPolicy)


@dataclass(frozen=True, slots=True)
class Violation:
    """A finding and how it was dealt with."""

    finding: Finding
    enforcement: Enforcement


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of the answer: withheld when ``halt_reason`` is set, delivered otherwise."""

    halt_reason: str = ""
    violations: tuple[Violation, ...] = field(default=())

    @property
    def violated(self) -> tuple[str, ...]:
        """Return the directives that were broken, each once."""
        return tuple(dict.fromkeys(violation.finding.directive for violation in self.violations))


def policy_in_force(request: PolicyRequest, tenant: str, default: str) -> PolicyInForce:
    """Join the request's policy with its parents.

    Raises:
        PolicyError: a policy that cannot be read.
        PolicyRelaxedError: the request is weaker than the tenant's policy.
    """
    floor = parse_policy(tenant)
    asked = parse_policy(request.safety_policy)
    if request.mode is SafetyMode.STRICT:
        asked = stricter(asked, parse_policy(STRICT_MODE))
    loose = request.mode in {SafetyMode.WARN, SafetyMode.PERMISSIVE}
    if floor.canonical:
        _check_floor(floor, asked, request)
    written = stricter(floor, asked)
    if not written.canonical and request.mode is not SafetyMode.PERMISSIVE:
        written = parse_policy(default)
    force = PolicyInForce(
        written,
        parse_policy(request.report_only),
        OversightMode.AUTO,
        enforcing=True,
        applied="",
        accept_risk=request.accept_risk,
        asked=asked,
        floor=floor,
    )
    return _enforced(force, request, str(request.mode) if loose else "")


def inherited(force: PolicyInForce, request: PolicyRequest, held: str) -> PolicyInForce:
    """Join a policy with the one that the session, or a parent window, holds (CRP-SPEC-006, inheritance).

    A directive that the request does not give is inherited; without any policy of its own the request inherits the
    mode, too. The deployment's default is none of the request's: it holds where nobody says anything.

    Args:
        force: in force without the session.
        request: what the request says.
        held: the policy that is held, as headers show it.

    Raises:
        PolicyError: what is held cannot be read.
        PolicyRelaxedError: the request is weaker than it on a directive, or in its mode.
    """
    text, _, mode = held.partition(_MODE_NOTE)
    parent, mode = parse_policy(text), mode.removesuffix(")")
    if relaxation := find_relaxation(parent, force.asked):
        raise PolicyRelaxedError(relaxation)
    own_mode = str(request.mode) if request.mode in {SafetyMode.WARN, SafetyMode.PERMISSIVE} else ""
    if own_mode and not mode:
        raise PolicyRelaxedError(Relaxation("mode", "enforced", own_mode))
    silent = request.mode is None and not force.asked.canonical and not force.floor.canonical
    if force.held.canonical and force.enforcing:  # of several parents one that enforces is enough
        mode = ""
    joint = stricter(force.held, parent)
    written = stricter(joint, stricter(force.floor, force.asked))
    return _enforced(replace(force, directives=written, held=joint), request, mode if silent else own_mode)


_MODE_NOTE: Final = " (mode "


def enforced_text(applied: str) -> str:
    """Return the directives of a policy as headers show it, without how it is enforced."""
    return applied.partition(_MODE_NOTE)[0]


def _enforced(force: PolicyInForce, request: PolicyRequest, mode: str) -> PolicyInForce:
    """Return the policy with how it is enforced; ``mode`` is the loose one, empty for none."""
    written = force.directives
    oversight = max(_modes(written, request.oversight), key=lambda mode: mode.rank, default=OversightMode.AUTO)
    enforcing = not mode and oversight is not OversightMode.LOG_ONLY
    note = "" if enforcing else f"{_MODE_NOTE}{mode or oversight})"
    applied = f"{written.canonical}{note}" if written.canonical else ""
    return replace(force, oversight=oversight, enforcing=enforcing, applied=applied)


def _modes(policy: SafetyPolicy, asked: OversightMode | None) -> list[OversightMode]:
    return [mode for mode in (policy.oversight, policy.require_oversight, asked) if mode is not None]


def _check_floor(floor: SafetyPolicy, asked: SafetyPolicy, request: PolicyRequest) -> None:
    """Refuse whatever the request says more weakly than its tenant's policy (CRP-SPEC-006, inheritance)."""
    if relaxation := find_relaxation(floor, asked):
        raise PolicyRelaxedError(relaxation)
    if request.mode in {SafetyMode.WARN, SafetyMode.PERMISSIVE}:
        raise PolicyRelaxedError(Relaxation("mode", "enforced", str(request.mode)))
    modes = _modes(asked, request.oversight)
    weakest = max(modes, key=lambda mode: mode.rank, default=floor.effective_oversight)
    if weakest.rank < floor.effective_oversight.rank:
        raise PolicyRelaxedError(Relaxation("oversight", floor.effective_oversight, weakest))


def final_tier(envelope: QualityTier, report: ReportSummary) -> QualityTier:
    """Return the envelope's tier, lowered by the answer's quality score where there is one (SPEC-005 §18.4).

    A refusal lowers nothing: it answers no part of the query, and says so (ADR 0103).
    """
    ceiling = None if report.relevance_status == REFUSAL else report.maximum_quality_tier
    return envelope if ceiling is None else worst_tier(envelope, ceiling)


def judge(force: PolicyInForce, report: ReportSummary, tier: QualityTier) -> Verdict:
    """Decide about an analysed answer before it is committed."""
    violations = [_dealt_with(finding, force) for finding in evaluate(force.directives, report, tier)]
    if above := risk_above(report, force.accept_risk):
        violations.append(Violation(above, Enforcement.HALTED))
    violations += [Violation(each, Enforcement.REPORTED) for each in evaluate(force.report_only, report, tier)]
    return Verdict(_halt_reason(force, report, violations), tuple(violations))


def _dealt_with(finding: Finding, force: PolicyInForce) -> Violation:
    if not force.enforcing:
        loose = Enforcement.REPORTED if force.oversight is OversightMode.LOG_ONLY else Enforcement.WARNED
        return Violation(finding, loose)
    # Oversight mode halt: whatever a directive finds, warnings included, withholds the answer.
    halts = finding.blocking or force.oversight is OversightMode.HALT
    return Violation(finding, Enforcement.HALTED if halts else Enforcement.WARNED)


def _halt_reason(force: PolicyInForce, report: ReportSummary, violations: list[Violation]) -> str:
    if report.eu_ai_act_class == "UNACCEPTABLE":
        return UNACCEPTABLE_SYSTEM
    halting = [violation.finding for violation in violations if violation.enforcement is Enforcement.HALTED]
    if any(finding.violation_type == "HALT_ON_CRITICAL" for finding in halting):
        return CRITICAL_RISK
    if halting:
        return halting[0].directive
    if force.enforcing and force.oversight is OversightMode.HUMAN_REVIEW:
        return OVERSIGHT_REQUIRED  # it waits for a person
    return ""


def retry_condition(halt_reason: str) -> str:
    """Return ``CRP-Safety-Retry-After``: a spent budget ends the session, the rest needs a person."""
    return RETRY_NEW_SESSION if halt_reason == BUDGET_DEPLETED else RETRY_OVERSIGHT
