"""Statements that may be at odds keep a run from converging, and the generator is asked about them once (ADR 0179)."""

import numpy as np
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.ercp.suspicion_bounds import load_bounds
from services.ercp.verifying import SecondDetector
from tests.fakes.ercp_world import ErcpWorld, status
from tests.rpc.test_ercp_operators import request_for

HALL = pb.Problem(id="p1", description="Describe the hall.")
AT_ODDS = "The hall of the inn has 84 seats. All 96 seats of the hall of the inn were taken."
MENDED = AT_ODDS.replace("96", "84")


class Hesitating:
    """Says of everything that it may be a contradiction, less surely than an error takes."""

    fingerprint = "hesitating@1+sha256:0000000000000000"
    max_tokens = 512

    def __init__(self, contradiction=0.45):
        self._contradiction = contradiction

    async def classify(self, pairs):
        return np.tile(
            np.array([[0.1, 0.9 - self._contradiction, self._contradiction]], dtype=np.float32), (len(pairs), 1)
        )


class Alike(MemoryEmbeddingModel):
    """Finds all texts alike."""

    async def embed(self, texts):
        return np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (len(texts), 1))


def doubting(*replies, contradiction=0.45):
    entailment = Hesitating(contradiction)
    return ErcpWorld(
        entailment=entailment, second=SecondDetector(entailment, Alike(), load_bounds(), 400), replies=replies
    )


def operators(answer):
    return [event.operator for event in answer.trace_events]


async def test_a_doubt_that_stays_is_no_convergence_and_is_told():
    async with doubting(AT_ODDS).serving() as client:
        answer = await client.run(problem=HALL)
    assert (status(answer), answer.status_reason) == ("partial", "UNDECIDED")
    (doubt,) = answer.open_doubts
    assert doubt.against == "The hall of the inn has 84 seats."
    assert doubt.places[0].sentence.startswith("All 96 seats")
    assert operators(answer).count(3) == 1  # asked about once
    (asked,) = answer.constraints
    assert (asked.predicate.predicate_name, asked.immutable) == ("NoContradiction", False)


async def test_a_doubt_that_the_next_draft_settles_is_convergence():
    async with doubting(AT_ODDS, MENDED).serving() as client:
        answer = await client.run(problem=HALL)
    assert status(answer) == "converged"
    assert answer.final_reasoning.reasoning_text == MENDED
    assert not answer.open_doubts


async def test_the_caller_may_allow_it_and_is_told_all_the_same():
    async with doubting(AT_ODDS).serving() as client:
        answer = await client.run(problem=HALL, config=rpc.RunConfig(allow_undecided=True))
    assert status(answer) == "converged"
    assert len(answer.open_doubts) == 1


async def test_verify_tells_it_and_calls_it_no_error():
    async with doubting(MENDED).serving() as client:
        answer = await client.call("Verify", request_for("Verify", reasoning_text=AT_ODDS))
    assert not answer.errors
    assert len(answer.open_doubts) == 1


async def test_verify_tells_of_a_denial_that_may_be_one():
    text = "The window contains no blue glass. The blue panes of the window were cleaned."
    async with doubting(MENDED, contradiction=0.58).serving() as client:
        answer = await client.call("Verify", request_for("Verify", reasoning_text=text))
    assert not answer.errors
    (doubt,) = answer.open_doubts
    assert doubt.against == "The window contains no blue glass."
