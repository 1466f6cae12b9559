"""Units of measure by pint, in exact fractions: which words are units, their dimensions and their base values.

A closed list of words is read, because pint would also read ``at`` as a technical atmosphere and ``C`` as coulomb:
here ``C`` and ``F`` are degrees, as in the document's own example (ERCP 1.0 §8, ADR 0070). Currencies are units that
nothing converts. A month is the mean month of pint. Any two of them make a unit of one per the other (``mL/h``, ``mg
per day``); what is counted (``pupils``, ``requests per day``) is a plain number (ADR 0080).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from services.ercp.domain.predicates.model import Amount, PredicateError

if TYPE_CHECKING:
    import pint

DIMENSIONLESS: Final = "dimensionless"
CURRENCIES: Final = ("USD", "EUR", "GBP", "JPY", "CHF", "AUD", "CAD", "CNY", "INR")
_WORDS: Final = {
    # temperature
    "degC": "C °C degC celsius centigrade degree_celsius degrees_celsius degree_c degrees_c deg_c °_c",
    "degF": "F °F degF fahrenheit degree_fahrenheit degrees_fahrenheit degree_f degrees_f deg_f °_f",
    "K": "K kelvin kelvins",
    # time
    "ns": "ns nanosecond nanoseconds",
    "µs": "us µs μs microsecond microseconds",
    "ms": "ms millisecond milliseconds",
    "s": "s sec secs second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "day": "d day days",
    "week": "wk wks week weeks",
    "fortnight": "fortnight fortnights",
    "month": "month months",
    "year": "yr yrs year years",
    "century": "century centuries",
    # length, area, volume
    "nm": "nm nanometre nanometres nanometer nanometers",
    "µm": "um µm μm micron microns micrometre micrometres micrometer micrometers",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "m": "m metre metres meter meters",
    "km": "km kilometre kilometres kilometer kilometers",
    "in": "inch inches",
    "ft": "ft foot feet",
    "yd": "yd yard yards",
    "mi": "mi mile miles",
    "nmi": "nmi nautical_mile nautical_miles",
    "parsec": "pc parsec parsecs",
    "light_year": "light_year light_years light-year light-years",
    "hectare": "ha hectare hectares",
    "acre": "acre acres",
    "m²": "m² m2 sqm square_metre square_metres square_meter square_meters",
    "km²": "km² km2 square_kilometre square_kilometres square_kilometer square_kilometers",
    "m³": "m³ m3 cubic_metre cubic_metres cubic_meter cubic_meters",
    "cm³": "cm³ cm3 cc cubic_centimetre cubic_centimetres cubic_centimeter cubic_centimeters",
    "ml": "ml mL millilitre millilitres milliliter milliliters",
    "l": "l L litre litres liter liters",
    "gallon": "gal gallon gallons",
    # mass
    "µg": "ug µg μg mcg microgram micrograms",
    "mg": "mg milligram milligrams",
    "g": "g gram grams",
    "kg": "kg kilo kilos kilogram kilograms",
    "t": "t tonne tonnes metric_ton metric_tons",
    "lb": "lb lbs pound pounds",
    "oz": "oz ounce ounces",
    # motion, force, pressure, energy, power
    "m/s": "m/s mps metre_per_second metres_per_second meter_per_second meters_per_second",
    "km/h": "km/h kph kmh kilometre_per_hour kilometres_per_hour kilometer_per_hour kilometers_per_hour",
    "km/s": "km/s kilometre_per_second kilometres_per_second kilometer_per_second kilometers_per_second",
    "mph": "mph mile_per_hour miles_per_hour",
    "knot": "kn knot knots",
    "m/s²": "m/s² m/s2 m/s^2",
    "N": "N newton newtons",
    "Nm": "Nm newton_metre newton_metres newton_meter newton_meters",
    "Pa": "Pa pascal pascals",
    "hPa": "hPa hectopascal hectopascals",
    "kPa": "kPa kilopascal kilopascals",
    "MPa": "MPa megapascal megapascals",
    "bar": "bar bars",
    "atm": "atm atmosphere atmospheres",
    "mmHg": "mmHg",
    "psi": "psi",
    "J": "J joule joules",
    "kJ": "kJ kilojoule kilojoules",
    "MJ": "MJ megajoule megajoules",
    "kcal": "kcal kilocalorie kilocalories",
    "Wh": "Wh watt_hour watt_hours watt-hour watt-hours",
    "kWh": "kWh kilowatt_hour kilowatt_hours kilowatt-hour kilowatt-hours",
    "MWh": "MWh megawatt_hour megawatt_hours megawatt-hour megawatt-hours",
    "W": "W watt watts",
    "kW": "kW kilowatt kilowatts",
    "MW": "MW megawatt megawatts",
    "GW": "GW gigawatt gigawatts",
    "V": "V volt volts",
    "mV": "mV millivolt millivolts",
    "kV": "kV kilovolt kilovolts",
    "A": "A amp amps ampere amperes",
    "mA": "mA milliamp milliamps milliampere milliamperes",
    "ohm": "Ω ohm ohms",
    "Hz": "Hz hertz",
    "kHz": "kHz kilohertz",
    "MHz": "MHz megahertz",
    "GHz": "GHz gigahertz",
    "rpm": "rpm bpm",
    "mol": "mol mole moles",
    "g/l": "g/l g/L",
    "mg/l": "mg/l mg/L mg_per_litre milligrams_per_litre mg_per_liter",
    "kg/l": "kg/l kg_per_litre kg_per_liter",
    "l/min": "l/min L/min litres_per_minute liters_per_minute",
    "m³/h": "m³/h m3/h cubic_metres_per_hour",
    "g/cm³": "g/cm³ g/cm3 g/cm^3",
    "kg/m³": "kg/m³ kg/m3 kg/m^3",
    # data
    "bit": "bit bits",
    "byte": "B byte bytes",
    "kB": "kB KB kilobyte kilobytes",
    "MB": "MB megabyte megabytes",
    "GB": "GB gigabyte gigabytes",
    "TB": "TB terabyte terabytes",
    "KiB": "KiB kibibyte kibibytes",
    "MiB": "MiB mebibyte mebibytes",
    "GiB": "GiB gibibyte gibibytes",
    "Mbit/s": "Mbps Mbit/s",
    "Gbit/s": "Gbps Gbit/s",
    # shares and money
    "%": "% percent per_cent percentage_point percentage_points",
    "bp": "bp bps basis_point basis_points",
    "ppm": "ppm",
    "USD": "USD $ US$ dollar dollars us_dollars",
    "EUR": "EUR € euro euros",
    "GBP": "GBP £ pounds_sterling",
    "JPY": "JPY ¥ yen",
    "CHF": "CHF francs swiss_francs",
    "AUD": "AUD A$",
    "CAD": "CAD C$",
    "CNY": "CNY yuan renminbi",
    "INR": "INR ₹ rupee rupees",
}
_PINT: Final = {
    "m²": "m**2", "km²": "km**2", "m³": "m**3", "cm³": "cm**3", "m/s²": "m/s**2", "g/cm³": "g/cm**3",
    "kg/m³": "kg/m**3", "rpm": "1/min", "Mbit/s": "megabit/s", "Gbit/s": "gigabit/s", "%": "percent",
    "Nm": "newton*meter",
    "m³/h": "m**3/h", "bp": "basis_point",
    "USD": "usd", "EUR": "eur", "GBP": "gbp", "JPY": "jpy", "CHF": "chf", "AUD": "aud", "CAD": "cad", "CNY": "cny",
    "INR": "inr",
}  # fmt: skip
"""Where pint's name differs from ours."""
EXACT_WORDS: Final[Mapping[str, str]] = {word: unit for unit, words in _WORDS.items() for word in words.split()}
_LOWER_WORDS: Final = {
    word.lower(): unit
    for unit, words in reversed(_WORDS.items())
    for word in words.split()
    if len(word) > 3 or word == "day"  # noqa: PLR2004 - a short symbol depends on its case: mW and MW
}
_DATA: Final = frozenset({"bit", "byte", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "Mbit/s", "Gbit/s"})
_PER: Final = re.compile(r"\s*/\s*|[\s_]+per[\s_]+", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"(?:[a-z]{2,30}[\s_])?(?:[a-z]{3,30}[^s]s|people|men|women|children|staff|iu)", re.IGNORECASE
)
"""What is counted: a plural of at least five letters, with at most one word before it."""
_TOO_CLOSE: Final = 0.8
"""A word that is so much like a unit is that unit, spelt wrong."""
PER: Final = "/"
COUNT: Final = "1"
"""What stands above the line of ``requests per day``."""
_DELTAS: Final = {"degC": "delta_degC", "degF": "delta_degF"}


@dataclass(frozen=True, slots=True)
class Base:
    """An amount in base units.

    Attributes:
        value: exact.
        dimension: such as ``[length]^1``; ``DIMENSIONLESS`` for numbers, shares and counts.
    """

    value: Fraction
    dimension: str


def unit_named(word: str) -> str | None:
    """Return our name of the unit that a word or symbol names, or ``None``; of two units it is ``mg/day``."""
    joined = "_".join(word.strip().split())
    known = EXACT_WORDS.get(joined) or _LOWER_WORDS.get(joined.lower())
    if known is not None:
        return known
    parts = _PER.split(word.strip())
    if len(parts) != 2:  # noqa: PLR2004 - one per another
        return None
    above, below = (unit_named(part) for part in parts)
    above = above or (COUNT if parts[0] == COUNT or is_counted(parts[0]) else None)
    return None if above is None or below is None or PER in above + below else f"{above}{PER}{below}"


@lru_cache(maxsize=512)
def is_counted(word: str) -> bool:
    """Say whether a word names things that are counted, such as ``pupils``, and is no unit that is spelt wrong."""
    if _COUNTED.fullmatch(word.strip()) is None:
        return False
    last = word.strip().replace("_", " ").lower().split()[-1]
    return not get_close_matches(last, _LOWER_WORDS, n=1, cutoff=_TOO_CLOSE)


def above_line(unit: str) -> str:
    """Return what stands above the line of ``mg/day``, ``mg``; a unit without a line is its own, a count is none."""
    above = unit.partition(PER)[0]
    return "" if above == COUNT else above


def are_inverse(first: str, second: str) -> bool:
    """Say whether two dimensions are each other's inverse, as of minutes per kilometre and kilometres per hour."""
    return first != DIMENSIONLESS and _inverse(first) == second


def _inverse(dimension: str) -> str:
    parts = [part.rpartition("^") for part in dimension.split(" ") if "^" in part]
    return " ".join(f"{name}^{power[1:] if power.startswith('-') else f'-{power}'}" for name, _, power in parts)


def read_unit(word: str, field: str) -> str:
    """Return our name of a unit; empty for what is counted, which is a plain number.

    Raises:
        PredicateError: no unit has that name.
    """
    unit = unit_named(word)
    if unit is None and word in _WORDS:
        return word  # our own name of it, as it is written back
    if unit is None and is_counted(word):
        return ""
    if unit is None:
        examples = "degC, K, s, min, h, day, month, m, km, kg, l, %, USD"
        raise PredicateError(field, f"{word[:40]!r} is not a known unit", f"a unit such as {examples}, or none")
    return unit


def dimension_of(unit: str) -> str:
    """Return the dimension of a unit by our name."""
    return _scale(unit)[2]


def in_base(amount: Amount) -> Base:
    """Return the amount in base units: 100 degC is 373.15 K."""
    factor, offset, dimension = _scale(amount.unit)
    return Base(Fraction(amount.number) * factor + offset, dimension)


def distance_in_base(amount: Amount) -> Base:
    """Return the amount as a difference in base units: 1 degC is 1 K."""
    factor, _, dimension = _scale(amount.unit)
    return Base(Fraction(amount.number) * factor, dimension)


def converted(base: Base, unit: str) -> Fraction:
    """Return a base value in a unit of the same dimension."""
    factor, offset, _ = _scale(unit)
    return (base.value - offset) / factor


def warm() -> None:
    """Build pint's registry before the first request needs them."""
    _registry()


@lru_cache(maxsize=1)
def _registry() -> "pint.UnitRegistry[Fraction]":
    import pint

    registry: pint.UnitRegistry[Fraction] = pint.UnitRegistry(non_int_type=Fraction)
    registry.define("basis_point = 0.0001")
    for code in CURRENCIES:
        registry.define(f"{code.lower()} = [currency_{code.lower()}]")
    return registry


@lru_cache(maxsize=512)
def _scale(unit: str) -> tuple[Fraction, Fraction, str]:
    """Return factor, offset and dimension: base = number times factor + offset."""
    if not unit:
        return Fraction(1), Fraction(0), DIMENSIONLESS
    registry = _registry()
    name = PER.join(_factor(part) for part in unit.split(PER)) if unit not in _PINT else _PINT[unit]
    step = registry.Quantity(Fraction(1), _DELTAS.get(unit, name)).to_base_units()
    zero = registry.Quantity(Fraction(0), name).to_base_units()
    dimension = " ".join(f"{name}^{power}" for name, power in sorted(zero.dimensionality.items())) or DIMENSIONLESS
    if unit in _DATA or not _DATA.isdisjoint(unit.split(PER)):
        dimension += " data"  # pint counts bits as plain numbers; 5 GB is not 5
    return Fraction(step.magnitude), Fraction(zero.magnitude), dimension


def _factor(unit: str) -> str:
    """Return pint's name of a unit as a factor of another; beside another a degree is a difference."""
    return f"({_PINT.get(unit, unit)})"
