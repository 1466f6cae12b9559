"""Who is told that an answer waits for a person: queued once, signed, without a word of it, never in its way."""

import json

import pytest

from services.common.composition import Adapters
from services.common.ports.violation_reports import ReportState
from services.common.settings import ReportSettings, ReviewSettings, Settings, SettingsError
from services.gateway.report_composition import open_reports
from services.gateway.reports.announcing import NOT_ANNOUNCED
from tests.fakes.dag_world import fresh_uuid
from tests.fakes.event_receiver import Receiver
from tests.fakes.gateway_world import ANSWER, QUESTION, GatewayWorld, Script
from tests.rpc.test_gateway_reports import Noted, Sending, codes, settings
from tests.rpc.test_gateway_reviews import HELD, Desk


@pytest.fixture
async def receiver():
    receiver = await Receiver().listen()
    yield receiver
    await receiver.close()


def world_of(notify, **fields):
    reviews = ReviewSettings(poll_interval_s=60.0, notify=notify)
    return GatewayWorld(
        script=Script(risk="MEDIUM"), review_settings=reviews, report_settings=settings(**fields), reports=Noted()
    )


async def test_a_held_answer_is_told_of_once(receiver, tmp_path):
    world, asked = world_of({"*": "desk"}, groups={"desk": receiver.url}), HELD | {"request_id": fresh_uuid()}
    async with world.serving() as client, Sending(world, tmp_path) as sending:
        response = await client.dispatch(subject="writer", **asked)
        await client.dispatch(subject="writer", **asked)
        await receiver.until(lambda: receiver.accepted)
        await sending.until(ReportState.SENT)
        held = response.held_for_review
        await Desk(client).decide(held.review_id)
        await client.dispatch(subject="writer", **asked)
    (request,) = receiver.requests
    body = json.loads(request.body)
    assert (body["event"], body["review_id"]) == ("REVIEW_HELD", held.review_id)
    assert body["review_uri"] == f"/v1/reviews/{held.review_id}"
    assert (body["session_id"], body["window_id"]) == (held.session_id, held.window_id)
    assert (body["risk_level"], body["reason"]) == ("MEDIUM", "OVERSIGHT_REQUIRED")
    assert body["timestamp"] < body["expire_time"]
    assert ANSWER not in request.body.decode()
    assert QUESTION not in request.body.decode()
    assert request.headers["groundtrail-note"]
    assert len(world.reports._reports) == 1


async def test_a_tenant_has_a_group_of_its_own_and_another_none(receiver, tmp_path):
    world = world_of({"tenant-m": "desk"}, groups={"desk": receiver.url})
    async with world.serving() as client, Sending(world, tmp_path):
        await client.dispatch(subject="alice", **HELD)
        await client.dispatch(subject="mallory", **HELD)
        await receiver.until(lambda: receiver.accepted)
    assert [report.tenant_id for report in world.reports._reports.values()] == ["tenant-m"]


async def test_an_answer_is_held_whatever_becomes_of_the_notice(receiver):
    full = world_of({"*": "desk"}, groups={"desk": receiver.url}, max_queued=1)
    off = world_of({"*": "desk"}, groups={"desk": receiver.url}, enabled=False)
    async with full.serving() as client:
        told = [await client.dispatch(subject="writer", **HELD) for _ in range(2)]
    async with off.serving() as client:
        told.append(await client.dispatch(subject="writer", **HELD))
    assert {response.WhichOneof("outcome") for response in told} == {"held_for_review"}
    assert [NOT_ANNOUNCED in codes(response) for response in told] == [False, True, True]


async def test_a_group_that_there_is_not_is_named_at_the_start():
    wrong = Settings(reviews=ReviewSettings(notify={"*": "desk"}), reports=ReportSettings())
    async with Adapters(wrong) as adapters:
        with pytest.raises(SettingsError) as refused:
            await open_reports(wrong, adapters)
    assert "GROUNDTRAIL_REVIEWS__NOTIFY" in str(refused.value.problems)
