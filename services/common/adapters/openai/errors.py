"""What a provider's failure means for the caller: whether to try again, when, and what to tell.

A provider's error body may quote the prompt, so nothing of it goes into messages, metadata or logs.
"""

import json
from dataclasses import dataclass
from typing import Final

import openai

from services.common.errors import ErrorReason, UnavailableError
from services.common.provider_refusals import refusal_hint

DEFAULT_RETRY_S: Final = 1.0
"""``retry_after_s`` of a failure that a retry can heal when the provider names no time."""
MAX_RETRY_S: Final = 3600.0
_RETRIED_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt.

    Attributes:
        cause: stable word for programs: ``http_429``, ``connection``, ``timeout``, ``malformed_reply``, …
        hint: a sentence for people, may be empty; ``{section}`` stands for the settings' section.
        retry_after_s: when a retry can help; ``None`` = it cannot.
    """

    cause: str
    hint: str = ""
    retry_after_s: float | None = None

    def error(self, model: str, section: str = "LLM") -> UnavailableError:
        """Return the error that the caller gets when no attempt is left; it does not say where the model stands."""
        hint = self.hint.format(section=section)
        message = f"The language model is not available ({self.cause}). {hint}".rstrip()
        return UnavailableError(
            ErrorReason.LLM_UNAVAILABLE, message, retry_after_s=self.retry_after_s, cause=self.cause, model=model
        )


class ReplyError(Exception):
    """The provider answered, and what it sent is no reply."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


EXPECTED: Final = (openai.OpenAIError, ReplyError, json.JSONDecodeError, UnicodeDecodeError)
"""What an attempt may raise on the provider's account; anything else is our bug."""


def classify(error: Exception) -> Failure:
    """Say what one of the ``EXPECTED`` errors means."""
    if isinstance(error.__cause__, ReplyError):  # raised while the body was read, and wrapped by the client
        error = error.__cause__
    if isinstance(error, openai.APIStatusError):
        return _status(error)
    if isinstance(error, openai.APITimeoutError):
        return Failure("timeout", retry_after_s=DEFAULT_RETRY_S)
    if isinstance(error, ReplyError):
        return Failure(error.cause)
    if isinstance(error, openai.APIResponseValidationError | json.JSONDecodeError | UnicodeDecodeError):
        return Failure(
            "malformed_reply", "It did not answer with a chat completion; check GROUNDTRAIL_{section}__BASE_URL."
        )
    if isinstance(error, openai.APIConnectionError):
        return Failure("connection", "It cannot be reached.", DEFAULT_RETRY_S)
    return Failure("client_error")


def _status(error: openai.APIStatusError) -> Failure:
    status = error.status_code
    cause, hint = f"http_{status}", refusal_hint(status, "{section}")
    if status not in _RETRIED_STATUS or error.code == "insufficient_quota":
        return Failure(cause, hint)
    return Failure(cause, hint, _retry_after(error.response.headers.get("retry-after")))


def _retry_after(header: str | None) -> float:
    try:
        seconds = float(header) if header is not None else DEFAULT_RETRY_S
    except ValueError:  # the HTTP-date form; providers of this API send seconds
        return DEFAULT_RETRY_S
    return min(max(seconds, 0.0), MAX_RETRY_S)
