"""No reading of text takes time that grows with the square of its length.

Every text here is hostile: one short piece, over and over. Four times the length may cost about four times the
processor time; a reading that looks again and again at the same run costs sixteen times: seconds, at these lengths.
"""

import pytest

from services.common.documents.facts import sentences as chunk_sentences
from services.common.grounding import words
from services.common.keywords import Stemming, keywords
from services.common.questions import decomposition
from services.common.reading import numerals
from services.common.reading import sentences as dpe_sentences
from services.ercp.domain import mutating, readings, topics
from tests.speed import processor_time_below

PIECES = {
    "full stops": ".",
    "marks": "?!",
    "quotes": '"',
    "ellipses": "\u2026",
    "initials": "a. A",
    "abbreviations": "e.g. ",
    "digits": "1,",
    "hyphens": "a-",
    "spaces": " ",
    "line breaks": "\n",
    "conjunctions": "a and ",
    "number words": "two ",
    "letters": "x",
}
READINGS = {
    "common sentences": words.sentences,
    "common words": words.words,
    "provenance sentences": dpe_sentences.sentences,
    "spelt numbers": lambda text: numerals.parse_words(f"two{text}three"),
    "chunking": chunk_sentences.split_sentences,
    "decomposition": decomposition.decompose,
    "mutation": mutating.decomposed,
    "ercp sentences": readings.sentences_of,
    "ercp topics": lambda text: topics.topics_of(readings.sentences_of(text)),
    "ercp facts": lambda text: readings.facts_of(text, readings.sentences_of(text)),
    "keywords": lambda text: keywords(text, Stemming.ENGLISH),
}
LENGTH = 40_000
MOST_SECONDS = 2.0
"""Of processor time: linear readings take at most some 0.3 s here, square ones 4 s and more."""


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reading", READINGS)
def test_a_long_text_of_one_piece_is_read_in_time(reading, piece):
    text = (PIECES[piece] * LENGTH)[:LENGTH]
    with processor_time_below(MOST_SECONDS):
        READINGS[reading](text)
