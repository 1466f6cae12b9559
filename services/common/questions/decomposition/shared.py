"""Queries whose parts share a frame that is said once (SPEC-003 §5.2 step 1.1, ADR 0110).

"When was it signed, by whom, and where?" asks three times about one thing; "Does the policy cover theft, fire and
flood?" asks one thing of three; "Why did sales fall in 2024 but rise in 2025?" asks about two years; "refund policy,
plus shipping times" adds a need. Each part is given the words that it shares, so that it can be searched for by itself.
"""

import re
from typing import Final

from services.common.questions.decomposition.needs import conjunction
from services.common.questions.decomposition.phrases import coordinated, glued, unglued, without_article
from services.common.questions.decomposition.words import AUXILIARIES, NO_NOUN_PHRASE, alternatives

_AUX: Final = alternatives(AUXILIARIES)
_WH_PHRASE: Final = (
    r"(?:(?:by|for|to|from|with|at|on|in|under|until|since)\s)?(?:what|which|whom?|whose|where|when|why|how)"
    r"(?:\s(?:long|much|many|often|far|soon|late|early|old|high|big))?"
)
_ASKED_AFTER: Final = re.compile(
    rf"(?P<first>{_WH_PHRASE})\s(?P<rest>(?:{_AUX})\s[^,;:]+?)"
    rf"(?P<more>(?:,?\s(?:and|or)\s|,\s(?:and\s|or\s)?)(?:also\s)?{_WH_PHRASE}(?:(?:,?\s(?:and|or)\s|,\s(?:and\s|or\s)?){_WH_PHRASE})*)",
    re.IGNORECASE,
)
_ASKED_BEFORE: Final = re.compile(
    rf"(?P<words>{_WH_PHRASE}(?:(?:,?\s(?:and|or)\s|,\s(?:and\s|or\s)?){_WH_PHRASE})+),?\s(?P<rest>(?:{_AUX})\s.+)",
    re.IGNORECASE,
)
_BETWEEN_WORDS: Final = re.compile(r"(?:,?\s(?:and|or)\s|,\s(?:and\s|or\s)?)(?:also\s)?", re.IGNORECASE)
_NOT_ALONE: Final = frozenset({"which", "whose", "what"})
"""Without a noun of their own these do not ask for anything."""
_COVERS: Final = re.compile(
    rf"(?P<frame>(?:{_AUX})\s(?P<subject>.{{1,120}}?)\s(?:cover|include|insure|exclude|support|accept|allow|permit|handle|provide|offer|mention|"
    r"require|prohibit|apply\sto|extend\sto|protect\s(?:against|from)|pay\sfor|deal\swith))\s(?P<items>.+)",
    re.IGNORECASE,
)
_COVERED: Final = re.compile(
    r"(?P<frame>(?:is|are|was|were)\s)(?P<items>.+?)\s(?P<state>(?:also\s|all\s)?(?:covered|included|insured|excluded|supported|"
    r"accepted|allowed|permitted|required|prohibited|protected)(?:\s.+)?)",
    re.IGNORECASE,
)
_LIST_FROM: Final = 3
_MOST_ITEM_WORDS: Final = 6
_WHEN: Final = r"(?:in|under|for|on|at|with|after|before|since|during|until|by|from)"
_BUT: Final = re.compile(
    rf"(?P<frame>(?:(?:why|how|when|where|what|to\swhat\sextent)\s)?(?:{_AUX}))\s(?P<subject>[^,;:]{{1,120}}?)\s"
    rf"(?P<first>[\w'-]+)\s(?P<at>{_WHEN})\s(?P<x>[^,;:]{{1,60}}?),?\s(?:but|and|yet|while|whereas)\s"
    rf"(?P<second>(?:not\s)?[\w'-]+)\s(?P=at)\s(?P<y>[^,;:]{{1,60}})",
    re.IGNORECASE,
)
_NUMBERED: Final = r"v?\d[\w.]*"
_VERSIONS: Final = re.compile(
    rf"(?P<front>.*?)\b(?:between|from)\s(?:the\s)?(?P<noun>versions?|releases?|editions?|revisions?)\s(?P<a>{_NUMBERED})"
    rf"\s(?:and|to)\s(?:(?:the\s)?(?:version|release|edition|revision)\s)?(?P<b>{_NUMBERED})(?P<behind>.*)",
    re.IGNORECASE,
)
_BARE_VERSIONS: Final = re.compile(
    r"(?P<front>.*?\b(?:change|changes|changed|difference|differences|differ|differs|new|migrate|migrating|upgrade|upgrading)\b.*?)"
    r"\b(?P<link>between|from)\s(?P<a>(?:[\w+#-]+\s)?v?\d+(?:\.\d\w*)+)\s(?:and|to)\s(?P<b>v?\d+(?:\.\d\w*)+)(?P<behind>.*)",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    rf"(?:(?:what|which|how|why|where|who)(?:'s|\u2019s)?\s)?(?:(?:{_AUX})\s)?(?:(?:i|we|you|there|it)\s)?(?:(?:the|a|an|any)\s)?",
    re.IGNORECASE,
)
_DIFFERENCES: Final = re.compile(
    r"\b(?:(?:main|key|major|big|biggest|the)\s){0,2}(?:differences?|differs?|compares?|comparison)\b(?:\s(?:in|of)\b)?",
    re.IGNORECASE,
)
_PLUS: Final = re.compile(r",\splus\s(?:also\s)?", re.IGNORECASE)
_PLUS_FRAME: Final = re.compile(
    r"(?:(?:what|which|who)(?:'s|\u2019s|\s(?:is|are|was|were))\s|(?:please\s)?(?:(?:explain|describe|show|tell|give|list|"
    r"outline|summari[sz]e|find|provide|state|define)\s(?:me\s|us\s)?(?:about\s)?|i\s(?:need|want)\s(?:to\sknow\s)?(?:about\s)?))",
    re.IGNORECASE,
)


_FRONTED: Final = re.compile(
    rf"(?P<front>(?:in|with|for|after|before|during|under|on|at|when|if|while|since|as)\s(?!(?:what|which|whom|how)\b)[^,;:?]{{3,120}}),"
    rf"\s(?P<rest>(?:{_WH_PHRASE}|{_AUX})\b.+)",
    re.IGNORECASE,
)


def shared_frame(query: str) -> tuple[str, ...]:
    """Return the parts of one sentence that share a frame, each with it; nothing when no frame is shared.

    Args:
        query: with single blanks.
    """
    text = query.rstrip("?!. ")
    for read in (_asked, _versions, _contrast, _covered, _added, _fronted):
        parts = read(text)
        if len(parts) > 1:
            return tuple(" ".join(part.split()) for part in parts)
    return ()


def _asked(text: str) -> list[str]:
    """Read several question words about one thing: "When was it signed, by whom, and where"."""
    match = _ASKED_AFTER.fullmatch(text)
    if match is not None:
        words = [match["first"], *filter(None, _BETWEEN_WORDS.split(match["more"]))]
    else:
        match = _ASKED_BEFORE.fullmatch(text)
        words = _BETWEEN_WORDS.split(match["words"]) if match is not None else []
    if match is None or any(word.lower() in _NOT_ALONE for word in words[1:]):
        return []
    return [f"{word} {match['rest']}" for word in words]


def _versions(text: str) -> list[str]:
    """Read a contrast of two versions: what is told of each, and what sets them apart."""
    match = _VERSIONS.fullmatch(text)
    if match is not None:
        noun = match["noun"].lower().removesuffix("s")
        things = [f"{noun} {match['a']}", f"{noun} {match['b']}"]
    else:
        match = _BARE_VERSIONS.fullmatch(text)
        if match is None:
            return []
        name = match["a"].rpartition(" ")[0]
        things = [match["a"], f"{name} {match['b']}".strip()]
    front = _OPENING.sub("", match["front"].strip(), count=1)
    aspect = " ".join(f"{_DIFFERENCES.sub('', front)} {match['behind']}".split())
    return [*(f"{thing} {aspect}".strip() for thing in things), f"{' vs '.join(things)} comparison"]


def _contrast(text: str) -> list[str]:
    """Read "Why did sales fall in 2024 but rise in 2025".

    Both ends stand behind the same preposition, and have a year, a number or a name.
    """
    match = _BUT.fullmatch(text)
    if match is None or not all(_is_named(match[end]) for end in ("x", "y")):
        return []
    frame = f"{match['frame']} {match['subject']}"
    return [f"{frame} {match[verb]} {match['at']} {match[end]}" for verb, end in (("first", "x"), ("second", "y"))]


def _is_named(text: str) -> bool:
    return any(word[0].isdecimal() or word[0].isupper() for word in text.split())


def _covered(text: str) -> list[str]:
    """Read a list of three things or more that one thing is asked of."""
    match = _COVERS.fullmatch(text)
    if match is not None:
        items = _items(match["items"])
        return [f"{match['frame']} {item}" for item in items]
    match = _COVERED.fullmatch(text)
    if match is None:
        return []
    return [f"{match['frame']}{item} {match['state']}" for item in _items(match["items"])]


def _items(text: str) -> list[str]:
    """Return the items of a list that can stand alone; nothing for two, which may be one term."""
    parts = [part for piece in coordinated(glued(text)) for part in re.split(r",?\sor\s", piece)]
    parts = [unglued(part.removeprefix("or ")) for part in parts if part]
    sound = all(
        0 < len(part.split()) <= _MOST_ITEM_WORDS and part.split()[0].lower() not in NO_NOUN_PHRASE for part in parts
    )
    return parts if sound and len(parts) >= _LIST_FROM else []


def _added(text: str) -> list[str]:
    """Read needs that are joined by "plus" behind a comma; a sum has none."""
    parts = _PLUS.split(text)
    if len(parts) < 2 or any(not part or part[0].isdecimal() for part in parts):  # noqa: PLR2004
        return []
    bare = [
        without_article(_PLUS_FRAME.sub("", part, count=1) if number == 0 else part)
        for number, part in enumerate(parts)
    ]
    return [part.strip(" ,") for part in bare]


def _fronted(text: str) -> list[str]:
    """Read "In debug mode, where does the log go and which level does it get": both are asked of debug mode."""
    match = _FRONTED.fullmatch(text)
    return [] if match is None else [f"{match['front']}, {part}" for part in conjunction(match["rest"])]
