"""What a request held beyond what this version knows, for its trace (ERCP 1.0 §10; ADR 0079)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.common.encoding import canonical_json, sha256_hex
from services.ercp.domain.trace import MAX_LISTED, text_summary


@dataclass(frozen=True, slots=True)
class UnknownFields:
    """What one object of a request holds beyond the known; ``place`` such as ``constraints[0].source``."""

    place: str
    fields: Mapping[str, Any]


def told(unknown: Sequence[UnknownFields]) -> dict[str, Any]:
    """Return what the first event of a request says of them: texts to be redacted, as every text of a trace (§11).

    JSON with its spaces, names and numbers included: a detector of personal data reads it as it reads prose.
    """
    if not unknown:
        return {}
    items = [(each.place, json.dumps(each.fields, ensure_ascii=False, sort_keys=True)) for each in unknown]
    return {
        "unknown_fields": {
            "objects": len(items),
            "sha256": sha256_hex(canonical_json({each.place: dict(each.fields) for each in unknown})),
            "items": [{"object": place, **text_summary(text)} for place, text in items[:MAX_LISTED]],
        }
    }
