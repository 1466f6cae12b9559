"""Plain statements of a text, values that are no numbers, and comparisons of two attributes (ADR 0070).

"The valve is closed" and "the valve is not closed" deny each other; "the capital of France is Paris" gives an attribute
a value; "the cost is less than the budget" compares two.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from services.ercp.domain.predicates.facts import Comparison, Condition, Span, Statement, Subject, ValueFact
from services.ercp.domain.predicates.naming import condition_of, words_of
from services.ercp.domain.predicates.phrases import (
    COMPARATIVES,
    CONDITION,
    DENIED,
    FLIPPED,
    HYPOTHETICAL,
    LEADING,
    NO_CONDITION,
    relation_of,
)
from services.ercp.domain.predicates.subjects import read_noun_phrase
from services.ercp.domain.predicates.values import TEXTUAL

_REACH: Final = 240
_MOST_WORDS: Final = 14
_CLAUSE: Final = re.compile(
    r"[;:()—]|,(?!\d)|\s(?:but|while|whereas|although|though|because|since|so|therefore|thus|hence|which|unless|that(?!\s+of\b)|if|when|yet|and\s+(?=(?:it|the|he|she|they|this)\s))\b",
    re.IGNORECASE,
)
_COPULA: Final = re.compile(
    r"\b(?P<verb>is|are|was|were|equals?|(?:must|shall|should|will)\s+(?:not\s+)?(?:be|equal)|isn['\u2019]t|aren['\u2019]t|wasn['\u2019]t|weren['\u2019]t)\b(?P<neg>\s+(?:not|never|no\s+longer)\b)?",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(r"\b(?:not|never|no\s+longer|cannot|neither|nor|without)\b|n['\u2019]t\b", re.IGNORECASE)
_AUXILIARY: Final = re.compile(
    r"\b(?:do|does|did|ca|wo|not|never|no\s+longer|cannot|can|will|must|shall|should|has|have|had|is|are|was|were|be|been|it)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\s*(?P<neg>not\s+)?(?P<relation>equal\s+to|the\s+same\s+as|at\s+most|at\s+least|no\s+more\s+than|no\s+less\s+than|under|below|over|above|"
    rf"(?:{'|'.join(COMPARATIVES)})\s+than)\s+(?P<other>[^\d]+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_VALUE: Final = re.compile(
    r"(?:the\s+|an?\s+)?(?P<value>[^\W\d_][\w'\u2019-]*(?:\s+[^\W\d_][\w'\u2019-]*){0,4})", re.IGNORECASE
)
_EXCEEDS: Final = re.compile(
    r"(?P<left>.+?)\s(?:(?P<neg>(?:does|do|did|must|may|can|shall|should|will)\s?(?:not)|cannot|must\s+never)\s+)?exceed(?:s|ed)?\s(?P<right>\D+)",
    re.IGNORECASE | re.DOTALL,
)
_THAT: Final = words_of("that")
"""In "larger than that of the laptop"."""
_MADE_OF: Final = re.compile(
    r"(?P<subject>.+?)\s(?:is|are|was|were)\s(?P<neg>not\s)?made\s(?:of|from)\s(?P<value>.+)", re.IGNORECASE | re.DOTALL
)
_UNSURE: Final = re.compile(
    r"\b(?:may|might|could|would|perhaps|possibly|probably|some|sometimes|often|most|many|few)\b", re.IGNORECASE
)


@dataclass(slots=True)
class Read:
    """What the clauses of a text say without numbers, each kind in text order."""

    values: list[ValueFact] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)


def read_statements(text: str, sentences: Sequence[Span]) -> Read:
    """Read the plain statements of a text."""
    read = Read()
    for sentence in sentences:
        if not text[sentence.start : sentence.end].rstrip().endswith("?"):
            _sentence(text, sentence, read)
    return read


def _sentence(text: str, sentence: Span, read: Read) -> None:
    leads: list[str] = []
    for span, is_supposed, ending in _clauses(text, sentence):
        clause = text[span.start : span.end]
        lead = LEADING.fullmatch(clause)
        if ending == "," and lead is not None and not (_COPULA.search(clause) and not HYPOTHETICAL.match(clause)):
            leads.append(lead["phrase"])
            continue
        if ending == ";":
            leads = []
        if is_supposed or HYPOTHETICAL.match(clause) or _UNSURE.search(clause) or len(clause) > _REACH:
            continue
        _clause(text, span, leads, read)


def _clauses(text: str, sentence: Span) -> Iterator[tuple[Span, bool, str]]:
    """Yield clauses, whether they only suppose, and the mark or word that ends them."""
    start, is_supposed = sentence.start, False
    for match in _CLAUSE.finditer(text, sentence.start, sentence.end):
        word = match.group().strip().lower()
        clause = text[start : match.start()]
        is_denied = word == "that" and bool(DENIED.fullmatch(clause[-_REACH:]))
        if clause.strip():
            yield _trimmed(text, start, match.start()), is_supposed, word
        start, is_supposed = match.end(), is_denied or word in {"if", "when", "unless"}
    if text[start : sentence.end].strip():
        yield _trimmed(text, start, sentence.end), is_supposed, ""


def _clause(text: str, span: Span, leads: Sequence[str], read: Read) -> None:
    clause = text[span.start : span.end]
    copula = _COPULA.search(clause)
    phrases = list(leads)
    found = CONDITION.search(clause)
    if found is not None and not NO_CONDITION.fullmatch(found["phrase"]):
        phrases.append(found["phrase"])
    condition = condition_of(phrases)
    negated = len(_NEGATION.findall(clause)) % 2 == 1
    words = words_of(_AUXILIARY.sub(" ", clause))
    if words and len(words) <= _MOST_WORDS:
        read.statements.append(Statement((), words, negated, condition, span))
    if copula is None:
        _exceeding(clause, span, read)
        return
    made = _MADE_OF.fullmatch(clause)
    if made is not None:
        _material(text, span, made, read)
        return
    subject = read_noun_phrase(clause[: copula.start()], ())
    if subject is None:
        return
    complement = clause[copula.end() :]
    compared = _COMPARED.fullmatch(complement)
    if compared is not None:
        _compare(subject.subject, compared, negated=negated, span=span, read=read)
    elif subject.subject.entity:
        under = condition_of([*leads, subject.condition])
        value = _text_value(complement, span.start + copula.end())
        if value is not None:
            read.values.append(_named_value(subject.subject, value, text, span, negated=negated, condition=under))


def _material(text: str, span: Span, match: re.Match[str], read: Read) -> None:
    """Read "the tank is made of concrete"."""
    thing = read_noun_phrase(match["subject"], ())
    value = _text_value(match["value"], span.start + match.start("value"))
    if thing is None or value is None:
        return
    subject = Subject((*thing.subject.entity, *thing.subject.attribute), words_of("material"))
    condition = condition_of([thing.condition])
    read.values.append(_named_value(subject, value, text, span, negated=bool(match["neg"]), condition=condition))


def _exceeding(clause: str, span: Span, read: Read) -> None:
    match = _EXCEEDS.fullmatch(clause)
    if match is None:
        return
    left, right = read_noun_phrase(match["left"], ()), read_noun_phrase(match["right"], ())
    if left is not None and right is not None:
        read.comparisons.append(Comparison(left.subject, right.subject, "<=" if match["neg"] else ">", span))


def _compare(subject: Subject, match: re.Match[str], *, negated: bool, span: Span, read: Read) -> None:
    """Read "is lighter than the blue crate"; the comparative names the attribute when the subject has none."""
    other = read_noun_phrase(match["other"].rstrip(" ."), subject.entity)
    if other is None:
        return
    first = match["relation"].lower().split(maxsplit=1)[0]
    if first in COMPARATIVES:
        relation, attribute = COMPARATIVES[first]
    else:
        relation, attribute = ("=" if first in {"equal", "the"} else relation_of(match["relation"])), ""
    left, right = subject, other.subject
    if attribute and not left.entity and not right.entity:
        left, right = (Subject(side.attribute, words_of(attribute)) for side in (left, right))
    elif right.attribute == _THAT and right.entity:
        right = Subject(right.entity, left.attribute)
    if negated:
        relation = FLIPPED.get(relation, "!=")
    read.comparisons.append(Comparison(left, right, relation, span))


def _text_value(complement: str, offset: int) -> Span | None:
    """Return where "Paris" stands in "the capital of France is Paris"; what is longer than a name is no value."""
    start = len(complement) - len(complement.lstrip(" \t\n\"'“*_"))
    end = len(complement.rstrip(" \t\n.!\"'”*_"))
    match = _VALUE.fullmatch(complement, start, end)
    if match is None or not words_of(match["value"]):
        return None
    return Span(offset + match.start("value"), offset + match.end("value"))


def _named_value(
    subject: Subject, value: Span, text: str, span: Span, *, negated: bool, condition: Condition
) -> ValueFact:
    written = text[value.start : value.end]
    return ValueFact(
        subject=subject,
        interval=None,
        dimension=TEXTUAL,
        text=" ".join(written.casefold().split()),
        written=written,
        number="",
        unit="",
        condition=condition,
        negated=negated,
        approximate=False,
        span=span,
        value_span=value,
    )


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start] in " ,.;:\n\t":
        start += 1
    while end > start and text[end - 1] in " ,.;:\n\t":
        end -= 1
    return Span(start, end)
