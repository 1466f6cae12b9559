"""Rules as handbooks and terms of business state them: who may do what, how far, under which condition.

Encyclopaedias and news hardly hold such sentences, and stripped conditions are what goes wrong when a model answers
from rules. Passages are drawn from slots; a claim states one rule of its passage, or that rule with one slot changed.
Whether it is supported follows from the slots, not from the wording: both sorts are worded by the same templates.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from training.rows import GroundingRow

DEEDS: Final = {
    "customers": (
        "return an item",
        "cancel an order",
        "request a refund",
        "exchange a product",
        "change the delivery address",
    ),
    "employees": (
        "work from home",
        "carry over unused leave",
        "claim travel expenses",
        "take unpaid leave",
        "work overtime",
    ),
    "students": ("borrow books", "retake an exam", "use the laboratory", "defer a payment", "change courses"),
    "tenants": ("keep pets", "sublet the flat", "paint the walls", "park in the courtyard", "use the laundry room"),
    "members": ("bring guests", "book a court", "suspend the membership", "use the pool", "reserve a locker"),
    "patients": (
        "reschedule an appointment",
        "request their records",
        "receive visitors",
        "leave the ward",
        "order meals",
    ),
    "contractors": (
        "enter the site",
        "use company equipment",
        "submit invoices",
        "hire assistants",
        "access the network",
    ),
    "administrators": ("reset passwords", "delete accounts", "export the logs", "grant access", "restart the servers"),
}
CONDITIONS: Final = {
    "customers": (
        "the packaging is unopened",
        "a receipt is shown",
        "the order has not been shipped",
        "the account is verified",
    ),
    "employees": (
        "the manager agrees",
        "the probation period is over",
        "the team is informed",
        "the request is made in writing",
    ),
    "students": (
        "the fees have been paid",
        "a supervisor is present",
        "the deadline has not passed",
        "they are enrolled full time",
    ),
    "tenants": (
        "the landlord agrees in writing",
        "the rent has been paid",
        "the neighbors do not object",
        "a deposit is made",
    ),
    "members": ("they book in advance", "the fee has been paid", "the club is not full", "they show their card"),
    "patients": ("the doctor agrees", "a form is signed", "the insurance covers it", "they are over 18"),
    "contractors": (
        "they wear a badge",
        "the training is complete",
        "the contract is signed",
        "an employee accompanies them",
    ),
    "administrators": ("two of them agree", "the change is logged", "the owner consents", "a backup exists"),
}
MODALS: Final = {"may": "may not", "can": "cannot", "are allowed to": "are not allowed to"}
UNITS: Final = {"hours": "days", "days": "weeks", "weeks": "months", "months": "weeks"}
LIMITS: Final = (
    "within {n} {unit}",
    "for up to {n} {unit}",
    "for at least {n} {unit}",
    "after {n} {unit}",
    "every {n} {unit}",
)
LINKS: Final = {"if": "unless", "unless": "if", "only if": "even if", "provided that": "unless"}
INTRODUCTIONS: Final = (
    "The following rules apply.",
    "This page sums up the current policy.",
    "Please read these terms with care.",
    "These rules were last reviewed in spring.",
    "Questions are answered by the office.",
)
CONDITION_FIRST_SHARE: Final = 0.4
VALUES: Final = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 20, 21, 24, 28, 30, 36, 45, 48, 60, 90)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; ``link`` and ``condition`` are both empty where it holds without any condition."""

    who: str
    modal: str
    deed: str
    limit: str
    value: int
    unit: str
    link: str
    condition: str


@dataclass(frozen=True, slots=True)
class Worded:
    """A rule in words, and where each slot stands in them."""

    text: str
    slots: dict[str, tuple[int, int]]


def policy_rows(count: int, choice: Random) -> list[GroundingRow]:
    """Return so many rows (rounded up to pairs): one supported and one unsupported claim about each passage."""
    rows: list[GroundingRow] = []
    while len(rows) < count:
        rules = list(_rules(choice, choice.randint(2, 5)))
        premise = " ".join(
            [
                choice.choice(INTRODUCTIONS),
                *(worded(rule, condition_first=choice.random() < CONDITION_FIRST_SHARE).text for rule in rules),
            ]
        )
        true = worded(
            _same_modal(choice.choice(rules), choice), condition_first=choice.random() < CONDITION_FIRST_SHARE
        )
        rows.append(GroundingRow(premise, true.text, supported=True, spans=(), origin="policy/kept", query=None))
        kind, changed, slots = choice.choice(list(changes(choice.choice(rules), rules, choice)))
        false = worded(_same_modal(changed, choice), condition_first=choice.random() < CONDITION_FIRST_SHARE)
        spans = tuple(sorted({false.slots[slot] for slot in slots}))
        rows.append(
            GroundingRow(premise, false.text, supported=False, spans=spans, origin=f"policy/{kind}", query=None)
        )
    return rows


def worded(rule: Rule, *, condition_first: bool) -> Worded:
    """Put a rule in words, its condition in front where that is asked for and possible."""
    limit = rule.limit.format(n=rule.value, unit=rule.unit)
    main = [("who", rule.who), ("modal", f"{rule.modal} {rule.deed}"), ("limit", limit)]
    if not rule.condition:
        parts = main
    elif condition_first and rule.link in {"if", "unless", "provided that", "even if"}:
        parts = [("condition", f"{rule.link} {rule.condition},"), *main]
    else:
        parts = [*main, ("condition", f"{rule.link} {rule.condition}")]
    text, slots = "", {}
    for slot, words in parts:
        start = len(text) + bool(text)
        text = f"{text} {words}" if text else words
        slots[slot] = (start, len(text))
    return Worded(f"{text[0].upper()}{text[1:]}.", slots)


def changes(rule: Rule, rules: Sequence[Rule], choice: Random) -> Iterator[tuple[str, Rule, tuple[str, ...]]]:
    """Yield changes that cost a rule the support of a passage of these rules: kind, changed rule, slots to mark.

    A condition that is gone leaves no words to mark; what now holds without it is marked instead.
    """
    value = choice.choice([other for other in VALUES if other != rule.value])
    yield "number", replace(rule, value=value), ("limit",)
    yield "unit", replace(rule, unit=UNITS[rule.unit]), ("limit",)
    yield "limit", replace(rule, limit=choice.choice([limit for limit in LIMITS if limit != rule.limit])), ("limit",)
    yield "negation", replace(rule, modal=_negated(rule.modal)), ("modal",)
    present = {other.who for other in rules if other.deed == rule.deed}
    yield "who", replace(rule, who=choice.choice([who for who in DEEDS if who not in present])), ("who",)
    others = [deed for deed in DEEDS[rule.who] if all(deed != other.deed for other in rules)]
    if others:
        yield "deed", replace(rule, deed=choice.choice(others)), ("modal",)
    if rule.condition:
        yield "condition stripped", replace(rule, link="", condition=""), ("modal",)
        yield "condition turned", replace(rule, link=LINKS[rule.link]), ("condition",)
        condition = choice.choice([other for other in CONDITIONS[rule.who] if other != rule.condition])
        yield "condition exchanged", replace(rule, condition=condition), ("condition",)
    else:
        condition = choice.choice(CONDITIONS[rule.who])
        yield "condition added", replace(rule, link="only if", condition=condition), ("condition",)


def _rules(choice: Random, count: int) -> Iterator[Rule]:
    """Yield rules about different deeds; half of them about the same people, so that they are easily mixed up."""
    first = choice.choice(list(DEEDS))
    seen: set[str] = set()
    while len(seen) < count:
        who = first if choice.random() < 0.5 else choice.choice(list(DEEDS))  # noqa: PLR2004
        deed = choice.choice(DEEDS[who])
        if deed in seen:
            continue
        seen.add(deed)
        bare = choice.random() < 0.3  # noqa: PLR2004
        modal = choice.choice([*MODALS, *MODALS.values()])
        link = "" if bare else choice.choice([link for link in LINKS if link != "only if" or modal in MODALS])
        condition = "" if bare else choice.choice(CONDITIONS[who])
        limit, unit = choice.choice(LIMITS), choice.choice(list(UNITS))
        yield Rule(who, modal, deed, limit, choice.choice(VALUES), unit, link, condition)


def _same_modal(rule: Rule, choice: Random) -> Rule:
    """Say ``can`` for ``may`` or the other way round: true and false claims are reworded alike."""
    return replace(rule, modal=choice.choice([*MODALS] if rule.modal in MODALS else [*MODALS.values()]))


def _negated(modal: str) -> str:
    return MODALS.get(modal) or next(positive for positive, negative in MODALS.items() if negative == modal)
