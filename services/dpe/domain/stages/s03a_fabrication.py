"""Stage 3a, fabrication (SPEC-005 §5.2, ADR 0016): entities of the answer without basis.

Every number, date, amount, address, reference and identifier, and every person, organisation, place and law of the
whole answer must be found in the envelope's facts, in the query, or (names only) in the gazetteer. Values are compared
by what they are worth, names by their words. Relative dates ("last week"), months without a year and products are not
looked for. Of sentences in another language only digits and addresses are looked up.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.intervals import APART
from services.common.reading.text_types import Claim, Value
from services.common.taxonomy import StageStatus
from services.dpe.domain.alignment import NAMES
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import ValueIndex
from services.dpe.domain.findings import Fabrication
from services.dpe.domain.givens import asked_values
from services.dpe.domain.names import NameIndex, name_key
from services.dpe.domain.other_forms import (
    OtherForms,
    is_common_word,
    spoken_hours,
    stems_of_small_words,
    without_opening,
)
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.results import FabricationResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import RiskSignal, StageKey
from services.dpe.domain.stages import s01_claims, s02_attribution


def apply(analysis: Analysis) -> Analysis:
    """Look every entity of the answer up."""
    given, outputs = analysis.input, analysis.outputs
    values = _Known(analysis)
    names = NameIndex.of(values.texts, analysis.gazetteer)
    found: list[Fabrication] = []
    for claim in outputs.text.claims:
        found += _unknown_values(claim.claim_id, _not_derived(analysis, claim), values)
        found += _unknown_names(claim.claim_id, claim.entities, names)
    read = _Elsewhere.of(analysis)
    found += _unknown_values("", [value for value in outputs.text.loose_values if not read.holds(value)], values)
    found += _unknown_names("", [name for name in outputs.text.loose_names if not read.holds(name)], names)
    found += _unknown_values("", [value for value in outputs.text.loose_values if read.is_unknown(value)], values)
    found = [item for item in found if item.normalised or not names.knows(without_opening(given.answer, item.entity))]
    found = _without_common_words(given.answer, found, values)
    found.sort(key=lambda item: item.entity.start)
    return analysis.ended(
        StageOutcome(
            STAGE,
            StageStatus.COMPLETED if outputs.text.names_known else StageStatus.DEGRADED,
            Reason.NONE if outputs.text.names_known else Reason.ENTITY_RECOGNIZER_FAILED,
            findings=len(found),
        ),
        FabricationResult(tuple(found)),
    )


class _Known:
    """The values of facts and question; what they hold in another form is read where an answer has a value beyond."""

    def __init__(self, analysis: Analysis) -> None:
        facts, asked = analysis.input.facts, asked_values(analysis.input.query)
        self.texts = [*(fact.content for fact in facts), analysis.input.query]
        self._values = [*(value for view in analysis.outputs.text.fact_views for value in view.values), *asked]
        self._index = ValueIndex([*self._values, *spoken_hours(asked)], len(facts))

    @cached_property
    def _forms(self) -> OtherForms:
        return OtherForms.of(self.texts, self._values)

    def traces(self, value: Value) -> bool:
        """Say whether the value can be traced, in whatever notation or form."""
        return self._index.traces(value) or self._forms.holds(value)


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """What stands in sentences of another language: names and notations are not read there, digits are.

    "1.500 Euro" is fifteen hundred in one language and one and a half in another, so only digits without their marks
    are looked up; names that an English recogniser sees in German nouns are none.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    digits: frozenset[str]

    @classmethod
    def of(cls, analysis: Analysis) -> "_Elsewhere":
        sentences = analysis.other_language
        known = [*(fact.content for fact in analysis.input.facts), analysis.input.query] if sentences else []
        starts, ends = tuple(one.start for one in sentences), tuple(one.end for one in sentences)
        return cls(starts, ends, frozenset(group for text in known for group in _digit_groups(text)))

    def holds(self, item: Value | Entity) -> bool:
        at = bisect_right(self.starts, item.start) - 1
        return at >= 0 and item.end <= self.ends[at]

    def is_unknown(self, value: Value) -> bool:
        """Say whether it is an address, or holds digits that no fact holds."""
        if not self.holds(value):
            return False
        return value.kind in _ADDRESSES or any(group not in self.digits for group in _digit_groups(value.text))


_ADDRESSES: Final = frozenset({EntityKind.URL, EntityKind.EMAIL})
_DIGIT_GROUP: Final = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d+)*")  # noqa: RUF001 - marks between digits


def _digit_groups(text: str) -> list[str]:
    return [re.sub(r"\D", "", match.group()).lstrip("0") or "0" for match in _DIGIT_GROUP.finditer(text)]


def _not_derived(analysis: Analysis, claim: Claim) -> list[Value]:
    """Return a claim's values but those that follow from values of the facts (ADR 0094)."""
    aligned = analysis.outputs.attribution.alignments.get(claim.claim_id, ())
    derived = {(pair.claimed.start, pair.claimed.end) for pair in aligned if pair.derivation and pair.equal}
    return [value for value in claim.values if (value.start, value.end) not in derived]


def _unknown_values(claim_id: str, values: Sequence[Value], known: _Known) -> list[Fabrication]:
    return [
        Fabrication(claim_id, Entity(value.kind, value.text, value.start, value.end), value.normal)
        for value in values
        if not known.traces(value) and not _is_bare_month(value) and not _is_plain_interval(value)
    ]


def _is_bare_month(value: Value) -> bool:
    """Say whether the value is a month without day and year, which is common knowledge (ADR 0016)."""
    return value.kind is EntityKind.DATE and len(value.normal) == len("--06") and value.normal.startswith("--")


def _is_plain_interval(value: Value) -> bool:
    """Say whether it tells how often without a numeral ("every month"): a statement to judge, not one to look up."""
    return value.per == APART and not any(char.isdigit() for char in value.text)


def _unknown_names(claim_id: str, entities: Sequence[Entity], known: NameIndex) -> list[Fabrication]:
    return [Fabrication(claim_id, entity) for entity in entities if entity.kind in NAMES and not known.knows(entity)]


def _without_common_words(answer: str, found: list[Fabrication], known: _Known) -> list[Fabrication]:
    """Drop single words that are also written small: "Policyholders" at the start of a sentence is no name."""
    if all(item.normalised for item in found):
        return found
    small = frozenset(word for word in answer.split() if word.islower())
    stems = stems_of_small_words([answer, *known.texts])
    return [
        item
        for item in found
        if item.normalised
        or (
            (" " in name_key(item.entity.text) or item.entity.text.lower() not in small)
            and not is_common_word(answer, item.entity, stems)
        )
    ]


STAGE: Final = Stage(
    key=StageKey(3, "a"),
    name="Fabrication Detection",
    section="CRP-SPEC-005 §5.2",
    needs=(s01_claims.STAGE, s02_attribution.STAGE),
    signals=frozenset({RiskSignal.FIDELITY}),
    always_runs=True,
    batches_after=1,  # the rest of the pairs
    computing_ahead=2.0,
    apply=apply,
    sends=Batch.PAIRS,
)
