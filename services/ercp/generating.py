"""G: a candidate is written, analysed by the dpe service and committed as a window of the trace's session (§3.2).

What the model says is data: cut to a bounded length, what is no text in it marked, and nothing in it obeyed.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from services.common.cleanups import Cleanups, reason_of
from services.common.computing import compute
from services.common.errors import CrpError, ErrorReason, LimitExceededError, UnavailableError
from services.common.ports.language_model import (
    ChatMessage,
    ChatRole,
    EvidenceFact,
    LanguageModel,
    LanguageReply,
    LanguageRequest,
)
from services.common.settings import ErcpSettings
from services.ercp.domain import models, readings
from services.ercp.domain.constraint_checks import check_constraints
from services.ercp.domain.identifiers import derived_uuid
from services.ercp.domain.predicates import TextFacts
from services.ercp.domain.prompt import clean, system_prompt
from services.ercp.domain.records import (
    EXTRACTIVE,
    LLM,
    Claim,
    Constraint,
    Decoding,
    ModelIdentity,
    OpenGround,
    Problem,
    Reasoning,
)
from services.ercp.domain.trace import constraint_summary, text_summary
from services.ercp.operator_results import OperatorResult, fidelity_summary
from services.ercp.ports import (
    Analysis,
    Knowledge,
    Provenance,
    Segments,
    TraceSession,
    TraceSessions,
    Window,
    WindowDraft,
)

_LOG: Final = logging.getLogger(__name__)
CLEANUP_S: Final = 5.0
"""Longest time that giving up a window may take after a call broke off, in seconds."""


@dataclass(frozen=True, slots=True)
class Generator:
    """Who writes: ``generative`` is False for the built-in extractive answerer (ADR 0020)."""

    model: LanguageModel
    generative: bool

    @property
    def source(self) -> str:
        """Who makes the claims (§3.2)."""
        return LLM if self.generative else EXTRACTIVE


@dataclass(frozen=True, slots=True)
class GenerateCommand:
    """What a candidate is written for.

    Attributes:
        name: of this step; the candidate's id and the request ids follow from it.
        model: empty takes the deployment's.
        timeout_s: seconds that the model may take; ``None`` = its adapter's default.
        put: statements of earlier candidates whose ground is asked for (ADR 0185).
    """

    name: str
    problem: Problem
    constraints: tuple[Constraint, ...]
    knowledge: Knowledge
    decoding: Decoding
    model: str = ""
    timeout_s: float | None = None
    put: tuple[OpenGround, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate with its analysis, and the session that it was committed to.

    Attributes:
        was_cut: the model wrote more than is verified.
        facts: what the text asserts, where it was read already.
    """

    reasoning: Reasoning
    analysis: Analysis
    session: TraceSession
    was_cut: bool = False
    facts: TextFacts | None = None


class Generating:
    """Writes candidates; holds no state between them."""

    def __init__(
        self, generator: Generator, sessions: TraceSessions, provenance: Provenance, settings: ErcpSettings
    ) -> None:
        self._generator = generator
        self._sessions = sessions
        self._provenance = provenance
        self._settings = settings
        self._cleanups = Cleanups(CLEANUP_S)

    async def generate(self, ask: GenerateCommand, session: TraceSession) -> OperatorResult[Candidate]:
        """Write a candidate into a fresh window; whatever goes wrong gives the window up.

        Raises:
            UnavailableError: LLM_UNAVAILABLE, MODEL_UNAVAILABLE, or a service does not answer.
            DeadlineError: the time was up.
            LimitExceededError: WINDOW_LIMIT: the session has as many windows as it may.
        """
        if session.ended:
            text = "the trace's session has ended; start a new trace"
            raise LimitExceededError(ErrorReason.WINDOW_LIMIT, text, session_id=session.session_id)
        window = await self._sessions.open_window(derived_uuid(ask.name, str(session.windows), "open"), session)
        try:
            return await self._written(ask, session, window)
        except BaseException as error:
            failing = self._sessions.fail_window(
                derived_uuid(window.window_id, "fail"), window.session_id, window.window_id, reason_of(error)
            )
            await self._cleanups.run(failing)
            raise

    async def close(self) -> None:
        """Wait for windows that are being given up."""
        await self._cleanups.close()

    async def _written(self, ask: GenerateCommand, session: TraceSession, window: Window) -> OperatorResult[Candidate]:
        reply = await self._asked(ask)
        text, was_cut = self._taken(reply.text)
        identity = models.of_reply(reply.model_fingerprint, reply.text)
        segments = await self.segmented(text)
        reasoning = self.reasoning(ask.name, text, segments)
        held = await compute(check_constraints, text, reasoning.sentences, ask.constraints)
        analysis = await self._provenance.analyze(ask.problem.description, text, ask.knowledge, window, held.verdicts)
        draft = WindowDraft(text, ask.knowledge.envelope, analysis.report, identity.fingerprint)
        committed = await self._sessions.commit_window(derived_uuid(window.window_id, "commit"), window, draft)
        committed = replace(committed, windows=session.windows + 1)
        return OperatorResult(
            Candidate(reasoning, analysis, committed, was_cut, held.facts),
            inputs=_inputs(ask),
            outputs={
                "reasoning": text_summary(text),
                "sentences": len(reasoning.sentences),
                "claims": len(reasoning.claims),
                "finish_reason": reply.finish_reason[:100],
                "was_cut": was_cut,
                "findings": len(analysis.findings),
                "fidelity": fidelity_summary(analysis.fidelity),
                "window_id": window.window_id,
            },
            identity=identity,
            decoding=ask.decoding,
            window_id=window.window_id,
        )

    async def _asked(self, ask: GenerateCommand) -> LanguageReply:
        """Call the model; an adapter that breaks is a model that does not answer, and no fault of this service."""
        try:
            return await self._generator.model.complete(self._request(ask))
        except CrpError:
            raise
        except Exception as error:
            cause = type(error).__name__
            _LOG.error("the language model's adapter failed", exc_info=error)
            text = f"the language model's adapter failed with {cause}; see its log"
            raise UnavailableError(ErrorReason.LLM_UNAVAILABLE, text, cause=cause) from error

    async def again(self, ask: GenerateCommand, session: TraceSession, window_id: str, *, was_cut: bool) -> Candidate:
        """Return a candidate that was committed before: read, not written anew (resuming, ADR 0073)."""
        text, report = await self._sessions.candidate(session.session_id, window_id)
        analysis = self._provenance.read(report, ask.knowledge)
        return Candidate(self.reasoning(ask.name, text, await self.segmented(text)), analysis, session, was_cut)

    async def segmented(self, text: str) -> Segments:
        """Return sentences and claims of a text; an empty one has none."""
        return await self._provenance.segment(text) if text.strip() else Segments((), ())

    def reasoning(self, name: str, text: str, segments: Segments) -> Reasoning:
        """Return a candidate of this generator."""
        return Reasoning(
            reasoning_id=derived_uuid(name, "reasoning"),
            text=text,
            sentences=segments.sentences or readings.sentences_of(text),
            claims=tuple(Claim(claim.claim, self._generator.source) for claim in segments.claims),
        )

    def failed(self, ask: GenerateCommand, told: Mapping[str, str]) -> OperatorResult[None]:
        """Return what the trace says of a candidate that could not be written: the reason, and what the error says."""
        identity = ModelIdentity(ask.model or self._generator.model.default_model)
        return OperatorResult(None, _inputs(ask), dict(told), identity, ask.decoding)

    def _request(self, ask: GenerateCommand) -> LanguageRequest:
        default, generator = self._generator.model.default_model, self._generator
        passages = ask.knowledge.passages
        return LanguageRequest(
            query=ask.problem.description,
            messages=(
                ChatMessage(ChatRole.SYSTEM, system_prompt(ask.constraints, passages, ask.put)),
                ChatMessage(ChatRole.USER, clean(ask.problem.description)),
            ),
            evidence=tuple(
                EvidenceFact(each.source, each.text, score)
                for each, score in zip(passages, ask.knowledge.scores, strict=True)
            ),
            model=(ask.model or default) if generator.generative else default,
            max_tokens=ask.decoding.max_tokens,
            temperature=ask.decoding.temperature,
            top_p=ask.decoding.top_p,
            seed=ask.decoding.seed,
            timeout_s=ask.timeout_s,
        )

    def _taken(self, text: str) -> tuple[str, bool]:
        """Return the text as it can be stored and verified, and whether it was cut."""
        most = self._settings.max_reasoning_chars
        kept = text[:most].encode("utf-8", "replace").decode("utf-8", "replace")
        return kept, len(text) > most


def _inputs(ask: GenerateCommand) -> dict[str, object]:
    return {
        "problem": text_summary(ask.problem.description),
        "problem_id_chars": len(ask.problem.id),
        "constraints": constraint_summary(ask.constraints),
        "facts": [each.source for each in ask.knowledge.passages[:40]],
        "facts_total": len(ask.knowledge.passages),
        "model": ask.model,
        **({"grounds_asked": len(ask.put)} if ask.put else {}),
    }
