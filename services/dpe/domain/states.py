"""The state that a statement says of a thing, with the force of it: two statements may say opposite states (ADR 0196).

"Out of order" and "working", "in force" and "expired", "let" and "vacant" are phrases that no list of single words
holds. A phrase is taken out of the text, so that what is left is what the state is said of. One pass for each axis.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.reading.opposites import sides
from services.common.reading.polarity import is_negated
from services.common.reading.words import stem, words
from services.dpe.domain.rules.modality import Force, forces

_PHRASES: Final[dict[str, tuple[str, str]]] = {
    "order": (
        r"in (?:full |good )?working order|(?:is|are) working(?: again)?|(?:is|are) functional|works again",
        r"out of order|defective|broken(?: down)?|not working",
    ),
    "running": (
        (r"in(?:to)? (?:full )?(?:operation|service|use)|up and running|operational"
        r"|(?:switched|turned) on|enabled|on by default"),
        (r"out of (?:service|operation|use)|(?:been )?(?:shut (?:down|off)|switched off|turned off)|decommissioned"
        r"|off by default|disabled|deactivated|taken (?:offline|out of service)"),
    ),
    "force": (
        r"(?:still |remains? |c[ao]mes? )?in(?:to)? (?:force|effect)|(?:still |remains? )valid",
        r"(?:has |have )?(?:expired|lapsed)|no longer in (?:force|effect)|void",
    ),
    "tenancy": (r"(?:is|are|been) (?:let|rented(?: out)?|occupied)", r"vacant|unoccupied|(?:stands|standing) empty"),
    "payment": (
        r"(?:been )?(?:settled|paid)(?: (?:in full|off|out))?",
        r"(?:still )?(?:outstanding|unpaid|unsettled|overdue)",
    ),
    "decision": (
        (r"approved?|approves|(?<=appeal )(?:was|is|has been) allowed|adopt(?:s|ed)?"
        r"|carried(?! (?:by|to|from|on|in|out)\b)"),
        r"(?:still |yet )?(?:pending|undecided)|turned down|rejected|voted down|refused|dismissed",
    ),
    "prescription": (
        r"without (?:a )?prescription|over the counter|non-prescription",
        r"on prescription only|only on prescription|(?:needs?|requires?) a prescription|prescription-only",
    ),
    "link": (r"connected to", r"(?:yet to be|not yet|dis)connected (?:to|from)|disconnected"),
    "market": (
        r"(?:still |remains? )?(?:on|in) (?:the market|sale)|(?:still )?available",
        r"withdrawn(?: from (?:the market|sale))?|discontinued|unavailable|off the market",
    ),
    "price": (r"free of charge|for free|without (?:paying|charge)|at no (?:cost|charge)|costs? nothing",
              r"costs? (?:extra|money|visitors? money)|at (?:a|extra) charge|subject to a fee"),
    "stock": (r"in stock", r"out of stock|sold out"),
    "date": (r"up to date", r"out of date|outdated"),
    "reach": (
        r"open(?:s|ed|ing)?(?: to traffic| again)?|accessible|reachable|(?:still )?be reached",
        r"clos(?:e|es|ed|ing)(?: to traffic)?|blocked|inaccessible",
    ),
    "outcome": (
        r"pass(?:es|ed)?|succeed(?:s|ed)?|(?:was|is) successful|meets?|met",
        r"fail(?:s|ed)?|(?:was|is) unsuccessful|f[ae]lls? short of|missed",
    ),
    "change": (
        r"rose|risen|increased?|increasing|grew|grown|growing|climbed|went up|gone up",
        r"fell|fallen|decreased?|decreasing|dropped|shrank|shrunk|shrink|declined|went down|gone down|sank",
    ),
    "health": (r"healed(?: completely)?", r"(?:still )?(?:shows )?an? open wound|not healed"),
    "progress": (
        r"(?:been )?(?:completed|finished|concluded)",
        r"unfinished|incomplete|(?:still )?(?:in progress|under way|underway|ongoing)",
    ),
    "solution": (r"(?:been )?(?:solved|resolved|fixed|remedied)", r"(?:still )?(?:unsolved|unresolved)"),
    "winner": (r"won|wins", r"lost|loses"),
    "renewal": (r"(?:been )?(?:renewed|extended|prolonged)", r"(?:been )?(?:terminated|cancelled|canceled|revoked)"),
    "trial": (r"(?:been |was )?acquitted|not guilty", r"(?:been |was )?convicted|found guilty"),
    "secrecy": (r"(?:is|are|made) public|publicly available", r"confidential|(?:is|are|kept) secret|under seal"),
    "manner": (r"by hand|manually", r"automatically|by machine"),
    "presence of staff": (r"(?:is|are) at work|on duty", r"on (?:\w+ )?leave|off duty|off sick"),
    "booking": (r"places (?:are )?available|(?:still )?has vacancies", r"fully booked|booked up"),
    "course": (r"improved?|improving|got better", r"worsen(?:s|ed|ing)?|deteriorat(?:es|ed|ing)|got worse"),
    "water": (r"(?:is|are|was|were) dry", r"(?:is|are|was|were) (?:wet|damp|flooded)"),
    "soundness": (r"(?:is|are|was|were) (?:intact|sound|undamaged)", r"(?:is|are|was|were) damaged|in need of repair"),
    "contents": (r"contains?|with added", r"(?:is |are )?free (?:of|from)(?: any)?"),
}  # fmt: skip
_AXES: Final = {
    axis: re.compile(rf"\b(?:(?P<second>{second})|(?P<first>{first}))\b", re.IGNORECASE)
    for axis, (first, second) in _PHRASES.items()
}
_TELLING: Final = {
    "order": ("order", "work", "function", "defect", "broken"),
    "running": (
        *("operation", "service", "use", "running", "on", "able", "shut", "switch", "turned off", "decommission"),
        *("off by", "deactivat", "offline"),
    ),
    "force": ("force", "effect", "valid", "expired", "lapsed", "void"),
    "tenancy": ("let", "rent", "occupied", "vacant", "empty"),
    "payment": ("settled", "paid", "outstanding", "overdue"),
    "decision": ("appro", "appeal", "adopt", "carried", "pending", "undecided", "turned", "reject", "voted", "refus",
                 "dismiss"),
    "prescription": ("prescri", "counter"),
    "link": ("connect",),
    "market": ("market", "sale", "avail", "withdrawn", "discontinu"),
    "price": ("charge", "free", "pay", "cost", "fee"),
    "stock": ("stock", "sold"),
    "date": ("date",),
    "reach": ("open", "access", "reach", "clos", "block"),
    "outcome": ("pass", "succe", "met", "meet", "fail", "unsucc", "short", "missed"),
    "change": ("rose", "risen", "increas", "gr", "climb", "went", "gone", "fell", "fallen", "decreas", "dropp", "shr",
               "declin", "sank"),
    "health": ("heal", "wound"),
    "progress": ("completed", "finished", "concluded", "incomplete", "progress", "way", "ongoing"),
    "solution": ("solved", "fixed", "remedied"),
    "winner": ("won", "wins", "lost", "loses"),
    "renewal": ("renewed", "extended", "prolonged", "terminated", "cancel", "revoked"),
    "trial": ("acquit", "guilty", "convict"),
    "secrecy": ("public", "confidential", "secret", "seal"),
    "manner": ("hand", "manual", "automat", "machine"),
    "presence of staff": ("work", "duty", "leave", "sick"),
    "booking": ("places", "vacanc", "booked"),
    "course": ("improv", "better", "wors", "deterior"),
    "water": ("dry", "wet", "damp", "flooded"),
    "soundness": ("intact", "sound", "damaged", "repair"),
    "contents": ("contain", "added", "free"),
}  # fmt: skip
"""What a text holds that any phrase of an axis stands in: most texts hold none, and are not searched for it."""
_PLAIN: Final = frozenset(
    {"approval", "ruling", "presence", "inclusion", "success", "access", "activity", "law", "validity", "eligibility"}
    | {"possibility", "truth", "safety", "profit", "stance", "permission", "duty"}
)
"""Axes of single words that say a state; those of the others tell things apart ("gross", "tenant", "arrival")."""
_VAGUE: Final = re.compile(
    r"\b(?:some|several|certain|many|few|part(?:ly|ially)?|sometimes|often|not all|not every"
    r"|not only|not necessarily|half of|various|another)\b",
    re.IGNORECASE,
)
"""What is said of some may be denied of others."""
_POSSESSIVE: Final = re.compile(r"['’]s\b")  # noqa: RUF001 - typographic apostrophe
_NEEDS: Final = re.compile(r"\b(?:need(?:s|ed)?|require[sd]?|mandatory|compulsory|must|ha(?:s|ve) to)\b", re.IGNORECASE)
_HELD: Final = frozenset({Force.MAY, Force.MIGHT})
_DENYING: Final = frozenset({Force.FORBIDDEN, Force.NEED_NOT})
_DUTY: Final = frozenset({Force.MUST, Force.SHOULD})


@dataclass(frozen=True, slots=True)
class Standing:
    """How a statement stands.

    Attributes:
        axes: what it says a state on.
        second: those of them on whose second side it stands.
        others: sides of words that tell things apart ("gross", "tenant").
        negated: the rest is negated.
        force: the one force that it is said with; ``None`` = none, or several.
        needs: it says that something is needed.
        vague: it is said of some, or of a part.
        rest: the text with state and force blanked out; offsets stay what they were.
    """

    axes: frozenset[str]
    second: frozenset[str]
    others: frozenset[tuple[str, bool]]
    negated: bool
    force: Force | None
    vague: bool
    needs: bool
    rest: str


def standing(text: str) -> Standing:
    """Read how a statement stands."""
    rest, axes, second = text, set[str](), set[str]()
    lowered = text.lower()
    for axis, pattern in _AXES.items():
        found = pattern.search(rest) if any(part in lowered for part in _TELLING[axis]) else None
        if found is not None:
            axes.add(axis)
            second |= {axis} if found["second"] is not None else set()
            rest = _blanked(rest, *found.span())
    said = forces(rest)
    for _, start, end in said:
        rest = _blanked(rest, start, end)
    listed, turning = sides(_POSSESSIVE.sub("  ", rest))
    for side in listed:
        if side.axis in _PLAIN:
            axes.add(side.axis)
            second ^= set() if side.is_first else {side.axis}
    others = frozenset((side.axis, side.is_first) for side in listed if side.axis not in _PLAIN)
    kinds = {force for force, _, _ in said}
    return Standing(
        frozenset(axes),
        frozenset(second),
        others,
        is_negated(rest),
        next(iter(kinds)) if len(kinds) == 1 else None,
        bool(_VAGUE.search(text)),
        bool(_NEEDS.search(text)),
        _without(rest, turning),
    )


def turned(left: Standing, right: Standing) -> bool | None:
    """Say whether two statements say opposite states of what is otherwise the same; ``None`` = nobody can say."""
    if left.vague or right.vague or left.axes != right.axes or left.others != right.others:
        return None
    flips = len(left.second ^ right.second)
    one, other = left.force, right.force
    if flips and left.negated and right.negated:
        return None  # "not approved" and "not rejected" may both be true
    if flips > 1 or (one in _HELD and other in _HELD and (flips or Force.MIGHT in {one, other})):
        return None  # what may be so may be otherwise as well
    if (one in _DENYING) != (other in _DENYING):
        if Force.NEED_NOT in {one, other} and not ({one, other} & _DUTY or (left.needs and right.needs)):
            return None
        flips += 1
    elif one in _DENYING and one is not other:
        return None
    return (flips + (left.negated != right.negated)) % 2 == 1


def alike(left: Standing, right: Standing, *, limited: bool = False) -> bool:
    """Say whether two statements say the same state of a thing, as far as both say one.

    Args:
        left: the one.
        right: the other.
        limited: both name the side of a value, which takes in what is forbidden and negated.
    """
    denied = [one.negated != (one.force in _DENYING) for one in (left, right)]
    if limited:
        return left.second == right.second and _without_extremes(left) == _without_extremes(right)
    return left.second == right.second and left.others == right.others and denied[0] == denied[1]


def deny_alike(left: Standing, right: Standing) -> bool:
    """Say whether both statements are negated or forbid something, or neither is and does."""
    return (left.negated != (left.force in _DENYING)) == (right.negated != (right.force in _DENYING))


def _without_extremes(one: Standing) -> frozenset[tuple[str, bool]]:
    return frozenset(other for other in one.others if other[0] != "extreme")


_PARTIES: Final = frozenset({"tenancy", "employment", "sale", "loan"})


def other_party(left: Standing, right: Standing) -> bool:
    """Say whether one statement says of one party of a contract what the other says of its counterpart."""
    turned_round = {axis for axis, _ in left.others ^ right.others}
    same = left.second == right.second and left.negated == right.negated and left.force in {right.force, None}
    return same and len(turned_round) == 1 and turned_round <= _PARTIES and len(left.others) == len(right.others)


def only_change(left: Standing, right: Standing) -> bool:
    """Say whether one statement tells of a rise and the other of a fall, and nothing else is opposite."""
    same = left.negated == right.negated and left.others == right.others and left.force is right.force
    return same and left.axes == right.axes and left.second ^ right.second == {"change"}


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _without(text: str, turning: frozenset[str]) -> str:
    """Return the text without the words whose stems are given."""
    for word in reversed(words(text)) if turning else ():
        if stem(word.text) in turning:
            text = _blanked(text, word.start, word.end)
    return text
