"""An ErcpService that answers by the book and remembers what it was asked; it reasons about nothing."""

import asyncio
from dataclasses import dataclass, field

from ercp.v1 import ercp_pb2 as ercp
from ercp.v1 import ercp_service_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.errors import ErrorReason, UnauthenticatedError

TRACE = "0b9f2f39-8a9e-4d4e-9c6b-0d9b6f6f2a10"
FINGERPRINT = "sha256:" + "a" * 64
SIGNATURE = "hmac:" + "b" * 64
WHEN = Timestamp(seconds=1_770_000_000, nanos=123_456_000)
AUDIT: dict = {"trace_id": TRACE, "timestamp": WHEN, "proto_version": "ercp-1.0", "node_signature": SIGNATURE}


def constraint() -> ercp.Constraint:
    return ercp.Constraint(
        constraint_id="c1",
        type=ercp.CONSTRAINT_TYPE_PREDICATE,
        priority=ercp.CONSTRAINT_PRIORITY_HIGH,
        nl_text="Water boils at 100 °C at sea level.",
        predicate=ercp.Predicate(
            predicate_name="Equal", args={"left": "water.boiling_point", "right": "100", "unit": "C"}
        ),
        source=ercp.ConstraintSource(detected_by="nli", error_id="e1"),
        confidence=0.92,
    )


def fault() -> ercp.Error:
    return ercp.Error(
        error_id="e1",
        type=ercp.ERROR_TYPE_MISSING_JUSTIFICATION,
        span=[0, 12],
        excerpt="Water boils.",
        confidence=0.86,
        detected_by=["nli", "rule"],
        evidence=[ercp.Evidence(source="nli", score=0.86)],
    )


def event(operator=ercp.OPERATOR_GENERATE) -> ercp.TraceEvent:
    return ercp.TraceEvent(
        event_id="v1",
        trace_id=TRACE,
        timestamp=WHEN,
        operator=operator,
        input_summary={"constraints": 1},
        output_summary={"characters": 12},
        model_fingerprint=FINGERPRINT,
        node_signature=SIGNATURE,
    )


def reasoning() -> dict:
    return {
        "reasoning_id": "r1",
        "reasoning_text": "Water boils.",
        "sentences": ["Water boils."],
        "claims": [ercp.ReasoningClaim(claim="Water boils.", source="llm")],
    }


def answer(rpc: str):
    """Return what an RPC answers."""
    audit = {**AUDIT, "model_fingerprint": FINGERPRINT}
    return {
        "Run": lambda: pb.RunResponse(
            status=ercp.RUN_STATUS_CONVERGED,
            final_reasoning=ercp.Reasoning(**reasoning()),
            constraints=[constraint()],
            trace_events=[event()],
            iterations=2,
            status_reason="STABLE",
            **audit,
        ),
        "Generate": lambda: pb.GenerateResponse(**reasoning(), **audit),
        "Verify": lambda: pb.VerifyResponse(errors=[fault()], **audit),
        "ExtractConstraints": lambda: pb.ExtractConstraintsResponse(constraints=[constraint()], **audit),
        "Stabilize": lambda: pb.StabilizeResponse(stable=True, score=0.956, **audit),
        "Mutate": lambda: pb.MutateResponse(
            new_problem=ercp.Problem(id="p1", description="Why?", metadata={"domain": "physics"}),
            new_constraints=[constraint()],
            mutation_notes="Dropped c2.",
            **audit,
        ),
        "GetTrace": lambda: pb.GetTraceResponse(trace_events=[event()], model_fingerprints=[FINGERPRINT], **audit),
    }[rpc]()


@dataclass
class Asked:
    """One call: the request, its metadata, its deadline."""

    rpc: str
    request: object
    metadata: dict[str, str]
    timeout: float


@dataclass
class ErcpStub:
    """Stands where the generated stub stands.

    Attributes:
        failing: raised by every call, when set.
        breaking: raised by a stream after its first event, when set.
        held: a call waits for it first, when set.
        wants_credential: refuses calls without one.
        pausing: a stream waits for it after its first event, when set.
    """

    failing: Exception | None = None
    breaking: Exception | None = None
    held: asyncio.Event | None = None
    pausing: asyncio.Event | None = None
    wants_credential: bool = False
    asked: list[Asked] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a call was given up."""

    def __getattr__(self, rpc):
        if rpc.startswith("_"):
            raise AttributeError(rpc)

        def call(request, *, timeout, metadata):
            if self.wants_credential and "authorization" not in dict(metadata):
                raise UnauthenticatedError(ErrorReason.CREDENTIAL_MISSING, "no credential")
            self.asked.append(Asked(rpc, request, dict(metadata), timeout))
            return _Stream(self) if rpc == "RunStream" else self._answered(rpc)

        return call

    async def _answered(self, rpc):
        if self.failing is not None:
            raise self.failing
        if self.held is not None:
            try:
                await self.held.wait()
            except asyncio.CancelledError:
                self.left.set()
                raise
        return answer(rpc)


class _Stream:
    def __init__(self, stub: ErcpStub) -> None:
        self._stub = stub

    async def __aiter__(self):
        if self._stub.failing is not None:
            raise self._stub.failing
        if self._stub.held is not None:
            await self._stub.held.wait()
        yield pb.RunStreamResponse(trace_event=event())
        if self._stub.pausing is not None:
            await self._stub.pausing.wait()
        if self._stub.breaking is not None:
            raise self._stub.breaking
        yield pb.RunStreamResponse(result=answer("Run"))

    def cancel(self):
        self._stub.left.set()
