"""The benchmark of linear time tries every field that takes text, and finds what is not linear."""

import re
from itertools import combinations

import httpx
import pytest

from bench import linear, linear_calls
from bench.linear_calls import PLACES, Place
from bench.linear_costs import Cost, Kept
from bench.linear_kinds import KINDS, Kind
from bench.linear_load import Reads
from tests import tenth

PLACE = Place("Service/Method", "text", 200_000)
KIND = Kind("letters", "x".__mul__)


class Spending(linear.Measure):
    """A suite whose calls take what a function of the length says."""

    def __init__(self, seconds, disturbed=0.0):
        self.seconds = seconds
        self.disturbed = disturbed  # what else is computed beside the first call that is worth measuring
        self.used_s = 0.0
        self.lengths = []

    async def spent(self, place, text):
        self.lengths.append(len(text))
        seconds = self.seconds(len(text))
        if seconds >= linear.FLOOR_S:
            seconds, self.disturbed = seconds + self.disturbed, 0.0
        self.used_s += seconds
        return seconds, "OK"


def test_no_field_that_takes_text_is_forgotten():
    assert linear_calls.unplaced() == []


def test_a_field_without_a_place_is_told(monkeypatch):
    kept = tuple(place for place in PLACES if place.path != "reasoning_prev" and place.method != "POST /ercp/v1/mutate")
    monkeypatch.setattr(linear_calls, "PLACES", kept)
    assert linear_calls.unplaced() == ["ErcpService/Stabilize reasoning_prev", "POST /ercp/v1/mutate"]


async def test_a_route_that_does_not_answer_in_time_is_told_like_an_rpc():
    def never(request):
        raise httpx.ReadTimeout("", request=request)

    place = next(place for place in PLACES if place.method.startswith("POST "))
    async with httpx.AsyncClient(base_url="http://suite", transport=httpx.MockTransport(never)) as http:
        caller = linear_calls.Caller(None, http, "key")
        assert await caller.call(place, "text", 2.0) == "DEADLINE_EXCEEDED: no answer within 2 s"


def test_there_are_two_hundred_kinds_of_any_length():
    assert len({kind.name for kind in KINDS}) == len(KINDS) >= 200
    assert len({kind.make(2_000) for kind in KINDS}) >= 200
    for kind in KINDS:
        assert kind.make(2_000) == kind.make(2_000)
        assert 1_000 < len(kind.make(2_000)) <= 2_010, kind.name


@pytest.mark.parametrize(
    ("seconds", "holds"),
    [
        pytest.param(lambda length: length / 50_000, True, id="linear"),
        pytest.param(lambda length: length / 5_000, False, id="linear and too dear"),
        pytest.param(lambda length: (length / 10_000) ** 2, False, id="square"),
        pytest.param(lambda length: (length / 30_000) ** 2, False, id="square, late"),
        pytest.param(lambda _: 0.01, True, id="next to nothing"),
    ],
)
async def test_costs_are_judged_by_their_growth_and_their_height(seconds, holds):
    measure = Spending(seconds)
    cost = await measure.cost(PLACE, KIND)
    assert cost.holds is holds
    assert max(measure.lengths) <= 2 * linear.LONG
    assert cost.used_s == measure.used_s


async def test_what_else_was_computed_hides_no_growth():
    assert not (await Spending(lambda length: (length / 30_000) ** 2, disturbed=1.0).cost(PLACE, KIND)).holds
    assert (await Spending(lambda length: length / 50_000, disturbed=1.0).cost(PLACE, KIND)).holds


def test_a_text_measured_again_shares_no_number_with_the_one_before():
    texts = [linear.another("Rule 107 says so. " * 3, turn) for turn in range(10)]
    numbers = [set(re.findall(r"\d{3}", text)) for text in texts]
    assert all(one.isdisjoint(other) for one, other in combinations(numbers, 2))
    assert texts[0] == "Rule 107 says so. " * 3
    assert texts[7] == "4 says so. " + "Rule 874 says so. " * 2


def test_the_sample_shows_every_call_25_kinds_and_every_kind_some_calls():
    sample = linear.chosen(PLACES, KINDS, whole=False, tenth=None)
    calls, kinds = {}, {}
    for place, kind in sample:
        calls.setdefault(place.method, set()).add(kind.name)
        kinds.setdefault(kind.name, set()).add(place.method)
    assert calls.keys() == {place.method for place in PLACES}
    assert min(map(len, calls.values())) >= 25
    assert kinds.keys() == {kind.name for kind in KINDS}
    assert min(map(len, kinds.values())) >= 2
    assert {place.name for place, _ in sample} == {place.name for place in PLACES}


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_tenth_is_a_part_and_ten_are_all(is_whole):
    every = linear.chosen(PLACES, KINDS, whole=is_whole, tenth=None)
    tenths = [linear.chosen(PLACES, KINDS, whole=is_whole, tenth=number) for number in range(10)]
    assert sum(map(len, tenths)) == len(every)
    assert {(place.name, kind.name) for tenth in tenths for place, kind in tenth} == {
        (place.name, kind.name) for place, kind in every
    }


def test_the_whole_is_every_kind_at_every_field():
    assert len(linear.chosen(PLACES, KINDS, whole=True, tenth=None)) == len(PLACES) * len(KINDS)


def test_a_run_goes_on_where_one_ended(tmp_path):
    pairs = Kept(None).missing([(place, kind) for place in PLACES[:2] for kind in KINDS[:3]])
    assert {place.name for place, _ in pairs[:4]} == {place.name for place in PLACES[:2]}  # mixed
    costs = [Cost(place, kind, 1_500, 0.3, 2.0, 0.6, "OK") for place, kind in pairs]
    first = Kept(tmp_path / "kept")
    for cost in costs[:4]:
        first.add(cost)
    first.add_reads(Reads([0.1], [0.2, 0.3], [0.4]))
    first.add_prose(PLACES[0], "OK")
    second = Kept(tmp_path / "kept")
    assert second.missing(pairs) == pairs[4:]
    assert second.prose == {PLACES[0].name: "OK"}
    second.add(costs[5])
    second.add_reads(Reads([0.5], [], []))
    third = Kept(tmp_path / "kept")
    assert third.of(pairs) == [*costs[:4], costs[5]]
    assert third.missing(pairs) == pairs[4:5]
    assert third.reads == Reads([0.1, 0.5], [0.2, 0.3], [0.4])
    assert Kept(None).missing(pairs) == pairs


@pytest.mark.skipif(not tenth.WHOLE, reason=f"starts the suite: set {tenth.VARIABLE}=1 (make test-faults does)")
@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_few_kinds_against_the_suite():
    places = [
        place
        for place in PLACES
        if place.name in {"ProvenanceService/SegmentClaims text", "ErcpService/Verify reasoning_text"}
    ]
    kinds = [kind for kind in KINDS if kind.name in {"repeated '%'", "repeated ' '", "contradictions"}]
    async with linear.measuring(recogniser=False) as (measure, suite, _):
        costs = [await measure.cost(place, kind) for place in places for kind in kinds]
        assert suite.processor_s() > 0
    assert len(costs) == 6
    assert [linear._line(cost) for cost in costs if not cost.holds] == []
