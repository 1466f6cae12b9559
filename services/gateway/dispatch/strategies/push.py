"""Push: one envelope, one call, one analysis; upgraded where caller or policy ask so (SPEC-003 §8.4, -005 §19.2)."""

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class Push:
    """Answers a query in one window; the answer is named by the upgrade that it came by, if by any."""

    name = DispatchStrategy.PUSH

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
