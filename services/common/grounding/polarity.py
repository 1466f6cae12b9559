"""Words that turn a statement round: negations, quantifiers, opposites. By stems, as ``words.stem`` makes them."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from services.common.grounding.words import stem


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


NEGATIONS: Final = _stems(
    "not no never none without neither nor nobody nothing cannot hardly fail deny refuse lack unable"
)
QUANTIFIERS: Final = _stems(
    "all every each always entire some few several sometimes most mostly many majority only solely exclusively "
    "both half least almost nearly"
)
_OPPOSITES: Final = tuple(
    (_stems(left), _stems(right))
    for left, right in (
        ("all every each always entire", "some few several sometimes part"),
        ("more above over exceed increase rise grow gain higher up raise", "less fewer below under decrease fall drop"),
        ("increase rise grow gain higher raise climb", "decline decrease fall drop lower reduce cut shrink"),
        ("first earlier before begin start open", "last later after end finish close"),
        ("win beat victory defeat", "lose loss"),
        ("big large biggest largest great", "small little smallest tiny"),
        ("best good better positive", "worst bad worse negative"),
        ("accept agree approve support allow permit confirm", "reject deny refuse oppose ban forbid prohibit"),
        ("buy acquire purchase", "sell"),
        ("born birth", "die death"),
        ("marry wed", "divorce separate"),
        ("north northern", "south southern"),
        ("east eastern", "west western"),
        ("male man boy father son husband brother", "female woman girl mother daughter wife sister"),
        ("guilty convict", "innocent acquit"),
        ("arrive enter join", "leave quit exit depart"),
        ("success succeed pass", "failure fail"),
        ("true correct", "false wrong incorrect"),
        ("major majority", "minor minority"),
        ("old older oldest", "young younger new newest youngest"),
        ("early", "late"),
        ("remember", "forget"),
        ("love like praise", "hate dislike criticise criticize"),
    )
)


_SIDES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    word: tuple(
        (pair, side) for pair, sides in enumerate(_OPPOSITES) for side, members in enumerate(sides) if word in members
    )
    for word in frozenset().union(*(members for sides in _OPPOSITES for members in sides))
}
"""Per stem the pairs that it belongs to, and on which side."""


def opposites_met(claim: AbstractSet[str], source: AbstractSet[str]) -> int:
    """Return how many pairs of opposites stand against each other.

    Args:
        claim: stems of a sentence of the claim.
        source: stems of the sentence that it is held against.

    Returns:
        Pairs of which the claim has one side alone and the source the other alone.
    """
    own = {place for word in claim & _SIDES.keys() for place in _SIDES[word]}
    if not own:
        return 0
    other = {place for word in source & _SIDES.keys() for place in _SIDES[word]}
    return sum(
        (pair, 1 - side) not in own and (pair, side) not in other and (pair, 1 - side) in other for pair, side in own
    )


def opposite_sides(stems: AbstractSet[str]) -> tuple[int, int]:
    """Return of which pairs of opposites there is a first and a second side among stems, as bits, one a pair.

    Two sentences have no opposites met when ``opposites_met`` is 0: a pair of which the one holds the first side alone
    and the other the second alone. Whoever compares many sentences reads the sides of each once.
    """
    first = second = 0
    for word in stems & _SIDES.keys():
        for pair, side in _SIDES[word]:
            if side:
                second |= 1 << pair
            else:
                first |= 1 << pair
    return first, second


PAIRS_OF_OPPOSITES: Final = len(_OPPOSITES)
