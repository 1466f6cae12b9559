"""The service as it is composed: SQLite, a created master key, and a second process that goes on where one ended."""

import stat
from contextlib import asynccontextmanager

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as pb
from crp.dag.v1 import session_service_pb2_grpc as pb_grpc

from services.common.errors import ErrorReason, UnavailableError
from services.common.rpc.main import running_server
from services.common.settings import ServerSettings, Settings, StoreSettings, TelemetrySettings
from services.dag.compose import ROLES, SERVICE, build
from services.dag.master_keys import add_key
from tests.each import each
from tests.fakes.dag_world import Client


@asynccontextmanager
async def process(folder):
    settings = Settings(
        server=ServerSettings(port=0, insecure_local=True, drain_grace_s=5),
        store=StoreSettings(data_dir=folder),
        telemetry=TelemetrySettings(http_port=0),
    )
    async with running_server("dag", build, settings) as server:
        channel = grpc.aio.insecure_channel(server.address)
        yield Client(pb_grpc.SessionServiceStub(channel))
        await channel.close()


async def test_a_session_outlives_its_process(tmp_path):
    async with process(tmp_path) as client:
        first = await client.window(text="Über 500 €.")
        opened = await client.open(first.session_token)
    key = tmp_path / "keys" / "master-1.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    async with process(tmp_path) as client:
        second = await client.commit(opened, "Zweite Antwort.", risk="MEDIUM")
        assert second.chain_integrity == taxonomy.CHAIN_INTEGRITY_VALID
        third = await client.window(second.session_token)
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
        assert (verified.integrity, verified.windows_verified) == (taxonomy.CHAIN_INTEGRITY_VALID, 3)
        assert verified.tips == [third.window.hmac]
        report = await client.call("GetReport", pb.GetReportRequest(report_id=second.report_id))
        assert report.report.hmac == second.window.hmac


async def test_nothing_is_done_without_the_master_key_of_the_sessions(tmp_path):
    async with process(tmp_path) as client:
        first = await client.window()
    keys = tmp_path / "keys"
    own = (keys / "master-1.key").read_text(encoding="ascii")
    (keys / "master-1.key").unlink()
    for make_key in (lambda: None, lambda: add_key(keys)):
        make_key()
        with pytest.raises(UnavailableError) as refused:
            async with process(tmp_path):
                pass
        assert refused.value.reason is ErrorReason.MASTER_KEY_MISMATCH
    (keys / "master-1.key").write_text(own, encoding="ascii")
    async with process(tmp_path) as client:
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
        assert verified.integrity == taxonomy.CHAIN_INTEGRITY_VALID


async def test_a_row_changed_behind_the_services_back_is_named(tmp_path):
    import sqlite3

    async with process(tmp_path) as client:
        first = await client.window()
        second = await client.window(first.session_token)
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        changed = database.execute(
            "UPDATE windows SET safety_budget = 0.5 WHERE window_id = ?", (second.window.window_id,)
        ).rowcount
    database.close()
    assert changed == 1
    async with process(tmp_path) as client:
        verified = await client.call("VerifyChain", pb.VerifyChainRequest(session_id=first.session.session_id))
        assert (verified.fault.record_kind, verified.fault.record_id) == ("window", second.window.window_id)
        assert verified.fault.detail == "differs from its latest event in safety_budget"


@each("name", sorted(ROLES))
def test_every_rpc_of_the_contract_is_served(name):
    methods = pb.DESCRIPTOR.services_by_name["SessionService"].methods_by_name
    assert name in methods
    assert set(methods) == set(ROLES)
    assert SERVICE == "crp.dag.v1.SessionService"
