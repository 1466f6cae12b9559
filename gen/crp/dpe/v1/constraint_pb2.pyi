from crp.common.v1 import text_pb2 as _text_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ConstraintState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONSTRAINT_STATE_UNSPECIFIED: _ClassVar[ConstraintState]
    CONSTRAINT_STATE_HELD: _ClassVar[ConstraintState]
    CONSTRAINT_STATE_VIOLATED: _ClassVar[ConstraintState]
    CONSTRAINT_STATE_UNKNOWN: _ClassVar[ConstraintState]
CONSTRAINT_STATE_UNSPECIFIED: ConstraintState
CONSTRAINT_STATE_HELD: ConstraintState
CONSTRAINT_STATE_VIOLATED: ConstraintState
CONSTRAINT_STATE_UNKNOWN: ConstraintState

class ConstraintVerdict(_message.Message):
    __slots__ = ("constraint_id", "nl_text", "state", "spans", "why", "detector")
    CONSTRAINT_ID_FIELD_NUMBER: _ClassVar[int]
    NL_TEXT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SPANS_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    DETECTOR_FIELD_NUMBER: _ClassVar[int]
    constraint_id: str
    nl_text: str
    state: ConstraintState
    spans: _containers.RepeatedCompositeFieldContainer[_text_pb2.TextSpan]
    why: str
    detector: str
    def __init__(self, constraint_id: _Optional[str] = ..., nl_text: _Optional[str] = ..., state: _Optional[_Union[ConstraintState, str]] = ..., spans: _Optional[_Iterable[_Union[_text_pb2.TextSpan, _Mapping]]] = ..., why: _Optional[str] = ..., detector: _Optional[str] = ...) -> None: ...

class ConstraintVerdicts(_message.Message):
    __slots__ = ("verdicts",)
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[ConstraintVerdict]
    def __init__(self, verdicts: _Optional[_Iterable[_Union[ConstraintVerdict, _Mapping]]] = ...) -> None: ...

class ConstraintOutcome(_message.Message):
    __slots__ = ("verdict", "claim_ids", "claims_total")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CLAIM_IDS_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    verdict: ConstraintVerdict
    claim_ids: _containers.RepeatedScalarFieldContainer[str]
    claims_total: int
    def __init__(self, verdict: _Optional[_Union[ConstraintVerdict, _Mapping]] = ..., claim_ids: _Optional[_Iterable[str]] = ..., claims_total: _Optional[int] = ...) -> None: ...

class ConstraintOutcomes(_message.Message):
    __slots__ = ("outcomes", "violated_count", "not_computed_count", "fidelity_score_without")
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    VIOLATED_COUNT_FIELD_NUMBER: _ClassVar[int]
    NOT_COMPUTED_COUNT_FIELD_NUMBER: _ClassVar[int]
    FIDELITY_SCORE_WITHOUT_FIELD_NUMBER: _ClassVar[int]
    outcomes: _containers.RepeatedCompositeFieldContainer[ConstraintOutcome]
    violated_count: int
    not_computed_count: int
    fidelity_score_without: float
    def __init__(self, outcomes: _Optional[_Iterable[_Union[ConstraintOutcome, _Mapping]]] = ..., violated_count: _Optional[int] = ..., not_computed_count: _Optional[int] = ..., fidelity_score_without: _Optional[float] = ...) -> None: ...
