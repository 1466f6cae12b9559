"""The questions that earlier windows answer, for a follow-up that leans on them (ADR 0096).

They stand in the analysis inputs that are kept beside the reports, sealed and erased with them; where those were not
kept there is no question.
"""

import json
from collections.abc import Mapping


def questions(inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the question of each window whose analysis inputs were kept.

    Args:
        inputs: canonical JSON of ``crp.dpe.v1.AnalysisInputs`` by window id; empty where they were not kept.
    """
    found: dict[str, str] = {}
    for window_id, text in inputs.items():
        if text:
            query = json.loads(text).get("request", {}).get("query", "")
            if query:
                found[window_id] = query
    return found
