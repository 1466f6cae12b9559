"""Messages, facts and documents of a check that speak to a language model: told of, left out, masked (ADR 0145).

Results of tools and documents that messages hold are screened as facts; what a user says as the caller's own words. The
system's text is whoever wrote the application's and stays. What is left out or masked is so for everybody who reads the
messages after: the check, and the provider of a chat. Pure, and linear in the texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from groundtrail.grounds import Grounds, GroundText, grounds_of, named

from services.common.injection.masking import MARK, Finding, finding_of, masked

SUSPECTED_FROM: Final = 0.7
"""The page's threshold of detection."""
SourcePolicy = Literal["off", "report", "leave_out", "mask"]
_TOOL: Final = frozenset({"tool", "function"})
_HELD: Final = frozenset({"tool_result", "document", "search_result"})
_TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
_MOST_DEPTH: Final = 8
_CARRIED: Final = "message "
"""How the title of a source begins that a user's message carries along."""


@dataclass(frozen=True, slots=True)
class SourceFinding:
    """A text that speaks to a model; never its words.

    Attributes:
        place: where it stood: ``messages[2]``, ``facts[0]``, ``documents[1]``.
        action: reported, left_out, masked.
    """

    place: str
    action: str
    finding: Finding

    def told(self) -> dict[str, Any]:
        """Return what an answer says of it."""
        return {
            "source": self.place,
            "action": self.action,
            "tells": list(self.finding.tells),
            "rules": dict(self.finding.rules),
            "places": [list(place) for place in self.finding.places],
            "count": self.finding.count,
        }


@dataclass(frozen=True, slots=True)
class ScreenedMessages:
    """Messages as they go on, and what they hold.

    Attributes:
        messages: with the same texts where nothing was changed.
        is_changed: something was left out or masked.
    """

    messages: list[Mapping[str, Any]] = field(repr=False)
    grounds: Grounds
    findings: tuple[SourceFinding, ...]
    is_changed: bool


class SourceScreening:
    """Screens the texts of one request; keeps what it found."""

    def __init__(self, policy: SourcePolicy) -> None:
        self.policy = policy
        self.findings: list[SourceFinding] = []

    def text(self, text: str, place: str, policy: SourcePolicy | None = None) -> str:
        """Return a text as it goes on; ``MARK`` where it was left out."""
        policy = policy or self.policy
        if policy == "off":
            return text
        if policy == "mask":
            found = masked(text, SUSPECTED_FROM)
            if found.finding is not None:
                self.findings.append(SourceFinding(place, "masked", found.finding))
            return found.text
        finding = finding_of(text, SUSPECTED_FROM)
        if finding is None:
            return text
        self.findings.append(SourceFinding(place, "left_out" if policy == "leave_out" else "reported", finding))
        return MARK if policy == "leave_out" else text

    def messages(
        self, messages: Sequence[Mapping[str, Any]], queries: Literal["off", "report", "mask"], leading: int = 0
    ) -> ScreenedMessages:
        """Return the messages of a chat as they go on, and what they hold to check an answer against.

        Args:
            messages: in either common dialect.
            queries: what becomes of what users say.
            leading: how many of them stand before those of the body, whose places are counted: its system prompt.
        """
        places = [f"messages[{at}]" if at >= 0 else "system" for at in range(-leading, len(messages) - leading)]
        kept = [self._message(one, place, queries) for one, place in zip(messages, places, strict=True)]
        grounds = grounds_of(kept)
        sources = tuple(
            one if not one.title.startswith(_CARRIED) else replace(one, text=self._carried(one, places))
            for one in grounds.sources
        )
        held = tuple(one for one in sources if one.text.strip() != MARK)
        changed = any(one is not other for one, other in zip(kept, messages, strict=True))
        return ScreenedMessages(kept, replace(grounds, sources=held), tuple(self.findings), changed)

    def _carried(self, source: GroundText, places: Sequence[str]) -> str:
        """Return a context that a user's message carries along; it was told of with the message already."""
        place = places[int(source.title.removeprefix(_CARRIED)) - 1]
        known = any(one.place == place for one in self.findings)
        before = len(self.findings)
        kept = self.text(source.text, place)
        if known and self.policy == "report":
            del self.findings[before:]
        return kept

    def _message(self, message: Mapping[str, Any], place: str, queries: SourcePolicy) -> Mapping[str, Any]:
        role, content = named(message, "role"), message.get("content")
        own: SourcePolicy = self.policy if role in _TOOL else queries if role == "user" else "off"
        kept = self._content(content, place, own, 0)
        return message if kept is content else {**message, "content": kept}

    def _content(self, content: Any, place: str, own: SourcePolicy, depth: int) -> Any:
        """Return a content; the very same object where nothing in it is changed."""
        if isinstance(content, str):
            kept = self.text(content, place, own)
            return content if kept == content else kept
        if not isinstance(content, list) or depth >= _MOST_DEPTH:
            return content
        return _mapped(content, lambda part: self._part(part, place, own, depth))

    def _part(self, part: Any, place: str, own: SourcePolicy, depth: int) -> Any:
        if isinstance(part, str):
            return self._content(part, place, own, depth)
        if not isinstance(part, Mapping):
            return part
        kind, name = named(part, "type"), "content"
        if kind in _TEXT_PARTS:
            name = "text"
        elif kind in _HELD:
            own = self.policy
        else:
            return part
        kept = {name: self._content(part.get(name), place, own, depth + 1)} if name in part else {}
        source = part.get("source")
        if kind in _HELD and isinstance(source, Mapping):
            key = "data" if source.get("type") == "text" else "content"
            text = self._content(source.get(key), place, own, depth + 1)
            kept["source"] = source if text is source.get(key) else {**source, key: text}
        return part if all(value is part[key] for key, value in kept.items()) else {**part, **kept}


def _mapped(values: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    changed = [change(value) for value in values]
    return values if all(one is other for one, other in zip(changed, values, strict=True)) else changed
