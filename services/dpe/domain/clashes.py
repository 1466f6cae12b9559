"""Whether what differs in two statements about one thing can be true of it at once (SPEC-005 §8.2; ADR 0196).

An amount clashes with another unless a limit holds both; a date with another of what happens once; a name with another
in a post that one person holds, or where one of the two is said to be the only one.
"""

import re
from typing import Final

from services.common.reading.bounds import Bound
from services.common.reading.synonyms import plain_terms
from services.common.reading.words import words
from services.dpe.domain.differences import Difference, Limited
from services.dpe.domain.rules.contrasts import changed_contrast
from services.dpe.domain.rules.reading import Reading

_ONCE: Final = re.compile(
    r"\b(?:found(?:ed|ing)|establish(?:ed|ment)|open(?:ed|s|ing)|buil[td]|construct(?:ed|ion)|clos(?:ed|es|ing)"
    r"|shut|switched|start(?:s|ed)?|beg(?:an|ins?|un)|commence[sd]?|end(?:s|ed)?|expire[sd]?|expiry|launch(?:ed|es)?"
    r"|releas(?:ed|e)|publish(?:ed)?|publication|retire[sd]|died|born|joined|hired|took over|taken over|takes over"
    r"|hand(?:ed)?\s?over|handover|retrofit(?:ted)?|moved?|approv(?:ed|al)|grant(?:ed)?|enacted|adopted|dissolved"
    r"|complet(?:ed|ion)|filed|reached|arrived?|arrives|recall(?:ed)?|introduced|c[ao]mes? into|went into|goes into"
    r"|in operation|converted|installed|commissioned|due|payable|valid|runs?|lasts?|in force|appl(?:ies|ied)|acquired"
    r"|operated on|operation on|deadline|ratified|demolished|renovated|discovered|invented|next|ceased?|support"
    r"|sentenced|married|divorced|provides cover)\b",
    re.IGNORECASE,
)
"""What happens once, or begins or ends once, of the thing that is spoken of."""
_POST: Final = (
    r"chair(?:man|woman|person)?|president|mayor|director|manager|officer|judge|secretary|treasurer|leader|owner"
    r"|captain|principal|dean|editor|consignee|minister|chancellor|commissioner|ceo|cfo|capital|headquarters"
    r"|active (?:substance|ingredient)|head"
)
_HELD: Final = re.compile(
    rf"\b(?:{_POST})\b[^.;]{{0,60}}\b(?:is|was)\b"
    rf"|\b(?:elected|appointed|made|became|as|is|was) (?:the |our |its )?(?:{_POST})\b"
    r"|\b(?:headed|chaired|led|run|managed|owned|edited|audited|taught|decided|presided over)\sby\b"
    r"|\bpresid(?:es|ed|ing)\b|\bdecides?\b|\bteacher\b",
    re.IGNORECASE,
)
"""A post, or a task, that one has."""
_DONE_BY: Final = re.compile(
    r"\b(?:founded|designed|invented|written|composed|painted|built|manufactured|produced|made|discovered|repaired|won"
    r"|drafted|represented|replaced|succeeded|appointed|trained|treated|delivered|driven|handed over|taken|released"
    r"|operated|translated|directed|recorded|carried|installed)\sby\b"
    r"|\b(?:comes?|came|leaves?|departs?)\sfrom\b|\b(?:born|based|headquartered|located)\sin\b|\bnamed after\b",
    re.IGNORECASE,
)
"""What one does, or where one thing is from: two names for it do not go together."""
_MADE_OF: Final = re.compile(
    r"\b(?:made|built|consists?)\s(?:of|from)\b|\b(?:lubricated|coated|filled|insulated|heated|fuelled|powered)\s(?:with|by)\b"
    r"|\bwritten in\b|\b(?:runs|run) on\b",
    re.IGNORECASE,
)
"""What a thing is of, named by a word that need not be a name."""
_BORNE_BY: Final = re.compile(
    r"\b(?:pays?|paid|bears?|borne|responsible|expense|must|shall|ha(?:s|ve) to|obliged|liable|charge|up to|clears?)\b",
    re.IGNORECASE,
)
_SOLE: Final = re.compile(
    r"\b(?:only|sole)\s(?!by\b|in\b|on\b|if\b|when\b|for\b)[^.;,]{1,60}?\b(?:is|was|are|were)\s", re.IGNORECASE
)
"""One of a kind, "the only maker of the cover is"."""
_ONLY: Final = re.compile(r"\b(?:only|alone|exclusively|solely|sole|nobody but|no one but)\b", re.IGNORECASE)
_BESIDE_WORDS: Final = 4
_MOST_TERMS: Final = 3
_BETWEEN: Final = frozenset(
    {"the", "a", "an", "of", "for", "and", "in", "by", "with", "to", "own", "his", "her", "their"}
)


def amounts_clash(pair: tuple[Limited, Limited]) -> bool:
    """Say whether two amounts of one thing cannot both be true: of two limits on one side neither is the other."""
    one, other = pair
    first, second = one.value.magnitude, other.value.magnitude
    if len({one.value.per, other.value.per} - {""}) > 1 or (one.value.floor and other.value.floor):
        return False
    if first is None or second is None or one.side is other.side:
        return True
    if one.side is None or other.side is None:
        side, limit, plain = (one.side, first, second) if other.side is None else (other.side, second, first)
        return plain > limit if side is Bound.AT_MOST else plain < limit
    least, most = (first, second) if one.side is Bound.AT_LEAST else (second, first)
    return least > most


def dates_clash(pair: tuple[Limited, Limited], ours: str, theirs: str) -> bool:
    """Say whether two dates are of something that happens once."""
    one, other = pair
    if one.side is not other.side and None not in {one.side, other.side}:
        return False
    return bool(_ONCE.search(ours) or _ONCE.search(theirs))


def names_clash(found: Difference, ours: str, theirs: str) -> bool:
    """Say whether two statements name different ones for what one alone is or does."""
    if not (0 < len(found.ours) <= _MOST_TERMS and 0 < len(found.theirs) <= _MOST_TERMS):
        return False
    mine, others = _stretch(ours, found.ours), _stretch(theirs, found.theirs)
    if mine is None or others is None:
        return False
    if any(_only_beside(text, span) for text, span in ((ours, mine), (theirs, others))):
        return True
    texts = ours, theirs
    if not all(term.isalpha() for term in found.ours | found.theirs):
        return False  # versions, rooms and other numbered things
    if any(_MADE_OF.search(text) for text in texts):
        return True
    are_names = _is_named(ours, mine) and _is_named(theirs, others)
    return are_names and any(_HELD.search(text) or _DONE_BY.search(text) for text in texts)


def is_duty(ours: str, theirs: str) -> bool:
    """Say whether both statements say who has to do or to pay something."""
    return bool(_BORNE_BY.search(ours) and _BORNE_BY.search(theirs))


def contrast_clashes(ours: str, theirs: str) -> bool:
    """Say whether one statement says of a thing what the other sets apart itself: "by the nurse, not the surgeon"."""
    one, other = Reading.of(ours, 0), Reading.of(theirs, 0)
    return changed_contrast(one, [other]) is not None or changed_contrast(other, [one]) is not None


def _stretch(text: str, terms: frozenset[str]) -> tuple[int, int] | None:
    """Return where some terms stand together, with nothing but articles and prepositions between; else ``None``."""
    held = [(at, word) for at, word in enumerate(words(text)) if plain_terms(word.text) & terms]
    if not held:
        return None
    listed = words(text)
    inside = {at for at, _ in held}
    for at in range(held[0][0], held[-1][0]):
        if at not in inside and listed[at].text not in _BETWEEN and plain_terms(listed[at].text):
            return None
        if at not in inside and listed[at].text not in _BETWEEN:
            return None
    return held[0][1].start, held[-1][1].end


def _only_beside(text: str, span: tuple[int, int]) -> bool:
    """Say whether a stretch is said to be the only one: "only the shift leader", "the customer alone"."""
    for cue in _ONLY.finditer(text):
        if 0 <= cue.start() - span[1] <= 1:
            return True
        between = [word.text for word in words(text[cue.end() : span[0]])] if cue.end() <= span[0] else ["-"]
        if len(between) < _BESIDE_WORDS and all(word in _BETWEEN for word in between):
            return True
    return any(sole.end() == span[0] for sole in _SOLE.finditer(text))


def _is_named(text: str, span: tuple[int, int]) -> bool:
    """Say whether all words of a stretch, articles aside, are written large, or an article makes them one thing."""
    if re.search(r"\bthe\s$", text[: span[0]], re.IGNORECASE):
        return True
    return all(text[span[0] + word.start].isupper() or word.text in _BETWEEN for word in words(text[slice(*span)]))
