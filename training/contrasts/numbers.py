"""Numbers: another value, magnitude, unit or bound; and the same number written in another way."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrasts.change import Change, Edit, Scene, cased, single
from training.contrasts.mentions import Number, numbers

_UP_TO_TWELVE: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
WORDS: Final = {
    **{word: value for value, word in enumerate(_UP_TO_TWELVE, start=2)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_WORD_OF: Final = {value: word for word, value in WORDS.items()}
_WORD: Final = re.compile(rf"(?<![\w-])({'|'.join(WORDS)})(?= [a-z])", re.IGNORECASE)
_MAGNITUDES: Final = ("thousand", "million", "billion")
_MAGNITUDE: Final = re.compile(rf"(?<=\d )({'|'.join(_MAGNITUDES)})(?!\w)")
_UNITS: Final = (
    *(("miles", "kilometers"), ("mile", "kilometer"), ("km", "miles"), ("feet", "meters"), ("ft", "m"), ("kg", "lb")),
    *(("pounds", "kilograms"), ("inches", "centimeters"), ("hours", "minutes"), ("days", "weeks"), ("weeks", "months")),
    *(("months", "years"), ("years", "decades"), ("minutes", "seconds"), ("dollars", "euros"), ("acres", "hectares")),
    *(
        ("percent", "percentage points"),
        ("per cent", "percentage points"),
        ("mg", "g"),
        ("MB", "GB"),
        ("degrees", "percent"),
    ),
)
_UNIT_OF: Final = {**{new: old for old, new in _UNITS if new != "percentage points"}, **dict(_UNITS)}
_UNIT: Final = re.compile(rf"(?<=[\d] )({'|'.join(sorted(_UNIT_OF, key=len, reverse=True))})(?!\w)")
_COUNTED: Final = re.compile(r" (?!percent|per\b|of\b|and\b|to\b|or\b|million|billion|thousand|hundred)[a-z]+s\b")
_BOUND_BEFORE: Final = re.compile(
    r"(?:\bNo\.|#|than|least|most|about|around|nearly|almost|over|under|to|exactly|approximately|roughly|only|number|the|top|its"
    r"|his|her|their|first|last|next|past|those|these|between|and|until|after|before|by|some|another|every|all|other)\s$",
    re.IGNORECASE,
)
_CURRENCIES: Final = {"$": "€", "€": "£", "£": "$"}
_SMALLEST: Final = 2
_SMALL: Final = 12


def other_values(text: str, scene: Scene, choice: random.Random) -> Iterator[Change]:
    """Another value: one of the same form that the premise has elsewhere, or one near by."""
    taken = {number.value for number in numbers(text)}
    for number in numbers(text):
        new = _from_premise(number, scene.premise, taken, choice) or _near(number, taken, choice)
        if new is not None:
            yield single("numbers.value", Edit(number.start, number.end, new))
    for match in _WORD.finditer(text):
        value = WORDS[match.group().lower()]
        others = [word for word, other in WORDS.items() if other != value and other not in taken and other <= 3 * value]
        yield single("numbers.value", Edit(*match.span(), cased(choice.choice(others), match.group())))


def other_magnitudes(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """Thousand, million and billion exchanged; a round number ten times as large or as small."""
    for match in _MAGNITUDE.finditer(text):
        others = [word for word in _MAGNITUDES if word != match.group()]
        yield single("numbers.magnitude", Edit(*match.span(), choice.choice(others)))
    for number in numbers(text):
        value = number.value
        if value >= 100 and value % 100 == 0:  # noqa: PLR2004 - round numbers only
            new = _written(value * 10 if choice.random() < 0.5 else value / 10, number.text)  # noqa: PLR2004
            yield single("numbers.magnitude", Edit(number.start, number.end, new))


def other_units(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """Miles for kilometres, weeks for days, euros for dollars, percentage points for percent."""
    for match in _UNIT.finditer(text):
        yield single("numbers.unit", Edit(*match.span(), _UNIT_OF[match.group()]))
    for number in numbers(text):
        after = text[number.end : number.end + 1]
        before = text[number.start - 1 : number.start]
        if after == "%":
            yield single("numbers.unit", Edit(number.end, number.end + 1, " percentage points"))
        if before in _CURRENCIES and before:
            yield single("numbers.unit", Edit(number.start - 1, number.start, _CURRENCIES[before]))


def wrong_bounds(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """A bound that the number does not keep: five people, hence not more than seven."""
    for start, end, value, shown in _counts(text):
        more = choice.choice((f"more than {_as_shown(value + 2, shown)}", f"at least {_as_shown(value + 1, shown)}"))
        fewer = choice.choice((f"fewer than {_as_shown(value, shown)}", f"at most {_as_shown(value - 1, shown)}"))
        yield single("numbers.bound", Edit(start, end, cased(choice.choice((more, fewer)), shown)), back=None)


def right_bounds(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """A bound that the number keeps: five people, hence more than three."""
    for start, end, value, shown in _counts(text):
        more = choice.choice((f"more than {_as_shown(value - 1, shown)}", f"at least {_as_shown(value, shown)}"))
        fewer = choice.choice((f"fewer than {_as_shown(value + 2, shown)}", f"at most {_as_shown(value, shown)}"))
        new = cased(choice.choice((more, fewer)), shown)
        yield single("numbers.bound kept", Edit(start, end, new), keeps=True, back=None)


def rewritten(text: str, _scene: Scene, _choice: random.Random) -> Iterator[Change]:
    """The same number in another form: 1,000 and 1000, three and 3, 40% and 40 percent, 5 million and 5,000,000."""
    kind = "numbers.rewritten"
    for number in numbers(text):
        new = _other_form(number, text[number.end :])
        if new is not None:
            form, length = new
            yield single(kind, Edit(number.start, number.end + length, form), keeps=True, back=True)
    for match in _WORD.finditer(text):
        if match.start() > 0:  # a sentence does not begin with a figure
            yield single(kind, Edit(*match.span(), str(WORDS[match.group().lower()])), keeps=True, back=True)


def _other_form(number: Number, after: str) -> tuple[str, int] | None:
    """Return another form and how many code points after the number it takes in."""
    if after.startswith("%"):
        return f"{number.text} percent", 1
    if after.startswith(" percent") and not after.startswith(" percentage"):
        return f"{number.text}%", len(" percent")
    magnitude = _spelled_out(number, after)
    if magnitude is not None:
        return magnitude
    form = _same_digits(number, after)
    return None if form is None else (form, 0)


def _spelled_out(number: Number, after: str) -> tuple[str, int] | None:
    value = number.value
    for exponent, word in ((6, " million"), (3, " thousand")):
        if after.startswith(word) and value.is_integer() and value < 1_000:  # noqa: PLR2004 - "12 million"
            return f"{int(value) * 10**exponent:,}", len(word)
    return None


def _same_digits(number: Number, after: str) -> str | None:
    if "," in number.text and "." not in number.text:
        return number.text.replace(",", "")
    if number.text.isdigit() and number.value >= 10_000:  # noqa: PLR2004 - where separators are usual
        return f"{int(number.value):,}"
    if number.text.isdigit() and number.value in _WORD_OF and re.match(r" [a-z]", after):
        return _WORD_OF[int(number.value)]
    return None


def _counts(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield the bare counts of things: position, value and text, where nothing bounds them yet."""
    candidates = [(number.start, number.end, number.value, number.text) for number in numbers(text)]
    candidates += [
        (*match.span(), float(WORDS[match.group().lower()]), match.group()) for match in _WORD.finditer(text)
    ]
    for start, end, value, shown in sorted(candidates):
        bare = _COUNTED.match(text[end:]) is not None and _BOUND_BEFORE.search(text[:start]) is None
        if bare and value.is_integer() and value > _SMALLEST and text[start - 1 : start] not in _CURRENCIES:
            yield start, end, int(value), shown


def _as_shown(value: int, shown: str) -> str:
    if shown[0].isalpha():
        return _WORD_OF.get(value, str(value))
    return _written(value, shown)


def _from_premise(number: Number, premise: str, taken: set[float], choice: random.Random) -> str | None:
    if choice.random() < 0.5:  # noqa: PLR2004 - half of the wrong values are near ones that stand nowhere
        return None
    decimals = "." in number.text
    there = {other.text for other in numbers(premise) if other.value not in taken and ("." in other.text) == decimals}
    alike = sorted(
        text for text in there if abs(len(text) - len(number.text)) <= 1 and float(text.replace(",", "")) > 1
    )
    return choice.choice(alike) if alike else None


def _near(number: Number, taken: set[float], choice: random.Random) -> str | None:
    """Return another value as round as the old one and of its size; None for 0 and 1, whose nouns would not agree."""
    value = number.value
    if value <= 1:
        return None
    decimals = len(number.text.partition(".")[2])
    step = 10.0**-decimals
    while not decimals and value % (step * 10) == 0:
        step *= 10
    reach = 3 if value <= _SMALL else max(3, int(value / step * 0.6))
    near = (value + sign * step * choice.randint(1, reach) for _ in range(8) for sign in (choice.choice((-1, 1)),))
    fitting = [other for other in near if other >= _SMALLEST * min(step, 1) and other > step / 2 and other not in taken]
    fitting = [other for other in fitting if decimals or other >= _SMALLEST]
    return _written(fitting[0], number.text) if fitting else None


def _written(value: float, like: str) -> str:
    """Write a value with the separators and decimals of another number."""
    decimals = len(like.partition(".")[2])
    text = f"{value:,.{decimals}f}"
    return text if "," in like or (value >= 10_000 and len(like) < len(text) - 1) else text.replace(",", "")  # noqa: PLR2004
