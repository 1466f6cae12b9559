"""Strategies end to end with a scripted provider: pull, reflexive, hierarchical (CRP-SPEC-008; ADR 0160)."""

import asyncio
from typing import Any

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2
from crp.dpe.v1 import quality_pb2
from crp.gateway.v1 import dispatch_pb2

from services.common.errors import ErrorReason, UnavailableError
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.language_model import LanguageReply
from services.common.settings import GatewaySettings
from services.common.streaming.replies import streaming
from services.gateway.domain.approach import EXTRACT
from services.gateway.domain.prompt import CONTINUATION_NOTICE, MERGE_NOTICE
from services.gateway.domain.question_parts import PART
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, Hold, Script, WordCounter, headers_of
from tests.patience import patient
from tests.rpc.test_gateway_remedies import codes, plan, upgrade

UNSPECIFIED = quality_pb2.RELEVANCE_STATUS_UNSPECIFIED
PULL = taxonomy.DISPATCH_STRATEGY_PULL
REFLEXIVE = taxonomy.DISPATCH_STRATEGY_REFLEXIVE
HIERARCHICAL = taxonomy.DISPATCH_STRATEGY_HIERARCHICAL
WHOLE = "How long do I have for a motor accident and for a theft?"
PARTS = ("How long do I have for a motor accident?", "How long do I have for a theft?")


def parts_of(query):
    return PARTS if query == WHOLE else [query]


class Parts(Hold):
    """Holds the parts' calls up, the overview's not."""

    count = 0

    async def at(self, rpc, *, after):
        if (self.rpc, self.after) == (rpc, after):
            self.count += 1
            if self.count > 2:
                self.reached.set()
            if self.count > 1:
                await self._released.wait()


def answerer():
    return ExtractiveLanguageModel(WordCounter(), "gpt-4o-mini", ExtractLimits(3, 0.0))


class Asked:
    """A provider that answers by what it is asked: an answer, an error, or ``None`` for a text of its own."""

    default_model = "gpt-4o-mini"

    def __init__(self, replies):
        self.replies = replies
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        reply = self.replies.get(request.query, "All of it.")
        if isinstance(reply, Exception):
            raise reply
        return LanguageReply(reply, "stop", "asked@1", 10, 5)

    async def check(self):
        """Always there."""

    async def close(self):
        """Nothing to release."""

    def of(self, query):
        return [request for request in self.requests if request.query == query]


def world_of_parts(replies=None, **given):
    script = given.pop("script", None) or Script(parts=parts_of, **given.pop("scripted", {}))
    replies = replies or {PARTS[0]: "Seven days for an accident.", PARTS[1]: "48 hours for a theft.", WHOLE: "Both."}
    model = Asked(replies)
    world: Any = GatewayWorld(script=script, model=streaming(model), **given)
    return world, model


async def test_pull_extracts_from_the_context_alone_and_asks_for_more_of_it():
    world: Any = GatewayWorld()
    async with world.serving() as client:
        response = await client.dispatch(strategies=[PULL], system_prompt="Be kind.")
    (build,) = world.script.asked["BuildEnvelope"]
    (analysis,) = world.script.asked["Analyze"]
    assert (build.strategy, build.grounding_mode) == (PULL, taxonomy.GROUNDING_MODE_CONTEXT_STRICT)
    assert analysis.grounding_mode == taxonomy.GROUNDING_MODE_CONTEXT_STRICT
    prompt = world.model.requests[0].messages[0].content
    assert prompt.startswith(f"Be kind.\n\n{EXTRACT}\n\n")
    assert headers_of(response)["CRP-Context-Strategy"] == "pull"
    assert response.answer.strategy == PULL


@pytest.mark.parametrize(
    ("risks", "text", "revision", "calls"),
    [
        (("LOW",), "One.", "1/2", 1),
        (("HIGH", "LOW"), "Two.", "2/3", 2),
        (("MEDIUM", "LOW"), "Two.", "2/3", 2),
        (("HIGH", "HIGH", "LOW"), "Three.", "3/4", 3),
        (("MEDIUM",), "One.", "3/4", 3),
    ],
)
async def test_reflexive_refines_what_is_found_and_says_how_often(risks, text, revision, calls):
    analyses = [{"risk": risk, "plan": plan(upgrade()) if risk == "HIGH" else None} for risk in risks]
    world: Any = GatewayWorld(script=Script(analyses=tuple(analyses)), replies=("One.", "Two.", "Three."))
    async with world.serving() as client:
        response = await client.dispatch(strategies=[REFLEXIVE])
    said = headers_of(response)
    assert (response.answer.text, said["CRP-Agent-Revision-Round"]) == (text, revision)
    assert (said["CRP-Context-Strategy"], said["CRP-Context-Window"]) == ("reflexive", "1/5")
    assert [request.temperature for request in world.model.requests] == [0.7, *[0.3] * (calls - 1)]
    assert len(world.events_of("RE_DISPATCH")) == calls - 1
    if risks[0] == "HIGH":
        assert "UPGRADE_STRATEGY_NEEDED" in {each.reason for each in response.remediations}
    elif calls > 1:
        assert response.remediations[0].reason == "STRATEGY_REFLEXIVE"


async def test_reflexive_without_a_model_says_why_nothing_was_refined():
    world: Any = GatewayWorld(script=Script(risk="HIGH"), model=answerer())
    async with world.serving() as client:
        response = await client.dispatch(strategies=[REFLEXIVE])
    assert "REMEDY_NEEDS_MODEL" in codes(response)
    assert headers_of(response)["CRP-Agent-Revision-Round"] == "1/2"
    assert headers_of(response)["CRP-Context-Strategy"] == "reflexive"


async def test_hierarchical_answers_each_part_in_a_window_and_puts_them_together():
    world, model = world_of_parts()
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL])
        verified = await client.verify(response.answer.session_id)
    answer, said = response.answer, headers_of(response)
    windows = {window.window_id: window for window in world.windows()}
    overview = next(window for window in windows.values() if not window.parent_ids)
    children = [window for window in windows.values() if window.parent_ids == (overview.window_id,)]
    assert answer.text == "Both."
    assert (said["CRP-Context-Strategy"], said["CRP-Context-Window"]) == ("hierarchical", "3/5")
    assert {window.strategy for window in windows.values()} == {"hierarchical"}
    assert {window.pattern.value for window in children} == {"FAN_OUT"}
    assert answer.window.pattern == dag_pb2.WINDOW_PATTERN_FAN_IN
    assert sorted(answer.window.parent_ids) == sorted(window.window_id for window in children)
    assert (verified.integrity, verified.windows_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 4)
    assert {request.query for request in model.requests} == {WHOLE, *PARTS}
    assert len(model.requests) == 3  # the overview is quoted
    assert len(response.model_calls) == 4
    assert response.model_calls[0].model_fingerprint.startswith("groundtrail-extractive")


async def test_parts_are_answered_by_themselves_and_the_synthesis_repeats_them_without_fault():
    world, model = world_of_parts()
    async with world.serving() as client:
        await client.dispatch(WHOLE, strategies=[HIERARCHICAL])
    part, whole = model.of(PARTS[0])[0].messages[0].content, model.of(WHOLE)[0].messages[0].content
    assert PART in part
    assert CONTINUATION_NOTICE not in part
    assert MERGE_NOTICE not in whole
    assert "from the earlier answer" in whole
    analyses = world.script.asked["Analyze"]
    assert [len(each.prior_windows) for each in analyses] == [0, 0, 0, 0]
    builds = world.script.asked["BuildEnvelope"]
    assert all(not build.facts_seen for build in builds[:3])
    assert set(builds[3].transferred_fact_ids)


async def test_a_part_that_fails_or_is_not_in_the_documents_is_said_and_the_rest_is_answered():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down")
    world, model = world_of_parts({PARTS[0]: "Seven days.", PARTS[1]: down, WHOLE: "Seven days; nothing on theft."})
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL])
    (told,) = [warning.message for warning in response.warnings if warning.code == "PART_WITHOUT_ANSWER"]
    assert told == "1 of the question's 2 parts have no answer: part 2 (LLM_UNAVAILABLE)"
    assert PARTS[1] in model.of(WHOLE)[0].messages[0].content
    assert PARTS[0] not in model.of(WHOLE)[0].messages[0].content.split("PARTS WITHOUT AN ANSWER")[1]
    assert sorted(world.statuses()) == ["COMMITTED", "COMMITTED", "COMMITTED", "FAILED"]
    assert response.answer.text == "Seven days; nothing on theft."


async def test_a_part_that_the_documents_do_not_answer_is_merged_and_said():
    def refusal(request):
        refused = quality_pb2.RELEVANCE_STATUS_REFUSAL if request.query == PARTS[1] else UNSPECIFIED
        return {"relevance": quality_pb2.Relevance(status=refused)}

    world, _ = world_of_parts(scripted={"report_of": refusal})
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL])
    (told,) = [warning.message for warning in response.warnings if warning.code == "PART_WITHOUT_ANSWER"]
    assert told.endswith("part 2 (NOT_IN_THE_DOCUMENTS)")
    assert len(response.answer.window.parent_ids) == 2


async def test_where_no_part_has_an_answer_the_overview_stands():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down")
    world, _ = world_of_parts({PARTS[0]: down, PARTS[1]: down})
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL])
    assert response.answer.model_fingerprint.startswith("groundtrail-extractive")
    assert headers_of(response)["CRP-Context-Window"] == "1/5"
    assert "PART_WITHOUT_ANSWER" in codes(response)


async def test_a_withheld_part_is_left_out_and_a_withheld_overview_ends_it():
    halting = {"safety_policy": "halt-on HIGH", "strategies": [HIERARCHICAL]}

    def risky(query):
        return lambda request: {"risk_level": taxonomy.RISK_LEVEL_HIGH} if request.query == query else {}

    world, _ = world_of_parts(scripted={"report_of": risky(PARTS[0])})
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, **halting)
    assert "part 1 (WITHHELD)" in next(w.message for w in response.warnings if w.code == "PART_WITHOUT_ANSWER")
    assert response.answer.text == "Both."
    world, model = world_of_parts(scripted={"report_of": risky(WHOLE)})
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, **halting)
    assert response.halted.halt_reason == "halt-on HIGH"
    assert model.requests == []


async def test_only_the_synthesis_waits_for_a_person():
    world, _ = world_of_parts()
    async with world.serving() as client:
        response = await client.dispatch(
            WHOLE, strategies=[HIERARCHICAL], oversight_mode=dispatch_pb2.OVERSIGHT_MODE_HUMAN_REVIEW
        )
    assert response.held_for_review.reason == "OVERSIGHT_REQUIRED"
    assert sorted(world.statuses()) == ["COMMITTED", "COMMITTED", "COMMITTED", "PENDING"]


async def test_an_overview_that_stands_is_not_delivered_past_a_person():
    down = UnavailableError(ErrorReason.LLM_UNAVAILABLE, "down")
    world, _ = world_of_parts({PARTS[0]: down, PARTS[1]: down})
    async with world.serving() as client:
        response = await client.dispatch(
            WHOLE, strategies=[HIERARCHICAL], oversight_mode=dispatch_pb2.OVERSIGHT_MODE_HUMAN_REVIEW
        )
    assert (response.halted.halt_reason, response.halted.oversight_required) == ("OVERSIGHT_REQUIRED", True)


async def test_a_retry_meets_the_same_windows():
    world, model = world_of_parts()
    fields = {"request_id": fresh_uuid(), "strategies": [HIERARCHICAL]}
    async with world.serving() as client:
        first = await client.dispatch(WHOLE, **fields)
        again = await client.dispatch(WHOLE, **fields)
    assert again.answer == first.answer
    assert len(world.windows()) == 4
    assert len(model.requests) == 3


@pytest.mark.parametrize("generative", [True, False], ids=["model", "answerer"])
async def test_a_question_of_one_part_is_answered_behind_its_overview(generative):
    world: Any = GatewayWorld() if generative else GatewayWorld(model=answerer())
    async with world.serving() as client:
        response = await client.dispatch(strategies=[HIERARCHICAL])
    assert "QUESTION_HAS_ONE_PART" in codes(response)
    said = headers_of(response)
    assert (said["CRP-Context-Strategy"], said["CRP-Context-Window"]) == (
        "hierarchical",
        "2/5" if generative else "1/5",
    )


async def test_hierarchical_without_a_model_quotes_an_answer_to_every_part():
    world: Any = GatewayWorld(script=Script(parts=parts_of), model=answerer())
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL])
    assert "within 7 days" in response.answer.text
    assert "within 48 hours" in response.answer.text
    assert headers_of(response)["CRP-Context-Window"] == "3/5"


async def test_nothing_is_delegated_where_the_breaker_is_not_closed():
    world, _ = world_of_parts()
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL], safety_budget=0.4)
    assert "DELEGATION_SUSPENDED" in next(w.message for w in response.warnings if w.code == "PART_WITHOUT_ANSWER")
    assert response.answer.model_fingerprint.startswith("groundtrail-extractive")


async def test_a_caller_who_leaves_ends_every_part():
    world, _ = world_of_parts({PARTS[0]: "Seven.", PARTS[1]: "48 hours."})
    hold = Parts("Analyze")
    async with world.serving() as client:
        world.script.hold = hold
        call = client.start(WHOLE, strategies=[HIERARCHICAL])
        await hold.reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        hold.release()
        for _ in range(int(patient(500))):  # given up apart from the call
            if "PENDING" not in world.statuses():
                break
            await asyncio.sleep(0.01)
    assert world.statuses() == ["COMMITTED", "FAILED", "FAILED"]


async def test_parts_leave_time_for_the_synthesis():
    world, _ = world_of_parts(settings=GatewaySettings(max_parallel_parts=1))
    async with world.serving() as client:
        response = await client.dispatch(WHOLE, strategies=[HIERARCHICAL], timeout=patient(20))
    assert response.answer.text == "Both."
