"""Reflexive: generate, verify, refine with what was found (CRP-SPEC-008; ADR 0160).

The verification is the analysis. A refinement is a re-dispatch of the same window (SPEC-005 §19), made for every risk
that would cost safety budget, at most ``max_redispatches`` times and once at least; the better answer is kept.
"""

from dataclasses import replace

from services.common.taxonomy import DispatchStrategy
from services.gateway.dispatch.window import WindowRun
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.command import DispatchDraft
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow


class Reflexive:
    """Refines what the analysis finds fault with; an answer without a fault is called reflexive as well."""

    name = DispatchStrategy.REFLEXIVE

    def takes(self, parents: int) -> bool:
        """Continue one window, or begin a session."""
        return parents <= 1

    def prepared(self, admitted: AdmittedDispatch) -> AdmittedDispatch:
        """Return the query as it is answered."""
        return replace(admitted, approach=replace(admitted.approach, refines=True))

    async def draft(
        self, window: WindowRun, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> DispatchDraft | BuiltEnvelope:
        """Run the window."""
        drafted = await window.draft(admitted, opened)
        return drafted if isinstance(drafted, BuiltEnvelope) else replace(drafted, strategy=self.name)
