"""What whoever asks tells of their own case: "I've lost the receipt for a £62 meal. Can I …?" (ADR 0213).

A value that an answer repeats of it is not invented, though the documents know nothing of the case. What is asked
about, or was heard from somebody, is told of nothing: "The fee is £80, I was told. Is that right?".
"""

import re
from collections.abc import Iterator
from typing import Final

from services.common.reading.sentences import sentences
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values
from services.common.reading.words import content_stems

_OWN: Final = re.compile(r"\b(?:I|my|we|our|mine|I['\u2019](?:m|ve|d|ll)|we['\u2019](?:re|ve|d|ll))\b", re.IGNORECASE)
_HEARD: Final = re.compile(
    r"\b(?:told|hear|heard|read|says?|said|thinks?|thought|believes?|understand|understood|understanding|according|supposed"
    r"|assum\w+|quoted|informed|know|known|sure|saw|seen|claims?|reckons?|contract|policy|bill|boss|friend|confirm|explain)\b",
    re.IGNORECASE,
)
_CASE: Final = re.compile(
    r"\b(?:if|when|since|as|because|given\sthat)\s(?:I|my|we|our)\b[^,?!.;]{0,160}?"
    r"(?=,|\s(?:what|how|which|where|why)\b"
    r"|\s(?:when|can|could|do|does|would|will|should|must|am|is|are)\s(?:I|we|it|there|they|the|that|you|my|our)\b)",
    re.IGNORECASE,
)
"""A case in a question, up to what is asked: "If I made 5 withdrawals this quarter what will it cost?"."""
_PERIODS: Final = content_stems("minute hour day night week month quarter year")
"""What an amount is for tells nothing of what it is paid for."""
_ASKS: Final = ("?", '?"', "?\u201d")
_MOST_CHARS: Final = 4_000


def question_sentences(query: str) -> tuple[str, ...]:
    """Return the sentences of a query that ask, without those that tell; all of it where none has a question mark."""
    text = query[:_MOST_CHARS]
    said = [text[one.start : one.end] for one in sentences(text)]
    return tuple(one for one in said if one.rstrip().endswith(_ASKS)) or ((text,) if text.strip() else ())


def told_values(query: str) -> tuple[tuple[Value, frozenset[str]], ...]:
    """Return the values that the asker states of their own case, each with the stems that it stands with; linear.

    A query without a question mark may ask in any of its sentences: nothing of it is told.
    """
    found: list[tuple[Value, frozenset[str]]] = []
    for stretch in _told(query):
        stems = content_stems(stretch) - _PERIODS
        found += [(value, stems) for value in scan_values(stretch)]
    return tuple(found)


def _told(query: str) -> Iterator[str]:
    """Yield the stretches of a query in which its writer tells of their own case, and not what was heard."""
    text = query[:_MOST_CHARS]
    for sentence in sentences(text) if "?" in text else ():
        said = text[sentence.start : sentence.end]
        stretches = [match.group() for match in _CASE.finditer(said)] if said.rstrip().endswith(_ASKS) else [said]
        yield from (one for one in stretches if _OWN.search(one) and not _HEARD.search(one))
