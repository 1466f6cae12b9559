"""Bodies of chats, for the OpenAPI document: what is read here, and that everything else is the provider's.

Requests are read as data (``forms.py``): these models describe, they refuse nothing by themselves.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.gateway.doors.http.chat.asks import ChatOptions


class _Open(BaseModel):
    """More fields may stand beside: a provider's in check and observe, refused by name in ground."""

    model_config = ConfigDict(extra="allow")


class ChatMessage(_Open):
    """One turn; its content is a text, or parts of which those of type ``text`` are read."""

    role: str = Field(description="system, developer, user, assistant; tool in check and observe.")
    content: str | list[dict[str, Any]] | None = None


class _Chat(_Open):
    model: str = Field(default="", description="`groundtrail` is the deployment's own; another name is asked for.")
    messages: list[ChatMessage]
    stream: bool = False
    temperature: float | None = None
    groundtrail: ChatOptions = Field(default=ChatOptions(), description="What is said to us; no provider sees it.")


class StreamOptions(_Open):
    """Of a streamed answer."""

    include_usage: bool = False


class ChatCompletionRequest(_Chat):
    """A chat in OpenAI's form."""

    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    seed: int | None = None
    stream_options: StreamOptions | None = None


class MessagesRequest(_Chat):
    """A chat in Anthropic's form."""

    system: str | list[dict[str, Any]] | None = None
    max_tokens: int


class ChatError(_Open):
    """What went wrong, in the dialect; ``code`` is our reason, ``param`` the field."""

    message: str
    type: str
    code: str | None = None
    param: str | None = None


class ChatRefusal(_Open):
    """A refusal, or an answer that is withheld (451), which ``groundtrail`` says more of."""

    error: ChatError
    groundtrail: dict[str, Any] | None = None


class ChatChoice(_Open):
    """One answer."""

    index: int
    message: dict[str, Any]
    finish_reason: str | None = None


class ChatCompletion(_Open):
    """An answer in OpenAI's form, and what was found out about it."""

    id: str
    object: str
    model: str
    choices: list[ChatChoice]
    groundtrail: dict[str, Any] | None = None


class MessageAnswer(_Open):
    """An answer in Anthropic's form, and what was found out about it."""

    id: str
    type: Literal["message"]
    role: str
    content: list[dict[str, Any]]
    stop_reason: str | None = None
    groundtrail: dict[str, Any] | None = None


class ModelEntry(_Open):
    """A model."""

    id: str


class ModelList(_Open):
    """The models that may be asked for."""

    data: list[ModelEntry]
