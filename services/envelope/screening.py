"""Candidates of an envelope that speak to a language model: counted, or left out (SPEC-003 §16; ADR 0125).

What was found of a text is remembered by its hash, never by its words: a fact is searched once, however many envelopes
it is a candidate of.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from services.common.computing import compute
from services.common.counting import counted
from services.envelope.domain.candidates import Candidate, RankedFact
from services.envelope.domain.instructions import why_suspected
from services.envelope.selection import Selection

REMEMBERED: Final = 65_536
"""Hashes of texts whose verdict is remembered."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What was found among the candidates.

    Attributes:
        hashes: of the texts that speak to a model.
        left_out: candidates that were left out.
    """

    hashes: frozenset[str] = frozenset()
    left_out: int = 0

    def told(self, packed: Sequence[RankedFact]) -> tuple[str, ...]:
        """Return what the caller should know; numbers only, never content."""
        count = sum(fact.candidate.content_hash in self.hashes for fact in packed)
        held = f"speaking to a language model in the envelope: {counted(count, 'fact')}"
        left = f"speaking to a language model and left out: {counted(self.left_out, 'relevant fact')}"
        return (*([held] if count else ()), *([left] if self.left_out else ()))


_NOT_LOOKED: Final = Screened()


class Screening:
    """Screens candidates by policy; safe to share between tasks of one event loop."""

    def __init__(self, policy: Literal["off", "report", "leave_out"]) -> None:
        self._policy = policy
        self._known: OrderedDict[str, bool] = OrderedDict()

    async def of(self, selection: Selection) -> tuple[Selection, Screened]:
        """Return what may be packed, and what was found."""
        if self._policy == "off":
            return selection, _NOT_LOOKED
        unknown = {one.content_hash: one.content for one in selection.candidates if one.content_hash not in self._known}
        if unknown:
            self._remember(await compute(_verdicts, unknown))
        hashes = frozenset(one.content_hash for one in selection.candidates if self._is_suspected(one))
        if self._policy == "report" or not hashes:
            return selection, Screened(hashes)
        kept = tuple(one for one in selection.candidates if one.content_hash not in hashes)
        return replace(selection, candidates=kept), Screened(hashes, len(selection.candidates) - len(kept))

    def _is_suspected(self, candidate: Candidate) -> bool:
        verdict = self._known.get(candidate.content_hash)
        return bool(why_suspected(candidate.content)) if verdict is None else verdict

    def _remember(self, verdicts: dict[str, bool]) -> None:
        self._known.update(verdicts)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


def _verdicts(texts: dict[str, str]) -> dict[str, bool]:
    """Return for each hash whether its text speaks to a model. CPU-bound, linear."""
    return {content_hash: bool(why_suspected(text)) for content_hash, text in texts.items()}
