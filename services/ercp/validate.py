"""What each request must look like; every violation at once, before anything is read or written (ERCP 1.0 §3, §4, §10).

Fields that this version does not know are no violation (§10). Predicates are read here once, so that an unknown
operator, a wrong unit or a missing argument is refused with the field that it stands in.
"""

import math
from collections.abc import Iterable
from typing import Any, Final

from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc
from google.protobuf.struct_pb2 import Struct

from services.common.context import Role, current_call
from services.common.encoding import canonical_json
from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError, PermissionDeniedError
from services.common.message_json import struct_json, word_of
from services.common.rpc.validation import Violations
from services.common.settings import ErcpSettings
from services.ercp import unknown_fields
from services.ercp.domain import vocabulary as words
from services.ercp.domain.duality import disagreement
from services.ercp.domain.predicates import PredicateError, parse_predicate
from services.ercp.domain.vocabulary import Priority, Strategy
from services.ercp.domain.wording import understand_constraint

MAX_ID_CHARS: Final = 200
MAX_DESCRIPTION_CHARS: Final = 100_000
MAX_TEXT_CHARS: Final = 100_000
MAX_METADATA_BYTES: Final = 16 * 1024
MAX_CONSTRAINTS: Final = 200
MAX_NL_CHARS: Final = 2_000
MAX_ERRORS: Final = 1_000
MAX_EVIDENCE: Final = 100
MAX_PASSAGES: Final = 64
MAX_TOKENS: Final = 32_768
MAX_MODEL_CHARS: Final = 200
MAX_DURATION_MS: Final = 3_600_000
HIGH: Final = "high"
_OPTIONS: Final = {Strategy.RELAX: {"core"}, Strategy.REFRAME: set[str](), Strategy.DECOMPOSE: {"max_parts"}}
_MAX_PARTS: Final = 20
_PRIORITY: Final = "priority"
_PRIORITIES: Final = ", ".join(Priority)
_NO_JSON: Final = "must be a JSON object that RFC 8785 can print"


class _Checks(Violations):
    """The violations of one request; constraints whose words and predicate disagree have a reason of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.disagreeing: list[FieldViolation] = []

    def raise_if_any(self) -> None:
        """Raise INVALID_FIELD with every violation; CONSTRAINT_WORDS_DISAGREE where there is no other (ADR 0115)."""
        if self.found or not self.disagreeing:
            for each in self.disagreeing:
                self.add(each.field, each.description)
            super().raise_if_any()
            return
        text = "; ".join(f"{each.field}: {each.description}" for each in self.disagreeing)
        reason = ErrorReason.CONSTRAINT_WORDS_DISAGREE
        raise InvalidRequestError(reason, text, violations=tuple(self.disagreeing))


def run(request: rpc.RunRequest | rpc.RunStreamRequest) -> None:
    """Check a RunRequest or a RunStreamRequest; raises InvalidRequestError."""
    found = _Checks()
    _ids(found, request)
    _problem(found, request)
    _run_config(found, request.config)
    config = request.config
    room = config.max_constraints if config.HasField("max_constraints") else words.MAX_CONSTRAINTS
    _constraints(found, request.constraints, min(room, MAX_CONSTRAINTS))
    _passages(found, request.retrieval_context)
    found.raise_if_any()


def generate(request: rpc.GenerateRequest) -> None:
    """Check a GenerateRequest; raises InvalidRequestError."""
    found = _Checks()
    _ids(found, request)
    _problem(found, request)
    _constraints(found, request.constraints, MAX_CONSTRAINTS)
    _decoding(found, request.gen_config, "gen_config")
    found.raise_if_any()


def verify(request: rpc.VerifyRequest) -> None:
    """Check a VerifyRequest; raises InvalidRequestError."""
    found = _Checks()
    _ids(found, request)
    _text(found, "reasoning_text", request.reasoning_text, least=1)
    _text(found, "reasoning_id", request.reasoning_id, most=MAX_ID_CHARS)
    _constraints(found, request.constraints, MAX_CONSTRAINTS)
    _fractions(found, request.verify_config, "verify_config", "nli_threshold")
    _passages(found, request.retrieval_context)
    found.raise_if_any()


def extract_constraints(request: rpc.ExtractConstraintsRequest) -> None:
    """Check an ExtractConstraintsRequest; raises InvalidRequestError."""
    found = _Checks()
    _ids(found, request)
    _text(found, "reasoning_text", request.reasoning_text)
    found.require(len(request.errors) <= MAX_ERRORS, "errors", f"must be at most {MAX_ERRORS}")
    for index, error in enumerate(request.errors[:MAX_ERRORS]):
        _error(found, f"errors[{index}]", error, len(request.reasoning_text))
    _thresholds(found, request.extract_config, "extract_config")
    _range(found, request.extract_config, "extract_config", "max_constraints_per_error", 1, 10)
    found.raise_if_any()


def stabilize(request: rpc.StabilizeRequest) -> None:
    """Check a StabilizeRequest; raises InvalidRequestError."""
    found = _Checks()
    _ids(found, request)
    _text(found, "reasoning_prev", request.reasoning_prev)
    _text(found, "reasoning_curr", request.reasoning_curr)
    if request.HasField("threshold"):
        _fraction(found, "threshold", request.threshold)
    found.raise_if_any()


def mutate(request: rpc.MutateRequest) -> None:
    """Check a MutateRequest; raises InvalidRequestError."""
    found = _Checks()
    _ids(found, request)
    _problem(found, request)
    _text(found, "reasoning_text", request.reasoning_text)
    _constraints(found, request.constraints, MAX_CONSTRAINTS)
    if _enum(found, "mutation_strategy", request.mutation_strategy, pb.MutationStrategy):
        strategy = Strategy(word_of(pb.MutationStrategy.DESCRIPTOR, request.mutation_strategy))
        ids = {each.constraint_id for each in request.constraints}
        try:
            _options(found, strategy, struct_json(request.mutation_config), ids)
        except ValueError:
            found.add("mutation_config", _NO_JSON)
    found.raise_if_any()


def get_trace(request: rpc.GetTraceRequest) -> None:
    """Check a GetTraceRequest; raises InvalidRequestError."""
    found = _Checks()
    found.require_request_id(request.trace_id, "trace_id")
    found.raise_if_any()


def priority(problem: pb.Problem, settings: ErcpSettings) -> None:
    """Refuse a problem of high priority to a caller who may not ask for one (§11).

    Raises:
        PermissionDeniedError: ROLE_MISSING.
    """
    wanted = struct_json(problem.metadata).get("priority")
    role = Role(settings.high_priority_role)
    if isinstance(wanted, str) and wanted.strip().lower() == HIGH and not current_call().caller.allows(role):
        text = (
            f"a problem with priority high needs the role {role.value} here; leave the priority out, use another "
            "key, or have GROUNDTRAIL_ERCP__HIGH_PRIORITY_ROLE changed"
        )
        raise PermissionDeniedError(ErrorReason.ROLE_MISSING, text, role=role.value, field="problem.metadata.priority")


def _ids(found: Violations, request: Any) -> None:
    """Check what every request that writes has: its ids, and fields that this version does not know (§10)."""
    unknown_fields.check(found, request)
    found.require_request_id(request.request_id)
    if request.trace_id:
        found.require_request_id(request.trace_id, "trace_id")


def _problem(found: Violations, request: Any) -> None:
    if not request.HasField("problem"):
        found.add("problem", "must be set")
        return
    problem = request.problem
    found.require(problem.description.strip(), "problem.description", "must not be empty")
    _text(found, "problem.description", problem.description, most=MAX_DESCRIPTION_CHARS)
    _text(found, "problem.id", problem.id, most=MAX_ID_CHARS)
    _json(found, "problem.metadata", problem.metadata, MAX_METADATA_BYTES)
    given = problem.metadata.fields.get(_PRIORITY)
    if given is not None and given.WhichOneof("kind") != "null_value":
        known = given.string_value.strip().lower() in set(Priority)
        found.require(
            known, f"problem.metadata.{_PRIORITY}", f"must be one of {_PRIORITIES}, or left out (ERCP 1.0 §3.1)"
        )


def _json(found: Violations, field: str, value: Struct, most: int) -> None:
    try:
        size = len(canonical_json(struct_json(value)))
    except (ValueError, RecursionError):
        found.add(field, _NO_JSON)
        return
    found.require(size <= most, field, f"must be at most {most} bytes as JSON")


def _run_config(found: Violations, config: rpc.RunConfig) -> None:
    _decoding(found, config, "config")
    _range(found, config, "config", "max_iterations", 1, 200)
    _range(found, config, "config", "max_constraints", 1, 200)
    _range(found, config, "config", "max_duration_ms", 1, MAX_DURATION_MS)
    _range(found, config, "config", "max_constraints_per_error", 1, 10)
    _fractions(found, config, "config", "similarity_threshold", "nli_threshold")
    _thresholds(found, config, "config")


def _decoding(found: Violations, config: Any, path: str) -> None:
    """Check how text is decoded: what is to be repeatable must be greedy (§2)."""
    found.require(
        len(config.model) <= MAX_MODEL_CHARS, f"{path}.model", f"must have at most {MAX_MODEL_CHARS} characters"
    )
    temperature = config.temperature if config.HasField("temperature") else 0.0
    top_p = config.top_p if config.HasField("top_p") else 1.0
    found.require(0.0 <= temperature <= 2.0, f"{path}.temperature", "must be 0.0 to 2.0")  # noqa: PLR2004
    found.require(0.0 < top_p <= 1.0, f"{path}.top_p", "must be above 0.0 and at most 1.0")
    _range(found, config, path, "max_tokens", 1, MAX_TOKENS)
    if config.deterministic if config.HasField("deterministic") else True:
        text = "must be {} with deterministic decoding; set deterministic to false to sample (ERCP 1.0 §2)"
        found.require(temperature == 0.0 or temperature > 2.0, f"{path}.temperature", text.format("0"))  # noqa: PLR2004
        found.require(top_p == 1.0 or not 0.0 < top_p <= 1.0, f"{path}.top_p", text.format("1.0"))


def _thresholds(found: Violations, config: Any, path: str) -> None:
    """Check the confidence rule's two thresholds, and their order (§7)."""
    _fractions(found, config, path, "verify_threshold", "candidate_threshold")
    verify = config.verify_threshold if config.HasField("verify_threshold") else words.VERIFY_THRESHOLD
    candidate = config.candidate_threshold if config.HasField("candidate_threshold") else words.CANDIDATE_THRESHOLD
    found.require(candidate <= verify, f"{path}.candidate_threshold", f"must not be above verify_threshold, {verify:g}")


def _constraints(found: _Checks, constraints: Iterable[pb.Constraint], most: int) -> None:
    listed = list(constraints)
    found.require(len(listed) <= most, "constraints", f"must be at most {most}")
    ids = [each.constraint_id for each in listed if each.constraint_id]
    found.require(len(set(ids)) == len(ids), "constraints", "must not hold a constraint_id twice")
    for index, each in enumerate(listed[:MAX_CONSTRAINTS]):
        _constraint(found, f"constraints[{index}]", each)


def _constraint(found: _Checks, path: str, constraint: pb.Constraint) -> None:
    """Check a constraint: both halves of it are needed (§2 constraint duality)."""
    if constraint.constraint_id:
        found.require_request_id(constraint.constraint_id, f"{path}.constraint_id")
    _enum(found, f"{path}.type", constraint.type, pb.ConstraintType)
    _text(found, f"{path}.source.detected_by", constraint.source.detected_by, most=MAX_ID_CHARS)
    _text(found, f"{path}.source.error_id", constraint.source.error_id, most=MAX_ID_CHARS)
    known = constraint.priority in pb.ConstraintPriority.values()
    found.require(known, f"{path}.priority", "must be high, medium or low, or unset")
    _text(found, f"{path}.nl_text", constraint.nl_text, least=1, most=MAX_NL_CHARS)
    if constraint.HasField("confidence"):
        _fraction(found, f"{path}.confidence", constraint.confidence)
    if not constraint.HasField("predicate"):
        reason = understand_constraint(constraint.nl_text).reason or "a predicate is missing"
        found.add(
            f"{path}.predicate", f"must be set, for the words were not understood: {reason} (ERCP 1.0 §2); {_IN_WORDS}"
        )
        return
    try:
        predicate = parse_predicate(constraint.predicate.predicate_name, struct_json(constraint.predicate.args))
        fault = disagreement(constraint.nl_text, predicate)
        if fault:
            found.disagreeing.append(FieldViolation(f"{path}.nl_text", f"{fault}; correct the words or the predicate"))
    except PredicateError as error:
        found.add(f"{path}.predicate.{error.field}", f"{error.fault}; allowed: {error.allowed}")
    except ValueError:
        found.add(f"{path}.predicate.args", _NO_JSON)


_IN_WORDS: Final = "as InWords they are held by the entailment model alone, which decides nothing (ADR 0117)"


def _error(found: Violations, path: str, error: pb.Error, length: int) -> None:
    _enum(found, f"{path}.type", error.type, pb.ErrorType)
    if error.HasField("confidence"):
        _fraction(found, f"{path}.confidence", error.confidence)
    else:
        found.add(f"{path}.confidence", "must be set, 0.0 to 1.0")
    span = list(error.span)
    inside = not span or (len(span) == 2 and span[0] <= span[1] <= length)  # noqa: PLR2004 - first and one past last
    found.require(inside, f"{path}.span", "must be empty or two offsets inside reasoning_text, the first not above")
    _text(found, f"{path}.error_id", error.error_id, most=MAX_ID_CHARS)
    _text(found, f"{path}.excerpt", error.excerpt)
    found.require(len(error.detected_by) <= MAX_EVIDENCE, f"{path}.detected_by", f"must be at most {MAX_EVIDENCE}")
    for index, each in enumerate(error.evidence[:MAX_EVIDENCE]):
        _text(found, f"{path}.evidence[{index}].source", each.source, most=MAX_ID_CHARS)
        _text(found, f"{path}.evidence[{index}].excerpt", each.excerpt)
    found.require(len(error.evidence) <= MAX_EVIDENCE, f"{path}.evidence", f"must be at most {MAX_EVIDENCE}")


def _passages(found: Violations, passages: Iterable[rpc.RetrievalPassage]) -> None:
    listed = list(passages)
    found.require(len(listed) <= MAX_PASSAGES, "retrieval_context", f"must be at most {MAX_PASSAGES}")
    for index, each in enumerate(listed[:MAX_PASSAGES]):
        _text(found, f"retrieval_context[{index}].text", each.text, least=1)
        _text(found, f"retrieval_context[{index}].source", each.source, most=MAX_ID_CHARS)


def _options(found: Violations, strategy: Strategy, options: dict[str, Any], ids: set[str]) -> None:
    """Check the strategy's own options; one of another strategy is refused, since it would be obeyed by nothing."""
    known = _OPTIONS[strategy]
    for name in sorted((set(options) & unknown_fields.MUTATION_OPTIONS) - known):
        allowed = ", ".join(sorted(known)) or "none"
        found.add(f"mutation_config.{name}", f"is no option of {strategy.value}; allowed: {allowed}")
    core = options.get("core", [])
    if "core" in known and not (isinstance(core, list) and set(map(str, core)) <= ids):
        found.add("mutation_config.core", "must be a list of ids of the constraints given")
    parts = options.get("max_parts", 2)
    if "max_parts" in known and not (isinstance(parts, int) and 2 <= parts <= _MAX_PARTS):  # noqa: PLR2004
        found.add("mutation_config.max_parts", f"must be a whole number from 2 to {_MAX_PARTS}")


def _text(found: Violations, field: str, text: str, *, least: int = 0, most: int = MAX_TEXT_CHARS) -> None:
    found.require(least <= len(text) <= most, field, f"must have {least} to {most} characters")


def _enum(found: Violations, field: str, value: int, enum: Any) -> bool:
    names = ", ".join(word_of(enum.DESCRIPTOR, number) for number in enum.values() if number)
    known = value in enum.values() and value != 0
    found.require(known, field, f"must be one of {names}")
    return known


def _range(found: Violations, config: Any, path: str, field: str, least: int, most: int) -> None:
    if config.HasField(field):
        found.require(least <= getattr(config, field) <= most, f"{path}.{field}", f"must be {least} to {most}")


def _fractions(found: Violations, config: Any, path: str, *fields: str) -> None:
    for field in fields:
        if config.HasField(field):
            _fraction(found, f"{path}.{field}", getattr(config, field))


def _fraction(found: Violations, field: str, value: float) -> None:
    found.require(math.isfinite(value) and 0.0 <= value <= 1.0, field, "must be 0.0 to 1.0")
