"""A query with everything that is decided before a window is opened."""

from dataclasses import dataclass

from services.common.envelope_request import ToolText
from services.common.ports.credentials import AiSystemRecord
from services.common.questions.following import joined
from services.common.taxonomy import BreakerState, DispatchStrategy
from services.gateway.domain.approach import PLAIN, Approach
from services.gateway.domain.command import DispatchCommand
from services.gateway.domain.outcome import PolicyInForce
from services.gateway.domain.remedies import BREAKER_NOT_CLOSED, REFLEXIVE_ASKED, Focus, RemedyTerms
from services.gateway.domain.suspicion import Suspicion
from services.gateway.domain.vocabulary import RemedyMode


@dataclass(frozen=True, slots=True)
class AdmittedDispatch:
    """A command with everything that was decided before a window is opened.

    Attributes:
        ai_system: the registered system in the version that stood then; ``None`` when the command names none.
        remedies: which remedies are carried out.
        prompt_augmentation: the deployment has it switched on (SPEC-005 §19.1, 4).
        focus: what the gateway continues with by itself; ``None`` for the caller's own query.
        cache_status: what a comparison before the window said (SPEC-003 §11.2); empty = none was made.
        leans_on: questions of the session that the query leans on, nearest first (ADR 0096).
        breaker: circuit breaker at the budget that the window starts with; unless CLOSED, reflexive is forced.
        suspicions: what the caller's questions say to a model; masked, the command holds it no more (ADR 0145).
        approach: what the strategy changes about the window.
        told: what tools answered for the window.
    """

    command: DispatchCommand
    policy: PolicyInForce
    strategy: DispatchStrategy
    model: str
    max_tokens: int
    temperature: float
    ai_system: AiSystemRecord | None = None
    remedies: RemedyMode = RemedyMode.POLICY
    prompt_augmentation: bool = True
    focus: Focus | None = None
    cache_status: str = ""
    leans_on: tuple[str, ...] = ()
    breaker: BreakerState = BreakerState.CLOSED
    suspicions: tuple[Suspicion, ...] = ()
    approach: Approach = PLAIN
    told: tuple[ToolText, ...] = ()

    @property
    def instruction(self) -> str:
        """The application's instruction, with that of the strategy and that of a continuation behind it."""
        focus = "" if self.focus is None else self.focus.instruction
        return "\n\n".join(part for part in (self.command.generation.system_prompt, self.approach.task, focus) if part)

    @property
    def envelope_query(self) -> str:
        """What facts are selected for: a continuation's are those on what is left to answer (SPEC-005 §10.3, 2).

        A follow-up is searched for with the questions that it leans on (ADR 0096).
        """
        return joined(self.command.query, self.leans_on) if self.focus is None else self.focus.query

    def terms(self, *, over_budget: bool = False) -> RemedyTerms:
        """Return what decides which remedies are due."""
        upgrade = self.policy.directives.upgrade_on_risk is not None
        terms = RemedyTerms(self.remedies, upgrade, self.prompt_augmentation, over_budget)
        if self.breaker is not BreakerState.CLOSED:
            return terms.forced(BREAKER_NOT_CLOSED)
        return terms.forced(REFLEXIVE_ASKED) if self.approach.refines else terms
