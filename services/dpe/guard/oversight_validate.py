"""What a message to OverseeStream must hold before it is converted; all violations of a message at once."""

from typing import Final

from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, LimitExceededError
from services.common.rpc.validation import Violations, require_member
from services.common.settings.guard.oversight import OversightSettings
from services.common.streaming.rules import HaltRuleError
from services.dpe.convert.guard.grounding_texts import require_texts
from services.dpe.convert.guard.oversight import rules_of

MOST_TOKEN_CHARS: Final = 10_000
MOST_SCORE_EVERY: Final = 10_000
_MAX_ID_CHARS: Final = 128
_TEXT: Final = f"must hold 1 to {MOST_TOKEN_CHARS:,} characters"


def validate_message(request: pb.OverseeStreamRequest, settings: OversightSettings) -> None:
    """Refuse a malformed message.

    Raises:
        InvalidRequestError: INVALID_FIELD with every violation.
        LimitExceededError: MESSAGE_TOO_LARGE: prompt and facts are too long.
    """
    kind = request.WhichOneof("message")
    if kind == "token":
        if not 0 < len(request.token.text) <= MOST_TOKEN_CHARS:
            raise InvalidRequestError.of(FieldViolation("token.text", _TEXT))
    elif kind == "start":
        _validate_start(request.start, settings)
    elif kind == "resume":
        found = Violations()
        found.require_request_id(request.resume.oversight_id, "resume.oversight_id")
        found.raise_if_any()
    elif kind is None:
        raise InvalidRequestError.of(FieldViolation("message", "must be start, resume, token or end"))


def _validate_start(start: guard_pb2.StartOversight, settings: OversightSettings) -> None:
    size = len(start.prompt) + sum(len(fact.content) for fact in start.facts)
    if size > settings.max_facts_chars:
        raise LimitExceededError(
            ErrorReason.MESSAGE_TOO_LARGE,
            f"start.prompt and start.facts hold {size} characters together, the limit is {settings.max_facts_chars}",
            field="start.facts",
            actual=str(size),
            limit=str(settings.max_facts_chars),
            unit="characters",
        )
    found = Violations()
    found.require(start.prompt.strip(), "start.prompt", "must not be empty")
    _facts(start, settings, found)
    require_member(found, "start.halt_mode", start.halt_mode, guard_pb2.HaltMode)
    every = start.score_every_tokens if start.HasField("score_every_tokens") else 1
    found.require(1 <= every <= MOST_SCORE_EVERY, "start.score_every_tokens", f"must be 1 to {MOST_SCORE_EVERY:,}")
    if start.oversight_id:
        found.require_request_id(start.oversight_id, "start.oversight_id")
    if not found.found:
        _rules(start, settings, found)
    found.raise_if_any()


def _facts(start: guard_pb2.StartOversight, settings: OversightSettings, found: Violations) -> None:
    most = settings.max_facts
    found.require(len(start.facts) <= most, "start.facts", f"must be at most {most}")
    require_texts(found, "start.facts", start.facts, most, _MAX_ID_CHARS)


def _rules(start: guard_pb2.StartOversight, settings: OversightSettings, found: Violations) -> None:
    try:
        rules_of(start, settings)
    except HaltRuleError as error:
        found.add(f"start.{error.field}", f"must be {error.allowed}")
