"""The one error of the package."""


class GroundtrailError(Exception):
    """Says that a call was refused or could not be done.

    Attributes:
        reason: the ``ErrorReason`` that the server gave, e.g. ``INVALID_FIELD`` (docs/errors.md); ``NO_SERVER`` when
            there is nothing that could be asked; the name of the gRPC status where a proxy answered without a reason.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
