"""The garbage collector of a process that serves, in a fresh process (ADR 0083)."""

import asyncio
import gc
import subprocess
import sys

from services.common import collector
from tests.patience import patient

_SCRIPT = """
import gc, weakref
from services.common.collector import YOUNG_OBJECTS, freeze_collector

class Ring:
    pass

def ring():
    one = Ring()
    one.itself = one
    return weakref.ref(one)

before = ring()
freeze_collector()
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


async def test_all_objects_are_looked_at_when_nothing_is_computed(monkeypatch):
    looked = asyncio.Event()
    busy = True
    monkeypatch.setattr(collector, "_LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(collector, "_AT_REST_S", 0.003)
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 10))
    monkeypatch.setattr(gc, "collect", looked.set)
    resting = asyncio.create_task(collector.collect_at_rest(lambda: busy))
    await asyncio.sleep(0.03)
    assert not looked.is_set()
    busy = False
    await asyncio.wait_for(looked.wait(), patient(10))
    resting.cancel()


async def test_work_without_a_pause_does_not_keep_objects_for_ever(monkeypatch):
    looked = asyncio.Event()
    monkeypatch.setattr(collector, "_LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(collector, "_AT_LATEST_S", 0.005)
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 10))
    monkeypatch.setattr(gc, "collect", looked.set)
    resting = asyncio.create_task(collector.collect_at_rest(lambda: True))
    await asyncio.wait_for(looked.wait(), patient(10))
    resting.cancel()
