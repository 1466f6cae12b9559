"""Named entities on Wikigold and on synthetic personal data: exact spans with their kinds.

The personal data are marked with finer kinds than the recogniser has. A kind of theirs that the recogniser knows under
another name is measured; a guess that touches a span of any other kind (a city in a street address) counts neither way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rich.progress import Progress

from evaluation.entities import ALL, PARTS, TAGS, chosen, gold_spans
from evaluation.metrics import SpanCounts
from services.common.ports.recognition import Entity, EntityKind, EntityRecognizer

TypedSpans: TypeAlias = set[tuple[str, int, int]]

WIKIGOLD: Final = "wikigold"
PERSONAL: Final = "synthetic personal data"
PERSONAL_KINDS: Final[dict[EntityKind, str]] = {
    EntityKind.PERSON: "PERSON",
    EntityKind.ORGANISATION: "ORGANIZATION",
    EntityKind.LOCATION: "GPE",
    EntityKind.DATE: "DATE_TIME",
    EntityKind.TIME: "DATE_TIME",
    EntityKind.EMAIL: "EMAIL_ADDRESS",
    EntityKind.URL: "DOMAIN_NAME",
}
"""The data's name of each kind that both sides have."""
_SLICE: Final = 128


@dataclass(frozen=True, slots=True)
class EntityResult:
    """One kind on one data set.

    Attributes:
        dataset: the set.
        kind: as the set calls it, or all together.
        entities: true ones.
        precision: share of the guesses that are exactly right.
        recall: share of the true ones that were found exactly.
        f1: their harmonic mean.
    """

    dataset: str
    kind: str
    entities: int
    precision: float
    recall: float
    f1: float


async def recognise(
    texts: Sequence[str], recogniser: EntityRecognizer, progress: Progress, label: str
) -> list[tuple[Entity, ...]]:
    """Return the entities of each text, in order."""
    task = progress.add_task(label, total=len(texts))
    found: list[tuple[Entity, ...]] = []
    for start in range(0, len(texts), _SLICE):
        found += await recogniser.recognize(texts[start : start + _SLICE])
        progress.advance(task, len(texts[start : start + _SLICE]))
    return found


async def measure_wikigold(
    rows: Sequence[Mapping[str, Any]], recogniser: EntityRecognizer, progress: Progress
) -> tuple[EntityResult, ...]:
    """Measure persons, organisations and locations, all of them, and all with their kinds ignored."""
    found = await recognise([" ".join(row["tokens"]) for row in rows], recogniser, progress, "sentences of Wikigold")
    counts = dict.fromkeys(PARTS, SpanCounts())
    for row, entities in zip(rows, found, strict=True):
        truth = gold_spans(row["tokens"], row["tags"])
        guess = {(TAGS[one.kind], one.start, one.end) for one in entities if one.kind in TAGS}
        for part in PARTS:
            counts[part] = counts[part].plus(chosen(guess, part), chosen(truth, part))
    return _results(WIKIGOLD, counts)


async def measure_personal(
    rows: Sequence[Mapping[str, Any]], recogniser: EntityRecognizer, progress: Progress
) -> tuple[EntityResult, ...]:
    """Measure the kinds of ``PERSONAL_KINDS``, and all of them together."""
    found = await recognise([row["text"] for row in rows], recogniser, progress, "texts with personal data")
    parts = (*dict.fromkeys(PERSONAL_KINDS.values()), ALL)
    counts = dict.fromkeys(parts, SpanCounts())
    for row, entities in zip(rows, found, strict=True):
        truth, guess = comparable(row["spans"], entities)
        for part in parts:
            counts[part] = counts[part].plus(chosen(guess, part), chosen(truth, part))
    return _results(PERSONAL, counts)


def comparable(marked: Sequence[Mapping[str, Any]], entities: Sequence[Entity]) -> tuple[TypedSpans, TypedSpans]:
    """Return the true and the guessed spans of kinds that both sides know, guesses in foreign territory left out."""
    spans = [(str(one["type"]), int(one["start"]), int(one["end"])) for one in marked]
    known = set(PERSONAL_KINDS.values())
    foreign = [(start, end) for kind, start, end in spans if kind not in known]
    guess = {
        (PERSONAL_KINDS[one.kind], one.start, one.end)
        for one in entities
        if one.kind in PERSONAL_KINDS and not any(one.start < end and start < one.end for start, end in foreign)
    }
    return {span for span in spans if span[0] in known}, guess


def _results(dataset: str, counts: Mapping[str, SpanCounts]) -> tuple[EntityResult, ...]:
    return tuple(
        EntityResult(dataset, kind, one.truths, one.precision, one.recall, one.f1) for kind, one in counts.items()
    )
