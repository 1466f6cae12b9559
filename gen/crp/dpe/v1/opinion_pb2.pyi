import datetime

from crp.common.v1 import text_pb2 as _text_pb2
from crp.dpe.v1 import claim_pb2 as _claim_pb2
from crp.dpe.v1 import finding_pb2 as _finding_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OpinionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPINION_KIND_UNSPECIFIED: _ClassVar[OpinionKind]
    OPINION_KIND_JUDGE: _ClassVar[OpinionKind]
    OPINION_KIND_SPANS: _ClassVar[OpinionKind]

class OpinionScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPINION_SCOPE_UNSPECIFIED: _ClassVar[OpinionScope]
    OPINION_SCOPE_OFF: _ClassVar[OpinionScope]
    OPINION_SCOPE_UNDECIDED: _ClassVar[OpinionScope]
    OPINION_SCOPE_ALL: _ClassVar[OpinionScope]

class OpinionVote(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPINION_VOTE_UNSPECIFIED: _ClassVar[OpinionVote]
    OPINION_VOTE_SUPPORTED: _ClassVar[OpinionVote]
    OPINION_VOTE_UNSUPPORTED: _ClassVar[OpinionVote]
    OPINION_VOTE_CONTRADICTED: _ClassVar[OpinionVote]

class OpinionGap(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OPINION_GAP_UNSPECIFIED: _ClassVar[OpinionGap]
    OPINION_GAP_ENDPOINT_FAILED: _ClassVar[OpinionGap]
    OPINION_GAP_ANSWER_REFUSED: _ClassVar[OpinionGap]
    OPINION_GAP_NO_VOTE: _ClassVar[OpinionGap]
    OPINION_GAP_OUT_OF_CALLS: _ClassVar[OpinionGap]
    OPINION_GAP_OUT_OF_TOKENS: _ClassVar[OpinionGap]
    OPINION_GAP_OUT_OF_TIME: _ClassVar[OpinionGap]
OPINION_KIND_UNSPECIFIED: OpinionKind
OPINION_KIND_JUDGE: OpinionKind
OPINION_KIND_SPANS: OpinionKind
OPINION_SCOPE_UNSPECIFIED: OpinionScope
OPINION_SCOPE_OFF: OpinionScope
OPINION_SCOPE_UNDECIDED: OpinionScope
OPINION_SCOPE_ALL: OpinionScope
OPINION_VOTE_UNSPECIFIED: OpinionVote
OPINION_VOTE_SUPPORTED: OpinionVote
OPINION_VOTE_UNSUPPORTED: OpinionVote
OPINION_VOTE_CONTRADICTED: OpinionVote
OPINION_GAP_UNSPECIFIED: OpinionGap
OPINION_GAP_ENDPOINT_FAILED: OpinionGap
OPINION_GAP_ANSWER_REFUSED: OpinionGap
OPINION_GAP_NO_VOTE: OpinionGap
OPINION_GAP_OUT_OF_CALLS: OpinionGap
OPINION_GAP_OUT_OF_TOKENS: OpinionGap
OPINION_GAP_OUT_OF_TIME: OpinionGap

class OpinionLimits(_message.Message):
    __slots__ = ("scope", "max_calls", "max_tokens", "max_time")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TIME_FIELD_NUMBER: _ClassVar[int]
    scope: OpinionScope
    max_calls: int
    max_tokens: int
    max_time: _duration_pb2.Duration
    def __init__(self, scope: _Optional[_Union[OpinionScope, str]] = ..., max_calls: _Optional[int] = ..., max_tokens: _Optional[int] = ..., max_time: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class OpinionSpan(_message.Message):
    __slots__ = ("span", "category", "subcategory", "distortion_type")
    SPAN_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    SUBCATEGORY_FIELD_NUMBER: _ClassVar[int]
    DISTORTION_TYPE_FIELD_NUMBER: _ClassVar[int]
    span: _text_pb2.TextSpan
    category: str
    subcategory: str
    distortion_type: _finding_pb2.DistortionType
    def __init__(self, span: _Optional[_Union[_text_pb2.TextSpan, _Mapping]] = ..., category: _Optional[str] = ..., subcategory: _Optional[str] = ..., distortion_type: _Optional[_Union[_finding_pb2.DistortionType, str]] = ...) -> None: ...

class ClaimOpinion(_message.Message):
    __slots__ = ("claim_id", "vote", "first_verdict", "first_basis", "moved", "cached", "model", "spans")
    CLAIM_ID_FIELD_NUMBER: _ClassVar[int]
    VOTE_FIELD_NUMBER: _ClassVar[int]
    FIRST_VERDICT_FIELD_NUMBER: _ClassVar[int]
    FIRST_BASIS_FIELD_NUMBER: _ClassVar[int]
    MOVED_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    claim_id: str
    vote: OpinionVote
    first_verdict: _claim_pb2.ClaimVerdict
    first_basis: _claim_pb2.VerdictBasis
    moved: bool
    cached: bool
    model: str
    spans: _containers.RepeatedCompositeFieldContainer[OpinionSpan]
    def __init__(self, claim_id: _Optional[str] = ..., vote: _Optional[_Union[OpinionVote, str]] = ..., first_verdict: _Optional[_Union[_claim_pb2.ClaimVerdict, str]] = ..., first_basis: _Optional[_Union[_claim_pb2.VerdictBasis, str]] = ..., moved: _Optional[bool] = ..., cached: _Optional[bool] = ..., model: _Optional[str] = ..., spans: _Optional[_Iterable[_Union[OpinionSpan, _Mapping]]] = ...) -> None: ...

class OpinionCall(_message.Message):
    __slots__ = ("claims", "reason", "model", "answer_sha256", "prompt_tokens", "completion_tokens")
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SHA256_FIELD_NUMBER: _ClassVar[int]
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    claims: int
    reason: str
    model: str
    answer_sha256: str
    prompt_tokens: int
    completion_tokens: int
    def __init__(self, claims: _Optional[int] = ..., reason: _Optional[str] = ..., model: _Optional[str] = ..., answer_sha256: _Optional[str] = ..., prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ...) -> None: ...

class OpinionLeft(_message.Message):
    __slots__ = ("gap", "claim_ids")
    GAP_FIELD_NUMBER: _ClassVar[int]
    CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    gap: OpinionGap
    claim_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, gap: _Optional[_Union[OpinionGap, str]] = ..., claim_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class SecondOpinion(_message.Message):
    __slots__ = ("kind", "model", "prompt_version", "scope", "votes", "left", "calls")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROMPT_VERSION_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    kind: OpinionKind
    model: str
    prompt_version: str
    scope: OpinionScope
    votes: _containers.RepeatedCompositeFieldContainer[ClaimOpinion]
    left: _containers.RepeatedCompositeFieldContainer[OpinionLeft]
    calls: _containers.RepeatedCompositeFieldContainer[OpinionCall]
    def __init__(self, kind: _Optional[_Union[OpinionKind, str]] = ..., model: _Optional[str] = ..., prompt_version: _Optional[str] = ..., scope: _Optional[_Union[OpinionScope, str]] = ..., votes: _Optional[_Iterable[_Union[ClaimOpinion, _Mapping]]] = ..., left: _Optional[_Iterable[_Union[OpinionLeft, _Mapping]]] = ..., calls: _Optional[_Iterable[_Union[OpinionCall, _Mapping]]] = ...) -> None: ...
