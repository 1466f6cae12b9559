"""Reading texts and constraints with the predicates of §8: what is asserted, what is demanded, what follows."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from services.common.grounding.words import stem
from services.ercp.domain.predicates import (
    ABOUT_TOLERANCE,
    Holds,
    Predicate,
    PredicateError,
    Span,
    TextFacts,
    ValueFact,
    canonical,
    describe,
    evaluate_plainly,
    extract_facts,
    parse_predicate,
    to_document,
)
from services.ercp.domain.predicates.mentions import Mention, is_bare, read_all
from services.ercp.domain.predicates.values import CALENDAR, agree_as_written
from services.ercp.domain.records import Constraint, PredicateForm, Sentence

_END: Final = re.compile(r"[.!?…][\"')\]\u2019\u201d]*(?=\s)|\n+")
_ABBREVIATED: Final = re.compile(r"(?:\b(?:[A-Za-z]|approx|ca|cf|e\.g|i\.e|No|Art|Sec|Dr|Mr|Mrs|St|vs|Fig)|\d)\.$")
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)*")
_AMOUNT: Final = re.compile(r"[-+]?\d[\d.,]*(?:\s*[^\W\d_°%€$£]+|\s*[°%€$£][A-Za-z]*)?(?:\s*(?:/|per)\s*[A-Za-z]+)?")
_CLOCK: Final = re.compile(
    r"\b(?:(?P<name>noon|midday|midnight)|(?P<hour>[01]?\d|2[0-4])"
    r"(?:(?=:\d|\s?[ap]\.?m\b))(?::(?P<minute>[0-5]\d))?(?:\s?(?P<half>[ap])\.?m\b)?)",
    re.IGNORECASE,
)
_HALVES: Final = {"noon": 720, "midday": 720, "midnight": 0}
MAX_SENTENCES: Final = 2_000


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text that no other service has split: a passage, a caller's text."""
    found, start = list[Sentence](), 0
    for match in _END.finditer(text):
        head = text[start : match.end()].rstrip()
        following = text[match.end() : match.end() + 2].strip()
        if match.group()[0] == "." and _ABBREVIATED.search(head[-12:]) and not following.isupper():
            continue
        found += _trimmed(text, start, match.end())
        start = match.end()
    found += _trimmed(text, start, len(text))
    return tuple(found[:MAX_SENTENCES])


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    part = text[start:end]
    begin = start + len(part) - len(part.lstrip())
    stop = end - (len(part) - len(part.rstrip()))
    if stop > begin:
        yield Sentence(begin, stop, text[begin:stop])


def facts_of(text: str, sentences: Sequence[Sentence]) -> TextFacts:
    """Return what a text asserts."""
    return extract_facts(text, [Span(each.start, each.end) for each in sentences])


def predicate_of(constraint: Constraint) -> Predicate:
    """Return a constraint's predicate.

    Raises:
        PredicateError: it cannot be read.
    """
    return parse_predicate(constraint.predicate.name, constraint.predicate.args)


def demand_key(constraint: Constraint) -> str:
    """Return a text that two constraints share exactly when their predicates demand the same."""
    try:
        return repr(canonical(predicate_of(constraint)))
    except PredicateError:
        return constraint.predicate.key


def form_of(predicate: Predicate) -> PredicateForm:
    """Return a predicate as it is written."""
    document = to_document(predicate)
    return PredicateForm(document["predicate_name"], document["args"])


def words_of(predicate: Predicate) -> str:
    """Return a predicate in natural language (§2 constraint duality)."""
    return describe(predicate)


def equalities(facts: TextFacts) -> Iterator[tuple[ValueFact, Predicate]]:
    """Yield for every value that a text asserts the predicate that demands just that of another text."""
    for fact in facts.values:
        predicate = _demand(fact, facts.text)
        if predicate is not None:
            yield fact, predicate


def orders(facts: TextFacts) -> Iterator[tuple[Span, Predicate]]:
    """Yield for every order of events that a text asserts the predicate that demands it."""
    for order in facts.orders:
        predicate = _parsed("TemporalOrder", {"before": order.before_text, "after": order.after_text})
        if predicate is not None:
            yield order.span, predicate


def other_dates(facts: TextFacts, asserted: TextFacts) -> Iterator[tuple[ValueFact, ValueFact]]:
    """Yield where a text puts an event on another date than a passage does: of both, the two facts.

    An event is the same when both call it by the same words, or one by two at least of the other's.
    """
    known = defaultdict[str, list[ValueFact]](list)
    for theirs in asserted.values:
        if theirs.dimension == CALENDAR and not theirs.negated:
            for word in theirs.subject.attribute:
                known[word].append(theirs)
    for mine in facts.values:
        if mine.dimension != CALENDAR or mine.negated or mine.interval is None:
            continue
        near = {id(each): each for word in mine.subject.attribute for each in known[word]}
        same = [each for each in near.values() if _is_same_event(mine, each)]
        if same and not any(each.interval is None or each.interval.meets(mine.interval) for each in same):
            yield mine, same[0]


def _is_same_event(first: ValueFact, second: ValueFact) -> bool:
    mine, theirs = _subject(first), _subject(second)
    smaller = min(mine, theirs, key=len)
    return mine == theirs or (len(smaller) > 1 and (mine <= theirs or theirs <= mine))


def entities(facts: TextFacts) -> Iterator[str]:
    """Yield the attributes and subjects that a text speaks of, each once, as NoContradiction names them."""
    seen = set()
    for fact in facts.values:
        name = entity_name(fact, facts.text)
        if name and name not in seen:
            seen.add(name)
            yield name
    for statement in facts.statements:
        name = "_".join(_surface(statement.subject, facts.text[statement.span.start : statement.span.end]))
        if name and name not in seen:
            seen.add(name)
            yield name


def entity_name(fact: ValueFact, text: str) -> str:
    """Return what a value belongs to, such as ``water.boiling_point``, in the text's own words if it has them."""
    clause = text[fact.span.start : fact.span.end]
    parts = (fact.subject.entity, fact.subject.attribute)
    return ".".join("_".join(_surface(stems, clause)) for stems in parts if stems)


def no_contradiction(entity: str) -> Predicate | None:
    """Return the predicate that a text does not contradict itself about an entity."""
    return _parsed("NoContradiction", {"entity": entity})


def has_justification(claim: str) -> Predicate | None:
    """Return the predicate that a text gives a reason for a claim."""
    return _parsed("HasJustification", {"claim": " ".join(claim.split())[:2_000]})


def apart(facts: TextFacts, first: Sentence, second: Sentence) -> bool:
    """Say whether two sentences give values of one kind to different things, so that they cannot deny each other.

    A thing that is named more closely in one of them is taken for the same.
    """
    return _are_of_two(facts.values_in(first.start, first.end), facts.values_in(second.start, second.end))


def values_differ(first: Sequence[Mention], second: Sequence[Mention]) -> bool | None:
    """Say whether two sentences give other amounts of one kind; ``None``: they give none of one kind.

    They do when no amount of one is among the other's. Bare numbers do not count: they may be of anything.
    """
    kinds = {each.dimension for each in first if not is_bare(each)} & {
        each.dimension for each in second if not is_bare(each)
    }
    answers = []
    for kind in kinds:
        mine, theirs = ([each for each in own if each.dimension == kind] for own in (first, second))
        answers.append(not any(_near(one, each) for one in mine for each in theirs))
    return any(answers) if answers else None


def _near(first: Mention, second: Mention) -> bool:
    """Say whether two amounts may be one, rounding aside."""
    if first.interval.meets(second.interval):
        return True
    if first.amount is None or second.amount is None:
        return False
    return agree_as_written(first.amount, second.amount)


def mentions_of(facts: TextFacts) -> list[list[Mention]]:
    """Return the amounts and dates of every sentence."""
    return read_all(facts.text, facts.sentences)[0]


def amounts_differ(first: str, second: str) -> bool | None:
    """Say whether two texts give other amounts or times of day, as ``values_differ`` does of two sentences."""
    hours = [_hours(each) for each in (first, second)]
    if all(hours):
        return hours[0].isdisjoint(hours[1])
    return values_differ(*(read_all(each, [Span(0, len(each))])[0][0] for each in (first, second)))


def _hours(text: str) -> set[int]:
    """Return the times of day in a text, in minutes since midnight."""
    found = set()
    for match in _CLOCK.finditer(text):
        if match["name"]:
            found.add(_HALVES[match["name"].lower()])
            continue
        hour = int(match["hour"]) % 12 + 12 * (match["half"].lower() == "p") if match["half"] else int(match["hour"])
        found.add(60 * hour + int(match["minute"] or 0))
    return found


def overruled(facts: TextFacts, span: tuple[int, int], other: str) -> bool:
    """Say whether the values of a stretch and of another text do not clash after all, as the predicates read them.

    So it is when what the other text asserts is TRUE of this stretch, or when the two give values of one kind to
    different things. Where the predicates read no values, or find them FALSE, nothing is overruled.
    """
    theirs = facts_of(other, sentences_of(other))
    evaluated = [evaluate_plainly(predicate, facts) for _, predicate in equalities(theirs)]
    answers = [each.holds for each in evaluated if any(_touches(place, span) for place in each.evidence)]
    if Holds.FALSE in answers:
        return False
    return Holds.TRUE in answers or _are_of_two(facts.values_in(*span), theirs.values)


def _touches(place: Span, span: tuple[int, int]) -> bool:
    return place.start < span[1] and span[0] < place.end


def _are_of_two(first: Iterable[ValueFact], second: Iterable[ValueFact]) -> bool:
    """Say whether two lists of values have some of one kind, and those are all of different things.

    They are when each is called by a word that the other is not called by. What many values are of is compared once.
    """
    mine, theirs = ({(each.dimension, _subject(each)) for each in own} for own in (first, second))
    alike = [(one, other) for kind, one in mine for another, other in theirs if kind == another]
    return bool(alike) and not any(one <= other or other <= one for one, other in alike)


def _subject(fact: ValueFact) -> frozenset[str]:
    return frozenset((*fact.subject.entity, *fact.subject.attribute))


def _demand(fact: ValueFact, text: str) -> Predicate | None:
    left = entity_name(fact, text)
    right = _right(fact, text[fact.value_span.start : fact.value_span.end])
    if not left or right is None:
        return None
    name = _relation(fact)
    args: dict[str, object] = {"left": left, **right}
    if fact.interval is not None and name in {"LessThan", "GreaterThan"}:
        args["inclusive"] = fact.interval.high_closed if name == "LessThan" else fact.interval.low_closed
    elif fact.approximate:
        args["tolerance"] = ABOUT_TOLERANCE
    if fact.condition.text:
        args["condition"] = fact.condition.text
    return _parsed(name, args)


def _right(fact: ValueFact, written: str) -> dict[str, object] | None:
    """Return the right side of what a value demands; ``None`` for what no one predicate says, such as a range."""
    if fact.interval is None:
        return {"right": f'"{written}"'} if fact.text else None
    if fact.number:
        return {"right": fact.number, **({"unit": fact.unit} if fact.unit else {})}
    is_range = fact.interval.low is not None and fact.interval.high is not None
    amount = None if fact.negated or is_range else _AMOUNT.search(written)
    return None if amount is None else {"right": amount.group().strip()}


def _relation(fact: ValueFact) -> str:
    if fact.negated:
        return "NotEqual"
    if fact.interval is None or (fact.interval.low is not None and fact.interval.high is not None):
        return "Equal"
    return "LessThan" if fact.interval.low is None else "GreaterThan"


def _surface(stems: Sequence[str], clause: str) -> list[str]:
    """Return the words of the clause that have these stems, or the stems themselves."""
    by_stem = {stem(word.lower()): word.lower() for word in reversed(_WORD.findall(clause))}
    return [by_stem.get(each, each) for each in stems]


def _parsed(name: str, args: dict[str, object]) -> Predicate | None:
    try:
        return parse_predicate(name, args)
    except PredicateError:
        return None
