"""Whether a text contains what it must, how many of something it has, whether its parts fit a pattern (ADR 0116).

Contains and NotContains of words are decided by the words. As a topic they are found where all telling words of it
stand in one sentence; what is said in other words stays open. Count and Matches look at what any text has (words,
sentences, items, dates …); of anything else Count takes what the text says or lists, when that is plain.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from services.common.keywords import Stemming, keywords
from services.common.ports.recognition import EntityKind
from services.common.reading.polarity import is_negated
from services.common.reading.sentences import sentences as read_sentences
from services.common.reading.terms import terms
from services.common.reading.text_types import SentenceKind
from services.common.reading.values import scan_values
from services.ercp.domain.predicates import kinds
from services.ercp.domain.predicates.aligning import places_of
from services.ercp.domain.predicates.describing import describe, said
from services.ercp.domain.predicates.facts import Evaluation, Holds, Span, TextFacts
from services.ercp.domain.predicates.layout import Block, Kind, blocks_of
from services.ercp.domain.predicates.model import Bounds, Predicate, PredicateName, Text
from services.ercp.domain.predicates.naming import stem_of
from services.ercp.domain.predicates.patterns import matches
from services.ercp.domain.predicates.reasons import claim_is_justified

_MOST_SPANS: Final = 8
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_PARAGRAPH: Final = re.compile(r"[^\n]+(?:\n(?![ \t]*\n)[^\n]+)*")
_LINE: Final = re.compile(r"^[^\S\n]*+\S[^\n]*", re.MULTILINE)
_SUBJECT: Final = re.compile(
    r"^[ \t]*(?:\*\*)?(?:subject|re)(?:\*\*)?\s?:(?:\*\*)?[ \t]*(?P<rest>\S[^\n]*)", re.IGNORECASE | re.MULTILINE
)
_MONTH: Final = (
    r"(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|Ma[yi]|June?|Juni|July?|Juli|Aug(?:ust)?|Sept?(?:ember)?"
    r"|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)"
)
_DATE: Final = re.compile(
    rf"(?<![\w.])(?:\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}}(?!\d)|\d{{1,2}}(?:st|nd|rd|th)?\.?\s(?:of\s)?{_MONTH}\b\.?(?:,?\s\d{{4}})?"
    rf"|{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?)(?!\w)"
)
_TIME: Final = re.compile(
    r"(?<![\w.:])(?:\d{1,2}[:.]\d\d\s?(?:[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?)(?![\w:])", re.IGNORECASE
)
_TIME_DOT: Final = re.compile(r"\d{1,2}\.\d\d")
_AMOUNT: Final = re.compile(r"(?<![\w.,:-])[-]?\d[\d,.]*\d|(?<![\w.,:-])\d")
_STEP: Final = re.compile(r"^[ \t]*(?P<mark>[-*•+]|\(?[\w.]{1,6}[.)]|\d{1,3}(?:\.\d{1,3})+\.?)[ \t]", re.MULTILINE)
_CONTACT: Final = re.compile(
    r"(?:(?<![\w.+-])[\w.+-]++|[\w.+-]{1,64}+)@[\w-]+(?:\.[\w-]+)+|(?<![\w/])\+?\d[\d ()/-]{6,20}\d"
)
_PATH: Final = re.compile(r"(?<![\w/.:)}<])(/[A-Za-z{][\w{}/.:-]{0,200}[\w}])")
_FIELD: Final = re.compile(r"""[\"'`]([A-Za-z_][\w-]{0,60})[\"'`]\s?:""")
_VERSION: Final = re.compile(r"(?<![\w.,$€£-])v?(\d{1,4}(?:\.\d{1,4}){1,3})(?![\w%]|[.,]\d|\s?(?:%|percent\b))")
_LIGHT: Final = frozenset(terms("word words line lines section text sentence part kind sort thing note information"))
_GENERIC: Final = frozenset({"item", "point", "bullet", "step", "entry", "row", "line", "option", "clause", "part"})
_PRICES: Final = terms("price prices pricing")
_FIELDS: Final = frozenset(stem_of(word) for word in ("field", "key", "column", "property", "attribute", "entry"))
"""What lines with a label and a colon are, each one."""
_CODE: Final = re.compile(r"(?<![\w./-])(?:\d+(?:-\d+)+|[A-Z]{1,6}-?\d{2,}(?:-\d+)*|\d{5,})(?![\w/-]|\.\d)")
"""A number that names one thing, such as 77-1904 or INV-2027: nothing else says it."""
_NOUN_REACH: Final = 3


def judge(predicate: Predicate, facts: TextFacts) -> Evaluation:
    """Hold a text against Contains, NotContains, Count or Matches."""
    return _RULES[predicate.name](predicate, facts)


def _contains(predicate: Predicate, facts: TextFacts) -> Evaluation:
    wanted = said(predicate.left)
    must = predicate.name is PredicateName.CONTAINS
    if predicate.is_topic:
        return _topic(wanted, facts, must=must)
    spans = list(_occurrences(wanted, facts.text))
    if must:
        if spans:
            return _told(Holds.TRUE, spans, f'the text contains "{wanted}"')
        return Evaluation(Holds.FALSE, (), f'the text does not contain "{wanted}"')
    if spans:  # "There is no guarantee" has the word, too
        return _told(Holds.FALSE, spans, f'the text contains "{wanted}"')
    return Evaluation(Holds.TRUE, (), f'the text does not contain "{wanted}"')


def _occurrences(wanted: str, text: str) -> Iterator[Span]:
    """Yield where words stand one behind another, whatever their endings; signs as they are."""
    sought = [_compared(word) for word in _WORD.findall(wanted)]
    if not sought:
        yield from (Span(*match.span()) for match in re.finditer(re.escape(wanted), text))
        return
    found = [(_compared(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]
    words = [word for word, _, _ in found]
    for at, word in enumerate(words):
        if word == sought[0] and words[at : at + len(sought)] == sought:
            yield Span(found[at][1], found[at + len(sought) - 1][2])


def _compared(word: str) -> str:
    found = keywords(word, Stemming.ENGLISH) if word.isalpha() else []
    return found[0] if len(found) == 1 else word.casefold()


def _explained(wanted: str, question: re.Match[str], facts: TextFacts) -> Evaluation:
    """Say whether a text says why: where it gives a reason for it. How something is done no words alone show."""
    if question["word"].lower() == "why":
        answer = claim_is_justified(Text(wanted[question.end() :]), facts)
        if answer.holds is Holds.TRUE:
            return answer
    return Evaluation(Holds.UNKNOWN, (), f"no rule tells whether the text explains {wanted}")


_QUESTION: Final = re.compile(r"(?P<word>how|why)\s+(?!(?:much|many|long|often|far|soon|old)\b)(?=\S)", re.IGNORECASE)
_NOT_KNOWN: Final = re.compile(
    r"\b(?:(?:not|n['\u2019]t|never|nobody|no\s+one|none\s+of\s+\w+)\s+(?:yet\s+)?knows?|not\s+(?:yet\s+)?(?:been\s+)?(?:known|clear|told|decided)|"
    r"unknown|unclear|no\s+idea|(?:cannot|can['\u2019]t|can\s+not)\s+(?:say|tell|give|find))\b",
    re.IGNORECASE,
)
"""What a sentence of these speaks of it does not tell."""


def _topic(wanted: str, facts: TextFacts, *, must: bool) -> Evaluation:
    """Find a topic where all its telling words stand in one sentence; in other words it may stand anywhere."""
    question = _QUESTION.match(wanted)
    if must and question is not None:
        return _explained(wanted, question, facts)
    sought = terms(wanted) - _LIGHT or terms(wanted)
    members = [] if must else list(_members(wanted, sought, facts))
    if members:
        word, span = members[0]
        return _told(Holds.FALSE, [span], f"the text speaks of {word}, which is {wanted}")
    codes = _CODE.findall(wanted) if must else []
    if codes and all(code not in facts.text for code in codes):
        return Evaluation(Holds.FALSE, (), f"the text nowhere has {codes[0]}")
    for sentence in facts.sentences:
        said_here = facts.text[sentence.start : sentence.end]
        if not sought or not sought <= terms(said_here):
            continue
        if must and _NOT_KNOWN.search(said_here):
            continue
        if must:
            return _told(Holds.TRUE, [sentence], f"the text speaks of {wanted}")
        if not is_negated(_around(said_here, sought)):
            return _told(Holds.FALSE, [sentence], f"the text speaks of {wanted}")
    return Evaluation(Holds.UNKNOWN, (), f"the text does not speak of {wanted} in these words; it may in others")


def _members(wanted: str, sought: frozenset[str], facts: TextFacts) -> Iterator[tuple[str, Span]]:
    """Yield what belongs to the kind that is forbidden: beer is alcohol, an amount of money is a price."""
    yield from kinds.named(facts, kinds.of_kind(wanted))
    if sought and sought <= _PRICES:
        for value in scan_values(facts.text):
            if value.kind is EntityKind.MONEY:
                yield value.text, Span(value.start, value.end)


def _around(sentence: str, sought: frozenset[str]) -> str:
    """Return the part of a sentence between commas that holds the words of a topic, or all of it."""
    parts = [part for part in re.split(r"[,;:]\s", sentence) if terms(part) & sought]
    return parts[0] if len(parts) == 1 else sentence


def _count(predicate: Predicate, facts: TextFacts) -> Evaluation:
    bounds = predicate.right
    assert isinstance(bounds, Bounds)
    what = said(predicate.left)
    counter = _COUNTERS.get(what)
    if counter is None:
        return _counted_things(predicate, bounds, what, facts)
    if not predicate.condition:
        return _counts(predicate, bounds, [(counter(facts.text), Span(0, len(facts.text)))])
    parts = _parts(predicate.condition, facts)
    if parts is None:
        return Evaluation(Holds.UNKNOWN, (), f"what a {predicate.condition} of this text is, is not known")
    return _counts(predicate, bounds, [(counter(facts.text[span.start : span.end]), span) for span in parts])


def _counts(predicate: Predicate, bounds: Bounds, found: Sequence[tuple[int, Span]]) -> Evaluation:
    wrong = [(number, span) for number, span in found if not _allows(bounds, number)]
    if wrong:
        number, span = wrong[0]
        why = f"there are {number:,} {said(predicate.left)}, demanded is {said(bounds)}"
        return Evaluation(Holds.FALSE, (span,), why)
    if not found:
        return Evaluation(Holds.UNKNOWN, (), f"there is nothing to count: {describe(predicate)}")
    numbers = ", ".join(f"{number:,}" for number, _ in found[:_MOST_SPANS])
    return _told(Holds.TRUE, [span for _, span in found], f"there are {numbers} {said(predicate.left)}")


def _allows(bounds: Bounds, number: int) -> bool:
    return (bounds.low is None or number >= bounds.low) and (bounds.high is None or number <= bounds.high)


def _words_in(text: str) -> int:
    return len(_WORD.findall(text))


def _characters_in(text: str) -> int:
    return len(text.strip())


def _sentences_in(text: str) -> int:
    return sum(each.kind is not SentenceKind.HEADING for each in read_sentences(text))


def _paragraphs_in(text: str) -> int:
    return sum(1 for _ in _PARAGRAPH.finditer(text))


def _lines_in(text: str) -> int:
    return sum(1 for _ in _LINE.finditer(text))


def _items_in(text: str) -> int:
    return sum(1 for _ in _STEP.finditer(text))


def _counter_of(sign: str) -> Callable[[str], int]:
    return lambda text: text.count(sign)


_COUNTERS: Final[Mapping[str, Callable[[str], int]]] = {
    "exclamation marks": _counter_of("!"),
    "question marks": _counter_of("?"),
    "semicolons": _counter_of(";"),
    "hashtags": _counter_of("#"),
    "words": _words_in,
    "characters": _characters_in,
    "sentences": _sentences_in,
    "paragraphs": _paragraphs_in,
    "lines": _lines_in,
    "items": _items_in,
}


def _parts(each: str, facts: TextFacts) -> list[Span] | None:
    """Return the parts of a text in each of which something is counted."""
    if each == "sentence":
        return list(facts.sentences)
    if each in {"line", "paragraph"}:
        pattern = _LINE if each == "line" else _PARAGRAPH
        return [Span(*match.span()) for match in pattern.finditer(facts.text)]
    if each in {"item", "step", "bullet point", "point"}:
        return [row.span for block in blocks_of(facts) if block.kind is Kind.LIST for row in block.rows]
    return None


def _counted_things(predicate: Predicate, bounds: Bounds, what: str, facts: TextFacts) -> Evaluation:
    """Count what the text says it has ("there are three flights"), or what its only fitting list holds."""
    sought = terms(what)
    if predicate.condition:
        return _in_rows(predicate, bounds, facts)
    told = [
        place
        for place in places_of(facts)
        if place.value.kind is EntityKind.NUMBER
        and place.value.number is not None
        and place.value.number == int(place.value.number)
        and sought
        and sought <= terms(" ".join(_behind(facts.text, place.value.end)))
        and not place.negated
        and not place.each
        and place.side is None
    ]
    numbers = {int(place.value.number or 0) for place in told}
    if len(numbers) == 1:
        found = [(numbers.pop(), Span(place.value.start, place.value.end)) for place in told[:1]]
        return _counts(predicate, bounds, found)
    heads = what.split()
    is_field = bool(heads) and stem_of(heads[-1]) in _FIELDS
    is_split = bool(heads) and stem_of(heads[-1]) in _SPLIT_INTO
    lists = [
        block
        for block in blocks_of(facts)
        if is_field or block.kind is not Kind.ROWS or (is_split and _share_of(block, facts) > _NEARLY_ALL)
    ]
    block = lists[0] if len(lists) == 1 and not numbers else None
    if block is None or not _is_list_of(sought, what, block, facts):
        return Evaluation(Holds.UNKNOWN, (), f"how many {what} there are, the text neither says nor lists plainly")
    span = Span(block.rows[0].span.start, block.rows[-1].span.end)
    number = _of_their_kind(what, block)
    if number is None:
        return Evaluation(Holds.UNKNOWN, (), f"which of the rows are {what}, the text does not say plainly")
    return _counts(predicate, bounds, [(number, span)])


def _of_their_kind(what: str, block: Block) -> int | None:
    """Return how many rows are counted: in a table with a column of them, those of which a cell says what they are."""
    sought, head = terms(what), terms(what.rsplit(maxsplit=1)[-1])
    near = terms(" ".join((block.intro, *block.heads)))
    told = sought - head - near
    if block.kind is not Kind.TABLE or not told or not head & near:
        return len(block.rows)
    fitting = sum(any(terms(cell) == told for cell in row.cells) for row in block.rows)
    return fitting or None


def _behind(text: str, end: int) -> list[str]:
    return [match.group() for match in _WORD.finditer(text[end : end + 80].split("\n", maxsplit=1)[0])][:_NOUN_REACH]


def _is_list_of(sought: frozenset[str], what: str, block: Block, facts: TextFacts) -> bool:
    """Say whether a list is one of these things: its head or the line before names them, or nothing else is listed."""
    near = " ".join((block.intro, *block.heads))
    heads = what.split()
    is_generic = stem_of(heads[-1]) in {stem_of(word) for word in _GENERIC}
    is_most = block.kind is Kind.LIST and _share_of(block, facts) > _MOSTLY
    return is_generic or bool(sought & terms(near)) or is_most or stem_of(heads[-1]) in _SPLIT_INTO


def _share_of(block: Block, facts: TextFacts) -> float:
    return sum(row.span.end - row.span.start for row in block.rows) / max(1, len(facts.text.strip()))


_SPLIT_INTO: Final = frozenset(stem_of(word) for word in ("category", "part", "section", "group", "phase", "block"))
"""What rows with labels are when they are all of a text."""
_NEARLY_ALL: Final = 0.85
_MOSTLY: Final = 0.5
"""A list that is so much of a text is what the text is there to list."""
_LISTED: Final = re.compile(r",\s*(?:and\s+)?|(?<!\s)\s++(?:and\s+|[&/+]\s*)|[&/+]\s*|;\s*")
_ALONE: Final = re.compile(r"\b(?:on (?:her|his|their) own|alone)\b", re.IGNORECASE)


def _in_rows(predicate: Predicate, bounds: Bounds, facts: TextFacts) -> Evaluation:
    """Count the names in each row: "Monday: Omar, Ruth"."""
    rows = [row for block in blocks_of(facts) if block.kind is Kind.ROWS for row in block.rows]
    found = []
    for row in rows:
        names = [part for part in _LISTED.split(row.body.rstrip(".")) if part]
        if _ALONE.search(row.body):
            names = names[:1]
        elif any(len(part.split()) > 2 or not part[:1].isupper() for part in names):  # noqa: PLR2004 - a name
            return Evaluation(Holds.UNKNOWN, (), f"what each {predicate.condition} has is not listed plainly")
        found.append((len(names), row.span))
    return _counts(predicate, bounds, found)


def _matches(predicate: Predicate, facts: TextFacts) -> Evaluation:
    part = predicate.right
    assert isinstance(part, Text)
    pattern = said(predicate.left)
    found = list(_MATCHED[part.text](facts))
    wrong = [span for span in found if not matches(pattern, facts.text[span.start : span.end])]
    if wrong:
        example = facts.text[wrong[0].start : wrong[0].end][:80]
        return _told(Holds.FALSE, wrong, f'"{example}" does not match the pattern {pattern}')
    if not found:
        return Evaluation(Holds.UNKNOWN, (), f"the text has no {part.text}")
    return _told(Holds.TRUE, found, f"every {part.text} matches the pattern {pattern}")


def _whole(facts: TextFacts) -> Iterator[Span]:
    text = facts.text
    start = len(text) - len(text.lstrip())
    yield Span(start, max(start, len(text.rstrip())))


def _lines(facts: TextFacts) -> list[Span]:
    found = []
    for match in _LINE.finditer(facts.text):
        line = match.group()
        found.append(Span(match.start() + len(line) - len(line.lstrip()), match.start() + len(line.rstrip())))
    return found


def _dates(facts: TextFacts) -> Iterator[Span]:
    yield from (Span(*match.span()) for match in _DATE.finditer(facts.text))


def _times(facts: TextFacts) -> Iterator[Span]:
    for match in _TIME.finditer(facts.text):
        if not _TIME_DOT.fullmatch(match.group().strip()):  # 7.30 may be an amount
            yield Span(match.start(), match.start() + len(match.group().rstrip()))


def _amounts(facts: TextFacts) -> Iterator[Span]:
    """Yield amounts of money, and the numbers that rows end with."""
    taken = [(value.start, value.end) for value in scan_values(facts.text) if value.kind is EntityKind.MONEY]
    for start, end in taken:
        number = _AMOUNT.search(facts.text, start, end)
        if number is not None:
            yield Span(*number.span())
    for block in blocks_of(facts):
        for row in block.rows:
            number = re.search(r"(?<![\w.,:-])\d[\d,.]*\s*\Z", facts.text[row.span.start : row.span.end].rstrip("| "))
            if block.kind is not Kind.LIST and number is not None:
                start = row.span.start + number.start()
                yield Span(start, start + len(number.group().strip()))


def _steps(facts: TextFacts) -> Iterator[Span]:
    for match in _STEP.finditer(facts.text):
        yield Span(*match.span("mark"))


def _subjects(facts: TextFacts) -> Iterator[Span]:
    match = _SUBJECT.search(facts.text)
    if match is not None:
        yield Span(match.start("rest"), match.start("rest") + len(match["rest"].rstrip()))


def _contacts(facts: TextFacts) -> Iterator[Span]:
    yield from (Span(*match.span()) for match in _CONTACT.finditer(facts.text))


def _headings(facts: TextFacts) -> Iterator[Span]:
    for sentence in read_sentences(facts.text):
        if sentence.kind is SentenceKind.HEADING:
            yield Span(sentence.start, sentence.end)


def _spans(pattern: re.Pattern[str], facts: TextFacts) -> list[Span]:
    return [Span(*match.span(1)) for match in pattern.finditer(facts.text)]


_MATCHED: Final[Mapping[str, Callable[[TextFacts], Iterator[Span] | Sequence[Span]]]] = {
    "text": _whole,
    "line": _lines,
    "first line": lambda facts: _lines(facts)[:1],
    "last line": lambda facts: _lines(facts)[-1:],
    "subject": _subjects,
    "sentence": lambda facts: facts.sentences,
    "heading": _headings,
    "item": lambda facts: [row.span for block in blocks_of(facts) if block.kind is Kind.LIST for row in block.rows],
    "step": _steps,
    "date": _dates,
    "time": _times,
    "amount": _amounts,
    "contact": _contacts,
    "path": lambda facts: _spans(_PATH, facts),
    "field": lambda facts: _spans(_FIELD, facts),
    "version": lambda facts: _spans(_VERSION, facts),
}


def _told(holds: Holds, spans: Sequence[Span], why: str) -> Evaluation:
    return Evaluation(holds, tuple(spans[:_MOST_SPANS]), why)


_RULES: Final[Mapping[PredicateName, Callable[[Predicate, TextFacts], Evaluation]]] = {
    PredicateName.CONTAINS: _contains,
    PredicateName.NOT_CONTAINS: _contains,
    PredicateName.COUNT: _count,
    PredicateName.MATCHES: _matches,
}
