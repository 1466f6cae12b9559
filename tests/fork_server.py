"""Run as a program: imports the product once, then forks a process for every command that is asked for over a socket.

An order is one message: module, arguments, folder and environment as JSON, and four descriptors: stdin, stdout, stderr,
and a socket on which the process's id and, at its end, its status and its processor seconds are told. A small process
of its own waits for each, so that many can run at once.
"""

import gc
import importlib
import json
import os
import random
import runpy
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final

sys.path[0] = str(Path(__file__).resolve().parents[1])

from tests import forked_workers  # noqa: E402 - found by the line above

MODULES: Final = (
    "services.cli.app",
    "services.allinone.compose",
    "services.allinone.embedded",
    "services.cli.commands.ask",
    "services.cli.commands.ingest",
    "services.common.adapters.onnx.session",
    "services.common.adapters.spacy.reading",
    "services.common.adapters.tokens.counter",
    "services.common.adapters.sqlite.sessions",
    "z3",
)
"""What nearly every process of ours imports, but for what starts threads of its own, which no fork survives."""
LONGEST_ORDER_BYTES: Final = 1 << 18


def main() -> None:
    """Serve until the other end of the socket is closed; a forked process comes back here to end."""
    door = socket.socket(fileno=int(sys.argv[1]))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in (*MODULES, *forked_workers.IMPORTED):
        importlib.import_module(name)
    importlib.import_module("services.common.adapters.spacy.library").import_spacy()
    importlib.import_module("services.ercp.domain.predicates.units").warm()
    tokens = importlib.import_module("services.common.adapters.tokens.counter")
    tokens._BuiltIn(tokens.O200K).open()  # 0.8 s of processor in each process that counts, and every process does
    gc.freeze()
    _require_one_thread()
    door.send(json.dumps(time.process_time()).encode())
    while order := _next_order(door):
        given, descriptors = order
        if os.fork() == 0:
            door.close()
            return _attend(given, descriptors)
        for one in descriptors:
            os.close(one)
        _forget_ended()
    return None


def _require_one_thread() -> None:
    tasks = Path("/proc/self/task")
    if tasks.is_dir() and len(list(tasks.iterdir())) > 1:
        sys.exit("a module that is imported before the fork starts threads of its own")


def _next_order(door: socket.socket) -> tuple[Any, list[int]] | None:
    data, descriptors, _, _ = socket.recv_fds(door, LONGEST_ORDER_BYTES, 4)
    return (json.loads(data), descriptors) if data else None


def _forget_ended() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _attend(given: Any, descriptors: list[int]) -> None:
    """Fork the process itself and tell of its end."""
    *streams, told = descriptors
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for one in descriptors:
            os.close(one)
        return _become(given)
    status = socket.socket(fileno=told)
    status.send(json.dumps(pid).encode())
    for one in streams:
        os.close(one)
    _, ended, usage = os.wait4(pid, 0)
    status.send(json.dumps([os.waitstatus_to_exitcode(ended), usage.ru_utime + usage.ru_stime]).encode())
    os._exit(0)


def _become(given: Any) -> None:
    """Be what ``python -m MODULE …`` is, in that folder and with that environment."""
    os.chdir(given["folder"])
    os.environ.clear()
    os.environ.update(given["environment"])
    random.seed()
    sys.path[0] = given["folder"]
    sys.argv = ["", *given["arguments"]]
    if given["module"] == "services.cli":
        forked_workers.begin()
    runpy.run_module(given["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
