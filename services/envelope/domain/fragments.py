"""Whether a fact can be read alone (CRP-SPEC-009): a rough judgement by its first words, its end and its length.

For people who look at a document before they trust it: a large share means that the document was read badly, or is made
of scraps. Nothing is done with a single fact because of it.
"""

import re
from typing import Final

from services.common.documents.facts.draft import FactKind

_WHOLE: Final = frozenset({FactKind.CODE, FactKind.CAPTION, FactKind.FOOTNOTE, FactKind.BOILERPLATE})
"""What is as short and as broken off as it is in the original."""
_LEANING: Final = re.compile(
    r"(?:it|its|they|them|their|he|she|his|her|this|these|those|such|both|neither|however|therefore|thus|hence"
    r"|moreover|furthermore|otherwise|instead|afterwards|and|but|or|nor|yet"
    r"|(?:after|before|until|from|since|by|beyond) (?:this|that|then)(?=,|\son,))\b(?!\s+(?:is|was)\s+(?:not\s+)?"
    r"(?:possible|necessary|required|important|allowed|forbidden|recommended))",
    re.IGNORECASE,
)
_BROKEN_START: Final = re.compile(r"[a-z](?![A-Z])|[,;:)\]}.%/]")
"""A small letter, but not that of a name as "iOS"; or a mark that belongs to what stood before."""
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_MIN_WORDS: Final = 3
_OPEN_ENDS: Final = (",", ";", ":", "-", "\u2010", "(", "[", "/")
_NAMED_CELL: Final = re.compile(r"[^\s:;]:\s+\S")
_MAX_CHECKED_CHARS: Final = 4_000


def is_fragment(text: str, kind: FactKind = FactKind.STATEMENT) -> bool:
    """Say whether a fact can hardly be read alone.

    A row of a table needs a cell with its column's name. Anything else begins as sentences do, not with a word that
    points back, has three words, ends, and closes the brackets that it opens.
    """
    text = text[:_MAX_CHECKED_CHARS].strip()
    if kind in _WHOLE:
        return not text
    if kind is FactKind.TABLE_ROW:
        return _NAMED_CELL.search(text) is None
    if _BROKEN_START.match(text) or _LEANING.match(text) or text.endswith(_OPEN_ENDS):
        return True
    return len(_WORD.findall(text)) < _MIN_WORDS or text.count("(") != text.count(")")
