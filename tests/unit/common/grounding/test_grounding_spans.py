import pytest

from services.common.grounding.spans import DoubtfulSpan, TokenDoubt, doubtful_spans, word_doubts

CLAIM = "Ada sang, in Paris-Nord, arias."


def doubts(*scores):
    """Tokens: Ad|a sang , in Paris - Nord , arias ."""
    places = [(0, 2), (2, 3), (4, 8), (8, 9), (10, 12), (13, 18), (18, 19), (19, 23), (23, 24), (25, 30), (30, 31)]
    return [TokenDoubt(*place, score) for place, score in zip(places, scores, strict=True)]


def test_a_word_has_the_highest_doubt_of_its_tokens():
    found = word_doubts(CLAIM, doubts(0.1, 0.9, 0.2, 1, 0.3, 0.4, 1, 0.5, 1, 0.6, 1))
    assert [(CLAIM[w.start : w.end], w.unsupported, w.tokens) for w in found] == [
        ("Ada", 0.9, 2), ("sang", 0.2, 1), ("in", 0.3, 1), ("Paris", 0.4, 1), ("Nord", 0.5, 1), ("arias", 0.6, 1)
    ]  # fmt: skip


def test_a_word_without_a_token_is_left_out():
    assert [word.start for word in word_doubts(CLAIM, doubts(*[0.5] * 11)[:2])] == [0]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), []),
        ((0.2, 0.8, 0, 0, 0, 0, 0, 0, 0, 0, 0), [("Ada", 0.5)]),
        ((0, 0, 0.6, 0, 0.5, 0, 0, 0, 0, 0, 0), [("sang, in", 0.55)]),
        ((0, 0, 0, 0, 0, 0.9, 0, 0.7, 0, 0, 0), [("Paris-Nord", 0.8)]),
        ((1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1), [("Ada", 1.0), ("arias", 1.0)]),
    ],
    ids=["nothing", "whole word", "neighbours joined, at the threshold", "across a hyphen", "two"],
)
def test_spans(scores, expected):
    found = doubtful_spans(word_doubts(CLAIM, doubts(*scores)), 0.5)
    assert [(CLAIM[span.start : span.end], pytest.approx(span.score)) for span in found] == expected


def test_no_word_no_span():
    assert doubtful_spans([], 0.5) == []
    assert DoubtfulSpan(0, 1, 0.5).score == 0.5
