"""The product's engine as a process opens it, for ``pipeline``: what users get from ``services.allinone.check``."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crp.dpe.v1 import finding_pb2, report_pb2
from groundtrail import Claim

from evaluation.contexts import document
from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.labelled import LabelledClaim
from evaluation.pipeline import Findings
from services.allinone.check import Checker, open_checker
from services.common.adapters.tokens.counter import open_token_counter
from services.common.adapters.tokens.table import EXTRACTIVE_MODEL
from services.common.documents.facts.chunking import chunk
from services.common.errors import StartupError
from services.common.ports.grounding import GroundingModel
from services.common.ports.tokens import TokenCounter
from services.common.settings import Settings
from services.dpe.compose import open_models
from services.dpe.domain.findings import Basis, Judgement, Verdict

MAX_FACTS: Final = 2_000


@dataclass(frozen=True, slots=True)
class EmbeddedEngine:
    """``Engine`` in this process."""

    checker: Checker
    grounding: GroundingModel
    counter: TokenCounter
    fingerprint: str

    async def check(self, claim: LabelledClaim, *, are_facts: bool = False) -> Findings:
        """Check the text as an answer to the question.

        Args:
            claim: text and context.
            are_facts: the passages are facts and are held as they are; else they are cut as ingestion cuts them.
        """
        facts = list(claim.passages) if are_facts else self._cut(claim)
        result = await self.checker.check(claim.claim, facts, claim.query or "")
        return Findings(tuple(map(_judgement, result.judged)), _by_stage(result.response.report))

    def _cut(self, claim: LabelledClaim) -> list[str]:
        drafts = chunk(document(claim.passages), lambda text: self.counter.count([text], EXTRACTIVE_MODEL)[0])
        return [draft.content for draft in drafts[:MAX_FACTS]]


def _judgement(claim: Claim) -> Judgement:
    return Judgement(Verdict[claim.verdict], Basis[claim.basis] if claim.basis else None, claim.support)


def _by_stage(report: report_pb2.DpeReport) -> Mapping[str, int]:
    kinds = (finding_pb2.DistortionType.Name(item.type) for item in report.distortions)
    found = Counter({"3a, fabrication": len(report.fabrications)})
    found += Counter(f"3b, {kind.removeprefix('DISTORTION_TYPE_')}" for kind in kinds)
    found += Counter({"3c, contradiction": len(report.contradictions)})
    return found


@asynccontextmanager
async def open_engine(settings: Settings, memory: Path | str = ":memory:") -> AsyncIterator[EmbeddedEngine]:
    """Open all models.

    Raises:
        StartupError: the repository lacks the grounding model, or a model cannot be used.
    """
    known = EncoderMemory(memory)
    try:
        async with RememberingAdapters(settings, known) as adapters, open_checker(settings, adapters) as checker:
            models = await open_models(adapters)
            if models.grounding is None:
                raise StartupError("the model repository lacks the grounding model: there is no verdict to measure")
            prints = ", ".join(fingerprint for _, fingerprint in models.fingerprints())
            yield EmbeddedEngine(checker, models.grounding, await open_token_counter(settings.inference), prints)
    finally:
        known.close()
