"""A second opinion from any OpenAI-compatible endpoint: the client that writes answers, with another prompt (ADR 0119).

What goes out is prompt and sampling parameters alone; redirects are not followed, an answer is read up to a bound, and
where the endpoint stands is told to nobody but the operator.
"""

import asyncio
from pathlib import Path
from typing import Final

from services.common.adapters.openai.language_model import OpenAiLanguageModel
from services.common.computing import compute
from services.common.encoding import sha256_hex
from services.common.opinions import judge, spans
from services.common.opinions.reading import RefusedAnswerError
from services.common.ports.language_model import ChatMessage, ChatRole, LanguageModel, LanguageReply, LanguageRequest
from services.common.ports.second_opinion import GivenVote, OpinionKind, OpinionReply, OpinionRequest
from services.common.settings.second_opinion import ReplyFormat, SecondOpinionSettings

_MOST_TOKENS: Final = 2**31 - 1
"""An endpoint that counts more than this does not count."""
_MOST_PROMPT_BYTES: Final = 64 * 1024


class EndpointSecondOpinion:
    """``SecondOpinion`` over a language model.

    Args:
        language_model: makes one attempt for each call.
        settings: which model, and what it is.
        own_prompt: the detector's own system prompt; empty = the built-in one.
    """

    def __init__(self, language_model: LanguageModel, settings: SecondOpinionSettings, own_prompt: str = "") -> None:
        self._language_model = language_model
        self._settings = settings
        self._own_prompt = own_prompt

    @property
    def kind(self) -> OpinionKind:
        """As the settings say."""
        return OpinionKind(self._settings.kind.upper())

    @property
    def model(self) -> str:
        """Provider and model of the settings."""
        return f"{self._settings.provider}/{self._settings.model}"

    @property
    def prompt_version(self) -> str:
        """Name and digest of the system prompt."""
        return spans.prompt_version(self._own_prompt) if self.kind is OpinionKind.SPANS else judge.PROMPT_VERSION

    def tokens(self, request: OpinionRequest) -> tuple[int, int]:
        """Return the estimate of the prompt, and the bound of the answer."""
        asks_judge = self.kind is OpinionKind.JUDGE
        prompt, reply = judge.tokens(request) if asks_judge else spans.tokens(request, self._own_prompt)
        return prompt, reply + self._settings.thinking_tokens

    async def ask(self, request: OpinionRequest) -> OpinionReply:
        """Ask once and read what comes back. Raises as the port says."""
        reply = await self._language_model.complete(await compute(self._request, request))
        votes, refusal = await compute(self._read, reply, request)
        return OpinionReply(
            votes,
            reply.model_fingerprint.rpartition("+sha256:")[0],
            sha256_hex(reply.text),
            _sensible(reply.prompt_tokens),
            _sensible(reply.completion_tokens),
            refusal,
        )

    async def check(self) -> None:
        """Ask the endpoint for its list of models."""
        await self._language_model.check()

    async def close(self) -> None:
        """Close the connections."""
        await self._language_model.close()

    def _request(self, request: OpinionRequest) -> LanguageRequest:
        asks_judge = self.kind is OpinionKind.JUDGE
        system = judge.system_prompt(request) if asks_judge else self._own_prompt or spans.OWN_PROMPT
        user = judge.user_prompt(request) if asks_judge else spans.user_prompt(request)
        wanted = self._settings.reply_format
        return LanguageRequest(
            query="",
            messages=(ChatMessage(ChatRole.SYSTEM, system), ChatMessage(ChatRole.USER, user)),
            evidence=(),
            model=self._settings.model,
            max_tokens=self.tokens(request)[1],
            temperature=0.0,
            timeout_s=request.timeout_s,
            reply_json=wanted is not ReplyFormat.TEXT,
            reply_schema=judge.reply_schema(request) if asks_judge and wanted is ReplyFormat.JSON_SCHEMA else "",
        )

    def _read(self, reply: LanguageReply, request: OpinionRequest) -> tuple[dict[str, GivenVote], str]:
        """Return the votes, or none and why the answer was refused."""
        if reply.finish_reason == "length":
            return {}, "cut_short"
        read = judge.read_votes if self.kind is OpinionKind.JUDGE else spans.read_votes
        try:
            return read(reply.text, request), ""
        except RefusedAnswerError as refused:
            return {}, refused.reason


async def open_second_opinion(settings: SecondOpinionSettings) -> EndpointSecondOpinion:
    """Return the adapter for the configured endpoint; nothing is sent before the first question.

    Raises:
        ValueError: no endpoint is configured, or the prompt file cannot be used; the message names it.
    """
    own = await asyncio.to_thread(_own_prompt, settings.prompt_file) if settings.prompt_file else ""
    if not settings.configured:
        msg = "GROUNDTRAIL_SECOND_OPINION__BASE_URL is not set"
        raise ValueError(msg)
    return EndpointSecondOpinion(OpenAiLanguageModel(settings.endpoint(), "SECOND_OPINION"), settings, own)


def _own_prompt(path: str) -> str:
    try:
        data = Path(path).read_bytes()
        text = data.decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
        data = b""
    if not text or len(data) > _MOST_PROMPT_BYTES:
        msg = f"GROUNDTRAIL_SECOND_OPINION__PROMPT_FILE: {path} holds no prompt: text in UTF-8 of at most 64 KiB"
        raise ValueError(msg)
    return text


def _sensible(count: int | None) -> int | None:
    """Return a number of tokens; ``None`` for what cannot be one."""
    return count if isinstance(count, int) and 0 <= count <= _MOST_TOKENS else None
