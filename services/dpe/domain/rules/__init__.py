"""Rules that hold a claim against the sentences of its facts, a module for each relation (SPEC-005 §5.3, ADR 0095)."""

from collections.abc import Callable
from typing import Final

from services.common.reading.polarity import is_negated
from services.dpe.domain.rules.ages import changed_age
from services.dpe.domain.rules.anchors import changed_anchor
from services.dpe.domain.rules.attribution import changed_source, changed_status, planned_as_fact, told_as_fact
from services.dpe.domain.rules.banded_rows import changed_banded_row
from services.dpe.domain.rules.bands import changed_band
from services.dpe.domain.rules.bearers import changed_bearer
from services.dpe.domain.rules.cells import changed_cell, changed_period
from services.dpe.domain.rules.codes import changed_code
from services.dpe.domain.rules.columns import changed_column, changed_state, foreign_state
from services.dpe.domain.rules.contrasts import changed_contrast
from services.dpe.domain.rules.day_hours import changed_day_hours
from services.dpe.domain.rules.denials import denied_case, denied_part
from services.dpe.domain.rules.displaced import displaced
from services.dpe.domain.rules.edges import changed_edge
from services.dpe.domain.rules.empty_cells import turned_cell
from services.dpe.domain.rules.excepted import excepted_case
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.foreign_cells import foreign_cell
from services.dpe.domain.rules.frequency import changed_frequency, changed_part_of_day
from services.dpe.domain.rules.governed import exchanged_phrases
from services.dpe.domain.rules.hours import changed_hour
from services.dpe.domain.rules.meanings import changed_cause, changed_term
from services.dpe.domain.rules.members import changed_pair, foreign_member
from services.dpe.domain.rules.modality import changed_force
from services.dpe.domain.rules.opening import closed_day
from services.dpe.domain.rules.parties import changed_parties
from services.dpe.domain.rules.phases import changed_phase, moved_to_first
from services.dpe.domain.rules.places import misplaced_name
from services.dpe.domain.rules.provisos import changed_condition, changed_exception
from services.dpe.domain.rules.quantity import changed_quantity
from services.dpe.domain.rules.rates import changed_rate, changed_share
from services.dpe.domain.rules.reading import Reading, statements
from services.dpe.domain.rules.repeats import nearest_parts
from services.dpe.domain.rules.rows import changed_row, joined
from services.dpe.domain.rules.sequence import changed_order
from services.dpe.domain.rules.sources import chosen_sources, read_claim, read_sources
from services.dpe.domain.rules.stated import changed_statement
from services.dpe.domain.rules.subjects import changed_subject
from services.dpe.domain.rules.substituted import substituted_ordinal, substituted_thing, substituted_value
from services.dpe.domain.rules.turned import opposed_word, turned_word

__all__ = ["RULES", "Departure", "Reading", "departures", "read_claim", "read_sources"]

RULES: Final[tuple[Callable[[Reading, list[Reading]], Departure | None], ...]] = (
    changed_frequency,
    changed_part_of_day,
    changed_parties,
    exchanged_phrases,
    changed_subject,
    changed_bearer,
    misplaced_name,
    changed_row,
    changed_banded_row,
    changed_cell,
    changed_period,
    changed_column,
    changed_state,
    foreign_state,
    foreign_cell,
    changed_code,
    denied_part,
    denied_case,
    excepted_case,
    closed_day,
    changed_hour,
    changed_day_hours,
    turned_cell,
    turned_word,
    opposed_word,
    substituted_value,
    substituted_ordinal,
    substituted_thing,
    changed_contrast,
    foreign_member,
    changed_term,
    changed_condition,
    changed_exception,
    changed_anchor,
    changed_edge,
    changed_age,
    changed_rate,
    changed_share,
    changed_band,
    changed_source,
    told_as_fact,
    changed_status,
    planned_as_fact,
    changed_force,
    changed_statement,
    changed_quantity,
    changed_pair,
    changed_order,
    changed_phase,
    moved_to_first,
    changed_cause,
    displaced,
)
"""Every rule, in the order in which their findings are reported."""
_MIN_QUOTED: Final = 4
"""Words from which on what stands in a sentence is quoted from it."""


def departures(claim: Reading, sources: list[Reading]) -> list[Departure]:
    """Return where a claim departs from the sentences of its facts, at most once for each rule."""
    near = chosen_sources(claim, sources)
    whole = _quoted(claim, near)
    quoted = whole | _quoted_but_for_one(claim, near)
    listed = [found for rule in RULES if (found := rule(claim, near)) is not None]
    return [found for found in listed if _may_depart(found, whole if found.is_same else quoted)]


def _may_depart(found: Departure, quoted: set[tuple[int, int]]) -> bool:
    """Say whether what is found counts: what is quoted departs from no other sentence, unless that was asked about."""
    return found.is_asked or not quoted or (found.source.fact_index, found.source.start) in quoted


def _quoted(claim: Reading, sources: list[Reading]) -> set[tuple[int, int]]:
    """Return the sentences in which a claim stands word for word: what it leaves out of them may still limit it."""
    if len(claim.tokens) < _MIN_QUOTED:
        return set()
    said = joined(word.text for word in claim.tokens)
    return {
        (part.fact_index, part.start)
        for source in sources
        if said in source.once(_spoken)
        for part in (source, *source.once(statements))
    }


def _quoted_but_for_one(claim: Reading, sources: list[Reading]) -> set[tuple[int, int]]:
    """Return the sentences of which one thing is left out between: "One year (26 pay periods) after it is earned"."""
    if len(claim.tokens) < _MIN_QUOTED:
        return set()
    return {
        (one.source.fact_index, one.source.start)
        for one in nearest_parts(claim, sources)
        if one.copied == 1.0 and one.gaps <= 1 and is_negated(claim.text) == is_negated(one.source.text)
    }


def _spoken(source: Reading) -> str:
    return joined(word.text for word in source.tokens)
