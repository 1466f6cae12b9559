"""What the trace says of a draft's sentences, and of the reason that a question asks for (ERCP 1.0 §5; ADR 0118)."""

from collections import Counter
from typing import Any

from services.ercp.domain.records import ConstraintOutcome
from services.ercp.domain.trace import MAX_LISTED, MAX_TEXT_CHARS, MAX_TOLD_PLACES, SensitiveText
from services.ercp.domain.units import Units


def unit_summary(units: Units) -> dict[str, Any]:
    """Return how many sentences are what, the first of them with their places, and what they are to each other."""
    told = [(at, unit) for at, unit in enumerate(units.units) if unit.kinds]
    kinds = Counter(kind.value for unit in units.units for kind in unit.kinds)
    return {
        "count": len(units.units),
        "by_heads": units.by_heads,
        "kinds": dict(sorted(kinds.items())),
        "items": [
            {
                "sentence": at,
                "span": [unit.start, unit.end],
                "kinds": {kind.value: said.value for kind, said in unit.kinds.items()},
            }
            for at, unit in told[:MAX_LISTED]
        ],
        "relations": {
            "count": len(units.relations),
            "items": [
                {
                    "first": each.first,
                    "second": each.second,
                    "relation": each.relation.value,
                    "confidence": each.confidence,
                }
                for each in units.relations[:MAX_LISTED]
            ],
        },
    }


def question_summary(outcome: ConstraintOutcome | None) -> dict[str, Any]:
    """Return whether the draft gives the reason that the question asks for; nothing where it asks for none."""
    if outcome is None:
        return {}
    return {
        "question": {
            "asks": "why",
            "state": outcome.standing.value,
            "undecided_reason": "" if outcome.reason is None else outcome.reason.value,
            "why": outcome.why,
            "places": [
                {"span": [place.start, place.end], "sentence": SensitiveText(place.sentence[:MAX_TEXT_CHARS])}
                for place in outcome.places[:MAX_TOLD_PLACES]
            ],
        }
    }
