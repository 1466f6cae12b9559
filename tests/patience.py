"""How long a test waits before it gives up: ``patient(5)`` is five seconds on a quiet machine, and more elsewhere.

Only what must *not* run out is stretched: waits for a server, for an answer or for an event. A time that a test lets
run out on purpose stays as it is. GROUNDTRAIL_TEST_PATIENCE says how often as long as on a quiet machine a test waits;
a wait that ends well ends as soon as before, whatever the number.
"""

import os
from typing import Final

VARIABLE: Final = "GROUNDTRAIL_TEST_PATIENCE"
PATIENCE: Final = float(os.environ.get(VARIABLE, "5"))
if not 1 <= PATIENCE <= 1_000:
    raise ValueError(f"{VARIABLE} is {PATIENCE:g}; it must lie between 1 and 1000")


def patient(seconds: float) -> float:
    """Return how long to wait for what takes at most ``seconds`` on a quiet machine."""
    return seconds * PATIENCE
