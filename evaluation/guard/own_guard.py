"""The guard as callers have it: the dpe process over gRPC, on loopback; what its encoders said before is remembered."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import grpc
from crp.dpe.v1 import guard_pb2, guard_service_pb2
from crp.dpe.v1.guard_service_pb2_grpc import GuardServiceStub

from evaluation.contexts import sources
from evaluation.data import EvaluationDataError
from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.guard.guard_rows import NO_QUESTION, SupportRow
from services.common.composition import Adapters
from services.common.rpc.main import running_server
from services.common.settings import ServerSettings, Settings
from services.dpe.compose import build

NAME: Final = "Groundtrail"
AT_ONCE: Final = 8
CALL_S: Final = 600.0
OPTIONS: Final = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]

RowT = TypeVar("RowT")
AnswerT = TypeVar("AnswerT")


class NotServedError(Exception):
    """This build does not serve the call; its column stays out."""


@dataclass(frozen=True, slots=True)
class OwnGuard:
    """GuardService behind a channel."""

    stub: Any

    async def injection(self, texts: Sequence[str]) -> list[tuple[float, bool]]:
        """Return score and decision for each text, searched alone, as a message or a document is."""

        async def one(text: str) -> tuple[float, bool]:
            found = await self.stub.DetectInjection(
                guard_service_pb2.DetectInjectionRequest(input=text), timeout=CALL_S
            )
            return found.combined_score, found.detected

        return await _all(texts, one)

    async def claims(self, rows: Sequence[SupportRow]) -> list[tuple[float, bool]]:
        """Return the support of the weakest claim, and whether every claim is supported."""

        async def one(row: SupportRow) -> tuple[float, bool]:
            given = _texts(sources(row.dataset, row.passages))
            request = guard_service_pb2.VerifyClaimsRequest(response=row.claim, sources=given)
            if "question" in guard_service_pb2.VerifyClaimsRequest.DESCRIPTOR.fields_by_name:
                request.question = row.question  # type: ignore[attr-defined, unused-ignore]
            found = await self.stub.VerifyClaims(request, timeout=CALL_S)
            return min(map(support_of, found.claims), default=0.0), found.approved

        return await _all(rows, one)

    async def coherence(self, rows: Sequence[SupportRow]) -> list[tuple[float, bool]]:
        """Return coherence (0 where it is absent) and approval; the facts stand in the request."""

        async def one(row: SupportRow) -> tuple[float, bool]:
            found = await self.stub.ScoreCoherence(coherence_request(row), timeout=CALL_S)
            return (found.coherence if found.HasField("coherence") else 0.0), found.approved

        return await _all(rows, one)


def coherence_request(row: SupportRow) -> guard_service_pb2.ScoreCoherenceRequest:
    """Return the request for a row; nothing is remembered from one to the next."""
    return guard_service_pb2.ScoreCoherenceRequest(
        prompt=row.question or NO_QUESTION, response=row.claim, facts=_texts(row.passages), bypass_cache=True
    )


def support_of(claim: Any) -> float:
    """Return how well a claim is supported, as its answer says; 0 where nothing could be said."""
    return float(claim.support) if claim.HasField("support") else 0.0


@asynccontextmanager
async def open_guard(
    settings: Settings, memory: Path | str, adapters: Callable[[Settings], Adapters] | None = None
) -> AsyncIterator[OwnGuard]:
    """Serve dpe on a free loopback port until the block ends.

    Args:
        settings: as for a server.
        memory: file of what the encoders said before.
        adapters: makes those of the process; remembering ones unless given.

    Raises:
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    with tempfile.TemporaryDirectory(prefix="groundtrail-guard-") as name:
        own = own_settings(settings, Path(name))
        try:
            made = RememberingAdapters(own, known) if adapters is None else adapters(own)
            async with (
                made,
                running_server("evaluation", build, own, adapters=made) as server,
                grpc.aio.insecure_channel(server.address, options=OPTIONS) as channel,
            ):
                yield OwnGuard(GuardServiceStub(channel))  # type: ignore[no-untyped-call]
        finally:
            known.close()


def own_settings(settings: Settings, folder: Path) -> Settings:
    """Return settings of a process that listens on loopback alone and keeps its data in a folder that goes away."""
    listening = ("host", "port", "unix_socket", "insecure_local", "tls")
    kept = settings.server.model_dump(exclude=set(listening))
    return settings.model_copy(
        update={
            "server": ServerSettings(**kept, host="127.0.0.1", port=0, insecure_local=True),
            "store": settings.store.model_copy(update={"data_dir": folder}),
            "telemetry": settings.telemetry.model_copy(update={"http_port": None}),
        }
    )


def _texts(passages: Sequence[str]) -> list[guard_pb2.GroundingText]:
    return [
        guard_pb2.GroundingText(id=f"source-{number}", content=text)
        for number, text in enumerate(passages)
        if text.strip()
    ]


async def _all(rows: Sequence[RowT], ask: Callable[[RowT], Awaitable[AnswerT]]) -> list[AnswerT]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, row: RowT) -> AnswerT:
        async with turns:
            try:
                return await ask(row)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                    raise NotServedError("this build does not serve it") from error
                raise EvaluationDataError(f"row {number + 1}: {error.code().name}, {error.details()}") from error

    return list(await asyncio.gather(*(one(number, row) for number, row in enumerate(rows))))
