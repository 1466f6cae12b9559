"""The scripted judge of the evaluation is right as often as it says, the same in every run (ADR 0119)."""

import pytest

from evaluation.pairs import PairRecord
from evaluation.scripted_judge import RATES, ScriptedJudge, Truth
from services.common.ports.second_opinion import AskedClaim, OpinionRequest, Vote

RECORD = PairRecord(
    "p1", "value", ("The fee is 5 euros.",), "What is the fee?", "It is 5 euros. Pay by May.", "It is 7 euros."
)
TRUTH = Truth.of([RECORD])


def test_a_claim_of_the_true_answer_is_true_and_no_other():
    assert TRUTH.holds("What is the fee?", "Pay by May.")
    assert not TRUTH.holds("What is the fee?", "It is 7 euros.")
    assert not TRUTH.holds("Another question?", "Pay by May.")


@pytest.mark.parametrize("rate", RATES)
def test_it_is_right_as_often_as_it_says(rate):
    judge = ScriptedJudge(TRUTH, rate, seed=1)
    claims = [f"It is {number} euros and a half." for number in range(2_000)]
    right = sum(judge.vote("What is the fee?", claim) is Vote.UNSUPPORTED for claim in claims) / len(claims)
    assert right == pytest.approx(rate / 100, abs=0.03)
    assert [judge.vote("q", claim) for claim in claims[:50]] == [judge.vote("q", claim) for claim in claims[:50]]


async def test_it_counts_what_it_is_asked_about():
    judge = ScriptedJudge(TRUTH, 100, seed=1)
    asked = tuple(
        AskedClaim(f"c{number}", text, 0, 1, (0,)) for number, text in enumerate(["Pay by May.", "It is 7 euros."])
    )
    reply = await judge.ask(OpinionRequest(RECORD.question, "x", RECORD.facts, asked, "m" * 32))
    assert {name: one.vote for name, one in reply.votes.items()} == {"c0": Vote.SUPPORTED, "c1": Vote.UNSUPPORTED}
    assert (judge.asked[True], judge.asked[False]) == (1, 1)
