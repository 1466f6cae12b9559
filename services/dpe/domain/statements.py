"""Two statements held against each other by rules (SPEC-005 §5.4, §8.2): can both be true?

Equal words and one differing value of a kind, or equal words and opposite polarity, are a contradiction. A difference
in any other value, name or word is taken as a difference in what is talked about. The rules name the severity of §8.2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.ports.recognition import EntityKind
from services.common.reading.lexicon import APPROXIMATORS
from services.common.reading.opposites import Opposition, Side, opposed, sides
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import stem, words
from services.dpe.domain.alignment import ALIGNABLE, NAMES, claim_stems
from services.dpe.domain.antecedents import antecedents
from services.dpe.domain.facts import agrees, comparable
from services.dpe.domain.findings import AlignedValue, ContradictionReason, ContradictionSeverity
from services.dpe.domain.names import name_key
from services.dpe.domain.sameness import Topic, apart, labels_differ, topic

_FILLERS: Final = frozenset(
    {"now", "current", "currently", "total", "overall", "exact", "exactly", "actually", "also", "report", "stat"}
    | {"generally", "largely", "mostly", "mainly", "broadly", "predominantly"}
    | {stem(word) for word in APPROXIMATORS}
)
"""Stems that a claim may have more than another and still talk about the same."""
_CONTRASTING: Final = frozenset(
    {"before", "after", "above", "below", "over", "under", "until", "from", "during", "other", "more", "less", "most"}
    | {"within", "up", "first", "second", "third"}
)
"""Words without content that still say what is talked about: "after 2024" is not "before 2023"."""
_NEAR: Final = 0.10
"""Approximate values that differ by a tenth or less are a minor inconsistency (SPEC-005 §8.2)."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim as it is compared with others.

    Attributes:
        stems: of its content words; values, fillers and words with an opposite left out.
        names: names and identifiers in comparable form.
        values: those that can stand in each other's place: measures, dates, times.
        negated: an odd number of negating words.
        contrasts: words without content that still tell statements apart.
        sides: where its words with an opposite stand.
        topic: what it is about.
    """

    claim: Claim
    stems: frozenset[str]
    names: frozenset[str]
    values: tuple[Value, ...]
    negated: bool
    contrasts: frozenset[str]
    sides: frozenset[Side]
    topic: Topic

    @property
    def subject(self) -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
        """What is talked about; equal for two statements that the rules compare."""
        return self.stems, self.names, self.contrasts, frozenset(side.axis for side in self.sides)


@dataclass(frozen=True, slots=True)
class Conflict:
    """How two statements contradict each other, with the values that do when values do."""

    severity: ContradictionSeverity
    reason: ContradictionReason
    values: AlignedValue | None = None


def read_statements(claims: Sequence[Claim], text: str) -> list[Statement]:
    """Read the claims of a text; what a pronoun at the beginning of one stands for is taken from the claim before."""
    meant = antecedents(claims, text)
    return [read_statement(claim, meant.get(claim.claim_id, frozenset())) for claim in claims]


def read_statement(claim: Claim, antecedent: frozenset[str] = frozenset()) -> Statement:
    """Read a claim; ``antecedent`` holds the stems of what a pronoun at its beginning stands for."""
    names = frozenset(name_key(entity.text) for entity in claim.entities if entity.kind in NAMES)
    names |= {value.normal for value in claim.values if value.kind not in ALIGNABLE}
    values = tuple(value for value in claim.values if value.kind in ALIGNABLE)
    contrasts = frozenset(word.text for word in words(claim.text)) & _CONTRASTING
    stands, turning = sides(claim.text)
    stems = (claim_stems(claim) | antecedent) - _FILLERS - turning
    about = topic(claim, antecedent)
    return Statement(claim, stems, names, values, is_negated(claim.text), contrasts, stands, about)


def conflict(left: Statement, right: Statement) -> Conflict | None:
    """Return how the rules find two statements to contradict each other, or ``None``."""
    if not same_subject(left, right) or labels_differ(left.topic, right.topic):
        return None
    only_left, only_right = _unmatched(left.values, right.values), _unmatched(right.values, left.values)
    if not only_left and not only_right:
        return _turned(left, right)
    if left.negated != right.negated or len(left.values) != len(right.values):
        return None
    return difference(only_left, only_right)


def same_subject(left: Statement, right: Statement) -> bool:
    """Say whether two claims talk about the same: equal names and words, fillers aside; one word more is another."""
    return bool(left.stems) and left.subject == right.subject


def same_thing(left: Statement, right: Statement) -> bool:
    """Say whether what an encoder says of two statements counts: both speak of the same thing (ADR 0095)."""
    return not apart(left.topic, right.topic)


def difference(only_left: Sequence[Value], only_right: Sequence[Value]) -> Conflict | None:
    """Return the conflict of the one value on each side that the other side does not bear out, or ``None``."""
    if len(only_left) != 1 or len(only_right) != 1:
        return None
    first, second = only_left[0], only_right[0]
    if not comparable(first, second) or first.kind is not second.kind:
        return None
    is_date = first.kind in {EntityKind.DATE, EntityKind.TIME}
    reason = ContradictionReason.DATES_DIFFER if is_date else ContradictionReason.VALUES_DIFFER
    return Conflict(_severity(first, second), reason, AlignedValue(first, second, equal=False))


def differing_values(left: Statement, right: Statement) -> Conflict | None:
    """Return the conflict of values of two statements that are known to contradict each other, or ``None``."""
    return difference(_unmatched(left.values, right.values), _unmatched(right.values, left.values))


def severity_of_words(left: Statement, right: Statement) -> ContradictionSeverity:
    """Return MEDIUM for a contradiction of stance, HIGH for a logical one (SPEC-005 §8.2, step 6.4)."""
    both = left.sides, right.sides
    is_stance = all(any(side.opposition is Opposition.STANCE for side in each) for each in both)
    return ContradictionSeverity.MEDIUM if is_stance else ContradictionSeverity.HIGH


def _turned(left: Statement, right: Statement) -> Conflict | None:
    """Compare polarity: negated or not, and on which side the words with an opposite stand.

    "Not approved" and "rejected" go together, and "not approved" and "not rejected" may both be true.
    """
    turned = opposed(left.sides, right.sides)
    if left.negated == right.negated:
        if turned is None or left.negated:
            return None
    elif turned is not None or left.sides != right.sides:
        return None
    reason = ContradictionReason.NEGATED if turned is None else ContradictionReason.OPPOSITE_WORDS
    return Conflict(severity_of_words(left, right), reason)


def _unmatched(values: Iterable[Value], others: Sequence[Value]) -> list[Value]:
    return [value for value in values if not any(agrees(value, other) or agrees(other, value) for other in others)]


def _severity(first: Value, second: Value) -> ContradictionSeverity:
    if first.kind in {EntityKind.DATE, EntityKind.TIME}:
        return ContradictionSeverity.HIGH
    if first.approximate and second.approximate and first.magnitude is not None and second.magnitude is not None:
        larger = max(abs(first.magnitude), abs(second.magnitude))
        if larger and float(abs(first.magnitude - second.magnitude) / larger) <= _NEAR:
            return ContradictionSeverity.LOW
    return ContradictionSeverity.CRITICAL
