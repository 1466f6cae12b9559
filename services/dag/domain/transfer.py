"""What flows from a parent to a child (SPEC-004 §8): the type by token pressure, and the text that goes with it.

The rule is §8.2's, in its order. SUMMARY needs a summariser; where none is at hand it is passed over and the reason is
recorded, it is never replaced by something that only looks like a summary. A fan-in takes a summary or the conclusion
of each parent (§7.3.3, §8.1; ADR 0050), with the budget shared evenly among them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.sessions import TransferType, WindowRecord
from services.dag.domain.view import is_adopted

PARENT_SHARE_PERCENT: Final = 60
"""Share of the budget that a parent's context may take; the rest is for new facts (§8.2)."""
SUMMARY_OF_RESPONSE_PERCENT: Final = 25
SUMMARY_OF_BUDGET_PERCENT: Final = 30
"""§12.2: a summary takes at most a quarter of the response and 30% of the budget."""
SUMMARY_UNAVAILABLE: Final = "SUMMARY: no summariser is available"
NOTHING_TO_SUMMARISE: Final = "SUMMARY: the parent's response is empty"
NOT_HERE: Final = "FULL_CONTEXT: the parent's response is not in this store"


@dataclass(frozen=True, slots=True)
class Room:
    """What there is to decide by.

    Attributes:
        available_tokens: token budget minus query and system prompt (§8.2).
        summariser: whether the caller can make and verify summaries (§12).
    """

    available_tokens: int
    summariser: bool = False


@dataclass(frozen=True, slots=True)
class Transfer:
    """The decision for one edge.

    Attributes:
        tokens: that flow; for RESULT_ONLY in proportion to the text's share of the response, rounded up; for SUMMARY
            what is planned, until the commit says what flowed.
        text: the part of the response that flows; for SUMMARY the whole response, which is to be summarised.
        deferred_fact_ids: facts that flow.
        transferred_fact_ids: facts of the parent's envelope that flow with FULL_CONTEXT (§8.1, ADR 0022) and into every
            fan-in, which has no other way to them (§7.3.3, ADR 0050).
        skipped: better types that were passed over, with the reason.
        summary_tokens: N of §12.2 for SUMMARY, at least 1; 0 otherwise.
        fallback_text: what flows when the summary fails; empty unless SUMMARY.
    """

    transfer_type: TransferType
    tokens: int
    text: str
    deferred_fact_ids: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    transferred_fact_ids: tuple[str, ...] = ()
    summary_tokens: int = 0
    fallback_text: str = ""


def choose_transfers(
    parents: Sequence[WindowRecord], room: Room, *, merged: bool, agents: Sequence[WindowRecord] = ()
) -> tuple[tuple[WindowRecord, Transfer], ...]:
    """Return each parent of a window with what flows from it.

    Args:
        parents: committed windows.
        room: the whole budget.
        merged: the window is a fan-in: its parents share the budget evenly.
        agents: ends of agents' sessions that are merged as well; of each the conclusion flows (ADR 0170).
    """
    if not merged:
        return tuple((parent, choose_transfer(parent, room)) for parent in parents)
    share = Room(room.available_tokens // (len(parents) + len(agents)), room.summariser)
    return (
        *((parent, choose_merged_transfer(parent, share)) for parent in parents),
        *((end, choose_agent_transfer(end)) for end in agents),
    )


def choose_transfer(parent: WindowRecord, room: Room) -> Transfer:
    """Choose the richest transfer that fits (§8.2).

    Args:
        parent: a committed window.
        room: what there is for it.
    """
    if _is_absent(parent):
        return Transfer(TransferType.FACTS_ONLY, 0, "", (), (NOT_HERE, SUMMARY_UNAVAILABLE))
    deferred = _deferred_ids(parent)
    deferred_tokens = _deferred_tokens(parent)
    whole = parent.response_tokens + deferred_tokens
    if _fits(whole, room):
        # SPEC-004 §8.1: "complete parent response + envelope".
        return Transfer(
            TransferType.FULL_CONTEXT,
            whole,
            parent.response_text,
            deferred,
            transferred_fact_ids=parent.facts_included,
        )
    skipped: tuple[str, ...] = (_too_large(TransferType.FULL_CONTEXT, whole, room),)
    summary, why_not = _summary(parent, room, skipped)
    if summary is not None:
        return summary
    skipped = (*skipped, why_not)
    if _fits(deferred_tokens, room):
        return Transfer(TransferType.FACTS_ONLY, deferred_tokens, "", deferred, skipped)
    return _result(parent, (*skipped, _too_large(TransferType.FACTS_ONLY, deferred_tokens, room)))


def choose_merged_transfer(parent: WindowRecord, room: Room) -> Transfer:
    """Choose what a fan-in takes from one of its parents: its summary, else its conclusion (§7.3.3, §8.1; ADR 0050).

    Args:
        parent: a committed window.
        room: the parent's share of the budget.
    """
    if _is_absent(parent):
        return Transfer(TransferType.FACTS_ONLY, 0, "", (), (NOT_HERE, SUMMARY_UNAVAILABLE))
    summary, why_not = _summary(parent, room, ())
    transfer = summary if summary is not None else _result(parent, (why_not,))
    # SPEC-004 §7.3.3, step 3: what a synthesis says of its parents' facts must find these facts in its envelope.
    return replace(transfer, transferred_fact_ids=parent.facts_included)


def choose_agent_transfer(end: WindowRecord) -> Transfer:
    """Return what a fan-in takes from an agent's session: its conclusion, and the facts that it rests on (ADR 0170)."""
    if _is_absent(end):
        return Transfer(TransferType.FACTS_ONLY, 0, "", (), (NOT_HERE,))
    return replace(_result(end, ()), transferred_fact_ids=end.facts_included)


def summary_length(response_tokens: int, available_tokens: int) -> int:
    """Return N of §12.2, rounded down, at least 1."""
    of_response = response_tokens * SUMMARY_OF_RESPONSE_PERCENT // 100
    return max(1, min(of_response, available_tokens * SUMMARY_OF_BUDGET_PERCENT // 100))


def last_paragraph(text: str) -> str:
    """Return the response's conclusion: its last paragraph that holds more than white space."""
    paragraphs = [part.strip() for part in text.split("\n\n")]
    return next((part for part in reversed(paragraphs) if part), "")


def _summary(parent: WindowRecord, room: Room, skipped: tuple[str, ...]) -> tuple[Transfer | None, str]:
    """Return the SUMMARY transfer, or why there is none."""
    if not room.summariser:
        return None, SUMMARY_UNAVAILABLE
    if not parent.response_text.strip():
        return None, NOTHING_TO_SUMMARISE
    length = summary_length(parent.response_tokens, room.available_tokens)
    tokens = length + _deferred_tokens(parent)
    if not _fits(tokens, room):
        return None, _too_large(TransferType.SUMMARY, tokens, room)
    summary = Transfer(
        TransferType.SUMMARY,
        tokens,
        parent.response_text,
        _deferred_ids(parent),
        skipped,
        summary_tokens=length,
        fallback_text=last_paragraph(parent.response_text),
    )
    return summary, ""


def _result(parent: WindowRecord, skipped: tuple[str, ...]) -> Transfer:
    text = last_paragraph(parent.response_text)
    return Transfer(TransferType.RESULT_ONLY, _share(parent, text), text, (), skipped)


def _is_absent(parent: WindowRecord) -> bool:
    """Say whether the response is elsewhere or was erased."""
    return is_adopted(parent) or (parent.response_tokens > 0 and not parent.response_text)


def _deferred_ids(parent: WindowRecord) -> tuple[str, ...]:
    return tuple(fact.fact_id for fact in parent.facts_deferred)


def _deferred_tokens(parent: WindowRecord) -> int:
    return sum(fact.token_count for fact in parent.facts_deferred)


def _fits(tokens: int, room: Room) -> bool:
    """Compare in whole numbers: 0.60 has no exact binary fraction."""
    return tokens * 100 <= room.available_tokens * PARENT_SHARE_PERCENT


def _too_large(transfer_type: TransferType, tokens: int, room: Room) -> str:
    return f"{transfer_type}: {tokens} tokens are over {PARENT_SHARE_PERCENT}% of {room.available_tokens}"


def _share(parent: WindowRecord, part: str) -> int:
    if not part:
        return 0
    return -(-parent.response_tokens * len(part) // len(parent.response_text))
