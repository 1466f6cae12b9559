"""Words that stand before a statement and say nothing of the matter: "please note that", "the good news is that".

They comment on what follows or name where it is from; what is claimed begins behind them. No document has them, and an
encoder reads "unfortunately the interest goes on" as another sentence than "the interest goes on". Hedges ("I think",
"perhaps") are none of these: they make a claim less sure.
"""

import re
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import CONTRACTED, SOURCE_NOUNS, SUBJECT_OPENERS, SUBORDINATORS
from services.common.reading.words import words

_TAKE_NOTE: Final = (
    r"(?:please |also |just |do |but ){0,2}(?:note|remember|be aware|(?:keep|bear) in mind|don['\u2019]t forget)"
    r"(?:,? (?:though|too|however),?| also)? that"
)
_COMMENT: Final = r"(?:(?:un|)fortunately|sadly|regrettably|luckily|thankfully|i(?:['\u2019]m| am) afraid(?: that)?)"
_NEWS: Final = r"(?:the )?(?:good|bad|great) news (?:is|here is|is,? though,?) that"
_ACCORDING: Final = rf"(?:according to|as per|under|as stated in|based on) (?:the|this|your|our|these) {SOURCE_NOUNS}"
_ANSWERS: Final = (
    r"(?:the )?short answer(?: is)?:? (?:yes|no)"
    r"|(?:they|you|he|she)(?:['\u2019]re|['\u2019]s| are| is) (?:quite )?right"
)
_FRAME: Final = re.compile(
    rf"[\"'\u201c\u2018*_]{{0,4}}(?:(?:{_TAKE_NOTE}|{_NEWS})[,:]?|{_COMMENT},?|(?:{_ACCORDING}|{_ANSWERS}),)\s{{1,4}}",
    re.IGNORECASE,
)
_MOST: Final = 3
_READ_CHARS: Final = 400
_MOST_CHARS: Final = 120
_LEAST_WORDS: Final = 3


def statement_start(text: str) -> int:
    """Return where the statement of a sentence or clause begins: behind what only comments on it; bounded time.

    It is 0 where nothing stands before it, or where what follows is no statement of its own.
    """
    start = 0
    for _ in range(_MOST):
        frame = _FRAME.match(text, start, start + _MOST_CHARS)
        if frame is None or not _states(text[frame.end() : frame.end() + _READ_CHARS]):
            break
        start = frame.end()
    return start


def _states(rest: str) -> bool:
    opening = words(rest)
    if len(opening) < _LEAST_WORDS or opening[0].text in SUBORDINATORS:
        return False
    is_subject = opening[0].text in SUBJECT_OPENERS or opening[0].text in CONTRACTED
    return finite_verb_at(opening if is_subject else opening[1:]) is not None
