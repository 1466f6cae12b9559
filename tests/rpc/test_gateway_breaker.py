"""The circuit breaker at the gateway: reflexive is forced, nothing is loosened; refusals cost nothing (ADR 0103)."""

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import quality_pb2
from crp.gateway.v1 import dispatch_pb2

from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.settings import GatewaySettings
from services.common.settings.dag import DagSettings
from tests.fakes.dag_world import World, fresh_uuid
from tests.fakes.gateway_world import GatewayWorld, Script, WordCounter, headers_of
from tests.rpc.test_gateway_remedies import codes, kinds, plan, upgrade

FIRST, BETTER, THIRD = "The fee is 50 euros.", "The fee is 5 euros.", "No fee is named."
HALF = taxonomy.BREAKER_STATE_HALF_OPEN
OFF = dispatch_pb2.REMEDIATION_MODE_OFF


def gateway(*analyses, replies=(FIRST, BETTER, THIRD), **given):
    return GatewayWorld(script=Script(analyses=analyses), replies=replies, **given)


@pytest.mark.parametrize(
    ("budget", "risk", "calls"),
    [
        (0.51, "MEDIUM", 1),
        (0.51, "HIGH", 1),
        (0.5, "LOW", 1),
        (0.5, "MEDIUM", 2),
        (0.5, "HIGH", 2),
        (0.35, "CRITICAL", 2),
        (0.2, "MEDIUM", 2),
    ],
)
@pytest.mark.parametrize("remediation", [None, OFF])
@pytest.mark.parametrize("settings", [{}, {"remedies": "off"}, {"max_redispatches": 0}], ids=["default", "off", "none"])
async def test_reflexive_is_forced_where_the_breaker_is_not_closed(budget, risk, calls, remediation, settings):
    """Whatever the request and the deployment say of remedies, and without a policy that asks for an upgrade."""
    world = gateway({"risk": risk}, {"risk": "LOW"}, settings=GatewaySettings(**settings))
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=budget, remediation=remediation)
    assert len(world.model.requests) == calls
    if calls == 1:
        return
    assert (response.answer.text, response.answer.safety_budget) == (BETTER, budget)
    assert kinds(response) == [("STRATEGY_UPGRADE", 1, True)]
    assert response.remediations[0].reason == "CIRCUIT_BREAKER_NOT_CLOSED"
    assert headers_of(response)["CRP-Context-Strategy"] == "reflexive"
    assert (world.model.requests[1].temperature, response.circuit_breaker) == (0.2, HALF)
    (event,) = world.events_of("STRATEGY_UPGRADE")
    assert event["remedies"][0]["reason"] == "CIRCUIT_BREAKER_NOT_CLOSED"


async def test_a_forced_round_that_is_no_better_costs_once():
    world = gateway({"risk": "MEDIUM"})
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.5)
    assert len(world.model.requests) == 3  # at most two rounds
    assert (response.answer.text, response.answer.safety_budget) == (FIRST, 0.45)
    assert {"REMEDIES_SPENT", "CIRCUIT_BREAKER"} <= set(codes(response))


async def test_the_plans_own_upgrade_is_taken_instead():
    world = gateway({"risk": "HIGH", "plan": plan(upgrade())}, {"risk": "LOW"})
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.3)
    assert [each.reason for each in response.remediations] == ["UPGRADE_STRATEGY_NEEDED"]


async def test_what_a_policy_asks_stays_as_strict():
    """Forcing a remedy is no permission: an answer that the policy withholds is withheld."""
    world = gateway({"risk": "HIGH"})
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.3, safety_policy="halt-on HIGH")
    assert response.halted.halt_reason == "halt-on HIGH"
    assert len(world.model.requests) == 3
    assert response.circuit_breaker == HALF  # as the window was opened: none was committed


async def test_without_a_model_it_is_said_that_nothing_can_be_refined():
    model = ExtractiveLanguageModel(WordCounter(), "words", ExtractLimits(5, 0.3))
    world = gateway({"risk": "MEDIUM"}, model=model)
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.5)
    assert {"REMEDY_NEEDS_MODEL", "CIRCUIT_BREAKER"} <= set(codes(response))
    assert response.answer.safety_budget == 0.45


async def test_delegation_is_refused_through_the_gateway():
    world = gateway({"risk": "LOW"})
    async with world.serving() as client:
        parent = (await client.dispatch(safety_budget=0.5)).answer
        for fields in (
            {"agent_session_parent": parent.session_id},
            {
                "session_token": parent.session_token,
                "continuation_ids": [parent.continuation_id],
                "strategies": [taxonomy.DISPATCH_STRATEGY_FAN_OUT],
            },
        ):
            refusal = await client.fails(**fields)
            assert (refusal.code.name, refusal.reason) == ("FAILED_PRECONDITION", "DELEGATION_SUSPENDED")
            assert refusal.metadata["circuit_breaker"] == "HALF_OPEN"
        line = await client.dispatch(session_token=parent.session_token)
    assert line.answer.safety_budget == 0.5


@pytest.mark.parametrize(
    ("profile", "budget", "risk", "withheld", "state"),
    [
        ("spec-004", 0.15, "MEDIUM", "OVERSIGHT_REQUIRED", "OPEN"),  # 0.10: held for a person
        ("spec-004", 0.100001, "LOW", "", "HALF_OPEN"),
        ("spec-004", 0.1, "LOW", "OVERSIGHT_REQUIRED", "OPEN"),
        ("spec-004", 0.05, "MEDIUM", "SAFETY_BUDGET_DEPLETED", "OPEN"),  # 0.00: the end
        ("spec-012", 0.25, "LOW", "", "HALF_OPEN"),
        ("spec-012", 0.249999, "LOW", "OVERSIGHT_REQUIRED", "HALF_OPEN"),
        ("spec-012", 0.15, "MEDIUM", "SAFETY_BUDGET_DEPLETED", "OPEN"),  # 0.10: refused
        ("spec-012", 0.1, "LOW", "SAFETY_BUDGET_DEPLETED", "OPEN"),
    ],
)
async def test_what_each_profile_does_at_its_boundaries(profile, budget, risk, withheld, state):
    world = gateway({"risk": risk}, dag=World(settings=DagSettings(budget_profile=profile)))
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=budget)
    assert (response.halted.halt_reason or response.held_for_review.reason) == withheld
    assert (response.WhichOneof("outcome") == "held_for_review") == (withheld == "OVERSIGHT_REQUIRED")
    assert taxonomy.BreakerState.Name(response.circuit_breaker) == f"BREAKER_STATE_{state}"


@pytest.mark.parametrize(("profile", "budget"), [("spec-004", 0.0), ("spec-012", 0.1)])
async def test_a_budget_that_is_spent_already_calls_no_model(profile, budget):
    world = gateway({"risk": "LOW"}, dag=World(settings=DagSettings(budget_profile=profile)))
    request = {"safety_budget": budget, "request_id": fresh_uuid()}
    async with world.serving() as client:
        response = await client.dispatch(**request)
        again = await client.dispatch(**request)
        verified = await client.verify(response.halted.session_id)
    assert response.halted.halt_reason == "SAFETY_BUDGET_DEPLETED"
    assert again == response
    assert world.model.requests == []
    assert world.statuses() == ["FAILED"]
    said = headers_of(response)
    assert said["CRP-Agent-Safety-Budget"] == f"{budget:.1f}"
    assert said["CRP-Safety-Retry-After"] == "0"
    assert [event["model_called"] for event in world.events_of("SAFETY_BUDGET_DEPLETED")] == [False]
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_UNVERIFIED  # no window was committed


async def test_an_orchestrator_whose_agents_spent_everything_gets_the_halt():
    world = gateway({"risk": "LOW"}, *[{"risk": "CRITICAL"}] * 9)
    warn = {"safety_mode": dispatch_pb2.SAFETY_MODE_WARN}
    async with world.serving() as client:
        parent = (await client.dispatch(**warn)).answer
        agent = await client.dispatch(agent_session_parent=parent.session_id, **warn)
        for _ in range(2):
            agent = await client.dispatch(session_token=agent.answer.session_token, **warn)
        assert agent.halted.halt_reason == "SAFETY_BUDGET_DEPLETED"
        calls = len(world.model.requests)
        synthesis = await client.dispatch(session_token=parent.session_token, **warn)
    assert synthesis.halted.halt_reason == "SAFETY_BUDGET_DEPLETED"
    assert len(world.model.requests) == calls


def refusal(**more):
    status = quality_pb2.RELEVANCE_STATUS_REFUSAL
    return {"risk": "LOW", "report": {"relevance": quality_pb2.Relevance(status=status), **more}}


async def test_forty_refusals_cost_nothing_and_keep_the_envelopes_tier():
    """The answer's quality score, which a refusal leaves at the bottom, lowers no tier: no history degrades."""
    lowest = {"quality_score": 0.1, "maximum_quality_tier": taxonomy.QUALITY_TIER_D}
    settings = GatewaySettings(refuse_degraded=True)
    world = gateway(
        {"risk": "MEDIUM"}, refusal(**lowest), dag=World(settings=DagSettings(max_windows=41)), settings=settings
    )
    async with world.serving() as client:
        answer = (await client.dispatch()).answer
        for _ in range(40):
            response = await client.dispatch(session_token=answer.session_token)
            answer = response.answer
            assert answer.safety_budget == 0.95
            assert response.circuit_breaker == taxonomy.BREAKER_STATE_CLOSED
    tiers = [window.quality_tier for window in world.windows()]
    assert tiers == ["A"] * 41
    assert headers_of(response)["CRP-Quality-Relevance"] == "REFUSAL"


async def test_a_refusal_is_not_generated_again_by_force():
    world = gateway(refusal())
    async with world.serving() as client:
        response = await client.dispatch(safety_budget=0.4)
    assert len(world.model.requests) == 1
    assert response.answer.safety_budget == 0.4
