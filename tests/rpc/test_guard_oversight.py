"""OverseeStream: verdicts, halts, modes, bad input, and what becomes of streams that break off (ADR 0123)."""

import asyncio

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.errors import ErrorReason, LimitExceededError
from services.common.settings.guard.oversight import OversightSettings
from tests.each import each
from tests.fakes.dpe_world import refusal
from tests.fakes.guard_streams import (
    StreamWorld,
    WrittenScores,
    end,
    eventually,
    fresh_id,
    rest_of,
    resume,
    start,
    token,
    tokens,
    told,
)

GOOD = "The fee is 5 euros (0.95). Hail is covered (0.95). Paint is covered too (0.95)."
FALSE = "The fee is 5 euros (0.95). Hail is not covered (0.1). Paint is covered too (0.95)."
"""Six, four (five) and five words; the second sentence of FALSE is false."""
State = guard_pb2.TokenState


async def overseen(text=FALSE, world=None, **given):
    async with (world or StreamWorld()).serving() as client:
        return await client.run(start(**given), *tokens(text), end())


async def test_a_faithful_stream_has_a_verdict_for_every_token_and_is_released_whole():
    responses = await overseen(GOOD)
    verdicts, (summary,) = told(responses, "verdict"), told(responses, "summary")
    assert [one.index for one in verdicts] == [*range(15), 14], "the end makes the last sentence whole"
    assert [one.event for one in responses] == list(range(1, 18))
    assert not told(responses, "halt")
    assert [State.Name(one.state).removeprefix("TOKEN_STATE_") for one in verdicts] == [
        *["UNSCORED"] * 6, "SCORED", *["CARRIED"] * 3, "SCORED", *["CARRIED"] * 4, "SCORED",
    ]  # fmt: skip
    assert not verdicts[5].HasField("coherence")
    assert verdicts[6].coherence == pytest.approx(0.95)
    assert (summary.halted, summary.tokens, summary.released_index, summary.scored_sentences) == (False, 15, 14, 3)
    assert summary.status == taxonomy_pb2.STAGE_STATUS_COMPLETED
    assert [one.role for one in summary.models] == ["scorer"]


async def test_what_may_be_delivered_is_what_was_judged():
    verdicts = told(await overseen(GOOD), "verdict")
    released = [one.released_index if one.HasField("released_index") else None for one in verdicts]
    assert released == [*[None] * 6, *[5] * 4, *[9] * 5, 14]


async def test_a_false_sentence_is_halted_in_itself_and_nothing_of_it_may_be_delivered():
    responses = await overseen(FALSE)
    (halt,), (summary,) = told(responses, "halt"), told(responses, "summary")
    assert (halt.reason, halt.last_index, halt.broken_at_index) == (guard_pb2.HALT_REASON_HARD_LIMIT, 5, 11)
    assert [one.id for one in halt.evidence] == ["f1"]
    assert (halt.evidence[0].answer_span.start, halt.evidence[0].answer_span.end) == (27, 53)
    last = told(responses, "verdict")[-1]
    assert (last.index, last.state, last.released_index) == (11, State.TOKEN_STATE_HARD_LIMIT, 5)
    assert (summary.halted, summary.tokens, summary.released_index) == (True, 12, 5)
    assert [one.WhichOneof("message") for one in responses[-3:]] == ["verdict", "halt", "summary"]


async def test_of_a_first_sentence_that_is_false_nothing_may_be_delivered():
    (halt,) = told(await overseen("Hail is not covered (0.1). More (0.9)."), "halt")
    assert not halt.HasField("last_index")


async def test_the_last_sentence_is_judged_when_the_stream_ends():
    responses = await overseen("The fee is 5 euros (0.95). Hail is not covered (0.1).")
    (halt,), (summary,) = told(responses, "halt"), told(responses, "summary")
    assert (halt.reason, halt.last_index, halt.broken_at_index) == (guard_pb2.HALT_REASON_HARD_LIMIT, 5, 10)
    assert summary.released_index == 5


async def test_in_soft_mode_the_false_sentence_ends():
    responses = await overseen(FALSE, halt_mode=guard_pb2.HALT_MODE_SOFT)
    (halt,) = told(responses, "halt")
    assert (halt.last_index, halt.broken_at_index) == (10, 11)


async def test_in_soft_mode_a_rule_that_breaks_within_a_sentence_lets_it_end_or_so_many_tokens():
    text = "It is so (0.54). And " + "so on and " * 30
    given = {"hard_limit": 0.1, "halt_mode": guard_pb2.HALT_MODE_SOFT, "window_tokens": 3}
    (halt,) = told(await overseen(text, soft_halt_cap_tokens=7, **given), "halt")
    assert (halt.reason, halt.broken_at_index, halt.last_index) == (guard_pb2.HALT_REASON_WINDOW_AVG, 6, 13)
    responses = await overseen("It is so (0.54). And on it goes here. And more.", **given)
    (halt,) = told(responses, "halt")
    assert (halt.broken_at_index, halt.last_index) == (6, 8)
    ending = [one.index for one in told(responses, "verdict") if one.state == State.TOKEN_STATE_ENDING]
    assert ending == [7, 8, 9]


async def test_a_drop_from_one_sentence_to_the_next_is_a_downward_trend():
    (halt,) = told(await overseen("One is true (0.99). Two is less so (0.7). And three (0.99)."), "halt")
    assert (halt.reason, halt.last_index) == (guard_pb2.HALT_REASON_DOWNWARD_TREND, 3)
    wide = await overseen("One is true (0.99). Two is less so (0.7). And three (0.99).", trend_threshold=0.5)
    assert not told(wide, "halt")


async def test_scores_count_every_so_many_tokens():
    responses = await overseen(FALSE, score_every_tokens=4)
    verdicts, (halt,) = told(responses, "verdict"), told(responses, "halt")
    between = [one.index for one in verdicts if one.state == State.TOKEN_STATE_BETWEEN]
    assert between == [8, 9, 10]
    assert (halt.broken_at_index, halt.last_index) == (11, 5)


async def test_a_list_is_judged_with_the_line_that_leads_to_it():
    scoring = WrittenScores()
    text = "The policy covers:\n- fire (0.9)\n- theft (0.9)\nNo more than that (0.9)."
    async with StreamWorld(scoring=scoring).serving() as client:
        await client.run(start(), *[token(at, char) for at, char in enumerate(text)], end())
    assert [one.text for one in scoring.asked] == [
        "The policy covers:\n- fire (0.9)", "theft (0.9)", "No more than that (0.9).",
    ]  # fmt: skip
    assert scoring.asked[1].context == "The policy covers:\n- fire (0.9)\n- "


async def test_a_score_that_does_not_come_in_time_halts_behind_what_was_judged():
    scoring = WrittenScores(gate=asyncio.Event())
    scoring.gate.set()
    world = StreamWorld(OversightSettings(score_timeout_s=0.2, linger_s=0.1), scoring)
    async with world.serving() as client:
        call = client.call()
        for request in (start(), *tokens(GOOD)[:7]):
            await call.write(request)
        for _ in range(7):
            await call.read()
        scoring.gate.clear()
        for request in tokens(GOOD)[7:12]:
            await call.write(request)
        rest = await rest_of(call)
    (halt,), (summary,) = told(rest, "halt"), told(rest, "summary")
    assert (halt.reason, halt.last_index) == (guard_pb2.HALT_REASON_CALLBACK_TIMEOUT, 5)
    assert (summary.status, summary.reason) == (taxonomy_pb2.STAGE_STATUS_DEGRADED, "CALLBACK_TIMEOUT")


@each(
    ("requests", "fields"),
    [
        ([], ["message"]),
        ([pb.OverseeStreamRequest()], ["message"]),
        ([token(0, "A")], ["message"]),
        ([end()], ["message"]),
        ([start(), start()], ["message"]),
        ([start(), resume(fresh_id())], ["message"]),
        ([start(), pb.OverseeStreamRequest()], ["message"]),
        ([start(), token(0, "A")], ["message"]),
        ([start(), token(1, "A")], ["token.index"]),
        ([start(), token(0, "A"), token(0, "A")], ["token.index"]),
        ([start(), token(0, "A"), token(2, "B")], ["token.index"]),
        ([start(), token(0, "")], ["token.text"]),
        ([start(), token(0, "A" * 10_001)], ["token.text"]),
        ([start(prompt=" ")], ["start.prompt"]),
        ([start(facts=[" "])], ["start.facts[0].content"]),
        ([start(halt_mode=9)], ["start.halt_mode"]),
        ([start(hard_limit=1.5)], ["start.hard_limit"]),
        ([start(hard_limit=float("nan"))], ["start.hard_limit"]),
        ([start(window_tokens=0)], ["start.window_tokens"]),
        ([start(trend_window_tokens=1)], ["start.trend_window_tokens"]),
        ([start(soft_halt_cap_tokens=1_001)], ["start.soft_halt_cap_tokens"]),
        ([start(score_every_tokens=0)], ["start.score_every_tokens"]),
        ([start(oversight_id="mine")], ["start.oversight_id"]),
        ([start(prompt="", facts=["", ""], score_every_tokens=0)],
         ["start.prompt", "start.facts[0].content", "start.facts[1].content", "start.score_every_tokens"]),
        ([resume("mine")], ["resume.oversight_id"]),
    ],
)  # fmt: skip
async def test_bad_input_is_named_at_every_message(requests, fields):
    async with StreamWorld().serving() as client:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.run(*requests)
    assert refusal(caught.value) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", fields)


async def test_facts_that_are_the_same_or_too_many_or_too_long_are_refused():
    world = StreamWorld(OversightSettings(max_facts=2, max_facts_chars=1_000))
    async with world.serving() as client:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.run(start(facts=["a", "b", "c"]))
        assert refusal(caught.value)[2] == ["start.facts"]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.run(start(facts=["a" * 1_001]))
        assert refusal(caught.value)[:2] == (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE")
        twice = start(facts=["a"])
        twice.start.facts.add(id="f1", content="b")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.run(twice)
        assert refusal(caught.value)[2] == ["start.facts[1].id"]
        nameless = start(facts=["a"])
        nameless.start.facts.add(content="b")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.run(nameless)
        assert refusal(caught.value)[2] == ["start.facts[1].id"]


async def test_bad_input_behind_a_score_that_is_awaited_is_told_when_all_before_it_is():
    async with StreamWorld().serving() as client:
        call = client.call()
        for request in (start(), *tokens(GOOD)[:8], token(99, "x")):
            await call.write(request)
        responses = []
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await rest_of(call, responses)
    assert [one.index for one in told(responses, "verdict")] == list(range(8))
    assert refusal(caught.value)[2] == ["token.index"]


async def test_more_streams_than_may_be_open_are_refused():
    world = StreamWorld(OversightSettings(max_streams=3, max_streams_per_tenant=2))
    async with world.serving() as client:
        calls = [client.call(), client.call(), client.call("other")]
        for call in calls:
            await call.write(start())
            await call.write(token(0, "A"))
            await call.read()
        for caller, scope in (("reader", "process"), ("other", "process")):
            refused = await client.refused(caller)
            assert refusal(refused)[:2] == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")
            assert scope in refused.details()
        calls[2].cancel()
        await eventually(lambda: world.counts()["groundtrail_guard_streams", "open"] == 2)
        assert "tenant" in (await client.refused()).details()
        assert told(await client.run(start(), end(), caller="other"), "summary")
        for call in calls:
            call.cancel()  # the server waits for streams that are open when it stops


async def test_streams_are_no_calls_in_flight():
    world = StreamWorld(server_settings={"max_concurrent_calls": 2, "max_concurrent_calls_per_tenant": 2})
    async with world.serving() as client:
        calls = [client.call() for _ in range(5)]
        for call in calls:
            await call.write(start())
            await call.write(token(0, "A"))
        assert [(await call.read()).verdict.index for call in calls] == [0] * 5
        for call in calls:
            call.cancel()


async def test_a_stream_with_nothing_in_it_ends():
    async with StreamWorld().serving() as client:
        (response,) = await client.run(start(), end())
    assert (response.summary.tokens, response.summary.HasField("released_index")) == (0, False)


async def test_sentences_that_come_fast_are_scored_beside_each_other():
    scoring = WrittenScores(gate=asyncio.Event())
    async with StreamWorld(scoring=scoring).serving() as client:
        running = asyncio.create_task(client.run(start(), *tokens(GOOD), end()))
        await eventually(lambda: scoring.running == 3)
        scoring.gate.set()
        assert len(told(await running, "verdict")) == 16


async def test_a_client_that_goes_away_ends_what_is_scored_for_it():
    scoring = WrittenScores(gate=asyncio.Event())
    world = StreamWorld(scoring=scoring)
    async with world.serving() as client:
        call = client.call()
        for request in (start(), *tokens(GOOD)[:8]):
            await call.write(request)
        await eventually(lambda: scoring.running == 1)
        call.cancel()
        await eventually(lambda: scoring.running == 0)
        counts = world.counts()
        assert counts["groundtrail_guard_streams", "open"] == 0
        assert counts["groundtrail_guard_streams", "held"] == 0, "it had no id"


async def test_a_writer_that_is_too_fast_waits():
    scoring = WrittenScores(gate=asyncio.Event())
    world = StreamWorld(OversightSettings(read_ahead_tokens=4, score_timeout_s=600), scoring)
    async with world.serving() as client:
        call = client.call()
        sent = 0

        async def send():
            nonlocal sent
            await call.write(start())
            for number in range(4_000):
                text = "Yes (0.9). " if number == 0 else " X" + "x" * 9_000
                await call.write(token(number, text))
                sent += 1

        sending = asyncio.create_task(send())
        await eventually(lambda: scoring.running >= 1)
        previous = -1
        while sent != previous:
            previous = sent
            await asyncio.sleep(0.3)
        assert sent < 4_000, "flow control holds the writer back"
        sending.cancel()
        call.cancel()


async def test_a_deadline_ends_a_stream_with_its_own_reason():
    scoring = WrittenScores(gate=asyncio.Event())
    async with StreamWorld(scoring=scoring).serving() as client:
        call = client.call(timeout=0.5)
        for request in (start(), *tokens(GOOD)[:8]):
            await call.write(request)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await rest_of(call)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class TestResuming:
    """What was lost with a connection is told again, once."""

    async def test_a_client_goes_on_where_it_was(self):
        whole = await overseen(FALSE)
        name = fresh_id()
        world = StreamWorld()
        async with world.serving() as client:
            call = client.call()
            for request in (start(oversight_id=name), *tokens(FALSE)[:8]):
                await call.write(request)
            first = [await call.read() for _ in range(8)]
            call.cancel()
            await eventually(lambda: world.counts()["groundtrail_guard_streams", "held"] == 1)
            rest = await client.run(resume(name, 5), *tokens(FALSE)[5:], end())
            again = await client.run(resume(name, 5))
        assert [*first[:5], *rest] == whole
        assert again == rest, "as long as it is kept, the end is told again"

    async def test_what_was_read_and_not_concluded_is_not_lost(self):
        scoring = WrittenScores(gate=asyncio.Event())
        name, world = fresh_id(), StreamWorld(scoring=scoring)
        async with world.serving() as client:
            call = client.call()
            for request in (start(oversight_id=name), *tokens(GOOD)):
                await call.write(request)
            await eventually(lambda: scoring.running == 2)
            call.cancel()
            await eventually(lambda: world.counts()["groundtrail_guard_streams", "held"] == 1)
            scoring.gate.set()
            rest = await client.run(resume(name), *tokens(GOOD), end())
        assert rest == await overseen(GOOD)

    async def test_a_full_queue_breaks_a_stream_off_and_it_goes_on(self):
        error = LimitExceededError(ErrorReason.QUEUE_FULL, "The model's queue is full.")
        name, world = fresh_id(), StreamWorld(scoring=WrittenScores(error=error))
        async with world.serving() as client:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.run(start(oversight_id=name), *tokens(GOOD), end())
            assert refusal(caught.value)[1] == "QUEUE_FULL"
            rest = await client.run(resume(name, 0), *tokens(GOOD), end())
        assert rest == await overseen(GOOD)

    async def test_it_is_the_tenants_own(self):
        name, world = fresh_id(), StreamWorld()
        async with world.serving() as client:
            await client.run(start(oversight_id=name), *tokens(GOOD), end())
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.run(resume(name), caller="other")
            assert refusal(caught.value)[:2] == (grpc.StatusCode.NOT_FOUND, "OVERSIGHT_NOT_FOUND")
            assert await client.run(start(oversight_id=name), end(), caller="other"), "ids of tenants do not meet"

    async def test_an_id_that_goes_on_begins_nothing_else(self):
        name = fresh_id()
        async with StreamWorld().serving() as client:
            await client.run(start(oversight_id=name), end())
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.run(start(oversight_id=name), end())
        assert refusal(caught.value)[:2] == (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")

    async def test_a_repeated_token_must_be_the_same(self):
        name, world = fresh_id(), StreamWorld()
        async with world.serving() as client:
            call = client.call()
            for request in (start(oversight_id=name), *tokens(GOOD)[:3]):
                await call.write(request)
            [await call.read() for _ in range(3)]
            call.cancel()
            await eventually(lambda: world.counts()["groundtrail_guard_streams", "held"] == 1)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.run(resume(name, 3), token(2, " other"))
        assert refusal(caught.value)[2] == ["token.text"]

    async def test_the_newest_connection_has_it(self):
        name = fresh_id()
        async with StreamWorld().serving() as client:
            old = client.call()
            for request in (start(oversight_id=name), *tokens(GOOD)[:3]):
                await old.write(request)
            [await old.read() for _ in range(3)]
            new = client.call()
            await new.write(resume(name, 1))
            assert [(await new.read()).event for _ in range(2)] == [2, 3]
            await old.write(tokens(GOOD)[3])
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await rest_of(old)
            assert refusal(caught.value)[:2] == (grpc.StatusCode.ABORTED, "OVERSIGHT_TAKEN_OVER")
            for request in (*tokens(GOOD)[3:], end()):
                await new.write(request)
            await new.done_writing()
            assert told(await rest_of(new), "summary")[0].tokens == 15

    async def test_events_that_are_kept_no_more_and_such_as_never_were_are_named(self):
        name = fresh_id()
        async with StreamWorld(OversightSettings(replay_events=16)).serving() as client:
            await client.run(start(oversight_id=name), *tokens(GOOD), end())
            for after in (0, 18):
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await client.run(resume(name, after))
                assert refusal(caught.value)[:2] == (grpc.StatusCode.NOT_FOUND, "EVENT_NOT_FOUND")
            assert [one.event for one in await client.run(resume(name, 1))] == list(range(2, 18))

    async def test_it_is_kept_for_a_bounded_time_and_number(self):
        names = [fresh_id() for _ in range(3)]
        async with StreamWorld(OversightSettings(max_held_streams=2)).serving() as client:
            for name in names:
                await client.run(start(oversight_id=name), end())
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await client.run(resume(names[0]))
            assert refusal(caught.value)[1] == "OVERSIGHT_NOT_FOUND"
            assert await client.run(resume(names[1]))
        async with StreamWorld(OversightSettings(resume_s=0)).serving() as client:
            await client.run(start(oversight_id=names[0]), end())
            with pytest.raises(grpc.aio.AioRpcError):
                await client.run(resume(names[0]))


async def test_what_happened_is_counted():
    world = StreamWorld()
    async with world.serving() as client:
        await client.run(start(), *tokens(FALSE), end())
        await client.run(start(), *tokens(GOOD), end())
        counts = world.counts()
    assert counts["groundtrail_guard_stream_halts_total", "hard_limit"] == 1
    assert counts["groundtrail_guard_streams_total", "completed"] == 1
    assert counts["groundtrail_guard_stream_tokens_total",] == 27
    assert counts["groundtrail_guard_stream_sentences_total",] == 5
