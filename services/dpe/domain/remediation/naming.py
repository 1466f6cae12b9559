"""Findings by kind and number, for prompts: never a word of the answer (ADR 0042)."""

from collections import Counter
from typing import Final

from services.common.ports.recognition import EntityKind
from services.dpe.domain.constraints import violated
from services.dpe.domain.findings import AttributionType, DistortionType
from services.dpe.domain.results import Outputs

_ENTITIES: Final = {
    EntityKind.PERSON: ("person", "persons"),
    EntityKind.ORGANISATION: ("organisation", "organisations"),
    EntityKind.LOCATION: ("place", "places"),
    EntityKind.DATE: ("date", "dates"),
    EntityKind.TIME: ("time", "times"),
    EntityKind.MONEY: ("amount of money", "amounts of money"),
    EntityKind.PERCENT: ("percentage", "percentages"),
    EntityKind.QUANTITY: ("quantity", "quantities"),
    EntityKind.NUMBER: ("number", "numbers"),
    EntityKind.CITATION: ("reference", "references"),
    EntityKind.URL: ("web address", "web addresses"),
    EntityKind.EMAIL: ("e-mail address", "e-mail addresses"),
    EntityKind.PRODUCT: ("product", "products"),
    EntityKind.EVENT: ("event", "events"),
    EntityKind.LAW: ("law", "laws"),
    EntityKind.OTHER: ("identifier", "identifiers"),
}
_DISTORTIONS: Final = {
    DistortionType.NUMBER_CHANGED: ("changed number", "changed numbers"),
    DistortionType.NEGATION_FLIP: ("turned negation", "turned negations"),
    DistortionType.DATE_SHIFTED: ("shifted date", "shifted dates"),
    DistortionType.ENTITY_SUBSTITUTED: ("exchanged name", "exchanged names"),
    DistortionType.MAGNITUDE_ALTERED: ("altered magnitude", "altered magnitudes"),
    DistortionType.CONTEXT_STRIPPED: ("condition left out", "conditions left out"),
    DistortionType.CONDITION_ALTERED: ("altered condition", "altered conditions"),
    DistortionType.ATTRIBUTION_ALTERED: ("altered attribution", "altered attributions"),
    DistortionType.MODALITY_ALTERED: ("altered modality", "altered modalities"),
    DistortionType.QUANTIFIER_ALTERED: ("altered quantifier", "altered quantifiers"),
    DistortionType.RELATION_ALTERED: ("altered relation", "altered relations"),
}


def named_findings(outputs: Outputs) -> list[str]:
    """Return what stages 2 and 3 found, in the order 3a, 3b, 3c, constraints, 2, e.g. ``2 changed numbers``."""
    invented = Counter(item.entity.kind for item in outputs.fabrication.found or ())
    distorted = Counter(item.type for item in outputs.distortion.found or ())
    found = [f"{_counted(invented[kind], nouns)} without basis" for kind, nouns in _ENTITIES.items() if invented[kind]]
    found += [_counted(distorted[kind], nouns) for kind, nouns in _DISTORTIONS.items() if distorted[kind]]
    if pairs := len(outputs.contradiction.found or ()):
        found.append(f"{_counted(pairs, ('pair', 'pairs'))} of statements that contradict each other")
    if denied := violated(outputs.fidelity.constraint_outcomes):
        found.append(_counted(denied, ("constraint that was not obeyed", "constraints that were not obeyed")))
    if loose := len(unverifiable(outputs)):
        found.append(f"{_counted(loose, ('specific statement', 'specific statements'))} found in no fact")
    return found


def unverifiable(outputs: Outputs) -> list[str]:
    """Return the ids of the UNVERIFIABLE claims."""
    return [
        key for key, item in (outputs.attribution.by_claim or {}).items() if item.type is AttributionType.UNVERIFIABLE
    ]


def _counted(number: int, nouns: tuple[str, str]) -> str:
    return f"{number} {nouns[number != 1]}"
