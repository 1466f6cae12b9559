"""The child's side: bounded, silent, and gone when its parent is (ADR 0085).

A child reads jobs from standard input and writes answers to standard output, one after another. It keeps no sockets and
no secrets of the parent's (its environment has what an interpreter needs), writes no core file and no log: what
it works on stays in it. Signals of a terminal or a service manager are not for it; it ends when its input does, at the
latest when the parent dies.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Final, NoReturn, TypeAlias

from services.common.errors import CrpError
from services.common.workers.failures import as_data
from services.common.workers.frames import HEADER, Json, frame, lengths

Handler: TypeAlias = Callable[[Json, bytes], Iterator[Json]]
"""(arguments, bytes) to the parts of the answer; a large one comes in several: none of them keeps the parent long."""
Build: TypeAlias = Callable[[Json], Mapping[str, Handler]]
"""From the configuration that the parent sends to what can be asked for, by name."""
EXIT_OUT_OF_MEMORY: Final = 71
_MIB: Final = 1 << 20
_PR_SET_PDEATHSIG: Final = 1


def serve(build: Build) -> NoReturn:
    """Be a child: this is all that its ``__main__`` does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    source, target = _streams()
    setting, _ = _read(source)
    _die_with_parent(setting["parent"])
    _bound(setting["memory_mib"], setting["niceness"])
    try:
        handlers = build(setting["configuration"])
    except Exception as error:  # noqa: BLE001 - no text of a caller's has come yet: the message may be told
        _write(target, frame(["failed", type(error).__name__, str(error)]))
        sys.exit(1)
    _write(target, frame(["ready"]))
    while True:
        try:
            (name, arguments), blob = _read(source)
            _answer(target, handlers[name], arguments, blob)
            del arguments, blob
        except MemoryError:
            # What is left of the address space is not to be trusted: a fresh process takes the next job.
            os._exit(EXIT_OUT_OF_MEMORY)


def _answer(target: BinaryIO, handler: Handler, arguments: Json, blob: bytes) -> None:
    try:
        for part in handler(arguments, blob):
            _write(target, frame(["part", part]))
        _write(target, frame(["done"]))
    except MemoryError:
        raise
    except BrokenPipeError:
        os._exit(0)
    except CrpError as error:
        _write(target, frame(["refused", as_data(error)]))
    except Exception as error:  # noqa: BLE001 - its text may hold content, so only its kind is told
        _write(target, frame(["failed", type(error).__name__, ""]))


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for frames; whatever a library prints goes nowhere."""
    source = os.fdopen(os.dup(0), "rb")
    target = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)
    return source, target


def _bound(memory_mib: int, niceness: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # a platform without this limit, or a lower one of the operator's
        resource.setrlimit(resource.RLIMIT_AS, (memory_mib * _MIB, memory_mib * _MIB))
    if niceness:
        os.nice(niceness)


def _die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the parent dies; elsewhere the end of the input ends the child after its job."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before it could be asked for
            os._exit(0)


def _read(source: BinaryIO) -> tuple[Any, bytes]:
    header = source.read(HEADER.size)
    if len(header) < HEADER.size:  # the parent has closed it, or is gone
        os._exit(0)
    body, blob = lengths(header)
    return json.loads(source.read(body)), source.read(blob)


def _write(target: BinaryIO, data: bytes) -> None:
    target.write(data)
    target.flush()
