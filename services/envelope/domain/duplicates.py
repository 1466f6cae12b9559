"""Two facts with nearly the same vector are duplicates only if they state the same values (SPEC-003 §6.6, ADR 0063).

"The limit is 30 days" and "The limit is 60 days" are nearly one vector: a rule that goes by vectors alone drops one
of them, and the envelope then hides a contradiction or the newer figure. So values are compared first. When unsure
the facts count as different: a duplicate that is kept costs a few tokens, a fact that is dropped is never seen.

Values are read as the rest of the system reads them (``services.common.grounding``): scale words, per cent, currencies,
days of the year, negations and opposites by stems. Linear in the text; nothing of it is kept after the call.

Five hundred facts that are all alike make 125,000 pairs. So a text is read once at most, and only as far as a pair
asks: figures and dates first, words where those are the same, names where the words differ. A pair is a few bits then.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from services.common.grounding.numbers import CURRENCY, PERCENT, quantities
from services.common.grounding.polarity import NEGATIONS, PAIRS_OF_OPPOSITES, opposite_sides
from services.common.grounding.words import STOP_WORDS, stem, stems, words

Places: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Bits: TypeAlias = NDArray[np.uint64]

_DAY: Final = 86_400.0
_UNITS: Final = {
    "second": (1.0, "s"), "minute": (60.0, "s"), "hour": (3600.0, "s"), "day": (_DAY, "s"), "week": (7 * _DAY, "s"),
    "month": (1.0, "month"), "quarter": (3.0, "month"), "year": (12.0, "month"),
    "millimetre": (1e-3, "m"), "centimetre": (1e-2, "m"), "metre": (1.0, "m"), "kilometre": (1e3, "m"),
    "milligram": (1e-6, "kg"), "gram": (1e-3, "kg"), "kilogram": (1.0, "kg"), "tonne": (1e3, "kg"),
    "byte": (1.0, "B"), "kilobyte": (1e3, "B"), "megabyte": (1e6, "B"), "gigabyte": (1e9, "B"), "terabyte": (1e12, "B"),
}  # fmt: skip
"""Units with their size in the unit that they are compared in. A month is no fixed number of days."""
_SPELLINGS: Final = {
    "sec": "second", "min": "minute", "hr": "hour", "h": "hour", "wk": "week", "yr": "year",
    "mm": "millimetre", "cm": "centimetre", "km": "kilometre", "meter": "metre", "kilometer": "kilometre",
    "millimeter": "millimetre", "centimeter": "centimetre",
    "mg": "milligram", "g": "gram", "kg": "kilogram", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte",
    "tb": "terabyte",
}  # fmt: skip
_UNIT_OF_STEM: Final = {stem(name): unit for name, unit in _UNITS.items()} | {
    name: _UNITS[unit] for name, unit in _SPELLINGS.items()
}
_UNIT_AFTER: Final = re.compile(
    r"[\s-]{0,3}(?:(?P<kind>working|business|calendar|consecutive)\s)?(?P<word>[^\W\d_]{1,12})", re.IGNORECASE
)
_ONE: Final = re.compile(r"\bone(?=[\s-])", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?:^|[.!?:\n])[\s\"'\u201c(]{0,4}$")
_LOOK_BACK: Final = 5
_WORKING: Final = frozenset({"working", "business"})
_MONTHS: Final = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)  # noqa: SIM905
}
_MONTH: Final = (  # (?a:…): a word that is looked up has no other script's letters
    r"(?a:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH_NAMES: Final = frozenset(  # all that _MONTH takes
    """jan january feb february mar march apr april may jun june jul july aug august sep sept september sepember october
    oct november nov december dec""".split()  # noqa: SIM905 - a word list
)
_ISO_DATE: Final = re.compile(r"\d{4}-[01]\d")
_RUN: Final = re.compile(r"\w+")
_DATE: Final = re.compile(
    r"(?<!\d)(?P<y1>\d{4})-(?P<m1>[01]\d)-(?P<d1>[0-3]\d)(?!\d)"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m2>{_MONTH})\b\.?(?:,?\s(?P<y2>\d{{4}}))?(?!\d)"
    rf"|\b(?P<m3>{_MONTH})\.?\s(?P<d3>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y3>\d{{4}})\b)?(?![\d:.,]\d)"
    rf"|\b(?P<m4>{_MONTH})\.?,?\s(?:of\s)?(?P<y4>\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_CURRENCIES: Final = {
    "$": "USD", "dollars": "USD", "usd": "USD", "\u20ac": "EUR", "euros": "EUR", "eur": "EUR",
    "\u00a3": "GBP", "pounds": "GBP", "gbp": "GBP", "\u00a5": "JPY", "yen": "JPY",
}  # fmt: skip
_CURRENCY: Final = re.compile(f"(?a:{'|'.join(map(re.escape, _CURRENCIES))})", re.IGNORECASE)
_SIDES: Final = (
    (frozenset({"must", "shall"}), frozenset({"may", "can"})),  # obliged, permitted
    (frozenset({"least", "minimum"}), frozenset({"most", "maximum"})),  # bounded from below, from above
)
_COMMON_ENDINGS: Final = ("s", "ly", "ing", "ed")
"""Capitalised at the beginning of a sentence, a word with one of these is seldom a name."""


def differ_in_values(first: str, second: str) -> bool:
    """Say whether two texts that are alike state different values, so that neither makes the other superfluous.

    They do when their figures or dates are not the same set, when one alone is negated, when words of the one stand
    against words of the other (``accept``, ``reject``; ``must``, ``may``; ``at least``, ``at most``), or when each has
    a name that the other lacks. Symmetric. Who has many pairs asks ``Statements``.
    """
    return bool(Statements((first, second)).differ(np.array([0]), np.array([1]))[0])


class Statements:
    """What the texts of one ranking state; each is read once, when a pair first asks for it.

    Args:
        texts: pairs name them by their place.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        count = len(texts)
        self._values = _Codes(count)
        self._words = _Codes(count)
        self._stems: list[frozenset[str]] = [frozenset()] * count
        self._negated = np.zeros(count, dtype=np.bool_)
        self._sides = np.zeros((2, count), dtype=np.uint64)
        self._names: dict[int, frozenset[str]] = {}
        self._namings = Namings((), ())
        self._local = np.full(count, -1, dtype=np.intp)  # places in it: it has the texts of the latest pairs alone

    def differ(self, firsts: Places, seconds: Places) -> Mask:
        """Say of each pair of places what ``differ_in_values`` says of its two texts."""
        for place in self._values.missing(firsts, seconds):
            self._values.put(place, stated_values(self._texts[place]))
        differ = ~self._values.same(firsts, seconds)
        unsettled = np.flatnonzero(~differ)
        firsts, seconds = firsts[unsettled], seconds[unsettled]
        for place in self._words.missing(firsts, seconds):
            self._read_words(place)
        left, right = self._sides
        apart = (left[firsts] & right[seconds]) | (right[firsts] & left[seconds])
        found = np.logical_or(self._negated[firsts] != self._negated[seconds], apart != 0)
        unnamed = np.flatnonzero(~found & ~self._words.same(firsts, seconds))
        if len(unnamed):
            found[unnamed] = self._name_apart(firsts[unnamed], seconds[unnamed])
        differ[unsettled] = found
        return differ

    def _read_words(self, place: int) -> None:
        found = self._stems[place] = frozenset(stems(self._texts[place]))
        self._words.put(place, found)
        self._negated[place] = not NEGATIONS.isdisjoint(found)
        left, right = opposite_sides(found)
        for pair, sides in enumerate(_SIDES, start=PAIRS_OF_OPPOSITES):
            one, other = (not members.isdisjoint(found) for members in sides)
            left, right = left | one << pair, right | other << pair
        self._sides[:, place] = left & ~right, right & ~left  # who has both sides stands against nobody

    def _name_apart(self, firsts: Places, seconds: Places) -> Mask:
        """Say of each pair whether each names something that the other does not mention."""
        marked = _marked(len(self._texts), firsts, seconds)
        if (self._local[marked] < 0).any():
            places: list[int] = np.flatnonzero(marked).tolist()
            for place in places:
                if place not in self._names:
                    self._names[place] = frozenset(_names(self._texts[place]))
            self._local = np.where(marked, np.cumsum(marked) - 1, -1)
            self._namings = Namings([self._names[place] for place in places], [self._stems[place] for place in places])
        return self._namings.lack_each_other(self._local[firsts], self._local[seconds])


def stated_values(text: str) -> frozenset[str]:
    """Return the dates and the figures with their unit, in a form in which equal values are equal."""
    runs = frozenset(_RUN.findall(text.lower()))
    values: set[str] = set()
    if not _MONTH_NAMES.isdisjoint(runs) or ("-" in text and _ISO_DATE.search(text)):
        values.update(map(_date, _DATE.finditer(text)))
        text = _DATE.sub(_blank, text) if values else text
    values.update(_figures(text, has_one="one" in runs))
    return frozenset(values)


_WORD_BITS: Final = 64
_NAMES_AT_ONCE: Final = 64 * _WORD_BITS
_WORDS_AT_ONCE: Final = 1 << 20
"""Machine words of names that are compared at once, 8 MiB: few pairs at a time of texts that hold many names."""
_BITS_KEPT: Final = 1 << 28
"""Names times texts up to which the bits of both are kept, 64 MiB; beyond, they are made for every comparison."""


class Namings:
    """What some texts name and mention.

    Args:
        names: of each text; all of them are mentioned in it.
        mentioned: all stems of each text.
    """

    def __init__(self, names: Sequence[frozenset[str]], mentioned: Sequence[frozenset[str]]) -> None:
        self._names, self._mentioned = names, mentioned
        counts = Counter(name for found in mentioned for name in found)
        self._lacked = sorted({name for found in names for name in found if counts[name] < len(mentioned)})
        keeps = len(names) * len(self._lacked) <= _BITS_KEPT
        self._kept = list(self._bits()) if keeps else None

    def lack_each_other(self, firsts: Places, seconds: Places) -> Mask:
        """Say of each pair of places whether each of the two has a name that the other does not mention."""
        lacks = np.zeros((2, len(firsts)), dtype=np.bool_)
        for own, lacking in self._bits() if self._kept is None else self._kept:
            step = max(1, _WORDS_AT_ONCE // own.shape[1])
            for pair in range(0, len(firsts), step):
                part = slice(pair, pair + step)
                one, other = firsts[part], seconds[part]
                lacks[0, part] |= (own[one] & lacking[other]).any(axis=1)
                lacks[1, part] |= (own[other] & lacking[one]).any(axis=1)
        both: Mask = np.logical_and(*lacks)
        return both

    def _bits(self) -> Iterator[tuple[Bits, Bits]]:
        """Yield the names that each text has and those that it does not mention, some names after the other."""
        for start in range(0, len(self._lacked), _NAMES_AT_ONCE):
            some = {name: bit for bit, name in enumerate(self._lacked[start : start + _NAMES_AT_ONCE])}
            yield _bits(self._names, some), ~_bits(self._mentioned, some)


def _bits(sets: Sequence[frozenset[str]], places: dict[str, int]) -> Bits:
    """Return for each set which of the named places it holds, as bits of machine words."""
    width = -(-len(places) // _WORD_BITS) * _WORD_BITS
    held = np.zeros((len(sets), width), dtype=np.bool_)
    for row, members in enumerate(sets):
        held[row, [places[name] for name in members & places.keys()]] = True
    return np.packbits(held, axis=1).view(np.uint64)


class _Codes:
    """A number for each place, the same for equal values; places get theirs one after the other."""

    def __init__(self, count: int) -> None:
        self._codes = np.full(count, -1, dtype=np.int64)
        self._known: dict[Hashable, int] = {}

    def put(self, place: int, value: Hashable) -> None:
        self._codes[place] = self._known.setdefault(value, len(self._known))

    def missing(self, firsts: Places, seconds: Places) -> list[int]:
        """Return the places of these pairs that have no number yet."""
        found: list[int] = np.flatnonzero(_marked(len(self._codes), firsts, seconds) & (self._codes < 0)).tolist()
        return found

    def same(self, firsts: Places, seconds: Places) -> Mask:
        same: Mask = self._codes[firsts] == self._codes[seconds]
        return same


def _marked(count: int, firsts: Places, seconds: Places) -> Mask:
    """Say of each place whether one of the pairs has it."""
    marked = np.zeros(count, dtype=np.bool_)
    marked[firsts] = marked[seconds] = True
    return marked


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _date(match: re.Match[str]) -> str:
    part = {name[0]: text for name, text in match.groupdict().items() if text}
    month = part["m"]
    number = int(month) if month.isdecimal() else _MONTHS[month[:3].lower()]
    return f"date {part.get('y', '')}-{number:02d}-{int(part.get('d', 0)):02d}"


def _figures(text: str, *, has_one: bool) -> Iterator[str]:
    for figure in quantities(text):
        if figure.unit == CURRENCY:
            sign = _CURRENCY.search(text, figure.start, figure.end)
            yield f"{figure.value!r} {_CURRENCIES[sign.group().lower()] if sign else CURRENCY}"
        elif figure.unit == PERCENT:
            yield f"{figure.value!r} {PERCENT}"
        else:
            size, unit = _unit_after(text, figure.end)
            yield f"{figure.value * size!r} {unit}"
    for match in _ONE.finditer(text) if has_one else ():  # elsewhere it is a pronoun more often than a number
        size, unit = _unit_after(text, match.end())
        if unit:
            yield f"{size!r} {unit}"


def _unit_after(text: str, end: int) -> tuple[float, str]:
    match = _UNIT_AFTER.match(text, end)
    if match is None:
        return 1.0, ""
    size, unit = _UNIT_OF_STEM.get(stem(match["word"]), (1.0, ""))
    kind = (match["kind"] or "").lower()
    return size, f"working {unit}" if kind in _WORKING else unit


def _names(text: str) -> Iterator[str]:
    """Yield the stems of capitalised words; at the beginning of a sentence only of what is hardly a common word."""
    for word in words(text):
        written = text[word.start : word.end]
        if not written[0].isupper() or word.stem in STOP_WORDS:
            continue
        is_first = word.start == 0 or _SENTENCE_END.search(text[max(0, word.start - _LOOK_BACK) : word.start])
        if is_first and not written.isupper() and written.endswith(_COMMON_ENDINGS):
            continue
        yield word.stem
