"""How well the rules of stages 1 and 3b do on the hand-labelled sets (SPEC-005 §3, §5.3), both halves apart.

No encoder takes part: claims are cut and typed by rules, and every claim of a pair counts as grounded in the pair's
fact. Names come from the recogniser of the repository.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from evaluation.labelled_answers import HALVES, LabelledAnswer, LabelledDistortion, LabelledSpan
from services.common.ports.recognition import EntityRecognizer
from services.common.reading.sentences import sentences
from services.common.reading.text_types import ClaimType, Span
from services.dpe.domain.alignment import align_values
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import Attribution, AttributionType, DistortionType, Evidence, NearFact
from services.dpe.domain.models import ModelAnswers
from services.dpe.domain.pipeline import begin
from services.dpe.domain.policy import Policy
from services.dpe.domain.results import AttributionResult
from services.dpe.domain.segmentation import segment
from services.dpe.domain.stages import s01_claims, s03b_distortion
from services.dpe.gazetteer import load_gazetteer

Cut = tuple[int, int, ClaimType]
ANY: Final = "any type"


@dataclass(frozen=True, slots=True)
class Score:
    """Right, missed and wrong, and what follows from them; ``None`` where nothing was expected or found."""

    right: int
    missed: int
    wrong: int

    @property
    def precision(self) -> float | None:
        """Share of what was found that is right."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Share of what was expected that was found."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both."""
        total = 2 * self.right + self.missed + self.wrong
        return 2 * self.right / total if total else None


@dataclass(frozen=True, slots=True)
class ClaimScores:
    """One half of the answers.

    Attributes:
        half: tuning or held back.
        sentences: labelled sentences.
        claims: labelled claims.
        boundaries: claims whose first and last word are right.
        types: by type, over the claims whose boundaries are right.
        whole: by type, boundaries and type together.
        one_claim_a_sentence: the boundaries of the baseline that takes every sentence for one claim.
    """

    half: str
    sentences: int
    claims: int
    boundaries: Score
    types: dict[ClaimType, Score]
    whole: dict[ClaimType, Score]
    one_claim_a_sentence: Score

    @property
    def type_macro_f1(self) -> float:
        """Mean F1 of the four types where boundaries agree."""
        return macro_f1(self.types)

    @property
    def whole_macro_f1(self) -> float:
        """Mean F1 of the four types, boundaries included."""
        return macro_f1(self.whole)


@dataclass(frozen=True, slots=True)
class DistortionScores:
    """One half of the pairs: by type over all pairs of the half, and whether any type was rightly reported."""

    half: str
    pairs: int
    by_type: dict[DistortionType, Score]
    any_type: Score


def macro_f1(scores: dict[ClaimType, Score]) -> float:
    """Return the mean F1; a type that was neither expected nor found counts 1."""
    return sum(1.0 if score.f1 is None else score.f1 for score in scores.values()) / len(scores)


def score_of(expected: Iterable[object], found: Iterable[object]) -> Score:
    """Return how two multisets agree."""
    left, right = Counter(expected), Counter(found)
    agreed = (left & right).total()
    return Score(agreed, left.total() - agreed, right.total() - agreed)


def cut_by_rules(text: str) -> list[Cut]:
    """Return the claims that stage 1 finds, each from its first to its last word."""
    found = segment(text, sentences(text), None)
    return [(*_words_only(text, claim.start, claim.end), claim.claim_type) for claim in found.claims]


def cut_by_people(answer: LabelledAnswer) -> list[Cut]:
    """Return the labelled claims, each from its first to its last word."""
    return [(*_words_only(answer.text, claim.start, claim.end), claim.type) for claim in answer.claims]


def measure_claims(answers: Sequence[LabelledAnswer]) -> list[ClaimScores]:
    """Return the scores of both halves."""
    return [_claims_of(half, [answer for answer in answers if answer.half == half]) for half in HALVES]


async def found_distortions(
    recognizer: EntityRecognizer, pairs: Sequence[LabelledDistortion]
) -> list[frozenset[DistortionType]]:
    """Return for each pair the types that stage 3b reports."""
    return [await _found(recognizer, pair) for pair in pairs]


def measure_distortions(
    pairs: Sequence[LabelledDistortion], found: Sequence[frozenset[DistortionType]]
) -> list[DistortionScores]:
    """Return the scores of both halves; a type that a pair is not labelled with counts as wrong wherever it stands."""
    return [
        _distortions_of(half, [(pair, types) for pair, types in zip(pairs, found, strict=True) if pair.half == half])
        for half in HALVES
    ]


def _claims_of(half: str, answers: Sequence[LabelledAnswer]) -> ClaimScores:
    labelled: list[tuple[int, Cut]] = []
    cut: list[tuple[int, Cut]] = []
    whole_sentences: list[tuple[int, Span]] = []
    opening: list[LabelledSpan] = []
    for answer in answers:
        labelled += [(answer.number, one) for one in cut_by_people(answer)]
        cut += [(answer.number, one) for one in cut_by_rules(answer.text)]
        whole_sentences += [
            (answer.number, Span(*_words_only(answer.text, one.start, one.end))) for one in sentences(answer.text)
        ]
        opening += [claim for claim in answer.claims if claim.opens]
    places = [(number, Span(start, end)) for number, (start, end, _) in labelled]
    found = [(number, Span(start, end)) for number, (start, end, _) in cut]
    agreed = set(places) & set(found)

    def of(kind: ClaimType, *, agreed_only: bool) -> Score:
        sides = [
            [
                (number, one)
                for number, one in side
                if one[2] is kind and (not agreed_only or (number, Span(one[0], one[1])) in agreed)
            ]
            for side in (labelled, cut)
        ]
        return score_of(*sides)

    return ClaimScores(
        half,
        len(opening),
        len(labelled),
        score_of(places, found),
        {kind: of(kind, agreed_only=True) for kind in ClaimType},
        {kind: of(kind, agreed_only=False) for kind in ClaimType},
        score_of(places, whole_sentences),
    )


def _distortions_of(
    half: str, rows: Sequence[tuple[LabelledDistortion, frozenset[DistortionType]]]
) -> DistortionScores:
    by_type = {
        kind: score_of(
            [pair.number for pair, _ in rows if kind in pair.labels],
            [pair.number for pair, types in rows if kind in types],
        )
        for kind in DistortionType
    }
    reported = score_of(
        [pair.number for pair, _ in rows if pair.labels], [pair.number for pair, types in rows if types]
    )
    return DistortionScores(half, len(rows), by_type, reported)


def _words_only(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end


async def _found(recognizer: EntityRecognizer, pair: LabelledDistortion) -> frozenset[DistortionType]:
    given = AnalysisInput("", "", 1, "", pair.answer, (EnvelopeFact("f1", pair.fact),))
    analysis = begin(given, Policy(), load_gazetteer(), ModelAnswers())
    texts = s01_claims.ask_names(analysis).recognise
    entities = dict(zip(texts, await recognizer.recognize(texts), strict=True))
    analysis = s01_claims.apply(replace(analysis, models=replace(analysis.models, recognised=entities)))
    ended = s03b_distortion.apply(_grounded(analysis))
    return frozenset(item.type for item in ended.outputs.distortion.found or ())


def _grounded(analysis: Analysis) -> Analysis:
    """Return the analysis with every factual claim grounded in the one fact, and instructions near to it."""
    view = analysis.outputs.text.fact_views[0]
    attributions = {}
    aligned = {claim.claim_id: tuple(align_values(claim, view.places)) for claim in analysis.outputs.text.claims}
    for claim in analysis.factual_claims:
        whole = Span(0, len(view.fact.content))
        evidence = Evidence(0, view.fact.fact_id, whole, 1.0, 1.0, aligned[claim.claim_id])
        attributions[claim.claim_id] = Attribution(claim, AttributionType.CONTEXT_GROUNDED, (evidence,))
    passages = {claim.claim_id: (NearFact(0, 1.0, 1.0),) for claim in analysis.outputs.text.claims}
    return analysis.with_results(AttributionResult(by_claim=attributions, passages=passages, alignments=aligned))
