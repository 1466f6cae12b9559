"""Marked texts: tags to spans, spans to labels and back, halves that never change."""

import pytest

from services.common.ports.recognition import EntityKind
from training.ner_rows import MarkedText, halves, marked_tokens, spans_of, word_labels

P, O, L = EntityKind.PERSON, EntityKind.ORGANISATION, EntityKind.LOCATION  # noqa: E741
WORDS = [(0, 2), (3, 6), (7, 9), (10, 12)]


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        (["I-PER", "I-PER", "O", "I-LOC"], ((P, 0, 6), (L, 10, 12))),
        (["I-PER", "B-PER", "O", "O"], ((P, 0, 2), (P, 3, 6))),
        (["I-PER", "I-ORG", "I-ORG", "O"], ((P, 0, 2), (O, 3, 9))),
        (["I-MISC", "I-MISC", "I-LOC", "I-MISC"], ((L, 7, 9),)),
        (["I-LOC", "I-MISC", "I-LOC", "O"], ((L, 0, 2), (L, 7, 9))),
    ],
    ids=["runs", "a beginning parts a run", "kinds part a run", "other kinds are left out", "another kind between"],
)
def test_tags_become_spans(tags, spans):
    assert marked_tokens(["ab", "cde", "fg", "hi"], tags) == MarkedText("ab cde fg hi", spans)


@pytest.mark.parametrize(
    ("spans", "labels"),
    [
        (((P, 0, 6),), [1, 2, 0, 0]),
        (((P, 0, 2), (P, 3, 6)), [1, 1, 0, 0]),
        (((O, 3, 6), (L, 7, 12)), [0, 3, 5, 6]),
        ((), [0, 0, 0, 0]),
    ],
    ids=["two words", "two names side by side", "two kinds", "no name"],
)
def test_spans_become_labels_and_labels_spans(spans, labels):
    assert word_labels(MarkedText("ab cde fg hi", spans), WORDS) == labels
    assert tuple(spans_of(labels, WORDS)) == spans


def test_an_inner_label_can_begin_a_name():
    assert spans_of([0, 2, 2, 4], WORDS) == [(P, 3, 9), (O, 10, 12)]


def test_what_is_ignored_is_neither_learnt_nor_counted():
    text = MarkedText("ab cde fg hi", ((P, 0, 2),), ignored=((4, 9),))
    assert word_labels(text, WORDS) == [1, None, None, 0]
    assert text.counted([(P, 0, 2), (L, 3, 6), (O, 10, 12), (EntityKind.DATE, 0, 2)]) == {(P, 0, 2), (O, 10, 12)}


def test_halves_are_disjoint_complete_and_always_the_same():
    texts = [MarkedText(str(n), ()) for n in range(11)]
    learn, test = halves(texts)
    assert (len(learn), len(test)) == (5, 6)
    assert {text.text for text in learn + test} == {str(n) for n in range(11)}
    assert [text.text for text in learn] == ["2", "3", "10", "1", "7"]
