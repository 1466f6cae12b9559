"""What is loaded when it is first used, and what readiness may ask of it before that."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class LoadedOnDemand(Protocol):
    """A model that may not be in memory yet."""

    @property
    def at_rest(self) -> bool:
        """Whether its first use would load it: a probe that computes would be that use."""
        ...

    async def check(self) -> None:
        """Return when it can serve, as far as can be said without loading it; one that failed to load is tried again.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        ...
