"""The two forms of chats: what a call says, and where the text of its answers stands. Objects are read, never made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

_TEXT: Final = "text"


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event of a stream brings.

    Attributes:
        texts: by the number of the answer.
        unchecked: names of what is no text.
    """

    texts: Mapping[int, str] = field(default_factory=dict, repr=False)
    unchecked: tuple[str, ...] = ()


class Form(Protocol):
    """A form of chats."""

    resource: tuple[str, ...]
    """Where the client has its chats."""
    around: tuple[str, ...]
    """Attributes of the client that lead to answers and are not guarded."""
    opens_streams: bool
    """``stream`` makes a call of its own; otherwise it calls ``create``."""

    def messages(self, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the messages of a call, a system prompt among them."""
        ...

    def texts(self, answer: Any) -> tuple[list[str], list[str]]:
        """Return the texts of the answers in an answer to a call, and the places that are not checked."""
        ...

    def piece(self, event: Any) -> Piece:
        """Return what an event of a stream brings."""
        ...


class OpenAIForm:
    """Chat completions."""

    resource: tuple[str, ...] = ("chat", "completions")
    around: tuple[str, ...] = ("responses", "completions", "beta", "realtime", "live")
    opens_streams = False

    def messages(self, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the messages of a call."""
        return list(arguments.get("messages") or ())

    def texts(self, answer: Any) -> tuple[list[str], list[str]]:
        """Return the texts of the choices; tool calls, refusals and sound are not checked."""
        texts, unchecked = [], []
        for number, choice in enumerate(answer.choices):
            texts.append(choice.message.content or "")
            unchecked += [f"choices[{number}].message.{name}" for name in _beside(choice.message)]
        return texts, unchecked

    def piece(self, event: Any) -> Piece:
        """Return what a chunk brings."""
        texts: dict[int, str] = {}
        unchecked: list[str] = []
        for choice in event.choices:
            texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
            unchecked += _beside(choice.delta)
        return Piece(texts, tuple(unchecked))


class AnthropicForm:
    """Messages. The text of all blocks is one text, for it is judged as one."""

    resource: tuple[str, ...] = ("messages",)
    around: tuple[str, ...] = ("completions", "beta")
    opens_streams = True

    def messages(self, arguments: Mapping[str, Any]) -> list[Any]:
        """Return the messages of a call, its system prompt in front."""
        system = arguments.get("system")
        leading = [{"role": "system", "content": system}] if isinstance(system, str | list) else []
        return [*leading, *(arguments.get("messages") or ())]

    def texts(self, answer: Any) -> tuple[list[str], list[str]]:
        """Return the text of the blocks; tools and thinking are not checked."""
        texts = [block.text for block in answer.content if block.type == _TEXT]
        unchecked = [f"content[{number}]" for number, block in enumerate(answer.content) if block.type != _TEXT]
        return ["".join(texts)], unchecked

    def piece(self, event: Any) -> Piece:
        """Return what an event brings."""
        if event.type == "content_block_start":
            block = event.content_block
            return Piece({0: block.text or ""}) if block.type == _TEXT else Piece(unchecked=(block.type,))
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            return Piece({0: event.delta.text})
        return Piece()


def _beside(message: Any) -> list[str]:
    """Return the names of what a message holds beside its content."""
    names = ("refusal", "tool_calls", "function_call", "audio", "reasoning_content")
    return [name for name in names if getattr(message, name, None)]
