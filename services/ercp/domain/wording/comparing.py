"""Limits and exact values: "must not exceed two months", "between 9 am and 5 pm", "exactly three options"."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from services.common.reading.lexicon import BASE_VERBS
from services.ercp.domain.predicates import Amount, Path, Predicate, PredicateError, PredicateName, Text
from services.ercp.domain.predicates.model import Bounds, Hour, Moment, Range, YearDay
from services.ercp.domain.predicates.text_arguments import COUNTED_PARTS, read_range
from services.ercp.domain.predicates.units import PER, above_line, in_base
from services.ercp.domain.wording import clauses, lasting
from services.ercp.domain.wording.amounts import Named, operand_of, read
from services.ercp.domain.wording.days import plainly_dated
from services.ercp.domain.wording.model import NotUnderstoodError

_LARGER: Final = (
    "more|longer|later|higher|greater|larger|bigger|heavier|older|wider|deeper|further|farther|taller|faster|louder"
)
_SMALLER: Final = "less|fewer|shorter|earlier|lower|smaller|lighter|younger|narrower|cheaper|slower|sooner"
_DEGREE: Final = r"(?:\s+(?:the|an?|any|than|just|only))*\s*"
_BEFORE: Final = (
    ("=", r"(?:sums?|adds?|comes?|amounts?)\s+(?:up\s+)?to"),
    ("<=", rf"at\s+(?:the\s+)?(?:very\s+)?(?:most|latest|max(?:imum)?(?:\s+of)?)|(?:an?\s+|the\s+)?max(?:imum|\.)?(?:\s+of)?|"
     rf"up\s+to(?:\s+and\s+including)?|(?:no|not)\s+(?:any\s+)?(?:{_LARGER})\s+than|(?:no|not)\s+(?:over|above|past|beyond)|"
     r"capped\s+at|limited\s+to|(?:not|never)\s+exceed(?:ing)?|n't\s+exceed|cannot\s+exceed|by|until|till|within|not\s+after|as\s+(?:much|many|late|long)\s+as"),
    (">=", rf"at\s+(?:the\s+)?(?:very\s+)?(?:least|earliest|min(?:imum)?(?:\s+of)?)|(?:an?\s+|the\s+)?min(?:imum|\.)?(?:\s+of)?|"
     rf"(?:no|not)\s+(?:any\s+)?(?:{_SMALLER})\s+than|not\s+(?:under|below|before)|from|starting(?:\s+(?:at|from))?|as\s+of|no\s+earlier\s+than"),
    ("<", rf"(?:{_SMALLER})\s+than|under|below|before|prior\s+to|ahead\s+of|short\s+of"),
    (">", rf"(?:{_LARGER})\s+than|over|above|after|exceed(?:s|ing)?|beyond|past|upwards\s+of|in\s+excess\s+of|better\s+than"),
    ("=", r"exactly|precisely|equal\s+to|equals?|=|sums?\s+to|adds?\s+up\s+to|comes?\s+to|amounts?\s+to|totals?|"
     r"(?:starts?|begins?|opens?|closes?|ends?|finish(?:es)?|leaves?|departs?|arrives?|meets?)\s+(?:at|on)|"
     r"(?:returns?|answers?|responds?|repl(?:y|ies)|comes?\s+back)(?:\s+with)?(?:\s+(?:an?|the))?(?:\s+(?:HTTP|status|code))*|"
     r"(?:is|are|stays?|remains?)\s+(?:good|valid)\s+for|lasts|expires?\s+after|"
     r"(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|is\s+to|will)\s+be(?:\s+(?:at|set\s+to|fixed\s+at))?|is|are|remains?(?:\s+at)?|stays?(?:\s+at)?|only|"
     r"(?:i|we)\s+(?:want|would\s+like)|(?:include|list|give|name|offer|propose|suggest|present)"),
)  # fmt: skip
_BEHIND: Final = (
    ("=", r"(?:,\s*)?(?:exactly|sharp|on\s+the\s+dot|no\s+more,?\s+(?:and\s+)?no\s+(?:less|fewer)|no\s+(?:less|fewer),?\s+(?:and\s+)?no\s+more|"
     r"not\s+more,?\s+(?:and\s+)?not\s+(?:less|fewer))\b"),
    ("<=", rf"(?:,\s*)?(?:or\s+(?:{_SMALLER}|below|under)|at\s+(?:the\s+)?(?:very\s+)?(?:most|latest|maximum)|max(?:imum|\.)?|tops|"
     rf"(?:in\s+all\s*)?,?\s*(?:and\s+)?(?:not|no)\s+(?:{_LARGER})|and\s+(?:under|below)|and\s+no\s+more|(?:and|but)\s+not\s+(?:a\s+single\s+)?one\s+more)\b"),
    (">=", rf"(?:,\s*)?(?:or\s+(?:{_LARGER}|above|over|better|upwards|up)|at\s+(?:the\s+)?(?:very\s+)?(?:least|earliest|minimum)|min(?:imum|\.)?|"
     r"and\s+(?:above|over|up|more)|plus|onwards?)\b"),
)  # fmt: skip
_CLOSER: Final = re.compile(
    r",?\s+(?:(?:no\s+more|not\s+more)(?:,|\s+and)+\s*(?:no|not)\s+(?:less|fewer)|(?:no|not)\s+(?:less|fewer)(?:,|\s+and)+\s*(?:no|not)\s+more)\Z",
    re.IGNORECASE,
)
_BEFORE_PATTERNS: Final = tuple(
    (sign, re.compile(rf"(?:^|[\s,(])(?P<phrase>{p}){_DEGREE}\Z", re.IGNORECASE)) for sign, p in _BEFORE
)
_BEHIND_PATTERNS: Final = tuple((sign, re.compile(rf"\s*(?P<phrase>{p})", re.IGNORECASE)) for sign, p in _BEHIND)
_NEGATED: Final = re.compile(r"\b(?:not|never|no|nobody|none|nothing|cannot|no-one|neither)\b|n't\b", re.IGNORECASE)
_OWN_NEGATION: Final = re.compile(r"\b(?:no|not|never)\b|n't", re.IGNORECASE)
_FLIPPED: Final = {"<": ">=", ">": "<="}
_WAY: Final = {
    "<": (PredicateName.LESS_THAN, False), "<=": (PredicateName.LESS_THAN, True), ">": (PredicateName.GREATER_THAN, False),
    ">=": (PredicateName.GREATER_THAN, True), "=": (PredicateName.EQUAL, False),
}  # fmt: skip
_BETWEEN: Final = re.compile(
    r"(?:^|[\s,])(?P<open>between|from|within|in\s+the\s+range(?:\s+of)?|of|be|is|are|only|at)?\s*\Z", re.IGNORECASE
)
_AND: Final = re.compile(r"\s*(?P<mark>and|to|until|till|through|or|-|–|—)\s*", re.IGNORECASE)  # noqa: RUF001
_TOTAL: Final = re.compile(
    r"\bthe\s+(?:whole|entire)\b(?!\s+(?:thing|lot)\b)|\ball\s+in\b(?=,)|\b(?:in\s+all|in\s+total|altogether|all\s+together|taken\s+together|together|combined|total|sum|adds?\s+up|overall)\b",
    re.IGNORECASE,
)
_ALL_TOLD: Final = re.compile(r"\A(?:all\s+told|overall),?\s+(?=\w)|,\s*[a-z]+\s+included\Z", re.IGNORECASE)
"""What says only that nothing is left out."""
_EACH: Final = re.compile(
    r"\b(?:per|(?:in|on|for|at)?\s*(?:each|every))\s+(?!month|year|week|day\b|hour|minute|second|night|quarter|should|must|may|can|has|have)(?P<each>[a-z][a-z-]+(?:\s+point)?)\b",
    re.IGNORECASE,
)
_EACH_SUBJECT: Final = re.compile(r"\s*(?:each|every)\s+(?P<each>[a-z][a-z-]+)\b(?!')", re.IGNORECASE)
_NO_PART: Final = re.compile(
    r"no\s+(?:single\s+)?(?P<part>sentence|paragraph|line|item|step|bullet\s+point)\b", re.IGNORECASE
)
"""Of every one: "no sentence longer than 20 words"."""
_HAS: Final = frozenset(
    """have has contain include list offer name give mention show there speakers want need number count limit propose suggest present
    hold holds contains includes lists offers names gives mentions shows use uses write provide long split divide break""".split()  # noqa: SIM905
)
_OF_OTHERS: Final = re.compile(
    r"\b(?:nobody|no\s?one|anyone|anybody|users?|they|he|she|get|able|allowed|may\s+be)\b", re.IGNORECASE
)
"""It is not the text that has so many."""
_SUBJECT: Final = re.compile(
    r"\s*(?:the\s+|all\s+)?(?P<word>[a-z]+s)\s+(?:must|may|should|can|shall|have|need)\b", re.IGNORECASE
)
_LETTERS: Final = {
    "letters": "characters",
    "signs": "characters",
    "chars": "characters",
    "bullet points": "items",
    "bullets": "items",
    "points": "items",
}
_LEADING: Final = re.compile(r"\s*(?:save\s+|spend\s+|put\s+aside\s+)?\Z", re.IGNORECASE)
"""Before a share that a sentence begins with: "a quarter of the calories must come from protein"."""
_WHOLE: Final = re.compile(
    r"\bof\s+(?:all\s+)?(?:(?:the|our|your|their|its|his|her|an?|one|each)\s+)?(?:[a-z]+'s\s+)?(?P<whole>[a-z-]+(?:\s(?:votes|budget|pay|cost|price|time))?)\b",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"\b(?:per|an?|each|every)\s+(?:hour|day|night|week|month|quarter|year)\b(?!')", re.IGNORECASE
)
_HAS_VERB: Final = re.compile(
    r"\s*(?:[a-z-]+\s+){0,2}?(?:must|shall|should|may|can|cannot|needs?|ha(?:s|ve)\s+to|are|is|gets?|will|requires?)\b(?!\s+(?:left|enough)\b)",
    re.IGNORECASE,
)
"""Behind a bound: "orders above 50 euros are free of charge" limits no order."""
_DISTANCE: Final = re.compile(r"\s*(?P<way>before|after|from)\s+(?P<event>[^,;]{2,60})\Z", re.IGNORECASE)
"""Behind an amount: how far something is from an event."""
_LATE: Final = re.compile(r"\b(?:later|latest|earlier|earliest)\b", re.IGNORECASE)
_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_VERSIONED: Final = re.compile(r"\bversions?\b", re.IGNORECASE)
_PERIODS: Final = frozenset({"hour", "day", "night", "week", "month", "quarter", "year"})
_BUT: Final = re.compile(r"[\s,;(]*(?:(?:but|and|with|subject\s+to)\s+)?(?:an?\s+)?", re.IGNORECASE)
_STRONG: Final = frozenset({"<=", ">=", "<", ">"})


@dataclass(frozen=True, slots=True)
class _Bound:
    """A value with the comparison that is said of it, and the part of the sentence that both take up."""

    named: Named
    sign: str
    start: int
    end: int
    is_exact: bool = False


def read_values(sentence: str) -> tuple[Predicate, str] | None:
    """Read a demand on a value; ``None`` when the sentence names no value.

    Raises:
        NotUnderstoodError: it names values, but what is demanded of them is not plain.
    """
    sentence = _ALL_TOLD.sub("", sentence)
    closer = _CLOSER.search(sentence)
    sentence = plainly_dated(sentence[: closer.start()] if closer is not None else sentence)
    named = read(sentence)
    if not named:
        return None
    if closer is not None and len(named) == 1 and not any(b.sign in _STRONG for b in _bounds(sentence, named)):
        return _demand(
            sentence,
            _Bound(
                named[0], "=", _only_filler(sentence[: named[0].start], named[0].start), named[0].behind, is_exact=True
            ),
        )
    ranged = _range(sentence, named)
    if ranged is not None:
        return ranged
    bounds = _bounds(sentence, named) or _leading(sentence, named)
    strong = [bound for bound in bounds if bound.sign in _STRONG or bound.is_exact]
    chosen = strong or bounds
    if len(chosen) != 1 or _is_second_of_kind(bounds, chosen[0]):
        fault = "it names several values, and which one is the limit is not plain" if chosen or len(named) > 1 else ""
        raise NotUnderstoodError(fault or "how its value is meant, at most, at least or exactly, is not plain")
    if any(_BUT.fullmatch(sentence, each.behind, chosen[0].start) for each in named if each.end <= chosen[0].start):
        raise NotUnderstoodError("it demands a value and a limit to it; give each its own constraint")
    return _demand(sentence, chosen[0])


def _is_second_of_kind(bounds: list[_Bound], chosen: _Bound) -> bool:
    """Say whether another value of the kind is demanded beside the limit: "1% a week, capped at 10%"."""
    if isinstance(chosen.named.operand, _TIMES):
        return any(each is not chosen and isinstance(each.named.operand, type(chosen.named.operand)) for each in bounds)
    units = [
        each.named.operand.unit for each in bounds if isinstance(each.named.operand, Amount) and each is not chosen
    ]
    return isinstance(chosen.named.operand, Amount) and chosen.named.operand.unit in units


def _leading(sentence: str, named: list[Named]) -> list[_Bound]:
    """Read "a quarter of the calories must come from protein": exactly so much."""
    first = named[0]
    is_share = isinstance(first.operand, Amount) and first.operand.unit == "%" and len(named) == 1
    opens = is_share and _LEADING.fullmatch(sentence[: first.start]) and _WHOLE.match(sentence, first.behind + 1)
    return (
        [_Bound(first, "=", first.start, first.behind, is_exact=True)]
        if opens and not _NEGATED.search(sentence)
        else []
    )


def _bounds(sentence: str, named: list[Named]) -> list[_Bound]:
    return [bound for each in named if (bound := _bound(sentence, each)) is not None]


def _bound(sentence: str, named: Named) -> _Bound | None:
    """Return the comparison that stands right before a value or right behind it."""
    before = sentence[: named.start]
    noun_end = named.end + 1 + len(named.noun) if named.noun else named.behind
    for sign, pattern in _BEHIND_PATTERNS:
        for at in dict.fromkeys((named.behind, noun_end)):
            behind = pattern.match(sentence, at)
            if behind is not None:
                before_start = _only_filler(before, named.start)
                return _Bound(named, sign, before_start, behind.end(), is_exact=sign == "=")
    for sign, pattern in _BEFORE_PATTERNS:
        match = pattern.search(before)
        if match is not None:
            return _signed(sentence, named, sign, match)
    return None


def _only_filler(before: str, start: int) -> int:
    """Return where words such as "exactly" before a value begin."""
    match = re.search(r"(?:^|\s)(?:is|are|be|only|exactly|to|of)\s+\Z", before, re.IGNORECASE)
    return match.start() if match is not None else start


def _signed(sentence: str, named: Named, sign: str, match: re.Match[str]) -> _Bound | None:
    phrase = match["phrase"].lower()
    if not _fits(phrase, match.group()[match.end("phrase") - match.start() :], named):
        return None
    governed = sentence[: match.start("phrase")]
    is_negated = bool(_NEGATED.search(re.split(r"[,;:]\s", governed)[-1])) and not _OWN_NEGATION.search(phrase)
    if is_negated:
        if sign not in _FLIPPED:
            raise NotUnderstoodError("it denies a limit, which can be meant in two ways")
        sign = _FLIPPED[sign]
    if phrase == "only" and _MAY.search(sentence):
        sign = "<="  # only so many may: so many are the most
    return _Bound(named, sign, match.start("phrase"), named.behind, is_exact=phrase in {"exactly", "precisely"})


_MAY: Final = re.compile(r"\b(?:may|can|allowed|permitted)\b", re.IGNORECASE)
_DATED: Final = frozenset(
    {"by", "until", "till", "from", "before", "after", "starting", "not before", "not after", "as of", "past"}
)
_TIMES: Final = (Moment, Hour, YearDay)
_WHEN: Final = frozenset({"over", "within", "beyond", "under", "above"})
_THE: Final = re.compile(r"\bthe\b", re.IGNORECASE)


def _fits(phrase: str, degree: str, named: Named) -> bool:
    """Say whether a phrase compares values of this kind: "by" does dates, "within" lengths of time."""
    first = " ".join(phrase.split())
    if first in _DATED:
        return isinstance(named.operand, _TIMES)
    if first == "within" and named.is_number:
        return False
    # "Over the three days" is when, and no limit.
    return not (first in _WHEN and isinstance(named.operand, Amount) and _THE.search(degree))


def _range(sentence: str, named: list[Named]) -> tuple[Predicate, str] | None:
    """Read "between 9 am and 5 pm", "from 5 to 10 km", "8-20 characters"."""
    for first, second in pairwise(named):
        gap = _AND.fullmatch(sentence, first.behind, second.start)
        opening = _BETWEEN.search(sentence, 0, first.start)
        if gap is None or (
            gap["mark"].lower() in {"and", "or"} and (opening is None or (opening["open"] or "").lower() != "between")
        ):
            continue
        if len(named) > 2:  # noqa: PLR2004 - the two ends
            raise NotUnderstoodError("it names more values than the two ends of a range")
        if _NEGATED.search(sentence):
            raise NotUnderstoodError("it denies a range")
        lasting.refuse_both_ends(sentence, first.operand)
        start = opening.start() if opening is not None and opening["open"] else first.start
        rest = f"{sentence[:start]} {_without_noun(sentence, second)}"
        return _between(sentence, rest, first, second)
    return None


def _between(sentence: str, rest: str, first: Named, second: Named) -> tuple[Predicate, str]:
    low, high = operand_of(first), operand_of(second)
    if second.noun and isinstance(low, Amount) and isinstance(high, Amount):
        counted = _count(sentence, rest, second.noun, Bounds(int(low.number), int(high.number)))
        if counted is not None:
            return counted
        rest = f"{rest} {second.noun}"
    try:
        ends = read_range(low, high)
    except PredicateError as error:
        raise NotUnderstoodError(f"the two ends of its range do not go together: {error.fault}") from None
    _refuse_ends(sentence, ends, first, second)
    total = ("total",) if _TOTAL.search(sentence) else ()
    return Predicate(PredicateName.BETWEEN, clauses.path_of(rest, *total), ends), "range"


def _refuse_ends(sentence: str, ends: Range, first: Named, second: Named) -> None:
    """Refuse a range that holds nothing, or whose first end may share the thousands or millions of the second."""
    if _ordinal(ends.low) > _ordinal(ends.high):
        raise NotUnderstoodError("its range ends before it begins")
    scales = [_SCALED.search(sentence, each.start, each.end) for each in (first, second)]
    if scales[1] is not None and scales[0] is None and _ordinal(ends.low) * _THOUSAND < _ordinal(ends.high):
        raise NotUnderstoodError("whether the first end of its range is of thousands or millions too is not plain")


_THOUSAND: Final = 1_000
_SCALED: Final = re.compile(r"\d\s?(?:thousand|million|billion|trillion|k|m|mn|bn|tn)\b", re.IGNORECASE)


def _ordinal(operand: object) -> float:
    match operand:
        case Amount():
            return float(in_base(operand).value)
        case Moment():
            return operand.at.timestamp()
        case Hour():
            return operand.minutes
        case YearDay():
            return operand.month * 31 + operand.day
        case _:
            return 0.0


def _without_noun(sentence: str, named: Named) -> str:
    return sentence[named.behind + (1 + len(named.noun) if named.noun else 0) :]


def _demand(sentence: str, bound: _Bound) -> tuple[Predicate, str]:
    """Return the predicate that a bounded value makes with the rest of its sentence."""
    operand = operand_of(bound.named)
    _refuse_unsure(sentence, bound, operand)
    behind = max(bound.end, bound.named.behind + (1 + len(bound.named.noun) if bound.named.noun else 0))
    rest = f"{sentence[: bound.start]} {sentence[behind:]}"
    if isinstance(operand, Amount) and bound.named.is_number:
        counted = _counted(sentence, rest, bound, operand)
        if counted is not None:
            return counted
        rest = f"{rest} {bound.named.noun}"
    if isinstance(operand, Amount) and operand.number < 0:
        raise NotUnderstoodError("its value is below zero")
    sign = _named_limit(sentence, bound)
    name, inclusive = _WAY[sign]
    if bound.sign == "=" and not bound.is_exact and _NEGATED.search(sentence):
        raise NotUnderstoodError("it denies a value, which can be meant in two ways")
    each = _EACH.search(rest) or _EACH_SUBJECT.match(rest)
    condition = f"per {each['each'].lower()}" if each is not None else ""
    rest = _EACH_SUBJECT.sub(" ", rest)
    if isinstance(operand, Amount) and (PER in operand.unit or operand.unit == "%"):
        condition = condition or _period_of_share(rest, operand)
        rest = _PERIOD.sub(" ", rest)
        operand = replace(operand, unit=above_line(operand.unit)) if _TOTAL.search(sentence) else operand
    edge = lasting.edge_of(sentence[: bound.named.start], operand)
    if edge is not None:
        path = clauses.path_from([*(clauses.names(rest) or ["time"]), edge.word])
        return Predicate(edge.name, path, operand, inclusive=True, condition=condition), "limit"
    distance = _DISTANCE.match(sentence, behind)
    if distance is not None and isinstance(operand, Amount):
        said_of_time = f"{sentence[bound.start : bound.named.start]} {sentence[bound.named.end : behind]}"
        if distance["way"].lower() == "before" and _LATE.search(said_of_time):
            name, inclusive = _WAY[_TURNED[sign]]  # no later than an hour before: the hour is the least
        named = [*clauses.names(sentence[: bound.start]), distance["way"].lower(), *clauses.names(distance["event"])]
        return Predicate(name, clauses.path_from(named), operand, inclusive=inclusive, condition=condition), "limit"
    bare = _EACH.sub(" ", rest)
    if each is not None and condition and all(word in _PERIODS for word in clauses.names(bare)):
        bare, condition = f"{condition.removeprefix('per ')} {bare}", ""
    path = _path(sentence, bare, operand)
    return Predicate(name, path, operand, inclusive=inclusive, condition=condition), "limit"


def _period_of_share(rest: str, operand: Amount) -> str:
    """Return "per year" of 5 % a year, which are not 5 % a month; an amount has its period in its unit."""
    period = _PERIOD.search(rest) if operand.unit == "%" else None
    return "" if period is None else f"per {period.group().split()[-1].lower()}"


def _refuse_unsure(sentence: str, bound: _Bound, operand: object) -> None:
    """Refuse a bound that may be no demand, or not on this value: a wrong predicate is worse than none."""
    if _RATIO.search(sentence):
        raise NotUnderstoodError("it limits one number by another, which no operator says")
    if _THAN.match(sentence, bound.named.behind):
        raise NotUnderstoodError("its value is the difference to something else")
    some = _ONLY_SOME.match(sentence)
    if some is not None and bound.start >= some.end():
        raise NotUnderstoodError("it says who alone may do something, and no limit")
    if _FOR_SOME.search(sentence, 0, bound.named.start):
        raise NotUnderstoodError("its value only says for which of them something holds")
    further = _AND_MORE.search(sentence, bound.end)
    if further is not None and (
        further["word"].lower() in BASE_VERBS or any(each.start > bound.end for each in read(sentence))
    ):
        raise NotUnderstoodError("it makes a second demand beside its limit")
    _refuse_doubtful(sentence, bound, operand)


_NOBODY: Final = re.compile(r"\W*(?:nobody|no[ -]one|none)\s*$", re.IGNORECASE)


def _refuse_doubtful(sentence: str, bound: _Bound, operand: object) -> None:
    """Refuse a value that may be another one than it seems."""
    if re.search(r"\bor\b", sentence[bound.end :], re.IGNORECASE):
        raise NotUnderstoodError("it leaves an alternative to its value")
    if bound.named.is_number and not bound.named.noun and _AT.search(sentence[: bound.named.start]):
        raise NotUnderstoodError('a number behind "at" may be a time of day: write 8:00 or 8 am')
    if isinstance(operand, Hour) and operand.minutes == 0 and bound.sign in {"<", "<="}:
        raise NotUnderstoodError("midnight ends one day and begins the next: write 24:00 or 23:59")
    if _NOBODY.match(sentence[: bound.start]):
        raise NotUnderstoodError("it says who may do something, not what a value has to be")
    if bound.start > 0 and _HAS_VERB.match(sentence, bound.end) and not _NEGATED.search(sentence[: bound.start]):
        raise NotUnderstoodError("what has such a value has to be, or to do, something else")
    written = sentence[bound.named.start : bound.named.end]
    if bound.named.is_number and not bound.named.noun and re.fullmatch(r"\d+\.\d*0", written):
        raise NotUnderstoodError("a number such as 3.10 may be a version, which is no number")
    if bound.named.is_number and not bound.named.noun and re.search(r":\s", sentence[: bound.start]):
        raise NotUnderstoodError("of what its number is so many stands apart from it")
    if isinstance(operand, Amount) and _VERSIONED.search(sentence) and bound.named.is_number:
        raise NotUnderstoodError("a version is no number, and no operator puts versions into an order")
    is_bare = bound.named.is_number and not bound.named.noun and not _YEAR.fullmatch(written)
    if is_bare and _LATER.match(sentence, bound.named.end):
        raise NotUnderstoodError("what is later than a bare number may be a version, which is no number")


_YEAR: Final = re.compile(r"[12]\d{3}")
_LATER: Final = re.compile(r",?\s+or\s+(?:later|newer|earlier|older)\b", re.IGNORECASE)
_NUMBER: Final = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|hundred)"
_RATIO: Final = re.compile(
    rf"\b(?:per|for\s+(?:every|each))\s+{_NUMBER}\b|\b(?:plus|minus)\s+(?:one|{_NUMBER})\b|"
    r"\bhalf\s+(?:as\b|again\b|the\s+(?:size|length|width|height|weight|price|cost|amount|number|time)\b)",
    re.IGNORECASE,
)
"""One number depends on another: "an adult for every ten children", "half of them plus one"."""
_THAN: Final = re.compile(rf"\s*(?:{_LARGER}|{_SMALLER}|dearer|slower|faster)\s+than\b", re.IGNORECASE)
"""Behind a value: "20 percent lower than last year's"."""
_ONLY_SOME: Final = re.compile(
    r"only\s+[a-z][^,;]*?\s(?:may|can|must|should|is\s+allowed|are\s+allowed)\b", re.IGNORECASE
)
_FOR_SOME: Final = re.compile(r"\bfor\s+(?!(?:the|an?)\s)[a-z-]+\s+(?:above|over|under|below|from)\s+\Z", re.IGNORECASE)
"""Before a value: "numerals for numbers above ten"."""
_AND_MORE: Final = re.compile(r"\band\s+(?P<word>\w+)", re.IGNORECASE)
_AT: Final = re.compile(r"\bat\s+\Z", re.IGNORECASE)


def _named_limit(sentence: str, bound: _Bound) -> str:
    """Return the sign of "the maximum weight is 25 kg": a value that is called a limit is one."""
    if bound.sign != "=" or bound.is_exact:
        return bound.sign
    if _CALLED_MOST.search(sentence):
        return "<="
    return ">=" if _CALLED_LEAST.search(sentence) else "="


_ADDED: Final = re.compile(
    r"\b(?:sums?|add(?:s|ed)?\s+up|combined|taken\s+together|(?<!of\s)(?<!of\sthe\s)total)\b", re.IGNORECASE
)
"""Shares that are added to each other."""
_CALLED_MOST: Final = re.compile(r"\b(?:maximum|max|highest|upper|largest|longest|ceiling|cap|limit)\b", re.IGNORECASE)
_CALLED_LEAST: Final = re.compile(r"\b(?:minimum|min|lowest|smallest|shortest|floor)\b", re.IGNORECASE)


def _path(sentence: str, rest: str, operand: object) -> Path:
    """Return what is limited: a total, a share of something, or an attribute."""
    if isinstance(operand, Amount) and operand.unit == "%":
        if _ADDED.search(sentence):
            return clauses.path_from(clauses.names(rest), "total")
        whole = _WHOLE.search(rest)
        if whole is not None:
            part = clauses.path_from(clauses.names(f"{rest[: whole.start()]} {rest[whole.end() :]}"))
            of_what = clauses.names(whole["whole"])
            return Path((*part.segments, "share_of_" + "_".join(of_what))) if of_what else part
        return clauses.path_from(clauses.names(rest))
    total = ("total",) if _TOTAL.search(sentence) and isinstance(operand, Amount) else ()
    unnamed = ["all"] if total else ["time"] if isinstance(operand, Hour) else []
    unnamed = ["date"] if isinstance(operand, (Moment, YearDay)) else unnamed
    return clauses.path_from(clauses.names(rest) or unnamed, *total)


def _counted(sentence: str, rest: str, bound: _Bound, operand: Amount) -> tuple[Predicate, str] | None:
    if not bound.named.noun or operand.number != operand.number.to_integral_value():
        return None
    number = int(operand.number)
    low, high = {
        "<": (None, number - 1), "<=": (None, number), ">": (number + 1, None), ">=": (number, None), "=": (number, number),
    }[bound.sign]  # fmt: skip
    if high is not None and high < 0:
        raise NotUnderstoodError("there cannot be fewer than none")
    return _count(sentence, rest, bound.named.noun, Bounds(low, high))


def _count(sentence: str, rest: str, noun: str, bounds: Bounds) -> tuple[Predicate, str] | None:
    """Return Count where the text itself is to have so many; ``None`` where something in it has them."""
    each = _EACH.search(rest) or _EACH_SUBJECT.match(rest)
    what = _LETTERS.get(noun.lower(), noun.lower())
    if _OF_OTHERS.search(rest):
        return None
    left = clauses.names(_EACH_SUBJECT.sub(" ", _EACH.sub(" ", rest)))
    subject = _SUBJECT.match(rest)
    kept = subject["word"].lower() if subject is not None else ""
    left = [word for word in clauses.says_of_document(left) if word not in _HAS or word == kept]
    in_each = each["each"].lower() if each is not None else ""
    none = _NO_PART.match(sentence)
    in_each = none["part"].lower() if none is not None else in_each
    if left == [in_each]:
        left = []
    if left:
        return None
    if what in COUNTED_PARTS and in_each not in {"", "sentence", "paragraph", "line", "item", "step", "bullet point"}:
        return None
    if _TOTAL.search(sentence) and what not in COUNTED_PARTS:
        return None
    return Predicate(PredicateName.COUNT, Text(what), bounds, condition=in_each), "count"
