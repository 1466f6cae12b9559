"""What of a dispatch speaks to the model out of turn: the caller's own query, what earlier windows hand on (ADR 0145).

The search is that of DetectInjection's first stage. By policy a text is left as it is and told of, or the sentences
that speak to a model are taken out of it before anybody reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from services.common.computing import compute
from services.common.injection.masking import Finding, finding_of, masked
from services.gateway.domain.command import DispatchCommand, Notice
from services.gateway.domain.source_screening import SUSPECTED_FROM
from services.gateway.domain.suspicion import Part, Suspicion

MASKED: Final = "masked"
REPORTED: Final = "reported"
LEFT_OUT: Final = "left_out"
QueryPolicy = Literal["off", "report", "mask"]


@dataclass(frozen=True, slots=True)
class ScreenedText:
    """A text as it goes on, and what was found in it; ``None`` = nothing."""

    text: str = field(repr=False)
    suspicion: Suspicion | None = None


async def screened_query(query: str, policy: QueryPolicy, part: Part = Part.QUERY) -> ScreenedText:
    """Return a caller's question as it is answered; of one that is nothing but orders the mark alone is left."""
    if policy == "off":
        return ScreenedText(query)
    return await screened(query, part, "", masks=policy == "mask")


async def screened_command(
    command: DispatchCommand, policy: QueryPolicy
) -> tuple[DispatchCommand, tuple[Suspicion, ...]]:
    """Return a command as it is answered, its earlier questions too, and what was found in what the caller says."""
    query = await screened_query(command.query, policy)
    earlier = [await screened_query(one, policy, Part.EARLIER_QUESTION) for one in command.earlier_questions]
    kept = tuple(one.text for one in earlier)
    if query.text != command.query or kept != command.earlier_questions:
        command = replace(command, query=query.text, earlier_questions=kept)
    return command, tuple(one.suspicion for one in (query, *earlier) if one.suspicion is not None)


async def screened(text: str, part: Part, of: str, *, masks: bool) -> ScreenedText:
    """Return a text as it goes on: as it came, or without the sentences that speak to a model."""
    if not masks:
        finding = await suspected(text)
        return ScreenedText(text, None if finding is None else Suspicion.found(part, of, REPORTED, finding))
    found = await compute(masked, text, SUSPECTED_FROM)
    if found.finding is None:
        return ScreenedText(text)
    return ScreenedText(found.text, Suspicion.found(part, of, MASKED, found.finding))


async def suspected(text: str) -> Finding | None:
    """Return what in a text gives orders to a model; ``None`` for ordinary text."""
    return await compute(finding_of, text, SUSPECTED_FROM)


def query_notices(suspicions: Sequence[Suspicion]) -> tuple[Notice, ...]:
    """Return what the caller should know of the query; never its content."""
    suspicion = next((one for one in suspicions if one.part is Part.QUERY), None)
    if suspicion is None:
        return ()
    told = f"the query speaks to a model out of turn: {', '.join(sorted(suspicion.tells))}"
    if suspicion.action == MASKED:
        return (Notice("INJECTION_MASKED", f"{told}; these sentences were taken out before it was answered"),)
    return (Notice("INJECTION_SUSPECTED", told),)
