"""Words that stand against each other: "approved" and "rejected", "rose" and "fell", "positive" and "negative".

A closed list, for the rules that compare statements which are otherwise alike (SPEC-005 §5.4, §8.2): logical
opposites, and opposites of stance. The entailment model sees whatever the list does not hold.
"""

from dataclasses import dataclass
from enum import StrEnum, unique
from itertools import pairwise
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
BEGIN: Final = "begin begins began begun start starts started commence commences commenced"
END: Final = "end ends ended expire expires expired finish finishes finished"
"""Verbs of what begins and of what ends."""
_OPENED: Final = "opens opened"
_CLOSED: Final = "closed closes shut"
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
    "access": (f"open {_OPENED}", _CLOSED),
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
_RISES: Final = f"{_UP} growth raise raises raised raising gain gains gained go_up goes_up went_up"
_FALLS: Final = (
    f"{_DOWN} decline declines declined declining sink sinks sank reduce reduces reduced reducing reduction reductions"
    " cut cuts cutting lower lowers lowered lowering go_down goes_down went_down"
)
_BEGINS: Final = f"{_LOGICAL['edge'][0]} {BEGIN} {_OPENED} opening launch launches launched launching sign signs signed"
_ENDS: Final = (
    f"{_LOGICAL['edge'][1]} {END} finishing complete completes completed completing"
    f" completion close {_CLOSED} closing closure done expiring stop stops stopped"
    " cease ceases ceased terminate terminates terminated cancel cancels cancelled canceled"
)
_COMES: Final = (
    f"{_LOGICAL['travel'][0]} arrive arrives arrived arrivals land lands landed check_in checkin"
    " deliver delivers delivered delivering delivery deliveries receive receives received"
)
_LEAVES: Final = (
    f"{_LOGICAL['travel'][1]} depart departs departed departures leave leaves leaving left check_out checkout"
    " take_off takes_off took_off dispatch dispatches dispatched ship ships shipped send sends sent"
)
_ACTS: Final = {"change": (_RISES, _FALLS), "edge": (_BEGINS, _ENDS), "travel": (_COMES, _LEAVES)}
"""What begins and what ends, with more words than where whole statements are compared: there a "done" says little."""


def _table(axes: dict[str, tuple[str, str]], opposition: Opposition) -> dict[str, Side]:
    listed: dict[str, Side] = {}
    for axis, both in axes.items():
        for is_first, side in zip((True, False), both, strict=True):
            own = Side(axis, is_first=is_first, opposition=opposition)
            listed |= {word.replace("_", " "): own for word in side.split()}
    return listed


_SIDES: Final = _table(_LOGICAL, Opposition.LOGICAL) | _table(_STANCE, Opposition.STANCE)
_SIDES_OF_ACTS: Final = _table(_ACTS, Opposition.LOGICAL)


def sides(text: str) -> tuple[frozenset[Side], frozenset[str]]:
    """Return the sides that the words of a text stand on, and the stems of those words."""
    listed = [(word, side) for word in word_texts(text) if (side := _SIDES.get(word)) is not None]
    return frozenset(side for _, side in listed), frozenset(stem(word) for word, _ in listed)


def acts(text: str) -> frozenset[Side]:
    """Return on which sides the acts of a text stand: what rises or falls, begins or ends, comes or leaves."""
    read = word_texts(text)
    pairs = (f"{first} {second}" for first, second in pairwise(read))
    return frozenset(side for word in (*read, *pairs) if (side := _SIDES_OF_ACTS.get(word)) is not None)


def opposed(left: frozenset[Side], right: frozenset[Side]) -> Opposition | None:
    """Return how two texts stand against each other: on the same axes, and on the two sides of exactly one."""
    if {side.axis for side in left} != {side.axis for side in right} or len(left) != len(right):
        return None
    turned = left - right
    return next(iter(turned)).opposition if len(turned) == 1 else None
