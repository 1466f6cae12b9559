from crp.common.v1 import taxonomy_pb2 as _taxonomy_pb2
from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import guard_pb2 as _guard_pb2
from crp.dpe.v1 import report_pb2 as _report_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JudgeOpinion(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JUDGE_OPINION_UNSPECIFIED: _ClassVar[JudgeOpinion]
    JUDGE_OPINION_AGREES: _ClassVar[JudgeOpinion]
    JUDGE_OPINION_DISAGREES: _ClassVar[JudgeOpinion]
    JUDGE_OPINION_UNCLEAR: _ClassVar[JudgeOpinion]

class InjectionPatternClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INJECTION_PATTERN_CLASS_UNSPECIFIED: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_OVERRIDE: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_DELIMITER: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_ROLE: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_EXFILTRATION: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_BASE64: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_PATH: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_MARKUP: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_BIDIRECTIONAL_CONTROL: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_CONTROL_CHARACTER: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_ESCAPE: _ClassVar[InjectionPatternClass]
    INJECTION_PATTERN_CLASS_OUTPUT_MANIPULATION: _ClassVar[InjectionPatternClass]

class InjectionVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INJECTION_VERDICT_UNSPECIFIED: _ClassVar[InjectionVerdict]
    INJECTION_VERDICT_GROUNDED: _ClassVar[InjectionVerdict]
    INJECTION_VERDICT_DRIFTED: _ClassVar[InjectionVerdict]
    INJECTION_VERDICT_INJECTED: _ClassVar[InjectionVerdict]

class VerifiedClaimVerdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERIFIED_CLAIM_VERDICT_UNSPECIFIED: _ClassVar[VerifiedClaimVerdict]
    VERIFIED_CLAIM_VERDICT_SUPPORTED: _ClassVar[VerifiedClaimVerdict]
    VERIFIED_CLAIM_VERDICT_CONTRADICTED: _ClassVar[VerifiedClaimVerdict]
    VERIFIED_CLAIM_VERDICT_FABRICATED: _ClassVar[VerifiedClaimVerdict]
    VERIFIED_CLAIM_VERDICT_UNVERIFIABLE: _ClassVar[VerifiedClaimVerdict]

class VerificationSignalKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERIFICATION_SIGNAL_KIND_UNSPECIFIED: _ClassVar[VerificationSignalKind]
    VERIFICATION_SIGNAL_KIND_NLI: _ClassVar[VerificationSignalKind]
    VERIFICATION_SIGNAL_KIND_ENTITY: _ClassVar[VerificationSignalKind]
    VERIFICATION_SIGNAL_KIND_NUMBER: _ClassVar[VerificationSignalKind]
    VERIFICATION_SIGNAL_KIND_NEGATION: _ClassVar[VerificationSignalKind]
    VERIFICATION_SIGNAL_KIND_TRACEABILITY: _ClassVar[VerificationSignalKind]

class SignalVote(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNAL_VOTE_UNSPECIFIED: _ClassVar[SignalVote]
    SIGNAL_VOTE_SUPPORTS: _ClassVar[SignalVote]
    SIGNAL_VOTE_CONTRADICTS: _ClassVar[SignalVote]
    SIGNAL_VOTE_NEUTRAL: _ClassVar[SignalVote]
    SIGNAL_VOTE_FABRICATES: _ClassVar[SignalVote]
JUDGE_OPINION_UNSPECIFIED: JudgeOpinion
JUDGE_OPINION_AGREES: JudgeOpinion
JUDGE_OPINION_DISAGREES: JudgeOpinion
JUDGE_OPINION_UNCLEAR: JudgeOpinion
INJECTION_PATTERN_CLASS_UNSPECIFIED: InjectionPatternClass
INJECTION_PATTERN_CLASS_OVERRIDE: InjectionPatternClass
INJECTION_PATTERN_CLASS_DELIMITER: InjectionPatternClass
INJECTION_PATTERN_CLASS_ROLE: InjectionPatternClass
INJECTION_PATTERN_CLASS_EXFILTRATION: InjectionPatternClass
INJECTION_PATTERN_CLASS_BASE64: InjectionPatternClass
INJECTION_PATTERN_CLASS_PATH: InjectionPatternClass
INJECTION_PATTERN_CLASS_MARKUP: InjectionPatternClass
INJECTION_PATTERN_CLASS_BIDIRECTIONAL_CONTROL: InjectionPatternClass
INJECTION_PATTERN_CLASS_CONTROL_CHARACTER: InjectionPatternClass
INJECTION_PATTERN_CLASS_ESCAPE: InjectionPatternClass
INJECTION_PATTERN_CLASS_OUTPUT_MANIPULATION: InjectionPatternClass
INJECTION_VERDICT_UNSPECIFIED: InjectionVerdict
INJECTION_VERDICT_GROUNDED: InjectionVerdict
INJECTION_VERDICT_DRIFTED: InjectionVerdict
INJECTION_VERDICT_INJECTED: InjectionVerdict
VERIFIED_CLAIM_VERDICT_UNSPECIFIED: VerifiedClaimVerdict
VERIFIED_CLAIM_VERDICT_SUPPORTED: VerifiedClaimVerdict
VERIFIED_CLAIM_VERDICT_CONTRADICTED: VerifiedClaimVerdict
VERIFIED_CLAIM_VERDICT_FABRICATED: VerifiedClaimVerdict
VERIFIED_CLAIM_VERDICT_UNVERIFIABLE: VerifiedClaimVerdict
VERIFICATION_SIGNAL_KIND_UNSPECIFIED: VerificationSignalKind
VERIFICATION_SIGNAL_KIND_NLI: VerificationSignalKind
VERIFICATION_SIGNAL_KIND_ENTITY: VerificationSignalKind
VERIFICATION_SIGNAL_KIND_NUMBER: VerificationSignalKind
VERIFICATION_SIGNAL_KIND_NEGATION: VerificationSignalKind
VERIFICATION_SIGNAL_KIND_TRACEABILITY: VerificationSignalKind
SIGNAL_VOTE_UNSPECIFIED: SignalVote
SIGNAL_VOTE_SUPPORTS: SignalVote
SIGNAL_VOTE_CONTRADICTS: SignalVote
SIGNAL_VOTE_NEUTRAL: SignalVote
SIGNAL_VOTE_FABRICATES: SignalVote

class ScoreCoherenceRequest(_message.Message):
    __slots__ = ("prompt", "response", "facts", "threshold", "use_llm_judge", "bypass_cache")
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    USE_LLM_JUDGE_FIELD_NUMBER: _ClassVar[int]
    BYPASS_CACHE_FIELD_NUMBER: _ClassVar[int]
    prompt: str
    response: str
    facts: _containers.RepeatedCompositeFieldContainer[_guard_pb2.GroundingText]
    threshold: float
    use_llm_judge: bool
    bypass_cache: bool
    def __init__(self, prompt: _Optional[str] = ..., response: _Optional[str] = ..., facts: _Optional[_Iterable[_Union[_guard_pb2.GroundingText, _Mapping]]] = ..., threshold: _Optional[float] = ..., use_llm_judge: _Optional[bool] = ..., bypass_cache: _Optional[bool] = ...) -> None: ...

class ScoreCoherenceResponse(_message.Message):
    __slots__ = ("approved", "coherence", "logical_divergence", "factual_divergence", "threshold", "warning", "entailment_confidence", "judge", "blended_divergence", "cache_hit", "evidence", "status", "reason", "models", "policy_hash")
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    COHERENCE_FIELD_NUMBER: _ClassVar[int]
    LOGICAL_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    FACTUAL_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    WARNING_FIELD_NUMBER: _ClassVar[int]
    ENTAILMENT_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    JUDGE_FIELD_NUMBER: _ClassVar[int]
    BLENDED_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    CACHE_HIT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    approved: bool
    coherence: float
    logical_divergence: float
    factual_divergence: float
    threshold: float
    warning: bool
    entailment_confidence: float
    judge: JudgeOpinion
    blended_divergence: float
    cache_hit: bool
    evidence: _containers.RepeatedCompositeFieldContainer[_guard_pb2.GroundingEvidence]
    status: _taxonomy_pb2.StageStatus
    reason: str
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    policy_hash: str
    def __init__(self, approved: _Optional[bool] = ..., coherence: _Optional[float] = ..., logical_divergence: _Optional[float] = ..., factual_divergence: _Optional[float] = ..., threshold: _Optional[float] = ..., warning: _Optional[bool] = ..., entailment_confidence: _Optional[float] = ..., judge: _Optional[_Union[JudgeOpinion, str]] = ..., blended_divergence: _Optional[float] = ..., cache_hit: _Optional[bool] = ..., evidence: _Optional[_Iterable[_Union[_guard_pb2.GroundingEvidence, _Mapping]]] = ..., status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., reason: _Optional[str] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ..., policy_hash: _Optional[str] = ...) -> None: ...

class OverseeStreamRequest(_message.Message):
    __slots__ = ("start", "token", "end", "resume")
    START_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    start: _guard_pb2.StartOversight
    token: _guard_pb2.StreamToken
    end: _guard_pb2.EndOversight
    resume: _guard_pb2.ResumeOversight
    def __init__(self, start: _Optional[_Union[_guard_pb2.StartOversight, _Mapping]] = ..., token: _Optional[_Union[_guard_pb2.StreamToken, _Mapping]] = ..., end: _Optional[_Union[_guard_pb2.EndOversight, _Mapping]] = ..., resume: _Optional[_Union[_guard_pb2.ResumeOversight, _Mapping]] = ...) -> None: ...

class OverseeStreamResponse(_message.Message):
    __slots__ = ("verdict", "halt", "summary", "event")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    HALT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    verdict: _guard_pb2.TokenVerdict
    halt: _guard_pb2.StreamHalt
    summary: _guard_pb2.StreamSummary
    event: int
    def __init__(self, verdict: _Optional[_Union[_guard_pb2.TokenVerdict, _Mapping]] = ..., halt: _Optional[_Union[_guard_pb2.StreamHalt, _Mapping]] = ..., summary: _Optional[_Union[_guard_pb2.StreamSummary, _Mapping]] = ..., event: _Optional[int] = ...) -> None: ...

class DetectInjectionRequest(_message.Message):
    __slots__ = ("input", "intent", "response", "threshold")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    INTENT_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    input: str
    intent: str
    response: str
    threshold: float
    def __init__(self, input: _Optional[str] = ..., intent: _Optional[str] = ..., response: _Optional[str] = ..., threshold: _Optional[float] = ...) -> None: ...

class InjectionMatch(_message.Message):
    __slots__ = ("pattern_class", "weight", "span", "rule_id", "tells", "layers")
    PATTERN_CLASS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    RULE_ID_FIELD_NUMBER: _ClassVar[int]
    TELLS_FIELD_NUMBER: _ClassVar[int]
    LAYERS_FIELD_NUMBER: _ClassVar[int]
    pattern_class: InjectionPatternClass
    weight: float
    span: _text_pb2.TextSpan
    rule_id: str
    tells: str
    layers: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, pattern_class: _Optional[_Union[InjectionPatternClass, str]] = ..., weight: _Optional[float] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., rule_id: _Optional[str] = ..., tells: _Optional[str] = ..., layers: _Optional[_Iterable[str]] = ...) -> None: ...

class InjectionClaim(_message.Message):
    __slots__ = ("span", "verdict", "forward_divergence", "reverse_divergence", "divergence", "traceability")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    FORWARD_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    REVERSE_DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    DIVERGENCE_FIELD_NUMBER: _ClassVar[int]
    TRACEABILITY_FIELD_NUMBER: _ClassVar[int]
    span: _text_pb2.TextSpan
    verdict: InjectionVerdict
    forward_divergence: float
    reverse_divergence: float
    divergence: float
    traceability: float
    def __init__(self, span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., verdict: _Optional[_Union[InjectionVerdict, str]] = ..., forward_divergence: _Optional[float] = ..., reverse_divergence: _Optional[float] = ..., divergence: _Optional[float] = ..., traceability: _Optional[float] = ...) -> None: ...

class DetectInjectionResponse(_message.Message):
    __slots__ = ("detected", "combined_score", "threshold", "pattern_score", "blocked", "matches", "injection_risk", "claims", "status", "reason", "models", "classifier_probability", "classifier_status", "classifier_reason")
    DETECTED_FIELD_NUMBER: _ClassVar[int]
    COMBINED_SCORE_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    PATTERN_SCORE_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    MATCHES_FIELD_NUMBER: _ClassVar[int]
    INJECTION_RISK_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    CLASSIFIER_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    CLASSIFIER_STATUS_FIELD_NUMBER: _ClassVar[int]
    CLASSIFIER_REASON_FIELD_NUMBER: _ClassVar[int]
    detected: bool
    combined_score: float
    threshold: float
    pattern_score: float
    blocked: bool
    matches: _containers.RepeatedCompositeFieldContainer[InjectionMatch]
    injection_risk: float
    claims: _containers.RepeatedCompositeFieldContainer[InjectionClaim]
    status: _taxonomy_pb2.StageStatus
    reason: str
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    classifier_probability: float
    classifier_status: _taxonomy_pb2.StageStatus
    classifier_reason: str
    def __init__(self, detected: _Optional[bool] = ..., combined_score: _Optional[float] = ..., threshold: _Optional[float] = ..., pattern_score: _Optional[float] = ..., blocked: _Optional[bool] = ..., matches: _Optional[_Iterable[_Union[InjectionMatch, _Mapping]]] = ..., injection_risk: _Optional[float] = ..., claims: _Optional[_Iterable[_Union[InjectionClaim, _Mapping]]] = ..., status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., reason: _Optional[str] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ..., classifier_probability: _Optional[float] = ..., classifier_status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., classifier_reason: _Optional[str] = ...) -> None: ...

class VerifyClaimsRequest(_message.Message):
    __slots__ = ("response", "sources", "question")
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    response: str
    sources: _containers.RepeatedCompositeFieldContainer[_guard_pb2.GroundingText]
    question: str
    def __init__(self, response: _Optional[str] = ..., sources: _Optional[_Iterable[_Union[_guard_pb2.GroundingText, _Mapping]]] = ..., question: _Optional[str] = ...) -> None: ...

class VerifyClaimsBatchRequest(_message.Message):
    __slots__ = ("texts", "sources")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedCompositeFieldContainer[ClaimedText]
    sources: _containers.RepeatedCompositeFieldContainer[_guard_pb2.GroundingText]
    def __init__(self, texts: _Optional[_Iterable[_Union[ClaimedText, _Mapping]]] = ..., sources: _Optional[_Iterable[_Union[_guard_pb2.GroundingText, _Mapping]]] = ...) -> None: ...

class ClaimedText(_message.Message):
    __slots__ = ("id", "content", "question")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    id: str
    content: str
    question: str
    def __init__(self, id: _Optional[str] = ..., content: _Optional[str] = ..., question: _Optional[str] = ...) -> None: ...

class VerificationSignal(_message.Message):
    __slots__ = ("kind", "value", "vote")
    KIND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    VOTE_FIELD_NUMBER: _ClassVar[int]
    kind: VerificationSignalKind
    value: float
    vote: SignalVote
    def __init__(self, kind: _Optional[_Union[VerificationSignalKind, str]] = ..., value: _Optional[float] = ..., vote: _Optional[_Union[SignalVote, str]] = ...) -> None: ...

class ClaimDifference(_message.Message):
    __slots__ = ("kind", "answer_span", "source_id", "source_span", "decides")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SPAN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SPAN_FIELD_NUMBER: _ClassVar[int]
    DECIDES_FIELD_NUMBER: _ClassVar[int]
    kind: VerificationSignalKind
    answer_span: _text_pb2.TextSpan
    source_id: str
    source_span: _text_pb2.TextSpan
    decides: bool
    def __init__(self, kind: _Optional[_Union[VerificationSignalKind, str]] = ..., answer_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., source_id: _Optional[str] = ..., source_span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., decides: _Optional[bool] = ...) -> None: ...

class VerifiedClaim(_message.Message):
    __slots__ = ("text", "span", "verdict", "confidence", "signals", "evidence", "support", "plain_verdict", "why", "differences", "doubtful_spans")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_FIELD_NUMBER: _ClassVar[int]
    PLAIN_VERDICT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCES_FIELD_NUMBER: _ClassVar[int]
    DOUBTFUL_SPANS_FIELD_NUMBER: _ClassVar[int]
    text: str
    span: _text_pb2.TextSpan
    verdict: VerifiedClaimVerdict
    confidence: float
    signals: _containers.RepeatedCompositeFieldContainer[VerificationSignal]
    evidence: _guard_pb2.GroundingEvidence
    support: float
    plain_verdict: VerifiedClaimVerdict
    why: str
    differences: _containers.RepeatedCompositeFieldContainer[ClaimDifference]
    doubtful_spans: _containers.RepeatedCompositeFieldContainer[_text_pb2.TextSpan]
    def __init__(self, text: _Optional[str] = ..., span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., verdict: _Optional[_Union[VerifiedClaimVerdict, str]] = ..., confidence: _Optional[float] = ..., signals: _Optional[_Iterable[_Union[VerificationSignal, _Mapping]]] = ..., evidence: _Optional[_Union[_guard_pb2.GroundingEvidence, _Mapping]] = ..., support: _Optional[float] = ..., plain_verdict: _Optional[_Union[VerifiedClaimVerdict, str]] = ..., why: _Optional[str] = ..., differences: _Optional[_Iterable[_Union[ClaimDifference, _Mapping]]] = ..., doubtful_spans: _Optional[_Iterable[_Union[_text_pb2.TextSpan, _Mapping]]] = ...) -> None: ...

class VerifyClaimsResponse(_message.Message):
    __slots__ = ("approved", "claims", "supported_ratio", "status", "reason", "models", "policy_hash")
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_RATIO_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    approved: bool
    claims: _containers.RepeatedCompositeFieldContainer[VerifiedClaim]
    supported_ratio: float
    status: _taxonomy_pb2.StageStatus
    reason: str
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    policy_hash: str
    def __init__(self, approved: _Optional[bool] = ..., claims: _Optional[_Iterable[_Union[VerifiedClaim, _Mapping]]] = ..., supported_ratio: _Optional[float] = ..., status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., reason: _Optional[str] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ..., policy_hash: _Optional[str] = ...) -> None: ...

class VerifiedText(_message.Message):
    __slots__ = ("id", "approved", "claims", "supported_ratio", "status", "reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_RATIO_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    id: str
    approved: bool
    claims: _containers.RepeatedCompositeFieldContainer[VerifiedClaim]
    supported_ratio: float
    status: _taxonomy_pb2.StageStatus
    reason: str
    def __init__(self, id: _Optional[str] = ..., approved: _Optional[bool] = ..., claims: _Optional[_Iterable[_Union[VerifiedClaim, _Mapping]]] = ..., supported_ratio: _Optional[float] = ..., status: _Optional[_Union[_taxonomy_pb2.StageStatus, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class VerifyClaimsBatchResponse(_message.Message):
    __slots__ = ("texts", "models", "policy_hash")
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    POLICY_HASH_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedCompositeFieldContainer[VerifiedText]
    models: _containers.RepeatedCompositeFieldContainer[_report_pb2.ModelFingerprint]
    policy_hash: str
    def __init__(self, texts: _Optional[_Iterable[_Union[VerifiedText, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[_report_pb2.ModelFingerprint, _Mapping]]] = ..., policy_hash: _Optional[str] = ...) -> None: ...
