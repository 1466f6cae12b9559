"""ScoreCoherence over gRPC: formula, facts, knowledge, cache, judge, bad input (Director-AI page; ADR 0122)."""

import json
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.adapters.openai.second_opinion import open_second_opinion
from services.common.errors import ErrorReason, LimitExceededError
from services.common.settings import SecondOpinionSettings
from services.common.settings.dpe import DpeSettings
from services.common.settings.guard.coherence import CoherenceSettings, JudgeUse
from services.dpe.compose import opinion_terms
from tests.fakes import envelope_world
from tests.fakes.dpe_world import DownModel, TableEntailment, TableGrounding, models, refusal
from tests.fakes.guard_world import FEE, HAIL, GuardWorld
from tests.fakes.opinion_endpoint import Raw, all_of, completion, data_of, serving

WRONG = "The fee for late reports is 7 euros."
OPEN = "Tell the company about damage in a week at most."
NEAR = "The fee for late reports is paid in cash."
"""Near enough to a fact for the entailment model to be asked."""
ELSEWHERE = "The garden of the villa was laid out by a painter."
COMPLETED, DEGRADED = taxonomy.STAGE_STATUS_COMPLETED, taxonomy.STAGE_STATUS_DEGRADED
INVALID = grpc.StatusCode.INVALID_ARGUMENT


def neutral(premise, hypothesis):
    return (0.1, 0.8, 0.1) if premise != hypothesis else (0.9, 0.1, 0.0)


def judged(nli=neutral, **changes):
    """Models that support what stands in a passage, word for word."""
    support = TableGrounding(lambda request: 0.95 if any(request.claim in one for one in request.passages) else 0.1)
    return models(**({"entailment": TableEntailment(nli), "grounding": support} | changes))


@pytest.fixture
async def as_subject():
    async with GuardWorld(models=judged()).serving() as client:
        yield client


@pytest.fixture
def client(as_subject):
    return as_subject("alice")


class TestFormula:
    async def test_a_copied_fact_is_coherent(self, client):
        scored = await client.score(FEE, facts=[FEE, HAIL])
        assert (scored.coherence, scored.logical_divergence, scored.factual_divergence) == (1.0, 0.0, 0.0)
        assert scored.approved
        assert (scored.threshold, scored.warning, scored.status, scored.reason) == (0.6, False, COMPLETED, "")

    async def test_a_changed_figure_diverges_in_both(self, client):
        scored = await client.score(WRONG, facts=[FEE, HAIL])
        assert (scored.coherence, scored.logical_divergence, scored.factual_divergence) == (0.0, 1.0, 1.0)
        assert not scored.approved

    async def test_one_false_sentence_among_true_ones_decides(self, client):
        scored = await client.score(f"{HAIL} {WRONG} {HAIL}", facts=[FEE, HAIL])
        assert scored.coherence == 0.0

    async def test_what_no_fact_speaks_of_is_not_approved(self, client):
        scored = await client.score(ELSEWHERE, facts=[FEE, HAIL])
        assert scored.logical_divergence == 0.5
        assert scored.factual_divergence == pytest.approx(0.9)
        assert scored.coherence == pytest.approx(1 - (0.6 * 0.5 + 0.4 * 0.9))
        assert not scored.approved

    @pytest.mark.parametrize("answer", [FEE, WRONG, ELSEWHERE, f"{FEE} {ELSEWHERE}"])
    async def test_the_parts_give_the_whole(self, client, answer):
        scored = await client.score(answer, facts=[FEE, HAIL])
        whole = 1 - (0.6 * scored.logical_divergence + 0.4 * scored.factual_divergence)
        assert scored.coherence == pytest.approx(whole)
        assert scored.approved is (scored.coherence >= scored.threshold)

    async def test_the_threshold_of_the_request_is_applied(self, client):
        for threshold, approved in ((0.0, True), (0.3, True), (0.35, False), (1.0, False)):
            scored = await client.score(ELSEWHERE, facts=[FEE], threshold=threshold)
            assert (scored.threshold, scored.approved) == (pytest.approx(threshold), approved)

    async def test_evidence_has_offsets_in_fact_and_answer(self, client):
        fact, answer = f"About hail. {FEE} More.", f"Listen: {HAIL} {WRONG}"
        scored = await client.score(answer, facts=[("hail", HAIL), ("fees", fact)])
        first = scored.evidence[0]
        assert (first.id, first.origin) == ("fees", guard_pb2.EVIDENCE_ORIGIN_FACT)
        assert fact[first.span.start : first.span.end].startswith("The fee for late reports")
        assert answer[first.answer_span.start : first.answer_span.end] == WRONG
        assert first.similarity > 0.6

    async def test_facts_without_ids_are_cited_by_their_order(self, client):
        answer = f"Listen: {HAIL} {WRONG}"
        scored = await client.score(answer, facts=[("", HAIL), ("", FEE)])
        assert {one.id for one in scored.evidence} == {"f1", "f2"}
        assert scored.evidence[0].id == "f2"
        named = await client.score(answer, facts=[("f1", HAIL), ("f2", FEE)])
        assert (list(named.evidence), named.coherence) == (list(scored.evidence), scored.coherence)

    async def test_evidence_of_a_long_fact_stands_in_it_as_it_was_given(self, client):
        long = " ".join(f"The office in district number {n} opens at 8 in the morning." for n in range(60)) + f" {FEE}"
        scored = await client.score(FEE, facts=[("rules", long)])
        assert scored.coherence == 1.0
        (only,) = scored.evidence
        assert (only.id, long[only.span.start : only.span.end]) == ("rules", FEE)

    async def test_models_and_policy_are_named(self, client):
        scored = await client.score(facts=[FEE])
        assert [one.role for one in scored.models] == ["embedding", "entity_recognizer", "entailment", "grounding"]
        assert len(scored.policy_hash) == 64
        async with GuardWorld(models=judged(), coherence=CoherenceSettings(soft_limit=0.7)).serving() as other:
            assert (await other().score(facts=[FEE])).policy_hash != scored.policy_hash


class TestLogic:
    async def test_an_answer_that_contradicts_its_prompt(self):
        def opposed(premise, hypothesis):
            return (
                (0.05, 0.05, 0.9) if {"Monday" in premise, "Monday" in hypothesis} == {True, False} else (0.8, 0.1, 0.1)
            )

        async with GuardWorld(models=judged(opposed)).serving() as client:
            prompt = "The team meets on Monday in Bern. Write a note."
            scored = await client().score("The team meets on Friday in Bern.", prompt)
            assert scored.logical_divergence == pytest.approx(0.9)
            assert not scored.approved
            prompted = [one for one in scored.evidence if one.origin == guard_pb2.EVIDENCE_ORIGIN_PROMPT]
            span = prompted[0].span
            assert prompt[span.start : span.end] == "The team meets on Monday in Bern."
            kept = await client().score("The team meets on Monday in Bern.", prompt)
            assert (kept.logical_divergence, kept.approved) == (pytest.approx(0.1), True)

    async def test_setting_a_wrong_premise_right_is_no_divergence(self, client):
        scored = await client.score(FEE, "The fee for late reports is 9 euros. When is it due?", [FEE])
        assert (scored.logical_divergence, scored.approved) == (0.0, True)

    async def test_an_answer_that_contradicts_itself(self, client):
        scored = await client.score(f"{FEE} {WRONG}", "The office is in Bern. What is the fee?")
        assert scored.logical_divergence == 1.0
        assert any(one.origin == guard_pb2.EVIDENCE_ORIGIN_ANSWER for one in scored.evidence)

    async def test_an_opinion_alone_is_held_against_the_facts(self, client):
        scored = await client.score("I believe that hail is never covered.", facts=[HAIL])
        assert scored.factual_divergence == pytest.approx(0.9)
        assert not scored.approved

    async def test_a_refusal_diverges_from_nothing(self, client):
        scored = await client.score("The documents do not say anything about that.", facts=[FEE])
        assert (scored.coherence, scored.approved) == (1.0, True)


class TestMissing:
    async def test_a_question_without_facts_is_not_scored(self, client):
        scored = await client.score()
        assert not scored.HasField("coherence")
        assert not scored.HasField("logical_divergence")
        assert not scored.HasField("factual_divergence")
        assert (scored.approved, scored.status, scored.reason) == (False, DEGRADED, "NO_FACTS_FOUND")

    async def test_one_path_alone_has_the_whole_weight(self, client):
        scored = await client.score("The office is in Bern.", "The office is in Bern. Where is the office?")
        assert not scored.HasField("factual_divergence")
        assert scored.coherence == pytest.approx(1 - scored.logical_divergence)
        assert (scored.status, scored.reason) == (DEGRADED, "NO_FACTS_FOUND")

    async def test_without_a_knowledge_service(self):
        async with GuardWorld(models=judged(), knows=False).serving() as client:
            assert (await client().score()).reason == "KNOWLEDGE_NOT_CONFIGURED"
            assert (await client().score(facts=[FEE])).status == COMPLETED

    async def test_a_knowledge_service_that_is_away(self):
        down: Any = DownModel()
        world = GuardWorld(models=judged(), knowledge=envelope_world.World(embedding=down))
        async with world.serving() as client:
            scored = await client().score()
            assert (scored.reason, scored.approved) == ("KNOWLEDGE_UNAVAILABLE", False)

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"entailment": None}, "ENTAILMENT_MODEL_NOT_CONFIGURED"),
            ({"entailment": DownModel()}, "ENTAILMENT_MODEL_FAILED"),
        ],
    )
    async def test_without_entailment(self, changes, reason):
        async with GuardWorld(models=judged(**changes)).serving() as client:
            scored = await client().score(NEAR, facts=[FEE])
            assert not scored.HasField("logical_divergence")
            assert not scored.HasField("entailment_confidence")
            assert scored.coherence == pytest.approx(1 - scored.factual_divergence)
            assert (scored.status, scored.reason) == (DEGRADED, reason)
            assert (await client().score(WRONG, facts=[FEE])).logical_divergence == 1.0  # a rule needs no model

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"grounding": None}, "GROUNDING_MODEL_NOT_CONFIGURED"),
            ({"grounding": DownModel()}, "GROUNDING_MODEL_FAILED"),
        ],
    )
    async def test_without_grounding(self, changes, reason):
        async with GuardWorld(models=judged(**changes)).serving() as client:
            scored = await client().score(ELSEWHERE, facts=[FEE])
            assert (scored.status, scored.reason) == (DEGRADED, reason)
            assert not scored.HasField("factual_divergence")
            assert (await client().score(WRONG, facts=[FEE])).factual_divergence == 1.0

    async def test_without_embedding_nothing_is_scored(self):
        async with GuardWorld(models=judged(embedding=DownModel())).serving() as client:
            scored = await client().score(facts=[FEE])
            assert not scored.HasField("factual_divergence")
            assert (scored.status, scored.reason) == (DEGRADED, "EMBEDDING_MODEL_FAILED")

    async def test_another_language_is_not_judged(self, client):
        german = "Die Gebühr für verspätete Meldungen beträgt sieben Euro und wird sofort fällig."
        scored = await client.score(german, facts=[FEE])
        assert not scored.HasField("coherence")
        assert (scored.status, scored.reason) == (DEGRADED, "LANGUAGE_NOT_SUPPORTED")

    async def test_a_full_queue_ends_the_call(self):
        full = DownModel(LimitExceededError(ErrorReason.QUEUE_FULL, "full"))
        async with GuardWorld(models=judged(entailment=full)).serving() as client:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await client().score(NEAR, facts=[FEE])
            assert refusal(raised.value)[:2] == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")

    async def test_a_deadline_that_leaves_no_time_is_told(self, client):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await client.score(facts=[FEE], within=0.02)
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class TestKnowledge:
    async def test_facts_come_from_the_tenants_knowledge(self, client):
        await client.knowledge.ingest(f"# Fees\n\n{FEE}\n")
        copied, changed = await client.score(FEE), await client.score(WRONG)
        assert (copied.coherence, copied.status) == (1.0, COMPLETED)
        assert not changed.approved
        (fact,) = await client.knowledge.facts()
        assert copied.evidence[0].id == fact.fact_id
        span = copied.evidence[0].span
        assert fact.content[span.start : span.end] == FEE

    async def test_tenants_are_apart(self, as_subject):
        await as_subject("alice").knowledge.ingest(f"# Fees\n\n{FEE}\n")
        assert (await as_subject("alice").score(FEE)).approved
        other = await as_subject("mallory").score(FEE)
        assert (other.approved, other.reason, other.cache_hit, len(other.evidence)) == (
            False,
            "NO_FACTS_FOUND",
            False,
            0,
        )

    async def test_facts_of_the_request_are_never_stored(self, client):
        await client.score(FEE, facts=[FEE])
        assert await client.knowledge.facts() == []
        assert (await client.score(FEE)).reason == "NO_FACTS_FOUND"

    async def test_what_is_erased_bears_nothing_out(self, client):
        done = await client.knowledge.ingest(f"# Fees\n\n{FEE}\n")
        assert (await client.score(FEE)).approved
        await client.knowledge.call("EraseSource", source_id=done.source.source_id)
        after = await client.score(FEE)
        assert (after.approved, after.cache_hit, len(after.evidence)) == (False, False, 0)


class TestCache:
    async def test_the_same_is_not_computed_again(self, client):
        first, second = [await client.score(ELSEWHERE, facts=[FEE]) for _ in range(2)]
        assert (first.cache_hit, second.cache_hit) == (False, True)
        second.cache_hit = False
        assert second == first

    async def test_a_remembered_score_is_held_against_another_threshold(self, client):
        await client.score(ELSEWHERE, facts=[FEE])
        again = await client.score(ELSEWHERE, facts=[FEE], threshold=0.1)
        assert (again.cache_hit, again.approved) == (True, True)

    @pytest.mark.parametrize(
        "changed",
        [
            {"response": WRONG},
            {"prompt": "What does it cost?"},
            {"facts": [HAIL]},
            {"facts": [("other", FEE)]},
            {"bypass_cache": True},
        ],
        ids=str,
    )
    async def test_anything_else_is_computed(self, client, changed):
        await client.score(FEE, facts=[FEE])
        assert not (await client.score(**({"facts": [FEE]} | changed))).cache_hit

    async def test_a_bypassing_call_writes_nothing(self, client):
        await client.score(FEE, facts=[FEE], bypass_cache=True)
        assert not (await client.score(FEE, facts=[FEE])).cache_hit

    async def test_tenants_share_no_score(self, as_subject):
        await as_subject("alice").score(FEE, facts=[FEE])
        assert not (await as_subject("mallory").score(FEE, facts=[FEE])).cache_hit

    async def test_a_score_is_forgotten_when_the_knowledge_changes(self, client):
        await client.knowledge.ingest(f"# Fees\n\n{FEE}\n", uri="fees.md")
        assert [(await client.score(WRONG)).cache_hit for _ in range(2)] == [False, True]
        await client.knowledge.ingest(f"# Fees\n\n{WRONG}\n", uri="fees.md")
        after = await client.score(WRONG)
        assert (after.cache_hit, after.approved) == (False, True)

    async def test_a_quarantined_fact_is_forgotten_at_once(self, client):
        await client.knowledge.ingest(f"# Fees\n\n{FEE}\n")
        (fact,) = await client.knowledge.facts()
        assert [(await client.score(FEE)).cache_hit for _ in range(2)] == [False, True]
        await client.knowledge.call("QuarantineFact", fact_id=fact.fact_id)
        after = await client.score(FEE)
        assert (after.cache_hit, after.approved) == (False, False)

    async def test_what_failed_is_not_remembered(self):
        async with GuardWorld(models=judged(entailment=DownModel())).serving() as client:
            assert [(await client().score(NEAR, facts=[FEE])).cache_hit for _ in range(2)] == [False, False]

    async def test_hits_are_counted(self):
        world = GuardWorld(models=judged())
        async with world.serving() as client:
            for bypass in (False, False, True):
                await client().score(FEE, facts=[FEE], bypass_cache=bypass)
            read = world.registry.get_sample_value
            found = {
                result: read("groundtrail_guard_score_cache_total", {"result": result})
                for result in ("hit", "miss", "bypassed")
            }
            assert found == {"hit": 1, "miss": 1, "bypassed": 1}
            assert read("groundtrail_guard_coherence_reviews_total", {"outcome": "approved"}) == 3
            assert read("groundtrail_guard_score_cache_entries") == 1


@asynccontextmanager
async def judging(script, coherence=None, **settings):
    """Serve a guard beside a scripted endpoint."""
    with serving(script) as endpoint:
        own = SecondOpinionSettings(model="small-judge", base_url=endpoint.url, **settings)
        adapter = await open_second_opinion(own)
        try:
            world = GuardWorld(
                models=judged(second_opinion=opinion_terms(own, adapter)), coherence=coherence or CoherenceSettings()
            )
            async with world.serving() as client:
                yield client(), endpoint
        finally:
            await adapter.close()


class TestJudge:
    @pytest.mark.parametrize(
        ("verdict", "opinion", "divergence"),
        [
            ("supported", pb.JUDGE_OPINION_AGREES, 0.2),
            ("unsupported", pb.JUDGE_OPINION_DISAGREES, 0.8),
            ("contradicted", pb.JUDGE_OPINION_DISAGREES, 0.8),
        ],
    )
    async def test_its_word_is_blended(self, verdict, opinion, divergence):
        async with judging(all_of(verdict)) as (client, _):
            scored = await client.score(OPEN, facts=[FEE], use_llm_judge=True)
        own = 0.6 * scored.logical_divergence + 0.4 * scored.factual_divergence
        assert scored.judge == opinion
        assert scored.blended_divergence == pytest.approx(0.7 * own + 0.3 * divergence)
        assert scored.coherence == pytest.approx(1 - scored.blended_divergence)
        assert scored.models[-1].role == "second_opinion"

    async def test_it_is_asked_where_the_entailment_model_is_not_sure(self):
        async with judging(all_of("supported")) as (client, endpoint):
            unsure = await client.score(ELSEWHERE, facts=[FEE])
            sure = await client.score(FEE, facts=[FEE])
            by_rule = await client.score(WRONG, facts=[FEE])
        assert [one.judge for one in (unsure, sure, by_rule)] == [pb.JUDGE_OPINION_AGREES, 0, 0]
        assert len(endpoint.sent) == 1

    async def test_it_is_asked_of_nothing_by_itself_where_the_operator_says_so(self):
        async with judging(all_of("supported"), CoherenceSettings(judge=JudgeUse.ASKED)) as (client, endpoint):
            assert (await client.score(ELSEWHERE, facts=[FEE])).judge == pb.JUDGE_OPINION_UNSPECIFIED
            assert endpoint.sent == []
            scored = await client.score(FEE, facts=[FEE], use_llm_judge=True)
            assert scored.judge == pb.JUDGE_OPINION_AGREES

    async def test_it_sees_the_answer_and_the_facts_as_data(self):
        async with judging(all_of("supported")) as (client, endpoint):
            await client.score(OPEN, "What to do?", [FEE], use_llm_judge=True)
        data = data_of(endpoint.sent[0])
        assert data["question"] == "What to do?"
        assert list(data["facts"].values()) == [FEE]
        assert [one["claim"] for one in data["claims"]] == [OPEN]

    @pytest.mark.parametrize(
        "script",
        [
            lambda _: "YES, of course it follows.",
            lambda _: json.dumps({"votes": [{"id": "answer", "verdict": "supported"}]}),
            lambda sent: json.dumps({"votes": [{"id": data_of(sent)["claims"][0]["id"], "verdict": "maybe"}]}),
            lambda _: Raw(500),
            lambda _: Raw(body=completion("{}" * 3)),
            lambda _: Raw(body=b"\xff\xfe"),
        ],
        ids=["prose", "guessed id", "another verdict", "an error", "two objects", "no text"],
    )
    async def test_a_hostile_or_broken_reply_is_unclear(self, script):
        async with judging(script) as (client, _):
            scored = await client.score(OPEN, facts=[FEE], use_llm_judge=True)
            assert scored.judge == pb.JUDGE_OPINION_UNCLEAR
            assert not scored.HasField("blended_divergence")
            whole = 1 - (0.6 * scored.logical_divergence + 0.4 * scored.factual_divergence)
            assert scored.coherence == pytest.approx(whole)
            assert not (await client.score(OPEN, facts=[FEE], use_llm_judge=True)).cache_hit

    async def test_a_slow_judge_is_unclear(self):
        slow = lambda _: Raw(body=completion("{}"), delay_s=5.0)  # noqa: E731 - a script
        async with judging(slow, max_seconds=0.3) as (client, _):
            assert (await client.score(OPEN, facts=[FEE], use_llm_judge=True)).judge == pb.JUDGE_OPINION_UNCLEAR

    async def test_asking_for_a_judge_that_is_not_there_is_refused(self, client):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await client.score(facts=[FEE], use_llm_judge=True)
        assert refusal(raised.value)[:2] == (grpc.StatusCode.UNAVAILABLE, "LLM_UNAVAILABLE")

    async def test_hybrid_and_plain_scores_are_remembered_apart(self):
        async with judging(all_of("supported"), CoherenceSettings(judge=JudgeUse.ASKED)) as (client, _):
            await client.score(OPEN, facts=[FEE], use_llm_judge=True)
            assert not (await client.score(OPEN, facts=[FEE])).cache_hit


class TestBadInput:
    @pytest.mark.parametrize(
        ("fields", "violated"),
        [
            ({"prompt": ""}, ["prompt"]),
            ({"prompt": " \n", "response": "\t"}, ["prompt", "response"]),
            ({"threshold": 1.1}, ["threshold"]),
            ({"threshold": -0.1}, ["threshold"]),
            ({"threshold": float("nan")}, ["threshold"]),
            ({"threshold": float("inf")}, ["threshold"]),
            ({"facts": [("", FEE), ("b", HAIL)]}, ["facts[0].id"]),
            ({"facts": [("a", FEE), ("a", HAIL)]}, ["facts[1].id"]),
            ({"facts": [("a", " ")]}, ["facts[0].content"]),
            ({"facts": [("x" * 201, FEE)]}, ["facts[0].id"]),
            ({"prompt": "", "threshold": 2.0, "facts": [("", ""), ("b", FEE)]}, None),
        ],
        ids=str,
    )
    async def test_every_violation_is_named(self, client, fields, violated):
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await client.score(**fields)
        code, reason, found = refusal(raised.value)
        assert (code, reason) == (INVALID, "INVALID_FIELD")
        assert found == (violated or ["prompt", "threshold", "facts[0].id", "facts[0].content"])

    async def test_what_is_too_large_is_refused_whole(self):
        limits = DpeSettings(max_response_chars=1_000, max_facts=2)
        async with GuardWorld(models=judged(), limits=limits).serving() as client:
            for name in ("prompt", "response"):
                with pytest.raises(grpc.aio.AioRpcError) as raised:
                    await client().score(**{name: "a" * 1_001})
                assert refusal(raised.value)[:2] == (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await client().score(facts=["a", "b", "c"])
            assert refusal(raised.value)[2] == ["facts"]

    @pytest.mark.parametrize(
        "answer", ["?", "🙂" * 50, "\u202e\u200b", "a" * 5_000, "1 " * 2_000, "-\n" * 500], ids=repr
    )
    async def test_strange_answers_are_scored_or_told(self, client, answer):
        scored = await client.score(answer, facts=[FEE])
        assert scored.status in {COMPLETED, DEGRADED}

    async def test_a_caller_without_a_credential_is_refused(self, client):
        client.subject = ""
        with pytest.raises(grpc.aio.AioRpcError):
            await client.score(facts=[FEE])
