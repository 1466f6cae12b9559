"""Wait until the pipe of the tests ends, then kill every group of processes that is left (see tests/leash.py)."""

import contextlib
import os
import signal
import sys

left: set[int] = set()
for line in sys.stdin:
    (left.add if line[0] == "+" else left.discard)(int(line[1:]))
for group in left:
    with contextlib.suppress(OSError):  # it may have ended by itself
        os.killpg(group, signal.SIGKILL)
