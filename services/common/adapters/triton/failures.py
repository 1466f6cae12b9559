"""What Triton's refusal of a request means for the caller: whether it is tried again, and what the caller is told.

Triton's own message may name paths and hosts, so that only its status goes to callers; the message stands in the log,
as the cause of the error.
"""

from dataclasses import dataclass
from typing import Final

from tritonclient.utils import InferenceServerException

from services.common.errors import ErrorReason, UnavailableError

RETRY_S: Final = 1.0
"""``retry_after_s`` of a failure that time can heal."""
_HINTS: Final = {
    "unavailable": "Triton cannot be reached, or is not ready.",
    "deadline_exceeded": "Triton did not answer in time.",
    "not_found": "Triton does not serve it.",
    "resource_exhausted": "Triton refuses further requests.",
}
_HEALED_BY_TIME: Final = frozenset({"unavailable", "deadline_exceeded", "resource_exhausted", "cancelled", "aborted"})


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    Attributes:
        cause: Triton's gRPC status in lower case, a stable word for programs: ``unavailable``, ``not_found``, …
    """

    cause: str

    @property
    def retried(self) -> bool:
        """Whether the request is sent again: only when Triton has not begun it."""
        return self.cause == "unavailable"

    def error(self, model: str) -> UnavailableError:
        """Return what the caller gets when no attempt is left."""
        return UnavailableError(
            ErrorReason.MODEL_UNAVAILABLE,
            f"Model {model} is not available ({self.cause}). {_HINTS.get(self.cause, '')}".rstrip(),
            retry_after_s=RETRY_S if self.cause in _HEALED_BY_TIME else None,
            model=model,
            cause=self.cause,
        )


def failure_of(error: InferenceServerException) -> Failure:
    """Say what an error of the client means; its status is the text of a ``grpc.StatusCode``."""
    return Failure((error.status() or "unknown").rsplit(".", 1)[-1].lower())
