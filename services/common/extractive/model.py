"""The language model of a deployment that has none: it quotes the envelope (ADR 0020)."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from services.common.computing import compute
from services.common.encoding import sha256_hex
from services.common.extractive.composing import NOT_FOUND, NOTHING_NEW, Asked, ExtractLimits, Source, extract
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream
from services.common.ports.tokens import TokenCounter, counting_name
from services.common.streaming.replies import whole_reply

NAME: Final = "groundtrail-extractive@2"


class ExtractiveLanguageModel:
    """Implements ``LanguageModel`` without a model: same request, same text, no network."""

    def __init__(self, tokens: TokenCounter, default_model: str, limits: ExtractLimits) -> None:
        self._tokens = tokens
        self._default_model = default_model
        self._limits = limits

    @property
    def default_model(self) -> str:
        """The model whose tokenizer answers are counted with."""
        return self._default_model

    async def complete(self, request: LanguageRequest) -> LanguageReply:
        """Compose the answer; passages are dropped from the end until it keeps to ``max_tokens``."""
        return await compute(self._composed, request)

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open the answer, which is composed at once."""
        return whole_reply(self.complete(request))

    def _composed(self, request: LanguageRequest) -> LanguageReply:
        sources = [
            Source(each.fact_id, each.content, each.relevance_score, each.stale, each.location)
            for each in request.evidence
        ]
        asked = [Asked(each, request.leans_on, request.prior_texts) for each in request.parts or (request.query,)]
        allowed = self._limits.max_passages
        text, finish_reason = "", "length"
        while allowed:
            limits = ExtractLimits(allowed, self._limits.min_score)
            text = _joined([extract(each, sources, limits).text for each in asked])
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


def _joined(texts: Sequence[str]) -> str:
    """Return what the parts of a question are answered with, each once; that nothing answers, if nothing does."""
    distinct = list(dict.fromkeys(texts))
    answers = [text for text in distinct if text not in {NOT_FOUND, NOTHING_NEW}]
    return "\n\n".join(answers or distinct[:1])
