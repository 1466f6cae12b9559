"""What the second detector suspects: in Run, Verify and the trace, and where it asks nothing (ADR 0117)."""

import numpy as np
import pytest
from ercp.v1 import ercp_pb2 as pb
from ercp.v1 import ercp_service_pb2 as rpc

from services.common.adapters.memory.embedding import MemoryEmbeddingModel
from services.common.message_json import json_of
from services.common.settings import ErcpSettings
from services.ercp.run_counts import RunCounts
from services.ercp.suspicion_bounds import load_bounds
from services.ercp.understanding import Wording
from services.ercp.verifying import SecondDetector
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.ercp_world import ErcpWorld, constraint, status
from tests.rpc.test_ercp_metrics import scraped
from tests.rpc.test_ercp_operators import request_for

DISPUTES = pb.Problem(id="p1", description="Who decides disputes?")
REFEREE = "A referee in Toronto decides every dispute because both sides trust her."
COURT = "The courts of Ontario decide every dispute because both sides trust them."


class Entailing:
    """Says that "There is arbitration." follows from what names a referee; everything else is neutral."""

    fingerprint = "entailing@1+sha256:0000000000000000"
    max_tokens = 512

    def __init__(self):
        self.batches = []

    async def classify(self, pairs):
        self.batches.append(list(pairs))
        rows = [
            (0.9, 0.05, 0.05) if "referee" in premise and "arbitration" in hypothesis else (0.1, 0.85, 0.05)
            for premise, hypothesis in pairs
        ]
        return np.array(rows, dtype=np.float32).reshape(len(pairs), 3)


def detecting(most_pairs=400, **fields):
    entailment = Entailing()
    second = SecondDetector(entailment, MemoryEmbeddingModel(), load_bounds(), most_pairs)
    return ErcpWorld(entailment=entailment, second=second, **fields), entailment


def no_arbitration(*, immutable=True):
    return constraint(
        "NotContains",
        immutable=immutable,
        constraint_id=fresh_uuid(),
        words="No arbitration.",
        text="arbitration",
        topic=True,
    )


def told(outcome):
    return pb.ConstraintState.Name(outcome.state).removeprefix("CONSTRAINT_STATE_").lower(), outcome.undecided_reason


@pytest.mark.parametrize("allow", [False, True])
async def test_an_immutable_suspicion_is_no_convergence_whatever_is_allowed(allow):
    world, _ = detecting(replies=(REFEREE,))
    async with world.serving() as client:
        answer = await client.run(constraints=[no_arbitration()], config=rpc.RunConfig(allow_undecided=allow))
    assert (status(answer), answer.status_reason) == ("partial", "UNDECIDED")
    (outcome,) = answer.constraint_outcomes
    assert told(outcome) == ("undecided", "SUSPECTED")
    assert [place.sentence for place in outcome.places] == [REFEREE]
    assert outcome.why == 'suspected: the draft seems to say "There is arbitration" (0.90)'
    verified = [json_of(each)["output_summary"] for each in answer.trace_events if each.operator == 2]
    assert verified[0]["constraints"]["items"][0]["undecided_reason"] == "SUSPECTED"


async def test_what_is_not_suspected_stays_undecided_and_may_be_allowed():
    world, _ = detecting(replies=(COURT,))
    async with world.serving() as client:
        answer = await client.run(constraints=[no_arbitration()], config=rpc.RunConfig(allow_undecided=True))
    assert status(answer) == "converged"
    assert told(answer.constraint_outcomes[0]) == ("undecided", "NOT_STATED")


async def test_one_that_may_be_relaxed_is_told_and_stands_in_nobodys_way():
    world, _ = detecting(replies=(REFEREE,))
    async with world.serving() as client:
        answer = await client.run(constraints=[no_arbitration(immutable=False)], problem=DISPUTES)
    assert status(answer) == "converged"
    assert told(answer.constraint_outcomes[0]) == ("undecided", "SUSPECTED")


async def test_verify_tells_it_counts_it_and_asks_in_one_batch():
    world, entailment = detecting()
    request = request_for("Verify", reasoning_text=f"{REFEREE} The fee is 300 euros.")
    request.constraints.extend(
        [no_arbitration(), constraint("LessThan", left="fee", right="200", unit="EUR"), no_arbitration()]
    )
    async with world.serving() as client:
        answer = await client.call("Verify", request)
        counted = scraped(world.counts)
    assert [told(each) for each in answer.constraint_outcomes] == [
        ("undecided", "SUSPECTED"),
        ("broken", ""),
        ("undecided", "SUSPECTED"),
    ]
    asked = [batch for batch in entailment.batches if any("There is" in text for pair in batch for text in pair)]
    assert [len(batch) for batch in asked] == [8]
    assert counted['groundtrail_ercp_constraints_total{reason="SUSPECTED",state="undecided"}'] == 2.0


@pytest.mark.parametrize("most_pairs", [0, 1])
async def test_the_setting_bounds_what_is_asked(most_pairs):
    world, entailment = detecting(most_pairs)
    request = request_for("Verify", reasoning_text=f"{REFEREE} It rains.")
    request.constraints.append(no_arbitration())
    async with world.serving() as client:
        answer = await client.call("Verify", request)
    assert told(answer.constraint_outcomes[0]) == ("undecided", "NOT_STATED")
    assert not [pair for batch in entailment.batches for pair in batch if "There is" in pair[1]]


async def test_words_that_nothing_understands_are_held_where_the_deployment_says_so():
    bare = pb.Constraint(type="CONSTRAINT_TYPE_PREDICATE", nl_text="Each chapter needs\na summary.")
    known = pb.Constraint(type="CONSTRAINT_TYPE_PREDICATE", nl_text="at most 200 words")
    counts = RunCounts()
    await Wording(holds_words=True, counts=counts).complete([bare, known])
    assert json_of(bare)["predicate"] == {
        "predicate_name": "InWords",
        "args": {"words": "Each chapter needs a summary."},
    }
    assert known.predicate.predicate_name == "Count"
    again = pb.Constraint(type="CONSTRAINT_TYPE_PREDICATE", nl_text="Each chapter needs a summary.")
    await Wording(counts=counts).complete([again])
    assert not again.HasField("predicate")
    words = {key: value for key, value in scraped(counts).items() if "constraint_words" in key}
    assert words == {
        'groundtrail_ercp_constraint_words_total{outcome="rules"}': 1.0,
        'groundtrail_ercp_constraint_words_total{outcome="in_words"}': 1.0,
        'groundtrail_ercp_constraint_words_total{outcome="refused"}': 1.0,
        'groundtrail_ercp_constraint_words_total{outcome="language_model"}': 0.0,
    }


async def test_words_alone_are_never_kept():
    world, _ = detecting(settings=ErcpSettings())
    request = request_for("Verify", reasoning_text="Each chapter has a summary.")
    request.constraints.append(constraint("InWords", words="Each chapter needs a summary."))
    request.constraints[0].predicate.args.update({"words": "Each chapter needs a summary."})
    async with world.serving() as client:
        answer = await client.call("Verify", request)
    assert told(answer.constraint_outcomes[0]) == ("undecided", "NOT_UNDERSTOOD")
