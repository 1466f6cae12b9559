"""When Python looks for objects that only refer to each other (ADR 0083).

A process that serves holds some hundred thousand objects for as long as it lives: code, message types, models, what its
caches keep. The collector would walk all of them again and again, because answering makes many objects; nearly all of
those go by their reference count, and nothing is found. While it walks, nobody computes: what a long analysis holds
takes 50 ms. So everything is looked at only when nothing is being computed, or after a minute of work without a pause.
"""

import asyncio
import gc
from collections.abc import Callable
from typing import Final

YOUNG_OBJECTS: Final = 10_000
"""New objects that are still there before the collector looks at them; Python's default is 700."""
_YOUNG_ROUNDS: Final = 2
"""Collections of the first generation before the second one is collected: that walks 30,000 objects at most."""
_MIDDLE_ROUNDS: Final = 10
"""Collections of the second generation before everything is looked at, at the next rest."""
_NEVER: Final = 1_000_000
"""Collections of the middle generation before the last one is collected of itself."""
_LOOK_EVERY_S: Final = 1.0
_AT_REST_S: Final = 3.0
"""So long nothing was computed: the next call is not already on its way."""
_AT_LATEST_S: Final = 60.0


def freeze_collector() -> None:
    """Take what has been made so far for permanent, and look at what is new less often.

    For a process that serves, once it does, with ``collect_at_rest`` beside it; not for a library in somebody else's.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, _YOUNG_ROUNDS, _NEVER)


async def collect_at_rest(is_busy: Callable[[], bool]) -> None:
    """Look at all objects while nothing is computed, until cancelled.

    Args:
        is_busy: says whether something is being computed.
    """
    due_s = rest_s = 0.0
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        rest_s = 0.0 if is_busy() else rest_s + _LOOK_EVERY_S
        due_s = due_s + _LOOK_EVERY_S if gc.get_count()[2] >= _MIDDLE_ROUNDS else 0.0
        if due_s and (rest_s >= _AT_REST_S or due_s >= _AT_LATEST_S):
            gc.collect()
            due_s = 0.0
