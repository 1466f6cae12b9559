"""What flows from a parent to a child (SPEC-004 §8): the type by token pressure, and the text that goes with it.

The rule is §8.2's, in its order. SUMMARY needs a summariser; where none is at hand it is passed over and the reason is
recorded, it is never replaced by something that only looks like a summary.
"""

from dataclasses import dataclass
from typing import Final

from services.common.ports.sessions import TransferType, WindowRecord

PARENT_SHARE: Final = 0.60
"""Share of the budget that a parent's context may take; the rest is for new facts (§8.2)."""
SUMMARY_UNAVAILABLE: Final = "SUMMARY: no summariser is available"


@dataclass(frozen=True, slots=True)
class Transfer:
    """The decision for one edge.

    Attributes:
        tokens: that flow; for RESULT_ONLY in proportion to the text's share of the response, rounded up.
        text: the part of the response that flows.
        deferred_fact_ids: facts that flow.
        skipped: better types that were passed over, with the reason.
    """

    transfer_type: TransferType
    tokens: int
    text: str
    deferred_fact_ids: tuple[str, ...]
    skipped: tuple[str, ...] = ()


def choose_transfer(parent: WindowRecord, available_budget_tokens: int) -> Transfer:
    """Choose the richest transfer that fits.

    Args:
        parent: a committed window.
        available_budget_tokens: token budget minus query and system prompt (§8.2).
    """
    room = available_budget_tokens * PARENT_SHARE
    deferred = tuple(fact.fact_id for fact in parent.facts_deferred)
    deferred_tokens = sum(fact.token_count for fact in parent.facts_deferred)
    whole = parent.response_tokens + deferred_tokens
    if whole <= room:
        return Transfer(TransferType.FULL_CONTEXT, whole, parent.response_text, deferred)
    too_large = f"FULL_CONTEXT: {whole} tokens are over {PARENT_SHARE:.0%} of {available_budget_tokens}"
    skipped = (too_large, SUMMARY_UNAVAILABLE)
    if deferred_tokens <= room:
        return Transfer(TransferType.FACTS_ONLY, deferred_tokens, "", deferred, skipped)
    skipped += (f"FACTS_ONLY: {deferred_tokens} tokens are over {PARENT_SHARE:.0%} of {available_budget_tokens}",)
    result = last_paragraph(parent.response_text)
    return Transfer(TransferType.RESULT_ONLY, _share(parent, result), result, (), skipped)


def last_paragraph(text: str) -> str:
    """Return the response's conclusion: its last paragraph that holds more than white space."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    return next((part for part in reversed(paragraphs) if part), "")


def _share(parent: WindowRecord, part: str) -> int:
    if not part:
        return 0
    return -(-parent.response_tokens * len(part) // len(parent.response_text))
