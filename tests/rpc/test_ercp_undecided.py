"""Undecided is not kept: Run, RunStream, Verify and the trace say of each constraint how a draft stands (ADR 0115)."""

import pytest
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.message_json import json_of
from services.common.settings import ErcpSettings
from services.ercp.domain.vocabulary import Standing, Undecided
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_http import ercp_http
from tests.fakes.ercp_world import BAD, GOOD, QUESTION, ErcpWorld, constraint, operators, run_request, status
from tests.rpc.test_ercp_metrics import scraped
from tests.rpc.test_ercp_operators import request_for

SMALL = "The tank holds 3 litres."
GREEN = "The tank is painted green because the owner likes the colour."


def tank(**fields):
    """The constraint of docs/how-to/ercp.md."""
    values = {"immutable": True, "constraint_id": fresh_uuid(), "words": "The tank holds at least 5 litres."}
    return constraint("GreaterThan", **values | fields, left="tank.volume", right="5", unit="l", inclusive=True)


def state(outcome):
    return pb.ConstraintState.Name(outcome.state).removeprefix("CONSTRAINT_STATE_").lower()


async def run(*replies, settings=None, **fields):
    world = ErcpWorld(replies=replies, **({"settings": settings} if settings else {}))
    # Not a why: whether its reason is given would be open as well (ADR 0118).
    fields.setdefault("problem", pb.Problem(id="p1", description="What is the tank like?"))
    async with world.serving() as client:
        return await client.run(**fields)


async def test_the_example_of_the_how_to_is_broken_and_does_not_converge():
    answer = await run(SMALL, constraints=[tank()])
    assert (status(answer), answer.status_reason) == ("partial", "NO_PROGRESS")
    (outcome,) = answer.constraint_outcomes
    assert (outcome.constraint_id, state(outcome)) == (answer.constraints[0].constraint_id, "broken")
    assert (outcome.undecided_reason, outcome.immutable) == ("", True)
    (place,) = outcome.places
    assert answer.final_reasoning.reasoning_text[place.start : place.end] == SMALL.rstrip(".")
    assert (place.sentence_start, place.sentence_end, place.sentence) == (0, len(SMALL), SMALL)


async def test_an_immutable_constraint_that_nobody_decided_is_no_convergence():
    answer = await run(GREEN, constraints=[tank()])
    assert (status(answer), answer.status_reason, answer.iterations) == ("partial", "UNDECIDED", 2)
    (outcome,) = answer.constraint_outcomes
    assert (state(outcome), outcome.undecided_reason, list(outcome.places)) == ("undecided", "NOT_STATED", [])
    assert "no value for the volume of tank" in outcome.why
    assert operators(answer.trace_events)[-1] == "stabilize"


@pytest.mark.parametrize(
    ("setting", "config", "ends"),
    [
        (False, None, ("partial", "UNDECIDED")),
        (False, True, ("converged", "STABLE")),
        (True, None, ("converged", "STABLE")),
        (True, False, ("partial", "UNDECIDED")),
    ],
)
async def test_the_caller_may_allow_it_and_the_setting_is_its_default(setting, config, ends):
    settings = ErcpSettings(allow_undecided=setting)
    asked = rpc.RunConfig(allow_undecided=config)
    answer = await run(GREEN, settings=settings, constraints=[tank()], config=asked)
    assert (status(answer), answer.status_reason) == ends
    assert [state(each) for each in answer.constraint_outcomes] == ["undecided"]


async def test_one_that_may_be_relaxed_is_listed_and_stands_in_nobodys_way():
    soft = tank(immutable=False)
    kept = constraint("Equal", immutable=True, constraint_id=fresh_uuid(), left="frame.colour", right="green")
    answer = await run("The colour of the frame is green.", constraints=[soft, kept])
    assert (status(answer), answer.status_reason) == ("converged", "STABLE")
    assert [(each.constraint_id, state(each)) for each in answer.constraint_outcomes] == [
        (soft.constraint_id, "undecided"),
        (kept.constraint_id, "kept"),
    ]


async def test_without_constraints_nothing_changes():
    answer = await run(GOOD)
    assert (status(answer), list(answer.constraint_outcomes)) == ("converged", [])


async def test_a_run_that_writes_no_draft_says_so():
    rules = [tank(), constraint("Equal", immutable=True, left="tank.volume", right="2", unit="l")]
    answer = await run(SMALL, constraints=rules)
    assert (status(answer), answer.status_reason) == ("infeasible", "CORE_IMMUTABLE")
    assert [(state(each), each.undecided_reason) for each in answer.constraint_outcomes] == [
        ("undecided", "NO_DRAFT")
    ] * 2


async def test_constraints_that_came_after_the_last_verification_have_an_outcome_too():
    handbook = [{"source": "handbook", "text": "The boiling point of water is 100 °C at sea level."}]
    answer = await run(BAD, retrieval_context=handbook, config=rpc.RunConfig(max_iterations=1))
    assert [each.constraint_id for each in answer.constraint_outcomes] == [
        each.constraint_id for each in answer.constraints
    ]
    assert state(answer.constraint_outcomes[0]) == "broken"


async def test_the_stream_and_the_trace_tell_it_for_each_verification():
    world, rule = ErcpWorld(replies=(SMALL, GREEN)), tank()
    async with world.serving() as client:
        *events, last = await client.stream(constraints=[rule])
        trace = await client.trace(last.result.trace_id)
    told = [
        json_of(each.trace_event)["output_summary"]["constraints"] for each in events if each.trace_event.operator == 2
    ]
    assert [each["states"] for each in told[:2]] == [{rule.constraint_id: "broken"}, {rule.constraint_id: "undecided"}]
    first = told[0]
    assert (first["count"], first["kept"], first["broken"], first["undecided"]) == (1, 0, 1, 0)
    assert first["items"][0]["places"] == [{"span": [0, len(SMALL) - 1], "sentence": SMALL}]
    assert told[1]["items"][0]["undecided_reason"] == "NOT_STATED"
    assert [state(each) for each in last.result.constraint_outcomes] == ["undecided"]
    assert trace.trace_events == last.result.trace_events


async def test_verify_lists_every_constraint_and_a_repeat_says_the_same():
    world, request = ErcpWorld(), request_for("Verify", reasoning_text=f"{SMALL} The frame is green.")
    request.constraints.extend([tank(), constraint("LessThan", left="tank.weight", right="9", unit="kg")])
    async with world.serving() as client:
        answer = await client.call("Verify", request)
        counted = scraped(world.counts)
        assert await client.call("Verify", request) == answer
        assert scraped(world.counts) == counted
    assert [state(each) for each in answer.constraint_outcomes] == ["broken", "undecided"]
    assert answer.constraint_outcomes[0].constraint_id == request.constraints[0].constraint_id
    assert answer.constraint_outcomes[1].constraint_id
    assert [each.detected_by for each in answer.errors] == [["solver"]]
    assert counted['groundtrail_ercp_constraints_total{reason="",state="broken"}'] == 1.0
    assert counted['groundtrail_ercp_constraints_total{reason="NOT_STATED",state="undecided"}'] == 1.0
    assert counted['groundtrail_ercp_constraints_total{reason="",state="kept"}'] == 0.0


async def test_every_state_and_reason_is_counted_from_the_start():
    names = [name for name in scraped(ErcpWorldCounts()) if name.startswith("groundtrail_ercp_constraints_total")]
    assert len(names) == len(Standing) - 1 + len(Undecided)


def ErcpWorldCounts():  # noqa: N802 - stands for the counts of a process that has just begun
    from services.ercp.run_counts import RunCounts

    return RunCounts()


async def test_constraints_given_twice_are_told_and_not_refused():
    same = constraint(
        "GreaterThan", constraint_id=fresh_uuid(), left="volume_of_the_tank", right="5000", unit="ml", inclusive=True
    )
    other = constraint("Equal", constraint_id=fresh_uuid(), left="frame.colour", right="green")
    rules = [tank(), other, same]
    answer = await run("The tank holds 6 litres.", constraints=rules)
    (found,) = answer.duplicate_constraints
    assert list(found.constraint_ids) == [rules[0].constraint_id, same.constraint_id]
    assert found.demand == "The volume of tank must be at least 5 l."
    assert [state(each) for each in answer.constraint_outcomes] == ["kept", "undecided", "kept"]
    async with ErcpWorld().serving() as client:
        verified = await client.call("Verify", request_for("Verify", constraints=rules))
    assert [list(each.constraint_ids) for each in verified.duplicate_constraints] == [list(found.constraint_ids)]


async def test_a_share_above_one_half_and_one_below_a_fraction_cannot_hold_together():
    rules = [
        constraint("GreaterThan", immutable=True, constraint_id=fresh_uuid(), left="debt.share", right="50", unit="%"),
        constraint("LessThan", immutable=True, constraint_id=fresh_uuid(), left="debt.share", right="0.4"),
    ]
    answer = await run(GOOD, constraints=rules)
    assert (status(answer), answer.status_reason) == ("infeasible", "CORE_IMMUTABLE")
    assert set(answer.conflicting_constraint_ids) == {each.constraint_id for each in rules}


class TestRefusals:
    async def refused(self, name, request):
        model = MemoryLanguageModel([GOOD])
        async with ErcpWorld(model=model).serving() as client:
            found = await client.fails(name, request)
        assert model.requests == []
        return found

    @pytest.mark.parametrize("name", ["Run", "Generate", "Verify", "Mutate"])
    async def test_words_that_demand_another_thing_than_the_predicate(self, name):
        rule = constraint(
            "GreaterThan", words="The tank holds at least 5 litres.", left="tank.volume", right="5", unit="l"
        )
        found = await self.refused(name, request_for(name, constraints=[rule]))
        assert (found.code.name, found.reason) == ("INVALID_ARGUMENT", "CONSTRAINT_WORDS_DISAGREE")
        assert found.fields == ("constraints[0].nl_text",)

    async def test_beside_another_violation_the_reason_is_the_wider_one_and_both_are_named(self):
        rule = constraint("LessThan", words="At most 5 people come.", left="people.count", right="6")
        found = await self.refused("Run", run_request(request_id="x", constraints=[rule]))
        assert found.reason == "INVALID_FIELD"
        assert set(found.fields) == {"request_id", "constraints[0].nl_text"}

    @pytest.mark.parametrize("value", ["urgent", "", 1, ["high"]])
    async def test_a_priority_outside_the_documents_words(self, value):
        problem = pb.Problem(description=QUESTION, metadata={"priority": value})
        found = await self.refused("Run", run_request(problem=problem))
        assert (found.reason, found.fields) == ("INVALID_FIELD", ("problem.metadata.priority",))

    @pytest.mark.parametrize("value", ["high", "Medium", "low", None])
    async def test_one_of_the_documents_words_passes(self, value):
        problem = pb.Problem(description=QUESTION, metadata={"priority": value})
        assert status(await run(GOOD, problem=problem)) == "converged"


async def test_over_http_the_words_are_the_documents_and_the_config_is_read():
    world = ErcpWorld(replies=(GREEN,))
    rule = {
        "type": "predicate",
        "nl_text": "The tank holds at least 5 litres.",
        "immutable": True,
        "predicate": {
            "predicate_name": "GreaterThan",
            "args": {"left": "tank.volume", "right": "5", "unit": "l", "inclusive": True},
        },
    }
    body = {"problem": {"id": "p1", "description": QUESTION}, "constraints": [rule]}
    async with ercp_http(world) as ercp:
        answer = (await ercp.post("run", body)).json()
        allowed = (await ercp.post("run", {**body, "config": {"allow_undecided": True}})).json()
        refused = await ercp.post(
            "run", {**body, "constraints": [{**rule, "nl_text": "The tank holds at most 9 litres."}]}
        )
    assert (answer["status"], answer["status_reason"]) == ("partial", "UNDECIDED")
    assert (answer["constraint_outcomes"][0]["state"], allowed["status"]) == ("undecided", "converged")
    assert allowed["trace_events"][0]["input_summary"].get("unknown_fields") is None
    assert refused.status_code == 200, "another bound and another amount: of another thing"
