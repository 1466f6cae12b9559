"""Orders of changes to documents, and what their answers are counted as."""

import itertools
from dataclasses import replace

import pytest

from evaluation.standing import ERASE, REMOVE, RENAME, SET, SLOTS, Standing, Step, orders, standing_after
from evaluation.superseded import (
    STATED,
    Answered,
    document_of_orders,
    measure_orders,
    mistakes_of_orders,
    shares_of_orders,
)
from services.common.settings import load_settings

A, B = SLOTS
FIRST = Step(SET, A, 0)
CHANGED, BACK = Step(SET, A, 1), Step(SET, A, 0)
GOOD = Answered("amount", (FIRST,), "10", "now", True, ("SUPPORTED",), "LOW")
BAD = replace(GOOD, current=False)


def test_every_order_of_two_steps():
    second = {str(steps[1]) for steps in orders(2, 3)}
    assert second == {
        *(f"set {slot} {value}" for slot in SLOTS for value in (0, 1)),
        *(f"{kind} {A}" for kind in (REMOVE, RENAME, ERASE)),
    }


def test_the_orders_that_people_know_are_among_them_and_none_stands_there_twice():
    found = list(orders(3, 3))
    assert len(set(found)) == len(found)
    assert {
        (FIRST, CHANGED, BACK),
        (FIRST, Step(REMOVE, A), BACK),
        (FIRST, Step(RENAME, A), CHANGED),
        (FIRST, Step(SET, B, 0), CHANGED),
        (FIRST, Step(SET, B, 1), Step(ERASE, B)),
        (FIRST, CHANGED, Step(SET, A, 2)),
    } <= set(found)
    assert all(steps[0] == FIRST for steps in found)
    assert (FIRST, Step(REMOVE, A), Step(RENAME, A)) not in found  # nothing is left to be spoken of under another name


def test_orders_that_begin_alike_stand_behind_one_another():
    found = list(orders(3, 3))
    beginnings = [steps[:2] for steps in found]
    assert len(set(beginnings)) == 1 + sum(one != other for one, other in itertools.pairwise(beginnings))


@pytest.mark.parametrize(
    ("steps", "holds", "held"),
    [
        ((FIRST,), {0}, set()),
        ((FIRST, CHANGED), {1}, {0}),
        ((FIRST, CHANGED, BACK), {0}, {0, 1}),
        ((FIRST, Step(SET, B, 0), CHANGED), {0, 1}, {0}),
        ((FIRST, Step(REMOVE, A)), set(), {0}),
        ((FIRST, Step(RENAME, A)), {0}, {0}),
        ((FIRST, CHANGED, Step(ERASE, A)), set(), set()),
    ],
)
def test_what_stands_after_some_steps(steps, holds, held):
    standing = standing_after(steps, "fee")
    assert {value for value in range(3) if standing.holds("fee", value)} == holds
    assert {value for value in range(3) if standing.held("fee", value)} == held


def test_a_slot_without_a_document_is_neither_renamed_nor_erased():
    standing = Standing()
    assert (standing.rename(A), standing.erase(A)) == (None, None)
    standing.set(A, "fee", 0)
    assert standing.rename(A) == (A, f"v1-{A}")
    assert standing.erase(A) == f"v1-{A}"


@pytest.mark.parametrize(
    ("answer", "is_wrong"),
    [
        (GOOD, False),
        (replace(GOOD, level="MEDIUM"), True),
        (replace(GOOD, verdicts=("SUPPORTED", "UNSUPPORTED")), True),
        (replace(GOOD, verdicts=()), True),
        (BAD, True),
        (replace(BAD, verdicts=("SUPERSEDED",)), True),  # LOW
        (replace(BAD, level="HIGH"), True),  # SUPPORTED
        (replace(BAD, level="HIGH", verdicts=("SUPPORTED", "CONTRADICTED")), True),
        (replace(BAD, level="HIGH", verdicts=("CONTRADICTED",)), False),
    ],
)
def test_what_is_counted_as_wrong(answer, is_wrong):
    assert answer.is_wrong is is_wrong
    assert len(mistakes_of_orders([answer])) == is_wrong
    assert any(share.hits for share in shares_of_orders([answer]).values()) is is_wrong


async def test_answers_of_the_suite_after_the_first_orders():
    walked = await measure_orders(load_settings(), ":memory:", 2)
    assert not mistakes_of_orders(walked)
    for stated in STATED:
        found = [one for one in walked if one.stated == stated.name]
        asked = {(one.steps, one.value, one.question) for one in found}
        assert len(asked) == len(found)  # what two orders have in common is asked once
        assert {len(one.steps) for one in found} == set(range(1, stated.steps + 1))
        assert {one.question for one in found} == {"now", "before", "everything"}
    document = document_of_orders(walked)
    assert document["answers"] == len(walked)
    assert set(document["orders"]) == {stated.name for stated in STATED}
    share = document["shares"]["all: current, not SUPPORTED"]
    assert (share["hits"], share["of"]) == (0, sum(one.current for one in walked))
    assert share["interval"][0] == 0.0
