"""Sentences that lean on the one before, joined to it, and texts too short to stand alone."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

CountTokens: TypeAlias = Callable[[str], int]

MIN_FACT_TOKENS: Final = 10
MAX_GROUP_SENTENCES: Final = 3
MAX_CARRIED_CHARS: Final = 400
"""A longer sentence is not said again before one that leans on it."""

_PRONOUN: Final = (
    r"it|its|this|that|these|those|they|them|their|he|she|his|her|such|both|neither|either|the former|the latter"
    r"|er|es|dies|diese|dieser|dieses|diesem|diesen|jene|jener|jenes|dabei|dazu|daf\u00fcr|damit|hierbei|hierzu|letztere"
    r"|elle|elles|ils|ce|cet|cette|ces|cela|ceci|celui-ci|celle-ci|ceux-ci|celles-ci|son|sa|ses|leurs?"
)
_CONNECTIVE: Final = (
    r"however|otherwise|therefore|thus|hence|instead|moreover|furthermore|in addition|additionally|also|then"
    r"|afterwards|in that case|in this case|in such cases|if so|if not|for example|for instance|nevertheless"
    r"|consequently|as a result|accordingly|exceptions?|but|and|or|nor|yet|so"
    r"|(?:(?:all|any|every|most) )?(?:of )?(?:the )?others?"
    r"|jedoch|andernfalls|sonst|deshalb|daher|au\u00dferdem|zudem|dar\u00fcber hinaus|in diesem fall|zum beispiel|aber"
    r"|cependant|toutefois|sinon|en outre|dans ce cas|par exemple|mais|donc"
)
_AFTER_THAT: Final = (
    r"(?:after|before|until|from|since|by|beyond|above|below|besides|despite|during|up to|apart from|in addition to)"
    r" (?:this|that|these|those|then|them|it)(?: on)?,"
    r"|(?:danach|davor|bis dahin|ab dann|daraufhin|ensuite|apr\u00e8s cela|avant cela|jusque-l\u00e0)\b"
)
"""Points back to a time or a limit that the sentence before names."""
_LEANING: Final = re.compile(rf"(?:\(|(?:{_PRONOUN}|{_CONNECTIVE})\b|{_AFTER_THAT})", re.IGNORECASE)
_POINTING: Final = re.compile(rf"(?:{_PRONOUN})\b", re.IGNORECASE)
_NOT_LEANING: Final = re.compile(
    r"(?:it is (?:forbidden|prohibited|not allowed|recommended|possible|required)|this (?:document|manual|section|page"
    r"|chapter|guide|package|library|policy|agreement|licen[sc]e|article|program|software)|these (?:terms|rules)"
    r"|diese(?:r|s)? (?:dokument|seite|vertrag|richtlinie)|ce (?:document|manuel|guide))\b",
    re.IGNORECASE,
)


def leans(sentence: str) -> bool:
    """Say whether a sentence cannot be read without the one before."""
    return bool(_LEANING.match(sentence)) and not _NOT_LEANING.match(sentence)


def points_back(sentence: str) -> bool:
    """Say whether a sentence begins with a pronoun for what stands in the one before."""
    return bool(_POINTING.match(sentence)) and not _NOT_LEANING.match(sentence)


def group_leaning(sentences: list[str]) -> list[str]:
    """Join to each sentence the ones after it that lean on it, at most two, so that each text can be read alone.

    Where more lean on one, it is said again before them.
    """
    groups: list[list[str]] = []
    for sentence in sentences:
        if groups and leans(sentence):
            if len(groups[-1]) < MAX_GROUP_SENTENCES:
                groups[-1].append(sentence)
                continue
            head = groups[-1][0]
            groups.append([head, sentence] if len(head) <= MAX_CARRIED_CHARS else [sentence])
        else:
            groups.append([sentence])
    return [" ".join(group) for group in groups]


def merge_short(texts: list[str], count: CountTokens) -> list[str]:
    """Join texts of fewer than 10 tokens to the one before them, or to the next one when they come first."""
    merged: list[list[str]] = []
    for text in texts:
        if merged and (count(text) < MIN_FACT_TOKENS or count(" ".join(merged[-1])) < MIN_FACT_TOKENS):
            merged[-1].append(text)
        else:
            merged.append([text])
    return [" ".join(parts) for parts in merged]
