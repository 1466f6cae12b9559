"""A chat as it is asked for over HTTP, whatever the dialect: what is forwarded, and what is said to us."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from crp.gateway.v1 import dispatch_service_pb2 as pb
from fastapi import Request
from pydantic import ConfigDict, Field, ValidationError

from services.common.context import Caller
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings.chat import ChatMode, ChatSettings
from services.common.strict_json import read_json
from services.gateway.doors.http.check_schemas import GuardrailOptions
from services.gateway.doors.http.form_faults import BODY, form_faults

FIELD: Final = "groundtrail"
"""The one field of ours, in requests and in answers."""
OWN_MODEL: Final = "groundtrail"
"""The model that stands for whatever the deployment answers with."""
MODE_HEADER: Final = "x-groundtrail-mode"
_MODES: Final[Mapping[str, ChatMode]] = {"ground": "ground", "check": "check", "observe": "observe"}


class ChatOptions(GuardrailOptions):
    """What a request says to us in its field ``groundtrail``, which no provider sees.

    ``conversation`` and all that follow are for mode ground; ``question``, ``facts``, ``documents`` and
    ``without_sources`` for check and observe. ``retrieval_mode`` and ``include_superseded`` are those of the contract's
    ``DispatchRequest``.
    """

    model_config = ConfigDict(extra="forbid")

    mode: ChatMode | None = None
    evidence: bool = True
    labelled: bool = True
    conversation: str = Field(default="", max_length=128, pattern=r"^[A-Za-z0-9._:-]*$")
    session_token: str = Field(default="", max_length=8_192)
    continuation_ids: list[str] = Field(default=[], max_length=50)
    ai_system_id: str = Field(default="", max_length=128)
    retrieval_mode: Literal["dense", "text", "hybrid", "reranked", "late_interaction"] | None = None
    include_superseded: bool = False


@dataclass(frozen=True, slots=True)
class ChatAsk:
    """A request.

    Attributes:
        forwarded: what the provider gets: the caller's own bytes, unless our field was among them.
        value: the body without our field.
        messages: of the chat, a system prompt among them.
        is_streamed: the answer is asked for piece by piece.
        leading: how many of the messages stand before those of the body: its system prompt, where that is a field.
    """

    forwarded: bytes = field(repr=False)
    value: Mapping[str, Any] = field(repr=False)
    messages: list[Mapping[str, Any]] = field(repr=False)
    options: ChatOptions
    is_streamed: bool
    leading: int = 0

    def rewritten(self, changed: Mapping[str, Any]) -> "ChatAsk":
        """Return the request with fields of the body that a policy of the deployment changed (ADR 0145)."""
        value = {**self.value, **changed}
        return replace(self, value=value, forwarded=_escaped(value))


@dataclass(frozen=True, slots=True)
class ChatQuery:
    """A chat as a dispatch asks it (mode ground).

    Attributes:
        query: the last thing that the user said.
        instruction: of the application; empty for none.
        earlier_questions: what the user said before, oldest first.
        unused: places in the messages that a dispatch makes no use of.
        model: empty = the deployment's.
    """

    query: str = field(repr=False)
    instruction: str = field(repr=False)
    earlier_questions: tuple[str, ...] = field(repr=False)
    unused: tuple[str, ...] = ()
    model: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """An answer of ours, before it is put into a dialect's form; ``finish`` is ``stop``, ``length`` or another word."""

    answer_id: str
    model: str
    text: str = field(repr=False)
    finish: str
    prompt_tokens: int
    completion_tokens: int
    created: int = field(default_factory=lambda: int(time.time()))


@dataclass(frozen=True, slots=True)
class Call:
    """A chat whose caller is proven.

    Attributes:
        wishes: what the protocol's headers ask for.
    """

    request: Request
    request_id: str
    caller: Caller
    ask: ChatAsk
    wishes: pb.DispatchRequest


def read_object(body: bytes) -> dict[str, Any]:
    """Return a body as an object.

    Raises:
        InvalidRequestError: INVALID_FIELD.
    """
    try:
        value = read_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise wrong("body", "must be one JSON object in UTF-8") from None
    if not isinstance(value, dict):
        raise wrong("body", "must be a JSON object")
    return value


def messages_of(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a body. Raises as ``read_object``."""
    messages = value.get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise wrong("messages", "must be a list of objects")
    return messages


def streamed(value: Mapping[str, Any]) -> bool:
    """Say whether a body asks for a stream. Raises as ``read_object``."""
    given = value.get("stream")
    if given is not None and not isinstance(given, bool):
        raise wrong("stream", "must be true or false")
    return given is True


def without_field(value: dict[str, Any], body: bytes) -> tuple[ChatOptions, bytes]:
    """Take our field out of a body; return what it says and what a provider gets. Raises as ``read_object``."""
    if FIELD not in value:
        return ChatOptions(), body
    given = value.pop(FIELD)
    try:
        options = ChatOptions.model_validate(given)
    except ValidationError as error:
        place, text = form_faults(ChatOptions, given, error)[0]
        raise wrong(FIELD if place == BODY else f"{FIELD}.{place}", text) from None
    return options, _escaped(value)


def mode_of(call: Call, settings: ChatSettings, *, provided: bool) -> ChatMode:
    """Return the mode of a call: the field's, the header's, the key's, the deployment's; ground for our own model.

    Args:
        call: the chat.
        settings: modes of keys and of the deployment.
        provided: there is a provider that speaks the dialect.

    Raises:
        InvalidRequestError: INVALID_FIELD: the header names no mode, or another than the field.
    """
    named = call.request.headers.get(MODE_HEADER, "").strip().lower()
    if named and named not in _MODES:
        raise wrong(MODE_HEADER, "must be ground, check or observe")
    asked = call.ask.options.mode
    if named and asked is not None and _MODES[named] != asked:
        raise wrong(MODE_HEADER, f"says another mode than {FIELD}.mode; give one of them")
    chosen = asked or (_MODES[named] if named else None)
    chosen = chosen or settings.mode_for(call.caller.scope)
    # No provider knows our own model's name, so that there is nothing to pass on.
    return chosen or ("check" if provided and call.ask.value.get("model") != OWN_MODEL else "ground")


def wrong(place: str, text: str) -> InvalidRequestError:
    """Return the refusal of one field."""
    return InvalidRequestError.of(FieldViolation(place, text))


def _escaped(value: Mapping[str, Any]) -> bytes:
    """Return a body; escaped, so that half a surrogate pair in the caller's JSON goes on as it came."""
    return json.dumps(value, separators=(",", ":")).encode()
