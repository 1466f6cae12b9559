"""Busy processes are there while a command runs, compute, and end with it or with who started them."""

import os
import signal
import sys
import time
from pathlib import Path

from tests.leash import running
from tests.patience import patient
from tools.beside import beside

ROOT = Path(__file__).resolve().parents[3]
COUNT_CHILDREN = """
import os, sys
children = open(f"/proc/{os.getppid()}/task/{os.getppid()}/children").read().split()
sys.exit(len(children))
"""


def others_of(pid):
    """Return the ids of a process's children."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def test_the_command_runs_beside_them_and_tells_its_status():
    before = others_of(os.getpid())
    found = beside(2, [sys.executable, "-c", COUNT_CHILDREN])
    assert found - len(before) == 3  # itself as well
    assert others_of(os.getpid()) == before


def test_they_end_with_who_started_them():
    waits = [sys.executable, "-c", "import time; time.sleep(60)"]
    with running([sys.executable, "-m", "tools.beside", "1", "--", *waits], cwd=ROOT) as process:
        until = time.monotonic() + patient(10)
        while len(others_of(process.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        others = others_of(process.pid)
        assert len(others) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        while Path(f"/proc/{others[0]}").exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert not Path(f"/proc/{others[0]}").exists()
