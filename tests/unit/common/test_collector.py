"""The garbage collector of a process that serves, in a fresh process (ADR 0083)."""

import subprocess
import sys

from tests.patience import patient

_SCRIPT = """
import gc, weakref
from services.common.collector import YOUNG_OBJECTS, settle_collector

class Ring:
    pass

def ring():
    one = Ring()
    one.itself = one
    return weakref.ref(one)

before = ring()
settle_collector()
print(before() is None, gc.get_freeze_count() > 1_000, gc.get_threshold()[0] == YOUNG_OBJECTS)
after = ring()
held = [[] for _ in range(2 * YOUNG_OBJECTS)]
print(after() is None)
"""


def test_rings_of_objects_are_still_found_and_what_was_there_is_not_looked_at_again():
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True, timeout=patient(50)
    )
    assert done.stdout.split() == ["True", "True", "True", "True"]
