"""What a second opinion does to the figures of the minimal pairs when it is right in so many of 100 cases (ADR 0119).

The judge is scripted: it knows which claims are true, and is wrong in a fixed share of them, drawn from the claim's own
words and a seed, so that the same run gives the same figures. It answers as an endpoint's adapter does; votes, limits
and the table that moves verdicts are those that users get.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.pairs import PairFigures, PairRecord, measure_pairs
from evaluation.tables import Table
from evaluation.verdict_engine import CheckEngine
from services.allinone.check import open_checker
from services.common.encoding import sha256_hex
from services.common.opinions import judge
from services.common.ports.second_opinion import GivenVote, OpinionKind, OpinionReply, OpinionRequest, Vote
from services.common.reading.words import normal_text
from services.common.settings import Settings
from services.common.settings.second_opinion import OpinionScope, SecondOpinionSettings

RATES: Final = (60, 80, 95, 100)
"""Cases of 100 in which the judge is right."""
SEEDS: Final = (1, 2, 3)
_MODEL: Final = "scripted"
_PLENTY: Final = 1_000_000
_CASES: Final = 100
_DRAW_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Truth:
    """Which claims are true: those that stand in the true answer of their question."""

    answers: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, records: Sequence[PairRecord]) -> "Truth":
        """Read the records; several may ask the same question."""
        known: dict[str, list[str]] = {}
        for record in records:
            known.setdefault(record.question, []).append(normal_text(record.true_answer))
        return cls({question: tuple(texts) for question, texts in known.items()})

    def holds(self, question: str, claim: str) -> bool:
        """Say whether a claim is true."""
        text = normal_text(claim).rstrip(" .")
        return any(text in answer for answer in self.answers.get(question, ()))


@dataclass(frozen=True, slots=True)
class ScriptedJudge:
    """``SecondOpinion`` that is right in ``rate`` of 100 cases."""

    truth: Truth
    rate: int
    seed: int
    asked: Counter[bool] = field(default_factory=Counter)
    """Votes on true claims and on false ones."""
    kind: OpinionKind = OpinionKind.JUDGE
    model: str = _MODEL
    prompt_version: str = judge.PROMPT_VERSION

    def tokens(self, request: OpinionRequest) -> tuple[int, int]:
        """As a judge's."""
        return judge.tokens(request)

    async def ask(self, request: OpinionRequest) -> OpinionReply:
        """Vote."""
        votes = {claim.claim_id: GivenVote(self.vote(request.question, claim.text)) for claim in request.claims}
        self.asked.update(self.truth.holds(request.question, claim.text) for claim in request.claims)
        return OpinionReply(votes, _MODEL, sha256_hex(""), *self.tokens(request))

    def vote(self, question: str, claim: str) -> Vote:
        """Return the vote on a claim; the same for the same words."""
        drawn = int(sha256_hex(f"{self.seed}\n{question}\n{claim}")[:_DRAW_DIGITS], 16) % _CASES
        right = drawn < self.rate
        return Vote.SUPPORTED if self.truth.holds(question, claim) is right else Vote.UNSUPPORTED

    async def check(self) -> None:
        """It is there."""

    async def close(self) -> None:
        """Nothing is open."""


class ScriptedAdapters(RememberingAdapters):
    """Encoders with a memory, and a scripted judge."""

    def __init__(self, settings: Settings, memory: EncoderMemory, scripted: ScriptedJudge) -> None:
        super().__init__(settings, memory)
        self._scripted = scripted

    async def second_opinion(self) -> ScriptedJudge:
        """Return the judge."""
        return self._scripted


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one judge: means over the seeds, by group of kinds; ``rate`` 0 = nobody was asked.

    Attributes:
        asked: true and false claims that it was asked about.
    """

    scope: str
    rate: int
    asked: tuple[int, int]
    figures: Mapping[str, Mapping[str, float]]


async def measure_judges(records: Sequence[PairRecord], settings: Settings, memory: Path | str) -> list[Row]:
    """Check all records without a second opinion, then with each judge, for both scopes."""
    known, truth = EncoderMemory(memory), Truth.of(records)
    try:
        rows = [Row("-", 0, (0, 0), _means([await _measured(records, lambda: RememberingAdapters(settings, known))]))]
        for scope in OpinionScope:
            own = settings.model_copy(update={"second_opinion": _settings(scope)})
            for rate in RATES:
                judges = [ScriptedJudge(truth, rate, seed) for seed in SEEDS]
                runs = [await _measured(records, _judged(own, known, one)) for one in judges]
                asked = judges[0].asked
                rows.append(Row(str(scope), rate, (asked[True], asked[False]), _means(runs)))
        return rows
    finally:
        known.close()


def table_of_judges(rows: Sequence[Row]) -> Table:
    """Return the figures for people."""
    columns = (
        "asked about",
        "right in",
        "kinds",
        "false: SUPPORTED or LOW",
        "true: not SUPPORTED",
        "balanced accuracy",
    )
    lines = tuple(
        (
            row.scope,
            f"{row.asked[0]}, {row.asked[1]}" if row.rate else "-",
            f"{row.rate} of 100" if row.rate else "nobody asked",
            group,
            *(
                f"{one[name]:.3f}" if name in one else "-"
                for name in ("false_passed", "true_failed", "balanced_accuracy")
            ),
        )
        for row in rows
        for group, one in row.figures.items()
    )
    return Table(
        "second-opinion", "Minimal pairs with a scripted judge", columns, lines, f"Means of {len(SEEDS)} seeds."
    )


def document_of_judges(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the results file holds."""
    return {
        "seeds": list(SEEDS),
        "rows": [
            {
                "scope": row.scope,
                "right_of_100": row.rate or None,
                "asked": {"true": row.asked[0], "false": row.asked[1]},
                "figures": row.figures,
            }
            for row in rows
        ],
    }


def _settings(scope: OpinionScope) -> SecondOpinionSettings:
    return SecondOpinionSettings(
        base_url="http://127.0.0.1:1/v1",
        model=_MODEL,
        scope=scope,
        max_calls=100,
        max_tokens=_PLENTY,
        max_call_tokens=_PLENTY,
        cache_ttl_s=0,
    )


def _judged(settings: Settings, memory: EncoderMemory, scripted: ScriptedJudge) -> Callable[[], RememberingAdapters]:
    return lambda: ScriptedAdapters(settings, memory, scripted)


async def _measured(
    records: Sequence[PairRecord], adapters: Callable[[], RememberingAdapters]
) -> tuple[PairFigures, ...]:
    async with _opened(adapters()) as engine:
        return (await measure_pairs(records, engine)).groups


@asynccontextmanager
async def _opened(adapters: RememberingAdapters) -> AsyncIterator[CheckEngine]:
    async with adapters, open_checker(adapters.settings, adapters) as checker:
        yield CheckEngine(checker)


def _means(runs: Sequence[tuple[PairFigures, ...]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for place, group in enumerate(runs[0]):
        ones = [run[place] for run in runs]
        values = {
            "false_passed": [one.false_passed.value for one in ones],
            "true_failed": [one.true_failed.value for one in ones],
            "balanced_accuracy": [one.balanced_accuracy for one in ones],
        }
        found[group.name] = {
            name: sum(known) / len(known)
            for name, each in values.items()
            if (known := [v for v in each if v is not None])
        }
    return found
