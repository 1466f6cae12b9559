"""What users get when they check an answer, over many answers: ``services.allinone.check`` with a memory (ADR 0098)."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from services.allinone.check import Checker, CheckOrder, open_checker
from services.allinone.check_result import PolicedResult
from services.common.settings import Settings
from services.common.taxonomy import RiskLevel


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is said of an answer.

    Attributes:
        level: risk level, with all floors.
        composite: the composite score; ``None`` when it was not computed.
        verdicts: of the claims that got one, in the order of the answer.
        bases: what each verdict rests on.
        support: least support of these claims; 0 when there is none.
        contradictions_with_earlier: found between the answer and earlier ones.
    """

    level: RiskLevel
    composite: float | None
    verdicts: tuple[str, ...]
    bases: tuple[str, ...] = ()
    support: float = 0.0
    contradictions_with_earlier: int = 0

    @property
    def supported(self) -> bool:
        """Every claim with a verdict is SUPPORTED, and there is one."""
        return bool(self.verdicts) and set(self.verdicts) == {"SUPPORTED"}

    @property
    def passes(self) -> bool:
        """A reader would take it for right: SUPPORTED, or of level LOW."""
        return self.supported or self.level is RiskLevel.LOW

    @property
    def is_high(self) -> bool:
        """A reader is warned: HIGH or worse."""
        return self.level.rank >= RiskLevel.HIGH.rank

    @property
    def rank(self) -> tuple[int, float]:
        """Level, then composite: from good to bad."""
        return self.level.rank, self.composite if self.composite is not None else 1.0


class VerdictEngine(Protocol):
    """Checks answers."""

    async def check(self, orders: Sequence[CheckOrder]) -> list[Outcome]:
        """Return what is said of each answer, in order."""
        ...


@dataclass(frozen=True, slots=True)
class CheckEngine:
    """``VerdictEngine`` over the function that users call."""

    checker: Checker

    async def check(self, orders: Sequence[CheckOrder]) -> list[Outcome]:
        """Check the answers, several together."""
        return [outcome_of(result) for result in await self.checker.check_all(orders)]


def outcome_of(result: PolicedResult) -> Outcome:
    """Return what the measurements need of a result."""
    judged = result.judged
    return Outcome(
        RiskLevel(result.level),
        result.composite,
        tuple(claim.verdict for claim in judged),
        tuple(claim.basis for claim in judged),
        min((_support(claim.verdict, claim.support) for claim in judged), default=0.0),
        result.contradictions_with_earlier,
    )


def _support(verdict: str, support: float | None) -> float:
    """Return a claim's support; a quotation has none and needs none."""
    if support is None:
        return 1.0 if verdict == "SUPPORTED" else 0.0
    return support


@asynccontextmanager
async def open_verdict_engine(settings: Settings, memory: Path | str) -> AsyncIterator[CheckEngine]:
    """Open all models; ``memory`` is the file of what they said in earlier runs.

    Raises:
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    try:
        async with RememberingAdapters(settings, known) as adapters, open_checker(settings, adapters) as checker:
            yield CheckEngine(checker)
    finally:
        known.close()
