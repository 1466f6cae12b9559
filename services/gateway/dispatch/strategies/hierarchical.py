"""Hierarchical: one of the windows that answer a part of the question each (ADR 0160)."""

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class Hierarchical:
    """Answers a part."""

    name = DispatchStrategy.HIERARCHICAL

    def takes(self, parents: int) -> bool:
        """Continue one window, or begin a session."""
        return parents <= 1

    def prepared(self, admitted: AdmittedDispatch) -> AdmittedDispatch:
        """Return the query as it is."""
        return admitted

    async def draft(
        self, window: WindowRun, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> DispatchDraft | BuiltEnvelope:
        """Run the window."""
        return await window.draft(admitted, opened)
