"""What a request for verified claims must hold; all violations at once. Texts over a limit are refused whole."""

from collections.abc import Sequence
from typing import Final

from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.errors import ErrorReason, LimitExceededError
from services.common.rpc.validation import Violations
from services.common.settings.guard.verification import VerificationSettings
from services.dpe.convert.guard.grounding_texts import require_texts
from services.dpe.validate import require_size

MAX_ID_CHARS: Final = 1_024
MAX_QUESTION_CHARS: Final = 100_000
_ID: Final = f"must hold 1 to {MAX_ID_CHARS} characters"


def validate_verify(request: pb.VerifyClaimsRequest, settings: VerificationSettings, max_chars: int) -> None:
    """Refuse a malformed VerifyClaimsRequest.

    Args:
        request: the request.
        settings: limits on sources.
        max_chars: most characters of an answer.

    Raises:
        LimitExceededError: MESSAGE_TOO_LARGE.
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    require_size("response", request.response, max_chars)
    _require_total(request.sources, settings)
    found = Violations()
    found.require(request.response.strip(), "response", "must not be empty")
    _question(found, "question", request.question)
    _sources(found, request.sources, settings)
    found.raise_if_any()


def validate_batch(request: pb.VerifyClaimsBatchRequest, settings: VerificationSettings, max_chars: int) -> None:
    """Refuse a malformed VerifyClaimsBatchRequest; arguments and errors as ``validate_verify``."""
    size = _require_total(request.sources, settings)
    _require_most("texts", sum(len(text.content) for text in request.texts), max_chars)
    _require_most("texts", size * len(request.texts), settings.max_batch_chars, "characters of sources for all texts")
    found = Violations()
    most = settings.max_batch_texts
    found.require(0 < len(request.texts) <= most, "texts", f"must hold 1 to {most} texts")
    for index, text in enumerate(request.texts[:most]):
        found.require(0 < len(text.id) <= MAX_ID_CHARS, f"texts[{index}].id", _ID)
        found.require(text.content.strip(), f"texts[{index}].content", "must not be empty")
        _question(found, f"texts[{index}].question", text.question)
    seen: set[str] = set()
    for index, text in enumerate(request.texts[:most]):
        found.require(not text.id or text.id not in seen, f"texts[{index}].id", "must be unique in the request")
        seen.add(text.id)
    _sources(found, request.sources, settings)
    found.raise_if_any()


def _question(found: Violations, field: str, question: str) -> None:
    found.require(len(question) <= MAX_QUESTION_CHARS, field, f"must hold at most {MAX_QUESTION_CHARS} characters")


def _sources(found: Violations, sources: Sequence[guard_pb2.GroundingText], settings: VerificationSettings) -> None:
    most = settings.max_sources
    found.require(0 < len(sources) <= most, "sources", f"must hold 1 to {most} sources")
    require_texts(found, "sources", sources, most, MAX_ID_CHARS)


def _require_total(sources: Sequence[guard_pb2.GroundingText], settings: VerificationSettings) -> int:
    size = sum(len(source.content) for source in sources)
    _require_most("sources", size, settings.max_source_chars)
    return size


def _require_most(field: str, actual: int, limit: int, unit: str = "characters") -> None:
    if actual > limit:
        raise LimitExceededError(
            ErrorReason.MESSAGE_TOO_LARGE,
            f"{field} holds {actual} {unit}, the limit is {limit}; send less of it in one call.",
            field=field,
            actual=str(actual),
            limit=str(limit),
            unit=unit,
        )
