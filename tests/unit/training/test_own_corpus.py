"""The corpus of our own as rows: what is held back is never learnt from, and spans are those of the claims."""

from collections import defaultdict
from statistics import mean

import pytest

from training.own_corpus import ANSWERS, CORPUS, own_rows, own_twins

PARTS = pytest.mark.parametrize(("path", "claims"), [(CORPUS, 2_706), (ANSWERS, 6_454)], ids=["claims", "answers"])


@PARTS
def test_what_is_held_back_is_apart_by_passage(path, claims):
    learnt, held_back = own_rows(path), own_rows(path, held_back=True)
    assert len(learnt) + len(held_back) == claims
    assert 0.08 < len(held_back) / claims < 0.2
    assert not {row.premise for row in learnt} & {row.premise for row in held_back}


@PARTS
def test_twins_are_a_right_and_a_wrong_claim_about_one_passage(path, claims):
    twins = own_twins(path) + own_twins(path, held_back=True)
    assert len(twins) == claims / 2
    for right, wrong in twins:
        assert right.supported
        assert not wrong.supported
        assert right.premise == wrong.premise
        assert right.query.endswith(wrong.claim)
        assert wrong.query.endswith(right.claim)


@PARTS
def test_neither_length_nor_shared_words_give_a_label_away(path, claims):
    lengths, shared = defaultdict(list), defaultdict(list)
    for row in own_rows(path):
        words, known = row.claim.lower().split(), set(row.premise.lower().split())
        lengths[row.supported].append(len(words))
        shared[row.supported].append(sum(word in known for word in words) / len(words))
    assert abs(mean(lengths[True]) - mean(lengths[False])) < 0.5
    assert abs(mean(shared[True]) - mean(shared[False])) < 0.02


def test_the_question_of_an_answer_stands_in_its_row():
    asked = [row for row in own_rows(ANSWERS) if row.query]
    assert 0.4 < len(asked) / len(own_rows(ANSWERS)) < 0.6
    assert all(row.query.strip() == row.query for row in asked)


@PARTS
def test_spans_lie_in_the_claims_that_are_not_supported(path, claims):
    for row in own_rows(path):
        assert (row.spans == ()) is row.supported
        for start, end in row.spans or ():
            assert 0 <= start < end <= len(row.claim)
            assert row.claim[start:end].strip()
