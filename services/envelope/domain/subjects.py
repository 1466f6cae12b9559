"""What a sentence says its values of: two that say theirs of the same thing can disagree (ADR 0109, ADR 0113).

Values, their bounds and negations are read by the code that reads an answer's (``services.common.reading``). A value
that names a thing ("version 2", "the 5 mg patch", "on 3 May the office is closed") is a word like others. What is left
are the content words. Headings count with them: under "Burglary" "the deductible is 300 EUR" speaks of the same thing
as "for burglary the deductible is 350 EUR".
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from services.common.grounding.polarity import NEGATIONS
from services.common.grounding.words import STOP_WORDS, Word, sentences, stem, words
from services.common.locations import headings_of
from services.common.ports.recognition import EntityKind
from services.common.reading import words as verbal
from services.common.reading.agreement import MEASURED, agrees, comparable
from services.common.reading.bounds import bound_of
from services.common.reading.clauses import finite_verb_at
from services.common.reading.labels import LABELLED
from services.common.reading.lexicon import APPROXIMATORS
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Value
from services.common.reading.units import UNIT_WORDS
from services.common.reading.values import scan_values

FEWEST_WORDS: Final = 2
"""Content words and further values that a sentence must have: "Price: 10 euros" says nothing of whose price."""
MOST_VALUES: Final = 6
_SENTENCE_CHARS: Final = 600
_NUMERAL: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|thousand|million|half|third|quarter|twice|double|noon|midday|midnight|dozen)\b",
    re.IGNORECASE,
)
_SAID: Final = re.compile(
    r"\b(?:is|are|was|were|be|equals?|than|least|most|to|at|from|exceeds?|over|under|about)\s$", re.IGNORECASE
)
_ATTRIBUTE: Final = re.compile(r"\bthe\s$", re.IGNORECASE)
_NOUN_BEHIND: Final = re.compile(r"[\s-](?P<word>[a-z]{3,})")
_WORD_BEFORE: Final = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]++)\s$")
_NEAR: Final = 0.10
"""Approximate values that differ by a tenth or less may be one value (SPEC-005 §8.2)."""
_BEFORE_CHARS: Final = 30
_BEHIND_CHARS: Final = 20
_BOUNDS: Final = frozenset(
    {"least", "most", "minimum", "maximum", "over", "under", "above", "below", "before", "after", "until", "from"}
    | {"more", "less", "than", "up", "within", "later", "earlier", "longer", "fewer", "exceed"}
)
_SAYING_ONLY: Final = frozenset(
    map(stem, ("amount", "cost", "charge", "set", "total", "stand", "come", "equal", "currently", "now", "today"))
) | frozenset(map(stem, ("apply", "fix", "exactly", "also", *APPROXIMATORS)))
"""Words by which a value is said of a thing, and which do not tell things apart."""
_SECTIONS_ONLY: Final = frozenset(
    map(
        stem,
        """general introduction overview summary details note notes information faq question questions answer
        answers fees fee prices price costs cost charges rates rate conditions condition terms rules rule
        deadlines deadline amounts table tables annex appendix page chapter section item miscellaneous memo""".split(),  # noqa: SIM905 - a word list
    )
)
"""Words of headings that name a kind of section, not what it is about."""
_CLAUSE: Final = re.compile(
    r"(?:(?:section|clause|article|art\.|paragraph|para\.|rule|\u00a7)\s?\d{1,3}(?:\.\d{1,3}){0,4}[.:)]?"
    r"|\d{1,3}(?:\.\d{1,3}){1,4}[.:)]?|\d{1,3}[.)]|\((?:\d{1,3}|[a-z]|[ivx]{1,5})\))"
    r"(?:\s?\((?:\d{1,3}|[a-z]|[ivx]{1,5})\))?\s+(?=(?-i:[A-Z])(?-i:[a-z\s]))",
    re.IGNORECASE,
)
"""The number of a clause before its sentence."""
_SECTION: Final = re.compile(
    r"^#*\s*(?:(?:section|chapter|part|article|\u00a7)\s?)?\d{1,2}(?:\.\d{1,3}){0,4}[.):]?\s+(?=\D)", re.IGNORECASE
)
"""The number of a section before its heading; a year is none."""
_PERSONS: Final = {"we": "we", "us": "we", "our": "we", "you": "you", "your": "you"}
_DURATIONS: Final = frozenset({"second", "month"})
_OFTEN: Final = frozenset(map(stem, ("daily", "weekly", "monthly", "quarterly", "yearly", "annually", "annum")))
_UNIT_STEMS: Final = frozenset(map(stem, UNIT_WORDS))
_MIN_SHARED: Final = 2

Words: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact that holds now; ``location`` are the headings over it, outermost first."""

    fact_id: str
    source_id: str
    text: str
    location: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What values are said of; equal for sentences that can disagree.

    Attributes:
        content: content words outside of the values.
        negated: an odd number of negating words.
        bounds: words that bound and that no value's side accounts for.
        measures: what each value measures, and on which side of it the statement lies, in a fixed order.
    """

    content: Words
    negated: bool
    bounds: Words
    measures: tuple[str, ...]


@dataclass(frozen=True)
class Saying:
    """A sentence with the values that it states.

    Attributes:
        heading: content words of the last heading below the document's title.
        title: content words of the document's title.
        values: in the order of the subject's measures.
    """

    fact: Stated
    sentence: str
    offset: int
    subject: Subject
    heading: Words
    title: Words
    persons: Words
    values: tuple[Value, ...]

    @cached_property
    def with_heading(self) -> Words:
        """The content words of the sentence and of its heading."""
        return self.subject.content | self.heading

    def others(self, place: int) -> tuple[str, ...]:
        """Return all values but one, in comparable form."""
        return tuple(value.normal for at, value in enumerate(self.values) if at != place)

    def is_apart(self, other: "Saying") -> bool:
        """Say whether two sentences on the same thing speak of different parties, or of two products of a series."""
        if self.persons and other.persons and not self.persons & other.persons:
            return True
        return _are_siblings(self.title, other.title)


def states_the_same(one: Value, other: Value) -> bool:
    """Say whether two values may be one: equal, of different measures, or both about the same."""
    if not comparable(one, other) or agrees(one, other) or agrees(other, one):
        return True
    if one.magnitude is None or other.magnitude is None or not (one.approximate or other.approximate):
        return False
    larger = max(abs(one.magnitude), abs(other.magnitude))
    return one.unit == other.unit and float(abs(one.magnitude - other.magnitude)) <= _NEAR * float(larger)


def read_sayings(fact: Stated) -> list[Saying]:
    """Return the sentences of a fact that state values of something."""
    found = []
    heading, title = _headings(fact.location)
    for start, end in _sentences(fact):
        sentence = fact.text[start:end]
        stated = _stated(sentence)
        if not 0 < len(stated) <= MOST_VALUES:
            continue
        measured = sorted(((_measure(sentence, value), value) for value in stated), key=lambda pair: pair[0])
        values = tuple(value for _, value in measured)
        written = words(sentence)
        content, bounds = _words(sentence, written, values)
        if len(content | heading) + len(values) > FEWEST_WORDS:
            subject = Subject(content, is_negated(sentence), bounds, tuple(measure for measure, _ in measured))
            persons = frozenset(who for word in written if (who := _PERSONS.get(word.stem)))
            found.append(Saying(fact, sentence, start, subject, heading, title, persons, values))
    return found


class SubjectIndex:
    """What facts speak of, remembered as numbers: of most facts no value has to be read, and no word is kept.

    A fact's content never changes under its id. Safe for concurrent calls: what is lost is read again.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._capacity = capacity
        self._known: dict[str, tuple[int, ...]] = {}

    def sharing(self, facts: Sequence[Stated]) -> list[Stated]:
        """Return the facts that may speak of the same thing as another of them, in their order."""
        subjects = [self.of(fact) for fact in facts]
        counted = Counter(number for numbers in subjects for number in set(numbers))
        return [
            fact
            for fact, numbers in zip(facts, subjects, strict=True)
            if any(counted[number] > 1 for number in numbers)
        ]

    def of(self, fact: Stated) -> tuple[int, ...]:
        """Return numbers of what a fact's sentences may speak of."""
        known = self._known.get(fact.fact_id)
        if known is None:
            known = tuple(_rough_subjects(fact))
            if len(self._known) >= self._capacity:
                self._known.clear()
            self._known[fact.fact_id] = known
        return known


def _rough_subjects(fact: Stated) -> list[int]:
    """Return numbers that are equal where subjects are: of the words that no value can have."""
    heading, _ = _headings(fact.location)
    found = []
    for start, end in _sentences(fact):
        content = frozenset(
            word.stem for word in words(fact.text[start:end]) if _tells(word.stem) and not _may_be_of_a_value(word.stem)
        )
        rough_heading = frozenset(one for one in heading if not _may_be_of_a_value(one))
        found += [hash(content), hash(content | rough_heading)]
    return found


def _may_be_of_a_value(word: str) -> bool:
    return not word.isalpha() or word in _UNIT_STEMS or word in _VALUE_STEMS or bool(_NUMERAL.fullmatch(word))


_VALUE_STEMS: Final = (
    frozenset(
        map(
            stem,
            """euro dollar pound sterling yen rupee franc krone kroner zloty rand peso cent penny pence usd eur gbp
        jpy chf aud cad nzd inr cny sek nok dkk pln czk huf sgd hkd zar brl mxn percent percentage point
        basis bps pp working business calendar consecutive operating full complete whole further additional
        extra successive time times fold january february march april may june july august september october
        november december jan feb mar apr jun jul aug sep sept oct nov dec st nd rd th am pm clock past to
        summer winter spring autumn early mid late monday tuesday wednesday thursday friday saturday sunday
        and a an""".split(),  # noqa: SIM905 - a word list
        )
    )
    | _OFTEN
)


def _sentences(fact: Stated) -> list[tuple[int, int]]:
    behind = [(_behind_number(fact.text, start, end), end) for start, end in sentences(fact.text)]
    return [
        (start, end)
        for start, end in behind
        if end - start <= _SENTENCE_CHARS and _NUMERAL.search(fact.text, start, end)
    ]


def _behind_number(text: str, start: int, end: int) -> int:
    """Return where a sentence begins behind the number of its clause: "1.1 Full-time staff have 29 days"."""
    number = _CLAUSE.match(text, start, end)
    return number.end() if number else start


def _stated(sentence: str) -> list[Value]:
    """Return the values that a sentence states, without those that name what it speaks of."""
    values = scan_values(sentence)
    if not values:
        return []
    tokens = verbal.words(sentence)
    verb = finite_verb_at(tokens)
    verb_at = tokens[verb].start if verb is not None else 0
    labelled = [match.span("label") for match in LABELLED.finditer(sentence)]
    return [
        value
        for value in values
        if not any(start <= value.start < end for start, end in labelled) and _is_stated(sentence, value, verb_at)
    ]


def _is_stated(sentence: str, value: Value, verb_at: int) -> bool:
    before, is_first = sentence[: value.start], value.start < verb_at
    if value.kind in {EntityKind.DATE, EntityKind.TIME}:
        is_year = value.number is not None
        return not is_first and (not is_year or bool(_SAID.search(before)))
    if value.kind not in MEASURED:
        return False
    if value.unit:
        # "The 5 mg patch is white" speaks of one patch, "a fee of 5 EUR is due" of any.
        return not (is_first and _ATTRIBUTE.search(before) and _NOUN_BEHIND.match(sentence, value.end))
    if _SAID.search(before):
        return True
    named = _WORD_BEFORE.search(before)
    is_name = named is not None and ((named["word"][0].isupper() and named.start() > 0) or is_first)
    return bool(value.counted) and not (is_name and named is not None and stem(named["word"].lower()) not in _PLAIN)


_PLAIN: Final = STOP_WORDS | _BOUNDS | NEGATIONS
"""Words that are no name of the number behind them."""


def _measure(sentence: str, value: Value) -> str:
    """Return what a value measures, per what, and its side: equal for values that could stand in each other's place."""
    unit = "duration" if value.unit in _DURATIONS else value.unit
    side = bound_of(sentence, 0, value)
    kind = EntityKind.QUANTITY if value.unit in _DURATIONS else value.kind
    return f"{kind} {unit} {value.per} {value.counted} {side or ''}"


def _words(sentence: str, written: Sequence[Word], values: Sequence[Value]) -> tuple[Words, Words]:
    """Return the content words of a sentence outside of its values, and the bounding words that bound none of them.

    ``written`` are all of its words.
    """
    content: set[str] = set()
    bounds: set[str] = set()
    sided = [value for value in values if bound_of(sentence, 0, value) is not None]
    per = frozenset(stem(value.per) for value in values if value.per)
    for word in written:
        if any(value.start <= word.start < value.end for value in values):
            continue
        if word.stem in _BOUNDS:
            if not any(_is_beside(word.start, value) for value in sided):
                bounds.add(word.stem)
        elif _tells(word.stem) and not (per and (word.stem in per or word.stem in _OFTEN)):
            content.add(word.stem)
    return frozenset(content), frozenset(bounds)


def _tells(word: str) -> bool:
    return not (word in STOP_WORDS or word in NEGATIONS or word in _SAYING_ONLY or word in _BOUNDS)


def _is_beside(at: int, value: Value) -> bool:
    return value.start - _BEFORE_CHARS <= at < value.start or value.end <= at < value.end + _BEHIND_CHARS


def _headings(location: str) -> tuple[Words, Words]:
    """Return the content words of the last heading below the document's title, and those of the title."""
    title, *below = headings_of(location) or tuple(location.split(" > "))
    return (_content(_SECTION.sub("", below[-1])) - _SECTIONS_ONLY if below else frozenset()), _content(title)


def _content(text: str) -> Words:
    return frozenset(word.stem for word in words(text) if _tells(word.stem))


def _are_siblings(left: Words, right: Words) -> bool:
    """Say whether two titles are those of a series: mostly the same, each with a word of its own that is no number."""
    shared, ours, theirs = left & right, left - right, right - left
    is_named = any(word.isalpha() for word in ours) and any(word.isalpha() for word in theirs)
    return is_named and len(shared) >= _MIN_SHARED and len(shared) >= max(len(ours), len(theirs))
