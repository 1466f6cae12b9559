"""What a strategy is to the gateway (CRP-SPEC-008): which parents it takes, and how a window comes to its answer.

Windows are opened and committed the same way whatever the strategy; the dag service decides what hangs on what.
"""

from typing import Protocol

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class Strategy(Protocol):
    """One way to dispatch a query; holds no state."""

    @property
    def name(self) -> DispatchStrategy:
        """The strategy's word in the contract."""
        ...

    def takes(self, parents: int) -> bool:
        """Say whether a window of this strategy may continue so many windows (SPEC-004 §14.4)."""
        ...

    def prepared(self, admitted: AdmittedDispatch) -> AdmittedDispatch:
        """Return the query as this strategy has it answered, before anything is compared or opened."""
        ...

    async def draft(
        self, window: WindowRun, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> DispatchDraft | BuiltEnvelope:
        """Take the window to an analysed answer, or find that the presented ETag still stands (the envelope then).

        The draft's strategy is the one that the answer came by.

        Raises:
            UnavailableError: QUALITY_UNREACHABLE, LLM_UNAVAILABLE, or a service does not answer.
            DeadlineError: too little time is left for the next step.
        """
        ...
