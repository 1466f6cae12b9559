"""A choice of options: "either monthly or yearly", "must be A, B or C", "only A or B may", "the only X are A and B"."""

import re
from typing import Final

from services.ercp.domain.predicates import Predicate, PredicateName
from services.ercp.domain.predicates.model import Options
from services.ercp.domain.predicates.units import CURRENCIES
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.amounts import read
from services.ercp.domain.wording.formats import CURRENCY_CODES
from services.ercp.domain.wording.model import NotUnderstoodError

_NAME: Final = r"[^\s,;:][^,;:]{0,40}?"
_ITEM: Final = rf"(?:(?:an?|the|by|on)\s++(?=[^\s,;:])(?!(?:or|and|nor)\s))?+{_NAME}"
"""One way to read an article: as one, but in "a or b". Two ways for each item of a list are ways without number."""
_LIST: Final = (
    rf"(?P<list>{_ITEM}(?:,\s*{_ITEM})*,?\s+(?:or|and|nor)\s+(?:else\s+)?(?:an?\s+|the\s+|by\s+|on\s+)?{_NAME})"
)
_CLOSED: Final = r"(?P<closed>(?:,?\s*(?:but\s+)?(?:by\s+|on\s+|in\s+)?(?:nothing|nobody|none|no\s+one)\s+else|,?\s*(?:and\s+)?no\s+others?|,\s*nothing\s+more)?)"
_BE: Final = r"(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|may|can|will)\s+(?:only\s+|always\s+)?be|is|are"
_ONE_OF: Final = re.compile(
    rf"(?P<left>.+?)\s+(?P<verb>{_BE})\s+(?P<mark>(?:either|one\s+of(?:\s+the\s+following)?|only|among|any\s+of)\s*:?\s+)?{_LIST}{_CLOSED}",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(
    rf"(?P<left>.+?)\s(?:{_BE})\s(?P<mark>(?:one|any)\sof(?:\sthe\sfollowing)?\s?:?\s)(?P<list>{_NAME}(?:,\s?{_NAME}){{2,}})",
    re.IGNORECASE,
)
"""A list with commas alone, of three or more: "one of low, medium, high"."""
_ALLOW: Final = re.compile(
    rf"(?:(?:for|as)\s+(?P<left>[^,]+?),?\s+)?(?:we|you|they)\s+(?P<only>only\s+)?(?:may\s+|can\s+|should\s+|must\s+)?(?:allow|accept|offer|support|use|take|serve|ship|bill)\s+"
    rf"(?P<mark>(?:either|only)\s+)?{_LIST}{_CLOSED}",
    re.IGNORECASE,
)
_THE_ONLY: Final = re.compile(rf"the\s+only\s+(?P<left>.+?)\s+(?:is|are)\s+{_LIST}", re.IGNORECASE)
_ONLY_MAY: Final = re.compile(
    rf"only\s+{_LIST}\s+(?:may|can|is\s+allowed\s+to|are\s+allowed\s+to|is|are|should|must|will)\s+(?P<left>.+)",
    re.IGNORECASE,
)
_USE: Final = re.compile(
    rf"(?:use|choose|pick|offer|write)\s+(?P<mark>either|only|one\s+of)\s+{_LIST}(?:\s+(?:for|as)\s+(?P<left>.+))?",
    re.IGNORECASE,
)
_GO: Final = re.compile(
    rf"(?P<left>.+?)\s+(?P<mark>either\s+|only\s+(?:ever\s+)?)?(?P<preposition>by|on|in|from|to|with|via)\s+(?P<mark2>either\s+)?(?:an?\s+)?{_LIST}{_CLOSED}",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(r"\b(?:only|either|always)\b", re.IGNORECASE)
_NEGATED: Final = re.compile(r"\b(?:not|never|no|neither|nor)\b|n't\b", re.IGNORECASE)
_ENDING: Final = re.compile(r"\s+only\Z", re.IGNORECASE)
_SPLIT: Final = re.compile(r",\s*(?:or\s+|and\s+)?|\s+(?:or|and)\s+", re.IGNORECASE)
_ARTICLE: Final = re.compile(
    r"\A(?:either\s+)?(?:(?:called|named|labell?ed|marked|tagged|titled)\s+|(?:[a-z]+(?:ed|en)|kept|held|sold|sent|built|made|put)\s+(?=(?:by|on|in|at|from)\s))?"
    r"(?:(?:by|on|in|at|from)\s+)?(?:(?:an?|the)\s+)?(?=\S)",
    re.IGNORECASE,
)
_QUALIFIED: Final = re.compile(
    r"\s(?:for|if|when|with|without|after|before|unless|than|until|plus|that|which)\s", re.IGNORECASE
)
_DETERMINED: Final = re.compile(
    r"(?:an?|the|my|our|your|his|her|its|their|these|those|this|that|several|many|few|some|any|all|both|each|and|or|but|as|so|"
    r"at|in|on|by|to|for|from|with|near|within|under|over|above|below|close|beside|if|when|which|who|please|only|always|usually|mostly|preferably|ideally|mine|ours|yours|theirs|"
    r"us|them|you)\b",
    re.IGNORECASE,
)
"""What begins no name in a list: it says more of one, or of another thing."""
_MOST_WORDS: Final = 4
_MOST_BARE_WORDS: Final = 2
_NO_OPTION: Final = frozenset(
    """older younger bigger smaller cheaper better worse up down upwards beyond equal no any all at by more less fewer later earlier so
    not both other similar shorter longer above below under over higher lower newer greater larger heavier lighter faster slower
    others etc""".split()  # noqa: SIM905
)
_DEFAULT: Final = "means"
"""What "by train or bus" is a choice of."""


def read_choice(sentence: str) -> tuple[Predicate, str] | None:
    """Read a choice among options, or ``None``.

    Raises:
        NotUnderstoodError: the options, or what they are options of, are not plain.
    """
    for pattern in (_THE_ONLY, _ONLY_MAY, _ONE_OF, _LISTED, _ALLOW, _USE, _GO):
        match = pattern.fullmatch(sentence)
        if match is None:
            continue
        found = _chosen(match)
        if found is not None:
            return found
    return None


def _chosen(match: re.Match[str]) -> tuple[Predicate, str] | None:
    part = match.groupdict()
    options = _options(match["list"])
    conjunction = re.search(r"\s(or|and|nor)\s", match["list"], re.IGNORECASE)
    is_or = conjunction is not None and conjunction[1].lower() == "or"
    is_closed = bool(
        _ENDING.search(match["list"]) or part.get("mark") or part.get("mark2") or part.get("closed") or part.get("only")
    ) or match.re in {
        _THE_ONLY,
        _ONLY_MAY,
    }
    if match.re is _LISTED and not _is_bare_list(match["list"]):
        return None
    if options is None or (not is_or and not is_closed):
        return None
    if match.re is _GO and not (is_closed or _ONLY.search(part["left"])):
        return None
    if match.re is _ALLOW and not is_closed and not part.get("left"):
        return None
    if _NEGATED.search(part.get("left") or "") or _NEGATED.search(match["list"]):
        raise NotUnderstoodError("it denies a choice")
    codes = tuple(CURRENCY_CODES.get(option.lower(), option if option in CURRENCIES else "") for option in options)
    if all(codes):
        return Predicate(PredicateName.ONE_OF, clauses.path_from(["currency"]), Options(codes)), "choice"
    left = part.get("left") or ""
    words = clauses.names(left) or (
        [_DEFAULT] if match.re is _GO and part["preposition"].lower() in {"by", "via"} else []
    )
    if not words:
        raise NotUnderstoodError("what the options are options of is not said")
    return Predicate(PredicateName.ONE_OF, clauses.path_from(words), Options(options)), "choice"


def _options(listed: str) -> tuple[str, ...] | None:
    """Return the options of a list, or ``None`` where it is no list of names."""
    parts = [_ARTICLE.sub("", part.strip(" \"'")) for part in _SPLIT.split(_ENDING.sub("", listed))]
    texts = tuple(dict.fromkeys(part.strip(" \"'") for part in parts if part.strip()))
    is_plain = all(
        len(text.split()) <= _MOST_WORDS
        and text.split()[0].lower() not in _NO_OPTION
        and "|" not in text
        and not _QUALIFIED.search(text)
        for text in texts
    )
    if len(texts) < 2 or not is_plain or any(_is_limit(text) for text in texts):  # noqa: PLR2004 - one is no choice
        return None
    return texts


def _is_bare_list(listed: str) -> bool:
    """Say whether commas part names alone: not "one of the best, a family firm", nor "one of three, both old"."""
    items = _SPLIT.split(listed)
    are_values = {bool(read(item)) for item in items}
    return len(are_values) == 1 and all(
        len(item.split()) <= _MOST_BARE_WORDS and not _DETERMINED.match(item) for item in items
    )


def _is_limit(text: str) -> bool:
    return bool(read(text)) and bool(
        re.search(r"\b(?:least|most|more|less|than|between|from|to)\b", text, re.IGNORECASE)
    )
