"""Bodies of ``/v1/check`` and of the guardrail endpoint, as models: they check form and make the OpenAPI document."""

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_FACTS: Final = 20_000
MOST_DOCUMENTS: Final = 100
MOST_TEXTS: Final = 100
MOST_MESSAGES: Final = 2_000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FactForm(_Strict):
    """A fact; a bare string is one too."""

    content: str
    title: str = ""


class DocumentForm(_Strict):
    """A document: its text, or its bytes in base64."""

    name: str
    text: str | None = None
    content: str | None = None
    media_type: str = ""


class CheckForm(_Strict):
    """An answer, and what it is checked against: facts, documents, or the messages that it answers."""

    answer: str
    question: str = ""
    facts: list[str | FactForm] = Field(default=[], max_length=MOST_FACTS)
    documents: list[DocumentForm] = Field(default=[], max_length=MOST_DOCUMENTS)
    messages: list[dict[str, Any]] = Field(default=[], max_length=MOST_MESSAGES)
    earlier_answers: list[str] = Field(default=[], max_length=MOST_TEXTS)
    policy: str | None = None
    report: bool = Field(default=True, strict=True)


class GuardrailOptions(BaseModel):
    """What a deployment says in ``additional_provider_specific_params``; what is not named here is not ours."""

    model_config = ConfigDict(extra="ignore")

    question: str = ""
    facts: list[str | FactForm] = Field(default=[], max_length=MOST_FACTS)
    documents: list[DocumentForm] = Field(default=[], max_length=MOST_DOCUMENTS)
    policy: str | None = None
    without_sources: Literal["pass", "block"] = "pass"


class GuardrailForm(BaseModel):
    """What LiteLLM's proxy sends to a generic guardrail; newer versions may add to it."""

    model_config = ConfigDict(extra="ignore")

    input_type: Literal["request", "response"]
    litellm_call_id: str | None = Field(default=None, max_length=256)
    texts: list[str] | None = Field(default=None, max_length=MOST_TEXTS)
    structured_messages: list[dict[str, Any]] | None = Field(default=None, max_length=MOST_MESSAGES)
    additional_provider_specific_params: GuardrailOptions | None = None


class ClaimAnswer(BaseModel):
    """A claim that was judged."""

    text: str
    start: int
    end: int
    verdict: str
    why: str


class PolicyFindingAnswer(BaseModel):
    """A directive that does not hold."""

    directive: str
    violation_type: str
    description: str
    halts: bool


class PolicyAnswer(BaseModel):
    """What the policy makes of the answer; it is withheld when ``halt_reason`` is not empty."""

    applied: str
    halt_reason: str
    findings: list[PolicyFindingAnswer]


class InjectionAnswer(BaseModel):
    """A source that speaks to a language model; never its words."""

    source: str
    action: Literal["reported", "left_out", "masked"]
    tells: list[str]
    rules: dict[str, int]
    places: list[list[int]]
    count: int


class CheckAnswer(BaseModel):
    """What was found."""

    risk_level: str
    supported: int
    judged: int
    withheld: bool
    claims: list[ClaimAnswer]
    policy: PolicyAnswer
    unreadable_parts: int
    injections: list[InjectionAnswer]
    warnings: list[str]
    facts: list[dict[str, Any]]
    report: dict[str, Any] | None


class GuardrailAnswer(BaseModel):
    """What LiteLLM's proxy reads: whether the text goes on; ``groundtrail`` is for people and logs."""

    action: Literal["NONE", "BLOCKED"]
    blocked_reason: str | None = None
    groundtrail: dict[str, Any]
