"""A window's first answer and its analysis: whole, or held back while the model writes (ADR 0132, ADR 0146).

Held back, the sentences that are whole are analysed with everything before them, by the same analysis and the same
policy as the whole. The last analysis is that of the whole answer, so that the report is that of the same answer
unstreamed. A contradicted claim under a policy that withholds it ends the model's call.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from services.common.ports.language_model import LanguageRequest, LanguageStream
from services.common.progress import at
from services.gateway.dispatch.analyzer import AnswerAnalyzer
from services.gateway.dispatch.held_back import Ended, held_back
from services.gateway.dispatch.model_caller import ModelCaller
from services.gateway.dispatch.outlet import Outlet
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.completion import CallPurpose, ModelCall
from services.gateway.domain.holding import Hold
from services.gateway.domain.remedies import AnalyzedAnswer
from services.gateway.domain.window import BuiltEnvelope, OpenedWindow

WITHHELD = "content_filter"
"""Why an answer ends whose model was stopped."""


@dataclass(frozen=True, slots=True)
class ToWrite:
    """A window whose answer is to be written; the envelope was built."""

    admitted: AdmittedDispatch
    opened: OpenedWindow
    envelope: BuiltEnvelope
    request: LanguageRequest


class AnswerWriter:
    """Writes and analyses first answers; holds no state between them.

    Args:
        model_caller: calls the model.
        analyzer: analyses.
        quoting: calls the built-in answerer, for what is only to be quoted.
    """

    def __init__(self, model_caller: ModelCaller, analyzer: AnswerAnalyzer, quoting: ModelCaller) -> None:
        self._model_caller = model_caller
        self._quoting = quoting
        self._analyzer = analyzer

    async def write(self, window: ToWrite, outlet: Outlet | None) -> tuple[AnalyzedAnswer, ModelCall]:
        """Return the answer with its analysis, and the call that wrote it.

        Args:
            window: what is answered.
            outlet: where what has passed leaves; ``None`` = nothing leaves before the window is committed.

        Raises:
            UnavailableError: LLM_UNAVAILABLE, or the analysis does not answer.
            DeadlineError: too little time is left.
        """
        if outlet is not None:
            await outlet.open(window.admitted, window.opened.place)
            if outlet.hold is not Hold.ALL and not window.admitted.approach.quotes:
                return await self._write_held(window, outlet)
        at("writing the answer")
        window_id = window.opened.place.window_id
        caller = self._quoting if window.admitted.approach.quotes else self._model_caller
        written, call = await caller.write(window.request, CallPurpose.ANSWER, window_id)
        at("analysing the answer")
        return await self._analyzer.analyze(window.admitted, window.opened, window.envelope, written), call

    async def _write_held(self, window: ToWrite, outlet: Outlet) -> tuple[AnalyzedAnswer, ModelCall]:
        at("writing the answer")
        async with self._model_caller.stream(window.request) as stream:
            judge = _Judge(self, window, stream)
            async with aclosing(held_back(_pieces(stream), judge, outlet.hold)) as leaving:
                ended: Ended | None = None
                async for one in leaving:
                    if isinstance(one, Ended):
                        ended = one
                    # The rest waits for the commit: no answer leaves whole that is not in the chain.
                    elif not one.is_rest:
                        await outlet.say(one.text)
            found = None if ended is None else ended.told.get("analyzed")
            analyzed: AnalyzedAnswer = found or await judge.analyzed("", is_whole=True)  # a text of nothing but space
        return analyzed, ModelCall.of(CallPurpose.ANSWER, window.opened.place.window_id, analyzed.written)

    async def analyze(self, window: ToWrite, stream: LanguageStream, text: str, *, is_whole: bool) -> AnalyzedAnswer:
        """Return the analysis of what the model wrote: of all of it, or of its beginning ``text``."""
        reply = stream.reply() if is_whole else replace(stream.reply(len(text)), finish_reason=WITHHELD)
        written = self._model_caller.written(reply, window.request.model)
        return await self._analyzer.analyze(window.admitted, window.opened, window.envelope, written)


class _Judge:
    """Judges what a model wrote so far; the ``Check`` of ``held_back``."""

    def __init__(self, writer: AnswerWriter, window: ToWrite, stream: LanguageStream) -> None:
        self._writer = writer
        self._window = window
        self._stream = stream

    async def __call__(self, text: str, *, is_whole: bool) -> dict[str, Any]:
        found = await self.analyzed(text, is_whole=is_whole)
        faults = found.analysis.contradicted_at
        return {
            "withheld": bool(found.verdict.halt_reason),
            "certain": bool(faults),
            "faulted_at": faults[0] if faults else None,
            "analyzed": found,
        }

    async def analyzed(self, text: str, *, is_whole: bool) -> AnalyzedAnswer:
        """Return the analysis of a text."""
        return await self._writer.analyze(self._window, self._stream, text, is_whole=is_whole)


async def _pieces(stream: LanguageStream) -> AsyncIterator[str]:
    async for piece in stream:
        yield piece
