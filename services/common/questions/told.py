"""What whoever asks tells of their own case: "I've lost the receipt for a £62 meal. Can I …?" (ADR 0213).

What an answer repeats of it is not held against the documents, which know nothing of the case. What is asked about, or
was heard from somebody, is told of nothing: "The fee is £80, I was told. Is that right?".
"""

import re
from typing import Final

from services.common.reading.sentences import sentences
from services.common.reading.text_types import Value
from services.common.reading.values import scan_values

_OWN: Final = re.compile(r"\b(?:I|my|we|our|mine|I['\u2019](?:m|ve|d|ll)|we['\u2019](?:re|ve|d|ll))\b", re.IGNORECASE)
_HEARD: Final = re.compile(
    r"\b(?:told|hear|heard|read|says?|said|thinks?|thought|believes?|understand|understood|according|assum\w+|supposed)\b",
    re.IGNORECASE,
)
_CASE: Final = re.compile(
    r"\b(?:if|when|since|as|because|given\sthat)\s(?:I|my|we|our)\b[^,?!.;]{0,160}(?=,)", re.IGNORECASE
)
_ASKS: Final = ("?", '?"', "?\u201d")
_MOST_CHARS: Final = 4_000


def question_sentences(query: str) -> tuple[str, ...]:
    """Return the sentences of a query that ask, without those that tell; all of it where none has a question mark."""
    text = query[:_MOST_CHARS]
    said = [text[one.start : one.end] for one in sentences(text)]
    return tuple(one for one in said if one.rstrip().endswith(_ASKS)) or ((text,) if text.strip() else ())


def told_values(query: str) -> tuple[Value, ...]:
    """Return the values that the asker states of their own case, with offsets in their stretches; linear."""
    text = query[:_MOST_CHARS]
    found: list[Value] = []
    for sentence in sentences(text):
        said = text[sentence.start : sentence.end]
        stretches = [match.group() for match in _CASE.finditer(said)] if said.rstrip().endswith(_ASKS) else [said]
        for stretch in stretches:
            if _OWN.search(stretch) and not _HEARD.search(stretch):
                found += scan_values(stretch)
    return tuple(found)
