"""A process that forks a child again and again, and ``kill -9`` of each child: both sides of it.

The process waits to be told ``round`` on stdin and forks a child that writes for ever, so that modules are imported
once for hundreds of rounds. Every line on stdout is written at once: ``child PID``, ``begin`` and ``done`` of the
child's own, and ``over STATUS`` when the child was reaped.
"""

import asyncio
import os
import random
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.forked import running_module

ROOT = Path(__file__).parents[2]


def rounds_of(times: int) -> int:
    """Five in ``make test``; in ``make test-faults`` as many times the rounds of its setting."""
    return times * int(os.environ.get("GROUNDTRAIL_TEST_FAULT_ROUNDS", "0")) or 5


def say(*words: object) -> None:
    """Write a line that a reader has before anything else happens."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def write_in_rounds(write_for_ever: Callable[[], Awaitable[None]]) -> None:
    """Fork a child for each line on stdin, and say when it is gone."""
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(write_for_ever())  # type: ignore[arg-type]
            os._exit(1)
        say("child", child)
        _, status = os.waitpid(child, 0)
        say("over", os.waitstatus_to_exitcode(status))


@dataclass
class Round:
    """What one child said before it was killed.

    Attributes:
        begun: by window id, the words of ``begin`` before it and after it: the request, the session, and more.
        done: by window id, the words of ``done`` after it.
    """

    begun: dict[str, tuple[str, ...]] = field(default_factory=dict)
    done: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def in_flight(self) -> dict[str, tuple[str, ...]]:
        return {window_id: words for window_id, words in self.begun.items() if window_id not in self.done}

    @property
    def sessions(self) -> set[str]:
        return {session_id for _, session_id, *_ in self.begun.values()}

    def take(self, line: str) -> None:
        verb, *words = line.split()
        if verb == "begin":
            request, session, window, *more = words
            self.begun[window] = (request, session, *more)
        elif verb == "done":
            self.done[words[0]] = tuple(words[1:])


def kill_in_rounds(module: str, folder: Path, rounds: int, seed: int, most: int) -> Iterator[Round]:
    """Yield what each child said; it is killed at random, after at most so many windows were acknowledged."""
    draw = random.Random(seed)
    with running_module(module, str(folder), folder=ROOT) as writer:
        for _ in range(rounds):
            yield _run_round(writer, draw.randrange(1, most), draw.random() * 0.02)
        writer.stdin.close()


def _run_round(writer: Any, acknowledgements: int, delay_s: float) -> Round:
    """Let a child write, kill it some time after so many acknowledgements."""
    writer.stdin.write("round\n")
    writer.stdin.flush()
    found = Round()
    child = 0
    while not child:  # on a busy machine the child may speak before its parent says who it is
        line = writer.stdout.readline()
        assert line, "the writer is gone"
        verb, *words = line.split()
        child = int(words[0]) if verb == "child" else 0
        if not child:
            found.take(line)
    while len(found.done) < acknowledgements:
        line = writer.stdout.readline()
        assert line, "the writer is gone"
        found.take(line)
    threading.Event().wait(delay_s)
    os.kill(child, signal.SIGKILL)
    for line in iter(writer.stdout.readline, f"over {-signal.SIGKILL}\n"):
        found.take(line)
    return found
