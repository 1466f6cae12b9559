"""No process outlives the test that started it, whatever becomes of the test."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import leash
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[3]
PARENT = """
import subprocess as run, sys, time
child = run.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""
TESTS = f"""
import subprocess, sys, time
from tests.leash import leashed
server = leashed([sys.executable, "-c", {PARENT!r}], stdout=subprocess.PIPE, text=True)
print(server.pid, server.stdout.readline().strip(), flush=True)
time.sleep(600)
"""


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_gone(*pids):
    until = time.monotonic() + patient(10)
    while any(is_running(pid) for pid in pids):
        assert time.monotonic() < until, pids
        time.sleep(0.01)


def test_what_a_process_started_ends_with_it():
    with leash.running([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        assert is_running(child)
    assert_gone(process.pid, child)
    assert process.returncode == -signal.SIGKILL


def test_what_a_test_leaves_is_ended_and_what_a_fixture_keeps_is_not():
    with leash.keeping(keep=True):
        kept = leash.leashed([sys.executable, "-c", "import time; time.sleep(600)"])
    left = leash.leashed([sys.executable, "-c", "import time; time.sleep(600)"])
    leash.end_all()
    assert (left.returncode, kept.poll()) == (-signal.SIGKILL, None)
    leash.release(kept)
    assert kept.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_nothing_is_left_when_the_tests_themselves_are_killed():
    with leash.running([sys.executable, "-c", TESTS], cwd=ROOT, stdout=subprocess.PIPE, text=True) as tests:
        server, child = map(int, tests.stdout.readline().split())
        assert is_running(server)
        assert os.getpgid(server) == server != os.getpgid(tests.pid)
        os.kill(tests.pid, signal.SIGKILL)
        assert_gone(server, child)
