import datetime

from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import claim_pb2 as _claim_pb2
from crp.dpe.v1 import finding_pb2 as _finding_pb2
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
REMEDIATION_ACTION_UNSPECIFIED: RemediationAction
REMEDIATION_ACTION_UPGRADE_STRATEGY: RemediationAction
REMEDIATION_ACTION_ANTI_REPETITION: RemediationAction
REMEDIATION_ACTION_CORRECT_CONTRADICTION: RemediationAction
REMEDIATION_ACTION_AUTO_CONTINUE: RemediationAction
REMEDIATION_ACTION_AUGMENT_FLOW: RemediationAction
REMEDIATION_ACTION_STITCH_FLOW: RemediationAction

class PriorWindow(_message.Message):
    __slots__ = ("window_id", "window_number", "text", "is_summary")
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    IS_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    window_id: str
    window_number: int
    text: str
    is_summary: bool
    def __init__(self, window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., text: _Optional[str] = ..., is_summary: _Optional[bool] = ...) -> None: ...

class AnalyzeRequest(_message.Message):
    __slots__ = ("session_id", "window_id", "window_number", "query", "prompt", "response_text", "envelope", "prior_windows", "grounding_mode", "ai_system_id", "ai_system", "loop_depth", "cache_no_store", "sub_queries", "cache_no_cache", "windows_remaining", "audit_trail_id")
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
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., window_number: _Optional[int] = ..., query: _Optional[str] = ..., prompt: _Optional[str] = ..., response_text: _Optional[str] = ..., envelope: _Optional[_Union[_envelope_pb2.ContextEnvelope, _Mapping]] = ..., prior_windows: _Optional[_Iterable[_Union[PriorWindow, _Mapping]]] = ..., grounding_mode: _Optional[_Union[_taxonomy_pb2.GroundingMode, str]] = ..., ai_system_id: _Optional[str] = ..., ai_system: _Optional[_Union[_regulatory_pb2.AiSystemProfile, _Mapping]] = ..., loop_depth: _Optional[int] = ..., cache_no_store: _Optional[bool] = ..., sub_queries: _Optional[_Iterable[str]] = ..., cache_no_cache: _Optional[bool] = ..., windows_remaining: _Optional[int] = ..., audit_trail_id: _Optional[str] = ...) -> None: ...

class AnalyzeResponse(_message.Message):
    __slots__ = ("report", "remediation")
    REPORT_FIELD_NUMBER: _ClassVar[int]
    REMEDIATION_FIELD_NUMBER: _ClassVar[int]
    report: _report_pb2.DpeReport
    remediation: RemediationPlan
    def __init__(self, report: _Optional[_Union[_report_pb2.DpeReport, _Mapping]] = ..., remediation: _Optional[_Union[RemediationPlan, _Mapping]] = ...) -> None: ...

class RemediationStep(_message.Message):
    __slots__ = ("action", "stage_number", "reason", "instruction", "claim_ids", "sub_queries")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    STAGE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTION_FIELD_NUMBER: _ClassVar[int]
    CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    SUB_QUERIES_FIELD_NUMBER: _ClassVar[int]
    action: RemediationAction
    stage_number: int
    reason: str
    instruction: str
    claim_ids: _containers.RepeatedScalarFieldContainer[str]
    sub_queries: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, action: _Optional[_Union[RemediationAction, str]] = ..., stage_number: _Optional[int] = ..., reason: _Optional[str] = ..., instruction: _Optional[str] = ..., claim_ids: _Optional[_Iterable[str]] = ..., sub_queries: _Optional[_Iterable[str]] = ...) -> None: ...

class RemediationPlan(_message.Message):
    __slots__ = ("steps", "temperature", "strategy", "max_redispatches")
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    MAX_REDISPATCHES_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedCompositeFieldContainer[RemediationStep]
    temperature: float
    strategy: _taxonomy_pb2.DispatchStrategy
    max_redispatches: int
    def __init__(self, steps: _Optional[_Iterable[_Union[RemediationStep, _Mapping]]] = ..., temperature: _Optional[float] = ..., strategy: _Optional[_Union[_taxonomy_pb2.DispatchStrategy, str]] = ..., max_redispatches: _Optional[int] = ...) -> None: ...

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
    __slots__ = ("summary", "original")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    ORIGINAL_FIELD_NUMBER: _ClassVar[int]
    summary: str
    original: str
    def __init__(self, summary: _Optional[str] = ..., original: _Optional[str] = ...) -> None: ...

class VerifySummaryResponse(_message.Message):
    __slots__ = ("fidelity_score", "faithful", "fabrications", "distortions", "claims", "stages", "models")
    FIDELITY_SCORE_FIELD_NUMBER: _ClassVar[int]
    FAITHFUL_FIELD_NUMBER: _ClassVar[int]
    FABRICATIONS_FIELD_NUMBER: _ClassVar[int]
    DISTORTIONS_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    fidelity_score: float
    faithful: bool
    fabrications: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Fabrication]
    distortions: _containers.RepeatedCompositeFieldContainer[_finding_pb2.Distortion]
    claims: _containers.RepeatedCompositeFieldContainer[_claim_pb2.Claim]
    stages: _containers.RepeatedCompositeFieldContainer[_report_pb2.StageOutcome]
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    def __init__(self, fidelity_score: _Optional[float] = ..., faithful: _Optional[bool] = ..., fabrications: _Optional[_Iterable[_Union[_finding_pb2.Fabrication, _Mapping]]] = ..., distortions: _Optional[_Iterable[_Union[_finding_pb2.Distortion, _Mapping]]] = ..., claims: _Optional[_Iterable[_Union[_claim_pb2.Claim, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[_report_pb2.StageOutcome, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ...) -> None: ...
