"""A claim in the notation of its facts (ADR 0094): what encoders are asked, so that no notation is held against it.

"Within three days" is asked as "within 72 hours" where the fact says so. Stretches of the rewritten claim are led back
to the claim: what lies in a rewritten value covers that value.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.text_types import Claim, Span, Value
from services.dpe.domain.findings import AlignedValue

_REWRITTEN: Final = frozenset({EntityKind.NUMBER, EntityKind.QUANTITY, EntityKind.MONEY, EntityKind.PERCENT,
                               EntityKind.DATE, EntityKind.TIME})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A claim's text with its equal values as the facts write them.

    Attributes:
        text: what the encoders are asked.
        cuts: for each stretch of it where it starts, where it starts in the claim, and its length there; those of
            values and those between them in turn.
    """

    text: str
    cuts: tuple[tuple[int, int, int, bool], ...] = ()

    def span(self, start: int, end: int) -> Span:
        """Return the stretch of the claim for one of the rewritten text; offsets from the claim's beginning."""
        return Span(self._place(start, at_end=False), self._place(end, at_end=True))

    def _place(self, offset: int, *, at_end: bool) -> int:
        if not self.cuts:
            return offset
        starts = [cut[0] for cut in self.cuts]
        at = max(0, bisect_right(starts, max(0, offset - 1 if at_end else offset)) - 1)
        written, own, length, is_value = self.cuts[at]
        if is_value:
            return own + length if at_end else own
        return own + min(offset - written, length)


def in_fact_notation(claim: Claim, aligned: Sequence[AlignedValue], facts: Sequence[str] = ()) -> Rewriting:
    """Return the claim with each value that equals a fact's as the fact writes it; linear in claim and facts.

    A bound that is said by a negation ("no more than") is said without it where no fact says it so: what denies nothing
    is not to be read as a denial.

    Args:
        claim: the claim.
        aligned: its values with those of the facts.
        facts: texts of the facts, for their bounds; without them bounds are left.
    """
    equal = [pair for pair in aligned if pair.equal and not pair.derivation and _is_worth(pair.claimed, pair.known)]
    changes = [
        (pair.claimed.start - claim.start, pair.claimed.end - claim.start, _written(pair.known)) for pair in equal
    ]
    changes += _plain_bounds(claim.text, facts) if facts else []
    if not changes:
        return Rewriting(claim.text)
    pieces: list[str] = []
    cuts: list[tuple[int, int, int, bool]] = []
    at = written = 0
    for start, end, text in sorted(changes):
        for piece, own, length, is_value in (
            (claim.text[at:start], at, start - at, False), (text, start, end - start, True),
        ):  # fmt: skip
            cuts.append((written, own, length, is_value))
            pieces.append(piece)
            written += len(piece)
        at = end
    cuts.append((written, at, len(claim.text) - at, False))
    return Rewriting("".join([*pieces, claim.text[at:]]), tuple(cuts))


def _plain_bounds(text: str, facts: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the bounds of a text that are said by a negation, with the words that say them without one."""
    found: list[tuple[int, int, str]] = []
    for match in _NEGATED_BOUND.finditer(text):
        if not any(match.group().lower() in fact.lower() for fact in facts):
            plain = "at most" if match["most"] else "at least"
            found.append((match.start(), match.end(), plain.capitalize() if match.group()[0].isupper() else plain))
    return found


_NEGATED_BOUND: Final = re.compile(
    r"\b(?:no|not)\s(?:(?P<most>more|longer|greater|higher|larger)|less|fewer|lower|shorter|smaller)\sthan\b",
    re.IGNORECASE,
)


def restated(claims: Iterable[Claim], facts: Iterable[Sequence[Value]]) -> dict[str, str]:
    """Return claims, by their text, with each value as a fact writes it that holds an equal one.

    Needs no alignment: similarity, which comes before it, is measured with both (ADR 0094). Claims whose values the
    facts write in the same way, or do not hold, are left out. Linear in claims and facts.
    """
    written = {(value.kind, value.normal): value for values in facts for value in values if value.kind in _REWRITTEN}
    found: dict[str, str] = {}
    for claim in claims:
        pairs = [
            AlignedValue(value, known, equal=True)
            for value in claim.values
            if (known := written.get((value.kind, value.normal))) is not None
        ]
        text = in_fact_notation(claim, pairs).text
        if text != claim.text:
            found[claim.text] = text
    return found


def _is_worth(claimed: Value, known: Value) -> bool:
    """Say whether the two are written otherwise and worth the same; an approximate value or a part of a date is not."""
    if claimed.kind not in _REWRITTEN or claimed.text.lower() == known.text.lower():
        return False
    if claimed.approximate or claimed.floor or known.approximate or known.floor or claimed.per != known.per:
        return False
    if claimed.kind is EntityKind.DATE and claimed.normal != known.normal:
        return known.normal == claimed.alternative or claimed.normal == known.alternative
    # A numeral of a table ("600") would lose its unit.
    return bool(claimed.unit) == bool(known.unit)


def _written(known: Value) -> str:
    return " ".join(known.text.split())
