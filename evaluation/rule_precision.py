"""How often a rule of stage 3b is right, by how near the claim is to its source (SPEC-005 §5.3; ADR 0095, 0166).

Pairs of a true and a false answer are checked without encoders, which no rule asks: a rule is right where the answer that
it finds something in is the false one. Twins of the corpus are inferences in other words, the development pairs stay
near their facts. Passages of the corpus are halved in their order, so that what is mended on one half is measured on
passages, and by other writers, of the other.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any, Final

from crp.dpe.v1 import finding_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from evaluation import corpus, pairs
from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.shares import Share
from evaluation.tables import Table
from services.allinone.check import Checker, CheckOrder, open_checker
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel
from services.common.settings import Settings
from services.dpe.domain.rules.reading import roots, share

NEAR: Final = 0.75
"""Share of the claim's words that its source's sentence holds from which on the claim counts as near to it."""
DECIDES: Final = 0.85
"""Precision from which on a rule decides (ADR 0095)."""
_NONE: Final = "-"


@unique
class Part(StrEnum):
    """Where an answer is from."""

    FIRST = "corpus, first half"
    SECOND = "corpus, second half"
    PAIRS = "development pairs"


@dataclass(frozen=True, slots=True)
class Asked:
    """A pair, and the part and passage that it is of."""

    part: Part
    record: pairs.PairRecord


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in an answer.

    Attributes:
        decides: the rule decides the verdict, as things stand.
        right: the answer is the false one of its pair.
        nearness: share of the claim's words of content in the sentence that it departs from, 0.0-1.0.
        claimed: the words of the answer.
        known: the words of the fact.
        source: the sentence of the fact.
    """

    part: Part
    record: pairs.PairRecord
    answer: str
    rule: str
    decides: bool
    right: bool
    nearness: float
    claimed: str
    known: str
    source: str

    @property
    def is_near(self) -> bool:
        """The claim says most of what it says in words of its source."""
        return self.nearness >= NEAR


class _RulesAlone(RememberingAdapters):
    """Adapters without the encoders that no rule asks."""

    async def entailment(self) -> EntailmentModel | None:
        """Return nothing."""
        return None

    async def grounding(self) -> GroundingModel | None:
        """Return nothing."""
        return None


@asynccontextmanager
async def open_rules(settings: Settings, memory: Path | str) -> AsyncIterator[Checker]:
    """Open what the rules need; ``memory`` is the file of what the models said in earlier runs.

    Raises:
        StartupError: a model cannot be used.
    """
    known = EncoderMemory(memory)
    try:
        async with _RulesAlone(settings, known) as adapters, open_checker(settings, adapters) as checker:
            yield checker
    finally:
        known.close()


def read_asked() -> list[Asked]:
    """Return every pair: those of the corpus' train part by half, and those for development.

    Raises:
        EvaluationDataError: a file is not there, or another than its README's.
    """
    records = corpus.read_corpus()
    passages = list(dict.fromkeys(record.facts for record in records))
    first = set(passages[: len(passages) // 2])
    halves = [Asked(Part.FIRST if record.facts in first else Part.SECOND, record) for record in records]
    return halves + [Asked(Part.PAIRS, record) for record in pairs.read_part(pairs.Part.DEVELOPMENT)]


async def find(asked: Sequence[Asked], checker: Checker) -> list[Finding]:
    """Return what the rules find in both answers of every pair."""
    both = [
        (one, answer, is_true)
        for one in asked
        for answer, is_true in ((one.record.true_answer, True), (one.record.false_answer, False))
        if answer is not None
    ]
    results = await checker.check_all(
        CheckOrder(answer, one.record.sources, one.record.question) for one, answer, _ in both
    )
    return [
        finding
        for (one, answer, is_true), result in zip(both, results, strict=True)
        for finding in _findings(one, answer, is_true, result.response)
    ]


def _findings(one: Asked, answer: str, is_true: bool, response: pb.CheckResponse) -> Iterable[Finding]:
    contents = {fact.fact_id: fact.content for fact in response.facts}
    claims = {claim.claim_id: claim.text for claim in response.report.claims}
    for item in response.report.distortions:
        content = contents[item.fact_id]
        source = _sentence(content, item.fact_span.start, item.fact_span.end)
        yield Finding(
            one.part,
            one.record,
            answer,
            finding_pb2.DistortionRule.Name(item.rule).removeprefix("DISTORTION_RULE_"),
            item.decides,
            not is_true,
            share(roots(claims[item.claim_id]), roots(source)),
            answer[item.answer_span.start : item.answer_span.end],
            content[item.fact_span.start : item.fact_span.end],
            source,
        )


def _sentence(content: str, start: int, end: int) -> str:
    """Return the sentence around a stretch: from mark to mark, or to the end of the line."""
    before = max(content.rfind(mark, 0, start) for mark in (". ", "\n", "? ", "! ", "; "))
    behind = [at for mark in (". ", "\n", "? ", "! ", "; ") if (at := content.find(mark, end)) >= 0]
    return content[before + 1 : min(behind, default=len(content)) + 1].strip()


def precision_of(findings: Iterable[Finding]) -> Share:
    """Return the share of answers that are false among those that something is found in, each counted once."""
    answers = {(one.record.id, one.answer): one.right for one in findings}
    return Share.among(answers.values())


def rules_table(findings: Sequence[Finding]) -> Table:
    """Return a row for each rule: its precision by part, and near and far from its source."""
    names = sorted({one.rule for one in findings}, key=lambda name: (not _decides(name, findings), name))
    rows = [_row(name, [one for one in findings if one.rule == name]) for name in names]
    rows.append(_row("rules that decide", [one for one in findings if one.decides]))
    rows.append(_row("all rules", findings))
    columns = ("rule", "role", *(str(part) for part in Part), "all together", "near", "far")
    note = f"Right of all answers with a finding. Near: {NEAR:.0%} of the claim's words stand in its source's sentence."
    return Table("rule-precision", "Precision of the rules", columns, tuple(rows), note)


def _decides(name: str, findings: Sequence[Finding]) -> bool:
    return any(one.decides for one in findings if one.rule == name)


def _row(name: str, listed: Sequence[Finding]) -> tuple[str, ...]:
    shares = [precision_of(one for one in listed if one.part is part) for part in Part]
    shares += [
        precision_of(listed),
        precision_of(one for one in listed if one.is_near),
        precision_of(one for one in listed if not one.is_near),
    ]
    roles = {one.decides for one in listed}
    role = "decides" if roles == {True} else "one signal" if roles == {False} else "both"
    return name, role, *map(_text, shares)


def _text(found: Share) -> str:
    return _NONE if found.value is None else f"{found.hits} of {found.of}: {found.value:.2f}"


def wrong_findings(findings: Iterable[Finding], part: Part) -> list[dict[str, Any]]:
    """Return what rules find in true answers of a part, rule by rule."""
    return [
        {
            "rule": one.rule,
            "id": one.record.id,
            "nearness": round(one.nearness, 2),
            "answer": one.answer,
            "claimed": one.claimed,
            "known": one.known,
            "source": one.source,
        }
        for one in sorted(findings, key=lambda one: (one.rule, -one.nearness))
        if one.part is part and not one.right
    ]
