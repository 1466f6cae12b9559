"""Two statements held against each other by rules (SPEC-005 §5.4, §8.2; ADR 0196): can both be true?

They contradict each other where they speak of one thing (``differences``) and differ in exactly one amount, date, name
or state of it that cannot be both (``clashes``, ``states``). Any other difference is one in what is talked about. The
rules name the severity of §8.2.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from services.common.reading.lexicon import APPROXIMATORS
from services.common.reading.opposites import Opposition, Side, sides
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import stem
from services.dpe.domain.alignment import ALIGNABLE, NAMES, claim_stems
from services.dpe.domain.antecedents import antecedents, opens_with_pronoun
from services.dpe.domain.clashes import amounts_clash, contrast_clashes, dates_clash, is_duty, names_clash
from services.dpe.domain.differences import Content, Difference, Limited, contexts, differences, read_content
from services.dpe.domain.findings import AlignedValue, ContradictionReason, ContradictionSeverity
from services.dpe.domain.names import name_key
from services.dpe.domain.roles import subject_and_rest
from services.dpe.domain.states import alike, deny_alike, only_change, other_party, turned

_FILLERS: Final = frozenset(
    {"now", "current", "currently", "total", "overall", "exact", "exactly", "actually", "also", "report", "stat"}
    | {"generally", "largely", "mostly", "mainly", "broadly", "predominantly"}
    | {stem(word) for word in APPROXIMATORS}
)
"""Stems that a claim may have more than another and still talk about the same."""
_MOST_TERMS: Final = 3
_SHARED: Final = 0.3
"""Share of the words of the shorter statement below which two are not read side by side."""
_ALL: Final = frozenset({"nobody", "everybody", "everyone", "anyone", "anybody", "none", "nothing"})
_NEAR: Final = 0.10
"""Approximate values that differ by a tenth or less are a minor inconsistency (SPEC-005 §8.2)."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim as it is compared with others.

    Attributes:
        stems: of its content words; values, fillers and words with an opposite left out.
        names: names and identifiers in comparable form.
        values: those that can stand in each other's place: measures, dates, times.
        sides: where its words with an opposite stand.
        antecedent: stems of what a pronoun at its beginning stands for.
        context: words of its sentence that limit it and are not its own.
        is_unresolved: it is one word or a row of cells, or opens with a pronoun that nothing near it
            resolves.
    """

    claim: Claim
    stems: frozenset[str]
    names: frozenset[str]
    values: tuple[Value, ...]
    sides: frozenset[Side]
    antecedent: frozenset[str] = frozenset()
    context: str = ""
    is_unresolved: bool = False
    memo: list[Content] = field(default_factory=list, compare=False, repr=False)

    @property
    def content(self) -> Content:
        """What it is laid beside another by; read only when it is."""
        if not self.memo:
            self.memo.append(read_content(self.claim, self.antecedent, self.context))
        return self.memo[0]

    @property
    def subject(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """What is talked about, by which statements are looked up (``pairing``)."""
        return self.stems, self.names, frozenset(side.axis for side in self.sides)


@dataclass(frozen=True, slots=True)
class Conflict:
    """How two statements contradict each other, with the values that do when values do."""

    severity: ContradictionSeverity
    reason: ContradictionReason
    values: AlignedValue | None = None


def read_statements(claims: Sequence[Claim], text: str) -> list[Statement]:
    """Read the claims of a text; what a pronoun at the beginning of one stands for is taken from the claim before."""
    meant = antecedents(claims, text)
    around = contexts(claims, text)
    return [
        read_statement(claim, meant.get(claim.claim_id, frozenset()), beside)
        for claim, beside in zip(claims, around, strict=True)
    ]


def read_statement(claim: Claim, antecedent: frozenset[str] = frozenset(), context: str = "") -> Statement:
    """Read a claim.

    Args:
        claim: the claim.
        antecedent: stems of what a pronoun at its beginning stands for.
        context: words of its sentence that limit it and are not its own.
    """
    names = frozenset(name_key(entity.text) for entity in claim.entities if entity.kind in NAMES)
    names |= {value.normal for value in claim.values if value.kind not in ALIGNABLE}
    values = tuple(value for value in claim.values if value.kind in ALIGNABLE)
    stands, turning = sides(claim.text)
    stems = (claim_stems(claim) | antecedent) - _FILLERS - turning
    is_cut = " " not in claim.text.strip() or "|" in claim.text
    unresolved = is_cut or (not antecedent and opens_with_pronoun(claim.text) and not _DUMMY.match(claim.text))
    return Statement(claim, stems, names, values, stands, antecedent, context, unresolved)


def conflict(left: Statement, right: Statement) -> Conflict | None:
    """Return how the rules find two statements to contradict each other, or ``None``."""
    found = _differences(left, right)
    return None if found is None else _conflict(left, right, found)


def _differences(left: Statement, right: Statement) -> Difference | None:
    """Return in what two statements differ; those that share no word and no name are not read for it.

    Nothing is said of a pronoun that nothing near it resolves.
    """
    if left.is_unresolved or right.is_unresolved:
        return None
    least = min(len(left.stems), len(right.stems))
    if not (len(left.stems & right.stems) >= least * _SHARED and (least or left.names & right.names)):
        return None
    return differences(left.content, right.content)


_DUMMY: Final = re.compile(
    r"it\s(?:is|was|takes|took|costs?)\b[^.;]{1,160}\b(?:that|who|which|to|before|until)\b", re.IGNORECASE
)
"""An "it" that stands for nothing: "it is the court that decides", "it takes an hour to walk there"."""


def _conflict(left: Statement, right: Statement, found: Difference) -> Conflict | None:
    ours, theirs = left.content.stands, right.content.stands
    if found.measures is None and found.dates is None:
        return _named_or_turned(left, right, found)
    if found.ours or found.theirs or (found.measures and found.dates):
        return None
    if found.measures is not None:
        limited = all(one.side is not None for one in found.measures)
        clashes = amounts_clash(found.measures) and (alike(ours, theirs, limited=limited) or only_change(ours, theirs))
        return _of_values(found.measures, ContradictionReason.VALUES_DIFFER) if clashes else None
    texts = left.claim.text, right.claim.text
    if found.dates is None or found.counts or not alike(ours, theirs) or not dates_clash(found.dates, *texts):
        return None
    return _of_values(found.dates, ContradictionReason.DATES_DIFFER)


def _named_or_turned(left: Statement, right: Statement, found: Difference) -> Conflict | None:
    """Compare what is left of two statements of equal values: a name in another's place, or the opposite state."""
    ours, theirs = left.content.stands, right.content.stands
    if found.ours or found.theirs:
        texts = left.claim.text, right.claim.text
        sets_apart = left.content.sets_apart or right.content.sets_apart
        if (sets_apart and contrast_clashes(*texts)) or (
            alike(ours, theirs) and not ours.negated and names_clash(found, *texts)
        ):
            return Conflict(ContradictionSeverity.HIGH, ContradictionReason.NAMES_DIFFER)
        return None
    if other_party(ours, theirs) and is_duty(left.claim.text, right.claim.text):
        return Conflict(ContradictionSeverity.HIGH, ContradictionReason.NAMES_DIFFER)
    if not turned(ours, theirs):
        return None
    reason = ContradictionReason.OPPOSITE_WORDS if ours.second != theirs.second else ContradictionReason.NEGATED
    return Conflict(severity_of_words(left, right), reason)


def open_question(left: Statement, right: Statement) -> bool:
    """Say whether what an encoder says of two statements counts: few words behind the verb differ, and nothing else.

    Those words are no names and no numbers, and none of a case (ADR 0196): elsewhere the encoder calls another case a
    contradiction.
    """
    found = _differences(left, right)
    if found is None or found.measures or found.dates or _conflict(left, right, found) is not None:
        return False
    if left.content.telling or left.content.conditions or left.content.context:
        return False  # the words that differ may be those of a case
    of_all = _speaks_of_all(left.claim.text) or _speaks_of_all(right.claim.text)
    if not (of_all or deny_alike(left.content.stands, right.content.stands)):
        return False  # one denies, and the words differ: two differences
    mine, others = subject_and_rest(left.claim.text), subject_and_rest(right.claim.text)
    if mine is None or others is None or (mine[0] != others[0] and not of_all):
        return False
    differing, named = found.ours | found.theirs, " ".join(left.names ^ right.names).split()
    return (
        bool(differing)
        and max(len(found.ours), len(found.theirs)) <= _MOST_TERMS
        and all(term.isalpha() for term in differing)
        and (of_all or not any(term in named for term in differing))
    )


def _speaks_of_all(text: str) -> bool:
    return text.split(" ", 1)[0].lower() in _ALL


def _of_values(pair: tuple[Limited, Limited], reason: ContradictionReason) -> Conflict:
    first, second = pair[0].value, pair[1].value
    return Conflict(_severity(first, second, reason), reason, AlignedValue(first, second, equal=False))


def severity_of_words(left: Statement, right: Statement) -> ContradictionSeverity:
    """Return MEDIUM for a contradiction of stance, HIGH for a logical one (SPEC-005 §8.2, step 6.4)."""
    both = left.sides, right.sides
    is_stance = all(any(side.opposition is Opposition.STANCE for side in each) for each in both)
    return ContradictionSeverity.MEDIUM if is_stance else ContradictionSeverity.HIGH


def _severity(first: Value, second: Value, reason: ContradictionReason) -> ContradictionSeverity:
    if reason is ContradictionReason.DATES_DIFFER:
        return ContradictionSeverity.HIGH
    if first.approximate and second.approximate and first.magnitude is not None and second.magnitude is not None:
        larger = max(abs(first.magnitude), abs(second.magnitude))
        if larger and float(abs(first.magnitude - second.magnitude) / larger) <= _NEAR:
            return ContradictionSeverity.LOW
    return ContradictionSeverity.CRITICAL
