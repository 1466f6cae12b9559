"""What a search for injections must be given; all violations at once. Texts over a limit are refused whole."""

import math

from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.rpc.validation import Violations
from services.common.settings.guard.injection import InjectionSettings
from services.dpe.validate import require_size


def validate_detect(request: pb.DetectInjectionRequest, settings: InjectionSettings, max_response_chars: int) -> None:
    """Refuse a malformed DetectInjectionRequest.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE.
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    require_size("input", request.input, settings.max_input_chars)
    require_size("intent", request.intent, settings.max_intent_chars)
    require_size("response", request.response, max_response_chars)
    found = Violations()
    found.require(request.input, "input", "must not be empty")
    if request.HasField("threshold"):
        usable = math.isfinite(request.threshold) and 0.0 <= request.threshold <= 1.0
        found.require(usable, "threshold", "must be 0.0 to 1.0")
    found.raise_if_any()
