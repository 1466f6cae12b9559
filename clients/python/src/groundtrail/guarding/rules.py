"""What a guarded client does with answers, and what one of its calls is checked against (ADR 0154).

Pure: which sources a call brings, what a check found as data, whether that may be shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from groundtrail.errors import GroundtrailError, WithheldError
from groundtrail.grounds import Grounds, grounds_of
from groundtrail.requests import check_request
from groundtrail.results import CheckResult, Claim, Level
from groundtrail.sources import Document, Fact, Source

if TYPE_CHECKING:
    from crp.dpe.v1 import provenance_service_pb2 as pb

Mode = Literal["raise", "log", "annotate"]
WithoutSources = Literal["pass", "block"]
FIELD: Final = "groundtrail"
"""Our field in ``extra_body``, as the gateway's own chats take it, and our attribute of what is annotated."""
_OPTIONS: Final = frozenset({"facts", "question"})
_CONTRADICTED: Final = "CONTRADICTED"
_WORST_FIRST: Final = (_CONTRADICTED, "SUPERSEDED", "UNSUPPORTED", "UNDECIDED")
_MOST_NAMED: Final = 3
_MARKDOWN: Final = "text/markdown"
_UTF16: Final = "utf-16-le"


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for a client.

    Attributes:
        mode: what becomes of an answer that does not pass.
        halt_on: the least level that does not pass.
        facts: for every call, beside what its messages hold.
        without_sources: whether an answer passes that there is nothing to check against.
    """

    mode: Mode
    halt_on: Level
    facts: tuple[Source, ...] = field(default=(), repr=False)
    without_sources: WithoutSources = "pass"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in a text; ``result`` is ``None`` when there was nothing to check it against."""

    result: CheckResult | None
    withheld: bool

    @property
    def is_certain(self) -> bool:
        """Say whether nothing that follows makes it pass: a claim of it is contradicted."""
        found = () if self.result is None else self.result.claims
        return self.withheld and any(claim.verdict == _CONTRADICTED for claim in found)

    def told(self) -> dict[str, Any]:
        """Return it as the gateway's chats tell it."""
        if self.result is None:
            return {"reason": "NO_SOURCES", "withheld": self.withheld}
        judged = self.result.judged
        return {
            "risk_level": str(self.result.level),
            "supported": sum(claim.verdict == "SUPPORTED" for claim in judged),
            "judged": len(judged),
            "withheld": self.withheld,
            "claims": [_told(claim) for claim in judged],
        }


@dataclass(frozen=True, slots=True)
class Checked:
    """What one call's answers are checked against.

    Attributes:
        rules: of the client.
        facts: of the client and of the call.
        question: empty = that of the messages.
    """

    rules: Rules
    grounds: Grounds
    facts: tuple[Source, ...] = field(repr=False)
    question: str = ""

    def request(self, text: str, *, is_whole: bool) -> "pb.CheckRequest | None":
        """Return the check of a text; ``None`` = there is nothing to check it against.

        Args:
            text: of an answer, from its beginning.
            is_whole: no text follows; a beginning is not asked whether it is complete.
        """
        if not (self.facts or self.grounds.sources):
            return None
        request = check_request(_whole(text), self.facts, "", map(_whole, self.grounds.earlier_answers))
        request.question = _whole(self.question or self.grounds.question)
        if not is_whole:
            request.is_beginning = True
        for source in self.grounds.sources:
            content = _whole(source.text).encode()
            request.documents.add(name=_whole(source.title[:1_000]), content=content, media_type=_MARKDOWN)
        return request

    def judged(self, result: CheckResult | None) -> Judged:
        """Return whether what was found passes."""
        if result is None:
            return Judged(None, self.rules.without_sources == "block")
        return Judged(result, result.level.rank >= self.rules.halt_on.rank)


def checked(rules: Rules, messages: Sequence[Any], options: Mapping[str, Any]) -> Checked:
    """Return what a call is checked against.

    Args:
        rules: of the client.
        messages: of the call, a system prompt among them.
        options: what the call says in our field.

    Raises:
        GroundtrailError: INVALID_FIELD: it says something that is not known.
    """
    if wrong := sorted(set(options) - _OPTIONS):
        raise _wrong(f"{FIELD}.{wrong[0]}", f"is not known here; there are {', '.join(sorted(_OPTIONS))}")
    plain = [one for one in map(plain_of, messages) if isinstance(one, Mapping)]
    return Checked(rules, grounds_of(plain), (*rules.facts, *map(_source, options.get("facts") or ())), _text(options))


def read_facts(facts: Iterable[Source]) -> tuple[Source, ...]:
    """Return facts that can be checked against any number of times: files are read now.

    Raises:
        OSError: a file cannot be read.
    """
    return tuple(Document(one.name, one.read_bytes()) if isinstance(one, Path) else one for one in facts)


def plain_of(value: Any) -> Any:
    """Return a message as data, whatever classes it is made of: answers are put into messages as they came."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if isinstance(value, Mapping):
        return {key: plain_of(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_of(one) for one in value]
    return value


def withheld(found: Sequence[Judged]) -> WithheldError:
    """Return the error for answers of which one does not pass."""
    results = [one.result for one in found if one.result is not None]
    if not results:
        text = "Withheld: there is nothing to check this answer against."
        return WithheldError(text, None, reason="NO_SOURCES")
    worst = max(results, key=lambda result: result.level.rank)
    claims = [claim for claim in worst.claims if claim.verdict in _WORST_FIRST]
    claims.sort(key=lambda claim: _WORST_FIRST.index(claim.verdict))
    named = " ".join(f'"{claim.text}": {claim.why or claim.verdict.lower()}' for claim in claims[:_MOST_NAMED])
    text = f"Withheld: risk level {worst.level}. {named}".strip()
    return WithheldError(text, worst.level, worst.claims, results)


def _told(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "verdict": claim.verdict,
        "why": claim.why,
        "evidence": [{"title": one.title, "location": one.location, "quote": one.words} for one in claim.quotes],
    }


def _source(given: Any) -> Source:
    if isinstance(given, str | Fact | Document | Path):
        return given
    if isinstance(given, Mapping) and isinstance(given.get("content"), str):
        return Fact(given["content"], str(given.get("title", "")))
    raise _wrong(f"{FIELD}.facts", 'must be texts, {"content", "title"}, Fact, Document or Path')


def _text(options: Mapping[str, Any]) -> str:
    question = options.get("question", "")
    if not isinstance(question, str):
        raise _wrong(f"{FIELD}.question", "must be a text")
    return question


def _wrong(place: str, text: str) -> GroundtrailError:
    return GroundtrailError("INVALID_FIELD", f"{place}: {text}")


def _whole(text: str) -> str:
    """Return a text in whole characters: half a surrogate pair becomes U+FFFD."""
    return text.encode(_UTF16, "surrogatepass").decode(_UTF16, "replace")
