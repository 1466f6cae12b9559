"""The whole engine on labelled texts: what thirteen stages make of them, beside what the grounding model says alone.

Each row's context becomes facts by the product's own chunker, the text to check is the answer, and all stages run. A
text counts as supported when every claim in it that gets a verdict is SUPPORTED (ADR 0041, 0045); one without such a
claim counts as not supported. Alone, the grounding model is given the whole context and the whole text. Thresholds are
the product's; the encoder's alone is the best one on the fold ``calibrate``. Figures are of the fold ``report``, unless
another is named: rules are worked on with ``fit`` and ``calibrate`` in view, ``report`` is left alone until the end.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from rich.progress import Progress

from evaluation.data import EvaluationDataError
from evaluation.grounding_models import CALIBRATE, REPORT, judge, reported
from evaluation.grounding_scores import GroundingResult, System, score
from evaluation.labelled import LabelledClaim, first_of_each
from services.common.ports.grounding import GroundingModel, GroundingVerdict
from services.dpe.domain.findings import Basis, Judgement, Verdict

ENGINE: Final = "whole engine"
ALONE: Final = "grounding alone"
ENCODER_ALONE: Final = "encoder alone"
UNNAMED: Final = "not named"
AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True)
class Checked:
    """What is said of a text.

    Attributes:
        support: least over the claims that got a verdict, in [0, 1]; 0 when there is none.
        bases: verdict and basis of each of them.
        findings: how many findings each stage that looks for faults has.
        alone: what the grounding model says of text and context.
    """

    support: float
    bases: tuple[str, ...]
    findings: Mapping[str, int]
    alone: GroundingVerdict


class Engine(Protocol):
    """The product's engine, and the grounding model that it holds."""

    @property
    def grounding(self) -> GroundingModel:
        """The model alone."""
        ...

    @property
    def fingerprint(self) -> str:
        """Of all models that it asks."""
        ...

    async def check(self, claim: LabelledClaim) -> "Findings":
        """Run all stages over a text and its context."""
        ...


@dataclass(frozen=True, slots=True)
class Findings:
    """What the stages found: the verdict on each claim, and the number of findings by stage."""

    judgements: tuple[Judgement, ...]
    by_stage: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Flagged:
    """A kind of finding against the labels of whole texts.

    Attributes:
        what: stage and kind.
        texts: that have such a finding.
        unsupported: of these, labelled as not supported.
        of: texts labelled as not supported.
    """

    what: str
    texts: int
    unsupported: int
    of: int

    @property
    def precision(self) -> float | None:
        """Share of the texts with the finding that are not supported."""
        return self.unsupported / self.texts if self.texts else None

    @property
    def recall(self) -> float | None:
        """Share of the texts that are not supported that have it."""
        return self.unsupported / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Decided:
    """How often a basis decided a claim, in texts of either label."""

    basis: str
    supported: int
    unsupported: int


@dataclass(frozen=True, slots=True)
class PipelineMeasurement:
    """Figures per data set, findings against labels, what decided, and the mistakes, most confident first."""

    result: GroundingResult
    flagged: tuple[Flagged, ...]
    decided: tuple[Decided, ...]
    without_verdict: int
    mistakes: tuple[dict[str, Any], ...]


def claim_support(item: Judgement, threshold: float | None = None) -> float:
    """Return how well a claim is supported; with a threshold it is there or above exactly when it is SUPPORTED.

    Of a claim in which a rule finds a departure the support counts half: rules and model are two witnesses.
    """
    if item.basis is Basis.QUOTATION and item.verdict is Verdict.SUPPORTED:
        return 1.0
    support = item.support or 0.0
    if item.verdict is Verdict.SUPPORTED:
        return support if threshold is None else max(support, threshold)
    if item.basis not in {Basis.GROUNDING, Basis.CONTRADICTION}:
        support /= 2
    return support if threshold is None else min(support, math.nextafter(threshold, 0.0))


def checked(found: Findings, alone: GroundingVerdict, threshold: float) -> Checked:
    """Put together what is said of a text."""
    support = min((claim_support(item, threshold) for item in found.judgements), default=0.0)
    bases = tuple(f"{item.verdict}, {item.basis}" for item in found.judgements)
    return Checked(support, bases, dict(found.by_stage), alone)


async def measure(
    claims: Sequence[LabelledClaim], engine: Engine, progress: Progress, limit: int | None, fold: str = REPORT
) -> PipelineMeasurement:
    """Have the engine check every text of a fold, at most ``limit`` of each data set.

    Raises:
        EvaluationDataError: no text is there to report on.
    """
    of_fold = reported(claims) if fold == REPORT else [claim for claim in claims if claim.fold == fold]
    chosen = first_of_each(of_fold, lambda claim: claim.dataset, limit)
    if not chosen:
        beside = ", and none without a fold" if fold == REPORT else ""
        raise EvaluationDataError(f"no claim of fold {fold}{beside}: there is nothing to report on")
    alone = await judge(chosen, engine.grounding, progress, "grounding alone")
    found: list[Findings] = []
    bar = progress.add_task("whole engine", total=len(chosen))
    for start in range(0, len(chosen), AT_ONCE):  # the encoders batch over texts that are checked together
        some = chosen[start : start + AT_ONCE]
        found += await asyncio.gather(*map(engine.check, some))
        progress.update(bar, advance=len(some))
    rows = [
        (claim, checked(one, verdict, engine.grounding.threshold))
        for claim, one, verdict in zip(chosen, found, alone, strict=True)
    ]
    known = first_of_each([one for one in claims if one.fold == CALIBRATE], lambda claim: claim.dataset, limit)
    tuning = [
        (claim, Checked(0.0, (), {}, verdict))
        for claim, verdict in zip(
            known, await judge(known, engine.grounding, progress, "claims of fold calibrate"), strict=True
        )
    ]
    result = score(rows, tuning, systems(engine.grounding.threshold), gain=(ALONE, ENGINE))
    return PipelineMeasurement(
        result,
        flagged(rows),
        decided(rows),
        sum(not found.bases for _, found in rows),
        mistakes(rows, engine.grounding.threshold),
    )


def systems(threshold: float) -> tuple[System[Checked], ...]:
    """Return the columns."""
    return (
        System(ENCODER_ALONE, lambda found: found.alone.encoder_support or 0.0, None),
        System(ALONE, lambda found: found.alone.support, threshold),
        System(ENGINE, lambda found: found.support, threshold),
    )


def flagged(rows: Sequence[tuple[LabelledClaim, Checked]]) -> tuple[Flagged, ...]:
    """Hold each kind of finding against the labels of the texts that have it."""
    of = sum(not claim.supported for claim, _ in rows)
    names = sorted({name for _, found in rows for name, number in found.findings.items() if number})
    holders = {name: [claim for claim, found in rows if found.findings.get(name)] for name in names}
    return tuple(
        Flagged(name, len(texts), sum(not claim.supported for claim in texts), of) for name, texts in holders.items()
    )


def decided(rows: Sequence[tuple[LabelledClaim, Checked]]) -> tuple[Decided, ...]:
    """Count what decided the claims."""
    counts = Counter((basis, claim.supported) for claim, found in rows for basis in found.bases)
    return tuple(
        Decided(basis, counts[basis, True], counts[basis, False]) for basis in sorted({name for name, _ in counts})
    )


def mistakes(rows: Sequence[tuple[LabelledClaim, Checked]], threshold: float) -> tuple[dict[str, Any], ...]:
    """Return the texts that the engine takes for the opposite of what people say, most confident first."""
    wrong = [(claim, found) for claim, found in rows if (found.support >= threshold) != claim.supported]
    wrong.sort(key=lambda row: -abs(row[1].support - threshold))
    return tuple(
        {
            "task": "pipeline",
            "set": claim.dataset,
            "id": claim.id,
            "query": claim.query,
            "claim": claim.claim,
            "label": "supported" if claim.supported else "not supported",
            "support": round(found.support, 4),
            "alone": round(found.alone.support, 4),
            "decided": list(found.bases),
            "findings": dict(found.findings),
        }
        for claim, found in wrong
    )
