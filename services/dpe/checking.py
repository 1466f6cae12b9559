"""An answer against facts that its caller brings: documents are read and cut, then the pipeline runs (ADR 0098).

Nothing is kept: the analysis is that of any answer, over an envelope made of the caller's facts in the caller's order.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from services.common.errors import CrpError, ErrorReason, FieldViolation, LimitExceededError
from services.common.locations import place_of
from services.common.ports.documents import CutDocument, DocumentReader
from services.common.progress import at
from services.common.taxonomy import GroundingMode
from services.dpe.app import CompletedAnalysis, ProvenanceApp
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact, FactSource
from services.dpe.domain.opinion_record import AskedLimits
from services.dpe.domain.prior_texts import PriorWindow

CHECK_ID = "check"
"""Session and window of a report that belongs to none."""


@dataclass(frozen=True, slots=True)
class BroughtDocument:
    """A document as its caller has it."""

    name: str
    content: bytes = field(repr=False)
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class BroughtFact:
    """A fact as it was brought or read; ``title`` and ``location`` say where it is from, for people."""

    content: str = field(repr=False)
    title: str = ""
    location: str = ""


@dataclass(frozen=True, slots=True)
class CheckInput:
    """What is to be checked; ``earlier_answers`` oldest first, ``is_beginning`` of an answer still being written."""

    answer: str = field(repr=False)
    question: str = field(repr=False)
    facts: tuple[BroughtFact, ...] = field(repr=False)
    documents: tuple[BroughtDocument, ...] = ()
    earlier_answers: tuple[str, ...] = field(default=(), repr=False)
    grounding_mode: GroundingMode = GroundingMode.CONTEXT_PREFERRED
    opinion_limits: AskedLimits | None = None
    is_beginning: bool = False


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The analysis, every fact that it had, in order, and what reading the documents left out."""

    finished: CompletedAnalysis
    facts: tuple[BroughtFact, ...]
    warnings: tuple[str, ...]


def fact_id(position: int) -> str:
    """Return the id of the fact at a position, counted from 0."""
    return f"f{position + 1}"


class CheckApp:
    """Checks answers; safe to share between tasks of one event loop, keeps nothing.

    Args:
        analyses: the pipeline.
        documents: reads documents.
        max_facts: most facts of one check.
    """

    def __init__(self, analyses: ProvenanceApp, documents: DocumentReader, max_facts: int) -> None:
        self._analyses = analyses
        self._documents = documents
        self._max_facts = max_facts

    async def check(self, given: CheckInput) -> CheckedAnswer:
        """Return what the pipeline finds.

        Raises:
            InvalidRequestError: a document cannot be read (UNSUPPORTED_MEDIA, DOCUMENT_WITHOUT_TEXT); it is named.
            LimitExceededError: a document, the facts or the answer are over a limit, or a queue is full.
            DeadlineError: as ``ProvenanceApp.analyze``.
        """
        at("reading documents")
        cut = await self._read(given.documents)
        facts = (*given.facts, *(fact for name, one in cut for fact in _facts(name, one)))
        if len(facts) > self._max_facts:
            raise _too_many(len(facts), self._max_facts)
        priors = tuple(
            PriorWindow(f"{CHECK_ID}-{number}", number, text) for number, text in enumerate(given.earlier_answers, 1)
        )
        finished = await self._analyses.analyze(
            AnalysisInput(
                CHECK_ID,
                CHECK_ID,
                len(priors) + 1,
                given.question,
                given.answer,
                tuple(_fact(place, fact) for place, fact in enumerate(facts)),
                given.grounding_mode,
                priors,
                prompt=given.question,
                opinion_limits=given.opinion_limits,
                is_beginning=given.is_beginning,
            )
        )
        warnings = tuple(
            f"documents[{place}]: {warning}" for place, (_, one) in enumerate(cut) for warning in one.warnings
        )
        return CheckedAnswer(finished, facts, warnings)

    async def _read(self, documents: Sequence[BroughtDocument]) -> list[tuple[str, CutDocument]]:
        """Read the documents side by side; the first that cannot be read ends the others."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._read_one(place, one)) for place, one in enumerate(documents)]
        except BaseExceptionGroup as failures:
            raise _first(failures) from None
        return [(one.name, task.result()) for one, task in zip(documents, tasks, strict=True)]

    async def _read_one(self, place: int, document: BroughtDocument) -> CutDocument:
        try:
            return await self._documents.read(document.content, document.media_type, document.name)
        except CrpError as error:
            path = f"documents[{place}]"
            violations = [FieldViolation(f"{path}.{each.field}", each.description) for each in error.violations]
            error.violations = tuple(violations)
            error.message = f"{path}: {error.message}"
            raise


def _facts(name: str, document: CutDocument) -> list[BroughtFact]:
    return [BroughtFact(draft.content, document.title or name, draft.location) for draft in document.drafts]


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first failure, out of however many groups it stands in."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _fact(place: int, fact: BroughtFact) -> EnvelopeFact:
    if not fact.title:
        return EnvelopeFact(fact_id(place), fact.content)
    at = place_of(fact.location, fact.title)
    return EnvelopeFact(fact_id(place), fact.content, source=FactSource("", "", fact.title, at.section, at.page))


def _too_many(actual: int, limit: int) -> LimitExceededError:
    return LimitExceededError(
        ErrorReason.MESSAGE_TOO_LARGE,
        f"facts and documents hold {actual} facts, the limit is {limit}; bring those alone that the answer is about.",
        violations=(FieldViolation("documents", f"must hold at most {limit} facts together with facts"),),
        field="documents",
        actual=str(actual),
        limit=str(limit),
        unit="facts",
    )
