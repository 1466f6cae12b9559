"""What a question was answered with: the text, what was found in it, and where the session goes on."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from groundtrail.errors import GroundtrailError, WithheldError
from groundtrail.results import Claim, JudgedText, Level, claims_of, level_of

if TYPE_CHECKING:
    from crp.gateway.v1 import dispatch_pb2
    from crp.gateway.v1 import dispatch_service_pb2 as pb


@dataclass(frozen=True, slots=True)
class Answer(JudgedText):
    """An answer from the tenant's documents.

    Attributes:
        text: the answer.
        level: the risk level; the worst of its parts, where the gateway continued it by itself.
        claims: in the order of the text.
        session_id: of the session that it belongs to.
        window_id: of its window.
        session_token: what continues the session; a secret.
        continuation_id: where it goes on; empty when the session is complete (CRP-SPEC-004 §11.4).
        headers: of the protocol, by name.
        warnings: what else to know, for people.
        response: everything, as ``DispatchService.Dispatch`` gave it.
    """

    text: str = field(repr=False)
    level: Level
    claims: tuple[Claim, ...] = field(repr=False)
    session_id: str
    window_id: str
    session_token: str = field(repr=False)
    continuation_id: str
    headers: Mapping[str, str] = field(repr=False)
    warnings: tuple[str, ...]
    response: "pb.DispatchResponse" = field(repr=False)


class Head:
    """Where a session goes on.

    Attributes:
        token: of the last answer; empty before the first one. A secret.
        continuation_id: of the last answer.
        session_id: of the last answer.
    """

    def __init__(self, token: str = "", continuation_id: str = "") -> None:
        self.token = token
        self.continuation_id = continuation_id
        self.session_id = ""

    def wishes(self, wishes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the wishes for the next question with what continues the session."""
        if not self.continuation_id:  # complete, or not begun: the next question begins a session
            return dict(wishes)
        return {**wishes, "session_token": self.token, "continuation_ids": [self.continuation_id]}

    def moved(self, answer: Answer) -> Answer:
        """Go on behind an answer; returns it."""
        self.token, self.continuation_id = answer.session_token, answer.continuation_id
        self.session_id = answer.session_id
        return answer


def ask_request(question: str, wishes: Mapping[str, Any]) -> "pb.DispatchRequest":
    """Return the request of a question.

    Args:
        question: what is asked.
        wishes: further fields of ``DispatchRequest`` by their names.

    Raises:
        GroundtrailError: INVALID_FIELD: a wish is no field, or not of its type.
    """
    from crp.gateway.v1 import dispatch_service_pb2 as pb

    try:
        return pb.DispatchRequest(**{"request_id": str(uuid.uuid4()), **wishes, "query": question})
    except (TypeError, ValueError) as error:
        raise GroundtrailError("INVALID_FIELD", f"ask: {error}") from None


def answer_of(response: "pb.DispatchResponse") -> Answer:
    """Return the answer of an outcome.

    Raises:
        WithheldError: the policy withheld it, or a person has to decide.
        GroundtrailError: NOT_MODIFIED: ``if_match`` names the envelope that stands.
    """
    kind = response.WhichOneof("outcome")
    if kind == "not_modified":
        raise GroundtrailError("NOT_MODIFIED", "the envelope has not changed: no model was asked")
    if kind == "held_for_review":
        held = response.held_for_review
        message = f"A person has to decide before this is delivered: {held.reason} (review {held.review_id})."
        raise WithheldError(message, None, found=[response], reason="HELD_FOR_REVIEW")
    if kind == "halted":
        raise _halted(response.halted, response)
    answer = response.answer
    parts = [(part.report, part.span.start) for part in answer.parts] or [(answer.report, 0)]
    return Answer(
        answer.text,
        max((level_of(report.risk_level) for report, _ in parts), key=lambda level: level.rank),
        tuple(claim for report, start in parts for claim in claims_of(report.claims, {}, start)),
        answer.session_id,
        answer.window.window_id,
        answer.session_token,
        answer.continuation_id,
        {header.name: header.value for header in response.headers},
        tuple(warning.message for warning in response.warnings),
        response,
    )


def _halted(halted: "dispatch_pb2.Halted", response: "pb.DispatchResponse") -> WithheldError:
    level = level_of(halted.risk_level) if halted.risk_level else None
    claims = claims_of(halted.report.claims, {}) if halted.HasField("report") else ()
    described = " ".join(violation.description for violation in response.violations)
    return WithheldError(f"Withheld: {halted.halt_reason}. {described}".strip(), level, claims, [response])
