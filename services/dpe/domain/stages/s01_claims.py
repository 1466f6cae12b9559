"""Stage 1, claim segmentation (SPEC-005 §3): the answer as atomic claims with type, specificity, entities and offsets.

Values come from rules, names from the recogniser; where both see the same stretch the rule wins, for it knows what the
value is equal to. Entities outside every claim (headings, code) are kept, because stage 3a searches the whole answer.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.dpe.domain.analysis import Analysis, Requests
from services.dpe.domain.claim_types import classify, is_name, specificity
from services.dpe.domain.clauses import clauses
from services.dpe.domain.facts import FactView, read_fact, within
from services.dpe.domain.lexicon import FINITE_VERBS
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.text_types import Claim, ClaimType, Sentence, SentenceKind, Span, Value
from services.dpe.domain.values import scan_values
from services.dpe.domain.words import words

KEY: Final = StageKey(1)
_VALUE_KINDS: Final = frozenset(
    {
        EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT, EntityKind.DATE, EntityKind.TIME,
        EntityKind.URL, EntityKind.EMAIL, EntityKind.CITATION,
    }
)  # fmt: skip
_MIN_HEADING_WORDS: Final = 4


def plan(analysis: Analysis) -> Requests:
    """Ask for the entities of all sentences, of the query, and of facts that come without: one batch."""
    given = analysis.input
    texts = [analysis.text_of(sentence) for sentence in analysis.outputs.sentences]
    texts += [fact.content for fact in given.facts if fact.entities is None]
    return Requests(recognise=tuple(dict.fromkeys([*texts, given.query])))


def apply(analysis: Analysis) -> Analysis:
    """Segment the answer and read the facts."""
    answer = _Answer(scan_values(analysis.input.answer), _names(analysis))
    claims: list[Claim] = []
    for sentence in analysis.outputs.sentences:
        for span in _claim_spans(analysis, sentence):
            claims.append(_claim(analysis, sentence, span, f"c{len(claims) + 1}", answer))
    known = analysis.models.recognised is not None
    outcome = StageOutcome(
        KEY,
        StageStatus.COMPLETED if known else StageStatus.DEGRADED,
        Reason.NONE if known else Reason.ENTITY_RECOGNIZER_FAILED,
        findings=len(claims),
    )
    return analysis.ended(
        outcome,
        claims=tuple(claims),
        loose_values=tuple(value for value in answer.values if not _inside(claims, value.start, value.end)),
        loose_names=tuple(name for name in answer.names if not _inside(claims, name.start, name.end)),
        names_known=known,
        fact_views=_fact_views(analysis),
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    values: tuple[Value, ...]
    names: tuple[Entity, ...]


def _names(analysis: Analysis) -> tuple[Entity, ...]:
    """Return the recognised names of the answer, with answer offsets, in order."""
    recognised = analysis.models.recognised
    if recognised is None:
        return ()
    return tuple(
        Entity(entity.kind, entity.text, entity.start + sentence.start, entity.end + sentence.start)
        for sentence in analysis.outputs.sentences
        for entity in recognised[analysis.text_of(sentence)]
        if entity.kind not in _VALUE_KINDS and is_name(entity.text)
    )


def _claim_spans(analysis: Analysis, sentence: Sentence) -> list[Span]:
    text = analysis.text_of(sentence)
    if sentence.kind is SentenceKind.CODE:
        return []
    if sentence.kind is SentenceKind.HEADING:
        tokens = words(text)
        says_something = len(tokens) >= _MIN_HEADING_WORDS and any(word.text in FINITE_VERBS for word in tokens)
        return [Span(sentence.start, sentence.end)] if says_something else []
    if sentence.kind is SentenceKind.TABLE_ROW:
        return [Span(sentence.start, sentence.end)]
    return [span for span in clauses(analysis.input.answer, sentence.start, sentence.end) if span.start < span.end]


def _claim(analysis: Analysis, sentence: Sentence, span: Span, claim_id: str, answer: _Answer) -> Claim:
    text = analysis.input.answer[span.start : span.end]
    values = within(answer.values, span)
    names = _between(answer.names, span)
    checked = [value for value in values if value.kind is not EntityKind.CITATION]
    kind = SentenceKind.PROSE if sentence.kind is SentenceKind.HEADING else sentence.kind
    claim_type = classify(text, has_values=bool(checked), kind=kind)
    if sentence.kind is SentenceKind.TABLE_ROW and not checked:
        claim_type = ClaimType.META
    return Claim(
        claim_id,
        text,
        span.start,
        span.end,
        sentence.index,
        claim_type,
        specificity(text, len(checked), len(names)),
        _merged(values, names),
        values,
    )


def _between(names: Sequence[Entity], span: Span) -> tuple[Entity, ...]:
    first = bisect_right(names, span.start - 1, key=lambda name: name.start)
    found: list[Entity] = []
    for name in names[first:]:
        if name.start >= span.end:
            break
        if name.end <= span.end:
            found.append(name)
    return tuple(found)


def _merged(values: Sequence[Value], names: Sequence[Entity]) -> tuple[Entity, ...]:
    entities = [Entity(value.kind, value.text, value.start, value.end) for value in values]
    entities += [
        name for name in names if not any(name.start < value.end and value.start < name.end for value in values)
    ]
    return tuple(sorted(entities, key=lambda entity: entity.start))


def _inside(claims: Sequence[Claim], start: int, end: int) -> bool:
    at = bisect_right(claims, start, key=lambda claim: claim.start) - 1
    return at >= 0 and end <= claims[at].end


def _fact_views(analysis: Analysis) -> tuple[FactView, ...]:
    recognised = analysis.models.recognised or {}
    views: list[FactView] = []
    for index, fact in enumerate(analysis.input.facts):
        entities = fact.entities if fact.entities is not None else recognised.get(fact.content, ())
        names = [entity for entity in entities if entity.kind not in _VALUE_KINDS and is_name(entity.text)]
        views.append(read_fact(index, fact, names))
    return tuple(views)
