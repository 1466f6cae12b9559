"""The coherence of one sentence of a text that is still being written (Director-AI page, D2 and D5; ADR 0123).

The sentence is read with what stands before it and held against the facts by the provenance stages, and its own claims
are scored by the formula of whole answers. A limit that the sentence leaves out is not held against it: the next one
may give it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.reading.sentences import sentences
from services.common.reading.text_types import Span
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.findings import EXACT, Basis, Distortion, Judgement, Rule, Verdict
from services.dpe.domain.guard.coherence import CoherencePolicy, Exhibit, Origin
from services.dpe.domain.guard.coherence_grounds import Grounds, analysis_input
from services.dpe.domain.guard.divergences import divergences
from services.dpe.domain.outcome import UNSOUND, Reason
from services.dpe.domain.segmentation import claims_nothing
from services.dpe.domain.verdict_eligibility import judged_claims

NO_FACTS: Final = "NO_FACTS"
"""There is nothing to hold the answer against: only what the prompt states is left."""


DOUBTFUL: Final = 0.88
"""Coherence of what is merely not borne out. Behind a sentence of 1.0 it breaks no rule of the page: the line fitted
over five tokens drops by 1.2 times a step of .12, which is less than .15."""
SURE: Final = 0.9
"""Probability from which on the entailment model alone contradicts: with less it is a doubt."""


@dataclass(frozen=True, slots=True)
class SentenceToScore:
    """A sentence as it was finished.

    Attributes:
        start: in characters of the stream.
        context: what stands before it, from the beginning of a sentence on.
    """

    start: int
    text: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """What is found of a sentence.

    Attributes:
        coherence: 0.0-1.0; ``None`` where it asserts nothing, or nothing could be computed.
        exhibits: what the score rests on, the worst first; answer spans in characters of the stream.
        reason: why something is missing, a stable token; empty when nothing is.
        doubtful: nothing contradicts it; it is merely not borne out.
    """

    coherence: float | None
    exhibits: tuple[Exhibit, ...] = ()
    reason: str = ""
    doubtful: bool = False

    def counted(self, *, strict: bool) -> float | None:
        """Return the coherence that the halt rules are asked about: a mere doubt halts a strict stream alone."""
        if strict or not self.doubtful or self.coherence is None:
            return self.coherence
        return max(self.coherence, DOUBTFUL)

    def moved(self, by: int) -> "SentenceScore":
        """Return the score of the same sentence, so many characters further on."""
        return replace(self, exhibits=tuple(_moved(one, by) for one in self.exhibits)) if self.exhibits else self


def sentence_input(prompt: str, asked: SentenceToScore, grounds: Grounds) -> AnalysisInput:
    """Return what the provenance stages are given of a sentence."""
    return replace(analysis_input(prompt, asked.context + asked.text, grounds), scored_from=len(asked.context))


def sentence_score(
    analysis: Analysis, asked: SentenceToScore, grounds: Grounds, policy: CoherencePolicy
) -> SentenceScore:
    """Return the score of a sentence that the stages have read with its context."""
    begin = len(asked.context)
    own = tuple(claim for claim in analysis.outputs.text.claims if claim.end > begin)
    if not judged_claims(own):
        return SentenceScore(None)
    outputs = analysis.outputs
    alone = analysis.with_results(
        replace(outputs.text, claims=own), replace(outputs.fidelity, judgements=_without_limits(analysis))
    )
    found = divergences(alone, grounds, 0.0, "" if grounds.facts else NO_FACTS)
    divergence = policy.divergence(found.logical, found.factual)
    coherence = None if divergence is None else min(1.0, max(0.0, 1.0 - divergence))
    by = asked.start - begin
    exhibits = tuple(_moved(one, by) for one in found.exhibits)
    judged = [
        alone.outputs.fidelity.judgements[one.claim_id]
        for one in own
        if one.claim_id in alone.outputs.fidelity.judgements
    ]
    contradicted = any(map(_is_contradicted, judged)) or any(map(_contradicts, found.exhibits))
    return SentenceScore(coherence, exhibits, found.reason, not contradicted)


def is_silent(asked: SentenceToScore) -> bool:
    """Say whether a sentence has no score, whatever any stage would find: it is a heading or code, and claims nothing.

    Costs one reading of the sentence and its context for where sentences end.
    """
    whole, begin = asked.context + asked.text, len(asked.context)
    return all(claims_nothing(whole, one) for one in sentences(whole) if one.end > begin)


def asserts_nothing(analysis: Analysis) -> bool:
    """Say whether a sentence has no score, whatever stages would follow: stage 1 has ended, and it claims nothing."""
    return not judged_claims(filter(analysis.is_scored, analysis.outputs.text.claims))


def is_lasting(analysis: Analysis) -> bool:
    """Say whether the same sentence would get the same score again: every stage found what it needs, and in time."""
    return all(one.status not in UNSOUND or one.reason in _LASTING for one in analysis.outcomes)


_LASTING: Final = frozenset(
    {
        Reason.LANGUAGE_NOT_SUPPORTED,
        Reason.ENTAILMENT_MODEL_NOT_CONFIGURED,
        Reason.GROUNDING_MODEL_NOT_CONFIGURED,
        Reason.NO_PRIOR_TEXT,
        Reason.EMPTY_ENVELOPE,
    }
)
"""What is missing for one of these reasons is missing of the same sentence again."""


def _is_contradicted(one: Judgement) -> bool:
    """Say whether an exact rule contradicts a claim, or an encoder that is sure and that no support outweighs."""
    if one.verdict is not Verdict.CONTRADICTED:
        return False
    unsupported = one.support is None or one.support < _BORNE_OUT
    return one.basis in EXACT or (unsupported and one.contradiction is not None and one.contradiction >= SURE)


def _contradicts(exhibit: Exhibit) -> bool:
    """Say whether prompt or answer contradict what the facts do not bear out."""
    return exhibit.origin is not Origin.FACT and exhibit.divergence >= SURE


def _without_limits(analysis: Analysis) -> dict[str, Judgement]:
    """Return the judgements as if a limit that a claim leaves out were given behind it."""
    by_claim: dict[str, list[Distortion]] = {}
    for item in analysis.outputs.distortion.found or ():
        by_claim.setdefault(item.claim_id, []).append(item)
    return {key: _relented(one, by_claim.get(key, ())) for key, one in analysis.outputs.fidelity.judgements.items()}


def _relented(one: Judgement, found: Sequence[Distortion]) -> Judgement:
    held_back = one.verdict is Verdict.UNSUPPORTED and one.basis is Basis.DISTORTION
    only_limits = held_back and bool(found) and all(item.rule is Rule.LIMIT for item in found)
    borne_out = only_limits and one.support is not None and one.support >= _BORNE_OUT
    return replace(one, verdict=Verdict.SUPPORTED, basis=Basis.GROUNDING) if borne_out else one


_BORNE_OUT: Final = 0.5
"""Calibrated support from which on a claim is more likely borne out than not."""


def _moved(exhibit: Exhibit, by: int) -> Exhibit:
    span = Span(max(0, exhibit.answer_span.start + by), exhibit.answer_span.end + by)
    return replace(exhibit, answer_span=span)
