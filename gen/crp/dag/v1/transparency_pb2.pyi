import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TreeHead(_message.Message):
    __slots__ = ("origin", "tree_size", "root_hash", "timestamp", "checkpoint", "public_key", "signature", "key_id")
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    ROOT_HASH_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    origin: str
    tree_size: int
    root_hash: bytes
    timestamp: _timestamp_pb2.Timestamp
    checkpoint: str
    public_key: bytes
    signature: bytes
    key_id: bytes
    def __init__(self, origin: _Optional[str] = ..., tree_size: _Optional[int] = ..., root_hash: _Optional[bytes] = ..., timestamp: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., checkpoint: _Optional[str] = ..., public_key: _Optional[bytes] = ..., signature: _Optional[bytes] = ..., key_id: _Optional[bytes] = ...) -> None: ...

class InclusionProof(_message.Message):
    __slots__ = ("leaf_index", "tree_size", "leaf_hash", "path_hashes")
    LEAF_INDEX_FIELD_NUMBER: _ClassVar[int]
    TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    LEAF_HASH_FIELD_NUMBER: _ClassVar[int]
    PATH_HASHES_FIELD_NUMBER: _ClassVar[int]
    leaf_index: int
    tree_size: int
    leaf_hash: bytes
    path_hashes: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, leaf_index: _Optional[int] = ..., tree_size: _Optional[int] = ..., leaf_hash: _Optional[bytes] = ..., path_hashes: _Optional[_Iterable[bytes]] = ...) -> None: ...

class ConsistencyProof(_message.Message):
    __slots__ = ("first_tree_size", "second_tree_size", "path_hashes")
    FIRST_TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    SECOND_TREE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PATH_HASHES_FIELD_NUMBER: _ClassVar[int]
    first_tree_size: int
    second_tree_size: int
    path_hashes: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, first_tree_size: _Optional[int] = ..., second_tree_size: _Optional[int] = ..., path_hashes: _Optional[_Iterable[bytes]] = ...) -> None: ...
