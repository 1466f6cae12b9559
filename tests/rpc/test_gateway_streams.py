"""DispatchStream over gRPC: what has passed leaves as it passes, the outcome comes last (ADR 0146)."""

import asyncio
import contextlib

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import report_pb2
from crp.gateway.v1 import dispatch_pb2
from crp.gateway.v1 import dispatch_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2_grpc as pb_grpc

from services.common.adapters.memory.inference import MemoryLanguageModel
from services.common.settings import GatewaySettings
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.gateway_world import (
    ANSWER,
    ETAG,
    FAULT,
    QUESTION,
    GatewayWorld,
    Hold,
    Script,
    contradicting,
    headers_of,
)
from tests.patience import patient

LAST = "Call the police first."
LONG = f"{ANSWER} {FAULT} {LAST}"
BUFFER = dispatch_pb2.STREAM_SAFETY_MODE_BUFFER
PASS = dispatch_pb2.STREAM_SAFETY_MODE_PASS_THROUGH


class Steered(MemoryLanguageModel):
    """Writes a piece when it is let."""

    def __init__(self, replies):
        super().__init__(replies)
        self.allowed = asyncio.Semaphore(0)
        self.reached = asyncio.Event()
        self.stop_at = None

    async def before_piece(self, number):
        if number == self.stop_at:
            self.reached.set()
            await self.allowed.acquire()


@contextlib.asynccontextmanager
async def streaming(world, **fields):
    async with world.serving() as client:
        stub = pb_grpc.DispatchServiceStub(client.channel)

        def call(subject="alice", **more):
            asked = pb.DispatchRequest(**({"request_id": fresh_uuid(), "query": QUESTION} | fields | more))
            return stub.DispatchStream(
                pb.DispatchStreamRequest(dispatch=asked),
                metadata=(("authorization", subject),),
                timeout=patient(20),
            )

        yield call


async def read(call):
    events = [event async for event in call]
    text = "".join(event.token for event in events)
    assert [event.WhichOneof("event") for event in events][-1] == "outcome"
    return text, events[-1].outcome


async def refused(call):
    try:
        found = [event async for event in call]
    except grpc.aio.AioRpcError as error:
        return Refusal.of(error)
    raise AssertionError(f"answered {found}")


class TestHeldBack:
    async def test_a_clean_stream_is_the_answer_sentence_by_sentence(self):
        clean = f"{ANSWER} {LAST}"
        model = Steered([clean])
        model.stop_at = len(clean.split()) - 1
        world = GatewayWorld(model=model)
        async with streaming(world) as call:
            running = call()
            reader = aiter(running)
            first = await anext(reader)
            assert first.token == f"{ANSWER} "
            assert world.statuses() == ["PENDING"]
            model.allowed.release()
            events = [first, *[event async for event in reader]]
            begun = dict(await running.initial_metadata())
            ended = dict(await running.trailing_metadata())
        assert "".join(event.token for event in events) == clean
        outcome = events[-1].outcome
        assert outcome.answer.text == clean
        assert begun["crp-stream-safety-mode"] == headers_of(outcome)["CRP-Stream-Safety-Mode"] == "hold-back"
        assert begun["crp-context-session-id"] == outcome.answer.session_id
        assert ended["crp-set-session"] == headers_of(outcome)["CRP-Set-Session"]
        assert world.statuses() == ["COMMITTED"]

    async def test_it_ends_as_the_same_dispatch_unstreamed(self):
        def bare(response):
            """Without ids, times and what is hashed over them."""
            copy = pb.DispatchResponse.FromString(response.SerializeToString())
            answer = copy.answer
            for name in ("window", "session_token", "continuation_id", "session_id"):
                answer.ClearField(name)
            for name in ("report_id", "session_id", "window_id", "report_hash", "hmac"):
                answer.report.ClearField(name)
            copy.ClearField("headers")
            copy.model_calls[0].ClearField("window_id")
            return copy

        clean = f"{ANSWER} {LAST}"
        ran = taxonomy_pb2.STAGE_STATUS_COMPLETED
        stages = [report_pb2.StageOutcome(number=number, status=ran) for number in (1, 2)]
        world = GatewayWorld(Script(report={"stages": stages}), replies=(clean,))
        async with world.serving() as client:
            plain = await client.dispatch()
        async with streaming(GatewayWorld(Script(report={"stages": stages}), replies=(clean,))) as call:
            events = [event async for event in call()]
        streamed = events[-1].outcome
        assert bare(streamed) == bare(plain)
        assert [one.stage.number for one in events[-3:-1]] == [1, 2]
        left_out = {"CRP-Stream-Safety-Mode"}
        assert [one.name for one in streamed.headers if one.name not in left_out] == [one.name for one in plain.headers]

    @pytest.mark.parametrize("stop_at", [None, len(LONG.split()) - 1])
    async def test_a_faulted_sentence_never_leaves_and_ends_the_model(self, stop_at):
        """However fast the model writes: what stands before the fault leaves."""
        model = Steered([LONG])
        model.stop_at = stop_at
        world = GatewayWorld(Script(report_of=contradicting), model=model)
        async with streaming(world) as call:
            text, outcome = await read(call())
        assert text == f"{ANSWER} "
        assert outcome.halted.halt_reason == "CRITICAL_HALLUCINATION_RISK"
        assert headers_of(outcome)["CRP-Safety-Retry-After"] == "oversight-required"
        assert b"900 days" not in outcome.halted.report.SerializeToString()  # digits alone stand in hashes by chance
        assert world.statuses() == ["FAILED"]
        assert model.left == 1
        assert [event["halt_reason"] for event in world.events_of("SAFETY_HALT")] == ["CRITICAL_HALLUCINATION_RISK"]

    async def test_the_last_sentence_waits_for_the_commit(self):
        model = Steered([f"{ANSWER} {LAST}"])
        model.stop_at = len(ANSWER.split()) + 1
        world = GatewayWorld(model=model)
        hold = world.script.hold = Hold("CommitWindow")
        async with streaming(world) as call:
            running = call()
            first = await anext(aiter(running))
            model.allowed.release()
            await asyncio.wait_for(hold.reached.wait(), patient(10))
            assert first.token == f"{ANSWER} "
            running.cancel()

    async def test_a_reader_who_leaves_ends_the_call_and_the_window(self):
        model = Steered([LONG])
        model.stop_at = 3
        world = GatewayWorld(model=model)
        async with streaming(world) as call:
            running = call()
            await asyncio.wait_for(model.reached.wait(), patient(10))
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
                await running.read()
        assert world.statuses() == ["FAILED"]  # the process has ended, and what it was giving up was given up
        assert model.left == 1

    async def test_a_retry_gives_the_same_answer_and_makes_no_second_window(self):
        world = GatewayWorld(replies=(f"{ANSWER} {LAST}", "Something else."))
        async with streaming(world, request_id=fresh_uuid()) as call:
            first, second = await read(call()), await read(call())
        assert first[0] == second[0]
        assert first[1].answer.window == second[1].answer.window
        assert headers_of(second[1])["CRP-Stream-Safety-Mode"] == "buffer"
        assert world.statuses() == ["COMMITTED"]


class TestOtherModes:
    @pytest.mark.parametrize(
        "fields",
        [
            {"stream_safety_mode": BUFFER},
            {"safety_mode": dispatch_pb2.SAFETY_MODE_STRICT, "safety_policy": "halt-on CRITICAL"},
            {"safety_policy": "halt-on CRITICAL; require-completeness 0.5"},
            {"safety_policy": "halt-on CRITICAL; upgrade-on-risk reflexive"},
            {"remediation": dispatch_pb2.REMEDIATION_MODE_RECOMMENDED},
            {"oversight_mode": dispatch_pb2.OVERSIGHT_MODE_HUMAN_REVIEW},
            {"oversight_mode": dispatch_pb2.OVERSIGHT_MODE_HALT, "stream_safety_mode": PASS},
        ],
    )
    async def test_everything_waits_where_it_is_asked_for_or_the_whole_is_judged(self, fields):
        world = GatewayWorld(Script(report_of=contradicting), replies=(LONG,))
        async with streaming(world, **fields) as call:
            text, outcome = await read(call())
        assert text == ""
        assert outcome.WhichOneof("outcome") == "halted"
        assert headers_of(outcome)["CRP-Stream-Safety-Mode"] == "buffer"

    async def test_in_buffer_all_headers_stand_before_the_text(self):
        async with streaming(GatewayWorld(), stream_safety_mode=BUFFER) as call:
            running = call()
            text, outcome = await read(running)
            begun = dict(await running.initial_metadata())
        assert text == outcome.answer.text == ANSWER
        assert begun["crp-set-session"] == headers_of(outcome)["CRP-Set-Session"]

    async def test_pass_through_sends_tokens_at_once_and_the_halt_at_the_end(self):
        model = Steered([LONG])
        world = GatewayWorld(Script(report_of=contradicting), model=model)
        async with streaming(world, stream_safety_mode=PASS) as call:
            running = call()
            reader = aiter(running)
            first = await anext(reader)
            assert first.token == "A "
            rest = [event async for event in reader]
        outcome = rest[-1].outcome
        assert LONG.startswith("".join(event.token for event in [first, *rest]))
        assert outcome.halted.halt_reason == "CRITICAL_HALLUCINATION_RISK"
        assert headers_of(outcome)["CRP-Stream-Safety-Mode"] == "pass-through"

    async def test_pass_through_is_refused_in_mode_strict(self):
        world = GatewayWorld()
        async with streaming(world, safety_mode=dispatch_pb2.SAFETY_MODE_STRICT, stream_safety_mode=PASS) as call:
            refusal = await refused(call())
        assert (refusal.code.name, refusal.reason) == ("INVALID_ARGUMENT", "INVALID_FIELD")
        assert list(refusal.fields) == ["stream_safety_mode"]
        assert world.windows() == []

    async def test_an_etag_that_holds_is_not_modified(self):
        async with streaming(GatewayWorld(Script(not_modified=True)), if_match=ETAG) as call:
            text, outcome = await read(call())
        assert (text, outcome.not_modified.etag) == ("", ETAG)

    async def test_a_model_that_is_not_there_fails_the_window(self):
        from services.common.errors import ErrorReason, UnavailableError

        world = GatewayWorld(model=MemoryLanguageModel([UnavailableError(ErrorReason.LLM_UNAVAILABLE, "gone")]))
        async with streaming(world) as call:
            assert (await refused(call())).reason == "LLM_UNAVAILABLE"
        assert world.statuses() == ["FAILED"]

    async def test_a_half_spent_budget_waits_for_the_whole(self):
        world = GatewayWorld(settings=GatewaySettings())
        async with streaming(world, safety_budget=0.4) as call:
            _, outcome = await read(call())
        assert headers_of(outcome)["CRP-Stream-Safety-Mode"] == "buffer"
