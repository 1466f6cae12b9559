"""Calling the language model: under the caller's deadline, counted, and with what it may be told (Axiom 4)."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from services.common.concurrency import remaining_s
from services.common.errors import DeadlineError, ErrorReason
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.language_model import LanguageReply, LanguageRequest, LanguageStream, StreamingLanguageModel
from services.common.ports.tokens import ModelProfile, TokenCounter, counting_name
from services.common.settings import GatewaySettings
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.completion import CallPurpose, Completion, ModelCall

SAFETY_MARGIN_TOKENS = 512
"""SPEC-003 §10.1: kept free for tokenizer variance."""


class ModelCaller:
    """Calls the model; holds no state between calls.

    Args:
        generative: a language model is configured; the built-in answerer says the same again (ADR 0020).
    """

    def __init__(
        self, model: StreamingLanguageModel, tokens: TokenCounter, settings: GatewaySettings, *, generative: bool
    ) -> None:
        self._model = model
        self._tokens = tokens
        self._settings = settings
        self.generative = generative

    def quoting(self) -> "ModelCaller":
        """Return what calls the built-in answerer instead, under the same rules."""
        if not self.generative:
            return self
        settings = self._settings
        limits = ExtractLimits(settings.extractive_max_sentences, settings.extractive_min_score)
        model = ExtractiveLanguageModel(self._tokens, settings.extractive_model, limits)
        return ModelCaller(model, self._tokens, settings, generative=False)

    async def write(
        self, request: LanguageRequest, purpose: CallPurpose, window_id: str
    ) -> tuple[Completion, ModelCall]:
        """Return what the model wrote, and the call as it counts.

        Raises:
            UnavailableError: LLM_UNAVAILABLE.
            DeadlineError: less is left than a call is worth starting with.
        """
        reply = await self._model.complete(replace(request, timeout_s=self._time_for_model()))
        written = self.written(reply, request.model)
        return written, ModelCall.of(purpose, window_id, written)

    def stream(self, request: LanguageRequest) -> AbstractAsyncContextManager[LanguageStream]:
        """Open what the model writes, piece by piece; leaving the context ends the call. Raises as ``write``."""
        return self._model.stream(replace(request, timeout_s=self._time_for_model()))

    def written(self, reply: LanguageReply, model: str) -> Completion:
        """Return a reply with its tokens counted."""
        return Completion(
            text=reply.text,
            finish_reason=reply.finish_reason,
            model_fingerprint=reply.model_fingerprint,
            response_tokens=self.counts([reply.text], model)[0],
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
        )

    async def ready_to_count(self, admitted: AdmittedDispatch) -> None:
        """Open what counts the tokens of the query's model, beside the event loop.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
        """
        await self._tokens.opened(self._profile(admitted).counting_name)

    def counts(self, texts: list[str], model: str) -> list[int]:
        """Return the tokens of each text."""
        return list(self._tokens.count(texts, counting_name(self._tokens, model)))

    def room_tokens(self, admitted: AdmittedDispatch, *prompt: str) -> int:
        """Return what the model's context window leaves beside an answer and a prompt; negative when they do not fit.

        Raises:
            InvalidRequestError: UNKNOWN_MODEL; INVALID_FIELD: no window for a model that is counted approximately.
        """
        profile = self._profile(admitted)
        taken = sum(self._tokens.count(list(prompt), profile.counting_name))
        return profile.context_window_tokens - admitted.max_tokens - taken

    def _profile(self, admitted: AdmittedDispatch) -> ModelProfile:
        asked = admitted.command.context
        if asked.approximate_tokens:
            return self._tokens.stand_in(admitted.model, asked.context_window_tokens)
        return self._tokens.profile(admitted.model)

    def _time_for_model(self) -> float | None:
        """Return the seconds that the model may take, so that analysis and commit still fit.

        Raises:
            DeadlineError: less is left than a call is worth starting with.
        """
        whole = remaining_s()
        if whole is None:
            return None
        left = whole - self._settings.reserve_s
        if left < self._settings.llm_min_s:
            text = f"{max(0.0, left):.3f} s are left for the model"
            raise DeadlineError(ErrorReason.DEADLINE_EXCEEDED, text, left_s=f"{max(0.0, left):.3f}", step="model")
        return left
