"""Chats as dispatches: what is asked, what instructs, what was asked before; the rest is refused by name (ADR 0141)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from services.common.rpc.validation import Violations
from services.gateway.doors.http.chat.asks import OWN_MODEL, ChatAsk, ChatQuery

_SYSTEM: Final = frozenset({"system", "developer"})
_TEXT_PARTS: Final = frozenset({"text", "input_text"})
_CANNOT: Final = "cannot be honoured in mode ground; leave it out, or use mode check"
_OF_CHECKS: Final = ("question", "facts", "documents", "without_sources")
MOST_EARLIER: Final = 32


def read_numbers(value: Mapping[str, Any], limits: Sequence[str]) -> dict[str, Any]:
    """Return the model and the numbers of a call; ``limits`` names the fields of the answer's length, first wins.

    Raises:
        InvalidRequestError: INVALID_FIELD naming each that is none.
    """
    found, numbers = Violations(), dict[str, Any]()
    length = next((name for name in limits if value.get(name) is not None), limits[0])
    for field, name, whole in (("max_tokens", length, True), ("seed", "seed", True), ("temperature",) * 2 + (False,)):
        given = value.get(name)
        kinds = (int,) if whole else (int, float)
        if given is not None and (isinstance(given, bool) or not isinstance(given, kinds)):
            found.add(name, "must be a whole number" if whole else "must be a number")
        numbers[field] = given
    model = value.get("model", "")
    found.require(isinstance(model, str), "model", "must be a text")
    found.raise_if_any()
    numbers["model"] = "" if model == OWN_MODEL else model
    return numbers


def chat_query(
    ask: ChatAsk, numbers: dict[str, Any], read: frozenset[str], neutral: Mapping[str, tuple[Any, ...]]
) -> ChatQuery:
    """Return a chat as a dispatch asks it.

    Args:
        ask: the chat.
        numbers: of ``read_numbers``.
        read: fields of the body that are read, or that nothing hangs on.
        neutral: fields that are let through where they ask for nothing.

    Raises:
        InvalidRequestError: INVALID_FIELD naming everything that a dispatch cannot honour.
    """
    found = Violations()
    for name, given in ask.value.items():
        if name not in read and given is not None and given not in neutral.get(name, ()):
            found.add(name, _CANNOT)
    for name in _OF_CHECKS:
        if name in ask.options.model_fields_set:
            found.add(f"groundtrail.{name}", "is for the modes check and observe: in mode ground we retrieve")
    spoken = [(number, _role(one), _spoken(one, number, found)) for number, one in enumerate(ask.messages)]
    last = next((number for number, role, _ in reversed(spoken) if role not in _SYSTEM), None)
    if last is None or spoken[last][1] != "user" or not spoken[last][2].strip():
        found.add("messages", "must end with a text of the user: it is what is asked")
    found.raise_if_any()
    instruction = "\n\n".join(text for _, role, text in spoken if role in _SYSTEM and text.strip())
    earlier = [text for number, role, text in spoken if role == "user" and number != last and text.strip()]
    unused = [f"messages[{number}]" for number, role, text in spoken if role == "assistant" and text.strip()]
    return ChatQuery(
        query=spoken[last or 0][2].strip(),
        instruction=instruction,
        earlier_questions=tuple(earlier[-MOST_EARLIER:]),
        unused=tuple(unused),
        **numbers,
    )


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role")
    return role if isinstance(role, str) else ""


def _spoken(message: Mapping[str, Any], number: int, found: Violations) -> str:
    """Return the text of a message; note what is no text."""
    place, role, content = f"messages[{number}]", _role(message), message.get("content")
    if role not in {"user", "assistant", *_SYSTEM}:
        found.add(f"{place}.role", "must be system, developer, user or assistant: a dispatch runs no tools")
        return ""
    for name in ("tool_calls", "function_call", "audio"):
        if message.get(name):
            found.add(f"{place}.{name}", _CANNOT)
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for at, part in enumerate(content if isinstance(content, list) else [content]):
        text = part.get("text") if isinstance(part, Mapping) and part.get("type") in _TEXT_PARTS else part
        if isinstance(text, str):
            texts.append(text)
        else:
            found.add(f"{place}.content[{at}]", "must be text: a dispatch reads nothing else")
    return "\n\n".join(texts)
