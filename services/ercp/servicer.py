"""``ercp.v1.ErcpService``: validate, convert, ask the app, convert, sign (ERCP 1.0 §2, §3)."""

# ruff: noqa: N802 - gRPC gives the methods their names

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Final, TypeVar

from ercp.v1 import ercp_service_pb2 as rpc
from ercp.v1 import ercp_service_pb2_grpc

from services.common.computing import compute
from services.common.context import Role
from services.common.message_json import json_of
from services.common.settings import ErcpSettings
from services.ercp import convert, validate
from services.ercp.domain.duplicates import duplicates
from services.ercp.domain.vocabulary import SIMILARITY_THRESHOLD
from services.ercp.operator_app import OperatorApp
from services.ercp.ports import NodeSigner
from services.ercp.run_app import RunApp, RunResult
from services.ercp.understanding import Wording

SERVICE_NAME: Final = "ercp.v1.ErcpService"
ROLES: Final = {
    "Run": Role.WRITER,
    "RunStream": Role.WRITER,
    "Generate": Role.WRITER,
    "Verify": Role.WRITER,
    "ExtractConstraints": Role.WRITER,
    "Stabilize": Role.WRITER,
    "Mutate": Role.WRITER,
    "GetTrace": Role.READER,
}
ResponseT = TypeVar("ResponseT")


class ErcpServicer(ercp_service_pb2_grpc.ErcpServiceServicer):
    """Serves ERCP; every response is signed (§2)."""

    def __init__(
        self, runs: RunApp, operators: OperatorApp, signer: NodeSigner, settings: ErcpSettings, wording: Wording
    ) -> None:
        self._wording = wording
        self._runs = runs
        self._operators = operators
        self._signer = signer
        self._settings = settings

    async def Run(self, request: rpc.RunRequest, _: Any) -> rpc.RunResponse:
        """Run the whole loop."""
        await self._wording.complete(request.constraints)
        await _checked(validate.run, request)
        validate.priority(request.problem, self._settings)
        async with aclosing(self._runs.run(convert.run_command(request, self._settings))) as steps:
            async for step in steps:
                if isinstance(step, RunResult):
                    return self._signed(convert.run_response(step), step.session_id)
        raise AssertionError("a run ends with its result")

    async def RunStream(self, request: rpc.RunStreamRequest, _: Any) -> AsyncIterator[rpc.RunStreamResponse]:
        """Run the whole loop and send each event as it is written."""
        await self._wording.complete(request.constraints)
        await _checked(validate.run, request)
        validate.priority(request.problem, self._settings)
        async with aclosing(self._runs.run(convert.run_command(request, self._settings))) as steps:
            async for step in steps:
                if isinstance(step, RunResult):
                    signed = self._signed(convert.run_response(step), step.session_id)
                    yield rpc.RunStreamResponse(result=signed)
                else:
                    yield rpc.RunStreamResponse(trace_event=convert.event_message(step))

    async def Generate(self, request: rpc.GenerateRequest, _: Any) -> rpc.GenerateResponse:
        """Write one candidate."""
        await self._wording.complete(request.constraints)
        await _checked(validate.generate, request)
        validate.priority(request.problem, self._settings)
        answer = await self._operators.generate(
            convert.call(request, "Generate"),
            convert.problem(request.problem),
            convert.constraints(request.constraints, request.request_id),
            request.gen_config.model,
            convert.decoding(request.gen_config),
        )
        return self._signed(convert.generated(answer.result, answer.event), answer.session_id)

    async def Verify(self, request: rpc.VerifyRequest, _: Any) -> rpc.VerifyResponse:
        """Find the errors of a text."""
        await self._wording.complete(request.constraints)
        await _checked(validate.verify, request)
        call, passages = convert.call(request, "Verify"), convert.passages(request.retrieval_context)
        ask = convert.verify_command(request)
        answer = await self._operators.verify(call, ask, passages)
        found = await compute(duplicates, ask.constraints)
        return self._signed(convert.verify_response(answer.result, found, answer.event), answer.session_id)

    async def ExtractConstraints(
        self, request: rpc.ExtractConstraintsRequest, _: Any
    ) -> rpc.ExtractConstraintsResponse:
        """Derive constraints from errors."""
        validate.extract_constraints(request)
        call = convert.call(request, "ExtractConstraints")
        answer = await self._operators.extract(call, convert.extract_command(request))
        admission = answer.result.admission
        response = rpc.ExtractConstraintsResponse(
            constraints=[convert.constraint_message(each) for each in admission.added],
            candidate_constraints=[convert.constraint_message(each) for each in admission.candidates],
            **convert.audit(answer.event),
        )
        return self._signed(response, answer.session_id)

    async def Stabilize(self, request: rpc.StabilizeRequest, _: Any) -> rpc.StabilizeResponse:
        """Compare two candidates."""
        validate.stabilize(request)
        answer = await self._operators.stabilize(
            convert.call(request, "Stabilize"),
            request.reasoning_prev,
            request.reasoning_curr,
            request.threshold if request.HasField("threshold") else SIMILARITY_THRESHOLD,
        )
        response = rpc.StabilizeResponse(
            stable=answer.result.stable, score=answer.result.score, **convert.audit(answer.event)
        )
        return self._signed(response, answer.session_id)

    async def Mutate(self, request: rpc.MutateRequest, _: Any) -> rpc.MutateResponse:
        """Change a problem."""
        await self._wording.complete(request.constraints)
        await _checked(validate.mutate, request)
        validate.priority(request.problem, self._settings)
        answer = await self._operators.mutate(convert.call(request, "Mutate"), convert.mutate_command(request))
        mutated = answer.result.mutated
        response = rpc.MutateResponse(
            new_problem=convert.problem_message(mutated.problem),
            new_constraints=[convert.constraint_message(each) for each in mutated.constraints],
            mutation_notes=answer.result.notes,
            **convert.audit(answer.event),
        )
        return self._signed(response, answer.session_id)

    async def GetTrace(self, request: rpc.GetTraceRequest, _: Any) -> rpc.GetTraceResponse:
        """Read a trace."""
        validate.get_trace(request)
        read = await self._operators.trace(request.trace_id)
        key_ids = self._signer.key_ids(read.session_id)
        return self._signed(convert.trace_response(read, key_ids), read.session_id)

    def _signed(self, response: ResponseT, session_id: str) -> ResponseT:
        """Sign a response over its JSON form (§2)."""
        message: Any = response
        message.node_signature = self._signer.sign(session_id, json_of(message))
        return response


async def _checked(check: Callable[[Any], None], request: Any) -> None:
    """Check a request; the words and predicates of constraints are read beside the event loop."""
    if request.constraints:
        await compute(check, request)
    else:
        check(request)
