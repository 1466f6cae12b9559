"""Whether what a text chooses is among the options of OneOf, and whether a named value is the one demanded (ADR 0116).

A value is read from "the vendor is Oracle", from a label ("Severity: critical") and from a table's column. FALSE needs
a value of the same kind as what is demanded: another name, another word of a closed class, a word that stands against
it, or any value of an attribute that has no second one.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.opposites import opposed, sides
from services.common.reading.polarity import is_negated
from services.common.reading.terms import terms
from services.common.reading.values import scan_values
from services.ercp.domain.predicates import kinds
from services.ercp.domain.predicates.aligning import NEAR, words_of_path
from services.ercp.domain.predicates.classes import CLASSES, class_of
from services.ercp.domain.predicates.describing import demand, said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.layout import Kind, blocks_of
from services.ercp.domain.predicates.model import Options, Path, Predicate, PredicateName, Text
from services.ercp.domain.predicates.naming import stem_of

_MOST_SPANS: Final = 8
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*|[€$£¥₹]")
_GRADED: Final = re.compile(
    r"\b(?:class|rated|rating|grade|graded|level|category|tier|type)\s?:?\s+(?P<grade>[A-H])(?![\w'\u2019])",
    re.IGNORECASE,
)
_GRADE: Final = re.compile(r"[A-H]")
_IS: Final = re.compile(
    r"(?P<left>[^.;:,()\n]{2,80}?)(?<!\s)\s++(?:is|are|was|were|will\s+be|remains?|stays?|becomes?)\s++"
    r"(?P<right>(?:[^.;:,()\n]|\.(?=\d)){1,80}?)(?=[;:,()\n]|\.(?!\d)|\s+(?:and|but|because|since|while|so|which|who|that|when|if)\s|\Z)",
    re.IGNORECASE,
)
_SET: Final = re.compile(
    r"\b(?:set|change|switch|fix)\s++(?:the\s++)?(?P<left>[^.;:,()\n]{2,60}?)(?<!\s)\s++to\s++(?P<right>(?:[^.;:,()\n]|\.(?=\d)){1,60}?)(?=[;:,()\n]|\.(?!\d)|\Z)",
    re.IGNORECASE,
)
_TURNS: Final = re.compile(
    r"(?P<left>[^.;:,()\n]{2,80}?)(?<!\s)\s++(?:changes|switches|turns|goes|moves|is\s+(?:set|changed))\s++to\s++(?P<right>[^\s.;:,()\n]{1,40})",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"(?P<left>\w[\w ]{1,40}?)\s[`\"'](?P<right>[\w -]{1,40})[`\"']")
_HEDGED: Final = re.compile(r"\b(?:may|might|could|would|if|perhaps|possibly|either|or|whether)\b", re.IGNORECASE)
_ARTICLE: Final = re.compile(r"(?:the|an?|our|your|this|its|their)\s+", re.IGNORECASE)
_SINGLE: Final = frozenset(
    terms(
        "vendor supplier name codename colour color currency language format status state mode type order law owner author "
        "title version method protocol license licence engine database provider host color brand model capital location "
        "venue priority severity level class grade billing interval frequency destination contractor lead leader chair"
    )
)
"""Attributes that have one value: another one denies it."""
_CURRENCY: Final = terms("currency")
_VERSION: Final = terms("version")
_NUMBERED: Final = re.compile(r"\bversion\s+(?P<number>v?\d+(?:\.\d+){1,3}(?:[-+][\w.]+)?)(?![\w])", re.IGNORECASE)
_DOTTED: Final = re.compile(r"v?\d+(?:\.\d+)+(?:[-+][\w.]+)?", re.IGNORECASE)
_MOST_VALUE_WORDS: Final = 6


def judge_equality(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold named values against Equal or NotEqual with a text."""
    assert isinstance(predicate.left, Path)
    assert isinstance(predicate.right, Text)
    options = (predicate.right.text,)
    named = [*_named(facts, predicate.left), *_inverse(facts, predicate.left)]
    told = _of_number(predicate.left, predicate.right.text, facts)
    if told is not None and predicate.name is PredicateName.EQUAL:
        return _joined(predicate, facts, told)
    answers = [(span, _is_among(value, options, predicate.left)) for value, span in named]
    if predicate.name is PredicateName.NOT_EQUAL:
        turned = {Holds.TRUE: Holds.FALSE, Holds.FALSE: Holds.TRUE, Holds.UNKNOWN: Holds.UNKNOWN}
        answers = [(span, turned[holds]) for span, holds in answers]
    answer = _joined(predicate, facts, answers)
    if answer.holds is not Holds.UNKNOWN or class_of([predicate.right.text.casefold()]) != "weekday":
        return answer
    days = list(_of_class(predicate.left, options, facts))
    if predicate.name is PredicateName.NOT_EQUAL:
        days = [(span, Holds.FALSE) for span, holds in days if holds is Holds.TRUE]
    return _joined(predicate, facts, days)


def has_number(name: str) -> bool:
    """Say whether a name is a number, or ends with one."""
    return _NUMBERED_NAME.fullmatch(name) is not None


def _of_number(path: Path, name: str, facts: TextFacts) -> list[tuple[Span, Holds]] | None:
    """Return where a name with a number stands, or the same name with another number; ``None`` where neither does.

    "AeroLite 5" is not AeroLite 3, a customer number 441820 not 448120, and a text of version 5.3.0 not of 5.2.0.
    """
    split = _NUMBERED_NAME.fullmatch(name)
    if split is None:
        return None
    own = [Span(*match.span()) for match in re.finditer(rf"(?<![\w.]){re.escape(name)}(?![\w]|\.\d)", facts.text)]
    if own:
        return [(span, Holds.TRUE) for span in own]
    words = split["words"].strip() or " ".join(segment.replace("_", " ") for segment in path.segments)
    others = [
        Span(*match.span("number"))
        for match in re.finditer(
            rf"(?i:\b{re.escape(words)})(?:\s(?:is|are|still|now|number|no\.|:|#)|:){{0,2}}\s(?P<number>v?\d[\w.-]*\w|\d)(?!\w)",
            facts.text,
        )
    ]
    if not others and terms(words) == _VERSION:
        others = [Span(*match.span()) for match in re.finditer(r"(?<![\w.-])\d+\.\d+\.\d+(?![\w.])", facts.text)][:2]
        others = others if len(others) == 1 else []
    return [(span, Holds.FALSE) for span in others] or None


_NUMBERED_NAME: Final = re.compile(r"(?P<words>(?:[A-Za-z][\w-]*\s){0,3})(?P<number>v?\d[\w.-]*)")


def judge_choice(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold what a text chooses against OneOf."""
    assert isinstance(predicate.left, Path)
    assert isinstance(predicate.right, Options)
    options = predicate.right.texts
    named = [(value, span) for value, span in _named(facts, predicate.left) if value.strip()]
    answers = [(span, _is_among(value, options, predicate.left)) for value, span in named]
    answer = _joined(predicate, facts, answers)
    if answer.holds is Holds.UNKNOWN:
        answer = _joined(predicate, facts, list(_in_rows(options, facts)))
    if answer.holds is not Holds.UNKNOWN:
        return answer
    answer = _joined(predicate, facts, list(_of_class(predicate.left, options, facts)))
    return answer if answer.holds is not Holds.UNKNOWN else _joined(predicate, facts, list(_of_kind(predicate, facts)))


def _of_kind(predicate: Predicate, facts: TextFacts) -> Iterator[tuple[Span, Holds]]:
    """Yield the words of the kind that the attribute names, and whether each is an option: sugar is a sweetener."""
    assert isinstance(predicate.left, Path)
    assert isinstance(predicate.right, Options)
    allowed = frozenset(stem_of(word) for text in predicate.right.texts for word in text.casefold().split())
    for word, span in kinds.named(facts, kinds.of_kind(predicate.left.segments[-1].replace("_", " "))):
        yield span, Holds.TRUE if stem_of(word.casefold()) in allowed else Holds.FALSE


def _joined(predicate: Predicate, facts: TextFacts, answers: Sequence[tuple[Span, Holds]]) -> Evaluation:
    for wanted in (Holds.FALSE, Holds.TRUE):
        spans = [span for span, holds in answers if holds is wanted]
        if spans and (wanted is Holds.FALSE or all(holds is wanted for _, holds in answers)):
            named = ", ".join(dict.fromkeys(facts.text[span.start : span.end][:60] for span in spans[:_MOST_SPANS]))
            why = f"of the {said(predicate.left)} the text says {named}, demanded is {demand(predicate)}"
            return Evaluation(wanted, tuple(spans[:_MOST_SPANS]), why)
    return Evaluation(Holds.UNKNOWN, (), f"the text does not plainly name the {said(predicate.left)}")


def _named(facts: TextFacts, path: Path) -> Iterator[tuple[str, Span]]:
    """Yield the values that a text names for an attribute, by statements, labels and columns."""
    wanted = terms(words_of_path(path))
    if not wanted:
        return
    if wanted == _CURRENCY:
        yield from (
            (value.unit, Span(value.start, value.end))
            for value in scan_values(facts.text)
            if value.kind is EntityKind.MONEY
        )
        return
    yield from _by_statement(facts, wanted)
    if wanted & _VERSION:
        for match in _NUMBERED.finditer(facts.text):
            yield match["number"], Span(*match.span("number"))
    for block in blocks_of(facts):
        if block.kind is Kind.TABLE:
            columns = [number for number, head in enumerate(block.heads) if _is_name_of(terms(head), wanted)]
            if len(columns) == 1:
                yield from ((row.cells[columns[0]], row.span) for row in block.rows if columns[0] < len(row.cells))
        else:
            for row in block.rows:
                if block.kind is Kind.ROWS and _is_name_of(terms(row.label), wanted):
                    yield row.body.rstrip(" ."), row.span


def _by_statement(facts: TextFacts, wanted: frozenset[str]) -> Iterator[tuple[str, Span]]:
    for sentence in facts.sentences:
        text = facts.text[sentence.start : sentence.end]
        if text.rstrip().endswith("?"):
            continue
        for pattern in (_IS, _SET, _TURNS, _QUOTED):
            for match in pattern.finditer(text):
                own = wanted if pattern in {_IS, _SET} else wanted & _SINGLE
                left = match["left"] if pattern is not _QUOTED else match["left"].rsplit(maxsplit=1)[-1]
                if own and not _HEDGED.search(match.group()) and _is_name_of(terms(left), own):
                    start = sentence.start + match.start("right")
                    yield match["right"], Span(start, start + len(match["right"]))
        label, _, rest = text.partition(": ")
        if rest and "\n" not in text and len(label) <= 60 and _is_name_of(terms(label), wanted):  # noqa: PLR2004 - a label
            yield rest.rstrip(" ."), sentence


def _is_name_of(said_terms: frozenset[str], wanted: frozenset[str]) -> bool:
    """Say whether some words name an attribute: they are of its words, its last one among them, or all and few more."""
    if not said_terms:
        return False
    return (
        said_terms == wanted
        or (wanted < said_terms and len(said_terms) <= len(wanted) + 1)
        or (said_terms < wanted and len(said_terms) >= NEAR * len(wanted) and len(wanted) > 1)
    )


def _inverse(facts: TextFacts, path: Path) -> Iterator[tuple[str, Span]]:
    """Yield "Lyon" of "Lyon is the capital of France"."""
    wanted = terms(words_of_path(path))
    for sentence in facts.sentences:
        for match in _IS.finditer(facts.text, sentence.start, sentence.end):
            name = match["left"].strip()
            is_name = name[:1].isupper() and not _ARTICLE.match(name) and len(name.split()) <= 4  # noqa: PLR2004 - a name
            if is_name and _ARTICLE.match(match["right"]) and terms(match["right"]) == wanted:
                yield name, Span(*match.span("left"))


def _is_among(value: str, options: Sequence[str], path: Path) -> Holds:
    """Say whether a named value is one of the options, another one of their kind, or neither."""
    if is_negated(value) or len(value.split()) > _MOST_VALUE_WORDS:
        return Holds.UNKNOWN
    own = _stems(value)
    sought = [_stems(option) for option in options]
    if any(each and (each == own or each <= own) for each in sought):
        return Holds.TRUE
    if _parts_among(value, sought):
        return Holds.TRUE
    is_other = any(_is_other(value, option) for option in options)
    attribute = terms(path.segments[-1].replace("_", " ")) | terms(path.segments[0].replace("_", " "))
    return Holds.FALSE if is_other or attribute & _SINGLE else Holds.UNKNOWN


def _parts_among(value: str, sought: Sequence[frozenset[str]]) -> bool:
    """Say whether a value is a list of options: "card or bank transfer"."""
    parts = [_stems(part) for part in re.split(r",|\bor\b|\band\b|/", value) if part.strip()]
    return len(parts) > 1 and all(any(each == part for each in sought) for part in parts)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(word) for word in _WORD.findall(_ARTICLE.sub("", text.casefold(), count=1)))


def _is_other(value: str, option: str) -> bool:
    """Say whether a value is of the same kind as an option and another one."""
    bare = _ARTICLE.sub("", value.strip(), count=1)
    if bare[:1].isupper() and option[:1].isupper():
        return True
    if _DOTTED.fullmatch(bare) and _DOTTED.fullmatch(option):
        return bare.lower().lstrip("v") != option.lower().lstrip("v")
    mine, theirs = ([word.casefold() for word in _WORD.findall(text)] for text in (bare, option))
    for words in CLASSES.values():
        first, second = ({words[word] for word in own if word in words} for own in (mine, theirs))
        if first and second and not first & second:
            return True
    if opposed(sides(bare)[0], sides(option)[0]) is not None:
        return True
    return len(mine) > 1 and len(theirs) > 1 and stem_of(mine[-1]) == stem_of(theirs[-1])


def _of_class(path: Path, options: Sequence[str], facts: TextFacts) -> Iterator[tuple[Span, Holds]]:
    """Yield the words of the options' closed class that the text uses, and whether each is an option."""
    if all(_GRADE.fullmatch(option) for option in options):
        for match in _GRADED.finditer(facts.text):
            grade = match["grade"]
            if grade.isupper():
                yield Span(*match.span("grade")), Holds.TRUE if grade in options else Holds.FALSE
        return
    name = class_of([option.casefold() for option in options])
    if name is None:
        return
    words = CLASSES[name]
    allowed = {words[word] for option in options for word in option.casefold().split() if word in words}
    found = list(_class_words(facts, words))
    wanted = terms(words_of_path(path))
    has_allowed = any(word in allowed for word, _, _ in found)
    for word, span, sentence in found:
        said_here = facts.text[sentence.start : sentence.end]
        if word in allowed:
            yield span, Holds.TRUE
        elif not has_allowed or name in _TELLING or terms(said_here) & wanted:
            yield span, Holds.UNKNOWN if is_negated(said_here) else Holds.FALSE
        else:
            yield span, Holds.UNKNOWN


def _in_rows(options: Sequence[str], facts: TextFacts) -> Iterator[tuple[Span, Holds]]:
    """Yield the rows of a block of which most name an option; of the others the word that stands in its place."""
    sought = [_stems(option) for option in options]
    yield from _in_slots(sought, facts)
    for block in blocks_of(facts):
        if block.kind is Kind.LIST or len(block.rows) < _LEAST_ROWS:
            continue
        said_there = [_stems(row.body) for row in block.rows]
        named = [any(option <= words for option in sought) for words in said_there]
        if 2 * sum(named) < len(named) or not sum(named):
            continue
        for row, is_named in zip(block.rows, named, strict=True):
            others = [word for word in _WORD.findall(row.body) if any(_is_other(word, option) for option in options)]
            # Beside an option another word may stand that is none: "Felix - Early, Greta - Swing".
            plain = Holds.TRUE if is_named and not others else Holds.FALSE if others and not is_named else None
            yield row.span, plain or Holds.UNKNOWN


def _in_slots(sought: Sequence[frozenset[str]], facts: TextFacts) -> Iterator[tuple[Span, Holds]]:
    """Yield the labels of a list, or what stands behind dashes in its rows, where most of them are options."""
    for block in blocks_of(facts):
        pattern = _ITEM_LABEL if block.kind is Kind.LIST else _BEHIND_DASH
        slots = [
            (match["slot"], Span(row.span.start + match.start("slot"), row.span.start + match.end("slot")))
            for row in block.rows
            for match in pattern.finditer(facts.text[row.span.start : row.span.end])
        ]
        fitting = [any(option == _stems(slot) for option in sought) for slot, _ in slots]
        if len(slots) < _LEAST_ROWS or 3 * sum(fitting) < 2 * len(slots):
            continue
        for (_, span), fits in zip(slots, fitting, strict=True):
            yield span, Holds.TRUE if fits else Holds.FALSE


_ITEM_LABEL: Final = re.compile(
    r"\A\s*(?:[-*•+\u2013]|\(?\d{1,3}[.)])\s+\**(?P<slot>[^\W\d_]{2,20}(?:\s[^\W\d_]{2,20})?)\**:\s"
)
_BEHIND_DASH: Final = re.compile(r"\s[-\u2013\u2014]\s(?P<slot>[^\W\d_]{2,20})(?=\s*(?:[,;.]|\Z))")
_LEAST_ROWS: Final = 3
_TELLING: Final = frozenset({"payment", "transport", "subject"})
"""Classes whose words hardly stand in a text for anything else than a choice."""


def _class_words(facts: TextFacts, words: dict[str, str]) -> Iterator[tuple[str, Span, Span]]:
    for sentence in facts.sentences:
        for match in _WORD.finditer(facts.text, sentence.start, sentence.end):
            low = match.group().casefold()
            known = words.get(low) or words.get(low.removesuffix("s"))
            if known is not None and not (
                low in {"may", "march", "sat", "sun", "wed", "mar"} and match.group().islower()
            ):
                yield known, Span(*match.span()), sentence
