"""The schemas of ERCP 1.0 §3 and §4 as models: they check requests and make the OpenAPI document.

Unknown fields are accepted: a newer minor version may have added them (§10). The words of the document are the only
values of an enumeration. What is checked here is form alone; ranges and meaning are the service's. Only the lengths of
lists are bounded here too: what is wrong with the members of an endless one is not worth finding out.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Uint32: TypeAlias = Annotated[int, Field(ge=0, le=2**32 - 1, strict=True)]
Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False, strict=True)]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
FreeForm: TypeAlias = dict[str, Any]

ConstraintState: TypeAlias = Literal["kept", "broken", "undecided"]
RunStatus: TypeAlias = Literal["converged", "infeasible", "partial", "failed"]
ConstraintType: TypeAlias = Literal["predicate", "style", "factual", "temporal", "custom"]
ConstraintPriority: TypeAlias = Literal["high", "medium", "low"]
ErrorType: TypeAlias = Literal[
    "contradiction", "factual_incorrect", "missing_justification", "ambiguity", "syntax_error"
]
MutationStrategy: TypeAlias = Literal["relax", "reframe", "decompose"]
OperatorName: TypeAlias = Literal["generate", "verify", "extract", "stabilize", "mutate"]


MAX_CONSTRAINTS: Final = 200
MAX_ERRORS: Final = 1_000
MAX_EVIDENCE: Final = 100
MAX_PASSAGES: Final = 64
_MAX_DETECTORS: Final = 64
_MAX_OFFSETS: Final = 2


class _Form(BaseModel):
    model_config = ConfigDict(extra="allow")


class Problem(_Form):
    """The question that a run reasons about (ERCP 1.0 §3.1)."""

    id: str = ""
    description: str = ""
    metadata: FreeForm = {}


class RunConfig(_Form):
    """How to run; every field has a default (ERCP 1.0 §3.1)."""

    model: str = ""
    max_iterations: Uint32 | None = None
    max_constraints: Uint32 | None = None
    similarity_threshold: Number | None = None
    temperature: Number | None = None
    top_p: Number | None = None
    deterministic: Flag | None = None
    verify_threshold: Number | None = None
    candidate_threshold: Number | None = None
    seed: Uint32 | None = None
    max_duration_ms: Uint32 | None = None
    nli_threshold: Number | None = None
    run_fact_check: Flag | None = None
    max_constraints_per_error: Uint32 | None = None
    max_tokens: Uint32 | None = None
    allow_undecided: Flag | None = None


class Predicate(_Form):
    """The machine-checkable half of a constraint (ERCP 1.0 §8)."""

    predicate_name: str = ""
    args: FreeForm = {}


class ConstraintSource(_Form):
    """What made a constraint (ERCP 1.0 §4.1)."""

    detected_by: str = ""
    error_id: str = ""


class Constraint(_Form):
    """A rule that later candidates must obey, in words and as a predicate (ERCP 1.0 §4.1)."""

    constraint_id: str = ""
    type: ConstraintType
    priority: ConstraintPriority = "medium"
    nl_text: str = ""
    predicate: Predicate | None = None
    source: ConstraintSource | None = None
    confidence: Number | None = None
    immutable: Flag = False


class Evidence(_Form):
    """One reason to believe that an error is one (ERCP 1.0 §4.2)."""

    source: str = ""
    score: Number | None = None
    excerpt: str = ""


class Error(_Form):
    """One fault that a verifier found (ERCP 1.0 §4.2)."""

    error_id: str = ""
    type: ErrorType
    span: Annotated[list[Uint32], Field(max_length=_MAX_OFFSETS)] = []
    excerpt: str = ""
    confidence: Number | None = None
    detected_by: Annotated[list[str], Field(max_length=_MAX_DETECTORS)] = []
    evidence: Annotated[list[Evidence], Field(max_length=MAX_EVIDENCE)] = []


class RetrievalPassage(_Form):
    """A text to hold the reasoning against (ERCP 1.0 §7)."""

    source: str = ""
    text: str


class GenConfig(_Form):
    """How to generate (ERCP 1.0 §3.2)."""

    model: str = ""
    temperature: Number | None = None
    max_tokens: Uint32 | None = None
    deterministic: Flag | None = None
    top_p: Number | None = None
    seed: Uint32 | None = None


class VerifyConfig(_Form):
    """How to verify (ERCP 1.0 §3.3)."""

    nli_threshold: Number | None = None
    run_fact_check: Flag | None = None


class ExtractConfig(_Form):
    """How to extract constraints (ERCP 1.0 §3.4)."""

    max_constraints_per_error: Uint32 | None = None
    verify_threshold: Number | None = None
    candidate_threshold: Number | None = None


Constraints: TypeAlias = Annotated[list[Constraint], Field(max_length=MAX_CONSTRAINTS)]
Passages: TypeAlias = Annotated[list[RetrievalPassage], Field(max_length=MAX_PASSAGES)]


class _Request(_Form):
    trace_id: str = Field(default="", description="UUID4 of the trace; empty lets the server choose.")


class RunRequest(_Request):
    """``POST /ercp/v1/run`` (ERCP 1.0 §3.1)."""

    problem: Problem
    config: RunConfig | None = None
    constraints: Constraints = []
    retrieval_context: Passages = []


class GenerateRequest(_Request):
    """``POST /ercp/v1/generate`` (ERCP 1.0 §3.2)."""

    problem: Problem
    constraints: Constraints = []
    gen_config: GenConfig | None = None


class VerifyRequest(_Request):
    """``POST /ercp/v1/verify`` (ERCP 1.0 §3.3)."""

    reasoning_id: str = ""
    reasoning_text: str
    constraints: Constraints = []
    verify_config: VerifyConfig | None = None
    retrieval_context: Passages = []


class ExtractConstraintsRequest(_Request):
    """``POST /ercp/v1/extract_constraints`` (ERCP 1.0 §3.4)."""

    errors: Annotated[list[Error], Field(max_length=MAX_ERRORS)]
    reasoning_text: str = ""
    extract_config: ExtractConfig | None = None


class StabilizeRequest(_Request):
    """``POST /ercp/v1/stabilize`` (ERCP 1.0 §3.5)."""

    reasoning_prev: str
    reasoning_curr: str
    threshold: Number | None = None


class MutateRequest(_Request):
    """``POST /ercp/v1/mutate`` (ERCP 1.0 §3.6)."""

    problem: Problem
    reasoning_text: str = ""
    mutation_strategy: MutationStrategy
    mutation_config: FreeForm = {}
    constraints: Constraints = []
