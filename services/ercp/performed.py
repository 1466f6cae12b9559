"""What an operator hands back besides its result: what the trace says of it (ERCP 1.0 §4.3, §5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from services.ercp.domain.records import Decoding, ModelIdentity

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Performed(Generic[ResultT]):
    """An operator that ran.

    Attributes:
        inputs, outputs: summaries for the trace; texts in them are ``Told``.
        decoding: ``None`` when it decoded no text.
        window_id: the DAG window that it wrote; empty for none.
    """

    result: ResultT
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    identity: ModelIdentity
    decoding: Decoding | None = None
    window_id: str = ""
