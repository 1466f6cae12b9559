"""Stages 6 to 9 and the quality score over windows of a session (SPEC-005 §8-§11, §17, §18; ADR 0014, ADR 0037)."""

import json
from pathlib import Path

import numpy as np
import pytest
from crp.dpe.v1 import finding_pb2, quality_pb2

from services.common.ports.recognition import Entity, EntityKind
from services.common.reading.sentences import sentences
from services.common.taxonomy import StageStatus
from services.dpe.convert.report import report_message
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.pairing import COMMON, NEAREST, related
from services.dpe.domain.policy import Policy
from services.dpe.domain.prior_texts import PriorWindow
from services.dpe.domain.register import Person, Register, consistency
from services.dpe.domain.results import FlowSignals
from services.dpe.domain.segmentation import segment
from services.dpe.domain.stages import s09_flow
from services.dpe.domain.stages.s09_flow import flow_score
from services.dpe.domain.stages.s13_report import maximum_tier, quality_score
from services.dpe.domain.statements import read_statement
from services.dpe.gazetteer import load_gazetteer
from tests.each import each
from tests.fakes.dpe_world import DownModel, TableEntailment, analyse, app, changed, statuses

FOLDER = Path(__file__).parents[2] / "vectors" / "dpe"
FEE = "The fee for late reports is 5 euros."
OTHER_FEE = "The fee for late reports is 7 euros."


def vectors(topic):
    document = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(item["input"], item["expected"], id=item["test_id"]) for item in document["vectors"]]


def neutral(_premise, _hypothesis):
    return (0.1, 0.8, 0.1)


def windows(*texts, summary=False):
    return tuple(PriorWindow(f"w{number}", number, text, summary) for number, text in enumerate(texts, start=1))


async def after(answer, *texts, summary=False, **given):
    """Analyse an answer that follows windows with these texts."""
    given = {"window_number": len(texts) + 1, "prior_windows": windows(*texts, summary=summary)} | given
    return await analyse(answer, FEE, **given)


@each(("given", "expected"), vectors("coherence"))
async def test_coherence(given, expected):
    table = {(claim, earlier): probability for claim, earlier, probability in given["model"]}

    def judge(premise, hypothesis):
        found = table.get((premise, hypothesis), table.get((hypothesis, premise), 0.01))
        return (0.0, 1.0 - found, found)

    texts, summaries = zip(*given["priors"], strict=True)
    finished = await after(
        given["answer"], *texts, summary=any(summaries), using=app(entailment=TableEntailment(judge))
    )
    outputs = finished.analysis.outputs
    found = [[str(item.severity), item.claim.claim_id, item.earlier.claim_id] for item in outputs.coherence.found]
    assert found == expected["contradictions"]
    assert outputs.coherence.score == pytest.approx(expected["coherence_score"])
    assert all(item.is_summary is any(summaries) for item in outputs.coherence.found)
    assert statuses(finished)["6"] == ("COMPLETED", "")


@pytest.mark.parametrize(("given", "expected"), vectors("flow"))
def test_flow(given, expected):
    register = Register(10.0, 5.0, 0.0, Person.THIRD)
    signals = FlowSignals(
        given["opening"], given["topics"], given["register"], given["transition"], register, register, "w1"
    )
    assert flow_score(signals) == pytest.approx(expected["flow_score"], abs=1e-12)


@each(("given", "expected"), vectors("register"))
def test_register_consistency(given, expected):
    current, prior = (
        Register(length, letters, passive, Person(person))
        for length, letters, passive, person in (given["current"], given["prior"])
    )
    assert consistency(current, prior) == pytest.approx(expected["register_consistency"], abs=1e-9)


@each(("given", "expected"), vectors("quality"))
def test_quality(given, expected):
    analysis = Analysis(AnalysisInput("s", "w", given["window_number"], "q", "a", ()), Policy(), load_gazetteer())
    analysis = changed(
        analysis,
        repetition__overlap=given["repetition"],
        completeness__score=given["completeness"],
        flow__score=given["flow"],
        coherence__score=given["coherence"],
    )
    score = quality_score(analysis)
    if expected["quality_score"] is None:
        assert score is None
    else:
        assert score == pytest.approx(expected["quality_score"], abs=1e-9)
        assert maximum_tier(score, degraded=given["degraded"]) == expected["tier"]


async def test_a_contradiction_amplifies_once_and_stands_in_the_report():
    finished = await after(f"{OTHER_FEE} The fee for late reports is 9 euros.", FEE)
    outputs = finished.analysis.outputs
    assert [str(item.severity) for item in outputs.coherence.found] == ["CRITICAL", "CRITICAL"]
    assert outputs.risk.amplifiers == ("cross_window_contradiction", "severe_repetition")
    assert outputs.risk.composite_score == pytest.approx(min(1.0, outputs.risk.base_score * 1.15 * 1.05))
    report = report_message(finished)
    assert (report.contradiction_count, report.contradiction_scope) == (3, finding_pb2.CONTRADICTION_SCOPE_BOTH)
    assert (len(report.contradictions), len(report.cross_window_contradictions)) == (1, 2)
    first = report.cross_window_contradictions[0]
    assert (first.claim_id, first.window_id, first.other_claim_id, first.other_window_id) == ("c1", "w1", "", "w1")
    assert (first.claim_text, first.other_text, first.other_is_summary) == (OTHER_FEE, FEE, False)
    assert FEE[first.other_span.start : first.other_span.end] == FEE
    assert (first.values.answer_text, first.values.fact_text) == ("7 euros", "5 euros")
    assert report.coherence_score == 0.0
    assert (report.coverage.cross_window_pairs_total, report.coverage.cross_window_pairs_scored) == (2, 2)


@pytest.mark.parametrize(
    ("answer", "count", "scope"),
    [
        (OTHER_FEE, 1, finding_pb2.CONTRADICTION_SCOPE_CROSS_WINDOW),
        ("The dog barks.", 0, finding_pb2.CONTRADICTION_SCOPE_UNSPECIFIED),
        ("The fine is 3 euros. The fine is 4 euros.", 1, finding_pb2.CONTRADICTION_SCOPE_INTRA),
    ],
)
async def test_the_scope_of_contradictions(answer, count, scope):
    report = report_message(await after(answer, FEE))
    assert (report.contradiction_count, report.contradiction_scope) == (count, scope)


@pytest.mark.parametrize(
    ("answer", "prior", "why"),
    [
        (OTHER_FEE, FEE, f"In window 1 the answer said 5 euros; now it says 7 euros: “{OTHER_FEE[:-1]}”."),
        (
            "The policy does not cover theft.",
            "The policy covers theft.",
            "In window 1 the answer said “The policy covers theft”; now it says “The policy does not cover theft”.",
        ),
    ],
)
async def test_a_contradiction_says_what_was_said_and_in_which_window(answer, prior, why):
    report = report_message(await after(answer, prior))
    assert [item.why for item in report.cross_window_contradictions] == [why]


async def test_a_contradiction_within_one_answer_says_both():
    report = report_message(await analyse("The fine is 3 euros. The fine is 4 euros.", FEE))
    why = "The answer says 3 euros, and then 4 euros: “The fine is 4 euros”."
    assert [(item.why, item.reason) for item in report.contradictions] == [
        (why, finding_pb2.CONTRADICTION_REASON_VALUES_DIFFER)
    ]


async def test_a_long_claim_is_cut_in_the_sentence():
    long = f"The policy does not cover theft {'from the yard ' * 20}."
    earlier = long.replace("does not cover", "covers")
    (item,) = report_message(await after(long, earlier)).cross_window_contradictions
    assert item.reason == finding_pb2.CONTRADICTION_REASON_NEGATED
    assert (item.why.count("…"), len(item.why) < 420) == (2, True)


async def test_what_facts_bear_out_side_by_side_is_no_contradiction():
    north, south = "The fee in the north is 5 euros.", "The fee in the south is 7 euros."
    given = {"window_number": 2, "prior_windows": windows("The fee is 5 euros.")}
    assert (await analyse("The fee is 7 euros.", north, south, **given)).analysis.outputs.coherence.found == ()
    assert len((await analyse("The fee is 7 euros.", north, **given)).analysis.outputs.coherence.found) == 1


async def test_a_summary_stands_for_what_a_window_said_and_not_for_how():
    finished = await after(OTHER_FEE, FEE, summary=True, sub_queries=("fee for late reports is 5 euros",))
    report = report_message(finished)
    assert report.cross_window_contradictions[0].other_is_summary
    assert report.completeness_score == 1.0
    ended = statuses(finished)
    assert (ended["7"], ended["9"]) == (("SKIPPED", "PRIOR_IS_SUMMARY"),) * 2
    assert not report.HasField("flow_score")
    assert not report.HasField("repetition_overlap")
    assert report.quality_degraded


async def test_a_session_in_which_some_window_was_summarised():
    priors = (PriorWindow("w1", 1, FEE, is_summary=True), PriorWindow("w2", 2, "Dogs bark at night in the yard."))
    finished = await analyse("Dogs bark at night in the yard.", FEE, window_number=3, prior_windows=priors)
    ended = statuses(finished)
    assert ended["7"] == ("DEGRADED", "PRIOR_IS_SUMMARY")
    assert ended["9"] == ("COMPLETED", "")
    assert finished.analysis.outputs.repetition.overlap == 1.0


@pytest.mark.parametrize(
    ("priors", "expected"),
    [
        ((), {"6": ("SKIPPED", "NO_PRIOR_TEXT"), "7": ("SKIPPED", "NO_PRIOR_TEXT"), "9": ("SKIPPED", "NO_PRIOR_TEXT")}),
        (
            (PriorWindow("w1", 1, " \n"), PriorWindow("w2", 2, "")),
            {"6": ("SKIPPED", "NO_PRIOR_TEXT"), "9": ("SKIPPED", "NO_PRIOR_TEXT")},
        ),
        (
            (PriorWindow("w1", 1, FEE),),
            {
                "6": ("DEGRADED", "PRIOR_WINDOWS_MISSING"),
                "7": ("DEGRADED", "PRIOR_WINDOWS_MISSING"),
                "8": ("DEGRADED", "PRIOR_WINDOWS_MISSING"),
                "9": ("SKIPPED", "PRIOR_WINDOWS_MISSING"),
            },
        ),
        (
            (PriorWindow("w2", 2, FEE),),
            {"6": ("DEGRADED", "PRIOR_WINDOWS_MISSING"), "9": ("COMPLETED", "")},
        ),
    ],
    ids=["none", "blank", "the-last", "the-first"],
)
async def test_windows_that_are_missing_are_said(priors, expected):
    model = TableEntailment(neutral)
    using = app(entailment=model)
    finished = await analyse(OTHER_FEE, FEE, window_number=3, prior_windows=priors, using=using)
    ended = statuses(finished)
    assert {key: ended[key] for key in expected} == expected
    assert finished.analysis.outputs.quality.degraded


async def test_in_window_1_there_is_nothing_to_be_coherent_with():
    finished = await analyse(FEE, FEE)
    outputs = finished.analysis.outputs
    assert (outputs.coherence.found, outputs.coherence.score, outputs.flow.score) == ((), None, None)
    assert outputs.quality.degraded is False


async def test_rules_speak_where_the_models_are_down():
    finished = await after(OTHER_FEE, FEE, using=app(embedding=DownModel(), entailment=DownModel()))
    outputs, ended = finished.analysis.outputs, statuses(finished)
    assert [str(item.severity) for item in outputs.coherence.found] == ["CRITICAL"]
    # A rule decides the one pair that there is: the model is not missed.
    assert ended["6"] == ("COMPLETED", "")
    assert (ended["7"], ended["9"]) == (("FAILED", "EMBEDDING_MODEL_FAILED"),) * 2
    assert outputs.quality.score is None


async def test_all_pairs_of_all_windows_go_to_the_model_in_one_call():
    model = TableEntailment(neutral)
    await after("Birds sing. Birds sleep.", "Birds bite. Birds fly.", "Birds swim.", using=app(entailment=model))
    asked = [pair for call in model.calls for pair in call]
    said, before = ("Birds sing.", "Birds sleep."), ("Birds bite.", "Birds fly.")
    across = {(claim, earlier) for claim in said for earlier in before}
    assert across | {("Birds sing.", "Birds swim."), ("Birds sleep.", "Birds swim.")} <= set(asked)
    assert len(asked) == len(set(asked))


def many(count, noun="Item"):
    return " ".join(f"{noun}{number} costs {number} euros." for number in range(3, 3 + count))


async def test_above_300_pairs_what_shares_nothing_is_taken_as_neutral():
    finished = await after(f"{many(29)} Item7 costs 8 euros.", many(30))
    coherence = finished.analysis.outputs.coherence
    assert coherence.pairs_total == 30 * 30
    assert coherence.pairs_scored < 300
    found = finished.analysis.outputs.coherence.found
    assert [(item.claim.text, item.earlier.text) for item in found] == [
        ("Item7 costs 8 euros.", "Item7 costs 7 euros.")
    ]


async def test_a_setting_scores_all_pairs_always():
    finished = await after(many(30), many(30), using=app(policy=Policy(score_all_pairs=True)))
    assert finished.analysis.outputs.coherence.pairs_scored == 30 * 30


def statements(*texts):
    return [read_statement(segment(text, sentences(text), None).claims[0]) for text in texts]


def test_pairs_share_a_word_a_value_or_a_name():
    current = statements("The mill burned down.", "It cost 40 euros.", "Nobody came.")
    earlier = statements("A mill was sold.", "Birds sing.", "He paid 40 euros.")
    assert related(current, earlier).tolist() == [[0, 0], [1, 2]]
    assert related(current, []).shape == (0, 2)
    assert related([], earlier).shape == (0, 2)


def test_what_everybody_says_brings_nobody_together():
    # Each earlier claim holds "report" and a word of its own; one more than COMMON of them makes "report" common.
    few = statements(*(f"The ledger holds entry{chr(97 + number)}." for number in range(COMMON)))
    more = statements(*(f"The ledger holds entry{chr(97 + number)}." for number in range(COMMON + 1)))
    asked = statements("A ledger was lost.")
    assert len(related(asked, few)) == min(COMMON, NEAREST)
    assert len(related(asked, more)) == 0


def test_a_subject_that_is_stated_often_is_held_against_its_latest_statements():
    earlier = statements(*(f"The fee is {number} euros." for number in range(100, 200)))
    pairs = related(statements("The fee is 7 euros."), earlier)
    assert len(pairs) == NEAREST
    assert pairs[:, 1].min() >= 100 - COMMON


@pytest.mark.whole
def test_pairs_grow_with_the_statements_and_not_with_their_square():
    rng = np.random.default_rng(7)
    words = [
        f"{'abcdefgh'[a]}{'iklmnopr'[b]}{'aeiou'[c]}x{'stvwz'[d]}"
        for a in range(8)
        for b in range(8)
        for c in range(5)
        for d in range(5)
    ]
    texts = [" ".join(["The", *rng.choice(words, 6), "held."]) for _ in range(1_100)]
    found = related(statements(*texts), statements(*texts))
    assert len(found) <= 1_100 * NEAREST
    assert {(at, at) for at in range(1_100)} <= {tuple(pair) for pair in found.tolist()}


async def test_flow_is_reported_with_its_signals():
    prior = "The Act sorts systems into four levels. Each level has duties of its own."
    finished = await after("Building on these levels, each level has duties of its own. Jane Doe set them.", prior)
    outputs, report = finished.analysis.outputs, report_message(finished)
    signals = outputs.flow.signals
    assert (signals.has_transition, signals.prior_window_id) == (True, "w1")
    assert outputs.flow.score == pytest.approx(
        0.35 * signals.opening_coherence + 0.25 * signals.topic_continuity + 0.20 * signals.register_consistency + 0.20
    )
    assert report.flow_score == outputs.flow.score
    assert report.flow_signals.register.person == quality_pb2.GRAMMATICAL_PERSON_THIRD
    assert report.flow_signals.prior_register.mean_sentence_words == pytest.approx((7 + 7) / 2)
    assert report.HasField("quality_score")


async def test_an_empty_answer_has_no_flow():
    assert statuses(await after("", FEE))["9"] == ("NOT_APPLICABLE", "EMPTY_RESPONSE")


async def test_an_abrupt_opening_is_a_finding():
    finished = await after("Dogs bark at night. Cats sleep by day.", FEE)
    outcome = finished.analysis.outcome(s09_flow.STAGE.key)
    assert outcome == StageOutcome(s09_flow.STAGE, StageStatus.COMPLETED, Reason.NONE, findings=1)
    assert finished.analysis.outputs.flow.signals.opening_coherence < 0.40


async def test_the_window_before_is_the_one_that_counts():
    finished = await after("Dogs bark at night. Cats sleep by day.", "Dogs bark at night. Cats sleep by day.", FEE)
    assert finished.analysis.outputs.flow.signals.prior_window_id == "w2"


async def test_names_of_earlier_windows_are_recognised_in_the_same_batch():
    using = app()
    await after("Jane Doe paid 5 euros.", "John Smith paid 9 euros.", using=using)
    calls = using._models.entity_recognizer.calls
    assert [sorted(text for text in call if "paid" in text) for call in calls if call] == [
        ["Jane Doe paid 5 euros.", "John Smith paid 9 euros."]
    ]


def test_claims_of_earlier_windows_hold_their_names():
    text = "John Smith paid 9 euros."
    entity = Entity(EntityKind.PERSON, "John Smith", 0, 10)
    claims = segment(text, sentences(text), {text: (entity,)}, prefix="p1c").claims
    assert [(claim.claim_id, [item.text for item in claim.entities]) for claim in claims] == [
        ("p1c1", ["John Smith", "9 euros"])
    ]


COVERED = ("late report fee",)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("The late report fee applies.", 1.0),
        ("The provided facts do not mention a late report fee.", 0.0),
        ("What is the late report fee?", 0.0),
        ("## Late report fee", 0.0),
        ("## Late report fee\n\nMembers pay 5 euros.", 1.0),
        ("## Late report fee\n\n## Fines\n\nMembers pay 5 euros.", 0.0),
        ("## Late report fee\n\n### Amount\n\nMembers pay 5 euros.", 1.0),
        ("## Late report fee\n\nI cannot answer this question.", 0.0),
        ("The late report fee:\n\n- Members pay 5 euros.", 1.0),
        ("The late report fee:", 0.0),
    ],
    ids=["said", "refused", "asked", "heading", "text", "next", "deeper", "not-answered", "list", "nothing-behind"],
)
async def test_what_can_cover_a_part_of_the_query(answer, score):
    outputs = (await analyse(answer, FEE, sub_queries=COVERED)).analysis.outputs
    assert outputs.completeness.score == score


async def test_completeness_is_over_all_windows():
    finished = await after("Dogs bark at night.", "The late report fee applies.", sub_queries=COVERED)
    assert finished.analysis.outputs.completeness.score == 1.0
