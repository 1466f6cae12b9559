"""Turning edges opened as SUMMARY into what really flows: a verified summary, or the result alone (SPEC-004 §12).

A summary that cannot be made or checked, that distorts the response, or that says what the parent's report did not
ground is not carried: the parent's last paragraph flows instead, which is context and no evidence (ADR 0023), and the
edge says why.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from services.common.concurrency import deadline_within, remaining_s
from services.common.errors import CrpError
from services.common.extractive.model import NAME
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageRequest
from services.gateway.dispatch.model_caller import ModelCaller
from services.gateway.dispatch.screening import LEFT_OUT, MASKED, REPORTED, screened, suspected
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.completion import CallPurpose, Completion, ModelCall
from services.gateway.domain.summaries import (
    RESULT_ONLY,
    SUMMARY,
    SUMMARY_TEMPERATURE,
    CarriedTransfer,
    Span,
    Summarised,
    SummaryCheck,
    grounded_passages,
    grounded_text,
    joined,
    summary_messages,
    summary_passages,
    verified_part,
    with_summaries,
    within,
)
from services.gateway.domain.suspicion import Part, Suspicion
from services.gateway.domain.window import OpenedWindow, Parent
from services.gateway.ports import ProvenanceClient, SessionClient, Summariser, SummaryAsk

TIME_SHARE: Final = 1 / 3
"""Share of the caller's time that summaries may take together; the answer needs the rest."""
TransferPolicy = Literal["report", "refuse", "mask"]
SLACK_TOKENS: Final = 32
"""What the model may write beyond N: a summary that is a little too long is cut behind a passage, not within a word."""


class ModelSummariser:
    """``Summariser`` through the language model (SPEC-004 §12.2)."""

    def __init__(self, model_caller: ModelCaller) -> None:
        self._model_caller = model_caller

    async def summarise(self, ask: SummaryAsk) -> tuple[Completion, ModelCall]:
        """Ask the model with §12.2's prompt, the response as data behind it."""
        instruction, data = summary_messages(ask.response, ask.tokens)
        request = LanguageRequest(
            query="",
            messages=(ChatMessage(ChatRole.SYSTEM, instruction), ChatMessage(ChatRole.USER, data)),
            evidence=(),
            model=ask.model,
            max_tokens=ask.tokens + SLACK_TOKENS,
            temperature=SUMMARY_TEMPERATURE,
        )
        return await self._model_caller.write(request, CallPurpose.SUMMARY, ask.window_id)


class ExtractiveSummariser:
    """``Summariser`` without a model: quotes the response's grounded passages from the first on (ADR 0020)."""

    def __init__(self, model_caller: ModelCaller) -> None:
        self._model_caller = model_caller

    async def summarise(self, ask: SummaryAsk) -> tuple[Completion, ModelCall]:
        """Quote what fits into N tokens; named as the built-in answerer."""
        passages = grounded_passages(ask.response, ask.grounded)
        counts = self._model_caller.counts(passages, ask.model) if passages else []
        text = joined(within(passages, counts, ask.tokens))
        written = Completion(text, "stop", NAME, sum(counts), None, None)
        return written, ModelCall.of(CallPurpose.SUMMARY, ask.window_id, written)


class _NoSummaryError(Exception):
    """Why no summary is carried; without content."""

    def __init__(self, reason: str, check: SummaryCheck | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.check = check


@dataclass(slots=True)
class _Notes:
    """What one summary cost, and what of it speaks to a model, as far as it has come."""

    calls: list[ModelCall] = field(default_factory=list)
    suspicions: list[Suspicion] = field(default_factory=list)


class ParentSummaries:
    """Summarises the parents of opened windows; holds no state between them.

    Args:
        sessions: knows what the parents' reports grounded.
        provenance: checks summaries.
        summariser: writes them.
        model_caller: counts tokens.
        policy: what becomes of a summary that gives orders to a model (SPEC-004 §17.5, ADR 0145).
    """

    def __init__(
        self,
        sessions: SessionClient,
        provenance: ProvenanceClient,
        summariser: Summariser,
        model_caller: ModelCaller,
        *,
        policy: TransferPolicy = "refuse",
    ) -> None:
        self._sessions = sessions
        self._provenance = provenance
        self._summariser = summariser
        self._model_caller = model_caller
        self._policy: TransferPolicy = policy

    async def resolve(
        self, admitted: AdmittedDispatch, opened: OpenedWindow
    ) -> tuple[OpenedWindow, tuple[CarriedTransfer, ...], tuple[ModelCall, ...]]:
        """Return the window with what its parents really hand on, what the edges record, and what was called."""
        parents = [parent for parent in opened.parents if parent.transfer_type == SUMMARY]
        if not parents:
            return opened, (), ()
        left = remaining_s()
        with deadline_within(None if left is None else left * TIME_SHARE):
            done: Sequence[Summarised] = await asyncio.gather(*(self._one(admitted, opened, each) for each in parents))
        calls = tuple(call for each in done for call in each.calls)
        return with_summaries(opened, done), tuple(each.transfer for each in done), calls

    async def _one(self, admitted: AdmittedDispatch, opened: OpenedWindow, parent: Parent) -> Summarised:
        notes = _Notes()
        try:
            text, check = await self._verified(admitted, opened, parent, notes)
        except _NoSummaryError as refusal:
            return await self._fallback(admitted, parent, refusal.reason, refusal.check, notes)
        except CrpError as error:  # whatever step of a summary fails, the dispatch goes on
            return await self._fallback(admitted, parent, error.reason.value, None, notes)
        tokens = self._model_caller.counts([text], admitted.model)[0]
        deferred = max(0, parent.transferred_tokens - parent.summary_tokens)
        transfer = CarriedTransfer(
            source_window_id=parent.window_id,
            transfer_type=SUMMARY,
            transferred_tokens=tokens + deferred,
            summary_text=text,
            fidelity_score=check.fidelity_score,
            model_fingerprint=notes.calls[-1].model_fingerprint,
            suspicions=tuple(notes.suspicions),
        )
        return Summarised(replace(parent, response_text=text), transfer, tuple(notes.calls))

    async def _verified(
        self, admitted: AdmittedDispatch, opened: OpenedWindow, parent: Parent, notes: _Notes
    ) -> tuple[str, SummaryCheck]:
        """Return a summary that may be carried, and its check."""
        grounded = await self._sessions.grounded_spans(opened.place.session_id, parent.window_id)
        if not grounded:
            raise _NoSummaryError("the parent's report grounds no claim of its answer")
        ask = SummaryAsk(opened.place.window_id, parent.response_text, grounded, parent.summary_tokens, admitted.model)
        written, call = await self._summariser.summarise(ask)
        notes.calls.append(call)
        passages = summary_passages(written.text)
        if written.finish_reason == "length":
            passages = passages[:-1]  # broken off: what it would have said is not known
        counts = self._model_caller.counts(passages, admitted.model) if passages else []
        # SPEC-004 §12.2: N bounds what is carried, whatever the model kept to.
        text = joined(within(passages, counts, parent.summary_tokens))
        if not text:
            raise _NoSummaryError(f"no summary of at most {parent.summary_tokens} tokens was written")
        check = await self._faithful(text, parent, grounded)
        kept = await self._grounded_part(verified_part(text, check), parent, grounded)
        if not kept:
            raise _NoSummaryError("the parent's report grounds nothing of the summary", check)
        if kept != text:
            check = await self._standing(kept, parent, grounded, "what the parent's report did not ground")
        return await self._harmless(kept, check, parent, grounded, notes)

    async def _harmless(
        self, text: str, check: SummaryCheck, parent: Parent, grounded: tuple[Span, ...], notes: _Notes
    ) -> tuple[str, SummaryCheck]:
        """Return what of a summary gives no orders to a model, by policy, and its check (SPEC-004 §17.5)."""
        finding = await suspected(text)
        if finding is None:
            return text, check
        action = {"report": REPORTED, "refuse": LEFT_OUT, "mask": MASKED}[self._policy]
        notes.suspicions.append(Suspicion.found(Part.SUMMARY, parent.window_id, action, finding))
        if self._policy == "report":
            return text, check
        passages = summary_passages(text) if self._policy == "mask" else []
        rest = joined([passage for passage in passages if await suspected(passage) is None])
        if not rest or await suspected(rest) is not None:
            notes.suspicions[-1] = replace(notes.suspicions[-1], action=LEFT_OUT)
            raise _NoSummaryError("the summary speaks to a language model", check)
        return rest, await self._standing(rest, parent, grounded, "what speaks to a language model")

    async def _standing(self, text: str, parent: Parent, grounded: tuple[Span, ...], without: str) -> SummaryCheck:
        """Return the check of a summary of which something was left out: every part of it still has to stand."""
        check = await self._faithful(text, parent, grounded)
        if verified_part(text, check) != text:
            raise _NoSummaryError(f"the summary does not stand without {without}", check)
        return check

    async def _grounded_part(self, text: str, parent: Parent, grounded: tuple[Span, ...]) -> str:
        """Return the passages that also hold against the grounded part alone.

        Beside the whole response a value that its ungrounded part gives is in conflict with nothing (SPEC-004 §17.5).
        """
        if not text:
            return text
        alone, spans = grounded_text(parent.response_text, grounded)
        return verified_part(text, await self._provenance.verify_summary(text, alone, spans))

    async def _faithful(self, text: str, parent: Parent, grounded: tuple[Span, ...]) -> SummaryCheck:
        check = await self._provenance.verify_summary(text, parent.response_text, grounded)
        if check.fidelity_score is None:
            raise _NoSummaryError(f"fidelity not computed: {check.reason or 'UNKNOWN'}", check)
        if not check.faithful:  # SPEC-004 §12.3
            raise _NoSummaryError(f"fidelity {check.fidelity_score:.3f} is below 0.80", check)
        return check

    async def _fallback(
        self, admitted: AdmittedDispatch, parent: Parent, reason: str, check: SummaryCheck | None, notes: _Notes
    ) -> Summarised:
        masks = self._policy != "report"
        looked = await screened(parent.fallback_text, Part.RESULT, parent.window_id, masks=masks)
        if looked.suspicion is not None:
            notes.suspicions.append(looked.suspicion)
        text, calls = looked.text, tuple(notes.calls)
        transfer = CarriedTransfer(
            source_window_id=parent.window_id,
            transfer_type=RESULT_ONLY,
            transferred_tokens=self._model_caller.counts([text], admitted.model)[0] if text else 0,
            fidelity_score=check.fidelity_score if check is not None else None,
            model_fingerprint=calls[-1].model_fingerprint if calls else "",
            reason=reason,
            suspicions=tuple(notes.suspicions),
        )
        # SPEC-004 §8.1: the result only, no deferred fact. What a fan-in is handed of its parents' envelopes stays, for
        # no search finds it again (ADR 0050).
        result = replace(parent, response_text=text, transfer_type=RESULT_ONLY, deferred_fact_ids=())
        return Summarised(result, transfer, calls)
