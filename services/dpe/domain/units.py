"""Units of measure: what is written after a number, in base units, so that 5 km and 5,000 m are equal.

Only words of this list are units; the conversion is pint's. Months and years keep their own dimension: a month is no
fixed number of days in a contract.
"""

from decimal import Decimal
from functools import lru_cache
from typing import Final

import pint

_CALENDAR: Final = {"month": ("month", 1), "year": ("month", 12), "quarter": ("month", 3), "decade": ("month", 120)}
_PINT: Final = {
    "second": "sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks wk wks",
    "millisecond": "ms millisecond milliseconds",
    "millimeter": "mm millimetre millimetres millimeter millimeters",
    "centimeter": "cm centimetre centimetres centimeter centimeters",
    "meter": "m metre metres meter meters",
    "kilometer": "km kilometre kilometres kilometer kilometers",
    "mile": "mile miles",
    "foot": "ft foot feet",
    "inch": "inch inches",
    "yard": "yard yards yd",
    "milligram": "mg milligram milligrams",
    "gram": "g gram grams",
    "kilogram": "kg kilo kilos kilogram kilograms",
    "metric_ton": "tonne tonnes",
    "pound": "lb lbs",
    "ounce": "oz ounce ounces",
    "milliliter": "ml millilitre millilitres milliliter milliliters",
    "liter": "litre litres liter liters",
    "hectare": "ha hectare hectares",
    "acre": "acre acres",
    "meter ** 2": "m² m2 sqm",
    "kilometer ** 2": "km² km2",
    "byte": "byte bytes",
    "kilobyte": "kb kilobyte kilobytes",
    "megabyte": "mb megabyte megabytes",
    "gigabyte": "gb gigabyte gigabytes",
    "terabyte": "tb terabyte terabytes",
    "watt": "watt watts",
    "kilowatt": "kw kilowatt kilowatts",
    "megawatt": "mw megawatt megawatts",
    "kilowatt_hour": "kwh",
    "kilometer / hour": "km/h kph",
    "mile / hour": "mph",
    "hertz": "hz",
}
_WORDS: Final = {word: unit for unit, written in _PINT.items() for word in written.split()}
_CALENDAR_WORDS: Final = {
    written: base
    for word, base in _CALENDAR.items()
    for written in (word, word + "s")
} | {"yr": ("month", 12), "yrs": ("month", 12)}  # fmt: skip
_OWN: Final = {"token": "token", "tokens": "token", "°c": "°c", "°f": "°f", "bps": "bp", "fte": "fte", "ftes": "fte"}

UNIT_WORDS: Final = tuple(sorted((*_WORDS, *_CALENDAR_WORDS, *_OWN), key=len, reverse=True))
"""Every word that is read as a unit, longest first."""


@lru_cache(maxsize=1)
def _registry() -> "pint.UnitRegistry[Decimal]":
    return pint.UnitRegistry(non_int_type=Decimal)


@lru_cache(maxsize=256)
def _to_base(unit: str) -> tuple[Decimal, str]:
    base = _registry().Quantity(Decimal(1), unit).to_base_units()
    return Decimal(base.magnitude), f"{base.units:D}"


def in_base_units(number: Decimal, word: str) -> tuple[Decimal, str]:
    """Return the magnitude in base units and the base unit; a word of ``UNIT_WORDS`` is expected.

    Raises:
        KeyError: the word is no unit.
    """
    key = word.lower()
    if key in _CALENDAR_WORDS:
        unit, factor = _CALENDAR_WORDS[key]
        return number * factor, unit
    if key in _OWN:
        return number, _OWN[key]
    factor_to_base, base = _to_base(_WORDS[key])
    return number * factor_to_base, base
