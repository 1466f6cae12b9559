"""SUPPORTED, CONTRADICTED, UNSUPPORTED or UNDECIDED: what encoders and values say of a claim (ADR 0041).

The firmest basis decides, in this order: a rule that decides contradicts, whatever a probability says; a sentence that
is quoted whole is supported; then what the grounding model supports, where no rule objects and the text is a sentence,
undecided where the nearest fact contradicts it all the same (ADR 0181) or a doubt is left (ADR 0231); and what it does
not support is contradicted where the nearest fact contradicts it, undecided where the grounding model is right too
seldom to say either (ADR 0151), and unsupported otherwise.
Nothing here changes attribution, which is by similarity alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.ports.entailment import CONTRADICTION, ENTAILMENT
from services.common.ports.grounding import GroundingRequest, GroundingVerdict
from services.common.reading.answer_words import only_answers
from services.common.reading.folding import is_plainly_spelled
from services.common.reading.text_types import Claim, Span
from services.common.reading.words import containment, content_stems
from services.dpe.domain.alignment import ClaimWords, claim_stems
from services.dpe.domain.analysis import Analysis
from services.dpe.domain.doubts import doubt_of
from services.dpe.domain.findings import (
    AlignedValue,
    Basis,
    Distortion,
    DistortionType,
    Doubt,
    DoubtfulSpan,
    Evidence,
    Judgement,
    NearFact,
    Rule,
    Verdict,
)
from services.dpe.domain.models import Pair, Vectors
from services.dpe.domain.notation import Rewriting, in_fact_notation
from services.dpe.domain.passages import WINDOWS_READ, evidence
from services.dpe.domain.policy import MIXED_SIMILARITY
from services.dpe.domain.quotations import Quotation
from services.dpe.domain.verdict_eligibility import judged_claims

MAX_EVIDENCE: Final = 3
"""Facts that a verdict names, the one that decided first."""
_OF_VALUES: Final = frozenset(
    {DistortionType.NUMBER_CHANGED, DistortionType.DATE_SHIFTED, DistortionType.MAGNITUDE_ALTERED}
)
DISPUTED: Final = 0.6
"""Probability of contradiction by the nearest fact from which on, where it is above the support, a claim is undecided
that the grounding model supports; chosen on pairs, corpus and answers to documents (ADR 0181)."""
PLACED_SURELY: Final = 0.77
"""Support from which on a name is not doubted for standing in another place than what its question names: a question
over two facts names the one where the answer does not stand. Chosen on short answers for development and HaluEval's
fold `calibrate` (ADR 0216)."""
STATED_WORDS: Final = 0.4
"""Share of a claim's content words in one fact from which on equal values bear it out; fitted to development pairs."""
RECKONING: Final = content_stems(
    "pay cost total sum come altogether together amount owe charge bill year month week day quarter hour"
)
"""What a sum is called beside its addends, and a product beside its rate."""
DECIDING: Final = frozenset(Rule) - {
    Rule.LIMIT,
    Rule.ALLEGED,
    Rule.PLANNED,
    Rule.ENCODERS,
    Rule.APPLIED,
    Rule.DISPLACED,
}
"""Rules whose findings are right in at least .85 of the cases on the development pairs (docs/rules.md, ADR 0095): what
they find contradicts, whatever a probability says, where the claim repeats its source (ADR 0215). Elsewhere, and the
other rules everywhere, they are one signal: it contradicts together with an encoder, and without one it keeps a claim
from being supported by a probability alone."""


def decides(item: Distortion) -> bool:
    """Say whether what a rule found contradicts its claim by itself: the claim repeats its source (ADR 0215)."""
    return item.rule in DECIDING and item.is_near


@dataclass(frozen=True, slots=True)
class Case:
    """A claim with what it is judged by.

    Attributes:
        request: what the grounding model is asked; ``None`` = nothing: the sentence is quoted, or there is no fact.
        pair: nearest fact and claim for the entailment model; ``None`` when no fact is near.
        is_derived: a value of it follows from values of the facts, which no encoder reckons out.
        is_worked_out: the answer itself says how one follows, which bears nothing out (ADR 0207).
        is_fitting: the facts give every value of it, and none of its words is another fact's.
        is_stated: every value of it is plainly one of the facts, or follows from them, and a fact has its words.
        rewriting: the claim in the notation of its facts, in which the models are asked (ADR 0094).
    """

    claim: Claim
    passages: tuple[NearFact, ...]
    quotation: Quotation | None
    request: GroundingRequest | None
    pair: Pair | None
    rewriting: Rewriting | None = None
    is_derived: bool = False
    is_worked_out: bool = False
    is_fitting: bool = False
    is_stated: bool = False

    @property
    def nearest(self) -> NearFact | None:
        """The fact that is nearest by similarity; of equals the first."""
        return max(self.passages, key=lambda near: near.raw_similarity, default=None)


def cases(analysis: Analysis) -> list[Case]:
    """Return a case for every claim that gets a verdict, in order; context alone gets none."""
    found: list[Case] = []
    for claim in filter(analysis.is_scored, judged_claims(analysis.outputs.text.claims)):
        passages = analysis.outputs.attribution.passages.get(claim.claim_id, ())
        quotation = analysis.outputs.attribution.quotations.get(claim.sentence_index)
        case = Case(claim, passages, quotation, None, None)
        if passages and quotation is None:
            contents = tuple(analysis.input.facts[near.fact_index].content for near in passages)
            nearest = case.nearest
            is_near = nearest is not None and nearest.similarity >= MIXED_SIMILARITY
            aligned = analysis.outputs.attribution.alignments.get(claim.claim_id, ())
            asked = in_fact_notation(claim, aligned, contents)
            is_fitting = _is_fitting(analysis, claim, passages)
            is_own = any(pair.is_own for pair in aligned)
            case = replace(
                case,
                rewriting=asked,
                is_derived=any(pair.equal and pair.derivation for pair in aligned),
                is_worked_out=is_own,
                is_fitting=is_fitting,
                is_stated=is_fitting and not is_own and _is_stated(analysis, claim, passages),
                request=GroundingRequest(asked.text, contents, analysis.input.query or None, WINDOWS_READ),
                pair=(analysis.input.facts[nearest.fact_index].content, asked.text) if nearest and is_near else None,
            )
        found.append(case)
    return found


def _is_fitting(analysis: Analysis, claim: Claim, passages: Sequence[NearFact]) -> bool:
    """Say whether the facts give every value of the claim, and none of its words is another fact's (ADR 0095)."""
    aligned = analysis.outputs.attribution.alignments.get(claim.claim_id, ())
    reckoned = {index for pair in aligned if pair.equal for index in pair.derived_from}
    # Beside what is reckoned from a fact its other values need no place of their own: "59 of the 84 members".
    given = {
        pair.claimed
        for pair in aligned
        if pair.equal and not pair.turned and (pair.is_firm or pair.derivation or pair.fact_index in reckoned)
    }
    if not claim.values or not given.issuperset(claim.values) or not is_plainly_spelled(claim.text):
        return False
    read = _stems_read(analysis, passages)
    homes = _homes(aligned) & read.keys()
    # What another fact says of somebody else is not borne out by a value that fits: "calibrated by the pharmacist".
    own, others = ([known for index, known in read.items() if (index in homes) is own] for own in (True, False))
    said = claim_stems(claim) - (RECKONING if reckoned else frozenset())
    return not any(_is_among(stem, others) for stem in said if not _is_among(stem, own))


def _is_among(stem: str, known: Sequence[frozenset[str]]) -> bool:
    """Say whether one of some facts has a word; of what long facts say no union is made for each claim."""
    return any(stem in one for one in known)


def _is_stated(analysis: Analysis, claim: Claim, passages: Sequence[NearFact]) -> bool:
    """Say whether facts that give every value of a claim give it for what the claim gives it for (ADR 0095)."""
    aligned = analysis.outputs.attribution.alignments.get(claim.claim_id, ())
    stems, read = _stems_said(claim, aligned), _stems_read(analysis, passages)
    own = [read[index] for index in _homes(aligned) & read.keys()]
    # Values that stand in several facts, as the addends of a sum, are borne out by what these say together.
    together = frozenset(stem for stem in stems if _is_among(stem, own))
    return any(containment(stems, known) >= STATED_WORDS for known in (*read.values(), together))


def _stems_said(claim: Claim, aligned: Sequence[AlignedValue]) -> frozenset[str]:
    """Return the stems of a claim without what a sum is called, which no addend's fact says."""
    return content_stems(claim.text) - (RECKONING if any(pair.derivation for pair in aligned) else frozenset())


def _stems_read(analysis: Analysis, passages: Sequence[NearFact]) -> dict[int, frozenset[str]]:
    return {near.fact_index: analysis.outputs.text.fact_views[near.fact_index].stems for near in passages}


def _homes(aligned: Sequence[AlignedValue]) -> set[int]:
    """Return the facts that hold the claim's values, or what these follow from."""
    equal = [pair for pair in aligned if pair.equal]
    return {pair.fact_index for pair in equal if pair.fact_index is not None}.union(*(p.derived_from for p in equal))


def judgements(analysis: Analysis, distortions: Sequence[Distortion]) -> dict[str, Judgement]:
    """Return the verdict on every claim that gets one, by claim id."""
    by_claim: dict[str, list[Distortion]] = defaultdict(list)
    for item in distortions:
        by_claim[item.claim_id].append(item)
    result, places = analysis.outputs.distortion, analysis.outputs.attribution.answer_places
    return {
        key: _judgement(
            analysis,
            heard,
            Found(
                tuple(by_claim.get(key, ())),
                key not in result.unworded,
                key in result.in_cells,
                is_elsewhere=key in places and places[key].is_doubt,
                is_named=key in places and places[key].is_named,
                doubt=None if key in result.in_cells else _doubt(analysis, heard),
            ),
        )
        for heard in heard_cases(analysis)
        for key in [heard.case.claim.claim_id]
    }


def _doubt(analysis: Analysis, heard: "ModelOpinion") -> Doubt | None:
    case, grounding = heard.case, heard.grounding
    if grounding is None or not (grounding.supported or case.is_stated) or case.nearest is None:
        return None
    decided = case.passages[grounding.evidence[0]] if grounding.evidence else case.nearest
    return doubt_of(analysis, case.claim, case.passages, decided.fact_index)


@dataclass(frozen=True, slots=True)
class Found:
    """What the rules say of a claim.

    Attributes:
        distortions: where it departs from its facts.
        is_worded: it can be a sentence.
        is_in_cell: cells of a table say it (ADR 0169).
        is_elsewhere: it answers in a few words, and what was asked stands in another place (ADR 0216), and
        is_named: it does so by a name.
        doubt: why a probability alone would not bear it out (ADR 0231).
    """

    distortions: tuple[Distortion, ...] = ()
    is_worded: bool = True
    is_in_cell: bool = False
    is_elsewhere: bool = False
    is_named: bool = False
    doubt: Doubt | None = None

    @property
    def deciding(self) -> tuple[Distortion, ...]:
        """The distortions that decide."""
        return tuple(item for item in self.distortions if decides(item))


def heard_cases(analysis: Analysis) -> list["ModelOpinion"]:
    """Return every case with what the models said of it, in order."""
    return [ModelOpinion.of(analysis, case) for case in cases(analysis)]


@dataclass(frozen=True, slots=True)
class ModelOpinion:
    """What the models say of a case; ``None`` = not asked, not configured, or down."""

    case: Case
    grounding: GroundingVerdict | None
    row: Vectors | None
    is_without_fact: bool = False
    """Nothing in the envelope could bear the claim out. Where facts were not compared with it, nobody knows."""

    @classmethod
    def of(cls, analysis: Analysis, case: Case) -> "ModelOpinion":
        """Look up what was said."""
        judged, classified = analysis.models.judged, analysis.models.classified
        grounding = judged.get(case.request) if judged is not None and case.request is not None else None
        row = classified.get(case.pair) if classified is not None and case.pair is not None else None
        is_compared = analysis.outputs.attribution.by_claim is not None or not analysis.input.facts
        return cls(case, grounding, row, is_without_fact=is_compared and not case.passages)

    @property
    def contradicts(self) -> bool:
        """The nearest fact contradicts the claim more likely than it is neutral or entails it."""
        return self.row is not None and int(self.row.argmax()) == CONTRADICTION

    @property
    def disputes(self) -> bool:
        """The nearest fact contradicts the claim, and its model is surer of that than the other one of its support.

        No encoder reckons: of a value that follows from others it says nothing. That of the answer's own is open.
        """
        is_reckoned = self.case.is_derived and not self.case.is_worked_out
        if self.row is None or self.grounding is None or is_reckoned:
            return False
        return float(self.row[CONTRADICTION]) >= max(DISPUTED, self.grounding.support)


def _judgement(analysis: Analysis, heard: ModelOpinion, found: Found) -> Judgement:
    verdict, basis = _decided(heard, found)
    is_held = found.is_in_cell or found.deciding
    if only_answers(heard.case.claim.text) is not None and not is_held:
        verdict, basis = Verdict.UNDECIDED, Basis.GROUNDING  # "Yes." claims what was asked: no fact was held against it
    grounding, row, case = heard.grounding, heard.row, heard.case
    first: int | None = None
    asked = analysis.outputs.attribution.answer_places.get(case.claim.claim_id)
    doubt = found.doubt if (verdict, basis) == (Verdict.UNDECIDED, Basis.GROUNDING) else None
    if basis is Basis.QUOTATION and case.quotation is not None:
        first = case.quotation.fact_index
    elif doubt is not None and not found.is_elsewhere and doubt.fact_index is not None:
        first = doubt.fact_index
    elif asked is not None:
        first = asked.fact_index
    elif basis is Basis.CONTRADICTION and case.nearest is not None:
        first = case.nearest.fact_index
    return Judgement(
        verdict,
        basis,
        support=None if grounding is None else grounding.support,
        contradiction=None if row is None else float(row[CONTRADICTION]),
        entailment=None if row is None else float(row[ENTAILMENT]),
        doubtful=() if verdict is Verdict.SUPPORTED else doubtful_spans(case, grounding),
        evidence=_evidence(analysis, heard, first, [item.fact_id for item in found.deciding or found.distortions]),
        doubt=doubt,
    )


def _evidence(
    analysis: Analysis, heard: ModelOpinion, first: int | None, misrepresented: Sequence[str]
) -> tuple[Evidence, ...]:
    """Return the facts of a verdict: the one that decided, then those that the grounding model read, nearest first."""
    case = heard.case
    pool = {near.fact_index: near for near in case.passages}
    attribution = (analysis.outputs.attribution.by_claim or {}).get(case.claim.claim_id)
    for item in attribution.evidence if attribution is not None else ():
        pool.setdefault(item.fact_index, NearFact(item.fact_index, item.raw_similarity, item.similarity))
    facts = analysis.input.facts
    order = [index for index in pool if facts[index].fact_id in misrepresented]
    order += [] if first is None else [first]
    if heard.grounding is not None:
        order += [case.passages[place].fact_index for place in heard.grounding.evidence]
    order += sorted(pool, key=lambda index: (-pool[index].raw_similarity, index))
    chosen = [index for index in dict.fromkeys(order) if index in pool][:MAX_EVIDENCE]
    words = ClaimWords.of(case.claim)
    return tuple(_exhibit(analysis, words, pool[index], case.quotation) for index in chosen)


def _exhibit(analysis: Analysis, words: ClaimWords, near: NearFact, quotation: Quotation | None) -> Evidence:
    found = evidence(analysis, words, near, analysis.outputs.attribution.alignments.get(words.claim.claim_id, ()))
    if quotation is not None and quotation.fact_index == near.fact_index:
        return replace(found, fact_span=quotation.span)
    return found


def doubtful_spans(case: Case, grounding: GroundingVerdict | None) -> tuple[DoubtfulSpan, ...]:
    """Return what the grounding model finds unsupported, with offsets in the answer."""
    if grounding is None:
        return ()
    asked = case.rewriting or Rewriting(case.claim.text)
    found: list[DoubtfulSpan] = []
    for span in grounding.spans:
        own = asked.span(span.start, span.end)
        found.append(DoubtfulSpan(Span(case.claim.start + own.start, case.claim.start + own.end), span.score))
    return tuple(found)


def _decided(heard: ModelOpinion, rules: Found) -> tuple[Verdict, Basis | None]:
    """Return the verdict of the firmest basis (ADR 0041, 0095); nothing that measures overlap outvotes a rule."""
    grounding, deciding = heard.grounding, rules.deciding
    found: tuple[Verdict, Basis | None] = (Verdict.NONE, None)
    if deciding:
        is_of_values = any(item.type in _OF_VALUES for item in deciding)
        found = Verdict.CONTRADICTED, Basis.VALUE_CONFLICT if is_of_values else Basis.DISTORTION
    elif rules.is_elsewhere and not rules.distortions and not heard.contradicts and not _is_sure_name(heard, rules):
        found = Verdict.UNDECIDED, Basis.GROUNDING
    elif heard.case.quotation is not None:
        found = Verdict.SUPPORTED, Basis.QUOTATION
    elif grounding is not None and grounding.supported and rules.is_worded and not rules.distortions:
        found = _by_grounding(heard, rules)
    elif rules.is_in_cell and rules.is_worded and not rules.distortions:
        found = Verdict.SUPPORTED, Basis.VALUES
    elif heard.contradicts and not heard.case.is_derived:
        # A rule that does not decide makes an encoder's word no exact finding.
        found = Verdict.CONTRADICTED, Basis.CONTRADICTION
    elif grounding is not None and heard.case.is_stated and rules.is_worded and not rules.distortions:
        found = (Verdict.SUPPORTED, Basis.VALUES) if rules.doubt is None else (Verdict.UNDECIDED, Basis.GROUNDING)
    elif grounding is not None and _is_open(heard) and not rules.distortions and rules.is_worded:
        found = Verdict.UNDECIDED, Basis.GROUNDING
    elif grounding is not None or rules.distortions or heard.is_without_fact:
        found = Verdict.UNSUPPORTED, Basis.DISTORTION if rules.distortions else Basis.GROUNDING
    return found


def _by_grounding(heard: ModelOpinion, rules: Found) -> tuple[Verdict, Basis]:
    if heard.disputes and not rules.is_in_cell:
        return Verdict.UNDECIDED, Basis.CONTRADICTION
    return Verdict.UNDECIDED if rules.doubt is not None else Verdict.SUPPORTED, Basis.GROUNDING


def _is_sure_name(heard: ModelOpinion, rules: Found) -> bool:
    """Say whether an answer is a name of which the grounding model is sure; of values and of "yes" it never is."""
    grounding = heard.grounding
    return rules.is_named and grounding is not None and grounding.supported and grounding.support >= PLACED_SURELY


def _is_open(heard: ModelOpinion) -> bool:
    """Say whether the grounding model cannot tell: between its bounds, or of a value that has to be reckoned out."""
    reckoned = heard.case.is_derived and heard.case.is_fitting
    return heard.grounding is not None and (heard.grounding.undecided or reckoned)


def named(found: Mapping[str, Judgement]) -> dict[str, Verdict]:
    """Return the verdicts alone."""
    return {key: item.verdict for key, item in found.items()}
