"""The texts of words alone are those of the words with their places, whatever stands between them."""

import random

from services.common.reading.words import word_texts, words

LETTERS = "aB’'_ .İß1é\u0301中x-"  # noqa: RUF001 - the typographic apostrophe is meant


def test_word_texts_are_the_words_texts():
    rng = random.Random(3)
    for _ in range(5_000):
        text = "".join(rng.choice(LETTERS) for _ in range(rng.randint(0, 14)))
        assert word_texts(text) == [word.text for word in words(text)]
    assert word_texts("The Lessee’s 3rd CAT, don’t!") == ["the", "lessee's", "3rd", "cat", "don't"]  # noqa: RUF001 - as above
