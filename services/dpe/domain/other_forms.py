"""What a text gives in another form, and so is no fabrication (SPEC-005 §5.2, ADR 0016).

"A 5-night trip" for "5 nights", "under-16s" for "visitors under 16", "the 5th" for "the 5th of each month", "2025" for
"May 2025"; and, of the question, "5 pm" for "until 5", as people say hours. A word that is written large because it
opens a sentence or heads a column names nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.lexicon import IMPERATIVES
from services.common.reading.numerals import NUMBER_WORDS, parse_words, plain
from services.common.reading.text_types import Value
from services.common.reading.words import stem
from services.dpe.domain.rules.name_places import is_bidding

_PIECE: Final = re.compile(r"[^\W\d_]+|\d+")
_ORDINAL: Final = re.compile(r"\d(?:st|nd|rd|th)", re.IGNORECASE)
_DAY: Final = re.compile(r"(?:\d{4}-\d\d|--\d\d|--)-(?P<day>\d\d)")
_YEAR: Final = re.compile(r"(?P<year>\d{4})(?:-.{1,8})?")
_WITHOUT_HALF: Final = re.compile(r"[1-9](?::\d\d)?|1[0-2](?::\d\d)?")
"""An hour of twelve without the half of the day; "03:15" is one of twenty-four."""
_HALF_DAY: Final = 12
_DELIMITER: Final = re.compile(r"[|:\s]*-[-|:\s]*")
_MARKS: Final = " \t*_#>|-•–"  # noqa: RUF001 - marks of a list
_STOPS: Final = (".", "!", "?", ":")


@dataclass(frozen=True, slots=True)
class OtherForms:
    """What texts hold, in a form in which notation makes no difference.

    Attributes:
        streams: the words of each text and its numbers, as stems and digits.
        days, years: of the dates that the texts give.
    """

    streams: tuple[str, ...]
    days: frozenset[int]
    years: frozenset[int]

    @classmethod
    def of(cls, texts: Iterable[str], values: Iterable[Value]) -> "OtherForms":
        """Read texts whose values are known."""
        dates = [value.normal for value in values if value.kind is EntityKind.DATE]
        days = (match for date in dates if (match := _DAY.fullmatch(date)))
        years = (match for date in dates if (match := _YEAR.fullmatch(date)))
        return cls(
            tuple(f" {' '.join(_pieces(text))} " for text in texts),
            frozenset(int(match["day"]) for match in days),
            frozenset(int(match["year"]) for match in years),
        )

    def holds(self, value: Value) -> bool:
        """Say whether a compound of words and a number, a day of the month or a year stands in the texts."""
        if value.kind is EntityKind.OTHER and "-" in value.text:
            pieces = _pieces(value.text)
            if len(pieces) > 1 and pieces[-1] == "s":
                pieces = pieces[:-1]  # "under-16s"
            has_word = any(len(piece) > 1 and piece.isalpha() for piece in pieces)
            return has_word and any(f" {' '.join(pieces)} " in stream for stream in self.streams)
        if value.kind is not EntityKind.NUMBER or value.unit or value.counted or value.number is None:
            return False
        if _ORDINAL.search(value.text):
            return value.number in self.days
        return value.text.isdigit() and value.number in self.years


def _pieces(text: str) -> list[str]:
    found = [piece.lower() for piece in _PIECE.findall(text)]
    return [plain(parse_words(piece)) if piece in NUMBER_WORDS else stem(piece) for piece in found]


def spoken_hours(values: Iterable[Value]) -> Iterator[Value]:
    """Yield the times of day that a question may mean by numbers: "until 5", "from 1 to about 3:15"."""
    for value in values:
        is_number = value.kind is EntityKind.NUMBER and not value.unit and not value.counted
        if (is_number or value.kind is EntityKind.TIME) and _WITHOUT_HALF.fullmatch(value.text):
            hour, _, minutes = value.text.partition(":")
            for half in (0, _HALF_DAY):
                written = f"{int(hour) % _HALF_DAY + half:02}:{minutes or '00'}"
                yield Value(EntityKind.TIME, value.text, value.start, value.end, written)


def without_opening(answer: str, name: Entity) -> Entity:
    """Return a name without the verb that opens its sentence: "Contact Payroll" bids somebody ask Payroll."""
    first, _, rest = name.text.partition(" ")
    if not rest or first.lower() not in IMPERATIVES or not _opens(answer, name.start):
        return name
    return replace(name, text=rest, start=name.end - len(rest))


def is_common_word(answer: str, name: Entity, small: frozenset[str]) -> bool:
    """Say whether a single word that was taken for a name is written large for its place alone.

    Args:
        answer: the whole answer.
        name: without a known text that holds it.
        small: stems of words that the answer and its sources write small.
    """
    if len(name.text.split()) != 1:
        return False
    start, end = _line(answer, name.start)
    if answer[start:end].lstrip().startswith("|") and _DELIMITER.fullmatch(answer[slice(*_line(answer, end + 1))]):
        return True
    if not _opens(answer, name.start):
        return False
    return stem(name.text.lower()) in small or is_bidding(answer[name.start : end], 0, name.end - name.start)


def stems_of_small_words(texts: Sequence[str]) -> frozenset[str]:
    """Return the stems of the words that are written small."""
    return frozenset(stem(piece) for text in texts for piece in _PIECE.findall(text) if piece.islower())


def _line(text: str, at: int) -> tuple[int, int]:
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, len(text) if end < 0 else end


def _opens(text: str, at: int) -> bool:
    """Say whether a word opens a line, a cell, a sentence or what is set in bold."""
    before = text[_line(text, at)[0] : at]
    return not before.strip(_MARKS) or before.rstrip(_MARKS).endswith(_STOPS) or before.endswith(("**", "| "))
