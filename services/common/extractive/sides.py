"""Which side of "with" and "without" a question asks about, and on which a passage stands (ADR 0224).

To the encoders "eye drops with preservative" is as near to "eye drops without preservative" as the row that is asked
for, and a wrong row is worse than none. A passage that stands on the other side alone answers nothing. Rules over the
words; linear in the text.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.questions.kinds import Kind
from services.common.questions.reading import Question
from services.common.questions.terms import STOP_WORDS, plain_words, stem, terms
from services.common.reading.labelled_rows import LabelledCell, labelled_row

_READ_CHARS: Final = 2_000
_BOTH: Final = re.compile(r"\bwith(?:\s?(?:/|or|and|and/or)\s?|\s(?:or|and|and/or)\s)without\b", re.IGNORECASE)
_NAMED: Final = r"\s+(?P<named>[\w'\u2019-]{1,40}(?:\s+[\w'\u2019-]{1,40}){0,3})"
_HAS: Final = re.compile(rf"(?<!\bnot )\bwith{_NAMED}", re.IGNORECASE)
_LACKS: Final = re.compile(rf"\b(?:without|no|not\swith|not|lacking|free\sof|free\sfrom){_NAMED}", re.IGNORECASE)
_NON: Final = re.compile(r"\bnon[- ](?P<named>[a-z]{3,40})\b", re.IGNORECASE)
_FREE: Final = re.compile(r"\b(?P<named>[a-z]{3,40})-free\b", re.IGNORECASE)
_LEFT_OUT: Final = re.compile(
    r"\b(?:(?:those|ones?|others|the\srest|all\selse|only)\swith(?:out)?|without\s(?:one|it|them))\b", re.IGNORECASE
)
"""The other side is told in the same sentence, without the noun: "…, those without a week's", "only with a receipt"."""
_CONDITION: Final = re.compile(rf"\bwith(?:out)?{_NAMED}\W*\Z", re.IGNORECASE)
"""What a question closes with is under which condition it asks; behind its subject that may be what it is about."""
_OF_PERSONS: Final = re.compile(
    r"\A\W*\w{2,6}(?:n['\u2019]t)?\s(?:i|you|we|one|they|he|she|it|there|anyone)\b", re.IGNORECASE
)
_OWN_WORD: Final = re.compile(r"\b(?:without|non-|-free\b)", re.IGNORECASE)
_SKIPPED: Final = frozenset({"a", "an", "any", "the", "being", "having", "added", "yet", "been"})
_YES: Final = frozenset({"yes", "y", "true"})
_NO: Final = frozenset({"no", "n", "false"})
_MOST_NAMED: Final = 2


@dataclass(frozen=True, slots=True)
class _Sides:
    """Stems of what a text says is there, and of what it says is not."""

    has: frozenset[str]
    lacks: frozenset[str]


def stands_on_other_side(question: Question, text: str, *, is_row: bool) -> bool:
    """Say whether a passage holds for what the question excludes, or the other way round, and for nothing else.

    Args:
        question: as read.
        text: the passage.
        is_row: whether it is a row of a table, whose cells say on which side it stands without "with".
    """
    asked = _marked(question.text[-_READ_CHARS:])
    read = text[:_READ_CHARS]
    row = labelled_row(read) if is_row else ()
    if row:
        return _row_is_other(question, asked, row)
    if _LEFT_OUT.search(read) or _asks_whether_under(question):
        return False
    found = _marked(read)
    marked = bool(_OWN_WORD.search(question.text)) or bool(asked.has)
    return marked and bool((asked.lacks & found.has - found.lacks) | (asked.has & found.lacks - found.has))


def _asks_whether_under(question: Question) -> bool:
    """Say whether a question asks for yes or no under a condition: the other side of that answers, too."""
    found = _CONDITION.search(question.text[-_READ_CHARS:]) if question.kind is Kind.YES_NO else None
    if found is None:
        return False
    return _OF_PERSONS.match(question.text) is not None or len(set(plain_words(found["named"])) - _SKIPPED) == 1


def _row_is_other(question: Question, asked: _Sides, row: tuple[LabelledCell, ...]) -> bool:
    """Hold a row against the question: what its cells name without denying it is there."""
    has, lacks = set[str](), set[str]()
    asks_whether = question.kind is Kind.YES_NO
    for cell in row:
        said = cell.row[cell.column]
        if said.casefold() in _YES | _NO:
            # "Restricted: no" answers "is it restricted?", and is none of what is restricted.
            if question.kind in {Kind.LIST, Kind.NAME} or frozenset(terms(cell.head)) & asked.lacks:
                (has if said.casefold() in _YES else lacks).update(terms(cell.head))
            continue
        one = _marked(said)
        lacks |= one.lacks
        has |= one.has | (frozenset(terms(said)) - one.lacks)
    wanted = frozenset() if asks_whether else frozenset(terms(question.text)) - asked.lacks
    return bool((asked.lacks & has - lacks) | ((asked.has | wanted) & lacks - has))


def _marked(text: str) -> _Sides:
    """Return what the words "with", "without", "not", "non-" and "-free" say of a text."""
    read = _BOTH.sub(" ", text)
    lacks = {word for match in _LACKS.finditer(read) for word in _named(match["named"])}
    lacks |= {stem(match["named"]) for pattern in (_NON, _FREE) for match in pattern.finditer(read)}
    has = {word for match in _HAS.finditer(read) for word in _named(match["named"])}
    return _Sides(frozenset(has - lacks), frozenset(lacks - has))


def _named(text: str) -> list[str]:
    """Return the stems of the first words that name something, up to the next word that every text has."""
    found: list[str] = []
    for word in plain_words(text):
        if word in _SKIPPED:
            continue
        if word in STOP_WORDS or len(found) == _MOST_NAMED:
            break
        found.append(stem(word))
    return found
