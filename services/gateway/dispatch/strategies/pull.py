"""Pull: what the knowledge says on the question, extracted (CRP-SPEC-008).

The envelope service looks at 100 neighbours where push looks at 50; nothing but the context may be answered from.
"""

from dataclasses import replace

from services.common.taxonomy import DispatchStrategy, GroundingMode
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.approach import EXTRACT
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class Pull:
    """Extracts; an answer that an upgrade bettered is named by it, as push's is."""

    name = DispatchStrategy.PULL

    def takes(self, parents: int) -> bool:
        """Continue one window, or begin a session."""
        return parents <= 1

    def prepared(self, admitted: AdmittedDispatch) -> AdmittedDispatch:
        """Return the query as it is answered: context-strict, and with the extraction prompt."""
        command = replace(admitted.command, grounding_mode=GroundingMode.CONTEXT_STRICT)
        return replace(admitted, command=command, approach=replace(admitted.approach, task=EXTRACT))

    async def draft(
        self, window: WindowRun, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> DispatchDraft | BuiltEnvelope:
        """Run the window."""
        return await window.draft(admitted, opened)
