"""Which level a conformance run states: none that it has not shown whole."""

from tests.conformance.levels import LEVELS, PASSED, reached, told

EVERYTHING = [(name, PASSED) for rows in LEVELS.values() for name in rows]


def test_a_run_that_shows_every_row_states_the_highest_level():
    found = reached(EVERYTHING)
    assert (found.level, found.open) == ("CRP-Full", {})
    assert (
        told(found)[0] == f"level reached: CRP-Full, by {len(EVERYTHING)} rows and {len(EVERYTHING)} checks of this run"
    )


def test_one_row_that_is_missing_failed_or_skipped_costs_its_level_and_those_above():
    for level, below in (("CRP-Basic", ""), ("CRP-Standard", "CRP-Basic"), ("CRP-Full", "CRP-Standard")):
        for name in LEVELS[level]:
            others = [pair for pair in EVERYTHING if pair[0] != name]
            for more in (
                [],
                [(name, "failed")],
                [(name, PASSED), (name, "skipped")],
                [(name, PASSED), (name, "failed")],
            ):
                found = reached([*others, *more])
                assert (found.level, list(found.open), list(found.open[level])) == (below, [level], [name])


def test_a_run_of_nothing_states_nothing():
    found = reached([])
    assert found.level == ""
    assert sum(map(len, found.open.values())) == len(EVERYTHING)
    assert "OPEN, no test ran" in told(found)[1]
