"""``python -m tests.fakes.worker_process``: a worker that does what a test wants, good and bad."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from services.common.errors import ErrorReason, FieldViolation, InvalidRequestError
from services.common.workers.child import serve


def build(configuration):
    if configuration.get("broken"):
        raise RuntimeError("nothing works here")
    time.sleep(configuration.get("start_s", 0))
    return {
        "echo": echo,
        "spin": spin,
        "sleep": sleep,
        "allocate": allocate,
        "fail": fail,
        "refuse": refuse,
        "die": die,
        "print": noise,
        "look": look,
    }


def echo(arguments, blob):
    yield arguments
    yield len(blob)


def spin(seconds, _):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
    yield "done"


def sleep(seconds, _):
    time.sleep(seconds)
    yield "done"


def allocate(mib, _):
    taken = bytearray(mib << 20)
    yield len(taken)


def fail(secret, _):
    yield "a part"
    raise ValueError(secret)


def refuse(_, __):
    raise InvalidRequestError(
        ErrorReason.UNSUPPORTED_MEDIA, "no", violations=(FieldViolation("content", "must be text"),), detail="x"
    )
    yield


def die(arguments, _):
    """End by a signal; with a path: only if it is not there yet."""
    number, path = arguments
    if not path or not Path(path).exists():
        if path:
            Path(path).touch()
        os.kill(os.getpid(), number)
        time.sleep(10)
    yield "alive"


def noise(text, _):
    sys.stdout.write(text)
    sys.stdout.flush()
    sys.stderr.write(text)
    os.write(1, text.encode())
    yield "quiet"


def look(_, __):
    """Tell what this process has from its parent."""
    yield {
        "environment": sorted(os.environ),
        "files": sorted(str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.exists()),
        "ignored": [signal.getsignal(n) == signal.SIG_IGN for n in (signal.SIGINT, signal.SIGTERM)],
        "session": os.getsid(0) == os.getpid(),
        "core": subprocess.getoutput("ulimit -c"),
        "nice": os.nice(0),
    }


if __name__ == "__main__":
    serve(build)
