"""The answers of ERCP 1.0 §3, for the OpenAPI document alone: what is written is the message's own JSON form."""

from pydantic import BaseModel, ConfigDict

from services.gateway.doors.http.ercp_schemas import (
    Constraint,
    ConstraintState,
    Error,
    ErrorType,
    FreeForm,
    OperatorName,
    Problem,
    RunStatus,
)


class _Answer(BaseModel):
    """The audit metadata of every answer (ERCP 1.0 §2)."""

    model_config = ConfigDict(extra="allow")

    trace_id: str
    timestamp: str
    proto_version: str
    model_fingerprint: str
    node_signature: str


class Claim(BaseModel):
    """A statement and who made it."""

    claim: str
    source: str


class Reasoning(BaseModel):
    """A reasoning candidate."""

    reasoning_id: str
    reasoning_text: str
    sentences: list[str]
    claims: list[Claim]


class TraceEvent(BaseModel):
    """An operator that ran (ERCP 1.0 §4.3)."""

    model_config = ConfigDict(extra="allow")

    event_id: str
    trace_id: str
    timestamp: str
    operator: OperatorName
    input_summary: FreeForm
    output_summary: FreeForm
    model_fingerprint: str
    node_signature: str


class DraftPlace(BaseModel):
    """A place in a draft that decided about a constraint; offsets are code points."""

    start: int
    end: int
    sentence_start: int
    sentence_end: int
    sentence: str


class ConstraintOutcome(BaseModel):
    """Whether a draft keeps a constraint, why, and where that stands."""

    constraint_id: str
    state: ConstraintState
    undecided_reason: str
    why: str
    places: list[DraftPlace]
    immutable: bool


class DuplicateConstraints(BaseModel):
    """Constraints that demand the same."""

    constraint_ids: list[str]
    demand: str


class Doubt(BaseModel):
    """Two statements that may be at odds, while nothing decides it: no error, and no convergence."""

    type: ErrorType
    confidence: float
    places: list[DraftPlace]
    source: str
    against: str
    why: str


class OpenGround(BaseModel):
    """A statement that nothing given bears out: the answerer's word, confirmed when it was asked, or not even that."""

    places: list[DraftPlace]
    is_confirmed: bool
    why: str


class RunAnswer(_Answer):
    """How a run ended (ERCP 1.0 §3.1)."""

    status: RunStatus
    final_reasoning: Reasoning | None
    constraints: list[Constraint]
    trace_events: list[TraceEvent]
    utility_score: float | None
    constraint_outcomes: list[ConstraintOutcome]
    duplicate_constraints: list[DuplicateConstraints]
    open_doubts: list[Doubt]
    open_grounds: list[OpenGround]


class GenerateAnswer(_Answer, Reasoning):
    """A reasoning candidate (ERCP 1.0 §3.2)."""


class VerifyAnswer(_Answer):
    """What is wrong with a reasoning (ERCP 1.0 §3.3)."""

    errors: list[Error]
    constraint_outcomes: list[ConstraintOutcome]
    duplicate_constraints: list[DuplicateConstraints]
    open_doubts: list[Doubt]
    open_grounds: list[OpenGround]


class ExtractConstraintsAnswer(_Answer):
    """Constraints from errors (ERCP 1.0 §3.4)."""

    constraints: list[Constraint]
    candidate_constraints: list[Constraint]


class StabilizeAnswer(_Answer):
    """Whether two candidates mean the same (ERCP 1.0 §3.5)."""

    stable: bool
    score: float


class MutateAnswer(_Answer):
    """Another problem (ERCP 1.0 §3.6)."""

    new_problem: Problem
    new_constraints: list[Constraint]
    mutation_notes: str


class TraceAnswer(_Answer):
    """A whole trace (ERCP 1.0 §3.7)."""

    trace_events: list[TraceEvent]
    model_fingerprints: list[str]
    node_key_id: str
    trace_key_id: str


class Field(BaseModel):
    """A field that is wrong, and what is allowed there."""

    field: str
    description: str


class Refusal(BaseModel):
    """Why a call failed."""

    reason: str
    status: str
    message: str
    fields: list[Field]
    metadata: dict[str, str]
    retryable: bool
    request_id: str


class RefusalAnswer(BaseModel):
    """A call that failed.

    ``crp_error`` and what follows it stand there where CRP has a word for the failure (CRP-SPEC-004 §16, -006).
    """

    error: Refusal
    crp_error: str | None = None
    continuation_id: str | None = None
    directive: str | None = None
    parent_value: str | None = None
    child_value: str | None = None
    timestamp: str


class ErcpRefusalAnswer(RefusalAnswer):
    """A call of ERCP that failed: nothing signed it and no model had a part in it (ERCP 1.0 §2)."""

    trace_id: str | None
    proto_version: str
    model_fingerprint: None
    node_signature: None
