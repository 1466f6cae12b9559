"""Floors: levels that the risk is not below, each for something that was found (SPEC-005 §7; ADR 0093).

The composite of §7.2 is a mean, and a mean forgets: one wrong figure in an answer that is otherwise quoted weighs next
to nothing. A floor does not. What an exact rule contradicts makes an answer HIGH, in several claims CRITICAL; whatever
rests on a probability, or on nothing, makes it MEDIUM and never more.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from services.common.reading.text_types import ClaimType
from services.common.reading.words import normal_text
from services.common.taxonomy import GroundingMode, RiskLevel
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.answer_polarity import mismatch
from services.dpe.domain.findings import (
    EXACT,
    AttributionType,
    Basis,
    Evidence,
    FloorReason,
    Judgement,
    RiskFloor,
    Verdict,
)
from services.dpe.domain.misreckoning import misreckoned
from services.dpe.domain.outcome import UNSOUND, Reason, StageOutcome
from services.dpe.domain.policy import GROUNDED_SIMILARITY
from services.dpe.domain.relevance import beside_the_question
from services.dpe.domain.verdict_eligibility import judged_claims

SEVERAL: Final = 2
"""Different claims that exact rules contradict, from which on the answer is CRITICAL."""


def floors_of(analysis: Analysis, worst_level: RiskLevel | None) -> tuple[RiskFloor, ...]:
    """Return every floor, in the order of the reasons.

    Args:
        analysis: after stage 3, later results where they are there.
        worst_level: what the composite would come to if everything that the deadline left out were as bad as can be;
            ``None`` when it left nothing out.
    """
    found = [floor for check in _CHECKS for floor in check(analysis)] if analysis.policy.level_floors else []
    found += _not_computed(analysis)
    left_out = stages_left_out(analysis)
    if left_out and analysis.policy.level_floors and worst_level is not None:
        found.append(RiskFloor(worst_level, FloorReason.LEFT_OUT, stages=left_out))
    asked = analysis.input.incomplete_level
    if left_out and asked is not None:
        found.append(RiskFloor(asked, FloorReason.INCOMPLETE_UNDER_POLICY, stages=left_out))
    return tuple(found)


def refuted(analysis: Analysis) -> list[str]:
    """Return the claims that an exact rule contradicts, in the order of the answer."""
    return _claims(analysis, lambda judgement: judgement.verdict is Verdict.CONTRADICTED and judgement.basis in EXACT)


def stages_left_out(analysis: Analysis) -> tuple[str, ...]:
    """Return the stages that feed the risk and that the deadline cut short, e.g. ``3b``."""
    return tuple(str(outcome.key) for outcome in analysis.outcomes if cut_short(outcome))


def cut_short(outcome: StageOutcome) -> bool:
    """Say whether the deadline took something from a stage that feeds the risk."""
    return outcome.reason is Reason.DEADLINE_TOO_SHORT and outcome.stage.feeds_risk


def _claims(analysis: Analysis, holds: Callable[[Judgement], bool]) -> list[str]:
    """Return the claims whose judgement fits, in the order of the answer."""
    judgements = analysis.outputs.fidelity.judgements
    return [
        claim.claim_id
        for claim in analysis.outputs.text.claims
        if (judgement := judgements.get(claim.claim_id)) is not None and holds(judgement)
    ]


def _floor(analysis: Analysis, level: RiskLevel, reason: FloorReason, claim_ids: Iterable[str]) -> Iterator[RiskFloor]:
    """Yield a floor with the facts that decided about its claims; none without a claim."""
    ids = tuple(claim_ids)
    judgements = analysis.outputs.fidelity.judgements
    facts = [judgements[key].evidence[0].fact_id for key in ids if key in judgements and judgements[key].evidence]
    if ids:
        yield RiskFloor(level, reason, ids, tuple(dict.fromkeys(facts)))


def _by_rule(analysis: Analysis) -> Iterator[RiskFloor]:
    """A claim that a value, name, role, negation, bound or condition contradicts: HIGH; different ones: CRITICAL."""
    ids = refuted(analysis)
    texts = {claim.claim_id: normal_text(claim.text) for claim in analysis.outputs.text.claims}
    if len({texts[key] for key in ids}) >= SEVERAL:
        yield from _floor(analysis, RiskLevel.CRITICAL, FloorReason.SEVERAL_CONTRADICTED_BY_RULE, ids)
    else:
        yield from _floor(analysis, RiskLevel.HIGH, FloorReason.CONTRADICTED_BY_RULE, ids)


def _by_model(analysis: Analysis) -> Iterator[RiskFloor]:
    ids = _claims(analysis, lambda one: one.verdict is Verdict.CONTRADICTED and one.basis is Basis.CONTRADICTION)
    yield from _floor(analysis, RiskLevel.MEDIUM, FloorReason.CONTRADICTED_BY_MODEL, ids)


def _fabricated(analysis: Analysis) -> Iterator[RiskFloor]:
    """An entity without basis, inside a claim or outside of every claim."""
    found = analysis.outputs.fabrication.found or ()
    ids = tuple(dict.fromkeys(item.claim_id for item in found if item.claim_id))
    if found:
        yield RiskFloor(RiskLevel.MEDIUM, FloorReason.FABRICATED, ids)


def _undecided(analysis: Analysis) -> Iterator[RiskFloor]:
    """A claim that gets a verdict, and about which nothing that ran could say anything, or nothing sure.

    Of an answer in which nothing gets one, what it calls its opinion: nobody has checked a word of it.
    """
    verdicts, claims = analysis.outputs.fidelity.verdicts, analysis.outputs.text.claims
    judged = judged_claims(claims)
    ids = [
        claim.claim_id
        for claim in judged or [one for one in claims if one.claim_type is ClaimType.OPINION]
        if verdicts.get(claim.claim_id, Verdict.NONE) in {Verdict.NONE, Verdict.UNDECIDED}
    ]
    yield from _floor(analysis, RiskLevel.MEDIUM, FloorReason.UNDECIDED, ids)


def _unsupported(analysis: Analysis) -> Iterator[RiskFloor]:
    """A claim that no fact bears out; in grounding mode open one of the model's own knowledge is none (ADR 0015)."""
    attributions = analysis.outputs.attribution.by_claim or {}
    is_open = analysis.input.grounding_mode is GroundingMode.OPEN
    ids = [
        key
        for key in _claims(analysis, lambda one: one.verdict is Verdict.UNSUPPORTED)
        if not (is_open and key in attributions and attributions[key].type is AttributionType.PARAMETRIC)
    ]
    yield from _floor(analysis, RiskLevel.MEDIUM, FloorReason.UNSUPPORTED, ids)


def _superseded(analysis: Analysis) -> Iterator[RiskFloor]:
    """A claim that only facts bear out which do not hold now (ADR 0109)."""
    ids = _claims(analysis, lambda one: one.verdict is Verdict.SUPERSEDED)
    yield from _floor(analysis, RiskLevel.MEDIUM, FloorReason.SUPERSEDED_FACT, ids)


def _expired(analysis: Analysis) -> Iterator[RiskFloor]:
    """A claim that only facts past their time to live bear out: they may hold, and nothing newer says so."""
    facts = analysis.input.facts

    def only_expired(one: Judgement) -> bool:
        if one.verdict is not Verdict.SUPPORTED or not one.evidence or not facts[one.evidence[0].fact_index].expired:
            return False
        return all(facts[item.fact_index].expired or not _bears_out(item) for item in one.evidence)

    ids = _claims(analysis, only_expired)
    yield from _floor(analysis, RiskLevel.MEDIUM, FloorReason.EXPIRED_FACT, ids)


def _beside_question(analysis: Analysis) -> Iterator[RiskFloor]:
    """An answer to another question than the one that was asked (ADR 0096)."""
    if beside_the_question(analysis):
        yield RiskFloor(RiskLevel.MEDIUM, FloorReason.BESIDE_QUESTION)


def _misreckoned(analysis: Analysis) -> Iterator[RiskFloor]:
    """Numbers, dates and units of the answer that do not add up, unless a fact has the same words (ADR 0204)."""
    found = misreckoned(analysis)
    if found:
        claims = tuple(
            claim.claim_id
            for claim in analysis.outputs.text.claims
            if any(slip.wrong.start < claim.end and claim.start < slip.wrong.end for slip in found)
        )
        yield RiskFloor(RiskLevel.HIGH, FloorReason.MISRECKONED, claims, details=tuple(slip.why for slip in found))


def _answer_reversed(analysis: Analysis) -> Iterator[RiskFloor]:
    """A "yes" that the answer's own next statement denies (ADR 0210)."""
    found = mismatch(analysis)
    if found is not None:
        claims = tuple(
            claim.claim_id
            for claim in analysis.outputs.text.claims
            if found.start < claim.end and claim.start < found.end
        )
        yield RiskFloor(RiskLevel.MEDIUM, FloorReason.ANSWER_REVERSED, claims, details=(found.why,))


def _bears_out(item: Evidence) -> bool:
    return item.similarity >= GROUNDED_SIMILARITY and all(pair.equal for pair in item.aligned)


def _not_computed(analysis: Analysis) -> Iterator[RiskFloor]:
    """What did not run to its end is never better than MEDIUM (ADR 0018), whatever the setting of the floors."""
    names = tuple(
        str(outcome.key)
        for outcome in analysis.outcomes
        if (outcome.stage.signals and outcome.status in UNSOUND)
        or (outcome.stage.amplifiers and outcome.reason in {Reason.DEADLINE_TOO_SHORT, Reason.PII_NOT_SEARCHED})
    )
    risk = analysis.outputs.risk
    if names or (risk is not None and risk.base_score is None):
        yield RiskFloor(RiskLevel.MEDIUM, FloorReason.NOT_COMPUTED, stages=names)


_CHECKS: Final[tuple[Callable[[Analysis], Iterator[RiskFloor]], ...]] = (
    _by_rule,
    _by_model,
    _fabricated,
    _undecided,
    _unsupported,
    _superseded,
    _expired,
    _beside_question,
    _misreckoned,
    _answer_reversed,
)
"""Every kind of floor that rests on findings; a further kind is one function here and one reason."""
