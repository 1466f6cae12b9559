"""How a vote moves a verdict (ADR 0119): it is weaker than anything exact, and outweighs one probability.

A vote turns an open claim SUPPORTED, or one that a probability supports UNSUPPORTED. It moves no quotation and nothing
that a deciding rule or a constraint contradicts; it does not make a text SUPPORTED that is no sentence or is not
spelled plainly; where two signals speak against a claim, a rule that does not decide and the entailment model, it
outweighs neither. Floors rest on what is found besides: names without a basis, what the question is about, stages that
did not run keep their level whatever is voted.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.second_opinion import GivenVote, Vote
from services.common.reading.folding import is_plainly_spelled
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.findings import Basis, Judgement, Verdict
from services.dpe.domain.opinion_record import ClaimOpinion, OpinionRecord
from services.dpe.domain.opinions import decided_by_rule, is_decided
from services.dpe.domain.verdicts import named
from services.dpe.domain.why import explained

MOST_OUTWEIGHED: Final = 1
"""Signals against a claim that one vote for it outweighs."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A vote with where it comes from."""

    given: GivenVote
    model: str
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """What of a claim decides whether a vote moves its verdict.

    Attributes:
        by_rule: a deciding rule finds it wrong.
        objections: findings of rules that do not decide, and the entailment model's contradiction.
        readable: it can be a sentence, and is spelled plainly.
    """

    judgement: Judgement
    by_rule: bool = False
    objections: int = 0
    readable: bool = True


def verdict_after(standing: Standing, vote: Vote) -> Verdict:
    """Return the verdict after a vote: the table of ADR 0119."""
    first = standing.judgement.verdict
    if is_decided(standing.judgement, by_rule=standing.by_rule):
        return first
    if vote is not Vote.SUPPORTED:
        return Verdict.UNSUPPORTED if first in {Verdict.SUPPORTED, Verdict.NONE, Verdict.UNDECIDED} else first
    outweighed = standing.readable and standing.objections <= MOST_OUTWEIGHED
    return Verdict.SUPPORTED if outweighed else first


def voted(analysis: Analysis, record: OpinionRecord, ballots: Mapping[str, Ballot]) -> Analysis:
    """Return the analysis after stage 3 with the votes taken, and the record with what each of them did.

    Args:
        analysis: stage 3 has ended; its judgements are the first opinion.
        record: without its votes.
        ballots: by claim id; one on a claim that has no judgement is passed over.
    """
    first = analysis.outputs.fidelity.judgements
    standings = _standings(analysis, ballots)
    votes: list[ClaimOpinion] = []
    changed: dict[str, Judgement] = {}
    for claim_id, standing in standings.items():
        ballot, judgement = ballots[claim_id], standing.judgement
        verdict = verdict_after(standing, ballot.given.vote)
        moved = verdict is not judgement.verdict
        if moved:
            doubtful = () if verdict is Verdict.SUPPORTED else judgement.doubtful
            changed[claim_id] = replace(
                judgement, verdict=verdict, basis=Basis.SECOND_OPINION, doubtful=doubtful, told_by=ballot.model
            )
        votes.append(
            ClaimOpinion(
                claim_id,
                ballot.given.vote,
                judgement.verdict,
                judgement.basis,
                moved,
                ballot.cached,
                ballot.model,
                ballot.given.spans,
            )
        )
    judgements = {**first, **explained(analysis, changed)}
    fidelity = replace(analysis.outputs.fidelity, judgements=judgements, verdicts=named(judgements))
    outputs = replace(analysis.outputs, fidelity=fidelity, second_opinion=replace(record, votes=tuple(votes)))
    return replace(analysis, outputs=outputs)


def _standings(analysis: Analysis, ballots: Mapping[str, Ballot]) -> dict[str, Standing]:
    """Return the claims that there are ballots for, in the order of the answer."""
    outputs, decided = analysis.outputs, decided_by_rule(analysis)
    findings = Counter(item.claim_id for item in outputs.distortion.found or ())
    found: dict[str, Standing] = {}
    for claim in outputs.text.claims:
        judgement = outputs.fidelity.judgements.get(claim.claim_id)
        if judgement is None or claim.claim_id not in ballots:
            continue
        found[claim.claim_id] = Standing(
            judgement,
            claim.claim_id in decided,
            findings[claim.claim_id] + (judgement.basis is Basis.CONTRADICTION),
            claim.claim_id not in outputs.distortion.unworded and is_plainly_spelled(claim.text),
        )
    return found
