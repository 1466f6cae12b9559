"""Events of a text in order: "A before B", "after B, A", "first A, then B", and what happened on a date (ADR 0070).

An event is named by its words: "the contract was signed" is ``contract sign``. What is denied or only possible puts
nothing into an order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from services.ercp.domain.predicates.facts import Condition, Interval, OrderFact, Span, Subject, ValueFact, Words
from services.ercp.domain.predicates.mentions import Mention
from services.ercp.domain.predicates.naming import event_words
from services.ercp.domain.predicates.values import CALENDAR

_REACH: Final = 300
"""So many characters to either side of a connective name an event."""
_MOST_WORDS: Final = 14
_CONNECTIVE: Final = re.compile(
    r"\b(?:(?P<before>before|prior\s+to|earlier\s+than|precedes?|preceded|ahead\s+of|(?:(?:is|was|are|were)\s+)?followed\s+by)"
    r"|(?P<after>after(?!\s+(?:that|this|all|which)\b)|later\s+than|follows|followed(?!\s+by)|subsequent\s+to|"
    r"once(?!\s+(?:every|an?|per|again|more)\b)))\b"
    r"|(?P<then>(?:(?<=[,;])\s+|\band\s+)(?:and\s+)?(?:then|subsequently|afterwards?|after\s+(?:that|this|which)|next(?!\s+to)|"
    r"finally|lastly|later(?!\s+than))\b(?!\s*,)|(?<=\w)\s+then\b(?!\s*,))",
    re.IGNORECASE,
)
_STOP: Final = re.compile(
    r"[;:()\n]|,(?!\d)|\s(?:because|since|so|therefore|which|but|while|whereas|although|if|unless|as|due\s+to|and\s+(?=[^,;]{1,60}\b(?:before|after|prior|precedes?|follows)\b))\s",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(
    r"\s*(?:first(?:ly)?|to\s+(?:begin|start)(?:\s+with)?|initially|step\s+(?:1|one))\b[\s,:.]*", re.IGNORECASE
)
_NEXT: Final = re.compile(
    r"\s*(?:and\s+)?(?:(?P<any>then|next|afterwards?|after\s+(?:that|this)|subsequently|following\s+(?:that|this))"
    r"|(?P<chained>second(?:ly)?|third(?:ly)?|fourth(?:ly)?|fifth(?:ly)?|finally|lastly|later|step\s+(?:[2-9]|\d\d|two|three|four|five)))\b[\s,:.]*",
    re.IGNORECASE,
)
_NOT_SAID: Final = re.compile(
    r"\b(?:not|never|may|might|could|would|perhaps|possibly|if|unless|whether|n['\u2019]t|cannot)\b|n['\u2019]t\b|\?",
    re.IGNORECASE,
)
_LAST_FIRST: Final = re.compile(r"(?<!\s)\s++first\Z", re.IGNORECASE)
"""In "engage the starter first"."""
_SPAN_OF_TIME: Final = re.compile(
    r"(?:\b(?:shortly|soon|immediately|just|long|right|directly|exactly|about|at\s+least|well)\b\s*|"
    r"\b(?:\d[\d,.]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|several|few)\s+"
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies))\s*)+\Z",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"(?P<event>.*?)(?<![\s,])[\s,]*+\b(?P<relation>on|in|at|by|before|after|until|since|during)\s++(?:the\s++)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_LEADING_DATE: Final = re.compile(r"\s*(?:on|in|at|by|since|during)\s+\Z", re.IGNORECASE)
_VERBLIKE: Final = re.compile(
    r"\b(?:is|was|were|are|be|will|\w+ed|began|took|ended|became|came|went|fell|rose|won|built|made|left|met|ran|held|sold|bought|"
    r"wrote|rang|flew|froze|gave|grew|led|lost|paid|said|saw|sent|spoke|spent|stood|taught|hit|set|broke|drew|found|got|kept|spread|took|happens?|occurs?|starts?|ends?|opens?|closes?|begins?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Event:
    words: Words
    text: str
    span: Span


def read_orders(text: str, sentences: Sequence[Span]) -> Iterator[OrderFact]:
    """Yield what the text puts before what, in text order."""
    last: _Event | None = None
    is_chain = False
    for sentence in sentences:
        said = text[sentence.start : sentence.end]
        if said.rstrip().endswith("?"):
            last, is_chain = None, False
            continue
        first, following = _FIRST.match(said), _NEXT.match(said)
        opening = first or following
        start = sentence.start + (opening.end() if opening else 0)
        events = list(_sequence(text, Span(start, sentence.end)))
        if following is not None and last is not None and events and (following["any"] or is_chain):
            yield from _edge(last, events[0], Span(last.span.start, events[0].span.end))
        for before, after in pairwise(events):
            yield from _edge(before, after, Span(before.span.start, after.span.end))
        yield from _connected(text, Span(start, sentence.end))
        is_chain = first is not None or (following is not None and (is_chain or bool(following["any"])))
        last = events[-1] if events else None


def _sequence(text: str, sentence: Span) -> Iterator[_Event]:
    """Yield the events of "A, then B, and finally C"; a sentence without "then" is one event."""
    start = sentence.start
    for match in _CONNECTIVE.finditer(text, sentence.start, sentence.end):
        if match["then"]:
            event = _event(text, start, match.start())
            if event is not None:
                yield event
            start = match.end()
    event = _event(text, start, sentence.end)
    if event is not None:
        yield event


def _connected(text: str, sentence: Span) -> Iterator[OrderFact]:
    """Yield what "before" and "after" put into order."""
    for match in _CONNECTIVE.finditer(text, sentence.start, sentence.end):
        if match["then"]:
            continue
        left = _left_of(text, sentence, match.start())
        right, end = _right_of(text, sentence, match.end())
        if left is None and end < sentence.end and text[end] == ",":
            # "Before B, A": the other event follows.
            left = _right_of(text, sentence, end + 1)[0]
        if left is None or right is None:
            continue
        span = Span(min(left.span.start, match.start()), max(left.span.end, right.span.end))
        yield from _edge(left, right, span) if match["before"] else _edge(right, left, span)


def _edge(before: _Event, after: _Event, span: Span) -> Iterator[OrderFact]:
    if frozenset(before.words) != frozenset(after.words):
        yield OrderFact(before.words, after.words, before.text, after.text, span)


def _left_of(text: str, sentence: Span, end: int) -> _Event | None:
    start = max(sentence.start, end - _REACH)
    for stop in _STOP.finditer(text, start, end):
        start = stop.end()
    for other in _CONNECTIVE.finditer(text, start, end):
        start = other.end()  # "A before B before C": B is what stands between
    return _event(text, start, end)


def _right_of(text: str, sentence: Span, start: int) -> tuple[_Event | None, int]:
    limit = min(sentence.end, start + _REACH)
    stop = _STOP.search(text, start, limit)
    end = stop.start() if stop else limit
    other = _CONNECTIVE.search(text, start, end)
    return _event(text, start, other.start() if other else end), end


def _event(text: str, start: int, end: int) -> _Event | None:
    piece = text[start:end]
    if len(piece) > _REACH or _NOT_SAID.search(piece):
        return None
    piece = _LAST_FIRST.sub("", _SPAN_OF_TIME.sub("", piece.rstrip(" ,.;:\n")))
    end = start + len(piece.rstrip(" ,.;:\n"))
    start += len(piece) - len(piece.lstrip(" ,.;:\n"))
    words = event_words(text[start:end])
    if not words or len(words) > _MOST_WORDS:
        return None
    return _Event(words, text[start:end], Span(start, end))


def read_dates(text: str, sentences: Sequence[Span], mentions: Sequence[Sequence[Mention]]) -> Iterator[ValueFact]:
    """Yield when the text says that something happened: "the contract was signed on 1 March 2024"."""
    for sentence, own in zip(sentences, mentions, strict=True):
        if text[sentence.start : sentence.end].rstrip().endswith("?"):
            continue
        start = sentence.start
        for mention in own:
            if mention.dimension != CALENDAR:
                continue
            fact = _dated(text, sentence, start, mention)
            if fact is not None:
                yield fact
            start = mention.span.end


def _dated(text: str, sentence: Span, start: int, mention: Mention) -> ValueFact | None:
    start = max(start, mention.span.start - _REACH)
    piece = text[start : mention.span.start]
    if _LEADING_DATE.fullmatch(piece):
        following = text[mention.span.end : min(sentence.end, mention.span.end + _REACH)]
        if not following.startswith(","):
            return None
        stop = _STOP.search(following, 1)
        start, end, relation = mention.span.end + 1, mention.span.end + (stop.start() if stop else len(following)), "on"
    else:
        match = _DATED.fullmatch(piece)
        if match is None:
            return None
        relation = match["relation"].lower()
        end = start + match.end("event")
        for stop in _STOP.finditer(text, start, end):
            start = stop.end()
        joined = re.compile(r"\s*(?:and|but|then)\s+", re.IGNORECASE).match(text, start, end)
        start = joined.end() if joined else start
    event = _event(text, start, end)
    if event is None or not _VERBLIKE.search(event.text):
        return None
    return _fact(text, event, relation, mention)


def _fact(text: str, event: _Event, relation: str, mention: Mention) -> ValueFact:
    day = mention.interval
    interval = {
        "before": Interval(high=day.low, high_closed=False),
        "by": Interval(high=day.high, high_closed=False),
        "until": Interval(high=day.high, high_closed=False),
        "after": Interval(low=day.high),
        "since": Interval(low=day.low),
    }.get(relation, day)
    return ValueFact(
        subject=Subject((), event.words),
        interval=interval,
        dimension=CALENDAR,
        text="",
        written=f"{relation} {text[mention.span.start : mention.span.end]}",
        number="",
        unit="",
        condition=Condition(),
        negated=False,
        approximate=False,
        span=Span(min(event.span.start, mention.span.start), max(event.span.end, mention.span.end)),
        value_span=mention.span,
    )
