"""A server process of ours: started with a deadline, watched, ended by its pid, its shared memory removed."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from tools.real_servers.provisioning import RealServerError

STOP_DEADLINE_S: Final = 20.0
"""How long a server may take to end after SIGTERM before it is killed."""
POLL_S: Final = 0.05
LOG_TAIL: Final = 3000
SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - where POSIX shared memory lies; nothing is created there


class ServerProcess:
    """One running server, the leader of a process group of its own.

    Args:
        command: program and arguments.
        environment: complete, nothing is inherited.
        log: file that gets what it prints.
        shared_memory: pattern of the names in ``/dev/shm`` that are its own to remove.
        folder: where it runs; ``None`` = here.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        log: Path,
        shared_memory: str = "(?!)",
        folder: Path | None = None,
    ) -> None:
        self.log = log
        self._name = Path(command[0]).name
        self._shared_memory = re.compile(f"{SHARED_MEMORY}/(?:{shared_memory})")
        with log.open("ab") as sink:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The server's process id, also after its end."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait_until(self, ready: Callable[[], bool], deadline_s: float) -> None:
        """Return when it is ready; when it ends before or takes too long, it is killed.

        Raises:
            RealServerError: with the end of its log.
        """
        ends = time.monotonic() + deadline_s
        while not ready():
            ended = not self.running
            if ended or time.monotonic() > ends:
                self.kill()
                what = f"ended with status {self._process.returncode}" if ended else f"not ready after {deadline_s:g} s"
                tail = self.log.read_text(encoding="utf-8", errors="replace")[-LOG_TAIL:]
                raise RealServerError(f"{self._name}: {what}. {self.log} ends:\n{tail}")
            time.sleep(POLL_S)

    def stop(self) -> None:
        """End it with SIGTERM, and with SIGKILL when that takes too long; idempotent."""
        regions = self._regions()
        if self.running:
            self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_DEADLINE_S)
        self._end(regions)

    def kill(self) -> None:
        """End it with SIGKILL, as a crash would; idempotent."""
        self._end(self._regions())

    def _end(self, regions: set[Path]) -> None:
        """Kill what is left of the group (a server's own children too) and remove the regions."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        for region in regions:
            region.unlink(missing_ok=True)

    def _regions(self) -> set[Path]:
        """Return the regions that it has mapped and that are its own."""
        try:
            maps = Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8")
        except OSError:
            return set()
        paths = {line.split(maxsplit=5)[5] for line in maps.splitlines() if SHARED_MEMORY in line}
        return {Path(path) for path in paths if self._shared_memory.match(path)}


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
