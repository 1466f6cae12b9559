"""The "yes" or "no" that an answer begins with: it answers, and what stands behind it is what is claimed (ADR 0210).

"No, permits are not issued to lorries." claims that permits are not issued to lorries. No document begins so, and an
encoder reads the "no" as a denial of the rest.
"""

import re
from dataclasses import dataclass
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import AUXILIARIES, SUBORDINATORS
from services.common.reading.words import words

_THAT_IS: Final = r"(?:that(?:['\u2019]s| is) |this is |you(?:['\u2019]re| are) )(?:quite |absolutely |completely )?"
_YES: Final = (
    rf"{_THAT_IS}(?:right|correct|true|so|the case)|yes|yeah|yep|correct|exactly|indeed|certainly|definitely|absolutely"
    r"|sure|of course|i(?:['\u2019]m| am) afraid so"
)
_NO: Final = (
    rf"{_THAT_IS}(?:wrong|incorrect|false|untrue|not (?:right|correct|true|so|the case))|no|nope|incorrect"
    r"|(?:absolutely |certainly |definitely )?not(?: (?:quite|exactly|really|necessarily|at all))?"
    r"|(?:un|)fortunately not|sadly not|i(?:['\u2019]m| am) afraid not"
)
_BEFORE: Final = r"[\s\"'\u201c\u2018*_]{0,6}(?:(?:(?:un|)fortunately|sadly|well|in short),? )?"
_WORD: Final = re.compile(
    rf"{_BEFORE}(?:(?P<yes>{_YES})|(?P<no>{_NO}))\*{{0,2}}"
    r"(?:\s?[,;:!.\u2026]|\s[\u2013\u2014-](?=\s)|[\u2013\u2014])\*{0,2}\s{0,6}",
    re.IGNORECASE,
)
_MOST_CHARS: Final = 60
"""The longest of these with what may stand around it."""
_BOUND_TO_IT: Final = SUBORDINATORS | frozenset(
    """
    unless except if but only not provided as when because and or so though although with within without subject
    for in on at by from until after before up under over depending just
    """.split()  # noqa: SIM905 - a list would be six times as long
)
"""A rest that begins so says nothing by itself: "Yes, if the seal is whole."."""
_BIDDING: Final = frozenset({"do", "don't", "never", "please", "always"})
_SUBJECT: Final = re.compile(r"(?:i|you|he|she|it|we|they|there)(?:['\u2019](?:d|ll|ve|re|m|s))?")
_ECHO: Final = re.compile(
    rf"(?:i|you|he|she|it|we|they|there|this|that|these|those)\s(?:{'|'.join(sorted(AUXILIARIES))})"
    r"(?:n['\u2019]t|\snot)?(?:\sindeed)?[.!]?",
    re.IGNORECASE,
)
"""What only repeats the answering word: "it does", "you can't"."""
_POINTS: Final = re.compile(r"\b(?:this|that|it|so|them|those)[.!]?$", re.IGNORECASE)
_MOST_ECHOED: Final = 7
"""So few words that end in a pronoun only say the question again: "you can claim for this"."""
_LEAST_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class AnswerWord:
    """A word that answers a question whole.

    Attributes:
        affirms: "yes" and its like; ``False`` for "no".
        end: where what follows it begins, in the text that was read.
    """

    affirms: bool
    end: int


def answer_word(text: str) -> AnswerWord | None:
    """Return the answering word that a sentence or clause begins with, where what follows is a statement of its own.

    "Yes, if you ask in time" is whole as it stands, and "No. 5 is closed" answers nothing. Bounded time: only the
    beginning is searched.
    """
    match = _WORD.match(text[:_MOST_CHARS])
    if match is None or not _stands_alone(text[match.end() :], after_stop="." in match.group()):
        return None
    return AnswerWord(match["yes"] is not None, match.end())


def only_answers(text: str) -> AnswerWord | None:
    """Return the answering word that is all a sentence says: "Yes.", "No!", "That's right.", "No, it doesn't."."""
    bare = text.strip()
    if len(bare) > _MOST_CHARS:
        return None
    if (whole := _HALVES.fullmatch(bare) or _ECHO_ALONE.fullmatch(bare)) is not None:
        return AnswerWord(not _DENIES.search(whole["answer"]), len(text))
    match = _WORD.match(bare if bare.endswith(_CLOSING) else f"{bare}.")
    if match is None or not (match.end() >= len(bare) or _ECHO.fullmatch(bare, match.end())):
        return None
    return AnswerWord(match["yes"] is not None, len(text))


_HALVES: Final = re.compile(
    rf"{_BEFORE}(?P<answer>yes|no) (?:to|for|on) (?:both|all|either|that|this|it|these|those)"
    r"(?: of (?:them|these|those))?[.!:]?",
    re.IGNORECASE,
)
"""One answer to all that was asked: "No to both."; "yes to the visit, no to the terrace" claims two things."""
_CASE: Final = r"(?:in (?:this|that|your) (?:case|situation),? )?"
_ECHO_ALONE: Final = re.compile(
    rf"{_BEFORE}(?:(?:yes|no),? )?{_CASE}(?:i|you|he|she|it|we|they|there)\s"
    rf"(?P<answer>(?:{'|'.join(sorted(AUXILIARIES))})(?:n['\u2019]t|\snot)?)[.!,]?",
    re.IGNORECASE,
)
"""What repeats the question's verb and nothing else: "Unfortunately you can't.", "Yes, in this situation you can."."""
_DENIES: Final = re.compile(r"^no$|n['\u2019]t$|not$", re.IGNORECASE)
_CLOSING: Final = (".", "!", "\u2026", ":", ",", ";", "*")


def _stands_alone(rest: str, *, after_stop: bool) -> bool:
    opening = words(rest[:_READ_CHARS])
    if len(opening) < _LEAST_WORDS or opening[0].text in _BOUND_TO_IT:
        return False
    is_pointing = len(opening) <= _MOST_ECHOED and opening[1].text in AUXILIARIES and _POINTS.search(rest.strip())
    echoes = is_pointing or _ECHO.fullmatch(rest.strip())
    if (after_stop and not rest[:1].isupper()) or echoes:
        return False  # "No. 5", "no. of rooms", "No, it does not."
    if opening[0].text in _BIDDING or _SUBJECT.fullmatch(opening[0].text):
        return True
    # The first word is a subject, whatever else it can be: "permits are not issued".
    return finite_verb_at(opening[1:]) is not None or finite_verb_at(opening) not in {None, 0}


_READ_CHARS: Final = 400
