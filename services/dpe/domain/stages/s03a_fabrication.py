"""Stage 3a, fabrication (SPEC-005 §5.2, decision 16): entities of the answer without basis.

Every number, date, amount, address, reference and identifier, and every person, organisation, place and law of the
whole answer must be found in the envelope's facts, in the query, or (names only) in the gazetteer. Values are compared
by what they are worth, names by their words. Relative dates ("last week") and products are not looked for.
"""

from collections.abc import Sequence
from typing import Final

from services.common.ports.recognition import Entity
from services.dpe.domain.alignment import NAMES
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import ValueIndex
from services.dpe.domain.findings import Fabrication
from services.dpe.domain.names import NameIndex, name_key
from services.dpe.domain.outcome import Reason, StageKey, StageOutcome, StageStatus
from services.dpe.domain.text_types import Value
from services.dpe.domain.values import scan_values

KEY: Final = StageKey(3, "a")


def apply(analysis: Analysis) -> Analysis:
    """Look every entity of the answer up."""
    given, outputs = analysis.input, analysis.outputs
    known_values = [value for view in outputs.fact_views for value in view.values]
    values = ValueIndex([*known_values, *scan_values(given.query)], len(given.facts))
    names = NameIndex.of([*(fact.content for fact in given.facts), given.query], analysis.gazetteer)
    found: list[Fabrication] = []
    for claim in outputs.claims:
        found += _unknown_values(claim.claim_id, claim.values, values)
        found += _unknown_names(claim.claim_id, claim.entities, names)
    found += _unknown_values("", outputs.loose_values, values)
    found += _unknown_names("", outputs.loose_names, names)
    found = _without_common_words(given.answer, found)
    found.sort(key=lambda item: item.entity.start)
    return analysis.ended(
        StageOutcome(
            KEY,
            StageStatus.COMPLETED if outputs.names_known else StageStatus.DEGRADED,
            Reason.NONE if outputs.names_known else Reason.ENTITY_RECOGNIZER_FAILED,
            findings=len(found),
        ),
        fabrications=tuple(found),
    )


def _unknown_values(claim_id: str, values: Sequence[Value], known: ValueIndex) -> list[Fabrication]:
    return [
        Fabrication(claim_id, Entity(value.kind, value.text, value.start, value.end), value.normal)
        for value in values
        if not known.traces(value)
    ]


def _unknown_names(claim_id: str, entities: Sequence[Entity], known: NameIndex) -> list[Fabrication]:
    return [Fabrication(claim_id, entity) for entity in entities if entity.kind in NAMES and not known.knows(entity)]


def _without_common_words(answer: str, found: list[Fabrication]) -> list[Fabrication]:
    """Drop single words that the answer also writes small: "Policyholders" at the start of a sentence is no name."""
    small = frozenset(word for word in answer.split() if word.islower())
    return [
        item
        for item in found
        if item.normalised or " " in name_key(item.entity.text) or item.entity.text.lower() not in small
    ]
