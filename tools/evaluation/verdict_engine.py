"""What the engine makes of answers beside their facts, many at a time: level, composite, verdicts of the claims."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from services.common.clock import SystemClock
from services.common.ids import RandomIds
from services.common.settings import Settings
from services.dpe.app import Limits, ProvenanceApp, Workplace
from services.dpe.compose import open_models, policy_of
from services.dpe.domain.analysis import AnalysisInput, Outputs
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import RiskLevel, Verdict
from services.dpe.gazetteer import load_gazetteer
from tools.evaluation.encoder_memory import EncoderMemory, RememberingAdapters

AT_ONCE: Final = 16
"""Answers that are checked together: the encoders batch over all of them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer to check, beside facts, and the question that it answers (may be empty)."""

    answer: str
    facts: tuple[str, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is said of an answer.

    Attributes:
        level: risk level, with all floors.
        composite: the composite score; ``None`` when it was not computed.
        verdicts: of the claims that got one, in the order of the answer.
        bases: what each verdict rests on.
        support: least support of these claims; 0 when there is none.
    """

    level: RiskLevel
    composite: float | None
    verdicts: tuple[Verdict, ...]
    bases: tuple[str, ...]
    support: float

    @property
    def supported(self) -> bool:
        """Every claim with a verdict is SUPPORTED, and there is one."""
        return bool(self.verdicts) and set(self.verdicts) == {Verdict.SUPPORTED}

    @property
    def passes(self) -> bool:
        """A reader would take it for right: SUPPORTED, or of level LOW."""
        return self.supported or self.level is RiskLevel.LOW

    @property
    def rank(self) -> tuple[int, float]:
        """Level, then composite: from good to bad."""
        return tuple(RiskLevel).index(self.level), self.composite if self.composite is not None else 1.0


class VerdictEngine(Protocol):
    """Checks answers."""

    @property
    def fingerprint(self) -> str:
        """Of all models that are asked."""
        ...

    async def check(self, asked: Sequence[Asked]) -> list[Outcome]:
        """Return what is said of each answer, in order."""
        ...


@dataclass(frozen=True, slots=True)
class AnalysisEngine:
    """``VerdictEngine`` over the product's analysis, in this process."""

    app: ProvenanceApp
    fingerprint: str

    async def check(self, asked: Sequence[Asked]) -> list[Outcome]:
        """Analyse the answers, ``AT_ONCE`` together."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(number: int, given: Asked) -> Outcome:
            facts = tuple(EnvelopeFact(f"f{place}", text) for place, text in enumerate(given.facts))
            async with turns:
                found = await self.app.analyze(
                    AnalysisInput("session", f"w{number}", 1, given.question, given.answer, facts)
                )
            return outcome_of(found.analysis.outputs)

        return list(await asyncio.gather(*(one(number, given) for number, given in enumerate(asked))))


def outcome_of(outputs: Outputs) -> Outcome:
    """Return what an analysis says of its answer."""
    judged = list(outputs.judgements.values())
    level, composite = RiskLevel.MEDIUM, None
    if outputs.risk is not None:
        level, composite = outputs.risk.level, outputs.risk.composite_score
    support = min(
        (1.0 if item.support is None and item.verdict is Verdict.SUPPORTED else item.support or 0.0 for item in judged),
        default=0.0,
    )
    return Outcome(
        level, composite, tuple(item.verdict for item in judged), tuple(str(item.basis) for item in judged), support
    )


@asynccontextmanager
async def open_verdict_engine(settings: Settings, memory: Path | str) -> AsyncIterator[AnalysisEngine]:
    """Open all models; ``memory`` is the file of what they said in earlier runs.

    Raises:
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    try:
        async with RememberingAdapters(settings, known) as adapters:
            models = await open_models(adapters)
            workplace = Workplace(policy_of(settings.dpe), load_gazetteer(), Limits(), SystemClock(), RandomIds())
            prints = ", ".join(fingerprint for _, fingerprint in models.fingerprints())
            yield AnalysisEngine(ProvenanceApp(models, workplace), prints)
    finally:
        known.close()
