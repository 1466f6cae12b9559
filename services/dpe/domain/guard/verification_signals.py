"""The five signals of the VerifiedScorer, each with its own vote (Director-AI page, ADR 0127).

All rest on stages 1 to 3 of the provenance engine: the claims, the passages near them, the values in one another's
places (3a, 3b), the turned negations and exchanged names of 3b, and what the two encoders say. Nothing is aligned a
second time. A number supports a claim only where it stands in the place of the claim's, and only when all of them do:
that one of them occurs somewhere says nothing.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, unique
from typing import Final

from services.common.ports.entailment import ENTAILMENT
from services.common.ports.recognition import EntityKind
from services.common.reading.polarity import compared
from services.common.reading.text_types import Claim, Value
from services.common.reading.words import content_stems
from services.dpe.domain.alignment import ALIGNABLE, NAMES, ClaimWords, Match, matches
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.facts import ValueIndex
from services.dpe.domain.findings import AlignedValue, Distortion, Judgement, Rule
from services.dpe.domain.flips import said_plainly
from services.dpe.domain.names import Gazetteer, NameIndex
from services.dpe.domain.verdicts import Case, ModelOpinion, decides, heard_cases


@unique
class SignalKind(StrEnum):
    """The five signals, in the page's order."""

    NLI = "NLI"
    ENTITY = "ENTITY"
    NUMBER = "NUMBER"
    NEGATION = "NEGATION"
    TRACEABILITY = "TRACEABILITY"


@unique
class Vote(StrEnum):
    """What one signal says; ``NONE`` = it does not apply."""

    NONE = "NONE"
    SUPPORTS = "SUPPORTS"
    CONTRADICTS = "CONTRADICTS"
    NEUTRAL = "NEUTRAL"
    FABRICATES = "FABRICATES"


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal about one claim; ``value`` in [0, 1], 1 speaks for support, ``None`` = it does not apply."""

    kind: SignalKind
    value: float | None = None
    vote: Vote = Vote.NONE


@dataclass(frozen=True, slots=True)
class Limits:
    """The page's thresholds of overlap and traceability."""

    overlap_supports: float = 0.5
    overlap_contradicts: float = 0.2
    traceable: float = 0.5
    untraceable: float = 0.2


@dataclass(frozen=True, slots=True)
class Signalled:
    """A claim with its signals, in the order of ``SignalKind``.

    Attributes:
        judgement: of stage 3.
        deciding: signals in which a rule found a difference that decides (ADR 0095).
        doubted: some rule found a difference, whether or not it decides.
    """

    claim: Claim
    judgement: Judgement
    signals: tuple[Signal, ...]
    deciding: frozenset[SignalKind] = frozenset()
    doubted: bool = False


SIGNAL_OF_RULE: Final[Mapping[Rule, SignalKind]] = {
    Rule.VALUE: SignalKind.NUMBER,
    Rule.BOUND: SignalKind.NUMBER,
    Rule.FREQUENCY: SignalKind.NUMBER,
    Rule.APPLIED: SignalKind.NUMBER,
    Rule.NAME: SignalKind.ENTITY,
    Rule.PARTIES: SignalKind.ENTITY,
    Rule.MEMBER: SignalKind.ENTITY,
    Rule.TERM: SignalKind.ENTITY,
    Rule.ATTRIBUTION: SignalKind.ENTITY,
    Rule.ROW: SignalKind.ENTITY,
    Rule.DISPLACED: SignalKind.ENTITY,
    Rule.NEGATION: SignalKind.NEGATION,
    Rule.LIMIT: SignalKind.NEGATION,
    Rule.CONDITION: SignalKind.NEGATION,
    Rule.EXCEPTION: SignalKind.NEGATION,
    Rule.ALLEGED: SignalKind.NEGATION,
    Rule.STATUS: SignalKind.NEGATION,
    Rule.PLANNED: SignalKind.NEGATION,
    Rule.MODALITY: SignalKind.NEGATION,
    Rule.QUANTIFIER: SignalKind.NEGATION,
    Rule.CONJUNCTION: SignalKind.NEGATION,
    Rule.ORDER: SignalKind.NEGATION,
    Rule.CAUSE: SignalKind.NEGATION,
    Rule.ENCODERS: SignalKind.NLI,
}
"""In which signal a rule of stage 3b speaks: of values, of who or what, of what turns or limits a statement."""
_UNSURE: Final = 0.5
_SAME_WORDS: Final = 0.5
"""Share of a claim's words in a clause from which on the polarity of the two can be compared."""
_NO_GAZETTEER: Final = Gazetteer.of("", ())
"""A country that is common knowledge is no evidence that a source names it."""


def signalled(analysis: Analysis, limits: Limits) -> list[Signalled]:
    """Return every claim that stage 3 gave a verdict, in order, with its five signals."""
    found: dict[str, list[Distortion]] = defaultdict(list)
    for item in analysis.outputs.distortion.found or ():
        found[item.claim_id].append(item)
    unnamed = {(item.entity.start, item.entity.end) for item in analysis.outputs.fabrication.found or ()}
    read = _Read(analysis, limits, unnamed)
    return [read.claim(heard, found.get(heard.case.claim.claim_id, [])) for heard in heard_cases(analysis)]


@dataclass(frozen=True, slots=True)
class _Read:
    """Reads the signals of an analysis; ``unnamed`` are the places of names and values that no source has (3a)."""

    analysis: Analysis
    limits: Limits
    unnamed: set[tuple[int, int]]
    indexed: dict[tuple[int, ...], ValueIndex] = field(default_factory=dict)

    def claim(self, heard: ModelOpinion, found: Sequence[Distortion]) -> Signalled:
        case, outputs = heard.case, self.analysis.outputs
        key = case.claim.claim_id
        contents = [self.analysis.input.facts[near.fact_index].content for near in case.passages]
        aligned = outputs.attribution.alignments.get(key, ())
        nearest = self._nearest(case)
        signals = [
            _nli(heard),
            self._entity(case, contents),
            self._number(case, aligned),
            _negation(case, nearest),
            self._traceability(case),
        ]
        told = {SIGNAL_OF_RULE[item.rule] for item in found}
        deciding = frozenset(SIGNAL_OF_RULE[item.rule] for item in found if decides(item))
        return Signalled(
            case.claim,
            outputs.fidelity.judgements[key],
            tuple(_departed(signal, told, deciding) for signal in signals),
            deciding,
            bool(found),
        )

    def _nearest(self, case: Case) -> Match | None:
        views = (self.analysis.outputs.text.fact_views[near.fact_index] for near in case.passages)
        return next(iter(matches(ClaimWords.of(case.claim), [one for view in views for one in view.clauses])), None)

    def _entity(self, case: Case, contents: Sequence[str]) -> Signal:
        """Share of the claim's names that the passages near it have."""
        names = [entity for entity in case.claim.entities if entity.kind in NAMES]
        if not names or not contents or not self.analysis.outputs.text.names_known:
            return Signal(SignalKind.ENTITY)
        known = NameIndex.of(contents, _NO_GAZETTEER)
        share = sum(1 for name in names if known.knows(name)) / len(names)
        if share >= self.limits.overlap_supports:
            return Signal(SignalKind.ENTITY, share, Vote.SUPPORTS)
        vote = Vote.CONTRADICTS if share < self.limits.overlap_contradicts else Vote.NEUTRAL
        return Signal(SignalKind.ENTITY, share, vote)

    def _number(self, case: Case, aligned: Sequence[AlignedValue]) -> Signal:
        """Share of the claim's values that stand in their places: all must, before the signal supports anything.

        One that equals a value of the sources, while another is said nearly as much of, counts half.
        """
        values = [value for value in case.claim.values if not _is_mark(value)]
        if not values or not case.passages:
            return Signal(SignalKind.NUMBER)
        if case.quotation is not None:
            return Signal(SignalKind.NUMBER, 1.0, Vote.SUPPORTS)
        placed = {
            (pair.claimed.start, pair.claimed.end): 1.0 if pair.is_firm or pair.derivation else _UNSURE
            for pair in aligned
            if pair.equal and not pair.turned
        }
        borne = [
            placed.get((value.start, value.end), 0.0)
            if value.kind in ALIGNABLE
            else float(self._values_of(case).traces(value))
            for value in values
        ]
        share = sum(borne) / len(borne)
        if share == 1.0:
            return Signal(SignalKind.NUMBER, share, Vote.SUPPORTS)
        invented = any((value.start, value.end) in self.unnamed for value in values)
        return Signal(SignalKind.NUMBER, share, Vote.FABRICATES if invented else Vote.NEUTRAL)

    def _values_of(self, case: Case) -> ValueIndex:
        """Return the values of the passages near a claim, indexed once for all claims with the same ones."""
        key = tuple(near.fact_index for near in case.passages)
        if key not in self.indexed:
            views = [self.analysis.outputs.text.fact_views[index] for index in key]
            self.indexed[key] = ValueIndex([value for view in views for value in view.values], len(views))
        return self.indexed[key]

    def _traceability(self, case: Case) -> Signal:
        """Share of the claim's content words that the passages near it have."""
        stems = content_stems(case.claim.text)
        if not stems or not case.passages:
            return Signal(SignalKind.TRACEABILITY)
        near = [self.analysis.outputs.text.fact_views[one.fact_index].stems for one in case.passages]
        share = 1.0 if case.quotation is not None else _share(stems, near)
        vote = Vote.SUPPORTS if share >= self.limits.traceable else Vote.NEUTRAL
        return Signal(SignalKind.TRACEABILITY, share, Vote.FABRICATES if share < self.limits.untraceable else vote)


def _share(stems: frozenset[str], near: Sequence[frozenset[str]]) -> float:
    """Return which share of stems is among any of some others."""
    return sum(any(stem in known for known in near) for stem in stems) / len(stems)


def _is_mark(value: Value) -> bool:
    """Say whether a value is the mark of a citation, "[2]", which asserts nothing."""
    return value.kind is EntityKind.CITATION and value.normal.startswith("[")


def _nli(heard: ModelOpinion) -> Signal:
    """Return what the encoders say: the grounding model, and where it does not support, the entailment model."""
    if heard.case.quotation is not None:
        return Signal(SignalKind.NLI, 1.0, Vote.SUPPORTS)
    if heard.grounding is not None:
        value, supported = heard.grounding.support, heard.grounding.supported
    elif heard.row is not None:
        value, supported = float(heard.row[ENTAILMENT]), int(heard.row.argmax()) == ENTAILMENT
    else:
        return Signal(SignalKind.NLI)
    if supported:
        return Signal(SignalKind.NLI, value, Vote.SUPPORTS)
    return Signal(SignalKind.NLI, value, Vote.CONTRADICTS if heard.contradicts else Vote.NEUTRAL)


def _negation(case: Case, nearest: Match | None) -> Signal:
    """Return whether claim and nearest clause are negated alike; it does not apply where they share few words."""
    if case.quotation is not None or (nearest is not None and nearest.is_copy):
        return Signal(SignalKind.NEGATION, 1.0, Vote.SUPPORTS)
    if nearest is None or nearest.containment < _SAME_WORDS:
        return Signal(SignalKind.NEGATION)
    turned = compared(said_plainly(case.claim.text), said_plainly(nearest.clause.text)).turned
    # A turn that no rule of stage 3b takes for a flip is a doubt, no contradiction.
    return Signal(SignalKind.NEGATION, 0.5 if turned else 1.0, Vote.NEUTRAL if turned else Vote.SUPPORTS)


def _departed(signal: Signal, told: set[SignalKind], deciding: frozenset[SignalKind]) -> Signal:
    """Return the signal with what the rules found: what decides contradicts, anything else keeps it from supporting."""
    if signal.kind in deciding:
        return Signal(signal.kind, 0.0, Vote.CONTRADICTS)
    if signal.kind in told and signal.vote in {Vote.SUPPORTS, Vote.NONE}:
        return Signal(signal.kind, 0.5 if signal.value is None else min(0.5, signal.value), Vote.NEUTRAL)
    return signal
