"""A text as atomic claims with type, entities and offsets (SPEC-005 §3), of answers and earlier windows alike.

Values come from rules, names from the recogniser; where both see the same stretch the rule wins, for it knows what the
value is equal to. Entities outside every claim (headings, code) are kept beside the claims.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.common.questions.terms import terms
from services.common.questions.told import question_sentences
from services.common.reading.answer_words import answer_word, only_answers
from services.common.reading.clauses import clauses, finite_verb_at
from services.common.reading.frames import statement_start
from services.common.reading.lexicon import FINITE_VERBS, SUBJECT_OPENERS
from services.common.reading.text_types import Claim, ClaimType, Sentence, SentenceKind, Span, Value
from services.common.reading.values import scan_values
from services.common.reading.words import content_stems, words
from services.dpe.domain.claim_types import classify, is_name, specificity
from services.dpe.domain.facts import within

_VALUE_KINDS: Final = frozenset(
    {
        EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT, EntityKind.DATE, EntityKind.TIME,
        EntityKind.URL, EntityKind.EMAIL, EntityKind.CITATION,
    }
)  # fmt: skip
_MIN_HEADING_WORDS: Final = 4
TAKEN_UP: Final = 0.5
"""Share of the words of a question from which on statements take it up."""


@dataclass(frozen=True, slots=True)
class Segmentation:
    """The claims of a text, and the values and names that stand in none of them; all offsets are in the text."""

    claims: tuple[Claim, ...]
    loose_values: tuple[Value, ...]
    loose_names: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    values: tuple[Value, ...]
    names: tuple[Entity, ...]


def segment(
    text: str,
    found: Sequence[Sentence],
    recognised: Mapping[str, tuple[Entity, ...]] | None,
    prefix: str = "c",
    asked: str = "",
) -> Segmentation:
    """Return the claims of a text.

    Args:
        text: what is read.
        found: its sentences.
        recognised: entities by sentence text; ``None`` when the recogniser gave nothing.
        prefix: what claim ids begin with; the number that follows counts from 1.
        asked: the question that the text answers; empty where it is not known.

    Raises:
        KeyError: a sentence was not recognised while others were.
    """
    read = _Text(text, scan_values(text), _names(text, found, recognised))
    listed, joined = _lists(text, found)
    claims = [
        _stated(read, sentence, span)
        for sentence in found
        if sentence.index not in joined
        for span in listed.get(sentence.index) or _behind_answer_word(text, _claim_spans(text, sentence))
    ]
    heads = _announcing(text, found) - listed.keys()
    claims = [replace(one, claim_type=ClaimType.META) if one.sentence_index in heads else one for one in claims]
    kept = _without_answer_words(claims, asked)
    claims = [replace(one, claim_id=f"{prefix}{at}") for at, one in enumerate(kept, start=1)]
    return Segmentation(
        tuple(claims),
        tuple(value for value in read.values if not _inside(claims, value.start, value.end)),
        tuple(name for name in read.names if not _inside(claims, name.start, name.end)),
    )


def claims_nothing(text: str, sentence: Sentence) -> bool:
    """Say whether a sentence is in no claim, whatever names it holds and whatever stands around it.

    True of code, of what is in another language and of headings that say nothing; a line of a list, too, may be in the
    claim that its head makes, and is not asked about here.

    Args:
        text: what is read.
        sentence: one of its sentences.
    """
    return sentence.kind in _OUTSIDE_LISTS and not _claim_spans(text, sentence)


_OUTSIDE_LISTS: Final = frozenset({SentenceKind.CODE, SentenceKind.OTHER_LANGUAGE, SentenceKind.HEADING})


def names_among(entities: Sequence[Entity]) -> list[Entity]:
    """Return the recognised entities that are names: no values, and some word of them is written large."""
    return [entity for entity in entities if entity.kind not in _VALUE_KINDS and is_name(entity.text)]


def _names(
    text: str, found: Sequence[Sentence], recognised: Mapping[str, tuple[Entity, ...]] | None
) -> tuple[Entity, ...]:
    """Return the recognised names of the text, with its offsets, in order."""
    if recognised is None:
        return ()
    return tuple(
        Entity(entity.kind, entity.text, entity.start + sentence.start, entity.end + sentence.start)
        for sentence in found
        for entity in names_among(recognised[text[sentence.start : sentence.end]])
    )


def _lists(text: str, found: Sequence[Sentence]) -> tuple[dict[int, list[Span]], frozenset[int]]:
    """Return a claim for each list whose items say nothing without its head, and the sentences that it takes in.

    "The policy covers: fire; theft" as three lines is one claim: "fire" alone asserts nothing.
    """
    spans: dict[int, list[Span]] = {}
    joined: set[int] = set()
    for at, head in enumerate(found):
        if not text[head.start : head.end].rstrip("*_ ").endswith(":") or head.kind not in _HEADS:
            continue
        items = list(takewhile(lambda one: one.kind is SentenceKind.LIST_ITEM, found[at + 1 : at + 1 + _MAX_ITEMS]))
        says_nothing = items and not any(_asserts(text[one.start : one.end]) for one in items)
        if says_nothing and _states(text[head.start : head.end]) and items[-1].end - head.start <= _MAX_LIST_CHARS:
            spans[head.index] = [Span(head.start, items[-1].end)]
            joined.update(one.index for one in items)
    return spans, frozenset(joined)


def _announcing(text: str, found: Sequence[Sentence]) -> frozenset[int]:
    """Return the sentences that say no more than how many items follow, and are right: "There are two exceptions:"."""
    heads: set[int] = set()
    for at, head in enumerate(found):
        counted = _COUNT.fullmatch(text[head.start : head.end].strip("*_ ")) if head.kind in _HEADS else None
        if counted is not None:
            items = list(takewhile(lambda one: one.kind is SentenceKind.LIST_ITEM, found[at + 1 : at + 1 + _MAX_ITEMS]))
            # A second sentence of an item has words before it on its line.
            starts = sum(1 for one in items if not text[text.rfind("\n", 0, one.start) + 1 : one.start].strip(_BULLETS))
            if [value.normal for value in scan_values(counted["number"])] == [str(starts)]:
                heads.add(head.index)
    return frozenset(heads)


_HEADS: Final = frozenset({SentenceKind.PROSE, SentenceKind.LIST_ITEM})
_COUNT: Final = re.compile(
    r"(?:there (?:are|is)|you have|you['\u2019]ve got|we have)\s(?:only |just )?(?P<number>\w{1,10})\s"
    r"(?:(?:main|different|possible|more|other|further|important|key) )?"
    r"(?:exceptions?|conditions?|options?|ways?|steps?|things?|points?|deadlines?|rules?|cases?|requirements?|reasons?"
    r"|limits?|possibilities|routes?|parts?|stages?|questions?|dates?|fees?)"
    r"(?: (?:to (?:keep in mind|note|consider|remember|meet)|that (?:apply|matter)|here|for (?:this|that)))?:",
    re.IGNORECASE,
)
_BULLETS: Final = " \t-*+\u2022\u2013.)(0123456789"
_MAX_ITEMS: Final = 12
_MAX_LIST_CHARS: Final = 800


def _states(text: str) -> bool:
    """Say whether a text has a finite verb with words before it."""
    return bool(finite_verb_at(words(text)))


_ROW: Final = re.compile(r"[^:;|.]{1,40}: [^;|]{1,200}(?:;|\s\|)\s[^:;|.]{1,40}: ")
_CELLS: Final = re.compile(r"\s[/|]\s")
_SAYS_OF: Final = re.compile(r"[*_]{0,3}\w[^:\n]{1,60}:[*_]{0,3}\s(?=[*_]{0,3}\w)")
_ENDS: Final = (".", "!", "?", "…", '"', "”", "’", "'", ")")  # noqa: RUF001 - typographic closers
_MAX_LABEL_WORDS: Final = 6


def _is_label(text: str, *, alone: bool) -> bool:
    """Say whether a stretch is a label or a cell and no claim: a few words, no verb, no value, no full stop."""
    bare = text.strip("*_ ")
    short = len(bare.split()) <= _MAX_LABEL_WORDS and not any(char.isdigit() for char in bare)
    if not short or alone or bare.endswith(_ENDS):
        return False
    return not _asserts(bare)


def _asserts(text: str) -> bool:
    """Say whether a stretch has a finite verb; of "Claims files" the last word is a noun where no subject opens."""
    tokens = words(text)
    verb = finite_verb_at(tokens)
    return verb is not None and verb > 0 and (verb < len(tokens) - 1 or tokens[0].text in SUBJECT_OPENERS)


def _claim_spans(text: str, sentence: Sentence) -> list[Span]:
    if sentence.kind in {SentenceKind.CODE, SentenceKind.OTHER_LANGUAGE}:
        return []
    if sentence.kind is SentenceKind.HEADING:
        tokens = words(text[sentence.start : sentence.end])
        says_something = len(tokens) >= _MIN_HEADING_WORDS and any(word.text in FINITE_VERBS for word in tokens)
        return [Span(sentence.start, sentence.end)] if says_something else []
    whole = Span(sentence.start, sentence.end)
    said = text[sentence.start : sentence.end]
    if sentence.kind is SentenceKind.TABLE_ROW or _ROW.match(said):
        return [whole]
    if _CELLS.search(said) and ": " in said.partition(" / ")[0] and not said.rstrip().endswith("."):
        # Cells that were glued together: neither of them is a sentence.
        return [whole] if any(char.isdigit() for char in said) else []
    spans = _with_what_they_lean_on(
        text, [span for span in clauses(text, sentence.start, sentence.end) if span.start < span.end]
    )
    # "Gym fees: reimbursed" says something of what it names.
    alone = len(said.strip()) == len(text.strip()) or (
        sentence.kind is SentenceKind.LIST_ITEM and _SAYS_OF.match(said) is not None
    )
    return [span for span in spans if not _is_label(text[span.start : span.end], alone=alone)]


def _with_what_they_lean_on(text: str, spans: list[Span]) -> list[Span]:
    """Return clauses, those without a word of content joined to the one before: "..., but you may not"."""
    found: list[Span] = []
    for span in spans:
        if found and not content_stems(text[span.start : span.end]):
            span = Span(found.pop().start, span.end)  # noqa: PLW2901 - the clause as it is read
        found.append(span)
    return found


def _stated(read: _Text, sentence: Sentence, span: Span) -> Claim:
    """Return the claim of a span; one that is checked begins behind what only comments on it: "Unfortunately, ..."."""
    whole = _claim(read, sentence, span, "")
    start = statement_start(whole.text) if whole.claim_type in _CHECKED else 0
    return _claim(read, sentence, Span(span.start + start, span.end), "") if start else whole


_CHECKED: Final = frozenset({ClaimType.FACTUAL, ClaimType.PROCEDURAL})


def _behind_answer_word(text: str, spans: list[Span]) -> list[Span]:
    """Return the spans of a sentence without the word that it answers with: "No, it is closed on Mondays."."""
    if not spans:
        return spans
    first = spans[0]
    word = answer_word(text[first.start : first.end])
    return spans if word is None else [Span(first.start + word.end, first.end), *spans[1:]]


def _without_answer_words(claims: list[Claim], asked: str) -> list[Claim]:
    """Return the claims but for a "Yes." that others of the text make good, which take up what was asked.

    One that stands alone, or beside what says nothing of the question, is claimed: it is all that answers.
    """
    stating = [one for one in claims if only_answers(one.text) is None]
    checked = [one for one in stating if one.claim_type in _CHECKED]
    if len(stating) == len(claims) or not checked:
        return claims
    wanted = frozenset(term for question in question_sentences(asked)[:1] for term in terms(question))
    told = frozenset(term for one in checked for term in terms(one.text))
    return stating if len(wanted & told) >= TAKEN_UP * len(wanted) else claims


def _claim(read: _Text, sentence: Sentence, span: Span, claim_id: str) -> Claim:
    text = read.text[span.start : span.end]
    values = within(read.values, span)
    names = _between(read.names, span)
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
