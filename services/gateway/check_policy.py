"""A safety policy over a check: the gateway's own rules, applied to a report that belongs to no session (ADR 0098)."""

from dataclasses import dataclass
from functools import lru_cache

from crp.dpe.v1 import report_pb2

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError
from services.common.taxonomy import QualityTier
from services.gateway.clients.provenance import report_summary
from services.gateway.domain.outcome import (
    Enforcement,
    PolicyInForce,
    PolicyRequest,
    final_tier,
    judge,
    policy_in_force,
)
from services.gateway.domain.policy import PolicyError


@dataclass(frozen=True, slots=True)
class PolicyFinding:
    """A directive that does not hold.

    Attributes:
        directive: as it is in force, e.g. ``halt-on HIGH``.
        violation_type: upper snake case.
        description: for people; holds no content.
        halts: the directive withholds the answer; otherwise it warns.
    """

    directive: str
    violation_type: str
    description: str
    halts: bool


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """What a policy makes of an answer: withheld when ``halt_reason`` is set."""

    applied: str
    halt_reason: str
    findings: tuple[PolicyFinding, ...]


def read_policy(text: str) -> PolicyInForce:
    """Read a policy. Raises as ``read_policy_request``."""
    return read_policy_request(PolicyRequest(safety_policy=text), "")


def read_policy_request(request: PolicyRequest, default: str) -> PolicyInForce:
    """Read what a request says of its policy, beside the policy where it names none.

    Raises:
        InvalidRequestError: UNKNOWN_DIRECTIVE with the directives that there are, or INVALID_FIELD.
    """
    try:
        return _in_force(request, default)
    except PolicyError as error:
        violation = FieldViolation("policy", str(error) if error.unknown else f"{error.directive}: {error}")
        if not error.unknown:
            raise InvalidRequestError.of(violation) from None
        known = ", ".join(error.known)
        raise InvalidRequestError(
            ErrorReason.UNKNOWN_DIRECTIVE,
            f"the policy holds the directive {error.directive}, which does not exist; there are {known}",
            violations=(violation,),
            directive=error.directive,
            known=known,
        ) from None


@lru_cache(maxsize=256)
def _in_force(request: PolicyRequest, default: str) -> PolicyInForce:
    """Return a policy in force, once for every text: most calls say the same."""
    return policy_in_force(request, "", default)


def policy_verdict(report: report_pb2.DpeReport, force: PolicyInForce) -> PolicyVerdict:
    """Hold a report against a policy; with no envelope the tier is what the answer's own quality allows."""
    summary = report_summary(report)
    verdict = judge(force, summary, final_tier(QualityTier.S, summary))
    findings = tuple(
        PolicyFinding(
            one.finding.directive,
            one.finding.violation_type,
            one.finding.description,
            one.enforcement is Enforcement.HALTED,
        )
        for one in verdict.violations
    )
    return PolicyVerdict(force.applied, verdict.halt_reason, findings)
