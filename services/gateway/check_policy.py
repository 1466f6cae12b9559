"""A safety policy over a check: the gateway's own rules, applied to a report that belongs to no session (ADR 0098).

A check is held against its tenant's policy as a dispatch is (ADR 0219).
"""

from dataclasses import dataclass
from functools import lru_cache

from crp.dpe.v1 import report_pb2

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError
from services.common.taxonomy import QualityTier
from services.gateway.clients.provenance import report_summary
from services.gateway.domain.outcome import (
    Enforcement,
    PolicyInForce,
    PolicyRelaxedError,
    PolicyRequest,
    final_tier,
    judge,
    policy_in_force,
    relaxed,
)
from services.gateway.domain.policy import PolicyError
from services.gateway.domain.vocabulary import OversightMode
from services.gateway.ports import TenantRegistry


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


@dataclass(frozen=True, slots=True)
class CheckPolicies:
    """The policies that checks of the gateway's callers are held against.

    Attributes:
        registry: knows the tenants' own.
        default: where neither the request nor the tenant names one.
    """

    registry: TenantRegistry
    default: str

    async def in_force(self, tenant_id: str, request: PolicyRequest, *, names_none: bool) -> PolicyInForce:
        """Join what a request says with its tenant's policy.

        Args:
            tenant_id: the caller's.
            request: what it says.
            names_none: it says nothing of a policy; an empty one is a policy without directives.

        Raises:
            InvalidRequestError: UNKNOWN_DIRECTIVE with the directives that there are, or INVALID_FIELD.
            PermissionDeniedError: POLICY_RELAXED: the request is weaker than the tenant's policy.
        """
        tenant = await self.registry.safety_policy(tenant_id)
        return _read(request, tenant, self.default if names_none else "")


def read_policy(text: str) -> PolicyInForce:
    """Read a policy of a check without a tenant.

    Raises:
        InvalidRequestError: UNKNOWN_DIRECTIVE with the directives that there are, or INVALID_FIELD.
    """
    return _read(PolicyRequest(safety_policy=text), "", "")


def needs_sources(force: PolicyInForce) -> bool:
    """Say whether the tenant's policy withholds an answer that there is nothing to check against.

    A tenant whose answers have to rest on sources, or wait for a person, has none delivered that nobody judged.
    """
    floor = force.floor
    grounded = floor.block_ungrounded or floor.require_grounding is not None or floor.require_entailment is not None
    decided = floor.effective_oversight in {OversightMode.HUMAN_REVIEW, OversightMode.HALT}
    return force.enforcing and (grounded or decided)


def _read(request: PolicyRequest, tenant: str, default: str) -> PolicyInForce:
    try:
        return _in_force(request, tenant, default)
    except PolicyRelaxedError as error:
        raise relaxed(error, "tenant") from None
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
def _in_force(request: PolicyRequest, tenant: str, default: str) -> PolicyInForce:
    """Return a policy in force, once for every text: most calls say the same."""
    return policy_in_force(request, tenant, default)


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
