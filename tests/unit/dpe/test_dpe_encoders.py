"""What the encoders are asked and what follows from it (SPEC-005 §5.3, §5.4, §6; ADR 0037, 0041)."""

from itertools import combinations

import numpy as np
import pytest

from services.common.taxonomy import RiskLevel
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.findings import Basis, Verdict
from services.dpe.domain.stages import s03c_contradiction
from services.dpe.domain.statements import conflict, read_statement
from tests.fakes.dpe_world import DownModel, TableEntailment, TableGrounding, analyse, app, facts, statuses

FEE = "The fee for late reports is 5 euros."
FINE = "The fine for fraud is 700 euros."
SAID_OTHERWISE = "For late reports the fee is 5 euros."
NEUTRAL = (0.2, 0.7, 0.1)
CONTRADICTED = (0.05, 0.15, 0.8)
ENTAILED = (0.9, 0.08, 0.02)


async def outputs_of(answer, *contents, entails=NEUTRAL, support=0.9, spans=(), **given):
    judge = entails if callable(entails) else lambda *_: entails
    weigh = support if callable(support) else lambda _: support
    using = app(entailment=TableEntailment(judge), grounding=TableGrounding(weigh, lambda _: spans))
    return (await analyse(answer, *contents, using=using, **given)).analysis.outputs


async def test_a_verdict_names_its_facts_scores_spans_and_values():
    answer = f"Birds sing. {SAID_OTHERWISE}"
    outputs = await outputs_of(answer, FINE, FEE, entails=CONTRADICTED, support=0.3, spans=((21, 35, 0.8),))
    found = outputs.fidelity.judgements["c2"]
    assert (found.support, found.contradiction, found.entailment) == pytest.approx((0.3, 0.8, 0.05))
    (doubt,) = found.doubtful
    assert (answer[doubt.span.start : doubt.span.end], doubt.score) == ("fee is 5 euros", 0.8)
    assert [item.fact_id for item in found.evidence] == ["f2", "f1"]
    (pair,) = found.evidence[0].aligned
    assert (pair.claimed.text, pair.known.text, pair.equal) == ("5 euros", "5 euros", True)
    assert answer[pair.claimed.start : pair.claimed.end] == "5 euros"
    assert FEE[pair.known.start : pair.known.end] == "5 euros"


async def test_a_quotation_is_evidence_where_it_stands_and_asks_nothing():
    grounding, entailment = TableGrounding(lambda _: 0.0), TableEntailment(lambda *_: CONTRADICTED)
    finished = await analyse(
        f"  {FEE.upper()} [1]", f"{FINE} {FEE}", using=app(grounding=grounding, entailment=entailment)
    )
    (evidence,) = finished.analysis.outputs.fidelity.judgements["c1"].evidence
    assert (evidence.fact_span.start, evidence.fact_span.end) == (len(FINE) + 1, len(FINE) + 1 + len(FEE))
    assert (grounding.calls, entailment.calls) == ([], [])


@pytest.mark.parametrize(
    "answer",
    ["Reports are late.", "Not so: the fee for late reports is 5 euros.", "The fee for late reports"],
    ids=["other words", "more than the sentence", "a part of the sentence"],
)
async def test_only_whole_sentences_are_quotations(answer):
    outputs = await outputs_of(answer, FEE)
    assert all(item.basis is not Basis.QUOTATION for item in outputs.fidelity.judgements.values())


async def test_procedural_claims_are_judged_and_entailed_only_where_they_state_facts():
    grounding = TableGrounding(lambda _: 0.9)
    answer = "Pay the fee of 5 euros within 14 days. Please read the form. I think it is great."
    using = app(grounding=grounding, entailment=TableEntailment(lambda *_: NEUTRAL))
    outputs = (await analyse(answer, FEE, using=using)).analysis.outputs
    assert [str(claim.claim_type) for claim in outputs.text.claims] == ["PROCEDURAL", "PROCEDURAL", "OPINION"]
    assert list(outputs.fidelity.verdicts) == ["c1", "c2"]
    assert [request.claim for call in grounding.calls for request in call] == [
        one.text for one in outputs.text.claims[:2]
    ]
    assert (outputs.entailment.response_chunks, outputs.entailment.chunks_without_claims) == (1, 2)


async def test_without_facts_nothing_is_supported_and_nothing_is_asked():
    grounding = TableGrounding(lambda _: 0.9)
    outputs = (await analyse(FEE, using=app(grounding=grounding))).analysis.outputs
    assert outputs.fidelity.verdicts == {"c1": Verdict.UNSUPPORTED}
    assert grounding.calls == []


@pytest.mark.parametrize(
    ("grounding", "reason"),
    [(None, "GROUNDING_MODEL_NOT_CONFIGURED"), (DownModel(), "GROUNDING_MODEL_FAILED")],
    ids=["not configured", "down"],
)
async def test_without_the_grounding_model_there_is_no_verdict_but_by_rule(grounding, reason):
    using = app(entailment=TableEntailment(lambda *_: ENTAILED), grounding=grounding)
    finished = await analyse(f"{FINE} {SAID_OTHERWISE}", FEE, FINE, using=using)
    assert finished.analysis.outputs.fidelity.verdicts == {"c1": Verdict.SUPPORTED, "c2": Verdict.NONE}
    assert finished.analysis.outputs.fidelity.judgements["c2"].support is None
    assert statuses(finished)["3"] == ("DEGRADED", reason)


async def test_a_claim_far_from_every_fact_is_not_held_against_one():
    entailment = TableEntailment(lambda *_: CONTRADICTED)
    using = app(entailment=entailment, grounding=TableGrounding(lambda _: 0.1))
    outputs = (await analyse("Birds sing in spring.", FEE, using=using)).analysis.outputs
    assert outputs.fidelity.verdicts == {"c1": Verdict.UNSUPPORTED}
    assert outputs.fidelity.judgements["c1"].contradiction is None


async def test_passages_are_the_nearest_and_those_that_share_names_and_numbers():
    filler = [f"The fee for late reports of kind {name} depends on it." for name in "abcdefghij"]
    grounding = TableGrounding(lambda _: 0.9)
    fact = "Whoever forgets it twice owes Jane Doe 4711 euros."
    answer = "The fee for late reports to Jane Doe is 4711 euros."
    await analyse(answer, *filler, fact, using=app(grounding=grounding))
    ((request,),) = grounding.calls
    assert fact in request.passages
    assert list(request.passages) == [text for text in (*filler, fact) if text in request.passages]
    assert request.query == "What holds?"


# Distortions that two encoders agree on.


@pytest.mark.parametrize(
    ("answer", "fact", "spans", "kinds"),
    [
        ("A report in time is something Globex wants.", "Acme Mutual wants a report in time.", ((30, 36, 0.9),),
         ["ENTITY_SUBSTITUTED"]),
        ("A report in time is something Globex wants.", "Acme Mutual wants a report in time.", (), []),
        ("No late report is accepted there.", "There late report is fine and accepted.", (), ["NEGATION_FLIP"]),
    ],
    ids=["a name nobody supports", "no span over the name", "one of the two is negated"],
)  # fmt: skip
async def test_distortions_that_two_encoders_agree_on(answer, fact, spans, kinds):
    near = np.vectorize(lambda cosine: 0.9 if cosine > 0.05 else 0.0, otypes=[np.float32])
    for entails, support, expected in ((CONTRADICTED, 0.2, kinds), (NEUTRAL, 0.2, None), (CONTRADICTED, 0.9, None)):
        using = app(entailment=TableEntailment(lambda *_, row=entails: row),
                    grounding=TableGrounding(lambda _, value=support: value, lambda _: spans))  # fmt: skip
        using._models.embedding._calibration = type("Near", (), {"apply": staticmethod(near)})()
        found = (await analyse(answer, fact, using=using)).analysis.outputs.distortion.found
        by_rule = (await _by_rule_alone(answer, fact, near)).distortion.found
        if expected is None:
            assert [str(item.type) for item in found] == [str(item.type) for item in by_rule]
        else:
            assert [str(item.type) for item in found] == ([str(item.type) for item in by_rule] or expected)


async def _by_rule_alone(answer, fact, near):
    using = app()
    using._models.embedding._calibration = type("Near", (), {"apply": staticmethod(near)})()
    return (await analyse(answer, fact, using=using)).analysis.outputs


# Contradictions within the answer.

BIRDS = "Birds sing in spring. Birds sleep nevertheless."


@pytest.mark.parametrize(
    ("forth", "back", "found"),
    [(0.9, 0.8, [0.8]), (0.9, 0.74, []), (0.76, 0.9, [0.76]), (0.1, 0.9, [])],
    ids=["both directions", "back below the bound", "forth above the bound", "only back"],
)
async def test_a_contradiction_is_one_in_both_directions(forth, back, found):
    def judge(premise, hypothesis):
        if "never" not in premise + hypothesis or premise == FEE:
            return NEUTRAL
        value = forth if "never" in hypothesis else back
        return (0.0, 1.0 - value, value)

    model = TableEntailment(judge)
    outputs = (await analyse(BIRDS, FEE, using=app(entailment=model))).analysis.outputs
    assert [item.probability for item in outputs.contradiction.found] == pytest.approx(found)
    asked = [pair for call in model.calls for pair in call]
    assert len(asked) == len(set(asked))
    # The way back is asked only where the way forth is a contradiction.
    assert (("Birds sleep nevertheless.", "Birds sing in spring.") in asked) is (forth > 0.5)


async def test_what_is_said_of_different_names_is_no_contradiction():
    model = TableEntailment(lambda *_: (0.0, 0.1, 0.9))
    for answer, found in (
        ("Jane Doe is paid weekly. John Smith is paid monthly.", 0),
        ("Jane Doe is paid weekly. Jane Doe is paid monthly.", 1),
        ("The choir sings weekly. Everybody sings monthly.", 1),
    ):
        outputs = (await analyse(answer, using=app(entailment=model))).analysis.outputs
        assert len(outputs.contradiction.found) == found


async def test_up_to_300_pairs_every_pair_is_asked():
    nouns = (
        "mill park pool school church bank shop market theatre museum station library bridge tower lake hall court port"
        " garden forest hospital stadium factory college harbour"
    )
    claims = [f"The town has a {noun}." for noun in nouns.split()]
    model = TableEntailment(lambda *_: NEUTRAL)
    outputs = (await analyse(" ".join(claims), using=app(entailment=model))).analysis.outputs
    texts = [claim.text for claim in outputs.text.claims]
    asked = {frozenset(pair) for call in model.calls for pair in call}
    assert (outputs.contradiction.pairs_total, outputs.contradiction.pairs_scored) == (300, 300)
    assert asked == {frozenset(pair) for pair in combinations(texts, 2)}


# Stage 4.


def holds(premise, hypothesis):
    """Entailed when a premise holds the last word of the hypothesis, contradicted when it says never."""
    if hypothesis.rstrip(".").split()[-1] in premise:
        return ENTAILED
    return CONTRADICTED if "never" in premise + hypothesis else NEUTRAL


async def test_entailment_takes_the_best_premise_and_the_worst_chunk():
    model = TableEntailment(holds, max_tokens=34)
    answer = f"# Fees\n\n{SAID_OTHERWISE}\n\n{FINE}\n\nBirds sing in spring.\n\nI think it is great."
    finished = await analyse(answer, FEE, FINE, using=app(entailment=model, grounding=TableGrounding(lambda _: 0.9)))
    found = finished.analysis.outputs.entailment
    assert (found.score, found.neutral, found.contradiction) == pytest.approx(NEUTRAL)
    # Three sentences claim something, one of them is quoted; the heading and the opinion are not counted.
    assert (found.response_chunks, found.quoted_chunks, found.chunks_without_claims) == (3, 1, 2)
    # Of two chunks with two windows each, one was entailed by its first window.
    assert (found.premise_windows_total, found.premise_windows_scored) == (4, 3)
    assert statuses(finished)["4"] == ("COMPLETED", "")
    assert finished.analysis.outputs.risk.signals[2] == pytest.approx(0.8)


async def test_facts_of_a_window_stand_in_the_order_of_the_envelope():
    model = TableEntailment(lambda *_: ENTAILED)
    await analyse(SAID_OTHERWISE, FINE, FEE, using=app(entailment=model))
    premises = {premise for call in model.calls for premise, hypothesis in call}
    assert f"{FINE} {FEE}" in premises


async def test_a_long_sentence_is_read_claim_by_claim():
    model = TableEntailment(lambda *_: ENTAILED, max_tokens=40)
    answer = "The fee for every late report is 5 euros today, and the fine for every proven fraud is 700 euros."
    outputs = (await analyse(answer, FEE, FINE, using=app(entailment=model))).analysis.outputs
    assert outputs.entailment.response_chunks == 2


async def test_an_answer_that_quotes_is_entailed_and_low():
    using = app(entailment=TableEntailment(lambda *_: NEUTRAL), grounding=TableGrounding(lambda _: 0.5))
    finished = await analyse(f"{FEE} {FINE}", FEE, FINE, query="", using=using)
    assert finished.analysis.outputs.entailment.score == 1.0
    risk = finished.analysis.outputs.risk
    assert (risk.level, risk.degraded, risk.composite_score) == (RiskLevel.LOW, False, 0.0)


async def test_an_answer_of_opinions_has_nothing_to_entail():
    using = app(entailment=TableEntailment(lambda *_: ENTAILED))
    assert statuses(await analyse("I think it is great.", FEE, using=using))["4"] == (
        "NOT_APPLICABLE",
        "NO_FACTUAL_CLAIMS",
    )


def test_no_pair_that_the_rules_call_a_contradiction_is_blocked():
    """The recall of the blocking rule against all pairs, over many-claim answers with planted contradictions."""
    topics = [f"branch {name}" for name in ("Aa", "Bo", "Ce", "Di", "Eb", "Fo", "Gu", "Ha", "Io", "Ju", "Ke", "Lo")]
    answer = " ".join(
        f"The {thing} of {topic} is {number * 3 + turn} euros."
        for turn in (0, 1)
        for number, topic in enumerate(topics)
        for thing in ("rent", "budget", "profit")
    )
    analysis, statements = _statements(answer)
    everything = {(left.claim.claim_id, right.claim.claim_id) for left, right in combinations(statements, 2)}
    kept = s03c_contradiction._candidates(analysis, statements)
    planted = {
        (left.claim.claim_id, right.claim.claim_id)
        for left, right in combinations(statements, 2)
        if conflict(left, right)
    }
    found = {(left.claim.claim_id, right.claim.claim_id) for left, right in kept}
    assert (len(statements), len(planted)) == (72, 36)
    assert planted <= found  # recall 36 / 36
    assert len(found) < len(everything) / 2


def _statements(answer):
    from services.dpe.domain.models import ModelAnswers
    from services.dpe.domain.pipeline import begin
    from services.dpe.domain.policy import Policy
    from services.dpe.domain.stages.s01_claims import apply
    from services.dpe.gazetteer import load_gazetteer

    given = AnalysisInput("s", "w", 1, "What holds?", answer, facts())
    analysis = begin(given, Policy(), load_gazetteer(), ModelAnswers())
    return analysis, [read_statement(claim) for claim in apply(analysis).factual_claims]


async def test_pairs_that_a_rule_decides_are_compared_and_not_asked():
    entailment = TableEntailment(lambda *_: NEUTRAL)
    answer = "The fee is 5 euros. The fee is 6 euros. The fee is nominal. The fee is seasonal."
    outputs = (await analyse(answer, using=app(entailment=entailment))).analysis.outputs
    asked = {pair for call in entailment.calls for pair in call}
    assert ("The fee is 5 euros.", "The fee is 6 euros.") not in asked
    assert ("The fee is 5 euros.", "The fee is seasonal.") not in asked
    assert ("The fee is nominal.", "The fee is seasonal.") in asked
    assert (outputs.contradiction.pairs_total, outputs.contradiction.pairs_scored) == (6, 6)
    assert [[one.first.claim_id, one.second.claim_id] for one in outputs.contradiction.found] == [["c1", "c2"]]
