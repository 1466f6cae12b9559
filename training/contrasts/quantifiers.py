"""Quantifiers, frequency and modality made stronger, which costs the support, or weaker, which keeps it."""

import random
import re
from collections.abc import Iterator
from typing import Final

from training.contrasts.change import Change, Edit, Scene, cased, single

_NEGATIVE: Final = re.compile(r"\b(?:not|\w+n't|never|no|none|neither|nor|without|cannot|if|unless)\b", re.IGNORECASE)
_STRONGER: Final = {
    "some": ("all", "most"),
    "many": ("all", "most"),
    "most": ("all",),
    "several": ("all",),
    "few": ("many", "all"),
    "a few": ("many", "all"),
    "some of the": ("all of the", "most of the"),
    "many of the": ("all of the",),
    "most of the": ("all of the",),
    "one of the": ("the only one of the",),
    "often": ("always",),
    "usually": ("always",),
    "sometimes": ("always", "usually"),
    "rarely": ("often", "always"),
    "occasionally": ("always",),
    "may": ("will", "must"),
    "might": ("will",),
    "can": ("must",),
    "could": ("will",),
    "probably": ("certainly",),
    "likely": ("certain",),
    "partly": ("entirely",),
    "mostly": ("entirely",),
    "mainly": ("exclusively",),
    "primarily": ("exclusively",),
    "nearly all": ("all",),
    "almost all": ("all",),
}
"""What follows from the stronger word, but not the other way round."""
_REVERSED: Final = frozenset({"few", "a few", "rarely"})
"""Words that their replacement contradicts instead of containing."""
_WEAKER: Final = {
    "all": ("most", "some", "many"),
    "every": (),
    "all of the": ("some of the", "most of the", "many of the"),
    "most of the": ("some of the",),
    "most": ("some", "many"),
    "always": ("often", "usually"),
    "must": ("can",),
    "entirely": ("mostly",),
    "exclusively": ("mainly",),
    "the only": ("a",),
}
_OTHER_WORDS_AFTER: Final = (
    r"(?! (?:of|time|point|kind|sort|day|other|who|that|the|one|it|them|I|over|about|and|or|in|at|to|but"
    r"|this|these|those|his"
    r"|her|its|their|such|more|likely|be|been|recent|recently|famous|popular|common|commonly|important|notable|notably"
    r"|successful|widely|likely|by|from|on|with|for|known)\b)(?= [a-z])"
)
_BEFORE: Final = (
    r"(?<![\w-])(?<!the )(?<!The )(?<!as )(?<!so )(?<!too )"
    r"(?<!very )(?<!how )(?<!at )(?<!a )(?<!its )(?<!not )(?<!First )"
)
_FREQUENCY: Final = frozenset(
    """often usually sometimes rarely occasionally may might can could probably partly mostly mainly primarily always
    must entirely exclusively""".split()  # noqa: SIM905 - a list of one word a line would be a page
)
_A: Final = re.compile(r"\b(is|was|became|remains) (an?) (?=[a-z])")
_ONLY: Final = re.compile(r"\b(?:is|was|became|remains) (the only) (?=[a-z])")
_PLURAL_SUBJECT: Final = re.compile(r"^([A-Z][a-z]+s) (?=(?:are|were|have|can|will) )")
_NOT_PLURAL: Final = frozenset({"This", "His", "Its", "News", "Was", "Is", "Has", "Does", "Thus", "Plans", "Yes"})


def stronger(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``some`` to ``all``, ``often`` to ``always``, ``may`` to ``will``, ``a`` to ``the only``."""
    if _NEGATIVE.search(text):
        return  # under a negation the stronger word is the weaker statement
    for start, end, word in _found(text, _STRONGER):
        new = cased(choice.choice(_STRONGER[word]), text[start:end])
        yield single("quantifiers.stronger", Edit(start, end, new), back=word not in _REVERSED)
    for match in _A.finditer(text):
        yield single("quantifiers.only", Edit(*match.span(2), "the only"), back=True)
    for match in _PLURAL_SUBJECT.finditer(text):
        noun = match.group(1)
        if noun not in _NOT_PLURAL:
            word = choice.choice(("All ", "Most "))
            yield single("quantifiers.all", Edit(match.start(), match.end(1), word + noun.lower()), back=None)


def weaker(text: str, _scene: Scene, choice: random.Random) -> Iterator[Change]:
    """``all`` to ``some``, ``always`` to ``often``, ``the only`` to ``a``: what is true of all is true of most."""
    if _NEGATIVE.search(text):
        return
    for start, end, word in _found(text, _WEAKER):
        if _WEAKER[word]:
            new = cased(choice.choice(_WEAKER[word]), text[start:end])
            yield single("quantifiers.weaker", Edit(start, end, new), keeps=True, back=False)
    for match in _ONLY.finditer(text):
        article = "an" if text[match.end()] in "aeiou" else "a"
        yield single("quantifiers.weaker", Edit(*match.span(1), article), keeps=True, back=False)


def _found(text: str, table: dict[str, tuple[str, ...]]) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a table where they stand before what they quantify; longest first, no overlaps."""
    pattern = "|".join(sorted(table, key=len, reverse=True))
    for match in re.finditer(rf"{_BEFORE}({pattern})\b", text, re.IGNORECASE):
        word = match.group(1).lower()
        if word.endswith(" the"):
            fits = re.match(r" [a-z]", text[match.end() :]) is not None
        elif word in _FREQUENCY:
            fits = re.match(r" (?!be able)[a-z]", text[match.end() :]) is not None
        elif word == "most":  # before a noun in the plural; before an adjective it makes a superlative
            fits = (
                re.match(r" (?:(?![a-z]+(?:ous|ss)\b)[a-z]+s|people|women|men|children)\b", text[match.end() :])
                is not None
            )
        else:
            fits = re.match(_OTHER_WORDS_AFTER, text[match.end() :]) is not None
        if fits:
            yield match.start(1), match.end(1), word
