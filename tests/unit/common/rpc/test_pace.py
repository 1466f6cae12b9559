"""The pace is that of the process, whether calls come one by one or side by side."""

import pytest

from services.common.rpc.pace import Pace


class Clock:
    at = 0.0

    def __call__(self):
        return self.at


def test_nothing_is_known_before_a_call_was_done():
    clock = Clock()
    pace = Pace(clock)
    assert pace.units_per_s is None
    begun = pace.begin()
    clock.at += 1
    pace.end(begun, 100, done=False)
    assert pace.units_per_s is None


def test_one_call():
    clock = Clock()
    pace = Pace(clock)
    begun = pace.begin()
    clock.at += 2
    pace.end(begun, 100, done=True)
    assert pace.units_per_s == 50


@pytest.mark.parametrize(("seconds", "pace"), [(0.5, 200), (0, 100_000)], ids=["short", "no time at all"])
def test_a_short_call(seconds, pace):
    clock = Clock()
    found = Pace(clock)
    begun = found.begin()
    clock.at += seconds
    found.end(begun, 100, done=True)
    assert found.units_per_s == pytest.approx(pace)


def test_a_call_that_another_joined_for_a_while_is_reckoned_by_both():
    clock = Clock()
    pace = Pace(clock)
    begun = pace.begin()
    clock.at += 6
    pace.begin()
    clock.at += 4
    pace.end(begun, 100, done=True)  # it had six seconds alone and half of four: 100 units in eight
    assert pace.units_per_s == pytest.approx(12.5)


def test_calls_side_by_side_tell_the_pace_of_all_from_the_first_that_ends():
    clock = Clock()
    pace = Pace(clock)
    slow = pace.begin()
    clock.at += 10
    pace.end(slow, 100, done=True)  # alone: 10 units a second
    begun = [pace.begin() for _ in range(4)]
    clock.at += 10
    for one in begun:
        pace.end(one, 100, done=True)
        assert pace.units_per_s == pytest.approx(40)


def test_what_a_tenants_own_calls_showed_counts_where_it_is_slower():
    clock = Clock()
    pace = Pace(clock)
    for tenant, seconds in (("quick", 1), ("slow", 4)):
        begun = [pace.begin(tenant) for _ in range(2)]
        clock.at += seconds
        for one in begun:
            pace.end(one, 100, done=True)
    assert pace.units_per_s_of("slow") == pytest.approx(50)
    assert 50 < pace.units_per_s_of("nobody knows") == pace.units_per_s == pace.units_per_s_of("quick") < 200


def test_a_call_beside_many_of_another_tenant_has_half_of_the_process():
    clock = Clock()
    pace = Pace(clock)
    many, one = [pace.begin("many") for _ in range(4)], pace.begin("one")
    clock.at += 2
    assert pace.done(one) == 0  # nothing was measured
    pace.end(one, 100, done=True)
    assert pace.units_per_s == pytest.approx(100)
    assert pace.done(many[0]) == pytest.approx(25)
    clock.at += 1
    assert pace.done(many[0]) == pytest.approx(50)
    for each in many:
        pace.end(each, 50, done=True)
        assert pace.units_per_s == pytest.approx(100)


def test_the_pace_of_tenants_who_are_away_is_forgotten_in_the_end():
    clock = Clock()
    pace = Pace(clock)
    for number in range(400):
        begun = [pace.begin(str(number)) for _ in range(2)]
        clock.at += 10 if number == 0 else 1
        for one in begun:
            pace.end(one, 100, done=True)
    assert pace.units_per_s_of("0") == pace.units_per_s


def test_the_pace_of_a_tenant_who_comes_back_is_kept():
    clock = Clock()
    pace = Pace(clock)
    for number in range(400):
        for tenant in (str(number), "slow") if number % 200 == 0 else (str(number),):
            begun = [pace.begin(tenant) for _ in range(2)]
            clock.at += 10 if tenant == "slow" else 1
            for one in begun:
                pace.end(one, 100, done=True)
    assert pace.units_per_s_of("slow") == pytest.approx(20)
    assert pace.units_per_s > 100


def test_the_last_calls_count_most():
    clock = Clock()
    pace = Pace(clock)
    for seconds in (*[1] * 20, *[4] * 20):
        begun = pace.begin()
        clock.at += seconds
        pace.end(begun, 100, done=True)
    assert 25 <= pace.units_per_s < 30
