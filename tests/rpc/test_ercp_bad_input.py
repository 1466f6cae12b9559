"""What ERCP refuses, with the field that was wrong; what it accepts although it is new (ERCP 1.0 §8, §10, §11)."""

import grpc
import pytest
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.settings import ErcpSettings
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import BAD, QUESTION, ErcpWorld, constraint, run_request
from tests.rpc.test_ercp_operators import error, request_for


@pytest.fixture
def world():
    return ErcpWorld()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def run_with(**config):
    return run_request(config=rpc.RunConfig(**config))


def with_rule(name, **args):
    return run_request(constraints=[constraint(name, **args)])


CASES = {
    "no request id": (run_request(request_id=""), "request_id"),
    "a trace id that is no UUID": (run_request(trace_id="t1"), "trace_id"),
    "no problem": (rpc.RunRequest(request_id=fresh_uuid()), "problem"),
    "an empty question": (run_request(problem=pb.Problem(description="  ")), "problem.description"),
    "a question that is too long": (run_request(problem=pb.Problem(description="x" * 100_001)), "problem.description"),
    "thresholds out of order": (run_with(verify_threshold=0.5), "config.candidate_threshold"),
    "a threshold above 1": (run_with(verify_threshold=1.5), "config.verify_threshold"),
    "no iterations": (run_with(max_iterations=0), "config.max_iterations"),
    "too many iterations": (run_with(max_iterations=201), "config.max_iterations"),
    "too many constraints": (run_with(max_constraints=201), "config.max_constraints"),
    "sampling that shall be deterministic": (run_with(temperature=0.7), "config.temperature"),
    "a nucleus that shall be deterministic": (run_with(top_p=0.5), "config.top_p"),
    "a temperature beyond all": (run_with(temperature=2.5, deterministic=False), "config.temperature"),
    "no number": (run_with(similarity_threshold=float("nan")), "config.similarity_threshold"),
    "an unknown predicate": (with_rule("MaybeEqual", left="a.b", right="1"), "constraints[0].predicate.predicate_name"),
    "an unknown unit": (
        with_rule("Equal", left="water.temperature", right="9", unit="celcius"), "constraints[0].predicate.args.unit",
    ),
    "a missing argument": (with_rule("TemporalOrder", before="start"), "constraints[0].predicate.args.after"),
    "no words": (with_rule("Equal", words="", left="a.b", right="1"), "constraints[0].nl_text"),
    "no predicate": (
        run_request(constraints=[pb.Constraint(nl_text="x", type="CONSTRAINT_TYPE_STYLE")]), "constraints[0].predicate",
    ),
    "more constraints than the run may hold": (
        run_request(
            config=rpc.RunConfig(max_constraints=1),
            constraints=[constraint("Equal", left="a.b", right=str(n)) for n in range(2)],
        ),
        "constraints",
    ),
    "an empty passage": (run_request(retrieval_context=[{"source": "s", "text": ""}]), "retrieval_context[0].text"),
}  # fmt: skip


@pytest.mark.parametrize(("request_", "field"), CASES.values(), ids=CASES)
async def test_a_run_is_refused_with_the_field(client, world, request_, field):
    refused = await client.fails("Run", request_)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert field in refused.fields
    assert world.model.requests == []
    assert world.sessions() == []


async def test_every_violation_is_named_at_once(client):
    refused = await client.fails("Run", run_request(request_id="x", config=rpc.RunConfig(max_iterations=0, top_p=2.0)))
    assert set(refused.fields) == {"request_id", "config.max_iterations", "config.top_p"}


async def test_contradictory_immutable_constraints_are_refused_by_generate_with_the_core(client, world):
    rules = [
        constraint("Equal", immutable=True, constraint_id=fresh_uuid(), left="tank.volume", right=size, unit="l")
        for size in ("5", "7")
    ]
    call = client.call("Generate", request_for("Generate", constraints=rules))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert all(rule.constraint_id in caught.value.details() for rule in rules)
    assert world.model.requests == []


OTHERS = {
    "Verify without a text": ("Verify", {"reasoning_text": ""}, "reasoning_text"),
    "Verify of too long a text": ("Verify", {"reasoning_text": "x" * 100_001}, "reasoning_text"),
    "a type that is unset": ("ExtractConstraints", {"errors": [error("UNSPECIFIED", "x", 0.9)]}, "errors[0].type"),
    "a span outside the text": (
        "ExtractConstraints", {"errors": [error("CONTRADICTION", "x", 0.9, span=(0, 9_999))]}, "errors[0].span",
    ),
    "no confidence": ("ExtractConstraints", {"errors": [pb.Error(type=1)]}, "errors[0].confidence"),
    "a threshold below 0": ("Stabilize", {"threshold": -0.1}, "threshold"),
    "no strategy": ("Mutate", {"mutation_strategy": 0}, "mutation_strategy"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "fields", "field"), OTHERS.values(), ids=OTHERS)
async def test_operators_refuse_too(client, name, fields, field):
    refused = await client.fails(name, request_for(name, **fields))
    assert refused.reason == "INVALID_FIELD"
    assert field in refused.fields


async def test_an_option_of_another_strategy_is_refused(client):
    asked = request_for("Mutate", mutation_strategy="MUTATION_STRATEGY_REFRAME")
    asked.mutation_config.update({"max_parts": 3})
    assert (await client.fails("Mutate", asked)).fields == ("mutation_config.max_parts",)


class TestNewerMinorVersions:
    """§10: optional fields that this version does not know break nothing and are kept."""

    UNKNOWN = b"\xfa\x3e\x05hello"  # field 1007, length-delimited

    async def test_unknown_fields_of_a_constraint_come_back(self, client):
        rule = constraint("Equal", constraint_id=fresh_uuid(), left="tank.volume", right="5", unit="l")
        newer = pb.Constraint.FromString(rule.SerializeToString() + self.UNKNOWN)
        asked = request_for("Mutate", constraints=[newer])
        answer = await client.call("Mutate", asked)
        assert self.UNKNOWN in answer.new_constraints[0].SerializeToString()

    async def test_unknown_fields_of_a_problem_come_back(self, client):
        problem = pb.Problem.FromString(pb.Problem(id="p", description=QUESTION).SerializeToString() + self.UNKNOWN)
        answer = await client.call("Mutate", request_for("Mutate", problem=problem))
        assert self.UNKNOWN in answer.new_problem.SerializeToString()

    async def test_unknown_fields_of_a_config_are_accepted(self, client):
        config = rpc.RunConfig.FromString(rpc.RunConfig(max_iterations=2).SerializeToString() + self.UNKNOWN)
        assert (await client.run(config=config)).iterations <= 2

    async def test_unknown_arguments_of_a_predicate_are_kept(self, client):
        rule = constraint("Equal", constraint_id=fresh_uuid(), left="tank.volume", right="5", unit="l", novelty="0.9")
        answer = await client.call("Mutate", request_for("Mutate", constraints=[rule]))
        assert answer.new_constraints[0].predicate.args["novelty"] == "0.9"


class TestSecurity:
    async def test_whoever_may_run_may_ask_for_high_priority(self, client):
        problem = pb.Problem(id="p", description=QUESTION)
        problem.metadata.update({"domain": "physics", "priority": "high"})
        assert (await client.run("writer", problem=problem)).trace_id

    @pytest.mark.parametrize("name", ["Run", "Generate", "Mutate"])
    async def test_a_deployment_may_keep_high_priority_to_administrators(self, name):
        problem = pb.Problem(id="p", description=QUESTION)
        problem.metadata.update({"priority": " HIGH"})
        async with ErcpWorld(settings=ErcpSettings(high_priority_role="admin")).serving() as client:
            refused = await client.fails(name, request_for(name, problem=problem), "writer")
            assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")
            assert (await client.call(name, request_for(name, problem=problem), "alice")).trace_id
            assert (await client.call(name, request_for(name), "writer")).trace_id

    @pytest.mark.parametrize("name", ["Run", "Generate", "Verify", "ExtractConstraints", "Stabilize", "Mutate"])
    async def test_a_reader_may_read_traces_and_nothing_else(self, client, name):
        assert (await client.fails(name, request_for(name), "reader")).reason == "ROLE_MISSING"
        answer = await client.call("Stabilize", request_for("Stabilize"))
        assert len((await client.trace(answer.trace_id, "reader")).trace_events) == 1

    async def test_another_key_of_the_tenant_cannot_go_on_with_a_trace(self, client):
        trace_id = fresh_uuid()
        await client.call("Stabilize", request_for("Stabilize", trace_id=trace_id))
        refused = await client.fails("Stabilize", request_for("Stabilize", trace_id=trace_id), "alice-2")
        assert refused.reason == "TOKEN_SCOPE_MISMATCH"


def test_the_bad_text_is_bad():
    assert "90" in BAD
