"""The ERCP service as a process runs it, with a language model of the evaluation's own, driven over gRPC."""

import re
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from ercp.v1 import ercp_pb2 as data
from ercp.v1 import ercp_service_pb2 as pb
from ercp.v1 import ercp_service_pb2_grpc as stubs
from google.protobuf import json_format

from evaluation.ercp_problems import Draft, GivenConstraint, Predicate, ScriptedProblem
from evaluation.ercp_scoring import REFUSED, FoundError, RunOutcome
from services.allinone.embedded import embedded
from services.common.composition import Adapters
from services.common.ports.language_model import LanguageModel
from services.common.settings import Settings
from services.common.telemetry import configure_logs

DEADLINE_S: Final = 300.0
_IDENTITY: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|crp_[a-z]+_[0-9A-Za-z]+")
"""UUIDs, and the suite's own ids of sessions and windows."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class _Adapters(Adapters):
    """The process's adapters, with the given language model where one is given."""

    def __init__(self, settings: Settings, model: LanguageModel | None) -> None:
        super().__init__(settings)
        self._model = model

    async def language_model(self) -> LanguageModel | None:
        """Return the evaluation's model, or the provider of the settings."""
        return self._model or await super().language_model()


@dataclass(frozen=True, slots=True)
class ErcpSystem:
    """A running suite and the way to its ERCP service."""

    stub: stubs.ErcpServiceStub
    metadata: tuple[tuple[str, str], ...]

    async def run(self, problem: ScriptedProblem, config: Mapping[str, Any]) -> tuple[RunOutcome, Mapping[str, Any]]:
        """Run the loop on a problem; return how it ended and the whole answer as JSON ({} when it was refused)."""
        names = {_constraint_id(problem, one): one.name for one in problem.constraints}
        request = pb.RunRequest(
            request_id=str(uuid.uuid4()),
            problem=data.Problem(id=problem.id, description=problem.description),
            config=pb.RunConfig(**config),
            constraints=[_constraint(problem, one) for one in problem.constraints],
            retrieval_context=_passages(problem),
        )
        started = time.perf_counter()
        try:
            answer = await self.stub.Run(request, metadata=self.metadata, timeout=DEADLINE_S)
        except grpc.aio.AioRpcError as error:
            seconds = time.perf_counter() - started
            return RunOutcome(REFUSED, f"{error.code().name}: {error.details()}", seconds=seconds), {}
        clashing = list(answer.conflicting_constraint_ids)
        outcome = RunOutcome(
            status=data.RunStatus.Name(answer.status).removeprefix("RUN_STATUS_").lower(),
            reason=answer.status_reason,
            final_text=answer.final_reasoning.reasoning_text,
            core=frozenset(names[one] for one in clashing if one in names),
            relaxed=frozenset(
                names[one.constraint_id] for one in answer.relaxed_constraints if one.constraint_id in names
            ),
            core_learned=sum(one not in names for one in clashing),
            learned=tuple(one.predicate.predicate_name for one in answer.constraints if one.constraint_id not in names),
            iterations=answer.iterations,
            seconds=time.perf_counter() - started,
        )
        return outcome, json_format.MessageToDict(answer, preserving_proto_field_name=True)

    async def verify(self, problem: ScriptedProblem, draft: Draft) -> tuple[list[FoundError], tuple[str, ...]]:
        """Return what the verification oracle finds in a draft, and the detectors that did not run.

        Constraints that the problem has to give up are left out: they are what a right draft breaks. A call that is
        refused as a bad request finds nothing: ``refused`` then stands for the detectors.
        """
        request = pb.VerifyRequest(
            request_id=str(uuid.uuid4()),
            reasoning_text=draft.text,
            constraints=[_constraint(problem, one) for one in problem.constraints if one.name not in problem.relaxed],
            retrieval_context=_passages(problem),
        )
        try:
            answer = await self.stub.Verify(request, metadata=self.metadata, timeout=DEADLINE_S)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.INVALID_ARGUMENT:
                raise
            return [], (REFUSED,)
        found = [
            FoundError(
                type=data.ErrorType.Name(error.type).removeprefix("ERROR_TYPE_").lower(),
                span=(error.span[0], error.span[1]) if error.span else None,
                excerpt=error.excerpt,
                detected_by=tuple(error.detected_by),
            )
            for error in answer.errors
        ]
        return found, tuple(answer.skipped_detectors)


@asynccontextmanager
async def open_system(settings: Settings, folder: Path, model: LanguageModel | None) -> AsyncIterator[ErcpSystem]:
    """Start the whole suite in this process, on stores of its own.

    Args:
        settings: of the process.
        folder: an empty one for its stores and keys.
        model: what generates; ``None`` = the provider of the settings.

    Raises:
        StartupError: a model of the repository cannot be used.
    """
    quiet = settings.telemetry.model_copy(update={"log_level": "warning", "log_calls": False})
    configure_logs(quiet)
    store = settings.store.model_copy(update={"data_dir": folder})
    own = settings.model_copy(update={"store": store, "telemetry": quiet})
    async with _Adapters(own, model) as adapters, embedded(own, adapters=adapters) as system:
        key = await system.issue_key("evaluation")
        async with grpc.aio.insecure_channel(system.address) as channel:
            stub = stubs.ErcpServiceStub(channel)  # type: ignore[no-untyped-call]
            yield ErcpSystem(stub, (("authorization", f"Bearer {key}"),))


def comparable(answer: Mapping[str, Any]) -> Any:
    """Return an answer without what may differ between two runs: ids are numbered in order, times and signatures go."""
    numbers: dict[str, str] = {}

    def text(value: str) -> str:
        numbered = _IDENTITY.sub(lambda match: numbers.setdefault(match[0], f"id-{len(numbers)}"), value)
        return _TIME.sub("time", numbered)

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {text(name): plain(one) for name, one in value.items() if name != "node_signature"}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [plain(one) for one in value]
        return text(value) if isinstance(value, str) else value

    return plain(answer)


def _constraint_id(problem: ScriptedProblem, constraint: GivenConstraint) -> str:
    """Return the same UUID4 for the same constraint at every run."""
    digest = uuid.uuid5(uuid.NAMESPACE_URL, f"{problem.id}/{constraint.name}").bytes
    return str(uuid.UUID(bytes=digest, version=4))


def _constraint(problem: ScriptedProblem, one: GivenConstraint) -> data.Constraint:
    return data.Constraint(
        constraint_id=_constraint_id(problem, one),
        type=f"CONSTRAINT_TYPE_{one.type.upper()}",
        nl_text=one.nl_text,
        predicate=_predicate(one.predicate),
        immutable=one.immutable,
    )


def _predicate(predicate: Predicate) -> data.Predicate:
    message = data.Predicate(predicate_name=predicate.name)
    message.args.update(dict(predicate.args))
    return message


def _passages(problem: ScriptedProblem) -> list[pb.RetrievalPassage]:
    return [pb.RetrievalPassage(source=source, text=text) for source, text in problem.retrieval_context]
