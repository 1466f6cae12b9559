"""What an amount comes to in the band of a scale that it lies in (SPEC-005 §5.3, NUMBER_CHANGED, ADR 0216).

"Up to 10 kg €30, over 10 to 25 kg €60": 20 kg cost €60, though nothing says so of 20 kg. Bands are rows, or stretches
of a sentence, that limit one amount and give one sum of money. Where the bands that hold an amount give two sums, as
those of two scales may, where another sentence gives the sum, or where the scale is not of all that was asked about
("a parcel to France"), nothing is said.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.agreement import agrees
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.dpe.domain.asked_places import Limit, limits_in
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, roots
from services.dpe.domain.rules.rows import rows_of, values_of

_CUT: Final = re.compile(r",\s(?!\d{3}\b)|;\s|\s(?=and\s(?:over|above|more|from|up\sto)\b)", re.IGNORECASE)
_COSTS: Final = roots(
    "cost costs price prices fee fees pay pays paid charge charges charged is due rate rates each much"
)
_OF_AGE: Final = re.compile(r"\b(?:aged?|ages|years?|year-olds?)\b", re.IGNORECASE)
"""Without one of these a bare number is no age."""
_BEYOND: Final = re.compile(
    r"\b(?:more|less|extra|further|additional(?:ly)?|total|altogether|together|per|each|every|both|not|no|if|unless)\b",
    re.IGNORECASE,
)
"""With one of these a sum is not plainly that of one band."""


@dataclass(frozen=True, slots=True)
class _Band:
    source: Reading
    limit: Limit
    sum: Value


def changed_band(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim gives another sum than the band that its amount lies in, or ``None``."""
    read = _read(claim, sources)
    if read is None or agrees(read[0], read[1].sum):
        return None
    own, band = read
    span, there = claim.span(own.start, own.end), band.source.span(band.sum.start, band.sum.end)
    return Departure(DistortionType.NUMBER_CHANGED, Rule.ROW, span, band.source, there, is_same=True)


def told_band(claim: Reading, sources: list[Reading]) -> tuple[Reading, ...]:
    """Return the sentences of the scale in whose band a claim's amount comes to the sum that it gives; or none."""
    read = _read(claim, sources)
    if read is None or not agrees(read[0], read[1].sum):
        return ()
    return tuple(source for source in sources if source.once(_bands))


def _read(claim: Reading, sources: list[Reading]) -> tuple[Value, _Band] | None:
    """Return the sum of a claim and the one band that its amount lies in; ``None`` where that cannot be told."""
    given = claim.once(values_of)
    sums = [one for one in given if one.kind is EntityKind.MONEY and one.magnitude is not None]
    cases = [one for one in given if one not in sums] or list(scan_values(claim.asked))
    if len(sums) != 1 or len(cases) != 1 or cases[0].kind is EntityKind.MONEY or _BEYOND.search(claim.text):
        return None
    own, case, listed = sums[0], cases[0], list(_scale(sums[0], sources))
    if not case.unit and not (_OF_AGE.search(f"{claim.text} {claim.asked}")):
        return None
    held = [(one, one.limit.holds(case)) for one in listed]
    inside = [one for one, holds in held if holds]
    if not inside or all(holds is not False for _, holds in held) or len({one.sum.normal for one in inside}) > 1:
        return None
    if _is_given_elsewhere(own, listed, sources):
        return None
    said = (claim.content | roots(claim.asked)) - roots(f"{own.text} {case.text}") - _COSTS - _AGED
    return (own, inside[0]) if said <= inside[0].source.content | _measured(claim, case, listed) else None


_AGED: Final = roots("age aged old year years")
_MEASURES: Final = roots(
    "weight weights length lengths width height size sizes distance duration time age ages up to over under above below"
    " less more than from price prices fee fees cost costs charge charges rate rates and"
)


def _is_given_elsewhere(own: Value, scale: list[_Band], sources: list[Reading]) -> bool:
    """Say whether a sum stands outside the scale: "parcels to France cost €90"."""
    listed = {(one.source.fact_index, one.source.start + one.sum.start) for one in scale}
    return any(
        agrees(own, value) and (source.fact_index, source.start + value.start) not in listed
        for source in sources
        for value in source.once(values_of)
        if value.kind is EntityKind.MONEY
    )


def _measured(claim: Reading, case: Value, scale: list[_Band]) -> frozenset[str]:
    """Return the roots of the thing that was asked about, "parcel of 20 kg"; none where the scale is of another.

    A scale that names nothing but measures and sums is of whatever was asked about.
    """
    behind = re.compile(rf"\b(\w+)\s(?:of|aged|weighing|lasting)\s{re.escape(case.text)}", re.IGNORECASE)
    things = roots(" ".join(behind.findall(claim.asked)))
    told = frozenset[str]().union(*(one.source.known for one in scale))
    values = " ".join(value.text for one in scale for value in one.source.once(values_of))
    return things if not told - roots(values) - _MEASURES - _COSTS - _AGED else things & told


def _scale(own: Value, sources: list[Reading]) -> Iterator[_Band]:
    for source in sources:
        for band in source.once(_bands):
            is_aged = band.limit.value.unit or _OF_AGE.search(source.text)
            if is_aged and (band.sum.unit, band.sum.per) == (own.unit, own.per):
                yield band


def _bands(source: Reading) -> tuple[_Band, ...]:
    """Return the bands of a row or a sentence: stretches with one limit and one sum of money."""
    found: list[_Band] = []
    for start, end in _stretches(source):
        values = [one for one in source.once(values_of) if start <= one.start < end]
        sums = [one for one in values if one.kind is EntityKind.MONEY]
        measured = [one for one in values if one.kind is not EntityKind.MONEY]
        limits = list(limits_in(source.text[start:end], start, measured))
        if len(sums) == 1 and len(limits) == 1:
            found.append(_Band(source, limits[0], sums[0]))
    return tuple(found)


def _stretches(source: Reading) -> Iterator[tuple[int, int]]:
    if source.once(rows_of):
        at = 0
        for line in source.text.splitlines(keepends=True):
            yield at, at + len(line)
            at += len(line)
        return
    at = 0
    for cut in [*_CUT.finditer(source.text), None]:
        yield at, len(source.text) if cut is None else cut.start()
        at = 0 if cut is None else cut.end()
