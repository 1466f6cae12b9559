"""What a check found and what a policy makes of it: the client's result, with the verdict of a policy beside it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crp.dpe.v1 import provenance_service_pb2 as pb
from groundtrail.results import CheckResult, fields_of

if TYPE_CHECKING:
    from services.gateway.check_policy import PolicyVerdict
    from services.gateway.domain.outcome import PolicyInForce


@dataclass(frozen=True, slots=True)
class PolicedResult(CheckResult):
    """What was found.

    Attributes:
        policy: what the safety policy makes of it; ``None`` when none was given.
    """

    policy: "PolicyVerdict | None" = None


def result_of(response: pb.CheckResponse, force: "PolicyInForce | None") -> PolicedResult:
    """Return a response as the caller sees it, held against a policy where one is given."""
    verdict = None
    if force is not None:
        from services.gateway.check_policy import policy_verdict

        verdict = policy_verdict(response.report, force)
    return PolicedResult(**fields_of(response), policy=verdict)
