"""Answers that wait for a person: held, polled, released, rejected, expired; who may decide; what the chain says."""

import asyncio

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.gateway.v1 import dispatch_service_pb2 as dispatch
from crp.gateway.v1 import review_pb2
from crp.gateway.v1 import review_service_pb2 as pb
from crp.gateway.v1 import review_service_pb2_grpc as pb_grpc
from crp.gateway.v1.dispatch_service_pb2_grpc import DispatchServiceStub

from services.common.adapters.memory.reviews import MemoryReviewStore
from services.common.encoding import sha256_hex
from services.common.errors import ErrorReason, UnavailableError
from services.common.settings import ReviewSettings
from tests.fakes.dag_world import Refusal, fresh_uuid
from tests.fakes.gateway_world import ANSWER, QUESTION, Fault, GatewayWorld, Hold, Script, headers_of
from tests.patience import patient

HELD = {"safety_policy": "oversight human-review"}
APPROVED, REJECTED = review_pb2.REVIEW_STATUS_APPROVED, review_pb2.REVIEW_STATUS_REJECTED


class Desk:
    """ReviewService as one subject."""

    def __init__(self, client, subject="reviewer"):
        self._stub = pb_grpc.ReviewServiceStub(client.channel)
        self._metadata = (("authorization", subject),)

    async def _call(self, method, request):
        return await method(request, metadata=self._metadata, timeout=patient(20))

    async def get(self, review_id, **fields):
        return await self._call(self._stub.GetReview, pb.GetReviewRequest(review_id=review_id, **fields))

    async def list(self, **fields):
        return await self._call(self._stub.ListReviews, pb.ListReviewsRequest(**fields))

    async def decide(self, review_id, decision=APPROVED, **fields):
        asked = {"request_id": fresh_uuid(), "comment": "read and found good", "expected_version": 1} | fields
        return await self._call(
            self._stub.DecideReview, pb.DecideReviewRequest(review_id=review_id, decision=decision, **asked)
        )

    async def refused(self, call):
        try:
            answer = await call
        except grpc.aio.AioRpcError as error:
            return Refusal.of(error)
        raise AssertionError(f"answered {answer}")


async def held_answer(client, subject="writer", **fields):
    response = await client.dispatch(subject=subject, **(HELD | fields))
    assert response.WhichOneof("outcome") == "held_for_review"
    return response


async def test_a_held_answer_shows_no_word_of_its_text_and_waits():
    world = GatewayWorld()
    async with world.serving() as client:
        response = await held_answer(client)
        held = response.held_for_review
        mine = await Desk(client, "writer").get(held.review_id)
        theirs = await Desk(client).get(held.review_id)
    assert ANSWER not in str(response)
    assert ANSWER not in str(mine)
    assert headers_of(response)["CRP-Safety-Retry-After"] == "oversight-required"
    assert "CRP-Set-Session" not in headers_of(response)
    assert mine.response.held_for_review == held
    assert mine.answer_text == ""
    assert theirs.answer_text == ANSWER
    assert (mine.query, mine.HasField("report")) == ("", False)
    assert theirs.query == QUESTION
    assert theirs.report.report_id == theirs.review.report_id
    assert not theirs.HasField("response")
    assert theirs.review.status == review_pb2.REVIEW_STATUS_PENDING
    assert (theirs.review.author, theirs.review.version) == ("writer", 1)
    assert world.statuses() == ["PENDING"]
    assert len(world.events_of("OVERSIGHT_TRIGGERED")) == 1


async def test_an_approved_answer_reaches_its_caller_by_polling_and_by_a_repeat():
    world, request_id = GatewayWorld(), fresh_uuid()
    async with world.serving() as client:
        held = (await held_answer(client, request_id=request_id)).held_for_review
        decided = await Desk(client).decide(held.review_id)
        polled = await Desk(client, "writer").get(held.review_id)
        again = await client.dispatch(subject="writer", request_id=request_id, **HELD)
        goes_on = await client.dispatch(
            "And for a theft?",
            "writer",
            session_token=polled.response.answer.session_token,
            continuation_ids=[polled.response.answer.continuation_id],
        )
        verified = await client.verify(held.session_id)
    assert decided.review.status == APPROVED
    assert decided.response.answer.text == ANSWER
    assert polled.response == decided.response == again
    for told in (decided, polled):
        assert (told.review.decided_by, told.review.comment) == ("reviewer", "read and found good")
    assert goes_on.WhichOneof("outcome") == "held_for_review"  # the session keeps its policy
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID
    assert world.statuses() == ["COMMITTED", "PENDING"]
    (event,) = world.events_of("OVERSIGHT_DECIDED")
    assert event == {
        "review_id": held.review_id,
        "decision": "APPROVED",
        "decided_by": "reviewer",
        "author": "writer",
        "comment_sha256": sha256_hex("read and found good"),
    }


async def test_a_rejected_answer_is_a_halt_for_its_caller():
    world, request_id = GatewayWorld(), fresh_uuid()
    async with world.serving() as client:
        held = (await held_answer(client, request_id=request_id)).held_for_review
        await Desk(client).decide(held.review_id, REJECTED, comment="the term is wrong")
        polled = await Desk(client, "writer").get(held.review_id)
        again = await client.dispatch(subject="writer", request_id=request_id, **HELD)
        verified = await client.verify(held.session_id)
    assert polled.response.halted.halt_reason == "REVIEW_REJECTED"
    assert polled.response == again
    assert ANSWER not in str(polled)
    assert headers_of(polled.response)["CRP-Safety-Retry-After"] == "oversight-required"
    assert world.statuses() == ["FAILED"]
    assert [event["decision"] for event in world.events_of("OVERSIGHT_DECIDED")] == ["REJECTED"]
    assert verified.events_verified == verified.events_total


async def test_who_waits_is_told_when_it_is_decided():
    world = GatewayWorld()  # looks of its own are a minute apart
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        waiting = asyncio.ensure_future(Desk(client, "writer").get(held.review_id, wait_ms=60_000))
        await Desk(client, "writer").get(held.review_id, wait_ms=1)  # the wait above has begun, and this one ends
        assert not waiting.done()
        await Desk(client).decide(held.review_id)
        assert (await waiting).response.answer.text == ANSWER


async def test_a_second_decision_is_refused_and_a_repeat_is_not():
    world, request_id = GatewayWorld(), fresh_uuid()
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        other = (await held_answer(client)).held_for_review
        first = await Desk(client).decide(held.review_id, request_id=request_id)
        again = await Desk(client).decide(held.review_id, request_id=request_id)
        second = await Desk(client).refused(Desk(client, "alice").decide(held.review_id, REJECTED))
        reused = await Desk(client).refused(Desk(client).decide(other.review_id, request_id=request_id))
    assert first == again
    assert (second.code, second.reason) == (grpc.StatusCode.ABORTED, "ETAG_STALE")
    assert second.metadata["decided_by"] == "reviewer"
    assert (reused.code, reused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "REQUEST_ID_REUSED")
    assert len(world.events_of("OVERSIGHT_DECIDED")) == 1


async def test_two_reviewers_at_once_make_one_decision():
    world = GatewayWorld()
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        calls = [Desk(client, who).decide(held.review_id, REJECTED) for who in ("reviewer", "alice", "alice-2")]
        came = await asyncio.gather(*calls, return_exceptions=True)
    refused = [Refusal.of(one) for one in came if isinstance(one, grpc.aio.AioRpcError)]
    assert [one.reason for one in refused] == ["ETAG_STALE", "ETAG_STALE"]
    assert len(world.events_of("OVERSIGHT_DECIDED")) == 1


@pytest.mark.parametrize(
    ("author", "subject", "code", "reason"),
    [
        ("writer", "writer", grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING"),
        ("writer", "reader", grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING"),
        ("writer", "mallory", grpc.StatusCode.NOT_FOUND, "REVIEW_NOT_FOUND"),
        ("reviewer", "reviewer", grpc.StatusCode.PERMISSION_DENIED, "REVIEWER_IS_AUTHOR"),
        ("alice", "alice", grpc.StatusCode.PERMISSION_DENIED, "REVIEWER_IS_AUTHOR"),
    ],
)
async def test_who_may_not_decide(author, subject, code, reason):
    world = GatewayWorld()
    async with world.serving() as client:
        held = (await held_answer(client, author)).held_for_review
        desk = Desk(client, subject)
        refused = await desk.refused(desk.decide(held.review_id))
        left = await Desk(client, "alice-2").get(held.review_id)
    assert (refused.code, refused.reason) == (code, reason)
    assert left.review.status == review_pb2.REVIEW_STATUS_PENDING
    assert world.events_of("OVERSIGHT_DECIDED") == []


async def test_a_deployment_of_one_person_may_allow_the_author():
    world = GatewayWorld(review_settings=ReviewSettings(author_may_decide=True))
    async with world.serving() as client:
        held = (await held_answer(client, "alice")).held_for_review
        assert (await Desk(client, "alice").decide(held.review_id)).response.answer.text == ANSWER


@pytest.mark.parametrize("subject", ["other-writer", "reader"])
async def test_who_may_not_look(subject):
    world = GatewayWorld()
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        desk = Desk(client, subject)
        for call in (desk.get(held.review_id), desk.list()):
            refused = await desk.refused(call)
            assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "ROLE_MISSING")


async def test_an_undecided_answer_expires_and_stays_withheld():
    world = GatewayWorld(review_settings=ReviewSettings(expiry_s=600))
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        world.dag.clock.advance(seconds=601)
        listed = await Desk(client).list(status="REVIEW_STATUS_EXPIRED")
        pending = await Desk(client).list(status="REVIEW_STATUS_PENDING")
        refused = await Desk(client).refused(Desk(client).decide(held.review_id))
        polled = await Desk(client, "writer").get(held.review_id)
        verified = await client.verify(held.session_id)
    assert [review.review_id for review in listed.reviews] == [held.review_id]
    assert list(pending.reviews) == []
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "REVIEW_EXPIRED")
    assert polled.response.halted.halt_reason == "REVIEW_EXPIRED"
    assert polled.review.decided_by == ""
    assert world.statuses() == ["FAILED"]
    assert [event["decision"] for event in world.events_of("OVERSIGHT_DECIDED")] == ["EXPIRED"]
    assert verified.events_verified == verified.events_total


async def test_a_stale_version_and_malformed_fields_are_named():
    world = GatewayWorld()
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        desk = Desk(client)
        stale = await desk.refused(desk.decide(held.review_id, expected_version=2))
        unknown = await desk.refused(desk.get(fresh_uuid()))
        bad = await desk.refused(desk.decide("no uuid", 0, comment=" ", expected_version=0, request_id="x"))
        token = await desk.refused(desk.list(page_token="AAAA"))
    assert (stale.code, stale.reason) == (grpc.StatusCode.ABORTED, "ETAG_STALE")
    assert (unknown.code, unknown.reason) == (grpc.StatusCode.NOT_FOUND, "REVIEW_NOT_FOUND")
    assert bad.reason == "INVALID_FIELD"
    assert {"request_id", "review_id", "decision", "comment", "expected_version"} <= set(bad.fields)
    assert token.reason == "PAGE_TOKEN_INVALID"


async def test_pages_go_from_the_oldest_on_and_keep_to_their_filter():
    world = GatewayWorld()
    async with world.serving() as client:
        ids = [(await held_answer(client)).held_for_review.review_id for _ in range(5)]
        seen, token = [], ""
        while True:
            page = await Desk(client).list(page_size=2, page_token=token)
            seen += [review.review_id for review in page.reviews]
            token = page.next_page_token
            if not token:
                break
        other = await Desk(client).refused(Desk(client).list(page_size=2, page_token=token or "AAAA", status=2))
        strange = await Desk(client, "mallory").list()
    assert seen == ids
    assert other.reason == "PAGE_TOKEN_INVALID"
    assert list(strange.reviews) == []


@pytest.mark.parametrize("rpc", ["AppendEvent", "CommitWindow", "FailWindow"])
@pytest.mark.parametrize("after", [False, True])
async def test_a_decision_that_broke_off_is_carried_through_by_whoever_comes_next(rpc, after):
    decision = REJECTED if rpc == "FailWindow" else APPROVED
    world = GatewayWorld()
    down = UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "down")
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        world.script.faults[rpc] = Fault(down, after=after)
        broken = await Desk(client).refused(Desk(client).decide(held.review_id, decision))
        assert broken.reason == "SERVICE_UNAVAILABLE"
        late = await Desk(client).refused(Desk(client, "alice").decide(held.review_id, REJECTED))
        polled = await Desk(client, "writer").get(held.review_id)
        verified = await client.verify(held.session_id)
    assert late.reason == "ETAG_STALE"  # the decision stands, though nothing of it was done
    assert polled.review.status == decision
    outcome = "answer" if decision == APPROVED else "halted"
    assert polled.response.WhichOneof("outcome") == outcome
    assert len(world.events_of("OVERSIGHT_DECIDED")) == 1
    assert verified.events_verified == verified.events_total


class Noted(MemoryReviewStore):
    """Says when a review was added."""

    def __init__(self):
        super().__init__()
        self.added = asyncio.Event()

    async def add(self, review):
        kept = await super().add(review)
        self.added.set()
        return kept


async def test_a_caller_who_goes_away_while_the_answer_is_held_leaves_it_held():
    hold = Hold("GetHoldingKey")
    kept, request_id = Noted(), fresh_uuid()
    world = GatewayWorld(script=Script(hold=hold), reviews=kept)
    async with world.serving() as client:
        going = client.start(subject="writer", request_id=request_id, timeout=patient(30), **HELD)
        await hold.reached.wait()
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going
        hold.release()
        async with asyncio.timeout(patient(10)):
            await kept.added.wait()  # reviewers see it, although nobody waits for it now
        response = await held_answer(client, request_id=request_id)
        approved = await Desk(client).decide(response.held_for_review.review_id)
    assert approved.response.answer.text == ANSWER
    assert world.statuses() == ["COMMITTED"]


async def test_a_session_that_ended_meanwhile_has_nothing_to_release():
    world = GatewayWorld()
    async with world.serving() as client:
        held = (await held_answer(client)).held_for_review
        await client.terminate(held.session_id)
        refused = await Desk(client).refused(Desk(client).decide(held.review_id))
        polled = await Desk(client, "writer").get(held.review_id)
    assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "WINDOW_NOT_PENDING")
    assert polled.response.halted.halt_reason == "REVIEW_EXPIRED"


async def test_who_goes_on_from_the_parent_gives_the_held_answer_up():
    world = GatewayWorld()
    async with world.serving() as client:
        first = (await client.dispatch(subject="writer")).answer
        goes_on = {"session_token": first.session_token, "continuation_ids": [first.continuation_id]}
        held = (await held_answer(client, **goes_on)).held_for_review
        world.dag.clock.advance(seconds=901)
        instead = await client.dispatch(subject="writer", **goes_on)
        refused = await Desk(client).refused(Desk(client).decide(held.review_id))
        polled = await Desk(client, "writer").get(held.review_id)
        verified = await client.verify(held.session_id)
    assert instead.answer.text == ANSWER
    assert refused.reason == "WINDOW_NOT_PENDING"
    assert polled.response.halted.halt_reason == "REVIEW_EXPIRED"
    assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


async def test_an_answer_that_brings_the_budget_low_is_held_too_and_its_token_with_it():
    world = GatewayWorld(script=Script(risk="CRITICAL"))
    async with world.serving() as client:
        first = await client.dispatch(subject="writer", safety_budget=0.4, safety_mode="SAFETY_MODE_PERMISSIVE")
        held = first.held_for_review
        assert "CRP-Set-Session" not in headers_of(first)
        polled = (await Desk(client, "writer").get(held.review_id)).response
        await Desk(client).decide(held.review_id)
        released = (await Desk(client, "writer").get(held.review_id)).response
    assert polled.WhichOneof("outcome") == "held_for_review"
    assert released.answer.text == ANSWER
    assert released.answer.session_token
    assert world.statuses() == ["COMMITTED"]


async def test_a_stream_of_a_held_answer_has_no_token_and_ends_with_the_review():
    world = GatewayWorld()
    async with world.serving() as client:
        asked = dispatch.DispatchRequest(
            request_id=fresh_uuid(),
            query=QUESTION,
            stream_safety_mode="STREAM_SAFETY_MODE_PASS_THROUGH",
            safety_policy="oversight human-review",
        )
        stub = DispatchServiceStub(client.channel)
        stream = stub.DispatchStream(
            dispatch.DispatchStreamRequest(dispatch=asked), metadata=(("authorization", "writer"),), timeout=patient(20)
        )
        events = [event async for event in stream]
        review_id = events[-1].outcome.held_for_review.review_id
        decided = await Desk(client).decide(review_id)
    assert not any(event.token for event in events)
    assert ANSWER not in str(events)
    assert decided.response.answer.text == ANSWER
