"""Agentic: a window that has tools called for it; its course says how many follow (CRP-SPEC-008; ADR 0161)."""

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class Agentic:
    """Answers with tools; its answer is refined as a reflexive one."""

    name = DispatchStrategy.AGENTIC

    def takes(self, parents: int) -> bool:
        """Continue one window, or begin a session."""
        return parents <= 1

    def prepared(self, admitted: AdmittedDispatch) -> AdmittedDispatch:
        """Return the query as it is; which tools there are the window says."""
        return admitted

    async def draft(
        self, window: WindowRun, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> DispatchDraft | BuiltEnvelope:
        """Run the window."""
        return await window.draft(admitted, opened)
