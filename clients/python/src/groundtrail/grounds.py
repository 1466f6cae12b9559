"""What the messages of a chat hold to check its answer against (check mode of the door, ADR 0131).

Sources are what somebody put there to be followed: the system's text, results of tools, documents that a message holds.
What a user says or asks is no source: an answer that repeats a wrong premise is not borne out by it. A user message
that carries its context along is told apart: marked parts, a part under a heading such as ``Context:``, or long text
around one question. Messages are data in either common dialect; what is no text is counted, never guessed at.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

_SYSTEM: Final = frozenset({"system", "developer"})
_TOOL: Final = frozenset({"tool", "function"})
_ASSISTANT: Final = "assistant"
_USER: Final = "user"
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_UNREADABLE: Final = frozenset({"image_url", "image", "input_image", "input_audio", "file", "input_file", "video_url"})
_MARKED: Final = re.compile(
    r"<(?P<tag>documents?|context|sources?|passages?|docs?|articles?|files?|search_results?|knowledge)\b[^<>]{0,200}>"
)
_CONTEXT_HEADING: Final = re.compile(
    r"^[ \t#*]{0,8}(?:context|documents?|sources?|background|passages?|references?|search results|excerpts?)"
    r"[ \t]{0,4}:?[ \t*]{0,4}$|^[ \t#*]{0,8}(?:context|documents?|sources?|passages?|references?)[ \t]{0,4}:",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION_HEADING: Final = re.compile(
    r"^[ \t#*]{0,8}(?:(?:user(?:'s)? )?(?:question|query)|task|request|instruction)[ \t]{0,4}:[ \t*]{0,4}",
    re.IGNORECASE | re.MULTILINE,
)
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
_LONG_CHARS: Final = 400
"""Paragraphs of a user message beside the one that asks are its context when they hold so much."""
_MOST_EARLIER: Final = 20
_MOST_DEPTH: Final = 8


@dataclass(frozen=True, slots=True)
class GroundText:
    """A source among the messages.

    Attributes:
        title: where it stood, e.g. ``system message`` or ``result of search``.
    """

    title: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a chat holds.

    Attributes:
        question: of the last user message; empty when there is none.
        sources: in the order of the messages.
        earlier_answers: of the assistant, oldest first, at most the last 20.
        unreadable: parts that hold no text: images, sound, files.
    """

    question: str = field(default="", repr=False)
    sources: tuple[GroundText, ...] = ()
    earlier_answers: tuple[str, ...] = field(default=(), repr=False)
    unreadable: int = 0


def grounds_of(messages: Sequence[Mapping[str, Any]]) -> Grounds:
    """Return what messages hold; whatever is not of a known form holds nothing."""
    question, sources, earlier, unreadable = "", [], [], 0
    for number, message in enumerate(messages, 1):
        role = named(message, "role")
        texts = list(_texts(message.get("content"), 0))
        unreadable += sum(text is None for _, text in texts)
        spoken = "\n\n".join(text for place, text in texts if text and not place)
        sources += [GroundText(place, text) for place, text in texts if place and text and text.strip()]
        if role in _SYSTEM:
            sources += _source("system message", spoken)
        elif role in _TOOL:
            name = message.get("name")
            sources += _source(f"result of {name}" if isinstance(name, str) and name else "result of a tool", spoken)
        elif role == _USER and spoken.strip():
            question, found = _told_apart(spoken)
            sources += [GroundText(f"message {number}", text) for text in found]
        elif role == _ASSISTANT and spoken.strip():
            earlier.append(spoken)
    return Grounds(question, tuple(sources), tuple(earlier[-_MOST_EARLIER:]), unreadable)


def named(value: Mapping[str, Any], key: str) -> str:
    """Return a name that data holds, such as a message's role; empty where it is no text."""
    name = value.get(key)
    return name if isinstance(name, str) else ""


def _source(title: str, text: str) -> list[GroundText]:
    return [GroundText(title, text)] if text.strip() else []


def _texts(content: Any, depth: int) -> Iterator[tuple[str, str | None]]:
    """Yield the texts of a content, each with its title where it is a source by itself; ``None`` = no text."""
    if isinstance(content, str):
        yield "", content
    elif isinstance(content, list) and depth < _MOST_DEPTH:
        for part in content:
            if isinstance(part, str):
                yield "", part
            elif isinstance(part, Mapping):
                yield from _of_part(part, depth)


def _of_part(part: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str | None]]:
    kind, text = named(part, "type"), part.get("text")
    if kind in _TEXT_PARTS and isinstance(text, str):
        yield "", text
    elif kind == "tool_result":
        for place, inner in _texts(part.get("content"), depth + 1):
            yield place or "result of a tool", inner
    elif kind in {"document", "search_result"}:
        yield from _of_document(part, depth)
    elif kind in _UNREADABLE:
        yield "", None


def _of_document(part: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str | None]]:
    title = part.get("title")
    named = title if isinstance(title, str) and title.strip() else "document"
    source = part.get("source")
    given = part.get("content")
    if isinstance(source, Mapping):
        given = source.get("data") if source.get("type") == "text" else source.get("content")
    if given is None:
        yield named, None
        return
    for _, text in _texts(given, depth + 1):
        yield named, text


def _told_apart(text: str) -> tuple[str, list[str]]:
    """Return a user message's question and the sources that it carries along."""
    rest, sources = _without_marked(text)
    headed = _CONTEXT_HEADING.search(rest)
    if headed is not None:
        asked = list(_QUESTION_HEADING.finditer(rest))
        if asked and asked[-1].start() > headed.start():
            before = rest[: headed.start()].strip()
            question = rest[asked[-1].end() :].strip() or before
            return question, [*sources, rest[headed.end() : asked[-1].start()].strip()]
        if asked or rest[: headed.start()].strip():
            question = rest[asked[0].end() : headed.start()] if asked else rest[: headed.start()]
            return question.strip(), [*sources, rest[headed.end() :].strip()]
    paragraphs = [part.strip() for part in _PARAGRAPH.split(rest) if part.strip()]
    asking = [number for number, part in enumerate(paragraphs) if part.endswith("?")]
    if len(paragraphs) > 1 and asking:
        at = asking[-1] if asking[-1] == len(paragraphs) - 1 else asking[0]
        others = [part for number, part in enumerate(paragraphs) if number != at]
        if sum(map(len, others)) >= _LONG_CHARS:
            return paragraphs[at], [*sources, "\n\n".join(others)]
    return rest.strip(), [one for one in sources if one]


def _without_marked(text: str) -> tuple[str, list[str]]:
    """Return a text without its marked parts, and these; a mark that never ends marks nothing."""
    kept, sources, at = [], [], 0
    ends: dict[str, int] = {}
    for found in _MARKED.finditer(text):
        if found.start() < at:
            continue
        closing = f"</{found['tag']}>"
        end = text.find(closing, found.end()) if ends.get(closing) != -1 else -1
        ends[closing] = end
        if end < 0:
            continue
        kept.append(text[at : found.start()])
        if inside := text[found.end() : end].strip():
            sources.append(inside)
        at = end + len(closing)
    kept.append(text[at:])
    return "\n".join(kept), sources
