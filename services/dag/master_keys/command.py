"""Master keys from a command: the way to a key management system that this product does not need to know.

The command is started without a shell, with ``current`` or ``get <version>`` added to its arguments, and prints one
JSON object: ``{"version": 2, "key": "<64 hex digits>", "retired_at": null | "YYYY-MM-DDTHH:MM:SS.ffffffZ"}``. Exit
status 3 says that there is no such version; any other one but 0 is a failure. What it prints is never logged or shown.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from services.common.encoding import parse_iso_micros
from services.common.errors import ErrorReason, UnavailableError
from services.common.settings import SettingsError
from services.dag.domain.keys import MasterKey
from services.dag.master_keys.secret_text import parse_secret

NO_SUCH_VERSION: Final = 3
TIMEOUT_S: Final = 10.0
KEPT_S: Final = 60.0
"""How long an answer is taken again: a rotation is seen within this time, or when a token names a newer version."""
_RETRY_S: Final = 1.0
"""Least time between two questions for the current version, whatever versions callers make up."""
_MAX_ANSWER_BYTES: Final = 4096


class CommandMasterKeys:
    """Asks a command for keys, one question at a time, and remembers the answers for a minute.

    A key that was once held is given again when the command fails: it cannot have changed.

    Args:
        command: program and arguments.
        monotonic: seconds of a clock that never goes back.
        timeout_s: after which the command is killed.
    """

    def __init__(
        self, command: Sequence[str], monotonic: Callable[[], float] = time.monotonic, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._command = tuple(command)
        self._monotonic = monotonic
        self._timeout_s = timeout_s
        self._lock = asyncio.Lock()
        self._known: dict[int, tuple[MasterKey | None, float]] = {}
        self._current: MasterKey | None = None
        self._asked_at = float("-inf")

    async def current(self) -> MasterKey:
        """Return the version that signs.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE: the command failed and nothing is known yet.
        """
        async with self._lock:
            return await self._fresh(KEPT_S)

    async def find(self, version: int) -> MasterKey | None:
        """Return a version or ``None``.

        Versions run from 1 to the current one: for a higher one, the current one is asked for anew, at most once a
        second, so that made-up versions cost nothing.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE.
        """
        async with self._lock:
            current = await self._fresh(KEPT_S)
            if version > current.version:
                current = await self._fresh(_RETRY_S)
            if version == current.version:
                return current
            if not 1 <= version < current.version:
                return None
            return await self._older(version)

    async def _fresh(self, kept_s: float) -> MasterKey:
        if self._current is not None and self._monotonic() - self._asked_at < kept_s:
            return self._current
        try:
            answer = await self._ask("current")
            if answer is None:
                raise self._unavailable("knows no current version")
        except UnavailableError:
            if self._current is None:
                raise
            self._asked_at = self._monotonic()
            return self._current
        self._known.pop(answer.version, None)
        self._current, self._asked_at = answer, self._monotonic()
        return answer

    async def _older(self, version: int) -> MasterKey | None:
        key, asked_at = self._known.get(version, (None, float("-inf")))
        if self._monotonic() - asked_at < KEPT_S:
            return key
        try:
            answer = await self._ask("get", str(version))
        except UnavailableError:
            if key is None:
                raise
            return key
        if answer is not None and answer.version != version:
            raise self._unavailable("answered with another version than it was asked for")
        self._known[version] = (answer, self._monotonic())
        return answer

    async def _ask(self, *question: str) -> MasterKey | None:
        """Run the command once.

        Raises:
            UnavailableError: SERVICE_UNAVAILABLE; its text holds nothing that the command printed.
        """
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, *question, stdin=nothing, stdout=pipe, stderr=nothing
            )
        except OSError as error:
            raise self._unavailable(f"cannot be started ({error.strerror})") from None
        try:
            async with asyncio.timeout(self._timeout_s):
                printed, _ = await process.communicate()
        except TimeoutError:
            raise self._unavailable(f"did not answer within {self._timeout_s:g} s") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode == NO_SUCH_VERSION:
            return None
        if process.returncode != 0:
            raise self._unavailable(f"ended with exit status {process.returncode}")
        key = _read_answer(printed)
        if key is None:
            raise self._unavailable("printed something else than one JSON object with version, key and retired_at")
        return key

    def _unavailable(self, what: str) -> UnavailableError:
        text = f"the master key command {what}; run `{self._command[0]} current` by hand to see why"
        return UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, text)


def _read_answer(printed: bytes) -> MasterKey | None:
    """Return the key, or ``None`` for an answer of another form; what was printed stays out of every error."""
    try:
        answer: Any = json.loads(printed) if len(printed) <= _MAX_ANSWER_BYTES else None
        version, retired = answer["version"], answer.get("retired_at")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            return None
        secret = parse_secret(answer["key"], "the answer")
        moment = None if retired is None else parse_iso_micros(retired)
        return MasterKey(version, secret, moment, timedelta(seconds=KEPT_S))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SettingsError):
        return None
