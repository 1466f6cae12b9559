"""The errors of the package: one class, and what an answer is told by that may not be shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundtrail.results import Claim, Level


class GroundtrailError(Exception):
    """Says that a call was refused or could not be done.

    Attributes:
        reason: the ``ErrorReason`` that the server gave, e.g. ``INVALID_FIELD`` (docs/errors.md); ``NO_SERVER`` when
            there is nothing that could be asked; ``NOT_GUARDED`` for a way around a guarded client; the name of the
            gRPC status where a proxy answered without a reason.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class WithheldError(GroundtrailError):
    """Says that an answer may not be shown: its reason is ``ANSWER_WITHHELD``, ``HELD_FOR_REVIEW`` or ``NO_SOURCES``.

    Attributes:
        level: the risk level; ``None`` when the answer was withheld before there was one.
        claims: with their verdicts and the facts' words; without text where a server withheld the answer.
        found: what it rests on: the ``CheckResult`` of each text that was checked, or the outcome of the dispatch.
    """

    def __init__(
        self,
        message: str,
        level: "Level | None",
        claims: "Sequence[Claim]" = (),
        found: Sequence[Any] = (),
        reason: str = "ANSWER_WITHHELD",
    ) -> None:
        super().__init__(reason, message)
        self.level = level
        self.claims = tuple(claims)
        self.found = tuple(found)
