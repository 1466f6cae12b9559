"""Which texts of the envelope bear witness (SPEC-005 §4.2, §12; ADR 0023).

An earlier answer that was carried over is context for the model, not evidence for its next answer: otherwise an
invention of window 1 would come back in window 2 as CONTEXT_GROUNDED. A summary that passed the fidelity check is a
fact of the envelope by SPEC-004 §12.2, and counts.
"""

from typing import Final

SUMMARY: Final = "SUMMARY"


def is_evidence(carried_from_window_id: str, transfer_type: str) -> bool:
    """Say whether a text of the envelope may ground claims, trace entities and be omitted.

    Args:
        carried_from_window_id: the window whose answer the text is; empty for a fact of the knowledge fabric.
        transfer_type: how it was carried (SPEC-004 §8.1); empty for a fact of the knowledge fabric.
    """
    return not carried_from_window_id or transfer_type == SUMMARY
