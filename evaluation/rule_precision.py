"""How often a rule of stage 3b is right, where it decides and where it is one signal (SPEC-005 §5.3; ADR 0095, 0166).

Pairs of a true and a false answer are checked without encoders, which no rule asks: a rule is right where the answer
that it finds something in is the false one. Twins of the corpus are inferences in other words, the development pairs
stay near their facts, replies are several sentences beside a whole document: there a rule has the most to be wrong
about. Passages of the corpus are halved in their order: what is mended on the first half is measured on the passages,
and the writers, of the second.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any, Final

from crp.dpe.v1 import finding_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from groundtrail.sources import Source

from evaluation import corpus, pairs
from evaluation.data import EvaluationDataError
from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.shares import Share
from evaluation.tables import Table
from evaluation.whole_documents import REPLIES, Answer, read_answers
from services.allinone.check import Checker, CheckOrder, open_checker
from services.common.ports.entailment import EntailmentModel
from services.common.ports.grounding import GroundingModel
from services.common.settings import Settings

_NONE: Final = "-"


@unique
class Part(StrEnum):
    """Where an answer is from."""

    FIRST = "corpus, first half"
    SECOND = "corpus, second half"
    PAIRS = "development pairs"
    REPLIES = "development replies"


@dataclass(frozen=True, slots=True)
class Asked:
    """A pair, the part that it is of, and the document that it is about where that is a file."""

    part: Part
    record: pairs.PairRecord
    document: Path | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """What the answers are checked against."""
        return self.record.sources if self.document is None else (self.document,)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in an answer.

    Attributes:
        decides: it contradicts the claim by itself, for its rule does where the claim repeats its source (ADR 0215).
        right: the answer is the false one of its pair.
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
    claimed: str
    known: str
    source: str


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
    """Return every pair: those of the corpus' train part by half, those for development, and replies in twos.

    Raises:
        EvaluationDataError: a file is not there, or another than its README's.
    """
    records = corpus.read_corpus()
    passages = list(dict.fromkeys(record.facts for record in records))
    first = set(passages[: len(passages) // 2])
    halves = [Asked(Part.FIRST if record.facts in first else Part.SECOND, record) for record in records]
    halves += [Asked(Part.PAIRS, record) for record in pairs.read_part(pairs.Part.DEVELOPMENT)]
    return halves + replies_in_twos(read_answers(pairs.Part.DEVELOPMENT, REPLIES))


def replies_in_twos(replies: Sequence[Answer]) -> list[Asked]:
    """Return the right and the wrong reply to each question as a pair, in the order of the right ones.

    Raises:
        EvaluationDataError: a question has no such two.
    """
    found: dict[tuple[Path, str], dict[bool, Answer]] = defaultdict(dict)
    for reply in replies:
        found[reply.document, reply.question][reply.right] = reply
    if lonely := [question for (_, question), both in found.items() if len(both) != len((True, False))]:
        raise EvaluationDataError(f"replies: a question without a right and a wrong one: {lonely[0]!r}")
    return [
        Asked(
            Part.REPLIES,
            pairs.PairRecord(right.id, right.kind, (text,), right.question, right.answer, wrong.answer),
            right.document,
        )
        for both in found.values()
        for right, wrong in [(both[True], both[False])]
        for text in [right.document.read_text(encoding="utf-8")]
    ]


async def find(asked: Sequence[Asked], checker: Checker) -> list[Finding]:
    """Return what the rules find in both answers of every pair."""
    both = [
        (one, answer, is_true)
        for one in asked
        for answer, is_true in ((one.record.true_answer, True), (one.record.false_answer, False))
        if answer is not None
    ]
    results = await checker.check_all(CheckOrder(answer, one.sources, one.record.question) for one, answer, _ in both)
    return [
        finding
        for (one, answer, is_true), result in zip(both, results, strict=True)
        for finding in _findings(one, answer, is_true, result.response)
    ]


def _findings(one: Asked, answer: str, is_true: bool, response: pb.CheckResponse) -> Iterable[Finding]:
    contents = {fact.fact_id: fact.content for fact in response.facts}
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


def precision_tables(findings: Sequence[Finding]) -> list[Table]:
    """Return a table of the rules, a row for each, and one of what decides and what does not."""
    names = sorted({one.rule for one in findings})
    rows = tuple((name, *_shares([one for one in findings if one.rule == name])) for name in names)
    deciding, signals = [one for one in findings if one.decides], [one for one in findings if not one.decides]
    groups = (("decides", deciding), ("one signal", signals), ("either", findings))
    columns = (*(str(part) for part in Part), "together")
    note = "Answers that are false, of all in which the rule finds something. In brackets: those in which it decides."
    return [
        Table("rule-precision", "Precision of the rules", ("rule", *columns), rows, note),
        Table(
            "role-precision",
            "Precision of what decides",
            ("role of the finding", *columns),
            tuple((name, *_shares(listed, both=False)) for name, listed in groups),
        ),
    ]


def _shares(listed: Sequence[Finding], *, both: bool = True) -> list[str]:
    parts = [[one for one in listed if one.part is part] for part in Part]
    return [_text(some, both=both) for some in (*parts, listed)]


def _text(listed: Sequence[Finding], *, both: bool) -> str:
    found = precision_of(listed)
    if found.value is None:
        return _NONE
    plain = f"{found.hits} of {found.of}: {found.value:.2f}"
    deciding = precision_of(one for one in listed if one.decides)
    return f"{plain} ({deciding.hits} of {deciding.of})" if both else plain


def wrong_findings(findings: Iterable[Finding], part: Part) -> list[dict[str, Any]]:
    """Return what rules find in true answers of a part, rule by rule."""
    return [
        {
            "rule": one.rule,
            "id": one.record.id,
            "answer": one.answer,
            "claimed": one.claimed,
            "known": one.known,
            "source": one.source,
        }
        for one in sorted(findings, key=lambda one: (one.rule, one.record.id))
        if one.part is part and not one.right
    ]
