"""Whole reports in the event sink, where they are asked for (SPEC-005 §15.4)."""

import json

import pytest

from services.common.errors import UnreadableRecordError
from tests.contract.records import report
from tests.fakes.event_log import append
from tests.fakes.event_receiver import Receiver
from tests.fakes.event_sinks import open_store, sink_settings, streaming
from tests.rpc.test_dag_event_sink import settled

BODY = '{"claims":[{"text":"zyxclaim"}],"report_id":"r1"}'


@pytest.fixture
async def receiver():
    receiver = await Receiver().listen()
    yield receiver
    await receiver.close()


@pytest.fixture
async def store(tmp_path, monkeypatch):
    store = await open_store(tmp_path)
    kept = {"r1": report("s", "r1", body=BODY), "gone": report("s", "gone", body="")}

    async def get_report(_tenant, report_id):
        if report_id == "torn":
            raise UnreadableRecordError("report", "torn", "does not parse")
        return kept.get(report_id)

    monkeypatch.setattr(store, "get_report", get_report)
    for name in ("r1", "gone", "torn", "unknown"):
        await append(store, "s", 1, event_type="DPE_COMPLETED", data=json.dumps({"report_id": name}))
    await append(store, "s", 1, event_type="DPE_COMPLETED", data="[]")
    await append(store, "s", 1, event_type="TOOL_CALL", data=json.dumps({"report_id": "r1"}))
    yield store
    await store.close()


async def sent(store, receiver, settings):
    async with streaming(store, settings):
        await settled(store.event_feed())
    return receiver.events


async def test_the_event_of_a_report_carries_it_and_no_other_does(store, receiver, tmp_path):
    events = await sent(store, receiver, sink_settings(tmp_path, receiver.url, with_reports=True))
    assert len(events) == 6
    assert events[0]["report"] == json.loads(BODY)
    assert not any("report" in event for event in events[1:])


async def test_by_default_no_report_leaves_the_store(store, receiver, tmp_path):
    await sent(store, receiver, sink_settings(tmp_path, receiver.url))
    assert len(receiver.events) == 6
    assert not any(b"zyxclaim" in request.body for request in receiver.requests)
