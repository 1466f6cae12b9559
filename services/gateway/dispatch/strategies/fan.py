"""Fan-out and fan-in: a window among parallel ones, and one that merges several (SPEC-004 §6, §7).

Each is run as push runs its own. An upgrade changes how the answer came about, not what the window is to the others: it
keeps its strategy.
"""

from dataclasses import replace

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class _Fan:
    """What both have in common."""

    name: DispatchStrategy

    def prepared(self, admitted: AdmittedDispatch) -> AdmittedDispatch:
        """Return the query as it is."""
        return admitted

    async def draft(
        self, window: WindowRun, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> DispatchDraft | BuiltEnvelope:
        """Run the window, which keeps its strategy, or that of the course that it is part of."""
        drafted = await window.draft(admitted, opened)
        return (
            drafted
            if isinstance(drafted, BuiltEnvelope)
            else replace(drafted, strategy=admitted.approach.called or self.name)
        )


class FanOut(_Fan):
    """One of several children of a window."""

    name = DispatchStrategy.FAN_OUT

    def takes(self, parents: int) -> bool:
        """Continue one window, or begin a session."""
        return parents <= 1


class FanIn(_Fan):
    """One child of several windows."""

    name = DispatchStrategy.FAN_IN

    def takes(self, parents: int) -> bool:
        """Merge what is named."""
        return parents >= 1
