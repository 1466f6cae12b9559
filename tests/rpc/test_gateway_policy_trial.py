"""Trying a policy on stored windows: what it would have halted, held, warned of; and nothing is set."""

import dataclasses
import json

import grpc
import pytest
from crp.dag.v1 import session_service_pb2 as dag
from crp.dag.v1 import session_service_pb2_grpc as dag_grpc
from crp.gateway.v1 import admin_service_pb2 as pb
from crp.gateway.v1.admin_service_pb2_grpc import AdminServiceStub

from services.gateway.admin.app import AdminApp
from services.gateway.clients.reports import GrpcReportReads
from services.gateway.doors.grpc.admin import admin_service
from tests.costs import spent_s
from tests.fakes.dag_world import Refusal
from tests.fakes.gateway_world import ANSWER, GatewayWorld, Script
from tests.patience import patient


class AdministeredWorld(GatewayWorld):
    """A world with AdminService beside the rest."""

    def _services(self, app, channels):
        admin = AdminApp(self.credentials, self.dag.clock, self.dag.ids, "test")
        reads = GrpcReportReads(channels.to("dag"))
        return [*super()._services(app, channels), admin_service(admin, self.dag.clock, reads)]


def world_of(*risks, **fields):
    return AdministeredWorld(script=Script(analyses=tuple({"risk": risk} for risk in risks)), **fields)


async def tried(client, policy, subject="alice", **fields):
    request = pb.TryTenantPolicyRequest(safety_policy=policy, **fields)
    return await AdminServiceStub(client.channel).TryTenantPolicy(
        request, metadata=(("authorization", subject),), timeout=patient(60)
    )


async def refused(call):
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return Refusal.of(caught.value)


async def test_stored_windows_are_judged_as_fresh_answers_are():
    world = world_of("LOW", "MEDIUM", "HIGH")
    async with world.serving() as client:
        answers = [(await client.dispatch(safety_policy="warn-on CRITICAL")).answer for _ in range(3)]
        strict = await tried(client, "halt-on HIGH; warn-on MEDIUM")
        held = await tried(client, "oversight human-review")
        loose = await tried(client, "warn-on CRITICAL")
        tiers = await tried(client, "require-quality S")
        policy = await AdminServiceStub(client.channel).GetTenantPolicy(
            pb.GetTenantPolicyRequest(), metadata=(("authorization", "alice"),)
        )
    assert (strict.windows, strict.halted, strict.held, strict.warned, strict.unreadable) == (3, 1, 0, 1, 0)
    (one,) = strict.withheld
    assert (one.window_id, one.halt_reason) == (answers[2].window.window_id, "halt-on HIGH")
    assert list(one.directives) == ["halt-on HIGH", "warn-on MEDIUM"]
    assert (held.halted, held.held) == (0, 3)
    assert (loose.halted, loose.held, loose.warned) == (0, 0, 0)
    assert tiers.halted == 3  # the tier of a window is its own, not its report's
    assert policy.policy.version == 0


async def test_a_trial_is_bounded_and_confined_to_the_tenant():
    world = world_of("HIGH")
    async with world.serving() as client:
        for _ in range(3):
            await client.dispatch()
        two = await tried(client, "halt-on HIGH", max_windows=2)
        strange = await tried(client, "halt-on HIGH", "mallory")
        writer = await refused(tried(client, "halt-on HIGH", "writer"))
        unknown = await refused(tried(client, "halt-on VERY-HIGH"))
        stray = await refused(tried(client, "stop-on HIGH"))
        empty = await refused(tried(client, " ", max_windows=100_001))
    assert (two.windows, two.halted) == (2, 2)
    assert strange.windows == 0
    assert writer.reason == "ROLE_MISSING"
    assert (unknown.reason, list(unknown.fields)) == ("INVALID_FIELD", ["safety_policy"])
    assert (stray.reason, list(stray.fields)) == ("UNKNOWN_DIRECTIVE", ["safety_policy"])
    assert stray.metadata["known"].split(", ")[:2] == ["default-src", "halt-on"]
    assert set(empty.fields) == {"safety_policy", "max_windows"}


async def test_signals_hold_no_word_and_what_does_not_parse_is_counted():
    world = world_of("HIGH")
    world.script.report = {"uncovered_sub_queries": ["zyxword"], "flow_remediation": "NONE"}
    async with world.serving() as client:
        for _ in range(2):
            await client.dispatch()
        reports = [session.reports for session in world.dag.store._sessions.values()]
        name, record = next(iter(reports[0].items()))
        reports[0][name] = dataclasses.replace(record, body="{")
        listed = await dag_grpc.SessionServiceStub(client.channel).ListReports(
            dag.ListReportsRequest(with_signals=True), metadata=(("authorization", "alice"),)
        )
        trial = await tried(client, "halt-on HIGH")
    assert "zyxword" in json.dumps([one.body for one in reports[1].values()])
    assert "zyxword" not in str(listed)
    assert ANSWER not in str(listed)
    assert (trial.windows, trial.halted, trial.unreadable) == (2, 1, 1)


async def test_many_windows_cost_by_their_number():
    world = world_of("HIGH")
    async with world.serving() as client:
        await client.dispatch()
        (session,) = world.dag.store._sessions.values()
        ((_, record),) = session.reports.items()

        async def costs(number):
            session.reports.clear()
            for count in range(number):
                report_id = f"r{count:06d}"
                session.reports[report_id] = dataclasses.replace(record, report_id=report_id)
            before = spent_s()
            assert (await tried(client, "halt-on HIGH; require-grounding 0.9", max_windows=number)).windows == number
            return spent_s() - before

        few, many = await costs(400), await costs(2_000)
    assert many < 12 * few
