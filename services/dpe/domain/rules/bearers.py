"""Who may or must do it (SPEC-005 §5.3, ENTITY_SUBSTITUTED, ADR 0180).

"The customer may end the contract on 90 days' notice" repeats a clause that gives this right to the contractor, where
another clause gives the customer another one. The clause with the same verb that holds most of the claim names who
has the right or the duty; another one who has rights in these facts took its place. It is one signal: whoever is
named may be one of those whom the clause means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.reading.words import Word, stem
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, root, share, statements

_MODALS: Final = frozenset({"may", "must", "shall", "can", "cannot", "should", "will", "might"})
_RELATIVES: Final = frozenset({"who", "which"})
_RELATIVE_REACH: Final = 14
"""Words that a relative clause has at most."""
_BETWEEN: Final = frozenset({"not", "also", "only", "then", "always", "never", "still", "both"})
_ANYBODY: Final = frozenset(
    {
        root(word)
        for word in ("party", "parties", "person", "people", "anyone", "everyone", "side", "holder", "user", "member")
    }
)
"""Words for whoever it may be: a named party is one of them."""
_NEAR: Final = 0.7
"""Share of the claim's other words that the clause holds."""
_CLEAR: Final = 0.1
"""By so much a clause about the claim's own party has to hold less."""


@dataclass(frozen=True, slots=True)
class _Duty:
    """A verb behind a modal verb, and the word before it."""

    bearer: Word
    verb: str

    @property
    def head(self) -> str:
        """The stem of who has the right or duty; a contractor has the root of a contract."""
        return stem(self.bearer.text)


def changed_bearer(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim gives somebody a right or duty that its facts give somebody else, or ``None``."""
    own = claim.once(_duties)
    if len(own) != 1:
        return None
    parts = [part for source in sources for part in source.once(statements)]
    if not any(duty.head == own[0].head for part in parts for duty in part.once(_duties)):
        return None
    rest = claim.content - {root(own[0].bearer.text)}
    spoken = {stem(word.text) for word in claim.tokens}
    rated = [
        (share(rest, part.known), duty, part)
        for part in parts
        for duty in part.once(_duties)
        if duty.verb == own[0].verb
    ]
    top, known, source = max(rated, key=lambda one: one[0], default=(0.0, own[0], claim))
    same = max((rate for rate, duty, _ in rated if duty.head == own[0].head), default=0.0)
    if top < _NEAR or top - same < _CLEAR or known.head in spoken or known.head in _ANYBODY:
        return None
    said = own[0].bearer
    return Departure(
        DistortionType.ENTITY_SUBSTITUTED,
        Rule.DISPLACED,
        claim.span(said.start, said.end),
        source,
        source.span(known.bearer.start, known.bearer.end),
    )


def _duties(reading: Reading) -> tuple[_Duty, ...]:
    tokens, found = reading.tokens, list[_Duty]()
    for at, word in enumerate(tokens[:-1]):
        if word.text not in _MODALS or not at or not is_content(tokens[at - 1], reading.text):
            continue
        verb = next((one.text for one in tokens[at + 1 : at + 4] if one.text not in _BETWEEN), "")
        if verb and verb != "be":  # what may be done to something says nothing of who does it
            found.append(_Duty(_bearer(tokens, at), root(verb)))
    return tuple(found)


def _bearer(tokens: Sequence[Word], at: int) -> Word:
    """Return the word before a modal verb, or before the relative clause that stands between: "a nurse who ... may"."""
    reach = range(max(1, at - _RELATIVE_REACH), at)
    relative = next((place for place in reach if tokens[place].text in _RELATIVES), at)
    return tokens[relative - 1]
