"""Words that stand against each other: "approved" and "rejected", "rose" and "fell", "positive" and "negative".

A closed list, for the rules that compare statements which are otherwise alike (SPEC-005 §5.4, §8.2): logical
opposites, and opposites of stance. The entailment model sees whatever the list does not hold.
"""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.reading.words import stem, word_texts


@unique
class Opposition(StrEnum):
    """What kind of opposites two words are (SPEC-005 §8.2, step 6.4)."""

    LOGICAL = "LOGICAL"
    STANCE = "STANCE"


@dataclass(frozen=True, slots=True, order=True)
class Side:
    """On which of its two sides a word stands; words of one axis are comparable."""

    axis: str
    is_first: bool
    opposition: Opposition


_UP: Final = (
    "increase increases increased increasing rise rises rose risen rising grow grows grew grown growing climb climbs"
    " climbed climbing surge surges surged"
)
_DOWN: Final = (
    "decrease decreases decreased decreasing fall falls fell fallen falling drop drops dropped dropping shrink shrinks"
    " shrank shrunk shrinking"
)
_LOGICAL: Final = {
    "change": (_UP, _DOWN),
    "approval": (
        "approve approves approved accept accepts accepted grant grants granted confirm confirms confirmed",
        "reject rejects rejected refuse refuses refused deny denies denied decline declines declined",
    ),
    "ruling": (
        "uphold upholds upheld affirm affirms affirmed",
        "overturn overturns overturned reverse reverses reversed quash quashes quashed annul annuls annulled",
    ),
    "presence": ("present", "absent"),
    "permission": (
        "allow allows allowed permit permits permitted",
        "prohibit prohibits prohibited forbid forbids forbidden ban bans banned",
    ),
    "duty": ("mandatory compulsory obligatory required", "optional voluntary"),
    "inclusion": ("include includes included cover covers covered", "exclude excludes excluded"),
    "success": ("succeed succeeds succeeded successful", "fail fails failed unsuccessful"),
    "access": ("open opens opened", "closed closes shut"),
    "activity": ("enabled active", "disabled inactive"),
    "law": ("legal lawful", "illegal unlawful"),
    "validity": ("valid", "invalid void"),
    "eligibility": ("eligible", "ineligible"),
    "possibility": ("possible", "impossible"),
    "truth": ("true correct", "false incorrect"),
    "safety": ("safe", "unsafe"),
    "profit": ("profitable", "unprofitable"),
    "edge": ("start starting beginning commencement", "end ending expiry termination"),
    "extreme": ("minimum", "maximum"),
    "size": ("smallest lowest shortest", "largest highest longest"),
    "age": ("earliest oldest", "latest newest"),
    "travel": ("arrival arriving inbound incoming", "departure departing outbound outgoing"),
    "trade": ("import imports imported", "export exports exported"),
    "scope": ("internal domestic", "external foreign"),
    "amount": ("gross", "net"),
    "span": ("temporary temporarily", "permanent permanently"),
    "form": ("oral orally verbal verbally", "written writing"),
    "place": ("indoor indoors", "outdoor outdoors"),
    "side": ("left upper front", "right lower rear"),
    "tenancy": ("landlord lessor", "tenant lessee"),
    "employment": ("employer", "employee"),
    "sale": ("buyer purchaser", "seller vendor"),
    "loan": ("lender creditor", "borrower debtor"),
}
_STANCE: Final = {
    "stance": (
        "positive favourable favorable supportive optimistic satisfied enthusiastic welcoming",
        "negative unfavourable unfavorable hostile pessimistic dissatisfied disappointed sceptical skeptical",
    ),
}


def _table() -> dict[str, Side]:
    listed: dict[str, Side] = {}
    for opposition, axes in ((Opposition.LOGICAL, _LOGICAL), (Opposition.STANCE, _STANCE)):
        for axis, (first, second) in axes.items():
            listed |= {word: Side(axis, is_first=True, opposition=opposition) for word in first.split()}
            listed |= {word: Side(axis, is_first=False, opposition=opposition) for word in second.split()}
    return listed


_SIDES: Final = _table()


def sides(text: str) -> tuple[frozenset[Side], frozenset[str]]:
    """Return the sides that the words of a text stand on, and the stems of those words."""
    listed = [(word, side) for word in word_texts(text) if (side := _SIDES.get(word)) is not None]
    return frozenset(side for _, side in listed), frozenset(stem(word) for word, _ in listed)


def opposed(left: frozenset[Side], right: frozenset[Side]) -> Opposition | None:
    """Return how two texts stand against each other: on the same axes, and on the two sides of exactly one."""
    if {side.axis for side in left} != {side.axis for side in right} or len(left) != len(right):
        return None
    turned = left - right
    return next(iter(turned)).opposition if len(turned) == 1 else None
