"""The product as ``groundtrail ask`` starts it, with knowledge of its own in a folder that goes away."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
from crp.envelope.v1 import envelope_service_pb2 as envelopes
from groundtrail import Fact

from evaluation.data import EvaluationDataError
from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from services.allinone.embedded import embedded
from services.allinone.parts import Part
from services.cli.commands.ingest import Terms, documents, ingest_all
from services.cli.connection import Suite
from services.cli.console import Output
from services.common.settings import Settings

SOURCE_TYPE: Final = "SOURCE_TYPE_INTERNAL"
_AT_ONCE: Final = 4
_NO_LIMIT: Final = -1


@dataclass(frozen=True, slots=True)
class KnownSuite:
    """A running suite that knows some documents, and the folder of what callers keep."""

    suite: Suite
    folder: Path
    settings: Settings

    async def facts_for(self, questions: Sequence[str]) -> list[tuple[Fact, ...]]:
        """Return for each question the facts of its envelope, as ``ask`` would have them, in prompt order."""
        turns = asyncio.Semaphore(_AT_ONCE)
        model = self.settings.llm.model or self.settings.gateway.extractive_model

        async def one(question: str) -> tuple[Fact, ...]:
            request = envelopes.BuildEnvelopeRequest(query=question, model=model)
            async with turns:
                found = await self.suite.call(self.suite.envelopes.BuildEnvelope, request)
            return tuple(Fact(fact.content, fact.source_location) for fact in found.envelope.facts)

        distinct = list(dict.fromkeys(questions))
        known = dict(zip(distinct, await asyncio.gather(*map(one, distinct)), strict=True))
        return [known[question] for question in questions]


@asynccontextmanager
async def open_suite(
    settings: Settings, memory: Path | str, folders: Sequence[Path], parts: Sequence[Part] = ()
) -> AsyncIterator[KnownSuite]:
    """Start the suite, or parts of it, without a language model, and ingest the documents of the folders.

    Raises:
        EvaluationDataError: a document was refused.
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    with tempfile.TemporaryDirectory(prefix="groundtrail-evaluation-") as name:
        own = settings.model_copy(
            update={
                "store": settings.store.model_copy(update={"data_dir": Path(name)}),
                "llm": settings.llm.model_copy(update={"base_url": ""}),
            }
        )
        try:
            async with RememberingAdapters(own, known) as adapters, embedded(own, adapters=adapters, parts=parts) as up:
                key = await up.issue_key("evaluation")
                options = [("grpc.max_receive_message_length", _NO_LIMIT)]
                async with grpc.aio.insecure_channel(up.address, options=options) as channel:
                    suite = Suite(up.address, key, channel)
                    await _ingest(suite, folders)
                    yield KnownSuite(suite, Path(name), own)
        finally:
            known.close()


async def _ingest(suite: Suite, folders: Sequence[Path]) -> None:
    results = await ingest_all(suite, documents(folders), Terms(SOURCE_TYPE), Output(as_json=True))
    refused = [one for one in results if one.error]
    if refused:
        raise EvaluationDataError("; ".join(f"{one.path}: {one.error}" for one in refused))
