"""What a dialect of chats must say, so that every mode is written once for all of them."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Protocol

from pydantic import BaseModel

from services.common.errors import CrpError
from services.gateway.doors.http.chat.asks import ChatAsk, ChatQuery, Written


class DialectStream(Protocol):
    """One streamed answer, read from a provider's events or begun by ``writes``; events are bytes ready to be sent."""

    @property
    def unchecked(self) -> set[str]:
        """What came that is not text of the answer."""
        ...

    def read(self, data: bytes) -> str:
        """Return the text of a provider's event, perhaps none; everything else of it is kept for ``held``.

        Raises:
            UnavailableError: LLM_UNAVAILABLE: it is no event of a chat.
        """
        ...

    def rest(self) -> str:
        """Return what is left of the text behind the last event."""
        ...

    def writes(self, written: Written, *, with_usage: bool) -> None:
        """Take the shape of an answer of ours, instead of a provider's."""
        ...

    def opening(self) -> bytes:
        """Return what stands before the text."""
        ...

    def text(self, text: str) -> bytes:
        """Return a piece of the text."""
        ...

    def held(self) -> bytes:
        """Return what was kept, once all of the text has passed."""
        ...

    def closing(self, told: Mapping[str, Any] | None, *, halted: bool) -> bytes:
        """Return the end, with our object in it; after a halt that of a content filter."""
        ...

    def failed(self, error: CrpError, request_id: str) -> bytes:
        """Return the end of a stream that broke off."""
        ...

    def passed_on(self, data: bytes) -> bytes:
        """Return a provider's event as it is sent on untouched."""
        ...

    def unheld_end(self, told: Mapping[str, Any] | None) -> bytes:
        """Return what ends a stream that was passed on untouched, with our object where the dialect has a place."""
        ...


class Dialect(Protocol):
    """A form of chats over HTTP."""

    @property
    def path(self) -> str:
        """Where it is served."""
        ...

    @property
    def section(self) -> str:
        """The section of the settings that names the deployment's provider of the form."""
        ...

    @property
    def operation(self) -> str:
        """Its operation's id and summary in the OpenAPI document."""
        ...

    @property
    def summary(self) -> str:
        """One sentence for people."""
        ...

    @property
    def request_form(self) -> type[BaseModel]:
        """The body of a request, for the OpenAPI document."""
        ...

    @property
    def answer_form(self) -> type[BaseModel]:
        """The body of an answer, for the OpenAPI document."""
        ...

    def read(self, body: bytes) -> ChatAsk:
        """Return a request.

        Raises:
            InvalidRequestError: INVALID_FIELD.
        """
        ...

    def with_messages(self, ask: ChatAsk, messages: Sequence[Mapping[str, Any]]) -> ChatAsk:
        """Return a request with other messages, as many as it had, where something was taken out of them (ADR 0145)."""
        ...

    def forwarded_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the caller's headers that are part of the dialect and go to the provider: an allow-list (Axiom 4)."""
        ...

    def query(self, ask: ChatAsk) -> ChatQuery:
        """Return a request as a dispatch asks it.

        Raises:
            InvalidRequestError: INVALID_FIELD naming every field that a dispatch cannot honour.
        """
        ...

    def texts_of(self, completion: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """Return the texts of a provider's answer, and the places that hold something that is not checked.

        Raises:
            ValueError: it is no answer of this dialect.
        """
        ...

    def answer(self, written: Written) -> dict[str, Any]:
        """Return an answer of ours in this form."""
        ...

    def kind_of(self, status: HTTPStatus) -> str:
        """Return the dialect's word for errors of a status."""
        ...

    def error_body(self, message: str, kind: str, code: str, param: str | None, request_id: str) -> dict[str, Any]:
        """Return the body of an error; ``code`` is our reason."""
        ...

    def told_by(self, error: Mapping[str, Any]) -> tuple[str, str]:
        """Return kind and code of a provider's error."""
        ...

    def stream(self) -> DialectStream:
        """Return a streamed answer that has not begun."""
        ...
