"""Asks a server about the texts of one call, and does with what is found as the rules say."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from groundtrail.async_client import AsyncGroundtrail
from groundtrail.client import TIMEOUT_S, Groundtrail
from groundtrail.errors import GroundtrailError
from groundtrail.guarding.rules import FIELD, Checked, Judged, withheld
from groundtrail.results import result_of

if TYPE_CHECKING:
    import grpc

LOG: Final = logging.getLogger("groundtrail.guard")


class Servers:
    """The server that checks, for calls that wait and for those on an event loop; each opened when it is first asked.

    Args:
        address: of the server.
        api_key: for it.
        credentials: of a TLS channel.
        timeout_s: how long a check may take.
    """

    def __init__(
        self,
        address: str,
        api_key: str = "",
        credentials: "grpc.ChannelCredentials | None" = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._asynchronous = AsyncGroundtrail(address, api_key, credentials=credentials, timeout_s=timeout_s)
        self._open: Callable[[], Groundtrail] = lambda: Groundtrail(
            address, api_key, credentials=credentials, timeout_s=timeout_s
        )
        self._waiting: Groundtrail | None = None

    def judge(self, checked: Checked, text: str, *, is_whole: bool = True) -> Judged:
        """Check a text.

        Raises:
            GroundtrailError: the server refused, or is away.
        """
        request = checked.request(text, is_whole=is_whole)
        if request is None:
            return checked.judged(None)
        self._waiting = self._waiting or self._open()
        return checked.judged(result_of(self._waiting.checked(request)))

    async def judge_async(self, checked: Checked, text: str, *, is_whole: bool = True) -> Judged:
        """Check a text. Raises as ``judge``."""
        request = checked.request(text, is_whole=is_whole)
        if request is None:
            return checked.judged(None)
        return checked.judged(result_of(await self._asynchronous.checked(request)))


@dataclass(slots=True)
class Findings:
    """What was found in the answers of one call.

    Attributes:
        checked: what they were checked against.
        found: of each text.
        unchecked: places that hold no text.
        failed: why there is no finding, in the modes in which answers pass without.
    """

    checked: Checked
    found: Sequence[Judged] = ()
    unchecked: Sequence[str] = ()
    failed: GroundtrailError | None = field(default=None)

    def settle(self, *shown: Any) -> None:
        """Do as the rules say.

        Args:
            *shown: what carries the annotation.

        Raises:
            WithheldError: an answer does not pass, in mode raise.
            GroundtrailError: the answers were not checked, in mode raise.
        """
        mode = self.checked.rules.mode
        if mode == "raise":
            if self.failed is not None:
                raise self.failed
            if any(one.withheld for one in self.found):
                raise withheld(self.found)
        elif mode == "log":
            self._log()
        else:
            for one in shown:
                annotate(one, self.told())

    def told(self) -> dict[str, Any]:
        """Return what is annotated, as the gateway's chats tell it."""
        told: dict[str, Any] = {"mode": "check", "checks": [one.told() for one in self.found]}
        if self.failed is not None:
            told["failed"] = {"reason": self.failed.reason, "message": str(self.failed)}
        return {**told, "unchecked": list(self.unchecked)}

    def _log(self) -> None:
        if self.failed is not None:
            LOG.warning("an answer was not checked: %s", self.failed.reason)
        for one in self.found:
            if not one.withheld:
                continue
            if one.result is None:
                LOG.warning("an answer has nothing to be checked against")
                continue
            verdicts = [claim.verdict for claim in one.result.judged]
            counts: Mapping[str, int] = {verdict: verdicts.count(verdict) for verdict in dict.fromkeys(verdicts)}
            LOG.warning("an answer does not pass: risk level %s, %s", one.result.level, dict(counts))


def annotate(shown: Any, told: Mapping[str, Any]) -> None:
    """Set our attribute on an answer; one that takes no attribute is left as it is, and that is logged."""
    try:
        setattr(shown, FIELD, told)
    except (AttributeError, TypeError, ValueError):
        LOG.warning("%s takes no annotation", type(shown).__name__)
