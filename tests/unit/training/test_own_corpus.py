"""The corpus of our own as rows: what is held back is never learnt from, and spans are those of the claims."""

import json
from collections import defaultdict
from statistics import mean

import pytest

from training.own_corpus import ANSWERS, CORPUS, is_held_back, own_rows, own_twins, turned

PARTS = pytest.mark.parametrize(("path", "claims"), [(CORPUS, 2_706), (ANSWERS, 9_900)], ids=["claims", "answers"])


@PARTS
def test_what_is_held_back_is_apart_by_passage(path, claims):
    learnt, held_back = own_rows(path), own_rows(path, held_back=True)
    assert len(learnt) + len(held_back) == claims
    assert 0.08 < len(held_back) / claims < 0.2
    assert not {row.premise for row in learnt} & {row.premise for row in held_back}


def test_claims_stand_beside_turned_passages_or_beside_their_twins_about_one():
    twins = own_twins() + own_twins(held_back=True)
    one_passage = [twin for twin in twins if twin.supported.premise == twin.unsupported.premise]
    assert (len(twins), len(one_passage)) == (2 * 1_188 + 165, 165)
    assert all(right.supported and not wrong.supported for right, wrong in twins)
    for right, wrong in one_passage:
        assert right.claim != wrong.claim
        assert (right.query, wrong.query) == (wrong.claim, right.claim)
    assert all(right.claim == wrong.claim for right, wrong in twins if right.premise != wrong.premise)


def test_an_answer_stands_beside_itself_about_a_passage_that_was_turned_round(tmp_path):
    question = "When can I come?"
    right = {
        "id": "p-1",
        "twin": "p-2",
        "claim": "You can come to the desk from eight in the morning on.",
        "supported": True,
        "spans": [],
    }
    wrong = {
        "id": "p-2",
        "twin": "p-1",
        "claim": "You can come to the desk from nine in the morning on.",
        "supported": False,
        "spans": [[30, 34]],
    }
    wrong |= {"kind": "value", "question": question}
    right |= {"kind": "figures", "question": question, "turned": [["08:00", "09:00"]]}
    passage = {"id": next(name for name in "abcdefghij" if not is_held_back(name)), "title": "Desk"}
    passage |= {"passage": "Open from 08:00.", "claims": [wrong, right]}
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(passage) + "\n")
    first, second = own_twins(path)
    assert [row.claim for row in (*first, *second)] == [right["claim"]] * 2 + [wrong["claim"]] * 2
    assert [row.supported for row in (*first, *second)] == [True, False] * 2
    before, after = "Desk\n\nOpen from 08:00.", "Desk\n\nOpen from 09:00."
    assert [row.premise for row in (*first, *second)] == [before, after, after, before]
    assert [row.spans for row in (*first, *second)] == [(), None, (), ((30, 34),)]
    assert first.supported.query == first.unsupported.query == f"{question} {wrong['claim']} 08:00 09:00"
    del right["turned"]
    path.write_text(json.dumps(passage) + "\n")
    assert own_twins(path) == []


def test_every_turned_passage_differs_and_words_of_answers_tell_nothing():
    twins = own_twins(ANSWERS) + own_twins(ANSWERS, held_back=True)
    assert len(twins) == 2 * 4_804
    for right, wrong in twins:
        assert right.claim == wrong.claim
        assert right.premise != wrong.premise


def test_every_text_that_is_to_be_replaced_is():
    assert turned("Open from 08:00 to 16:00.", [("08:00", "09:00"), ("16:00", "17:00")]) == "Open from 09:00 to 17:00."


@pytest.mark.parametrize("passage", ["Open from nine.", "08:00 to 08:00"])
def test_what_is_to_be_turned_stands_in_its_passage_once(passage):
    with pytest.raises(ValueError, match=r"'08:00' stands [02] times in the passage, not once"):
        turned(passage, [("08:00", "09:00")])


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
