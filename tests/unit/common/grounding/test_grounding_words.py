import pytest

from services.common.grounding.words import MAX_SENTENCE_CHARACTERS, sentences, stem, words


@pytest.mark.parametrize(
    ("forms", "shared"),
    [
        (("movie", "movies", "Movies"), "movy"),
        (("make", "makes", "making", "made"), "mak"),
        (("stop", "stops", "stopped", "stopping"), "stop"),
        (("city", "cities"), "city"),
        (("class", "classes"), "class"),
        (("sing", "sang", "sung"), "sing"),
        (("person", "people", "People's", "people\u2019s"), "person"),
        (("1,000", "1000", "1000.0"), "1000"),
        (("five", "Five", "5"), "5"),
        (("don't", "isn't", "not"), "not"),
    ],
    ids=[
        "ie",
        "silent e",
        "doubled",
        "y",
        "ss",
        "irregular verb",
        "possessive",
        "thousands",
        "number word",
        "negation",
    ],
)
def test_forms_of_a_word_share_a_stem(forms, shared):
    assert {stem(form) for form in forms} == {shared}


@pytest.mark.parametrize("word", ["series", "bus", "was", "thing", "red", "bed", "one"])
def test_a_word_that_only_looks_inflected_keeps_apart_from_others(word):
    assert stem(word) not in {"serie", "bu", "wa", "th", "r", "b", "1"}


def test_words_know_where_they_stand():
    text = "Delhi\u2019s 3,500 \u6771\u4eac"
    found = words(text)
    assert [text[word.start : word.end] for word in found] == ["Delhi\u2019s", "3,500", "\u6771", "\u4eac"]
    assert [word.stem for word in found] == ["delhi", "3500", "\u6771", "\u4eac"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One came. Two went.", ["One came.", "Two went."]),
        ("Mr. Smith left. He died.", ["Mr. Smith left.", "He died."]),
        ("J. K. Rowling wrote it. It sold.", ["J. K. Rowling wrote it.", "It sold."]),
        ("Title: X\n\nBody here", ["Title: X", "Body here"]),
        ("It ended.First for Women is new.", ["It ended.", "First for Women is new."]),
        ("In 1943 . Mary came .", ["In 1943 .", "Mary came ."]),
        ("It is 3.5 m. away at 5 p.m. today", ["It is 3.5 m. away at 5 p.m. today"]),
        ("\u6771\u4eac\u3002\u5927\u962a\u3002", ["\u6771\u4eac\u3002", "\u5927\u962a\u3002"]),
        ("", []),
        (" \n ", []),
    ],
    ids=[
        "full stop",
        "title",
        "initials",
        "line break",
        "no space",
        "tokenised",
        "decimals",
        "full width",
        "empty",
        "blank",
    ],
)
def test_sentences(text, expected):
    assert [text[start:end] for start, end in sentences(text)] == expected


def test_a_sentence_without_end_comes_in_pieces_of_whole_words():
    text = "word " * 200
    spans = sentences(text)
    assert max(end - start for start, end in spans) <= MAX_SENTENCE_CHARACTERS
    assert " ".join(text[start:end] for start, end in spans) == text.strip()
    assert sentences("x" * 1000) == [(0, 400), (400, 800), (800, 1000)]
