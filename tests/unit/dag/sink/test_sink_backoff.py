"""How long the sink waits after a failed attempt."""

import pytest

from services.common.backoff import pause_s


@pytest.mark.parametrize(
    ("attempt", "share", "asked", "seconds"),
    [
        (1, 1.0, None, 0.5),
        (2, 1.0, None, 1.0),
        (5, 1.0, None, 8.0),
        (8, 1.0, None, 60.0),
        (10**9, 1.0, None, 60.0),
        (5, 0.25, None, 2.0),
        (5, 0.0, None, 0.0),
        (1, 0.5, 30.0, 30.25),
        (3, 0.0, 30.0, 30.0),
    ],
)
def test_the_pause_doubles_up_to_its_bound_and_never_undercuts_what_was_asked_for(attempt, share, asked, seconds):
    assert pause_s(attempt, 0.5, 60.0, share, asked) == seconds
