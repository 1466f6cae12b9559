"""Every reason that SessionService refuses with: status, ErrorInfo, fields; and nothing is half-written."""

import copy
from dataclasses import replace

import pytest
from crp.dag.v1 import dag_pb2
from crp.dag.v1 import session_service_pb2 as pb

from services.common.encoding import base64url, base64url_decode
from services.common.settings.dag import DagSettings
from services.dag.domain.keys import MasterKey
from services.dag.master_keys import FixedMasterKeys
from tests.fakes.dag_world import NOW, LoggedMemoryStore, World, commit_request, fitting_report, fresh_uuid, report_for
from tests.patience import patient

NO_SESSION = "crp_sess_" + "n" * 32
NO_WINDOW = "crp_win_" + "n" * 16


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def client(world):
    async with world.serving() as client:
        yield client


def open_request(token="", **fields):
    values = {"request_id": fresh_uuid(), "session_token": token, "available_budget_tokens": 1000}
    return pb.OpenWindowRequest(**(values | fields))


async def refused(client, rpc, request, code, reason, subject="alice"):
    refusal = await client.fails(rpc, request, subject)
    assert (refusal.code.name, refusal.reason) == (code, reason)
    return refusal


async def unchanged(world, session_id, call):
    """Run ``call`` and require that the stored session is as before."""
    before = copy.deepcopy(world.held(session_id))
    refusal = await call
    assert world.held(session_id) == before
    return refusal


BAD_FIELDS = [
    pytest.param("CreateSession", pb.CreateSessionRequest(), {"request_id"}, id="no request id"),
    pytest.param(
        "CreateSession",
        pb.CreateSessionRequest(
            request_id="1", policy_hash="A" * 64, agent_session_parent="x", safety_budget_ceiling=1.01
        ),
        {"request_id", "policy_hash", "agent_session_parent", "safety_budget_ceiling"},
        id="all at once",
    ),
    pytest.param(
        "OpenWindow",
        pb.OpenWindowRequest(
            request_id=fresh_uuid(),
            session_token="t",
            continuation_ids=["crp_cont_short"],
            strategy=99,
            safety_budget_ceiling=float("nan"),
        ),
        {
            "continuation_ids[0]",
            "available_budget_tokens",
            "strategy",
            "safety_budget_ceiling",
        },
        id="open",
    ),
    pytest.param(
        "OpenWindow",
        open_request("t", continuation_ids=["crp_cont_" + "a" * 32] * 2),
        {"continuation_ids"},
        id="a continuation twice",
    ),
    pytest.param(
        "CommitWindow",
        pb.CommitWindowRequest(request_id=fresh_uuid(), session_id="s", window_id="w", facts_included=[""]),
        {"session_id", "window_id", "quality_tier", "report", "facts_included"},
        id="commit",
    ),
    pytest.param(
        "CommitWindow",
        pb.CommitWindowRequest(
            request_id=fresh_uuid(), session_id=NO_SESSION, window_id=NO_WINDOW, quality_tier=1, report={}
        ),
        {"report.risk_level", "report.report_id"},
        id="an empty report",
    ),
    pytest.param(
        "FailWindow",
        pb.FailWindowRequest(request_id=fresh_uuid(), session_id=NO_SESSION, window_id=NO_WINDOW, reason="r" * 501),
        {"reason"},
        id="a reason too long",
    ),
    pytest.param(
        "TerminateSession",
        pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=NO_SESSION),
        {"reason"},
        id="no reason",
    ),
    pytest.param(
        "AppendEvent",
        pb.AppendEventRequest(request_id=fresh_uuid(), session_id=NO_SESSION, data="[]", window_id="w"),
        {"event_type", "data", "window_id"},
        id="append",
    ),
    pytest.param(
        "AppendEvent",
        pb.AppendEventRequest(
            request_id=fresh_uuid(), session_id=NO_SESSION, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_DPE_COMPLETED
        ),
        {"event_type"},
        id="an event type of the service's own",
    ),
    pytest.param(
        "AppendEvent",
        pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=NO_SESSION,
            data='{"x":"' + "y" * 65_536 + '"}',
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
        ),
        {"data"},
        id="data too long",
    ),
    pytest.param(
        "AppendEvent",
        pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=NO_SESSION,
            data='{"x":' + "9" * 30 + "}",
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
        ),
        {"data"},
        id="a number that canonical JSON cannot hold",
    ),
    pytest.param(
        "AppendEvent",
        pb.AppendEventRequest(
            request_id=fresh_uuid(),
            session_id=NO_SESSION,
            data='{"calls":[{"name":"x"},{"name":"y","n":1,"name":"z"}]}',
            event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
        ),
        {"data.calls[1].name"},
        id="a name twice in an object",
    ),
    pytest.param("GetWindow", pb.GetWindowRequest(session_id=NO_SESSION), {"window_id"}, id="get window"),
    pytest.param("GetDag", pb.GetDagRequest(), {"session_id"}, id="get dag"),
    pytest.param("GetReport", pb.GetReportRequest(), {"report_id"}, id="get report"),
    pytest.param("ListReports", pb.ListReportsRequest(session_id="s"), {"session_id"}, id="list reports"),
    pytest.param("VerifyChain", pb.VerifyChainRequest(session_id="crp_sess_"), {"session_id"}, id="verify"),
]


@pytest.mark.parametrize(("rpc", "request_", "fields"), BAD_FIELDS)
async def test_invalid_fields(client, rpc, request_, fields):
    refusal = await refused(client, rpc, request_, "INVALID_ARGUMENT", "INVALID_FIELD")
    assert set(refusal.fields) == fields


async def test_a_reader_may_not_write(client):
    await refused(client, "OpenWindow", open_request(), "PERMISSION_DENIED", "ROLE_MISSING", "reader")


BY_SESSION = [
    ("GetDag", lambda s: pb.GetDagRequest(session_id=s)),
    ("GetWindow", lambda s: pb.GetWindowRequest(session_id=s, window_id=NO_WINDOW)),
    ("GetLineage", lambda s: pb.GetLineageRequest(session_id=s, window_id=NO_WINDOW)),
    ("VerifyChain", lambda s: pb.VerifyChainRequest(session_id=s)),
    ("ListAuditEvents", lambda s: pb.ListAuditEventsRequest(session_id=s)),
    ("ListReports", lambda s: pb.ListReportsRequest(session_id=s)),
    (
        "TerminateSession",
        lambda s: pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=s, reason="r"),
    ),
    (
        "FailWindow",
        lambda s: pb.FailWindowRequest(request_id=fresh_uuid(), session_id=s, window_id=NO_WINDOW, reason="r"),
    ),
    (
        "AppendEvent",
        lambda s: pb.AppendEventRequest(
            request_id=fresh_uuid(), session_id=s, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
        ),
    ),
    (
        "CommitWindow",
        lambda s: pb.CommitWindowRequest(
            request_id=fresh_uuid(),
            session_id=s,
            window_id=NO_WINDOW,
            quality_tier=1,
            report=report_for(s, NO_WINDOW, 1, ""),
        ),
    ),
    ("CreateSession", lambda s: pb.CreateSessionRequest(request_id=fresh_uuid(), agent_session_parent=s)),
]


@pytest.mark.parametrize(("rpc", "make"), BY_SESSION, ids=[rpc for rpc, _ in BY_SESSION])
async def test_unknown_and_foreign_sessions_look_alike(client, rpc, make):
    unknown = await refused(client, rpc, make(NO_SESSION), "NOT_FOUND", "SESSION_NOT_FOUND")
    assert unknown.metadata["session_id"] == NO_SESSION
    mine = await client.window()
    await refused(client, rpc, make(mine.session.session_id), "NOT_FOUND", "SESSION_NOT_FOUND", "mallory")


async def test_export_of_an_unknown_session_and_of_content_as_ocsf(client):
    import grpc

    from tests.fakes.dag_world import Refusal

    first = await client.window()
    for request, reason in (
        (pb.ExportAuditRequest(session_id=NO_SESSION), "SESSION_NOT_FOUND"),
        (
            pb.ExportAuditRequest(
                session_id=first.session.session_id, format=pb.AUDIT_EXPORT_FORMAT_OCSF, with_content=True
            ),
            "INVALID_FIELD",
        ),
    ):
        call = client.stub.ExportAudit(request, metadata=(("authorization", "alice"),), timeout=patient(5))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        assert Refusal.of(caught.value).reason == reason


async def test_unknown_windows_and_reports(client):
    first = await client.window()
    request = pb.GetWindowRequest(session_id=first.session.session_id, window_id=NO_WINDOW)
    refusal = await refused(client, "GetWindow", request, "NOT_FOUND", "WINDOW_NOT_FOUND")
    assert refusal.metadata["window_id"] == NO_WINDOW
    await refused(client, "GetReport", pb.GetReportRequest(report_id="r"), "NOT_FOUND", "REPORT_NOT_FOUND")
    foreign = pb.GetReportRequest(report_id=first.report_id)
    await refused(client, "GetReport", foreign, "NOT_FOUND", "REPORT_NOT_FOUND", "mallory")
    append = pb.AppendEventRequest(
        request_id=fresh_uuid(),
        session_id=first.session.session_id,
        window_id=NO_WINDOW,
        data="{}",
        event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL,
    )
    await refused(client, "AppendEvent", append, "NOT_FOUND", "WINDOW_NOT_FOUND")


async def test_page_tokens_of_another_list(client):
    first = await client.window()
    await client.window(first.session_token)
    page = await client.call("ListReports", pb.ListReportsRequest(page_size=1))
    for request in (
        pb.ListReportsRequest(session_id=first.session.session_id, page_token=page.next_page_token),
        pb.ListReportsRequest(page_token="junk"),
    ):
        await refused(client, "ListReports", request, "INVALID_ARGUMENT", "PAGE_TOKEN_INVALID")


@pytest.mark.parametrize("after", ["x", "-2", "\u0663", "1" * 30], ids=["text", "signed", "arabic digit", "too large"])
async def test_a_page_token_that_a_caller_made(client, after):
    opened = await client.window()
    session_id = opened.session.session_id
    page = await client.call("ListAuditEvents", pb.ListAuditEventsRequest(session_id=session_id, page_size=1))
    made = base64url(base64url_decode(page.next_page_token)[:16] + after.encode())
    request = pb.ListAuditEventsRequest(session_id=session_id, page_token=made)
    await refused(client, "ListAuditEvents", request, "INVALID_ARGUMENT", "PAGE_TOKEN_INVALID")


def forged(token, **changes):
    import json

    body, _, signature = token.partition(".")
    payload = json.loads(base64url_decode(body)) | changes
    return base64url(json.dumps(payload).encode()) + "." + signature


async def test_forged_tokens(world, client):
    first = await client.window()
    for token in ("x.y", "nonsense", forged(first.session_token, sb=1.0, win=1, qh=["S"]), first.session_token[:-2]):
        call = refused(client, "OpenWindow", open_request(token), "UNAUTHENTICATED", "TOKEN_INVALID")
        await unchanged(world, first.session.session_id, call)


async def test_a_token_of_a_foreign_master_key(client):
    elsewhere = World(keys=FixedMasterKeys({1: MasterKey(1, b"\x55" * 32)}))
    async with elsewhere.serving() as other:
        token = (await other.window()).session_token
    await refused(client, "OpenWindow", open_request(token), "UNAUTHENTICATED", "TOKEN_INVALID")


async def test_a_token_of_an_unknown_key_version(client):
    elsewhere = World(keys=FixedMasterKeys({7: MasterKey(7, b"\x55" * 32)}))
    async with elsewhere.serving() as other:
        token = (await other.window()).session_token
    await refused(client, "OpenWindow", open_request(token), "UNAUTHENTICATED", "TOKEN_INVALID")


async def test_an_expired_token(world, client):
    first = await client.window()
    world.clock.advance(seconds=3600)
    refusal = await refused(client, "OpenWindow", open_request(first.session_token), "UNAUTHENTICATED", "TOKEN_EXPIRED")
    assert refusal.metadata["expired_at"].startswith("2026-05-24T10:00:00")


@pytest.mark.parametrize("subject", ["alice-2", "mallory"])
async def test_another_credentials_token(client, subject):
    first = await client.window()
    request = open_request(first.session_token)
    await refused(client, "OpenWindow", request, "UNAUTHENTICATED", "TOKEN_SCOPE_MISMATCH", subject)


async def test_a_spent_token(world, client):
    first = await client.window()
    second = await client.window(first.session_token)
    for continuation_ids in ([], [first.continuation_id]):
        request = open_request(first.session_token, continuation_ids=continuation_ids)
        call = refused(client, "OpenWindow", request, "UNAUTHENTICATED", "TOKEN_SPENT")
        refusal = await unchanged(world, first.session.session_id, call)
        assert refusal.metadata["window_id"] == second.window.window_id


async def test_a_continuation_without_its_token(client):
    first = await client.window()
    request = open_request("", continuation_ids=[first.continuation_id])
    await refused(client, "OpenWindow", request, "UNAUTHENTICATED", "TOKEN_INVALID")


async def test_continuations_that_do_not_resolve(client):
    first, other = await client.window(), await client.window()
    for continuation_id in ("crp_cont_" + "n" * 32, other.continuation_id):
        request = open_request(first.session_token, continuation_ids=[continuation_id])
        refusal = await refused(client, "OpenWindow", request, "NOT_FOUND", "CONTINUATION_NOT_FOUND")
        assert refusal.metadata["continuation_id"] == continuation_id


async def test_a_continuation_of_another_window_than_the_tokens(client):
    first = await client.window()
    second = await client.window(first.session_token)
    request = open_request(second.session_token, continuation_ids=[first.continuation_id])
    await refused(client, "OpenWindow", request, "UNAUTHENTICATED", "TOKEN_INVALID")


async def test_another_policy_needs_a_comparison(client):
    opened = await client.open(policy_hash="a" * 64)
    first = await client.commit(opened)
    request = open_request(first.session_token, policy_hash="b" * 64)
    refusal = await refused(client, "OpenWindow", request, "PERMISSION_DENIED", "POLICY_RELAXED")
    assert refusal.metadata["session_policy_hash"] == "a" * 64


async def test_depth_of_the_agent_loop(client):
    await refused(client, "OpenWindow", open_request(loop_depth=6), "RESOURCE_EXHAUSTED", "LOOP_DEPTH_LIMIT")
    create = pb.CreateSessionRequest(request_id=fresh_uuid(), loop_depth=6)
    await refused(client, "CreateSession", create, "RESOURCE_EXHAUSTED", "LOOP_DEPTH_LIMIT")
    first = await client.window(loop_depth=5)
    request = open_request(first.session_token, loop_depth=6)
    await refused(client, "OpenWindow", request, "RESOURCE_EXHAUSTED", "LOOP_DEPTH_LIMIT")
    child = open_request(agent_session_parent=first.session.session_id)
    await refused(client, "OpenWindow", child, "RESOURCE_EXHAUSTED", "LOOP_DEPTH_LIMIT")


async def test_limit_of_nodes_counts_failed_windows():
    world = World(settings=DagSettings(max_dag_nodes=2))
    async with world.serving() as client:
        first = await client.window()
        opened = await client.open(first.session_token)
        fail = pb.FailWindowRequest(
            request_id=fresh_uuid(),
            session_id=opened.session.session_id,
            window_id=opened.window.window_id,
            reason="r",
        )
        await client.call("FailWindow", fail)
        request = open_request(first.session_token)
        refusal = await refused(client, "OpenWindow", request, "RESOURCE_EXHAUSTED", "DAG_NODE_LIMIT")
        assert refusal.metadata["limit"] == "2"


async def test_a_terminated_session_cannot_go_on(client):
    first = await client.window()
    end = pb.TerminateSessionRequest(request_id=fresh_uuid(), session_id=first.session.session_id, reason="r")
    await client.call("TerminateSession", end)
    refusal = await refused(
        client, "OpenWindow", open_request(first.session_token), "FAILED_PRECONDITION", "SESSION_CLOSED"
    )
    assert refusal.metadata["status"] == "TERMINATED"


async def test_a_window_is_committed_or_failed_once(client):
    opened = await client.open()
    await client.commit(opened)
    refusal = await refused(client, "CommitWindow", commit_request(opened), "FAILED_PRECONDITION", "WINDOW_NOT_PENDING")
    assert refusal.metadata["status"] == "COMMITTED"
    fail = pb.FailWindowRequest(
        request_id=fresh_uuid(), session_id=opened.session.session_id, window_id=opened.window.window_id, reason="r"
    )
    await refused(client, "FailWindow", fail, "FAILED_PRECONDITION", "WINDOW_NOT_PENDING")


MISMATCHES = [
    ("session_id", {"session_id": NO_SESSION}),
    ("window_id", {"window_id": NO_WINDOW}),
    ("window_number", {"window_number": 2}),
    ("response_content_hash", {"response_content_hash": "0" * 64}),
    ("report_hash", {"report_hash": "0" * 64}),
    ("report_hash", {"report_hash": ""}),
]


@pytest.mark.parametrize(("field", "changes"), MISMATCHES)
async def test_a_report_of_something_else(world, client, field, changes):
    opened = await client.open()
    report = fitting_report(opened, "The limit is 500 euros.", **changes)
    request = commit_request(opened, report=report)
    call = refused(client, "CommitWindow", request, "FAILED_PRECONDITION", "REPORT_MISMATCH")
    refusal = await unchanged(world, opened.session.session_id, call)
    assert refusal.metadata["field"] == f"report.{field}"
    await client.commit(opened)


async def test_a_report_that_was_changed_after_hashing(client):
    opened = await client.open()
    request = commit_request(opened)
    request.report.claims_total += 1
    refusal = await refused(client, "CommitWindow", request, "FAILED_PRECONDITION", "REPORT_MISMATCH")
    assert refusal.metadata["field"] == "report.report_hash"


async def test_a_request_id_with_another_body(client):
    opened = await client.open()
    request = commit_request(opened)
    await client.call("CommitWindow", request)
    request.token_count += 1
    refusal = await refused(client, "CommitWindow", request, "FAILED_PRECONDITION", "REQUEST_ID_REUSED")
    assert refusal.metadata["rpc"] == "CommitWindow"


async def test_a_broken_chain_closes_the_session(world, client):
    first = await client.window()
    session_id = first.session.session_id
    world.tamper(session_id, first.window.window_id, response_text="The limit is 900 euros.")
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))
    assert (verified.fault.record_kind, verified.fault.record_id) == ("window", first.window.window_id)
    for _ in range(2):
        request = open_request(first.session_token)
        refusal = await refused(client, "OpenWindow", request, "DATA_LOSS", "CHAIN_BROKEN")
        assert refusal.metadata["session_id"] == session_id
    assert world.held(session_id).record.status.value == "BROKEN"
    incident = world.held(session_id).events[-1]
    assert incident.event_type == "SESSION_TERMINATED"
    assert '"severity":"CRITICAL"' in incident.data
    assert sum(event.event_type == "SESSION_TERMINATED" for event in world.held(session_id).events) == 1


async def test_an_event_that_comes_first_does_not_keep_a_broken_session_open(world, client):
    first = await client.window()
    session_id = first.session.session_id
    world.tamper(session_id, first.window.window_id, response_text="The limit is 900 euros.")
    append = pb.AppendEventRequest(
        request_id=fresh_uuid(), session_id=session_id, data="{}", event_type=dag_pb2.AUDIT_EVENT_TYPE_TOOL_CALL
    )

    class Interleaved:
        """A store in which an event of another process is there before the incident."""

        def __init__(self):
            self.appended = False

        def __getattr__(self, name):
            return getattr(world.store, name)

        async def write(self, *changes):
            if not self.appended:
                self.appended = True
                elsewhere = World(store=world.store, clock=world.clock)
                async with elsewhere.serving() as other:
                    await other.call("AppendEvent", append)
            await world.store.write(*changes)

    world.app.chains._store = Interleaved()
    await refused(client, "OpenWindow", open_request(first.session_token), "DATA_LOSS", "CHAIN_BROKEN")
    kinds = [event.event_type for event in world.held(session_id).events[-2:]]
    assert kinds == ["TOOL_CALL", "SESSION_TERMINATED"]
    assert world.held(session_id).record.status.value == "BROKEN"


async def test_a_chain_that_breaks_before_the_commit(world, client):
    first = await client.window()
    opened = await client.open(first.session_token)
    world.tamper(first.session.session_id, first.window.window_id, quality_tier="S")
    refusal = await refused(client, "CommitWindow", commit_request(opened), "DATA_LOSS", "CHAIN_BROKEN")
    assert refusal.metadata["record_id"] == first.window.window_id


async def test_a_pending_window_that_was_changed_is_not_committed(world, client):
    opened = await client.open()
    world.tamper(opened.session.session_id, opened.window.window_id, safety_budget=0.9)
    await refused(client, "CommitWindow", commit_request(opened), "DATA_LOSS", "CHAIN_BROKEN")


async def test_a_session_that_went_back_in_time(world, client):
    """The session's own rows are older ones; the log still has the leaves of the window that is gone (ADR 0099)."""
    first = await client.window()
    session_id = first.session.session_id
    earlier = copy.deepcopy(world.held(session_id))
    second = await client.window(first.session_token)
    world.store._sessions["tenant-a", session_id] = earlier
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))
    assert verified.fault.record_kind == "leaf"
    request = open_request(second.session_token)
    refusal = await refused(client, "OpenWindow", request, "DATA_LOSS", "CHAIN_BROKEN")
    assert refusal.metadata["record_id"] == verified.fault.record_id
    assert world.held(session_id).record.status.value == "BROKEN"


async def test_a_store_that_went_back_in_time(world, client):
    """Everything stored verifies, the log included, but the token proves that there was more (SPEC-004 §16.4)."""
    first = await client.window()
    session_id = first.session.session_id
    earlier = copy.deepcopy((world.store._sessions, world.store._logs))
    second = await client.window(first.session_token)
    older = LoggedMemoryStore()
    older._sessions, older._logs = earlier
    async with World(store=older, clock=world.clock, keys=world.keys).serving() as restored:
        verified = await restored.call("VerifyChain", pb.VerifyChainRequest(session_id=session_id))
        assert verified.fault.record_kind == ""
        request = open_request(second.session_token)
        refusal = await refused(restored, "OpenWindow", request, "DATA_LOSS", "CHAIN_BROKEN")
        assert refusal.metadata["record_id"] == second.continuation_id
    assert older._sessions["tenant-a", session_id].record.status.value == "BROKEN"


async def test_a_master_key_that_is_not_held(world, client):
    first = await client.window()
    world.keys._keys.clear()
    world.keys._keys[2] = world.keys._current = MasterKey(2, b"\x02" * 32)
    request = pb.VerifyChainRequest(session_id=first.session.session_id)
    refusal = await refused(client, "VerifyChain", request, "UNAVAILABLE", "SERVICE_UNAVAILABLE")
    assert refusal.metadata["key_version"] == "1"


async def test_rotation_keeps_tokens_for_one_lifetime_and_chains_for_good(world, client):
    first = await client.window()
    old = world.keys._current
    rotated_at = world.clock.now()
    world.keys._keys[1] = replace(old, retired_at=rotated_at)
    world.keys._keys[2] = world.keys._current = MasterKey(2, b"\x02" * 32)
    second = await client.window(first.session_token)
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
    assert (verified.windows_verified, verified.fault.record_kind) == (2, "")
    third = await client.window(second.session_token)
    world.keys._keys[1] = replace(old, retired_at=NOW.replace(year=2025))
    unused = await client.open(third.session_token)
    assert unused.window.window_number == 4


async def test_a_token_of_a_key_that_retired_long_ago(world, client):
    first = await client.window()
    world.keys._keys[1] = replace(world.keys._current, retired_at=NOW.replace(year=2025))
    world.keys._keys[2] = world.keys._current = MasterKey(2, b"\x02" * 32)
    await refused(client, "OpenWindow", open_request(first.session_token), "UNAUTHENTICATED", "TOKEN_INVALID")


@pytest.mark.parametrize("rpc", ["FailWindow", "TerminateSession"])
async def test_no_write_covers_up_a_broken_chain(world, client, rpc):
    first = await client.window()
    opened = await client.open(first.session_token)
    world.tamper(first.session.session_id, opened.window.window_id, strategy="pull")
    ids = {"session_id": first.session.session_id, "reason": "r"}
    make = {
        "FailWindow": lambda: pb.FailWindowRequest(request_id=fresh_uuid(), window_id=opened.window.window_id, **ids),
        "TerminateSession": lambda: pb.TerminateSessionRequest(request_id=fresh_uuid(), **ids),
    }[rpc]
    for _ in range(2):
        await refused(client, rpc, make(), "DATA_LOSS", "CHAIN_BROKEN")
    verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
    assert verified.fault.record_id == opened.window.window_id
