from crp.dag.v1 import transparency_pb2 as _transparency_pb2
from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetTreeHeadRequest(_message.Message):
    __slots__ = ("tree_size",)
    TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    tree_size: int
    def __init__(self, tree_size: _Optional[int] = ...) -> None: ...

class GetTreeHeadResponse(_message.Message):
    __slots__ = ("tree_head", "cosigned_head")
    TREE_HEAD_FIELD_NUMBER: _ClassVar[int]
    COSIGNED_HEAD_FIELD_NUMBER: _ClassVar[int]
    tree_head: _transparency_pb2.TreeHead
    cosigned_head: _transparency_pb2.TreeHead
    def __init__(self, tree_head: _Optional[_Union[_transparency_pb2.TreeHead, _Mapping]] = ..., cosigned_head: _Optional[_Union[_transparency_pb2.TreeHead, _Mapping]] = ...) -> None: ...

class GetInclusionProofRequest(_message.Message):
    __slots__ = ("session_id", "window_id", "tree_size", "event_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    WINDOW_ID_FIELD_NUMBER: _ClassVar[int]
    TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    window_id: str
    tree_size: int
    event_id: str
    def __init__(self, session_id: _Optional[str] = ..., window_id: _Optional[str] = ..., tree_size: _Optional[int] = ..., event_id: _Optional[str] = ...) -> None: ...

class GetInclusionProofResponse(_message.Message):
    __slots__ = ("proof", "leaf", "tree_head")
    PROOF_FIELD_NUMBER: _ClassVar[int]
    LEAF_FIELD_NUMBER: _ClassVar[int]
    TREE_HEAD_FIELD_NUMBER: _ClassVar[int]
    proof: _transparency_pb2.InclusionProof
    leaf: bytes
    tree_head: _transparency_pb2.TreeHead
    def __init__(self, proof: _Optional[_Union[_transparency_pb2.InclusionProof, _Mapping]] = ..., leaf: _Optional[bytes] = ..., tree_head: _Optional[_Union[_transparency_pb2.TreeHead, _Mapping]] = ...) -> None: ...

class GetConsistencyProofRequest(_message.Message):
    __slots__ = ("first_tree_size", "second_tree_size")
    FIRST_TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SECOND_TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    first_tree_size: int
    second_tree_size: int
    def __init__(self, first_tree_size: _Optional[int] = ..., second_tree_size: _Optional[int] = ...) -> None: ...

class GetConsistencyProofResponse(_message.Message):
    __slots__ = ("proof", "tree_head")
    PROOF_FIELD_NUMBER: _ClassVar[int]
    TREE_HEAD_FIELD_NUMBER: _ClassVar[int]
    proof: _transparency_pb2.ConsistencyProof
    tree_head: _transparency_pb2.TreeHead
    def __init__(self, proof: _Optional[_Union[_transparency_pb2.ConsistencyProof, _Mapping]] = ..., tree_head: _Optional[_Union[_transparency_pb2.TreeHead, _Mapping]] = ...) -> None: ...

class GetEntriesRequest(_message.Message):
    __slots__ = ("first_leaf_index", "max_entries")
    FIRST_LEAF_INDEX_FIELD_NUMBER: _ClassVar[int]
    MAX_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    first_leaf_index: int
    max_entries: int
    def __init__(self, first_leaf_index: _Optional[int] = ..., max_entries: _Optional[int] = ...) -> None: ...

class GetEntriesResponse(_message.Message):
    __slots__ = ("leaves", "tree_size")
    LEAVES_FIELD_NUMBER: _ClassVar[int]
    TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    leaves: _containers.RepeatedScalarFieldContainer[bytes]
    tree_size: int
    def __init__(self, leaves: _Optional[_Iterable[bytes]] = ..., tree_size: _Optional[int] = ...) -> None: ...
