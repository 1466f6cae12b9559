"""Stages 2 to 5, 7, 8, 10, 13 and how they end (SPEC-005 §4-§7, §9, §10, §12, §18; ADR 0012, 0014-0018)."""

import numpy as np
import pytest

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.errors import DeadlineError, ErrorReason, LimitExceededError
from services.common.taxonomy import GroundingMode, RepetitionLevel, RiskLevel
from services.dpe.app import Limits
from services.dpe.domain.facts import EnvelopeFact
from services.dpe.domain.findings import AttributionType, Verdict
from services.dpe.domain.policy import Policy, Weights
from services.dpe.domain.prior_texts import PriorWindow
from tests.fakes.dpe_world import DownModel, TableEntailment, TableGrounding, analyse, app, statuses

FEE = "The fee for late reports is 5 euros."
FINE = "The fine for fraud is 700 euros."
NOT_CONFIGURED = ("DEGRADED", "ENTAILMENT_MODEL_NOT_CONFIGURED")


async def test_every_stage_reports_how_it_ended():
    finished = await analyse(f"{FEE} {FINE}", FEE, FINE)
    assert statuses(finished) == {
        "1": ("COMPLETED", ""),
        "2": ("COMPLETED", ""),
        "3a": ("COMPLETED", ""),
        "3b": NOT_CONFIGURED,
        "3c": NOT_CONFIGURED,
        "3": NOT_CONFIGURED,
        "4": ("SKIPPED", "ENTAILMENT_MODEL_NOT_CONFIGURED"),
        "5": ("DEGRADED", "UPSTREAM_NOT_COMPLETED"),
        "6": ("NOT_APPLICABLE", "FIRST_WINDOW"),
        "7": ("NOT_APPLICABLE", "FIRST_WINDOW"),
        "8": ("COMPLETED", ""),
        "9": ("NOT_APPLICABLE", "FIRST_WINDOW"),
        "10": ("NOT_APPLICABLE", "NO_IMPORTANT_FACTS"),
        "11": ("SKIPPED", "PII_DETECTOR_NOT_CONFIGURED"),
        "12": ("NOT_APPLICABLE", "AI_SYSTEM_NOT_REGISTERED"),
        "13": ("COMPLETED", ""),
    }


async def test_the_second_window_and_a_system_of_which_nothing_is_registered():
    prior = (PriorWindow("w0", 1, FINE),)
    ended = statuses(await analyse(FEE, FEE, window_number=2, prior_windows=prior, ai_system_id="sys"))
    assert (ended["6"], ended["9"]) == (NOT_CONFIGURED, ("COMPLETED", ""))
    assert ended["12"] == ("NOT_APPLICABLE", "AI_SYSTEM_NOT_REGISTERED")  # named, but nothing is known of it
    assert ended["7"] == ("COMPLETED", "")


async def test_a_verbatim_answer_is_grounded_supported_and_degraded_to_medium():
    outputs = (await analyse(FEE, FEE, FINE)).analysis.outputs
    attribution = outputs.attribution.by_claim["c1"]
    assert (attribution.type, attribution.evidence[0].fact_id) == (AttributionType.CONTEXT_GROUNDED, "f1")
    assert (outputs.attribution.grounding_pct, outputs.attribution.dominant) == (1.0, AttributionType.CONTEXT_GROUNDED)
    assert outputs.fidelity.verdicts == {"c1": Verdict.SUPPORTED}
    aligned = attribution.evidence[0].aligned
    assert [(pair.claimed.text, pair.known.text, pair.equal) for pair in aligned] == [("5 euros", "5 euros", True)]
    assert (outputs.risk.base_score, outputs.risk.level, outputs.risk.degraded) == (0.0, RiskLevel.MEDIUM, True)


async def test_a_claim_is_matched_with_the_nearest_part_of_a_fact():
    fact = f"Members ask about many things every day of the year. {FEE} Other matters are left to the branches."
    outputs = (await analyse(FEE, fact)).analysis.outputs
    evidence = outputs.attribution.by_claim["c1"].evidence[0]
    assert outputs.attribution.grounding_pct == 1.0
    assert fact[evidence.fact_span.start : evidence.fact_span.end] == FEE


async def test_attribution_without_facts():
    outputs = (await analyse("Jane Doe paid 5 euros. Birds sing.")).analysis.outputs
    kinds = [item.type for item in outputs.attribution.by_claim.values()]
    assert kinds == [AttributionType.UNVERIFIABLE, AttributionType.PARAMETRIC]
    assert (outputs.attribution.grounding_pct, outputs.attribution.dominant) == (0.0, AttributionType.UNVERIFIABLE)
    assert outputs.risk.signals == (1.0, pytest.approx(0.3), None, 0.5)


@pytest.mark.parametrize(
    ("mode", "grounding_pct", "violations"),
    [
        (GroundingMode.CONTEXT_PREFERRED, 0.5, ()),
        (GroundingMode.OPEN, 1.0, ()),
        (GroundingMode.CONTEXT_STRICT, 0.5, ("c2",)),
    ],
)
async def test_grounding_modes(mode, grounding_pct, violations):
    outputs = (await analyse(f"{FEE} Birds sing.", FEE, grounding_mode=mode)).analysis.outputs
    assert (outputs.attribution.grounding_pct, outputs.attribution.grounding_violations) == (grounding_pct, violations)


async def test_no_factual_claim_means_no_percentage():
    finished = await analyse("I think it is great.", FEE)
    outputs = finished.analysis.outputs
    assert (outputs.attribution.grounding_pct, outputs.attribution.dominant, outputs.attribution.by_claim) == (
        None,
        None,
        {},
    )
    assert statuses(finished)["2"] == ("NOT_APPLICABLE", "NO_FACTUAL_CLAIMS")
    assert outputs.risk.signals == (None, 0.0, None, 0.0)


async def test_given_vectors_are_used_only_when_the_same_model_made_them():
    own = MemoryEmbeddingModel()
    vector = (await own.embed([FINE]))[0]
    fact = EnvelopeFact("f1", FEE, 0.5, None, vector)
    for model, grounding_pct in ((own.fingerprint, 1.0), ("other@1", 0.0)):
        finished = await analyse(FINE, using=app(embedding=MemoryEmbeddingModel()), embedding_model=model)
        given = finished.analysis.input
        again = type(given)(**{name: getattr(given, name) for name in given.__slots__} | {"facts": (fact,)})
        outputs = (await app().analyze(again)).analysis.outputs
        assert outputs.attribution.grounding_pct == grounding_pct


async def test_fidelity_is_the_formula():
    answer = "The fee for late reports is 6 euros. Jane Doe said so."
    outputs = (await analyse(answer, FEE)).analysis.outputs
    assert [item.entity.text for item in outputs.fabrication.found] == ["6 euros", "Jane Doe"]
    assert [str(item.type) for item in outputs.distortion.found] == ["NUMBER_CHANGED"]
    assert outputs.fidelity.score == pytest.approx(1 - (2 * 0.30 + 1 * 0.20) / 2)
    assert outputs.fidelity.verdicts == {"c1": Verdict.CONTRADICTED, "c2": Verdict.NONE}


async def test_pairs_beyond_the_limit_are_blocked_and_counted():
    answer = " ".join(f"Item{number} costs {number} euros." for number in range(3, 63))
    outputs = (await analyse(answer)).analysis.outputs
    assert outputs.contradiction.pairs_total == 60 * 59 // 2
    assert outputs.contradiction.pairs_scored < 300
    assert outputs.contradiction.found == ()


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (
            "entity_recognizer",
            {"1": ("DEGRADED", "ENTITY_RECOGNIZER_FAILED"), "3a": ("DEGRADED", "ENTITY_RECOGNIZER_FAILED")},
        ),
        (
            "embedding",
            {
                "2": ("FAILED", "EMBEDDING_MODEL_FAILED"),
                "3b": ("SKIPPED", "ATTRIBUTION_NOT_AVAILABLE"),
                "8": ("FAILED", "EMBEDDING_MODEL_FAILED"),
            },
        ),
        (
            "entailment",
            {"3b": ("DEGRADED", "ENTAILMENT_MODEL_FAILED"), "4": ("FAILED", "ENTAILMENT_MODEL_FAILED")},
        ),
        ("grounding", {"3": ("DEGRADED", "GROUNDING_MODEL_FAILED")}),
    ],
)
async def test_a_model_that_is_down_is_said_and_never_better_than_medium(part, expected):
    working = {"entailment": TableEntailment(lambda *_: (0.9, 0.05, 0.05)), "grounding": TableGrounding(lambda _: 0.9)}
    finished = await analyse("For late reports the fee is 5 euros.", FEE, using=app(**working | {part: DownModel()}))
    ended = statuses(finished)
    assert {key: ended[key] for key in expected} == expected
    assert finished.analysis.outputs.risk.level is not RiskLevel.LOW
    assert finished.analysis.outputs.risk.degraded


async def test_of_facts_that_were_not_compared_it_is_not_said_that_there_are_none():
    finished = await analyse("For late reports the fee is 5 euros.", FEE, using=app(embedding=DownModel()))
    assert finished.analysis.outputs.fidelity.verdicts == {"c1": Verdict.NONE}
    assert finished.analysis.outputs.risk.level is not RiskLevel.LOW
    finished = await analyse("For late reports the fee is 5 euros.", using=app(embedding=DownModel()))
    assert finished.analysis.outputs.fidelity.verdicts == {"c1": Verdict.UNSUPPORTED}


async def test_a_full_queue_ends_the_call():
    down = DownModel(LimitExceededError(ErrorReason.QUEUE_FULL, "Too many texts wait.", retry_after_s=1.0))
    with pytest.raises(LimitExceededError, match="Too many"):
        await analyse(FEE, FEE, using=app(embedding=down))


@pytest.mark.parametrize(
    ("limits", "answer", "unit"),
    [
        (Limits(max_response_chars=10), "x" * 11, "characters"),
        (Limits(max_claims=2), "A is b. C is d. E is f.", "claims"),
    ],
)
async def test_too_large_an_answer_is_refused_as_a_whole(limits, answer, unit):
    with pytest.raises(LimitExceededError) as refused:
        await analyse(answer, using=app(limits))
    assert (refused.value.reason, refused.value.metadata["unit"]) == (ErrorReason.MESSAGE_TOO_LARGE, unit)


async def test_a_passed_deadline_ends_the_call():
    import asyncio
    import contextvars

    from services.common.context import CallContext, set_current_call
    from tests.fakes.dpe_world import READER

    async def late():
        set_current_call(CallContext(READER, "r1", "/x", deadline=asyncio.get_running_loop().time() + 0.01))
        await analyse(FEE, FEE)

    with pytest.raises(DeadlineError):
        await asyncio.create_task(late(), context=contextvars.copy_context())


@pytest.mark.parametrize(
    ("answer", "level", "overlap"),
    [
        (FEE, RepetitionLevel.SEVERE, 1.0),
        ("Birds sing in spring and in summer.", RepetitionLevel.NONE, 0.0),
        (f"{FEE} Birds sing in spring. Dogs bark. Cats sleep by day.", RepetitionLevel.SIGNIFICANT, 5 / 15),
    ],
    ids=["severe", "none", "quarter"],
)
async def test_repetition(answer, level, overlap):
    prior = (PriorWindow("w0", 1, f"{FEE} {FINE}"),)
    outputs = (await analyse(answer, FEE, window_number=2, prior_windows=prior)).analysis.outputs
    if level is RepetitionLevel.SIGNIFICANT:
        assert outputs.repetition.level in {RepetitionLevel.SIGNIFICANT, RepetitionLevel.SEVERE}
    else:
        assert (outputs.repetition.level, outputs.repetition.overlap) == (level, overlap)


async def test_severe_repetition_and_loop_depth_amplify():
    prior = (PriorWindow("w0", 1, "Jane Doe paid 9 euros."),)
    finished = await analyse(
        "Jane Doe paid 9 euros.", FEE, window_number=2, prior_windows=prior, loop_depth=4, using=app(policy=Policy())
    )
    risk = finished.analysis.outputs.risk
    assert risk.amplifiers == ("loop_depth", "severe_repetition")
    assert risk.composite_score == pytest.approx(min(1.0, risk.base_score * 1.15 * 1.05))


async def test_summaries_are_no_repetition():
    prior = (PriorWindow("w0", 1, FEE, is_summary=True),)
    ended = statuses(await analyse(FEE, FEE, window_number=2, prior_windows=prior))
    assert ended["7"] == ("SKIPPED", "PRIOR_IS_SUMMARY")


async def test_completeness_by_sub_query():
    parts = ("fee for late reports", "colour of the moon")
    outputs = (await analyse("The fee for late reports is due.", FEE, sub_queries=parts)).analysis.outputs
    assert (outputs.completeness.score, outputs.completeness.uncovered_sub_queries) == (0.5, ("colour of the moon",))
    assert outputs.quality.score == pytest.approx((1.0 * 0.25 + 0.5 * 0.35) / 0.60)


@pytest.mark.parametrize(
    ("importance", "severity"),
    [(0.95, "CRITICAL"), (0.90, "CRITICAL"), (0.89, "HIGH"), (0.80, "HIGH"), (0.70, "MEDIUM"), (0.69, None)],
)
async def test_omissions(importance, severity):
    outputs = (await analyse(FEE, FEE, "Quite another matter altogether.", importance=importance)).analysis.outputs
    found = [(item.fact_id, str(item.severity)) for item in outputs.omission.found]
    assert found == ([] if severity is None else [("f2", severity)])


async def test_the_policy_is_hashed():
    one = await analyse(FEE, FEE)
    other = await analyse(FEE, FEE, using=app(policy=Policy(Weights(0.4, 0.2, 0.2, 0.2))))
    assert one.policy_hash != other.policy_hash
    assert len(one.policy_hash) == 64


async def test_the_vectors_of_a_long_answer_come_in_bounded_calls():
    provenance = app(Limits(embed_batch_size=4))
    await analyse(" ".join(f"Item{number} costs {number} euros." for number in range(3, 13)), FEE, using=provenance)
    calls = provenance._models.embedding.calls
    assert max(len(call) for call in calls) <= 4
    assert np.unique([text for call in calls for text in call]).size == sum(len(call) for call in calls)
