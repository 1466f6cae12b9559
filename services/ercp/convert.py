"""Between the messages of ``ercp.v1`` and this service's records; no decisions (ERCP 1.0 §3, §4)."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc
from google.protobuf.message import Message
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.encoding import sha256_hex
from services.common.message_json import struct_json, word_of
from services.common.settings import ErcpSettings
from services.ercp.deciding import ExtractCommand, MutateCommand
from services.ercp.domain import vocabulary as words
from services.ercp.domain.duplicates import Duplicates
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.mutating import MAX_PARTS
from services.ercp.domain.records import (
    Claim,
    Constraint,
    ConstraintOutcome,
    Decoding,
    Doubt,
    Evidence,
    Fault,
    ModelIdentity,
    OpenGround,
    Passage,
    PredicateForm,
    Problem,
    Reasoning,
    RunConfig,
    Sentence,
    Source,
)
from services.ercp.domain.standing import MAX_SENTENCE_CHARS
from services.ercp.domain.trace import TraceEvent
from services.ercp.domain.vocabulary import ConstraintType, Detector, ErrorType, Priority, RunStatus, Strategy
from services.ercp.operator_app import Call, TraceRead
from services.ercp.ports import Analysis, Knowledge
from services.ercp.run_app import RunCommand, RunResult
from services.ercp.understanding import UNDERSTOOD_BY, WAYS
from services.ercp.unknown_fields import unknown_fields
from services.ercp.verifying import Verification, VerifyCommand

_MILLISECONDS: Final = 1_000
MessageT = TypeVar("MessageT", bound=Message)


def body_sha256(request: Any) -> str:
    """Return the digest of a request without its ids: Run and RunStream of one body share it."""
    body = type(request)()
    body.CopyFrom(request)
    body.ClearField("request_id")
    body.ClearField("trace_id")
    return sha256_hex(body.SerializeToString(deterministic=True))


def call(request: Any, name: str) -> Call:
    """Return what makes a call recognisable."""
    return Call(name, request.request_id, body_sha256(request), request.trace_id, unknown_fields(request))


def run_command(request: rpc.RunRequest | rpc.RunStreamRequest, settings: ErcpSettings) -> RunCommand:
    """Read a RunRequest or a RunStreamRequest."""
    return RunCommand(
        request_id=request.request_id,
        body_sha256=body_sha256(request),
        problem=problem(request.problem),
        config=run_config(request.config, settings),
        trace_id=request.trace_id,
        constraints=constraints(request.constraints, request.request_id),
        passages=passages(request.retrieval_context),
        unknown=unknown_fields(request),
    )


def run_config(config: rpc.RunConfig, settings: ErcpSettings) -> RunConfig:
    """Read a RunConfig; an absent field is the document's default (§3.1), or the deployment's."""
    temperature, top_p = _given(config, "temperature", 0.0), _given(config, "top_p", 1.0)
    duration = _given(config, "max_duration_ms", None)
    return RunConfig(
        model=config.model,
        max_iterations=_given(config, "max_iterations", words.MAX_ITERATIONS),
        max_constraints=_given(config, "max_constraints", words.MAX_CONSTRAINTS),
        similarity_threshold=_given(config, "similarity_threshold", words.SIMILARITY_THRESHOLD),
        verify_threshold=_given(config, "verify_threshold", words.VERIFY_THRESHOLD),
        candidate_threshold=_given(config, "candidate_threshold", words.CANDIDATE_THRESHOLD),
        nli_threshold=_given(config, "nli_threshold", words.NLI_THRESHOLD),
        run_fact_check=_given(config, "run_fact_check", default=True),
        max_constraints_per_error=_given(config, "max_constraints_per_error", words.MAX_CONSTRAINTS_PER_ERROR),
        max_duration_s=None if duration is None else duration / _MILLISECONDS,
        allow_undecided=_given(config, "allow_undecided", default=settings.allow_undecided),
        grounds=words.Grounds(settings.grounds),
        decoding=_decoding(config, temperature, top_p),
    )


def decoding(config: rpc.GenConfig) -> Decoding:
    """Read a GenConfig's decoding."""
    return _decoding(config, _given(config, "temperature", 0.0), _given(config, "top_p", 1.0))


def _decoding(config: Any, temperature: float, top_p: float) -> Decoding:
    """Return the decoding; it is deterministic when it can be, whatever was demanded (§2)."""
    return Decoding(
        temperature=temperature,
        top_p=top_p,
        seed=_given(config, "seed", 0),
        max_tokens=_given(config, "max_tokens", words.MAX_TOKENS),
        deterministic=temperature == 0.0 and top_p == 1.0,
    )


def verify_command(request: rpc.VerifyRequest) -> VerifyCommand:
    """Read a VerifyRequest; knowledge that is not ``None`` asks for the fact check."""
    config = request.verify_config
    nothing = Knowledge(b"", (), ())
    return VerifyCommand(
        name="",
        text=request.reasoning_text,
        sentences=(),
        constraints=constraints(request.constraints, request.request_id),
        nli_threshold=_given(config, "nli_threshold", words.NLI_THRESHOLD),
        analysis=Analysis(b"", (), ()),
        knowledge=nothing if _given(config, "run_fact_check", default=True) else None,
    )


def extract_command(request: rpc.ExtractConstraintsRequest) -> ExtractCommand:
    """Read an ExtractConstraintsRequest."""
    config = request.extract_config
    return ExtractCommand(
        name="",
        faults=tuple(fault(each) for each in request.errors),
        text=request.reasoning_text,
        verify_threshold=_given(config, "verify_threshold", words.VERIFY_THRESHOLD),
        candidate_threshold=_given(config, "candidate_threshold", words.CANDIDATE_THRESHOLD),
        most_per_error=_given(config, "max_constraints_per_error", words.MAX_CONSTRAINTS_PER_ERROR),
        most=10 * max(1, len(request.errors)),
    )


def mutate_command(request: rpc.MutateRequest) -> MutateCommand:
    """Read a MutateRequest."""
    config = struct_json(request.mutation_config)
    return MutateCommand(
        strategy=Strategy(word_of(pb.MutationStrategy.DESCRIPTOR, request.mutation_strategy)),
        problem=problem(request.problem),
        constraints=constraints(request.constraints, request.request_id),
        core=tuple(config.get("core", ())),
        text=request.reasoning_text,
        max_parts=int(config.get("max_parts", MAX_PARTS)),
    )


def problem(message: pb.Problem) -> Problem:
    """Read a Problem; the message itself is kept for fields that this version does not know (§10)."""
    return Problem(
        description=message.description,
        id=message.id,
        metadata=struct_json(message.metadata),
        origin=message.SerializeToString(deterministic=True),
    )


def problem_message(record: Problem) -> pb.Problem:
    """Return a Problem."""
    message = _restored(pb.Problem, record.origin)
    message.id, message.description = record.id, record.description
    if record.metadata:
        message.metadata.CopyFrom(_struct(record.metadata))
    return message


def constraints(messages: Iterable[pb.Constraint], request_id: str) -> tuple[Constraint, ...]:
    """Read constraints; one without an id gets one that follows from the request (§4.1)."""
    return tuple(
        Constraint(
            constraint_id=each.constraint_id or derived_uuid(request_id, "constraint", str(number)),
            type=ConstraintType(word_of(pb.ConstraintType.DESCRIPTOR, each.type)),
            nl_text=each.nl_text,
            predicate=PredicateForm(
                each.predicate.predicate_name, struct_json(each.predicate.args), _understood_by(each.predicate)
            ),
            priority=Priority(word_of(pb.ConstraintPriority.DESCRIPTOR, each.priority) or Priority.MEDIUM),
            source=_source(each.source),
            confidence=each.confidence if each.HasField("confidence") else None,
            immutable=each.immutable,
            origin=each.SerializeToString(deterministic=True),
        )
        for number, each in enumerate(messages)
    )


def _understood_by(message: pb.Predicate) -> str:
    """Return who understood the words of a constraint that came without a predicate (ADR 0116)."""
    value = message.extensions.fields.get(UNDERSTOOD_BY)
    return value.string_value if value is not None and value.string_value in WAYS else ""


def _source(message: pb.ConstraintSource) -> Source:
    known = set(Detector)
    return Source(Detector(message.detected_by) if message.detected_by in known else Detector.CALLER, message.error_id)


def constraint_message(record: Constraint) -> pb.Constraint:
    """Return a Constraint."""
    message = _restored(pb.Constraint, record.origin)
    message.constraint_id, message.nl_text, message.immutable = record.constraint_id, record.nl_text, record.immutable
    message.MergeFrom(
        pb.Constraint(
            type=f"CONSTRAINT_TYPE_{record.type.name}", priority=f"CONSTRAINT_PRIORITY_{record.priority.name}"
        )
    )
    message.predicate.predicate_name = record.predicate.name
    message.predicate.args.CopyFrom(_struct(record.predicate.args))
    if not record.origin or not message.source.detected_by:
        message.source.detected_by = record.source.detected_by.value
        message.source.error_id = record.source.error_id
    if record.confidence is not None:
        message.confidence = record.confidence
    return message


def passages(messages: Iterable[rpc.RetrievalPassage]) -> tuple[Passage, ...]:
    """Read the texts of a retrieval_context."""
    return tuple(Passage(each.source, each.text) for each in messages)


def fault(message: pb.Error) -> Fault:
    """Read an Error."""
    return Fault(
        error_id=message.error_id,
        type=ErrorType(word_of(pb.ErrorType.DESCRIPTOR, message.type)),
        confidence=message.confidence,
        detected_by=tuple(Detector(each) for each in message.detected_by if each in set(Detector)),
        evidence=tuple(
            Evidence(each.source, each.score if each.HasField("score") else None, each.excerpt)
            for each in message.evidence
        ),
        span=(message.span[0], message.span[1]) if message.span else None,
        excerpt=message.excerpt,
    )


def fault_message(record: Fault) -> pb.Error:
    """Return an Error."""
    return pb.Error(
        error_id=record.error_id,
        type=f"ERROR_TYPE_{record.type.name}",
        span=record.span or (),
        excerpt=record.excerpt,
        confidence=record.confidence,
        detected_by=[each.value for each in record.detected_by],
        evidence=[pb.Evidence(source=each.source, score=each.score, excerpt=each.excerpt) for each in record.evidence],
    )


def reasoning_message(record: Reasoning) -> pb.Reasoning:
    """Return a Reasoning."""
    return pb.Reasoning(
        reasoning_id=record.reasoning_id,
        reasoning_text=record.text,
        sentences=_texts(record.sentences),
        claims=_claims(record.claims),
    )


def _texts(sentences: Iterable[Sentence]) -> list[str]:
    return [each.text for each in sentences]


def _claims(claims: Iterable[Claim]) -> list[pb.ReasoningClaim]:
    return [pb.ReasoningClaim(claim=each.claim, source=each.source) for each in claims]


def generated(record: Reasoning, event: TraceEvent) -> rpc.GenerateResponse:
    """Return a GenerateResponse, not yet signed."""
    return rpc.GenerateResponse(
        trace_id=event.trace_id,
        reasoning_id=record.reasoning_id,
        reasoning_text=record.text,
        sentences=_texts(record.sentences),
        claims=_claims(record.claims),
        **_audit(event),
    )


def audit(event: TraceEvent) -> dict[str, Any]:
    """Return the audit metadata of §2 but for the signature."""
    return {"trace_id": event.trace_id, **_audit(event)}


def _audit(event: TraceEvent) -> dict[str, Any]:
    return {
        "timestamp": timestamp(event.timestamp),
        "proto_version": words.PROTO_VERSION,
        "model_fingerprint": event.identity.fingerprint,
    }


def run_response(result: RunResult) -> rpc.RunResponse:
    """Return a RunResponse, not yet signed."""
    state = result.state
    core = [each.constraint_id for each in state.conflicts] if result.status is RunStatus.INFEASIBLE else []
    return rpc.RunResponse(
        trace_id=result.trace_id,
        timestamp=timestamp(result.timestamp),
        proto_version=words.PROTO_VERSION,
        status=f"RUN_STATUS_{result.status.name}",
        final_reasoning=None if result.reasoning is None else reasoning_message(result.reasoning),
        constraints=[constraint_message(each) for each in state.constraints],
        trace_events=[event_message(each) for each in result.events],
        model_fingerprint=result.identity.fingerprint,
        candidate_constraints=[constraint_message(each) for each in state.candidates],
        conflicting_constraint_ids=core,
        iterations=state.iterations,
        status_reason=result.reason,
        relaxed_constraints=[constraint_message(each) for each in state.relaxed],
        fidelity_score=result.fidelity_score,
        constraint_outcomes=[outcome_message(each) for each in result.outcomes],
        duplicate_constraints=[duplicates_message(each) for each in result.duplicates],
        open_doubts=[doubt_message(each) for each in result.doubts],
        open_grounds=[ground_message(each) for each in result.grounds],
    )


def verify_response(verified: Verification, found: Iterable[Duplicates], event: TraceEvent) -> rpc.VerifyResponse:
    """Return a VerifyResponse, not yet signed."""
    return rpc.VerifyResponse(
        errors=[fault_message(each) for each in verified.faults],
        skipped_detectors=verified.skipped,
        constraint_outcomes=[outcome_message(each) for each in verified.outcomes],
        duplicate_constraints=[duplicates_message(each) for each in found],
        open_doubts=[doubt_message(each) for each in verified.doubts],
        open_grounds=[ground_message(each) for each in verified.grounds],
        **audit(event),
    )


def outcome_message(record: ConstraintOutcome) -> pb.ConstraintOutcome:
    """Return a ConstraintOutcome."""
    return pb.ConstraintOutcome(
        constraint_id=record.constraint_id,
        state=f"CONSTRAINT_STATE_{record.standing.name}",
        undecided_reason="" if record.reason is None else record.reason.value,
        why=record.why,
        places=[
            pb.DraftPlace(
                start=each.start,
                end=each.end,
                sentence_start=each.sentence_start,
                sentence_end=each.sentence_end,
                sentence=each.sentence,
            )
            for each in record.places
        ],
        immutable=record.immutable,
    )


def duplicates_message(record: Duplicates) -> pb.DuplicateConstraints:
    """Return a DuplicateConstraints."""
    return pb.DuplicateConstraints(constraint_ids=record.constraint_ids, demand=record.demand)


def doubt_message(record: Doubt) -> pb.Doubt:
    """Return a Doubt; its place is the whole sentence."""
    places = [] if record.span is None else [_whole_sentence(record.span, record.excerpt)]
    return pb.Doubt(
        type=f"ERROR_TYPE_{record.type.name}",
        confidence=record.confidence,
        places=places,
        source=record.source,
        against=record.against,
        why=record.why,
    )


def ground_message(record: OpenGround) -> pb.OpenGround:
    """Return an OpenGround; its place is the whole sentence."""
    return pb.OpenGround(
        places=[_whole_sentence(record.span, record.excerpt)], is_confirmed=record.is_confirmed, why=record.why
    )


def _whole_sentence(span: tuple[int, int], excerpt: str) -> pb.DraftPlace:
    start, end = span
    sentence = excerpt[:MAX_SENTENCE_CHARS]
    return pb.DraftPlace(start=start, end=end, sentence_start=start, sentence_end=end, sentence=sentence)


def trace_response(read: TraceRead, key_ids: tuple[str, str]) -> rpc.GetTraceResponse:
    """Return a GetTraceResponse, not yet signed; ``key_ids`` as of ``NodeSigner``."""
    fingerprints = list(dict.fromkeys(each.identity.fingerprint for each in read.events))
    return rpc.GetTraceResponse(
        trace_id=read.trace_id,
        trace_events=[event_message(each) for each in read.events],
        model_fingerprints=fingerprints,
        timestamp=timestamp(read.timestamp),
        proto_version=words.PROTO_VERSION,
        model_fingerprint=read.events[-1].identity.fingerprint if read.events else "",
        node_key_id=key_ids[0],
        trace_key_id=key_ids[1],
    )


def event_message(event: TraceEvent) -> pb.TraceEvent:
    """Return a TraceEvent."""
    return pb.TraceEvent(
        event_id=event.event_id,
        trace_id=event.trace_id,
        timestamp=timestamp(event.timestamp),
        operator=f"OPERATOR_{event.operator.name}",
        input_summary=_struct(event.input_summary),
        output_summary=_struct(event.output_summary),
        model_fingerprint=event.identity.fingerprint,
        node_signature=event.node_signature,
        decoding_parameters=None if event.decoding is None else _decoding_message(event.decoding),
        model_identity=_identity_message(event.identity),
    )


def _decoding_message(record: Decoding) -> pb.DecodingParameters:
    return pb.DecodingParameters(
        temperature=record.temperature,
        top_p=record.top_p,
        seed=record.seed,
        max_tokens=record.max_tokens,
        deterministic=record.deterministic,
    )


def _identity_message(record: ModelIdentity) -> pb.ModelIdentity:
    return pb.ModelIdentity(
        model_name=record.model_name,
        version=record.version,
        weights_sha256=record.weights_sha256,
        provider_metadata=_struct(record.provider_metadata) if record.provider_metadata else None,
        response_sha256=record.response_sha256,
    )


def timestamp(moment: datetime) -> Timestamp:
    """Return a moment as a message."""
    message = Timestamp()
    message.FromDatetime(moment.astimezone(UTC))
    return message


def _struct(value: Any) -> Struct:
    message = Struct()
    message.update(value)
    return message


def _restored(kind: type[MessageT], origin: bytes) -> MessageT:
    """Return the message that a record was read from, with what this version does not know of it (§10)."""
    message = kind()
    message.ParseFromString(origin)
    return message


def _given(message: Any, field: str, default: Any) -> Any:
    return getattr(message, field) if message.HasField(field) else default
