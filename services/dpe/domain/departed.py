"""What the rules of ``rules`` find of the claims of an analysis, as distortions (SPEC-005 §5.3, ADR 0095).

Every claim that gets a verdict is held against the sentences of the facts that it is judged by; one that is quoted
whole is not, for it says what it quotes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.text_types import Claim, Span, Value
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import FactView
from services.dpe.domain.findings import AlignedValue, Distortion, DistortionType, Rule
from services.dpe.domain.rules import Departure, Reading, departures, read_claim, read_sources
from services.dpe.domain.rules.ages import told_age
from services.dpe.domain.rules.bands import told_band
from services.dpe.domain.rules.cells import is_in_cell
from services.dpe.domain.rules.excepted import ExceptedCase, beside_exceptions, said_by_exception
from services.dpe.domain.rules.hours import told_hours
from services.dpe.domain.rules.opening import opening_days
from services.dpe.domain.rules.rates import told_share
from services.dpe.domain.rules.stated import told_statement
from services.dpe.domain.rules.wording import is_worded
from services.dpe.domain.verdict_eligibility import judged_claims

_VALUES: Final = frozenset(
    {DistortionType.NUMBER_CHANGED, DistortionType.DATE_SHIFTED, DistortionType.MAGNITUDE_ALTERED}
)


_OF_THINGS: Final = _VALUES | {DistortionType.ENTITY_SUBSTITUTED}


class Sources:
    """The sentences of an analysis' facts as the rules read them, each fact read once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._read: dict[int, list[Reading]] = {}

    def of(self, claim: Claim) -> list[Reading]:
        """Return the sentences of the facts that a claim is judged by."""
        outputs = self._analysis.outputs
        indices = [near.fact_index for near in outputs.attribution.passages.get(claim.claim_id, ())]
        attribution = (outputs.attribution.by_claim or {}).get(claim.claim_id)
        indices += [item.fact_index for item in attribution.evidence] if attribution is not None else []
        return [one for index in sorted(set(indices)) for one in self._sentences(index)]

    def _sentences(self, index: int) -> list[Reading]:
        if index not in self._read:
            self._read[index] = read_sources(self._analysis.outputs.text.fact_views[index], index)
        return self._read[index]


@dataclass(frozen=True, slots=True)
class Departed:
    """What the rules find of the claims of an analysis.

    Attributes:
        distortions: by claim id; claims without any are left out.
        unworded: ids of claims that hold words of the facts and are no sentences (ADR 0095).
        in_cells: ids of claims that say what cells of a table (ADR 0169) or an exception (ADR 0218) say, and no more.
        silent: ids of facts, each with places in it that say nothing against a claim, by claim id.
    """

    distortions: dict[str, list[Distortion]]
    unworded: frozenset[str]
    in_cells: frozenset[str]
    silent: Mapping[str, tuple["_Silent", ...]]

    def without_silent(self, claim_id: str, found: Sequence[Distortion]) -> list[Distortion]:
        """Return distortions of a claim without those that hold it against words that say nothing of it (ADR 0218)."""
        silent = self.silent.get(claim_id, ())
        return [item for item in found if not any(place.silences(item) for place in silent)]


@dataclass(frozen=True, slots=True)
class _Silent:
    """Words of a fact that say nothing against a claim; of an exception, no value or name does, but it may limit it."""

    fact_id: str
    span: Span
    is_exception: bool

    def silences(self, item: Distortion) -> bool:
        if item.rule is Rule.EXCEPTION or (self.is_exception and item.type not in _OF_THINGS):
            return False
        return (
            item.fact_id == self.fact_id
            and self.span.start <= item.fact_span.start
            and item.fact_span.end <= self.span.end
        )


def departed(analysis: Analysis, meant: Mapping[str, frozenset[str]]) -> Departed:
    """Hold every claim that is not quoted whole against the sentences of its facts, each read once.

    Args:
        analysis: with passages.
        meant: stems of what a pronoun at the beginning of a claim stands for, by claim id.
    """
    sources = Sources(analysis)
    found: dict[str, list[Distortion]] = {}
    unworded: list[str] = []
    in_cells: list[str] = []
    silent: dict[str, tuple[_Silent, ...]] = {}
    views = analysis.outputs.text.fact_views
    for claim in judged_claims(analysis.outputs.text.claims):
        if claim.sentence_index in analysis.outputs.attribution.quotations or not analysis.is_scored(claim):
            continue
        context = meant.get(claim.claim_id, frozenset())
        reading, known = read_claim(claim.text, claim.start, context, analysis.input.query), sources.of(claim)
        if not is_worded(reading, known):
            unworded.append(claim.claim_id)
        told = said_by_exception(reading, known)
        days = next((told_by for tells in _BEARING if (told_by := tells(reading, known))), ())
        if told is not None or days or is_in_cell(reading, known):
            in_cells.append(claim.claim_id)
        places = _silent(told, beside_exceptions(reading, known), days)
        if places:
            silent[claim.claim_id] = tuple(
                _Silent(views[index].fact.fact_id, span, is_exception) for index, span, is_exception in places
            )
        listed = [
            _distortion(claim, reading, departure, views[departure.source.fact_index])
            for departure in departures(reading, known)
        ]
        if listed:
            found[claim.claim_id] = listed
    return Departed(found, frozenset(unworded), frozenset(in_cells), silent)


_BEARING: Final = (opening_days, told_hours, told_statement, told_age, told_share, told_band)
"""Each returns the sentences that bear all of a claim out, or none."""


def _silent(
    told: ExceptedCase | None, beside: Sequence[ExceptedCase], days: Sequence[Reading]
) -> list[tuple[int, Span, bool]]:
    """Return the places of facts that say nothing against a claim, by fact, with whether each is an exception.

    A sentence of whose exception it speaks says the opposite of what it says of the rest; of what is not excepted the
    words of the exception say nothing; and of sentences that bear it out no other word denies it.
    """
    exceptions = [(one.source.fact_index, one.source.span(one.span.start, one.span.end), True) for one in beside]
    whole = [*days, *([] if told is None else [told.source])]
    return [*exceptions, *((one.fact_index, one.whole, False) for one in whole)]


def without_echoes(found: Sequence[Distortion]) -> list[Distortion]:
    """Return distortions without those that say of the same words what another has said already.

    That words are of another place is said only where no other rule says what is wrong, and that a value need not be
    meant of it only where no other rule speaks of the value.
    """
    kept: list[Distortion] = []
    found = sorted(found, key=lambda item: not item.is_same)
    told = [item for item in found if item.rule is not Rule.DISPLACED]
    plain = [item for item in told if item.rule is not Rule.APPLIED]
    told = [item for item in told if item.rule is not Rule.APPLIED or not any(_echoes(item, one) for one in plain)]
    for item in told or found:
        if not any(_echoes(item, other) for other in kept):
            kept.append(item)
    return kept


def _echoes(item: Distortion, other: Distortion) -> bool:
    if item.type is other.type is DistortionType.NEGATION_FLIP:
        return True  # a claim is turned once, whichever of its words show it
    same = item.type is other.type or (item.type in _VALUES and other.type in _VALUES)
    return same and item.answer_span.start < other.answer_span.end and other.answer_span.start < item.answer_span.end


def _distortion(claim: Claim, reading: Reading, departure: Departure, view: FactView) -> Distortion:
    claimed, known = departure.claimed, departure.known
    # The claim's text may have been read in part; its offsets are the answer's all the same.
    said = Value(EntityKind.OTHER, _cut(reading.text, reading.start, claimed), claimed.start, claimed.end, "")
    said = replace(said, normal=said.text.casefold())
    values = AlignedValue(said, quoted_words(view.fact.content, known), equal=False)
    return Distortion(
        departure.type,
        claim.claim_id,
        view.fact.fact_id,
        claimed,
        known,
        values,
        departure.rule,
        is_guess=departure.is_guess,
        is_same=departure.is_same,
    )


def quoted_words(text: str, span: Span) -> Value:
    """Return words of a text as they are set against others."""
    return Value(
        EntityKind.OTHER, text[span.start : span.end], span.start, span.end, text[span.start : span.end].casefold()
    )


def _cut(text: str, offset: int, span: Span) -> str:
    return text[span.start - offset : span.end - offset]
