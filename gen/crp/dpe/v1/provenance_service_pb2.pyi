import datetime

from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import claim_pb2 as _claim_pb2
from crp.dpe.v1 import constraint_pb2 as _constraint_pb2
from crp.dpe.v1 import finding_pb2 as _finding_pb2
from crp.dpe.v1 import opinion_pb2 as _opinion_pb2
from crp.dpe.v1 import regulatory_pb2 as _regulatory_pb2
from crp.dpe.v1 import report_pb2 as _report_pb2
from crp.envelope.v1 import envelope_pb2 as _envelope_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RemediationAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEDIATION_ACTION_UNSPECIFIED: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_UPGRADE_STRATEGY: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_ANTI_REPETITION: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_CORRECT_CONTRADICTION: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_AUTO_CONTINUE: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_AUGMENT_FLOW: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_STITCH_FLOW: _ClassVar[RemediationAction]
    REMEDIATION_ACTION_WARN_CLIENT: _ClassVar[RemediationAction]

class RemediationForce(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEDIATION_FORCE_UNSPECIFIED: _ClassVar[RemediationForce]
    REMEDIATION_FORCE_REQUIRED: _ClassVar[RemediationForce]
    REMEDIATION_FORCE_RECOMMENDED: _ClassVar[RemediationForce]
    REMEDIATION_FORCE_ALTERNATIVE: _ClassVar[RemediationForce]

class RemediationCondition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEDIATION_CONDITION_UNSPECIFIED: _ClassVar[RemediationCondition]
    REMEDIATION_CONDITION_UPGRADE_ON_RISK: _ClassVar[RemediationCondition]
    REMEDIATION_CONDITION_PROMPT_AUGMENTATION: _ClassVar[RemediationCondition]
    REMEDIATION_CONDITION_REDISPATCH_OVER_BUDGET: _ClassVar[RemediationCondition]

class RemediationCall(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REMEDIATION_CALL_UNSPECIFIED: _ClassVar[RemediationCall]
    REMEDIATION_CALL_RE_DISPATCH: _ClassVar[RemediationCall]
    REMEDIATION_CALL_CONTINUATION: _ClassVar[RemediationCall]
    REMEDIATION_CALL_STITCH: _ClassVar[RemediationCall]
    REMEDIATION_CALL_NOTICE: _ClassVar[RemediationCall]

class SummaryClaimState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARY_CLAIM_STATE_UNSPECIFIED: _ClassVar[SummaryClaimState]
    SUMMARY_CLAIM_STATE_VERIFIED: _ClassVar[SummaryClaimState]
    SUMMARY_CLAIM_STATE_FAITHFUL: _ClassVar[SummaryClaimState]
    SUMMARY_CLAIM_STATE_UNSUPPORTED: _ClassVar[SummaryClaimState]
    SUMMARY_CLAIM_STATE_CONTRADICTED: _ClassVar[SummaryClaimState]
    SUMMARY_CLAIM_STATE_NOT_CHECKED: _ClassVar[SummaryClaimState]
REMEDIATION_ACTION_UNSPECIFIED: RemediationAction
REMEDIATION_ACTION_UPGRADE_STRATEGY: RemediationAction
REMEDIATION_ACTION_ANTI_REPETITION: RemediationAction
REMEDIATION_ACTION_CORRECT_CONTRADICTION: RemediationAction
REMEDIATION_ACTION_AUTO_CONTINUE: RemediationAction
REMEDIATION_ACTION_AUGMENT_FLOW: RemediationAction
REMEDIATION_ACTION_STITCH_FLOW: RemediationAction
REMEDIATION_ACTION_WARN_CLIENT: RemediationAction
REMEDIATION_FORCE_UNSPECIFIED: RemediationForce
REMEDIATION_FORCE_REQUIRED: RemediationForce
REMEDIATION_FORCE_RECOMMENDED: RemediationForce
REMEDIATION_FORCE_ALTERNATIVE: RemediationForce
REMEDIATION_CONDITION_UNSPECIFIED: RemediationCondition
REMEDIATION_CONDITION_UPGRADE_ON_RISK: RemediationCondition
REMEDIATION_CONDITION_PROMPT_AUGMENTATION: RemediationCondition
REMEDIATION_CONDITION_REDISPATCH_OVER_BUDGET: RemediationCondition
REMEDIATION_CALL_UNSPECIFIED: RemediationCall
REMEDIATION_CALL_RE_DISPATCH: RemediationCall
REMEDIATION_CALL_CONTINUATION: RemediationCall
REMEDIATION_CALL_STITCH: RemediationCall
REMEDIATION_CALL_NOTICE: RemediationCall
SUMMARY_CLAIM_STATE_UNSPECIFIED: SummaryClaimState
SUMMARY_CLAIM_STATE_VERIFIED: SummaryClaimState
SUMMARY_CLAIM_STATE_FAITHFUL: SummaryClaimState
SUMMARY_CLAIM_STATE_UNSUPPORTED: SummaryClaimState
SUMMARY_CLAIM_STATE_CONTRADICTED: SummaryClaimState
SUMMARY_CLAIM_STATE_NOT_CHECKED: SummaryClaimState

class PriorWindow(_message.Message):
    __slots__ = ("window_id", "window_number", "text", "is_summary", "session_id")
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IS_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    window_id: str
    window_number: int
    text: str
    is_summary: bool
    session_id: str
    def __init__(self, window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., text: _Optional[str] = ..., is_summary: _Optional[bool] = ..., session_id: _Optional[str] = ...) -> None: ...

class AnalyzeRequest(_message.Message):
    __slots__ = ("session_id", "window_id", "window_number", "query", "prompt", "response_text", "envelope", "prior_windows", "grounding_mode", "ai_system_id", "ai_system", "loop_depth", "cache_no_store", "sub_queries", "cache_no_cache", "windows_remaining", "audit_trail_id", "constraint_verdicts", "incomplete_risk_level", "leans_on", "stands_alone", "opinion_limits")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_TEXT_FIELD_NUMBER: _ClassVar[int]
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    PRIOR_WINDOWS_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    AI_SYSTEM_ID_FIELD_NUMBER: _ClassVar[int]
    AI_SYSTEM_FIELD_NUMBER: _ClassVar[int]
    LOOP_DEPTH_FIELD_NUMBER: _ClassVar[int]
    CACHE_NO_STORE_FIELD_NUMBER: _ClassVar[int]
    SUB_QUERIES_FIELD_NUMBER: _ClassVar[int]
    CACHE_NO_CACHE_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_REMAINING_FIELD_NUMBER: _ClassVar[int]
    AUDIT_TRAIL_ID_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINT_VERDICTS_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_RISK_LEVEL_FIELD_NUMBER: _ClassVar[int]
    LEANS_ON_FIELD_NUMBER: _ClassVar[int]
    STANDS_ALONE_FIELD_NUMBER: _ClassVar[int]
    OPINION_LIMITS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    window_number: int
    query: str
    prompt: str
    response_text: str
    envelope: _envelope_pb2.ContextEnvelope
    prior_windows: _containers.RepeatedCompositeFieldContainer[PriorWindow]
    grounding_mode: _taxonomy_pb2.GroundingMode
    ai_system_id: str
    ai_system: _regulatory_pb2.AiSystemProfile
    loop_depth: int
    cache_no_store: bool
    sub_queries: _containers.RepeatedScalarFieldContainer[str]
    cache_no_cache: bool
    windows_remaining: int
    audit_trail_id: str
    constraint_verdicts: _constraint_pb2.ConstraintVerdicts
    incomplete_risk_level: _taxonomy_pb2.RiskLevel
    leans_on: _containers.RepeatedScalarFieldContainer[str]
    stands_alone: bool
    opinion_limits: _opinion_pb2.OpinionLimits
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., query: _Optional[str] = ..., prompt: _Optional[str] = ..., response_text: _Optional[str] = ..., envelope: _Optional[_Union[_envelope_pb2.ContextEnvelope, _Mapping]] = ..., prior_windows: _Optional[_Iterable[_Union[PriorWindow, _Mapping]]] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., ai_system_id: _Optional[str] = ..., ai_system: _Optional[_Union[_regulatory_pb2.AiSystemProfile, _Mapping]] = ..., loop_depth: _Optional[int] = ..., cache_no_store: _Optional[bool] = ..., sub_queries: _Optional[_Iterable[str]] = ..., cache_no_cache: _Optional[bool] = ..., windows_remaining: _Optional[int] = ..., audit_trail_id: _Optional[str] = ..., constraint_verdicts: _Optional[_Union[_constraint_pb2.ConstraintVerdicts, _Mapping]] = ..., incomplete_risk_level: _Optional[_Union[_taxonomy_pb2.RiskLevel, str]] = ..., leans_on: _Optional[_Iterable[str]] = ..., stands_alone: _Optional[bool] = ..., opinion_limits: _Optional[_Union[_opinion_pb2.OpinionLimits, _Mapping]] = ...) -> None: ...

class AnalyzeResponse(_message.Message):
    __slots__ = ("report", "remediation")
    REPORT_FIELD_NUMBER: _ClassVar[int]
    REMEDIATION_FIELD_NUMBER: _ClassVar[int]
    report: _report_pb2.DpeReport
    remediation: RemediationPlan
    def __init__(self, report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., remediation: _Optional[_Union[RemediationPlan, _Mapping]] = ...) -> None: ...

class PromptExcerpt(_message.Message):
    __slots__ = ("placeholder", "window_id", "span", "repeated")
    PLACEHOLDER_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    REPEATED_FIELD_NUMBER: _ClassVar[int]
    placeholder: str
    window_id: str
    span: _text_pb2.TextSpan
    repeated: bool
    def __init__(self, placeholder: _Optional[str] = ..., window_id: _Optional[str] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., repeated: _Optional[bool] = ...) -> None: ...

class RemediationAccounting(_message.Message):
    __slots__ = ("counts_as_redispatch", "opens_window", "counts_llm_call", "billed", "charges_safety_budget", "audit_events")
    COUNTS_AS_REDISPATCH_FIELD_NUMBER: _ClassVar[int]
    OPENS_WINDOW_FIELD_NUMBER: _ClassVar[int]
    COUNTS_LLM_CALL_FIELD_NUMBER: _ClassVar[int]
    BILLED_FIELD_NUMBER: _ClassVar[int]
    CHARGES_SAFETY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    AUDIT_EVENTS_FIELD_NUMBER: _ClassVar[int]
    counts_as_redispatch: bool
    opens_window: bool
    counts_llm_call: bool
    billed: bool
    charges_safety_budget: bool
    audit_events: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, counts_as_redispatch: _Optional[bool] = ..., opens_window: _Optional[bool] = ..., counts_llm_call: _Optional[bool] = ..., billed: _Optional[bool] = ..., charges_safety_budget: _Optional[bool] = ..., audit_events: _Optional[_Iterable[str]] = ...) -> None: ...

class RemediationStep(_message.Message):
    __slots__ = ("action", "stage_number", "reason", "instruction", "claim_ids", "sub_queries", "force", "call", "conditions", "excerpts", "fact_ids", "window_ids", "accounting", "temperature")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    STAGE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTION_FIELD_NUMBER: _ClassVar[int]
    CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    SUB_QUERIES_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    CONDITIONS_FIELD_NUMBER: _ClassVar[int]
    EXCERPTS_FIELD_NUMBER: _ClassVar[int]
    FACT_IDS_FIELD_NUMBER: _ClassVar[int]
    WINDOW_IDS_FIELD_NUMBER: _ClassVar[int]
    ACCOUNTING_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    action: RemediationAction
    stage_number: int
    reason: str
    instruction: str
    claim_ids: _containers.RepeatedScalarFieldContainer[str]
    sub_queries: _containers.RepeatedScalarFieldContainer[str]
    force: RemediationForce
    call: RemediationCall
    conditions: _containers.RepeatedScalarFieldContainer[RemediationCondition]
    excerpts: _containers.RepeatedCompositeFieldContainer[PromptExcerpt]
    fact_ids: _containers.RepeatedScalarFieldContainer[str]
    window_ids: _containers.RepeatedScalarFieldContainer[str]
    accounting: RemediationAccounting
    temperature: float
    def __init__(self, action: _Optional[_Union[RemediationAction, str]] = ..., stage_number: _Optional[int] = ..., reason: _Optional[str] = ..., instruction: _Optional[str] = ..., claim_ids: _Optional[_Iterable[str]] = ..., sub_queries: _Optional[_Iterable[str]] = ..., force: _Optional[_Union[RemediationForce, str]] = ..., call: _Optional[_Union[RemediationCall, str]] = ..., conditions: _Optional[_Iterable[_Union[RemediationCondition, str]]] = ..., excerpts: _Optional[_Iterable[_Union[PromptExcerpt, _Mapping]]] = ..., fact_ids: _Optional[_Iterable[str]] = ..., window_ids: _Optional[_Iterable[str]] = ..., accounting: _Optional[_Union[RemediationAccounting, _Mapping]] = ..., temperature: _Optional[float] = ...) -> None: ...

class RemediationPlan(_message.Message):
    __slots__ = ("steps", "temperature", "strategy", "max_redispatches", "change_seed", "stages_not_computed")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    MAX_REDISPATCHES_FIELD_NUMBER: _ClassVar[int]
    CHANGE_SEED_FIELD_NUMBER: _ClassVar[int]
    STAGES_NOT_COMPUTED_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[RemediationStep]
    temperature: float
    strategy: _taxonomy_pb2.DispatchStrategy
    max_redispatches: int
    change_seed: bool
    stages_not_computed: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, steps: _Optional[_Iterable[_Union[RemediationStep, _Mapping]]] = ..., temperature: _Optional[float] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., max_redispatches: _Optional[int] = ..., change_seed: _Optional[bool] = ..., stages_not_computed: _Optional[_Iterable[int]] = ...) -> None: ...

class AnalyzeStreamRequest(_message.Message):
    __slots__ = ("analysis",)
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    analysis: AnalyzeRequest
    def __init__(self, analysis: _Optional[_Union[AnalyzeRequest, _Mapping]] = ...) -> None: ...

class StageEvent(_message.Message):
    __slots__ = ("outcome", "elapsed", "findings")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    outcome: _report_pb2.StageOutcome
    elapsed: _duration_pb2.Duration
    findings: int
    def __init__(self, outcome: _Optional[_Union[_report_pb2.StageOutcome, _Mapping]] = ..., elapsed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., findings: _Optional[int] = ...) -> None: ...

class AnalyzeStreamResponse(_message.Message):
    __slots__ = ("stage", "result")
    STAGE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    stage: StageEvent
    result: AnalyzeResponse
    def __init__(self, stage: _Optional[_Union[StageEvent, _Mapping]] = ..., result: _Optional[_Union[AnalyzeResponse, _Mapping]] = ...) -> None: ...

class SegmentClaimsRequest(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class SegmentClaimsResponse(_message.Message):
    __slots__ = ("claims", "claims_by_type", "sentences", "models")
    class ClaimsByTypeEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_BY_TYPE_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    claims: _containers.RepeatedCompositeFieldContainer[_claim_pb2.Claim]
    claims_by_type: _containers.ScalarMap[str, int]
    sentences: _containers.RepeatedCompositeFieldContainer[_text_pb2.TextSpan]
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    def __init__(self, claims: _Optional[_Iterable[_Union[_claim_pb2.Claim, _Mapping]]] = ..., claims_by_type: _Optional[_Mapping[str, int]] = ..., sentences: _Optional[_Iterable[_Union[_text_pb2.TextSpan, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ...) -> None: ...

class VerifySummaryRequest(_message.Message):
    __slots__ = ("summary", "original", "grounded_spans")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    GROUNDED_SPANS_FIELD_NUMBER: _ClassVar[int]
    summary: str
    original: str
    grounded_spans: _containers.RepeatedCompositeFieldContainer[_text_pb2.TextSpan]
    def __init__(self, summary: _Optional[str] = ..., original: _Optional[str] = ..., grounded_spans: _Optional[_Iterable[_Union[_text_pb2.TextSpan, _Mapping]]] = ...) -> None: ...

class SummaryClaim(_message.Message):
    __slots__ = ("claim_id", "span", "state", "support", "evidence")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    span: _text_pb2.TextSpan
    state: SummaryClaimState
    support: float
    evidence: _containers.RepeatedCompositeFieldContainer[_text_pb2.TextSpan]
    def __init__(self, claim_id: _Optional[str] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., state: _Optional[_Union[SummaryClaimState, str]] = ..., support: _Optional[float] = ..., evidence: _Optional[_Iterable[_Union[_text_pb2.TextSpan, _Mapping]]] = ...) -> None: ...

class VerifySummaryResponse(_message.Message):
    __slots__ = ("fidelity_score", "faithful", "fabrications", "distortions", "claims", "stages", "models", "stage3_score", "supported_ratio", "checked_claims", "reason")
    FIDELITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    FAITHFUL_FIELD_NUMBER: _ClassVar[int]
    FABRICATIONS_FIELD_NUMBER: _ClassVar[int]
    DISTORTIONS_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    STAGE3_SCORE_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_RATIO_FIELD_NUMBER: _ClassVar[int]
    CHECKED_CLAIMS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    fidelity_score: float
    faithful: bool
    fabrications: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Fabrication]
    distortions: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Distortion]
    claims: _containers.RepeatedCompositeFieldContainer[_claim_pb2.Claim]
    stages: _containers.RepeatedCompositeFieldContainer[_report_pb2.StageOutcome]
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    stage3_score: float
    supported_ratio: float
    checked_claims: _containers.RepeatedCompositeFieldContainer[SummaryClaim]
    reason: str
    def __init__(self, fidelity_score: _Optional[float] = ..., faithful: _Optional[bool] = ..., fabrications: _Optional[_Iterable[_Union[_finding_pb2.Fabrication, _Mapping]]] = ..., distortions: _Optional[_Iterable[_Union[_finding_pb2.Distortion, _Mapping]]] = ..., claims: _Optional[_Iterable[_Union[_claim_pb2.Claim, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[_report_pb2.StageOutcome, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ..., stage3_score: _Optional[float] = ..., supported_ratio: _Optional[float] = ..., checked_claims: _Optional[_Iterable[_Union[SummaryClaim, _Mapping]]] = ..., reason: _Optional[str] = ...) -> None: ...

class CheckFact(_message.Message):
    __slots__ = ("content", "title")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    content: str
    title: str
    def __init__(self, content: _Optional[str] = ..., title: _Optional[str] = ...) -> None: ...

class CheckDocument(_message.Message):
    __slots__ = ("name", "content", "media_type")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    content: bytes
    media_type: str
    def __init__(self, name: _Optional[str] = ..., content: _Optional[bytes] = ..., media_type: _Optional[str] = ...) -> None: ...

class CheckRequest(_message.Message):
    __slots__ = ("answer", "question", "facts", "documents", "earlier_answers", "grounding_mode", "opinion_limits", "is_beginning")
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    EARLIER_ANSWERS_FIELD_NUMBER: _ClassVar[int]
    GROUNDING_MODE_FIELD_NUMBER: _ClassVar[int]
    OPINION_LIMITS_FIELD_NUMBER: _ClassVar[int]
    IS_BEGINNING_FIELD_NUMBER: _ClassVar[int]
    answer: str
    question: str
    facts: _containers.RepeatedCompositeFieldContainer[CheckFact]
    documents: _containers.RepeatedCompositeFieldContainer[CheckDocument]
    earlier_answers: _containers.RepeatedScalarFieldContainer[str]
    grounding_mode: _taxonomy_pb2.GroundingMode
    opinion_limits: _opinion_pb2.OpinionLimits
    is_beginning: bool
    def __init__(self, answer: _Optional[str] = ..., question: _Optional[str] = ..., facts: _Optional[_Iterable[_Union[CheckFact, _Mapping]]] = ..., documents: _Optional[_Iterable[_Union[CheckDocument, _Mapping]]] = ..., earlier_answers: _Optional[_Iterable[str]] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., opinion_limits: _Optional[_Union[_opinion_pb2.OpinionLimits, _Mapping]] = ..., is_beginning: _Optional[bool] = ...) -> None: ...

class CheckedFact(_message.Message):
    __slots__ = ("fact_id", "content", "title", "location")
    FACT_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    LOCATION_FIELD_NUMBER: _ClassVar[int]
    fact_id: str
    content: str
    title: str
    location: str
    def __init__(self, fact_id: _Optional[str] = ..., content: _Optional[str] = ..., title: _Optional[str] = ..., location: _Optional[str] = ...) -> None: ...

class CheckResponse(_message.Message):
    __slots__ = ("report", "facts", "warnings")
    REPORT_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    report: _report_pb2.DpeReport
    facts: _containers.RepeatedCompositeFieldContainer[CheckedFact]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., facts: _Optional[_Iterable[_Union[CheckedFact, _Mapping]]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...
