"""Units of measure: what is written after a number, in base units, so that 5 km and 5,000 m are equal.

Only words of this list are units; the conversion is pint's (``unit_factors``). Months and years keep their own
dimension, for a month is no fixed number of days: ``same_span`` says which numbers of days a number of months can be
(ADR 0040).
"""

from decimal import Decimal
from typing import Final

from services.common.reading.unit_factors import IN_BASE_UNITS

_CALENDAR: Final = {"month": ("month", 1), "year": ("month", 12), "quarter": ("month", 3), "decade": ("month", 120)}
_POWERS: Final = {"square": 2, "cubic": 3}
_LENGTHS: Final = {
    written: unit
    for unit, forms in {
        "meter": "metre metres meter meters", "centimeter": "centimetre centimetres centimeter centimeters",
        "millimeter": "millimetre millimetres millimeter millimeters",
        "kilometer": "kilometre kilometres kilometer kilometers", "foot": "foot feet", "mile": "mile miles",
        "inch": "inch inches", "yard": "yard yards",
    }.items()
    for written in forms.split()
}  # fmt: skip
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
    "milliliter": "ml cc millilitre millilitres milliliter milliliters",
    "liter": "l litre litres liter liters",
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
    "microgram": "µg μg mcg microgram micrograms",
    "nanogram": "ng nanogram nanograms",
    "microsecond": "µs μs microsecond microseconds",
    "US_ton": "ton tons",
    "gallon": "gal gallon gallons",
    "centiliter": "cl centilitre centilitres centiliter centiliters",
    "deciliter": "dl decilitre decilitres deciliter deciliters",
    "meter ** 3": "m³ m3",
    "gram / deciliter": "g/dl",
    "milligram / deciliter": "mg/dl",
    "milligram / liter": "mg/l",
    "millimole / liter": "mmol/l",
    "gram / liter": "g/l",
    "milligram / kilogram": "mg/kg",
    "millimeter_Hg": "mmhg",
    "bar": "bar",
    "hectopascal": "hpa",
    "kilocalorie": "kcal kilocalorie kilocalories",
    "kilojoule": "kj kilojoule kilojoules",
    "volt": "volt volts",
    "millivolt": "mv millivolt millivolts",
    "ampere": "amp amps ampere amperes",
    "milliampere_hour": "mah",
    "gigawatt": "gw gigawatt gigawatts",
    "megawatt_hour": "mwh",
    "terawatt_hour": "twh",
    "megabit / second": "mbps mbit/s",
    "gigabit / second": "gbps gbit/s",
    "kibibyte": "kib",
    "mebibyte": "mib",
    "gibibyte": "gib",
    "tebibyte": "tib",
    "petabyte": "pb petabyte petabytes",
    "kilohertz": "khz",
    "megahertz": "mhz",
    "gigahertz": "ghz",
    "nautical_mile": "nmi",
    "knot": "knot knots",
    "meter / second": "m/s",
    "kilometer / hour": "km/h kph",
    "mile / hour": "mph",
    "hertz": "hz",
    "microliter": "µl μl microlitre microlitres microliter microliters",
    "microgram / milliliter": "µg/ml μg/ml mcg/ml",
    "milligram / milliliter": "mg/ml",
    "nanogram / milliliter": "ng/ml",
    "kilogram / meter ** 3": "kg/m³ kg/m3",
    "newton": "newton newtons",
    "kilonewton": "kn kilonewton kilonewtons",
    "pascal": "pascal pascals",
    "kilopascal": "kpa kilopascal kilopascals",
    "megapascal": "mpa megapascal megapascals",
    "millibar": "mbar millibar millibars",
    "joule": "joule joules",
    "megajoule": "mj megajoule megajoules",
    "kilovolt": "kv kilovolt kilovolts",
    "milliampere": "ma milliampere milliamperes",
    "milliwatt": "milliwatt milliwatts",
    "terawatt": "terawatt terawatts",
    "watt_hour": "wh",
    "gigawatt_hour": "gwh",
    "bit": "bit bits",
    "kilobit": "kbit kilobit kilobits",
    "megabit": "mbit megabit megabits",
    "gigabit": "gbit gigabit gigabits",
    "kilobit / second": "kbps kbit/s",
    "megabyte / second": "mb/s",
    "gigabyte / second": "gb/s",
    "square_foot": "sqft ft²",
    "micrometer": "µm μm micrometre micrometres micrometer micrometers",
    "nanometer": "nanometre nanometres nanometer nanometers",
    "millimeter ** 2": "mm² mm2",
    "centimeter ** 2": "cm² cm2",
    "centimeter ** 3": "cm³ cm3 ccm",
    "liter / minute": "l/min",
    "liter / second": "l/s",
    "liter / hour": "l/h",
    "meter ** 3 / hour": "m³/h m3/h",
    "millimole": "mmol",
    "micromole / liter": "µmol/l μmol/l",
    "hectoliter": "hl hectolitre hectolitres",
    "revolutions_per_minute": "rpm",
    "pint": "pint pints",
}
_PHRASES: Final = {
    f"{size}{unit} {hours}": f"{size or ''}watt_hour"
    for size in ("", "kilo", "mega", "giga", "tera")
    for unit in ("watt",)
    for hours in ("hour", "hours")
} | {
    f"{power} {length}": f"{_LENGTHS[length]} ** {_POWERS[power]}"
    for power in _POWERS
    for length in _LENGTHS
} | {
    "metric ton": "metric_ton", "metric tons": "metric_ton", "nautical mile": "nautical_mile",
    "nautical miles": "nautical_mile", "calendar day": "day", "calendar days": "day", "fortnight": "fortnight",
    "fortnights": "fortnight", "calendar week": "week", "calendar weeks": "week",
    "megabits per second": "megabit / second", "gigabits per second": "gigabit / second",
    "kilobits per second": "kilobit / second", "megabytes per second": "megabyte / second",
    "gigabytes per second": "gigabyte / second", "kilometres per hour": "kilometer / hour",
    "kilometers per hour": "kilometer / hour", "miles per hour": "mile / hour", "metres per second": "meter / second",
    "meters per second": "meter / second", "litres per minute": "liter / minute", "liters per minute": "liter / minute",
}  # fmt: skip
"""Units of more than one word."""
_WORDS: Final = {word: unit for unit, written in _PINT.items() for word in written.split()} | _PHRASES
_CALENDAR_WORDS: Final = {
    written: base
    for word, base in _CALENDAR.items()
    for written in (word, word + "s", f"calendar {word}", f"calendar {word}s")
} | {"yr": ("month", 12), "yrs": ("month", 12)}  # fmt: skip
_OWN: Final = {
    "token": "token", "tokens": "token", "°c": "°c", "degrees celsius": "°c", "fte": "fte", "ftes": "fte",
    "bpm": "bpm", "iu": "iu", "ius": "iu", "international unit": "iu", "international units": "iu", "i.u.": "iu",
    "px": "px", "pixels": "px", "pixel": "px", "db": "db", "decibel": "db", "decibels": "db", "db(a)": "db",
} | {
    f"{kind} {day}": "working day" for kind in ("working", "business", "work", "banking", "trading")
    for day in ("day", "days")
} | dict.fromkeys(("workday", "workdays", "weekday", "weekdays"), "working day")  # fmt: skip
"""Units that nothing converts: working days are no number of days, and units of activity weigh what they weigh."""
_FAHRENHEIT: Final = frozenset({"°f", "degrees fahrenheit"})
_FREEZING_F: Final = 32
_DEGREE_DIGITS: Final = Decimal("0.0001")
_DAY_S: Final = 86_400
_MONTH_DAYS: Final = Decimal("30.4375")
"""The mean month: a year of 365.25 days by twelve."""
_SHORTER_DAYS: Final = Decimal("2.4375")
_LONGER_DAYS: Final = Decimal("1.4")
_COMMERCIAL_MONTH_DAYS: Final = 30

UNIT_WORDS: Final = tuple(sorted((*_WORDS, *_CALENDAR_WORDS, *_OWN, *_FAHRENHEIT), key=len, reverse=True))
"""Every word that is read as a unit, longest first."""


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
    if key in _FAHRENHEIT:
        return ((number - _FREEZING_F) * 5 / 9).quantize(_DEGREE_DIGITS), "°c"
    factor_to_base, base = IN_BASE_UNITS[_WORDS[key]]
    return number * factor_to_base, base


def same_span(months: Decimal, seconds: Decimal) -> bool:
    """Say whether a length in seconds can be so many calendar months: 30 days each, or what a calendar has (ADR 0040).

    28 to 31 days are one month, 89 to 92 three, 363 to 366 and 360 twelve.
    """
    days = seconds / _DAY_S
    beyond = days - months * _MONTH_DAYS
    return -_SHORTER_DAYS <= beyond <= _LONGER_DAYS or days == months * _COMMERCIAL_MONTH_DAYS
