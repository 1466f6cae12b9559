"""What flows from a parent to a child (SPEC-004 §8): the type by token pressure, and the text that goes with it.

The rule is §8.2's, in its order. SUMMARY needs a summariser; where none is at hand it is passed over and the reason is
recorded, it is never replaced by something that only looks like a summary.
"""

from dataclasses import dataclass
from typing import Final

from services.common.ports.sessions import TransferType, WindowRecord
from services.dag.domain.view import is_adopted

PARENT_SHARE_PERCENT: Final = 60
"""Share of the budget that a parent's context may take; the rest is for new facts (§8.2)."""
SUMMARY_UNAVAILABLE: Final = "SUMMARY: no summariser is available"
NOT_HERE: Final = "FULL_CONTEXT: the parent's response is not in this store"


@dataclass(frozen=True, slots=True)
class Transfer:
    """The decision for one edge.

    Attributes:
        tokens: that flow; for RESULT_ONLY in proportion to the text's share of the response, rounded up.
        text: the part of the response that flows.
        deferred_fact_ids: facts that flow.
        transferred_fact_ids: facts of the parent's envelope that flow with FULL_CONTEXT (§8.1, ADR 0022).
        skipped: better types that were passed over, with the reason.
    """

    transfer_type: TransferType
    tokens: int
    text: str
    deferred_fact_ids: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    transferred_fact_ids: tuple[str, ...] = ()


def choose_transfer(parent: WindowRecord, available_budget_tokens: int) -> Transfer:
    """Choose the richest transfer that fits.

    Args:
        parent: a committed window.
        available_budget_tokens: token budget minus query and system prompt (§8.2).
    """
    if is_adopted(parent):
        return Transfer(TransferType.FACTS_ONLY, 0, "", (), (NOT_HERE, SUMMARY_UNAVAILABLE))
    deferred = tuple(fact.fact_id for fact in parent.facts_deferred)
    deferred_tokens = sum(fact.token_count for fact in parent.facts_deferred)
    whole = parent.response_tokens + deferred_tokens
    if _fits(whole, available_budget_tokens):
        # SPEC-004 §8.1: "complete parent response + envelope".
        return Transfer(
            TransferType.FULL_CONTEXT,
            whole,
            parent.response_text,
            deferred,
            transferred_fact_ids=parent.facts_included,
        )
    skipped = (_too_large(TransferType.FULL_CONTEXT, whole, available_budget_tokens), SUMMARY_UNAVAILABLE)
    if _fits(deferred_tokens, available_budget_tokens):
        return Transfer(TransferType.FACTS_ONLY, deferred_tokens, "", deferred, skipped)
    facts_too_large = _too_large(TransferType.FACTS_ONLY, deferred_tokens, available_budget_tokens)
    result = last_paragraph(parent.response_text)
    return Transfer(TransferType.RESULT_ONLY, _share(parent, result), result, (), (*skipped, facts_too_large))


def last_paragraph(text: str) -> str:
    """Return the response's conclusion: its last paragraph that holds more than white space."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    return next((part for part in reversed(paragraphs) if part), "")


def _fits(tokens: int, available_budget_tokens: int) -> bool:
    """Compare in whole numbers: 0.60 has no exact binary fraction."""
    return tokens * 100 <= available_budget_tokens * PARENT_SHARE_PERCENT


def _too_large(transfer_type: TransferType, tokens: int, available_budget_tokens: int) -> str:
    return f"{transfer_type}: {tokens} tokens are over {PARENT_SHARE_PERCENT}% of {available_budget_tokens}"


def _share(parent: WindowRecord, part: str) -> int:
    if not part:
        return 0
    return -(-parent.response_tokens * len(part) // len(parent.response_text))
