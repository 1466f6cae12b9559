"""Honest prose of up to 20,000 characters is never refused, wherever a caller's text enters the suite.

The suite runs whole in a process of its own with its real tokenizers and rules; only the arithmetic of its encoders and
the recogniser are left out. ``python -m bench linear`` asks the same of every place with the recogniser as well.
"""

import pytest

from bench import linear
from bench.linear_calls import PLACES


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.whole
async def test_honest_prose_is_never_refused():
    async with linear.measuring(recogniser=False) as (measure, _, _):
        said = {place.name: answer async for place, answer in linear.honestly(measure, PLACES)}
    assert said == dict.fromkeys((place.name for place in PLACES), "OK")
