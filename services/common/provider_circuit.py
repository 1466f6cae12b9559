"""When a provider fails again and again, calls are refused at once for a while, and then one is let through to see.

One circuit stands for one endpoint, whoever calls it. Not the circuit breaker of a session's safety budget
(CRP-SPEC-012), which is about risk.
"""

import asyncio
from typing import Final

from services.common.errors import ErrorReason, UnavailableError

OPEN: Final = "circuit_open"
"""The cause that callers are told."""


class ProviderCircuit:
    """Counts failures in a row; belongs to one event loop.

    Args:
        failures: in a row that open the circuit; 0 = it never opens.
        open_s: how long it stays open, in seconds; then one call tries, and the others still wait.
    """

    def __init__(self, failures: int, open_s: float) -> None:
        self._most = failures
        self._open_s = open_s
        self._failed = 0
        self._until = 0.0

    def admit(self) -> None:
        """Let a call begin.

        Raises:
            UnavailableError: LLM_UNAVAILABLE, with the time to wait.
        """
        if not self._most or self._failed < self._most:
            return
        now = asyncio.get_running_loop().time()
        if now < self._until:
            left = self._until - now
            text = f"The language model failed {self._failed} times in a row; it is tried again in {left:.0f} s."
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause=OPEN, retry_after_s=left)
        self._until = now + self._open_s  # this call tries

    def succeeded(self) -> None:
        """Note that the provider answered, a refusal of the request included."""
        self._failed = 0

    def failed(self) -> None:
        """Note that it could not be reached, was too slow, broke off, or answered with an error of its own."""
        self._failed += 1
        if self._failed >= self._most:
            self._until = asyncio.get_running_loop().time() + self._open_s
