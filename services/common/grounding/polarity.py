"""Words that turn a statement round: negations, quantifiers, opposites. By stems, as ``words.stem`` makes them."""

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


def opposites_met(claim: AbstractSet[str], source: AbstractSet[str]) -> int:
    """Return how many pairs of opposites stand against each other.

    Args:
        claim: stems of a sentence of the claim.
        source: stems of the sentence that it is held against.

    Returns:
        Pairs of which the claim has one side alone and the source the other alone.
    """
    return sum(
        (
            not claim.isdisjoint(one)
            and claim.isdisjoint(other)
            and source.isdisjoint(one)
            and not source.isdisjoint(other)
        )
        for left, right in _OPPOSITES
        for one, other in ((left, right), (right, left))
    )
