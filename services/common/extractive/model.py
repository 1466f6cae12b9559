"""The language model of a deployment that has none: it quotes the envelope (ADR 0020)."""

import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from services.common.computing import compute
from services.common.encoding import sha256_hex
from services.common.errors import LimitExceededError, UnavailableError
from services.common.extractive.composing import NOT_FOUND, NOTHING_NEW, Asked, Extract, ExtractLimits, Source, extract
from services.common.extractive.selecting import AnswerSelector
from services.common.extractive.times import Timed, held_then, timed
from services.common.extractive.weighing import Chosen, quoted
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream
from services.common.ports.tokens import TokenCounter, counting_name
from services.common.streaming.replies import whole_reply

NAME: Final = "groundtrail-extractive@2"
_LOG: Final = logging.getLogger(__name__)


class ExtractiveLanguageModel:
    """Implements ``LanguageModel`` without a model: same request, same text, no network.

    Args:
        tokens: counts what is written.
        default_model: whose tokenizer counts.
        limits: how long an answer may be, and how good.
        selector: chooses by the encoders' word as well (ADR 0191); ``None`` = by the rules over words alone.
    """

    def __init__(
        self, tokens: TokenCounter, default_model: str, limits: ExtractLimits, selector: AnswerSelector | None = None
    ) -> None:
        self._tokens = tokens
        self._default_model = default_model
        self._limits = limits
        self._selector = selector

    @property
    def default_model(self) -> str:
        """The model whose tokenizer answers are counted with."""
        return self._default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Compose the answer; passages are dropped from the end until it keeps to ``max_tokens``."""
        sources = [
            Source(each.fact_id, each.content, each.relevance_score, each.stale, each.location, each.holds_from)
            for each in request.evidence
        ]
        questions = [
            timed(Asked(each, request.leans_on, request.prior_texts), sources)
            for each in request.parts or (request.query,)
        ]
        found = [await self._chosen(each.asked, each.sources) for each in questions]
        return await compute(self._composed, request, list(zip(questions, found, strict=True)))

    async def _chosen(self, asked: Asked, sources: Sequence[Source]) -> Sequence[Chosen] | None:
        """Return what the encoders choose; ``None`` where they cannot be asked: the rules over words then answer."""
        if self._selector is None:
            return None
        try:
            return await self._selector.choose(asked, sources, self._limits)
        except (UnavailableError, LimitExceededError) as error:
            _LOG.warning("answering by rules over words alone: %s", error)
            return None

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open the answer, which is composed at once."""
        return whole_reply(self.complete(request))

    def _composed(
        self,
        request: LanguageRequest,
        found: Sequence[tuple[Timed, Sequence[Chosen] | None]],
    ) -> LanguageReply:
        allowed = self._limits.max_passages
        text, finish_reason = "", "length"
        while allowed:
            limits = ExtractLimits(allowed, self._limits.min_score)
            text = _joined([_answer(question, limits, each).text for question, each in found])
            if self._tokens.count([text], counting_name(self._tokens, request.model))[0] <= request.max_tokens:
                finish_reason = "stop" if allowed == self._limits.max_passages else "length"
                break
            text, allowed = "", allowed - 1
        fingerprint = f"{NAME};sha256:{sha256_hex(text)}"
        return LanguageReply(text, finish_reason, fingerprint)

    async def check(self) -> None:
        """Ready whenever the process is."""

    async def close(self) -> None:
        """Nothing to release."""


def _answer(question: Timed, limits: ExtractLimits, chosen: Sequence[Chosen] | None) -> Extract:
    """Return what answers one question at the time that it names."""
    asked, sources = question.asked, question.sources
    found = extract(asked, sources, limits) if chosen is None else quoted(asked, sources, limits, chosen)
    return held_then(found, question, limits.max_passages)


def _joined(texts: Sequence[str]) -> str:
    """Return what the parts of a question are answered with, each once; that nothing answers, if nothing does."""
    distinct = list(dict.fromkeys(texts))
    answers = [text for text in distinct if text not in {NOT_FOUND, NOTHING_NEW}]
    return "\n\n".join(answers or distinct[:1])
