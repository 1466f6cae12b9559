"""The verdict of ``python -m bench fairness``: each bound can be broken, and a run that keeps all is told so."""

from collections import Counter

import pytest

from bench.fairness import AT_ONCE_S, Other, Outcome, answer, judge

REST = Other(reads=[0.002] * 5, analyses=[0.5] * 3)
BESIDE = Other(reads=[0.005] * 5, analyses=[1.4] * 3)
FLOOD = [Outcome("OK", "", 9.0, 0.0)] * 20 + [Outcome("RESOURCE_EXHAUSTED", "DEADLINE_UNREACHABLE", 0.1, 1.5)] * 80
SERVED = Counter(many=5000, few=4500)


def broken(served=SERVED, beside=BESIDE, flood=FLOOD):
    return {one.name for one in judge(served, REST, beside, flood) if not one.holds}


def test_a_fair_run():
    assert broken() == set()


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"served": Counter(many=7000, few=3000)}, {"least share of two saturating tenants"}),
        ({"served": Counter()}, {"least share of two saturating tenants"}),
        ({"beside": Other(reads=[0.0061], analyses=[1.4])}, {"read beside the flood"}),
        ({"beside": Other(reads=[0.005], analyses=[1.6])}, {"short analysis beside the flood"}),
        ({"beside": Other(reads=[0.005])}, {"short analysis beside the flood"}),
        (
            {"beside": Other(reads=[0.005], analyses=[1.4], failed=Counter(UNAVAILABLE=1))},
            {"calls of the other that failed"},
        ),
        (
            {"flood": [*FLOOD, *[Outcome("DEADLINE_EXCEEDED", "", 40.0, 0.0)] * 2]},
            {"flooder's admitted calls that succeed"},
        ),
        (
            {"flood": [*FLOOD, Outcome("RESOURCE_EXHAUSTED", "WORK_LIMIT", 0.1, 0.0)]},
            {"refused with RetryInfo"},
        ),
        (
            {"flood": [*FLOOD, Outcome("RESOURCE_EXHAUSTED", "WORK_LIMIT", AT_ONCE_S + 1, 1.0)]},
            {"refused within 2 s"},
        ),
        ({"flood": FLOOD[20:]}, {"flooder's admitted calls that succeed"}),
    ],
)
def test_each_bound_can_be_broken(changes, names):
    assert broken(**changes) == names


def test_answers_are_of_their_length_and_all_different():
    texts = {answer(chars, seed) for chars in (200, 3000) for seed in range(5)}
    assert sorted(map(len, texts)) == [200] * 5 + [3000] * 5
