"""What of a query is meant as it is written: identifiers, numbers, versions and quoted phrases (ADR 0110).

Whoever writes ``KH-4419``, ``retry_count``, ``3.12.11`` or ``"no space left on device"`` means just that. A fact that
has it stands before those that have it not, the rarer it is the more: see ``exact_shares``.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

MOST_TERMS: Final = 8
"""Terms of a query that are looked for; the first ones."""
LONGEST_QUERY_CHARS: Final = 2_000
"""A longer text is something to be read; nothing of it is meant as it is written."""
LONGEST_TERM_CHARS: Final = 120
_QUOTED: Final = re.compile(r"\"([^\"]{2,120})\"|\u201c([^\u201d]{2,120})\u201d|(?<![\w'])'([^']{2,120})'(?!\w)")
_TOKEN: Final = re.compile(r"[^\s\"\u201c\u201d,;?!]+")
_EDGES: Final = ".,:;?!'\u2019()[]{}<>*`"
_CODE: Final = re.compile(r"\d|_|[a-z][A-Z]|\w[.:/=@]\w|^--?\w|^\+\w")
_CAPITALS: Final = re.compile(r"[^\W\d_]*[A-Z][A-Z][^\W\d_]*")


def exact_terms(query: str) -> tuple[str, ...]:
    """Return what a query holds to be found as it is written, in its order, each once; in lower case.

    Words in capitals count unless the whole query is written so.
    """
    if len(query) > LONGEST_QUERY_CHARS:
        return ()
    shouted = query.upper() == query
    found = [next(filter(None, match.groups())) for match in _QUOTED.finditer(query)]
    for match in _TOKEN.finditer(query):
        token = match.group().strip(_EDGES).removesuffix("()").removesuffix("(")
        capitals = not shouted and _CAPITALS.fullmatch(token)
        if (capitals or _CODE.search(token)) and len(token) <= LONGEST_TERM_CHARS:
            found.append(token)
    return tuple(dict.fromkeys(_plain(term) for term in found if _plain(term)))[:MOST_TERMS]


def exact_shares(terms: Sequence[str], texts: Sequence[str]) -> list[float]:
    """Return for each text how much of the terms it holds as they are written, 0 to 1.

    A term weighs by how few of the texts hold it; those that no text holds weigh nothing. Linear in the texts.

    Args:
        terms: as ``exact_terms`` gives them.
        texts: those of the candidates.
    """
    if not terms or not texts:
        return [0.0] * len(texts)
    plain = [_plain(text) for text in texts]
    shares = [0.0] * len(texts)
    total = 0.0
    for term in terms:
        pattern = _pattern(term)
        holders = [place for place, text in enumerate(plain) if term in text and pattern.search(text)]
        if not holders:
            continue
        weight = math.log(1.0 + (len(texts) - len(holders) + 0.5) / (len(holders) + 0.5))
        total += weight
        for place in holders:
            shares[place] += weight
    return [share / total for share in shares] if total else shares


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _pattern(term: str) -> re.Pattern[str]:
    """Return a pattern for the term alone: no part of a longer word, number or version."""
    before = r"(?<!\w)(?<!\d[.,])" if term[0].isdecimal() else r"(?<!\w)" if term[0].isalnum() else ""
    behind = r"(?!\w|[.,]\d)" if term[-1].isdecimal() else r"(?!\w)" if term[-1].isalnum() else ""
    return re.compile(before + re.escape(term) + behind)
