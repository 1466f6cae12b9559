"""Two attributes beside each other: "the read timeout must be longer than the connect timeout", "the same as …"."""

import re
from typing import Final

from services.ercp.domain.predicates import Path, Predicate, PredicateName
from services.ercp.domain.predicates.phrases import COMPARATIVES
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.amounts import read
from services.ercp.domain.wording.model import NotUnderstoodError

_MORE: Final = {
    "nearer": "<", "closer": "<", "later": ">", "earlier": "<", "sooner": "<", "newer": ">", "stronger": ">", "weaker": "<",
    "dearer": ">", "bigger": ">", "larger": ">", "louder": ">", "quieter": "<",
}  # fmt: skip
_SIGNS: Final = {word: sign for word, (sign, _) in COMPARATIVES.items()} | _MORE
_WORDS: Final = "|".join(sorted(_SIGNS, key=len, reverse=True))
_THAN: Final = re.compile(
    rf"(?P<left>.+?)\s+(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|is|are|may|can|will|ought\s+to)\s*(?P<neg>not|never|n't)?\s+(?:always\s+)?(?:be\s+worth|be|cost|last|live|run|take|weigh|pay|earn|come\s+out|stay|remain|keep|hold)?\s*"
    rf"(?P<no>no\s+|not\s+(?:any\s+)?)?(?:(?:much|far|strictly|even)\s+)?(?P<word>{_WORDS}|(?P<degree>more|less)\s+(?P<adjective>expensive|costly|important|frequent|important))\s+than\s+(?P<right>.+)",
    re.IGNORECASE,
)
_EXCEED: Final = re.compile(
    r"(?P<left>.+?)\s+(?:must|shall|should|may|can|will|has\s+to)\s*(?P<neg>not|never|n't)?\s*exceed\s+(?P<right>.+)",
    re.IGNORECASE,
)
_SAME: Final = re.compile(
    r"(?P<left>.+?)\s+(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|is|are)?\s*(?:be|stay|stays|remain|remains|equal)?\s*(?:exactly\s+)?(?:the\s+same\s+as|equal\s+to|as\s+(?:high|long|large|big|much)\s+as)\s+(?P<right>.+)",
    re.IGNORECASE,
)
_MUST: Final = r"(?:must|shall|should|has\s+to|have\s+to|needs?\s+to|want\s+to|wants\s+to|will|may|is\s+to|are\s+to)"
_NOUN: Final = r"(?P<noun>(?:[a-z][a-z-]*\s+){0,2}[a-z][a-z-]+)"
_MORE_NOUN: Final = re.compile(
    rf"(?:we|you|they|i|there)\s+{_MUST}\s+(?:[a-z]+\s+){{0,2}}?(?P<degree>more|fewer|less)\s+{_NOUN}\s+(?P<place>in|on|at|for|with|to)\s+(?P<left>.+?)"
    r"\s+than\s+(?:in|on|at|for|with|to)\s+(?P<right>.+)",
    re.IGNORECASE,
)
_HAS_MORE: Final = re.compile(
    rf"(?P<left>(?!we\b|you\b|they\b|i\b|there\b).+?)\s+(?:{_MUST}\s+)(?:come\s+out\s+as\s+)?(?:have|has|use|using|need|take|take\s+up|cost|contain|get|bring)\s+"
    rf"(?P<degree>more|fewer|less)\s+{_NOUN}\s+than\s+(?P<right>(?!on\b|at\b|for\b|with\b|to\b)[^,;]+)",
    re.IGNORECASE,
)
_STAY: Final = re.compile(
    rf"(?:we|you|they|i)\s+(?:{_MUST}\s+)?(?P<noun>stay|be|remain|spend\s+time)\s+(?:(?P<degree>longer|shorter)\s+(?:in|at|with)\s+(?P<left>.+?)|"
    r"(?:in|at|with)\s+(?P<left2>.+?)\s+(?P<degree2>longer|shorter))\s+than\s+(?:in|at|with)\s+(?P<right>.+)",
    re.IGNORECASE,
)
_NEARER: Final = re.compile(
    rf".+?\s+{_MUST}\s+be\s+(?P<degree>nearer|closer)\s+to\s+(?P<left>.+?)\s+than\s+to\s+(?P<right>.+)", re.IGNORECASE
)
_SAME_NOUN: Final = re.compile(
    rf"(?P<left>[A-Z]?[\w' -]+?)\s+and\s+(?P<right>[\w' -]+?)\s+(?:{_MUST}\s+)?(?:get|have|work|do|be\s+given|receive|take|pay|cost)\s+"
    rf"(?:exactly\s+)?(?:the\s+same|an\s+equal|as\s+many)\s+(?:number\s+of\s+|amount\s+of\s+)?{_NOUN}",
    re.IGNORECASE,
)
_OUTDO: Final = re.compile(
    r"(?P<left>.+?)(?<!\s)\s++(?:must|shall|should|has\s++to|have\s++to|needs?\s++to|will|may|can)\s*+(?P<neg>not|never|n't)?\s*+(?:outlast|outlive|outweigh|outnumber)\s+(?P<right>.+)",
    re.IGNORECASE,
)
_GRANT: Final = re.compile(
    r"(?:allow|allot|give|use|have|plan|put\s+in|include|grant|add|buy|order|list|make)\s+(?P<degree>more|fewer|less)\s+(?P<left>(?:[a-z-]+\s+){0,2}[a-z-]+)\s+than\s+"
    r"(?P<right>(?:[a-z-]+\s+){0,2}[a-z-]+)",
    re.IGNORECASE,
)
"""More of one thing than of another: "allow fewer writes than reads"."""
_FEWER: Final = frozenset({"fewer", "less", "nearer", "closer", "shorter"})
_TURNED: Final = {"<": ">=", ">": "<="}
_WAY: Final = {
    "<": (PredicateName.LESS_THAN, False), "<=": (PredicateName.LESS_THAN, True), ">": (PredicateName.GREATER_THAN, False),
    ">=": (PredicateName.GREATER_THAN, True), "=": (PredicateName.EQUAL, False),
}  # fmt: skip
_ELLIPSIS: Final = re.compile(r"(?:the\s+|that\s+of\s+(?:the\s+)?)?(?P<whose>.+?)(?:'s|s'|\s+ones?)\Z", re.IGNORECASE)
_THAT_OF: Final = re.compile(r"that\s+of\s+(?P<whose>.+)", re.IGNORECASE)
_PLACED: Final = re.compile(r"\s(?:to|from)\s+(?:the\s+)?(?P<place>.+)", re.IGNORECASE)


def read_relation(sentence: str) -> tuple[Predicate, str] | None:  # noqa: PLR0911 - one for each wording
    """Read a comparison of two attributes, or ``None``.

    Raises:
        NotUnderstoodError: which two are compared is not plain.
    """
    if read(sentence):
        return None
    placed = (
        _HAS_MORE.fullmatch(sentence)
        or _MORE_NOUN.fullmatch(sentence)
        or _STAY.fullmatch(sentence)
        or _NEARER.fullmatch(sentence)
        or _SAME_NOUN.fullmatch(sentence)
    )
    if placed is not None:
        return _of_nouns(placed)
    match = _THAN.fullmatch(sentence)
    if match is not None:
        sign = (
            ">"
            if (match["degree"] or "").lower() == "more"
            else "<"
            if match["degree"]
            else _SIGNS[match["word"].lower()]
        )
        is_negated = bool(match["neg"]) != bool(match["no"])
        return _compared(match["left"], match["right"], _TURNED[sign] if is_negated else sign)
    match = _OUTDO.fullmatch(sentence)
    if match is not None:
        return _compared(match["left"], match["right"], "<=" if match["neg"] else ">")
    match = _GRANT.fullmatch(sentence)
    if match is not None:
        return _compared(match["left"], match["right"], "<" if match["degree"].lower() in _FEWER else ">")
    match = _EXCEED.fullmatch(sentence)
    if match is not None:
        return _compared(match["left"], match["right"], "<=" if match["neg"] else ">")
    match = _SAME.fullmatch(sentence)
    if match is not None and not re.search(r"\b(?:not|never)\b|n't\b", sentence, re.IGNORECASE):
        return _compared(match["left"], match["right"], "=")
    return None


def _of_nouns(match: re.Match[str]) -> tuple[Predicate, str]:
    """Read "more nights in Rome than in Naples", "nearer to the hall than to the airport", "the same number of days"."""
    part = match.groupdict()
    if re.search(r"\b(?:not|never|no)\b|n't\b", match.group(), re.IGNORECASE):
        raise NotUnderstoodError("it denies a comparison")
    noun = part.get("noun") or "distance"
    degree = part.get("degree") or part.get("degree2") or ""
    sign = "=" if not degree else "<" if degree.lower() in _FEWER else ">"
    left = part.get("left") or part.get("left2")
    return _compared(f"{left} {noun}", f"{part['right']} {noun}", sign)


def _compared(left: str, right: str, sign: str) -> tuple[Predicate, str]:
    first, second = clauses.names(left), clauses.names(right)
    owner = _ELLIPSIS.fullmatch(right.strip()) or _THAT_OF.fullmatch(right.strip())
    if owner is not None and first:
        most = 1 if right.strip().endswith(("one", "ones")) else 2
        second = [*clauses.names(owner["whose"]), *_attribute(first, clauses.names(owner["whose"]), most)]
    if re.search(r"\b(?:or|and|but|either|both)\b", f"{left} {right}", re.IGNORECASE):
        raise NotUnderstoodError("it compares more than two things")
    if not first or not second or first == second:
        raise NotUnderstoodError("which two things it compares is not plain")
    name, inclusive = _WAY[sign]
    paths = [clauses.path_from(words) for words in (first, second)]
    other = paths[1] if len(paths[1].segments) > 1 or name is not PredicateName.EQUAL else Path((*paths[1].segments,))
    return Predicate(name, paths[0], other, inclusive=inclusive), "relation"


def _attribute(first: list[str], whose: list[str], most: int) -> list[str]:
    """Return what the other side leaves out: "last year's" is last year's food budget."""
    return [word for word in first if word not in whose][-most:]
