"""Whether a text is worded as a sentence is (ADR 0095): the right words in no order say nothing.

Two signs together: places between words that no English sentence has ("the of", "by is", an article at the end), and
neighbours that no source has side by side. One alone decides nothing: people make slips, and a paraphrase moves words.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from services.common.reading.lexicon import AUXILIARIES, FINITE_VERBS, PREPOSITIONS
from services.common.reading.words import Word
from services.dpe.domain.rules.reading import Reading, is_content, root

BESIDE: Final = 0.25
"""For each place that no sentence has, so large a share of neighbours must stand near each other in a source."""
SHATTERED: Final = 0.2
"""Share of such places above which neighbours are not asked."""
_NEAR: Final = 3
_ARTICLES: Final = frozenset({"the", "a", "an"})
_PREPOSITIONS: Final = (PREPOSITIONS - {"about", "after", "before", "under"}) | {"than"}
"""Those behind which no clause begins."""
_FINITE: Final = AUXILIARIES - {"will", "can", "might", "may", "must", "need"}
_CONJUNCTIONS: Final = frozenset({"and", "or", "but"})
_NOMINATIVES: Final = frozenset({"he", "she", "they", "we", "who"})
_AFTER_ARTICLE: Final = (
    _ARTICLES | _PREPOSITIONS | _CONJUNCTIONS | _NOMINATIVES | AUXILIARIES
    | {"it", "that", "this", "these", "those", "if", "when", "unless", "which", "its", "their", "not"}
)  # fmt: skip
_AFTER_PREPOSITION: Final = _FINITE | _NOMINATIVES | _CONJUNCTIONS | {"of"}
_TWO_PREPOSITIONS: Final = frozenset({"of", "at", "with", "into", "among", "per", "by", "for"})
_AT_THE_END: Final = (
    _ARTICLES | _CONJUNCTIONS | {"of", "from", "with", "than", "is", "are", "was", "be", "been", "has", "the"}
)
_AT_THE_BEGINNING: Final = frozenset({"than", "be", "been"})
_MIN_WORDS: Final = 5


def is_worded(claim: Reading, sources: Iterable[Reading]) -> bool:
    """Say whether a text of several words can be a sentence; always true of short ones."""
    tokens = claim.tokens
    if len(tokens) < _MIN_WORDS:
        return True
    broken = sum(1 for left, right in pairwise(tokens) if _breaks(claim.text, left, right))
    broken += tokens[-1].text in _AT_THE_END
    broken += tokens[0].text in _AT_THE_BEGINNING
    if broken / len(tokens) >= SHATTERED:
        return False
    return not broken or _side_by_side(claim, sources) >= min(1.0, BESIDE * broken)


def _breaks(text: str, left: Word, right: Word) -> bool:
    if right.start - left.end > 1 or _is_label(text, left) or _is_label(text, right):
        return False
    if _is_capital(text, right) or _two_verbs(left.text, right.text):
        return True
    if left.text == "to" and right.text in {"be", "have", "do"}:
        return False
    return right.text in _BEHIND.get(left.text, ())


_NEVER: Final = (
    (_ARTICLES, _AFTER_ARTICLE),
    (_PREPOSITIONS, _AFTER_PREPOSITION),
    (_TWO_PREPOSITIONS | {"to", "in", "on", "from", "after", "before", "until"}, _TWO_PREPOSITIONS - {"at"}),
    (_FINITE, (_FINITE - {"been", "be", "being", "have", "do", "had"}) | _CONJUNCTIONS),
    (_CONJUNCTIONS, _CONJUNCTIONS | {"of", "than"}),
)
"""Words, and what never stands right behind them."""
_BE: Final = frozenset({"is", "are", "was", "were", "be", "been"})
_FULL_VERBS: Final = FINITE_VERBS - AUXILIARIES
_ONLY_SMALL: Final = _ARTICLES | _PREPOSITIONS | _FINITE
"""Words that are written large at the beginning of a sentence alone."""
_BEHIND: Final = {
    word: frozenset().union(*(behind for before, behind in _NEVER if word in before))
    for word in frozenset().union(*(before for before, _ in _NEVER))
}
"""Of each of the words of ``_NEVER`` what never stands right behind it."""


def _two_verbs(left: str, right: str) -> bool:
    """Say whether two words are verbs that do not stand side by side: "is contains", "switched exported"."""
    if right not in _FULL_VERBS:
        return False
    if left in _BE:
        return right.endswith("s")
    if right == "provided":
        return False
    return left in _FULL_VERBS and left.endswith("ed") and right.endswith("ed")


def _is_capital(text: str, word: Word) -> bool:
    """Say whether a word that only begins sentences is written large inside one."""
    return text[word.start].isupper() and word.text in _ONLY_SMALL and len(word.text) > 1


def _is_label(text: str, word: Word) -> bool:
    return word.text == "a" and text[word.start] == "A" and word.start > 0


def _side_by_side(claim: Reading, sources: Iterable[Reading]) -> float:
    """Return the share of neighbouring words of content that stand near each other in a source."""
    told = [root(word.text) for word in claim.tokens if is_content(word, claim.text)]
    near: set[tuple[str, str]] = set()
    for source in sources:
        listed = [root(word.text) for word in source.tokens if is_content(word, source.text)]
        for step in range(1, _NEAR + 1):
            near.update(zip(listed, listed[step:], strict=False))
    pairs = [pair for pair in pairwise(told) if pair[0] != pair[1]]
    beside = sum(1 for left, right in pairs if (left, right) in near or (right, left) in near)
    return beside / len(pairs) if pairs else 1.0
