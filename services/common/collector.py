"""When Python looks for objects that only refer to each other (ADR 0083).

A process that serves holds some hundred thousand objects for as long as it lives: code, message types, models, what its
caches keep. The collector would walk all of them again and again, because answering makes many objects; nearly all of
those go by their reference count, and nothing is found.
"""

import gc
from typing import Final

YOUNG_OBJECTS: Final = 10_000
"""New objects that are still there before the collector looks at them; Python's default is 700."""
_GENERATIONS: Final = 10


def settle_collector() -> None:
    """Take what has been made so far for permanent, and look at what is new less often.

    For a process that serves, once it does; not for a library in somebody else's.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, _GENERATIONS, _GENERATIONS)
