"""A run converges when each statement has a ground, and tells which stand on the answerer's word alone (ADR 0185)."""

from crp.common.v1 import text_pb2
from crp.dpe.v1 import claim_pb2
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.settings import ErcpSettings
from services.ercp.domain.readings import sentences_of
from tests.fakes.ercp_world import ErcpWorld, operators, status
from tests.rpc.test_ercp_operators import request_for

FETE = pb.Problem(id="p1", description="Describe the fete.")
FIRST = "The gate of the fete opens at seven. A tandem stands at the church."
MENDED = "The gate of the fete opens at eight. A tandem stands at the church."


def grounded(mode="confirmed"):
    return ErcpSettings(solver_deadline_ms=60_000, grounds=mode)


def asked(world, number):
    return world.model.requests[number].messages[0].content


def of(answer):
    return [(each.places[0].sentence, each.is_confirmed) for each in answer.open_grounds]


def all_supported(request):
    """Report every claim as borne out by the facts."""
    spans = [text_pb2.TextSpan(start=each.start, end=each.end) for each in sentences_of(request.response_text)]
    return {
        "claims": [
            claim_pb2.Claim(
                claim_id=f"c{number}", span=span, sentence_index=number, verdict=claim_pb2.CLAIM_VERDICT_SUPPORTED
            )
            for number, span in enumerate(spans)
        ]
    }


async def test_the_second_candidate_is_written_under_the_question_for_the_ground_and_confirms_it():
    world = ErcpWorld(replies=(FIRST,))
    async with world.serving() as client:
        answer = await client.run(problem=FETE)
    assert (status(answer), answer.status_reason, answer.iterations) == ("converged", "STABLE", 2)
    assert operators(answer.trace_events) == ["generate", "verify", "generate", "verify", "stabilize"]
    assert "HasJustification" not in asked(world, 0)
    assert 'HasJustification("The gate of the fete opens at seven.")' in asked(world, 1)
    assert not answer.constraints  # a question demands nothing of the answer
    assert of(answer) == [
        ("The gate of the fete opens at seven.", True),
        ("A tandem stands at the church.", True),
    ]
    assert answer.trace_events[2].input_summary["grounds_asked"] == 2
    assert answer.trace_events[1].output_summary["open_grounds"]["count"] == 2


async def test_what_takes_the_place_of_a_statement_is_asked_about_as_well():
    world = ErcpWorld(replies=(FIRST, MENDED, MENDED))
    async with world.serving() as client:
        answer = await client.run(problem=FETE)
    assert (status(answer), answer.iterations) == ("converged", 3)
    assert 'HasJustification("The gate of the fete opens at eight.")' in asked(world, 2)
    assert of(answer)[0] == ("The gate of the fete opens at eight.", True)


async def test_facts_that_bear_all_of_it_out_leave_nothing_to_ask():
    world = ErcpWorld(replies=(FIRST,), settings=grounded("given"))
    world.script.report_of = all_supported
    async with world.serving() as client:
        answer = await client.run(problem=FETE)
    assert (status(answer), answer.iterations) == ("converged", 2)
    assert not answer.open_grounds
    assert "HasJustification" not in asked(world, 1)


async def test_where_facts_are_demanded_a_confirmed_statement_is_none_and_is_named():
    world = ErcpWorld(replies=(FIRST,), settings=grounded("given"))
    passage = rpc.RetrievalPassage(source="notice", text="A tandem stands at the church.")
    async with world.serving() as client:
        answer = await client.run(problem=FETE, retrieval_context=[passage])
    assert (status(answer), answer.status_reason) == ("partial", "NOT_GROUNDED")
    assert of(answer) == [("The gate of the fete opens at seven.", True)]


async def test_switched_off_nothing_is_asked_and_nothing_told():
    world = ErcpWorld(replies=(FIRST,), settings=grounded("off"))
    async with world.serving() as client:
        answer = await client.run(problem=FETE)
    assert (status(answer), answer.iterations) == ("converged", 2)
    assert not answer.open_grounds
    assert "HasJustification" not in asked(world, 1)
    assert "open_grounds" not in answer.trace_events[1].output_summary


async def test_who_allows_what_is_undecided_is_not_asked():
    world = ErcpWorld(replies=(FIRST,))
    async with world.serving() as client:
        answer = await client.run(problem=FETE, config=rpc.RunConfig(allow_undecided=True))
    assert status(answer) == "converged"
    assert "HasJustification" not in asked(world, 1)


async def test_a_run_that_is_taken_up_again_asks_the_same():
    world = ErcpWorld(replies=(FIRST,))
    request = rpc.RunRequest(request_id="0f8fad5b-d9cb-469f-a165-70867728950e", problem=FETE)
    async with world.serving() as client:
        first = await client.call("Run", request)
    async with world.serving() as client:
        again = await client.call("Run", request)
    assert again.trace_events == first.trace_events
    assert of(again) == of(first)


async def test_verify_tells_what_nothing_bears_out_and_calls_it_no_error():
    async with ErcpWorld(replies=(FIRST,)).serving() as client:
        answer = await client.call("Verify", request_for("Verify", reasoning_text=FIRST))
    assert not answer.errors
    assert of(answer) == [("The gate of the fete opens at seven.", False), ("A tandem stands at the church.", False)]
