"""Does an outdated answer count as true, or a current one as doubtful, in any order of what people do to documents?

Every order of ingesting, changing, changing back, removing, renaming and erasing over two documents
(``standing.orders``) is walked in a tenant of its own, in the suite as ``services.allinone.embedded`` starts it:
IngestSource, EraseSource, and for each answer BuildEnvelope and Analyze, as a dispatch asks them. After each step every
value that was ever ingested is given as an answer to a question about now, to one about the time before, and with
``include_superseded``.
"""

import asyncio
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import grpc
from crp.ckf.v1 import ckf_pb2
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import claim_pb2, report_pb2
from crp.dpe.v1 import provenance_service_pb2 as dpe
from crp.envelope.v1 import envelope_service_pb2 as envelopes
from crp.gateway.v1 import admin_pb2, admin_service_pb2

from evaluation.encoder_memory import EncoderMemory, RememberingAdapters
from evaluation.shares import Share
from evaluation.standing import ERASE, RENAME, Standing, Step, orders
from evaluation.tables import Table
from services.allinone.embedded import embedded
from services.cli.connection import Suite
from services.common.settings import Settings
from services.gateway.doors.local_keys import LocalKeys

STEPS: Final = 4
"""Of the longest orders."""
_AT_ONCE: Final = 3
_SUPPORTED: Final = "SUPPORTED"
_LOW: Final = "LOW"
_BESIDE: Final = "The club house is open to its members and to their guests."


@dataclass(frozen=True, slots=True)
class Stated:
    """What documents say of one thing: the sentence, the values that it may have, and how it is asked for.

    Attributes:
        name: in tables.
        sentence: with a place for the value.
        values: in the order in which they come up.
        now, before: questions about now, and about the time before.
        steps: of the longest orders that it is walked in.
    """

    name: str
    sentence: str
    values: tuple[str, ...]
    now: str
    before: str
    steps: int = STEPS - 1


STATED: Final = (
    Stated(
        "amount",
        "The parking fee of the club is {} euros.",
        ("10", "25", "40"),
        "What is the parking fee of the club?",
        "What was the parking fee of the club before the change?",
        STEPS,
    ),
    Stated(
        "day",
        "Entries for the regatta close on {}.",
        ("3 May", "17 June", "21 August"),
        "When do entries for the regatta close?",
        "When did entries for the regatta close before the change?",
    ),
    Stated(
        "person",
        "The treasurer of the club is {}.",
        ("Anna Weber", "Paul Adler", "Ruth Lang"),
        "Who is the treasurer of the club?",
        "Who was the treasurer of the club before the change?",
    ),
)


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer after some steps: what it states, whether that holds, and what was found.

    Attributes:
        stated: name of what is spoken of.
        steps: that were taken.
        value: that the answer gives.
        question: ``now``, ``before`` or ``everything``.
        current: whether a document says so; else it is outdated.
        verdicts: of the answer's claims that have one.
        level: of risk.
    """

    stated: str
    steps: tuple[Step, ...]
    value: str
    question: str
    current: bool
    verdicts: tuple[str, ...]
    level: str

    @property
    def supported(self) -> bool:
        """Whether a claim of an outdated answer, or every claim of a current one, is SUPPORTED."""
        if self.current:
            return bool(self.verdicts) and set(self.verdicts) == {_SUPPORTED}
        return _SUPPORTED in self.verdicts

    @property
    def low(self) -> bool:
        """Whether the level of risk is LOW."""
        return self.level == _LOW

    @property
    def is_wrong(self) -> bool:
        """Whether it is outdated and SUPPORTED or LOW, or current and not both."""
        return not (self.supported and self.low) if self.current else self.supported or self.low


class Walk:
    """One order in a tenant of its own.

    Args:
        suite: as the tenant's administrator sees it.
        stated: what its documents say.
        model: for the size of envelopes.
    """

    def __init__(self, suite: Suite, stated: Stated, model: str) -> None:
        self._suite = suite
        self._stated = stated
        self._model = model
        self._standing = Standing()
        self._sources: dict[str, str] = {}

    async def answered(self, steps: Sequence[Step], known: int) -> list[Answered]:
        """Take the steps; return the answers after each but the first ``known``, which another order has given."""
        found: list[Answered] = []
        for number, step in enumerate(steps, start=1):
            await self._take(step)
            if number > known:
                found += await self._asked(tuple(steps[:number]))
        return found

    async def _take(self, step: Step) -> None:
        stated, standing = self._stated, self._standing
        name = standing.names.get(step.slot, step.slot)
        step.take(standing, stated.name)
        if step.kind == ERASE:
            request = knowledge.EraseSourceRequest(request_id=str(uuid.uuid4()), source_id=self._sources.pop(name))
            await self._suite.call(self._suite.knowledge.EraseSource, request)
            return
        now = standing.names[step.slot]
        lines = [f"# {now}", *(stated.sentence.format(stated.values[at]) for at in standing.documents[now].values())]
        source = knowledge.IngestSourceRequest(
            request_id=str(uuid.uuid4()),
            uri=now,
            content="\n\n".join([*lines, _BESIDE]).encode(),
            source_type=ckf_pb2.SOURCE_TYPE_INTERNAL,
            supersedes_uris=[name] if step.kind == RENAME else [],
        )
        made = await self._suite.call(self._suite.knowledge.IngestSource, source)
        self._sources[now] = made.source.source_id

    async def _asked(self, steps: tuple[Step, ...]) -> list[Answered]:
        stated, found = self._stated, []
        for place in sorted({step.value for step in steps if step.value is not None}):
            value, current = stated.values[place], self._standing.holds(stated.name, place)
            for question, query in (("now", stated.now), ("before", stated.before), ("everything", stated.now)):
                report = await self._report(query, stated.sentence.format(value), question == "everything")
                level = taxonomy_pb2.RiskLevel.Name(report.risk_level).removeprefix("RISK_LEVEL_")
                found.append(Answered(stated.name, steps, value, question, current, _verdicts(report), level))
        return found

    async def _report(self, query: str, answer: str, everything: bool) -> report_pb2.DpeReport:
        asked = envelopes.BuildEnvelopeRequest(query=query, model=self._model, include_superseded=everything)
        built = await self._suite.call(self._suite.envelopes.BuildEnvelope, asked)
        analysed = dpe.AnalyzeRequest(
            session_id="s1", window_id="w1", window_number=1, query=query, response_text=answer, envelope=built.envelope
        )
        response: dpe.AnalyzeResponse = await self._suite.call(self._suite.provenance.Analyze, analysed)
        return response.report


def _verdicts(report: report_pb2.DpeReport) -> tuple[str, ...]:
    names = (claim_pb2.ClaimVerdict.Name(claim.verdict) for claim in report.claims if claim.verdict)
    return tuple(name.removeprefix("CLAIM_VERDICT_") for name in names)


async def measure_orders(settings: Settings, memory: Path | str, limit: int | None = None) -> list[Answered]:
    """Walk every order of everything that is stated, and return all answers; with ``limit`` the first orders of each.

    Raises:
        CrpError: a document was refused, or a store or model does not serve.
        StartupError: a model cannot be used.
    """
    async with _suites(settings, memory) as (suite, keys):
        turns = asyncio.Semaphore(_AT_ONCE)

        async def walked(number: int, stated: Stated, steps: tuple[Step, ...], known: int) -> list[Answered]:
            async with turns:
                request = admin_service_pb2.CreateApiKeyRequest(
                    request_id=str(uuid.uuid4()), label="evaluation", roles=[admin_pb2.API_KEY_ROLE_ADMIN]
                )
                made = await keys.create(request, f"order-{number}")
                walk = Walk(suite.acting(made.api_key), stated, settings.gateway.extractive_model)
                return await walk.answered(steps, known)

        walks = enumerate((stated, *order) for stated in STATED for order in _with_known(stated, limit))
        found = await asyncio.gather(*(walked(number, *walk) for number, walk in walks))
    return [answer for one in found for answer in one]


def _with_known(stated: Stated, limit: int | None) -> Iterator[tuple[tuple[Step, ...], int]]:
    """Yield orders, each with how many of its steps the one before has taken as well."""
    former: tuple[Step, ...] = ()
    for number, steps in enumerate(orders(stated.steps, len(stated.values), stated.name)):
        if limit is not None and number >= limit:
            return
        pairs = zip(former, steps, strict=False)
        yield steps, next((at for at, (one, other) in enumerate(pairs) if one != other), len(former))
        former = steps


@asynccontextmanager
async def _suites(settings: Settings, memory: Path | str) -> AsyncIterator[tuple[Suite, LocalKeys]]:
    """Start the suite on a folder that goes away; give it without a credential, and what makes keys of its tenants."""
    known = EncoderMemory(memory)
    try:
        with tempfile.TemporaryDirectory(prefix="groundtrail-evaluation-") as name:
            own = settings.model_copy(
                update={
                    "store": settings.store.model_copy(update={"data_dir": Path(name)}),
                    "llm": settings.llm.model_copy(update={"base_url": ""}),
                }
            )
            async with RememberingAdapters(own, known) as adapters, embedded(own, adapters=adapters) as up:
                keys = LocalKeys(await adapters.credentials(), adapters.clock, adapters.ids, own.auth.environment)
                async with grpc.aio.insecure_channel(up.address) as channel:
                    yield Suite(up.address, "", channel), keys
    finally:
        known.close()


def shares_of_orders(found: Sequence[Answered]) -> dict[str, Share]:
    """Return the shares of outdated answers that pass and of current ones that are doubted, of all and by name."""
    shares: dict[str, Share] = {}
    for name in ("all", *dict.fromkeys(one.stated for one in found)):
        some = [one for one in found if name in {"all", one.stated}]
        current, outdated = [one for one in some if one.current], [one for one in some if not one.current]
        shares |= {
            f"{name}: outdated, SUPPORTED": Share.among(one.supported for one in outdated),
            f"{name}: outdated, LOW": Share.among(one.low for one in outdated),
            f"{name}: current, not SUPPORTED": Share.among(not one.supported for one in current),
            f"{name}: current, above LOW": Share.among(not one.low for one in current),
        }
    return shares


def table_of_orders(found: Sequence[Answered]) -> Table:
    """Return the shares as a table."""
    rows = tuple((name, str(share)) for name, share in shares_of_orders(found).items())
    return Table("superseded", "Answers after every order of changes", ("answers", "share (95% interval)"), rows)


def document_of_orders(found: Sequence[Answered]) -> dict[str, Any]:
    """Return what the results file holds."""
    return {
        "orders": {stated.name: len({one.steps for one in found if one.stated == stated.name}) for stated in STATED},
        "answers": len(found),
        "shares": {name: share.plain() for name, share in shares_of_orders(found).items()},
    }


def mistakes_of_orders(found: Sequence[Answered]) -> list[dict[str, Any]]:
    """Return the answers that are wrong, with the steps before them."""
    return [
        {
            "stated": one.stated,
            "steps": [str(step) for step in one.steps],
            "value": one.value,
            "question": one.question,
            "current": one.current,
            "verdicts": list(one.verdicts),
            "level": one.level,
        }
        for one in found
        if one.is_wrong
    ]
