"""What the stages find: attribution and fidelity, omission and repetition, risk (SPEC-005 §4, §5, §7, §9, §12)."""

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import Final

from services.common.ports.personal_data import PersonalData
from services.common.ports.recognition import Entity
from services.common.reading.text_types import Claim, Span, Value
from services.common.taxonomy import RiskLevel


@unique
class AttributionType(StrEnum):
    """SPEC-005 §4.2, from the least to the most risky."""

    CONTEXT_GROUNDED = "CONTEXT_GROUNDED"
    PARAMETRIC = "PARAMETRIC"
    MIXED = "MIXED"
    UNVERIFIABLE = "UNVERIFIABLE"


@unique
class Verdict(StrEnum):
    """ADR 0041, 0109: SUPERSEDED = only facts that do not hold now bear it out; UNDECIDED: ADR 0151."""

    NONE = "NONE"
    SUPPORTED = "SUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    UNSUPPORTED = "UNSUPPORTED"
    SUPERSEDED = "SUPERSEDED"
    UNDECIDED = "UNDECIDED"


@unique
class Basis(StrEnum):
    """What decided a verdict (ADR 0041)."""

    QUOTATION = "QUOTATION"
    VALUE_CONFLICT = "VALUE_CONFLICT"
    DISTORTION = "DISTORTION"
    CONTRADICTION = "CONTRADICTION"
    GROUNDING = "GROUNDING"
    CONSTRAINT = "CONSTRAINT"
    VALUES = "VALUES"
    SECOND_OPINION = "SECOND_OPINION"


OF_FACTS: Final = frozenset({Basis.VALUE_CONFLICT, Basis.DISTORTION})
"""An exact rule over the words of claim and fact decided."""
EXACT: Final = OF_FACTS | {Basis.CONSTRAINT}
"""An exact rule decided, over a fact or over a constraint of the request."""


@dataclass(frozen=True, slots=True)
class AlignedValue:
    """A value (or name) of the claim and the one that stands in its place in the fact.

    Attributes:
        fact_index: of the fact that holds it; ``None`` when it is in no fact of the envelope.
        is_firm: of all values that measure the same it is plainly this one that the claim speaks of.
        turned: they are equal, and claim and fact lie on opposite sides of them ("up to", "at least").
        derivation: how the known value follows from values of the facts ("120 + 95 = 215"); empty when it stands there.
        derived_from: the facts that hold what it follows from, ``fact_index`` among them.
        is_own: the answer itself works it out: that makes it no invention, and bears nothing out (ADR 0207).
        is_applied: the claim's value is of a case that a rule of the facts is applied to, or is reckoned from others.
    """

    claimed: Value
    known: Value
    equal: bool
    fact_index: int | None = None
    is_firm: bool = False
    turned: bool = False
    derivation: str = ""
    derived_from: tuple[int, ...] = ()
    is_applied: bool = False
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class NearFact:
    """A fact and how near it is to a claim: raw cosine and calibrated similarity."""

    fact_index: int
    raw_similarity: float
    similarity: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact that a claim was compared with; ``fact_index`` counts the envelope's facts from 0."""

    fact_index: int
    fact_id: str
    fact_span: Span
    raw_similarity: float
    similarity: float
    aligned: tuple[AlignedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a factual claim rests on; ``evidence`` best first."""

    claim: Claim
    type: AttributionType
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class DoubtfulSpan:
    """A stretch of the answer that nothing read supports, with the mean probability of that, in [0, 1]."""

    span: Span
    score: float


@dataclass(frozen=True, slots=True)
class ConstraintConflict:
    """The constraints that a claim violates, and what its verdict would be without them (ADR 0078).

    Attributes:
        constraint_ids: all of them, in the order of the request.
    """

    constraint_ids: tuple[str, ...]
    verdict_without: Verdict


@unique
class DoubtKind(StrEnum):
    """Why a probability alone does not bear a claim out (ADR 0231)."""

    VALUE_UNKNOWN = "VALUE_UNKNOWN"
    WORDS_UNKNOWN = "WORDS_UNKNOWN"
    SAID_OTHERWISE = "SAID_OTHERWISE"
    EXCEPTED = "EXCEPTED"
    ADDED = "ADDED"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A doubt and its words: the values or words of the claim, or those of the claim and of the fact.

    ``fact_index``: of the fact that leaves it; ``None`` where none does.
    """

    kind: DoubtKind
    words: tuple[str, ...]
    fact_index: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a claim with all that it rests on (ADR 0041).

    Attributes:
        support: calibrated probability that the facts support the claim, in [0, 1]; ``None`` = not computed.
        contradiction: probability that its nearest fact contradicts it, in [0, 1]; ``None`` = not computed.
        entailment: probability that its nearest fact entails it; ``None`` = not computed.
        doubtful: what nothing supports; empty for a supported claim.
        evidence: the facts that were read, the one that decided first.
        conflict: constraints that the claim violates; ``None`` when there are none.
        why: the verdict in one sentence for people (ADR 0097); empty until it is made, and without a verdict.
        told_by: whose second opinion decided, provider and model; empty where none did (ADR 0119).
        doubt: why a probability alone did not bear it out; ``None`` where it decided or had nothing to decide.
    """

    verdict: Verdict
    basis: Basis | None
    support: float | None = None
    contradiction: float | None = None
    entailment: float | None = None
    doubtful: tuple[DoubtfulSpan, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    conflict: ConstraintConflict | None = None
    why: str = ""
    told_by: str = ""
    doubt: Doubt | None = None


@dataclass(frozen=True, slots=True)
class Fabrication:
    """An entity without basis; ``claim_id`` is empty when it stands outside every claim."""

    claim_id: str
    entity: Entity
    normalised: str = ""


@unique
class DistortionType(StrEnum):
    """SPEC-005 §5.3."""

    NUMBER_CHANGED = "NUMBER_CHANGED"
    NEGATION_FLIP = "NEGATION_FLIP"
    DATE_SHIFTED = "DATE_SHIFTED"
    ENTITY_SUBSTITUTED = "ENTITY_SUBSTITUTED"
    MAGNITUDE_ALTERED = "MAGNITUDE_ALTERED"
    CONTEXT_STRIPPED = "CONTEXT_STRIPPED"
    CONDITION_ALTERED = "CONDITION_ALTERED"
    ATTRIBUTION_ALTERED = "ATTRIBUTION_ALTERED"
    MODALITY_ALTERED = "MODALITY_ALTERED"
    QUANTIFIER_ALTERED = "QUANTIFIER_ALTERED"
    RELATION_ALTERED = "RELATION_ALTERED"


@unique
class Rule(StrEnum):
    """Which rule found a distortion; docs/rules.md has what each is worth (ADR 0095)."""

    VALUE = "VALUE"
    BOUND = "BOUND"
    FREQUENCY = "FREQUENCY"
    NAME = "NAME"
    PARTIES = "PARTIES"
    MEMBER = "MEMBER"
    TERM = "TERM"
    NEGATION = "NEGATION"
    LIMIT = "LIMIT"
    CONDITION = "CONDITION"
    EXCEPTION = "EXCEPTION"
    ATTRIBUTION = "ATTRIBUTION"
    ALLEGED = "ALLEGED"
    STATUS = "STATUS"
    PLANNED = "PLANNED"
    MODALITY = "MODALITY"
    QUANTIFIER = "QUANTIFIER"
    CONJUNCTION = "CONJUNCTION"
    ORDER = "ORDER"
    CAUSE = "CAUSE"
    ENCODERS = "ENCODERS"
    ROW = "ROW"
    APPLIED = "APPLIED"
    DISPLACED = "DISPLACED"


@dataclass(frozen=True, slots=True)
class Distortion:
    """A grounded claim that misrepresents its fact; spans are in the answer and in the fact's content.

    Attributes:
        values: the words of both sides in comparable form: values, names, or what a rule sets against each other.
        rule: which rule found it.
        is_same: the rule has made sure that both speak of the same (ADR 0218).
        is_near: the claim repeats the sentence that it departs from, the words that differ aside (ADR 0166, 0215).
        is_guess: it counts only where the entailment model contradicts the claim (ADR 0195).
    """

    type: DistortionType
    claim_id: str
    fact_id: str
    answer_span: Span
    fact_span: Span
    values: AlignedValue | None = None
    rule: Rule = Rule.VALUE
    is_near: bool = True
    is_same: bool = False
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """The place of the facts that a question asks about, for a claim that answers it in a few words (ADR 0216).

    Attributes:
        span: what stands there, with offsets in the fact's content.
        is_own: the claim stands there.
        distortion: a table gives something else there; ``None`` where the claim merely stands in another place.
        is_asked: the question asks about it; else the claim alone, by a superlative.
        is_named: the claim answers by a name or other words, neither by a value nor by yes or no.
    """

    fact_index: int
    span: Span
    is_own: bool = False
    distortion: Distortion | None = None
    is_asked: bool = True
    is_named: bool = False

    @property
    def is_doubt(self) -> bool:
        """What is asked about stands here, and the claim in a place that the question names less."""
        return not self.is_own and self.distortion is None


@unique
class ContradictionSeverity(StrEnum):
    """SPEC-005 §8.2, from minor to grave."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


@unique
class ContradictionReason(StrEnum):
    """What two claims contradict each other in (ADR 0095)."""

    VALUES_DIFFER = "VALUES_DIFFER"
    DATES_DIFFER = "DATES_DIFFER"
    NEGATED = "NEGATED"
    OPPOSITE_WORDS = "OPPOSITE_WORDS"
    NAMES_DIFFER = "NAMES_DIFFER"
    ENTAILMENT_MODEL = "ENTAILMENT_MODEL"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two claims of one answer that cannot both be true; ``why`` says it in one sentence for people."""

    severity: ContradictionSeverity
    first: Claim
    second: Claim
    values: AlignedValue | None = None
    probability: float | None = None
    reason: ContradictionReason = ContradictionReason.ENTAILMENT_MODEL
    why: str = ""


@dataclass(frozen=True, slots=True)
class CrossContradiction:
    """A claim of this window and a claim of an earlier one that cannot both be true (SPEC-005 §8.2).

    Attributes:
        claim: of this window, with offsets in the answer.
        earlier: of the earlier window, with offsets in its answer or, with ``is_summary``, in its summary.
        window_id: the earlier window.
        values: the two values, when values contradict each other; ``known`` is the earlier one.
        probability: of contradiction by the entailment model, the smaller of both directions, 0.0-1.0; ``None`` when
            it was not asked, as where a rule decides.
        reason: what the two contradict each other in.
        why: the contradiction in one sentence for people (ADR 0197).
    """

    severity: ContradictionSeverity
    claim: Claim
    earlier: Claim
    window_id: str
    is_summary: bool
    values: AlignedValue | None = None
    probability: float | None = None
    reason: ContradictionReason = ContradictionReason.ENTAILMENT_MODEL
    why: str = ""


@unique
class OmissionSeverity(StrEnum):
    """SPEC-005 §12.2."""

    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


@dataclass(frozen=True, slots=True)
class Omission:
    """An important fact that no sentence covers.

    Attributes:
        asked: it belongs to the question (ADR 0097).
        query_similarity: largest calibrated similarity of a part of the query to it; ``None`` = none can be read.
    """

    fact_id: str
    severity: OmissionSeverity
    importance_weight: float
    best_similarity: float | None
    asked: bool = True
    query_similarity: float | None = None


@unique
class TextOrigin(StrEnum):
    """Which text a finding of stage 11 lies in."""

    PROMPT = "PROMPT"
    RESPONSE = "RESPONSE"


@dataclass(frozen=True, slots=True)
class PiiFinding:
    """Personal data in prompt or answer (SPEC-005 §13); ``counted``: it makes ``gdpr_pii_detected`` true (ADR 0038)."""

    data: PersonalData
    origin: TextOrigin
    counted: bool


@unique
class FloorReason(StrEnum):
    """Why the level is not below a floor (ADR 0093)."""

    SEVERAL_CONTRADICTED_BY_RULE = "SEVERAL_CONTRADICTED_BY_RULE"
    CONTRADICTED_BY_RULE = "CONTRADICTED_BY_RULE"
    CONTRADICTED_BY_MODEL = "CONTRADICTED_BY_MODEL"
    FABRICATED = "FABRICATED"
    UNDECIDED = "UNDECIDED"
    UNSUPPORTED = "UNSUPPORTED"
    SUPERSEDED_FACT = "SUPERSEDED_FACT"
    EXPIRED_FACT = "EXPIRED_FACT"
    BESIDE_QUESTION = "BESIDE_QUESTION"
    MISRECKONED = "MISRECKONED"
    ANSWER_REVERSED = "ANSWER_REVERSED"
    NOT_COMPUTED = "NOT_COMPUTED"
    LEFT_OUT = "LEFT_OUT"
    INCOMPLETE_UNDER_POLICY = "INCOMPLETE_UNDER_POLICY"


@dataclass(frozen=True, slots=True)
class RiskFloor:
    """A level that the risk is not below, and why (ADR 0093).

    Attributes:
        claim_ids: what it rests on, in the order of the answer; empty for one of the whole answer.
        fact_ids: the facts concerned, each once.
        stages: what did not run to its end, e.g. ``3b``.
        details: what does not add up or go together, in words of the answer.
    """

    level: RiskLevel
    reason: FloorReason
    claim_ids: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
