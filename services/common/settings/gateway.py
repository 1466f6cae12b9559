"""Settings of the gateway: limits of a dispatch, defaults of its calls, and what it does when time runs short."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class GatewaySettings(BaseModel):
    """How the gateway dispatches; environment prefix ``GROUNDTRAIL_GATEWAY__``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_query_chars: int = Field(default=16_384, ge=1, le=32_768)
    """Longest query, in Unicode code points; 1-32768, default 16384."""

    max_system_prompt_chars: int = Field(default=32_768, ge=0, le=1_000_000)
    """Longest instruction of the application, in Unicode code points; default 32768."""

    default_max_tokens: int = Field(default=2_048, ge=1, le=131_072)
    """Upper bound of an answer when the request names none, in tokens of the target model; default 2048."""

    assumed_window_tokens: int = Field(default=8_192, ge=1_024, le=100_000_000)
    """Context window that is taken for a model without a tokenizer here that is in no table, where the request gives
    none, in tokens, input and output together (ADR 0217). 1024-100000000, default 8192; set the model's own."""

    default_temperature: float = Field(default=0.7, ge=0.0, le=2.0)
    """Sampling temperature when the request names none; 0.0-2.0, default 0.7 (CRP-SPEC-005 §19.2)."""

    default_safety_policy: str = "halt-on CRITICAL; warn-on HIGH; warn-on-contradiction"
    """Safety policy in force when neither the request nor the tenant names one (CRP-SPEC-006); empty = none."""

    extractive_model: str = Field(default="gpt-4o-mini", min_length=1)
    """Model whose tokenizer and context window the extractive answerer is budgeted with; default gpt-4o-mini."""

    extractive_max_sentences: int = Field(default=5, ge=1, le=50)
    """Most sentences of an extractive answer; 1-50, default 5."""

    extractive_min_score: float = Field(default=0.30, ge=0.0, le=1.0)
    """Least score of a sentence for it to enter an extractive answer; 0.0-1.0, default 0.30."""

    data_residency: str = Field(default="", pattern=r"^[A-Za-z0-9-]{0,32}$")
    """Region that this deployment processes in (CRP-Compliance-Data-Residency); empty = not stated, and then a request
    that asks for a region is refused."""

    community_header: bool = True
    """Whether ``CRP-Memory-CKF-Community`` is sent; CRP-SPEC-003 §16.3 lets a deployment suppress it. Default true."""

    llm_min_s: float = Field(default=0.1, ge=0.0, le=60.0)
    """Least time that must be left for the model call, in seconds; with less the dispatch stops. Default 0.1."""

    reserve_s: float = Field(default=0.15, ge=0.0, le=60.0)
    """Time of the caller's deadline kept back from the model call for analysis and commit, in seconds; default 0.15."""

    cleanup_s: float = Field(default=5.0, gt=0.0, le=60.0)
    """Longest time that giving up a window may take after a dispatch broke off, in seconds; default 5."""

    remedies: Literal["off", "policy", "required", "recommended"] = "policy"
    """Remedies that are carried out when the request does not say (CRP-SPEC-005 §19, ADR 0059): off = none, whatever
    the request says; policy = required re-dispatches under a policy with upgrade-on-risk; required, recommended = what
    the plan of the analysis calls so. Default policy. The circuit breaker of the safety budget forces re-dispatches in
    any mode (ADR 0103)."""

    suspected_queries: Literal["off", "report", "mask"] = "report"
    """What becomes of a query that speaks to the model out of turn (ADR 0145): off, it is not looked for; report, the
    caller is told so by a warning, INJECTION_SUSPECTED, and the query stays; mask, it is answered without the sentences
    that do, and the warning is INJECTION_MASKED. Earlier questions that the caller tells go the same way, without a
    warning. Found ones are recorded in the audit chain. Default report."""

    suspected_transfers: Literal["report", "refuse", "mask"] = "refuse"
    """What becomes of a summary of an earlier window that gives orders to a model (SPEC-004 §17.5, ADR 0145): report,
    it is carried; refuse, the earlier answer's last paragraph flows instead; mask, the rest of it is carried. Unless it
    is report, that last paragraph flows without such sentences. Found ones are recorded. Default refuse."""

    suspected_sources: Literal["off", "report", "leave_out", "mask"] = "report"
    """What becomes of sources that a check or a chat brings, results of tools too, that speak to a language model
    (ADR 0145): off, they are not looked for; report, the answer tells of them; leave_out, nothing is checked
    against them; mask, they are read without the sentences that do, by the provider of a chat too. Default report."""

    max_redispatches: int = Field(default=2, ge=0, le=2)
    """Most re-dispatches of one window; 0-2, default 2 (CRP-SPEC-005 §19.2). Where the circuit breaker of the safety
    budget forces one, 0 counts as 1."""

    max_continuations: int = Field(default=1, ge=0, le=4)
    """Most windows that the gateway adds to one answer by itself (CRP-SPEC-005 §10.3); 0-4, default 1."""

    max_parallel_parts: int = Field(default=4, ge=1, le=10)
    """Most parts of a question that strategy hierarchical answers at once; 1-10, default 4 (CRP-SPEC-008)."""

    prompt_augmentation: bool = True
    """Whether a break in the flow may be remedied by a re-dispatch (CRP-SPEC-005 §11.5, A; §19.1, 4). Default true."""

    refuse_degraded: bool = False
    """Whether a session whose quality stays at tier D is refused with QUALITY_DEGRADED (CRP-SPEC-004 §13.2); false = it
    goes on with a warning. Default false."""

    batch_max_running: int = Field(default=8, ge=1, le=256)
    """Most items of batches that this process works on at once, and as many children of fan-outs; tenants take turns.
    1-256, default 8."""

    batch_max_running_per_tenant: int = Field(default=4, ge=1, le=256)
    """Most of one tenant among them; 1-256, default 4."""

    strategy_by_intent: bool = False
    """Whether a dispatch that names no strategy takes the one that its question's words ask for (CRP-SPEC-008):
    compare, hierarchical; several independent things, fan-out and fan-in; verify, reflexive; extract, pull; step by
    step, agentic; else push, and push too where that one is not served. Default false: push; others call the model up
    to eight times as often."""
