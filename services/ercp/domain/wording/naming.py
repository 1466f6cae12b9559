"""A name that something has: "the codename is Kestrel", "the vendor must be IBM", "Priya has to be the shift lead"."""

import re
from typing import Final

from services.ercp.domain.predicates import Path, Predicate, PredicateName, Text
from services.ercp.domain.predicates.classes import CLASSES
from services.ercp.domain.wording import clauses
from services.ercp.domain.wording.amounts import read
from services.ercp.domain.wording.model import NotUnderstoodError

_IS: Final = re.compile(
    r"(?P<left>.+?)\s{1,3}(?:must|shall|should|has\s{1,3}to|have\s{1,3}to|needs?\s{1,3}to|may|can|will)\s{0,3}(?P<neg>not|never|n't)?\s{1,3}(?:only\s{1,3}|always\s{1,3})?be(?:\s{1,3}(?:called|named|titled|under|in|with|from|at))?\s{1,3}(?P<right>.+)"
    r"|(?P<left2>(?:the|our|your|this|its)\s.+?)\s{1,3}(?:is|=)\s{0,3}(?P<neg2>not|never)?\s*(?:called\s{1,3}|named\s{1,3}|titled\s{1,3})?(?P<right2>.+)",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(
    r"(?:address|call|greet)\s+(?:her|him|them|the\s+\w+)\s+(?:as|with|by)\s+(?P<name>.+)|sign\s+(?:it\s+|off\s+)?(?:as|with)\s+(?P<name2>.+)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"[\"'](?P<quoted>[^\"]+)[\"']|(?:the\s+)?(?P<name>[A-Z][\w.&-]*(?:\s+(?:(?:of|and|the|de|van|von|&)\s+)?[A-Z0-9][\w.&-]*){0,4})"
)
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){2,}(?:[-+][\w.]+)?", re.IGNORECASE)
_CONDITION: Final = re.compile(r"\s+(?P<phrase>(?:on|in|at|for|during)\s+[A-Z0-9].*)\Z")
_CLASSED: Final = frozenset(word for words in CLASSES.values() for word in words)
_ROLE: Final = re.compile(r"the\s+(?P<role>[a-z][a-z\s-]{2,40})", re.IGNORECASE)
_IDENTIFIED: Final = re.compile(
    r"(?:(?:use|give|quote|write|state|put|take)\s+(?:the\s+|our\s+|your\s+)?|(?:this|it)\s+is\s+(?:the\s+)?)"
    r"(?P<left>(?:[a-z]+\s+){0,2}(?:number|code|id|reference|version|release|account|key))\s+(?P<name>[\w./-]*\d[\w./-]*\w)"
    r"(?:,\s[^\d]+\b(?:that|this|the)\s(?:number|code|version|one)\b[^\d]*)?",
    re.IGNORECASE,
)
"""What has a number for a name: "use customer number 448120", "this is version 5.2.0"."""
_COMPARED: Final = re.compile(
    r"\b(?:at|least|most|any|all|above|over|below|under|before|after|than|up|not|no|max|maximum|min|minimum)\b",
    re.IGNORECASE,
)
"""Before such a number: "use at least version 2.3" does not name the one to be used."""
_CALLED: Final = re.compile(r"\b(?:name|title|codename|model|brand|label|heading)\Z", re.IGNORECASE)
_NO_NAME: Final = frozenset({"I", "A", "The", "It", "No", "Not"})


def read_name(sentence: str) -> tuple[Predicate, str] | None:  # noqa: PLR0911 - one for each wording
    """Read which name or word something has to have, or ``None``.

    Raises:
        NotUnderstoodError: of what it is the name is not plain.
    """
    address = _ADDRESS.fullmatch(sentence)
    if address is not None:
        name = _NAME.fullmatch((address["name"] or address["name2"]).strip())
        return (
            None if name is None else (Predicate(PredicateName.CONTAINS, Text(name["quoted"] or name["name"])), "words")
        )
    identified = _IDENTIFIED.fullmatch(sentence)
    if identified is not None and not _COMPARED.search(identified["left"]):
        return Predicate(PredicateName.EQUAL, clauses.path_of(identified["left"]), Text(identified["name"])), "name"
    match = _IS.fullmatch(sentence)
    if match is None:
        return None
    left, right = (match["left"] or match["left2"]).strip(), (match["right"] or match["right2"]).strip()
    negated = bool(match["neg"] or match["neg2"])
    role = _ROLE.match(right)
    owner = _NAME.fullmatch(left)
    if (
        owner is not None
        and role is not None
        and owner["name"]
        and not left.lower().startswith(("the ", "our ", "your "))
    ):
        return _of_role(owner["name"], right, negated=negated)
    value = _value(right) or _of_kind(left, right)
    if value is None and _CALLED.search(left) and right[:1].isupper() and _NAME.fullmatch(right):
        value = right  # "AeroLite 3": the number is of the name
    if value is None or read(left):
        return None
    if clauses.is_of_document(left) and not _VERSION.fullmatch(value):
        return None
    operator = PredicateName.NOT_EQUAL if negated else PredicateName.EQUAL
    return Predicate(operator, clauses.path_of(left), Text(value)), "name"


def _value(right: str) -> str | None:
    """Return the name that stands there: quoted, in capitals, a version, or a word of a closed class."""
    if _VERSION.fullmatch(right):
        return right
    if read(right):
        return None
    name = _NAME.fullmatch(right)
    if name is not None and (name["quoted"] or name["name"]) not in _NO_NAME:
        return name["quoted"] or name["name"]
    word = right.lower()
    return right if word in _CLASSED and len(word) > 2 else None  # noqa: PLR2004 - "a", "no"


def _of_kind(left: str, right: str) -> str | None:
    """Return "Danish law" as what the governing law must be: a name before the kind that both sides name."""
    kinds = right.split()
    is_named = 2 <= len(kinds) <= 3 and right[:1].isupper()  # noqa: PLR2004 - a name and its kind
    return right if is_named and kinds[-1].lower() == left.rsplit(maxsplit=1)[-1].lower() else None


def _of_role(name: str, right: str, *, negated: bool) -> tuple[Predicate, str]:
    condition = _CONDITION.search(right)
    role = right[: condition.start()] if condition is not None else right
    words = clauses.names(role)
    if not words:
        raise NotUnderstoodError("which role is meant is not plain")
    operator = PredicateName.NOT_EQUAL if negated else PredicateName.EQUAL
    under = condition["phrase"] if condition is not None else ""
    path: Path = clauses.path_from(words)
    return Predicate(operator, path, Text(name), condition=under), "name"
