"""What a statement is limited by, and whether a claim left it out (SPEC-005 §5.3, CONTEXT_STRIPPED).

Three kinds of limits: conditions ("only if", "unless", "subject to"), restrictions ("with the consent of", "for private
use", "in mice") and reservations ("may", "some", "allegedly", "preliminary results suggest"). A limit is left out when
the claim says what the source says without it and nothing near the claim carries it in other words.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from services.common.reading.lexicon import (
    APPROXIMATORS,
    CARRYING,
    CONDITION_ADVERBS,
    CONDITION_CUES,
    RESERVATIONS,
    RESTRICTING_NOUNS,
    STOPWORDS,
    STUDIED,
)
from services.common.reading.text_types import Span
from services.common.reading.words import Word, containment, content_stems, stem, words

MIN_CARRIED: Final = 0.5
"""Share of a limit's words that the claim's surroundings must hold to carry it."""
_REACH_CHARS: Final = 80

# "when" opens a condition only behind what it limits: "When it opened, ..." tells of a time.
_CONDITION: Final = re.compile(
    r"\b(?:" + "|".join(re.escape(cue) for cue in CONDITION_CUES) + r")\b|(?<=[a-z] )when\b|(?<=[a-z] )only\b",
    re.IGNORECASE,
)
_RESTRICTION: Final = re.compile(
    rf"\b(?:with|without|upon|on|under|after|against)\s+(?:[\w'’-]+\s+){{0,4}}?(?:{RESTRICTING_NOUNS})\b"  # noqa: RUF001
    r"|\bfor\s+(?:non-?)?[\w-]+\s+(?:use|purposes)\b"
    rf"|\b(?:in|among|with)\s+(?:{STUDIED})\b",
    re.IGNORECASE,
)
_ALLOWED: Final = re.compile(
    r"\b(?:allowed|permitted|permits?|possible|entitled|part of|a number of|share of|chance|risk of|whether)\b",
    re.IGNORECASE,
)
"""Words that carry "may" and "some" in other ways."""


def left_out(source: str, said: str, around: str, clause: Span | None = None) -> Span | None:
    """Return the limit of a source that a claim leaves out, with offsets in the source; ``None`` = it leaves out none.

    Args:
        source: the sentence of the fact that the claim repeats.
        said: the claim.
        around: the claim with the sentences next to it.
        clause: the stretch of the source whose reservations count; ``None`` = all of it. "Most" in another clause is
            not said of what the claim says.
    """
    kept, spoken = content_stems(said), content_stems(around)
    for cue, governed in _conditions(source):
        condition = content_stems(governed) - kept
        is_adverb = cue.group().lower() in CONDITION_ADVERBS
        if (condition or is_adverb) and not _CONDITION.search(around) and containment(condition, spoken) < MIN_CARRIED:
            behind = source[cue.end() :].startswith(governed)
            return Span(cue.start(), cue.end() + (len(governed.rstrip()) if behind else 0))
    for restriction in _RESTRICTION.finditer(source):
        limit = content_stems(restriction.group())
        if limit and containment(limit, spoken) < MIN_CARRIED and not _CONDITION.search(said):
            return Span(restriction.start(), restriction.end())
    own = clause or Span(0, len(source))
    found = _reservation(source[own.start : own.end], around, spoken)
    return Span(own.start + found.start, own.start + found.end) if found is not None else None


def limits_another_statement(source: str, said: str, limit: int) -> bool:
    """Say whether a limit belongs to a statement that is added behind what the claim says.

    "Valuables are covered up to 20 percent, and a single item up to 5,000 euros unless it is listed" limits the item.
    """
    kept = content_stems(said)
    added = [cut.end() for cut in _ADDED.finditer(source, 0, limit)]
    if not added:
        return False
    between = content_stems(source[added[-1] : limit])
    return len(between) >= _MIN_STATEMENT and len(between & kept) <= _SHARED * len(between)


_ADDED: Final = re.compile(r"[,;]\s(?:and|but|or|while|whereas)\s|;\s")
_SHARED: Final = 0.34
"""Share of its words of content that it may have in common with the claim: "is covered" is said of both."""
_MIN_STATEMENT: Final = 2
"""Words of content of a statement before its limit."""


def _conditions(source: str) -> Iterator[tuple[re.Match[str], str]]:
    cue = next((one for one in _CONDITION.finditer(source) if not _in_spite(source, one)), None)
    if cue is not None and not _OR_ELSE.match(source, cue.end()):
        yield cue, _governed(source, cue)


_OR_ELSE: Final = re.compile(
    r"[^,.;:]{1,80},\sor\s(?:by|at|every|if|when|whenever|once|after|on|in\sany\scase)\b", re.IGNORECASE
)
"""What stands beside another way limits nothing: "Descale when the light flashes, or by this schedule: ..."."""


def _in_spite(source: str, cue: re.Match[str]) -> bool:
    """Say whether a condition changes nothing: "even if the threshold was reached before"."""
    return source[max(0, cue.start() - len("even ")) : cue.start()].lower() == "even "


def _governed(source: str, cue: re.Match[str]) -> str:
    """Return the words that the cue governs: up to the next comma, or before an "only" that ends its clause."""
    reach = source[cue.end() : cue.end() + _REACH_CHARS]
    if len(source) > cue.end() + _REACH_CHARS:
        reach = reach.rpartition(" ")[0]  # a word that is cut off is no word of the claim
    behind = re.split(r"[,.;]", reach, maxsplit=1)[0]
    if behind.strip() or cue.group().lower() != "only":
        return behind
    return re.split(r"[,.;]", source[max(0, cue.start() - _REACH_CHARS) : cue.start()])[-1]


def _is_of_another_act(tokens: Sequence[Word], at: int, spoken: frozenset[str]) -> bool:
    """Say whether a reservation stands before what the claim does not speak of: "may be cured", "most trophies"."""
    if tokens[at].text in _OF_ALL:
        return False
    act = next((word for word in tokens[at + 1 : at + _ACT_WORDS] if word.text not in STOPWORDS), None)
    return act is not None and stem(act.text) not in spoken


_OF_ALL: Final = frozenset({"according"})
"""What stands behind it is no act: all of the clause is somebody's word."""
_ACT_WORDS: Final = 4


def _reservation(source: str, around: str, spoken: frozenset[str]) -> Span | None:
    """Return the first reservation of the source when there is none at all around the claim."""
    if _CONDITION.search(around) or _ALLOWED.search(around):
        return None
    if any(word.text in CARRYING for word in words(around)):
        return None
    tokens = words(source)
    for at, word in enumerate(tokens):
        following = source[word.end : word.end + 2].strip()
        counts = word.text in APPROXIMATORS and following[:1].isdigit()
        names_month = word.text == "may" and source[word.start].isupper() and at > 0
        is_limit = word.text == "most" and at > 0 and tokens[at - 1].text in {"at", "the"}
        is_head = source[word.end : word.end + 2].lstrip("?").startswith(":")  # "How often:" over a cell
        if word.text in RESERVATIONS and not (
            is_head or counts or names_month or is_limit or _is_of_another_act(tokens, at, spoken)
        ):
            return Span(word.start, word.end)
    return None
