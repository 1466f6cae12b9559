"""Trying a policy on 10,000 stored windows: processor time, and time on the clock, of the whole suite in one process.

    python -m bench.policy_trial [--windows 10000]

One question is really answered from the handbook; its report, with its claims and its analysis inputs, is sealed and
stored under as many ids. Then AdminService.TryTenantPolicy judges them, as `groundtrail policy try` does (ADR 0152).
"""

import argparse
import asyncio
import os
import tempfile
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Final

from crp.gateway.v1 import admin_service_pb2 as admin
from crp.gateway.v1 import dispatch_service_pb2 as dispatch

from bench.report import Row, show
from services.cli.commands.demo import conversation
from services.cli.commands.ingest import Terms, documents, ingest_all
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.common.composition import Adapters
from services.common.ports.sessions import ReportRecord, SessionChange, SessionRecord, SessionSnapshot
from services.common.resources import resource_path
from services.common.settings import Settings, TelemetrySettings
from services.common.settings.stores import StoreSettings
from services.common.telemetry.logs import configure_logs
from services.dag.master_keys import usable_master_keys
from services.dag.sealed_store import SealedSessionStore
from services.dag.sealing import Sealer

POLICY: Final = "halt-on HIGH; require-grounding 0.80; warn-on MEDIUM"
TIMEOUT_S: Final = 600.0
BOUND_S: Final = 10.0
PER_CHANGE: Final = 500
DOCUMENTS: Final = 4
TENANT: Final = "default"
"""Of the command's own key."""


async def measure(windows: int, folder: Path) -> list[Row]:
    """Return what a trial over so many windows takes."""
    settings = Settings(store=StoreSettings(data_dir=folder, synchronous="NORMAL"))
    async with connect(settings) as suite:
        session_id = await _answered(suite)
    size = await _copies(settings, session_id, windows)
    async with connect(settings) as suite:
        began, spent = time.perf_counter(), time.process_time()
        request = admin.TryTenantPolicyRequest(safety_policy=POLICY, max_windows=windows)
        trial = await suite.call(suite.admin.TryTenantPolicy, request, timeout_s=TIMEOUT_S)
        took, spent = time.perf_counter() - began, time.process_time() - spent
    if trial.windows != windows or trial.unreadable:
        raise SystemExit(f"{trial.windows} windows were judged, {trial.unreadable} of them unreadable")
    told = f"{windows:,} windows, reports of {size / 1024:.0f} KiB, inputs included"
    bound = BOUND_S * windows / 10_000
    return [
        Row("a policy tried, processor", spent, "s", f"{bound:g} s", bound / spent, 1.0, told),
        Row("a policy tried, clock", took, "s", f"{bound:g} s", bound / took, note=f"load {os.getloadavg()[0]:.1f}"),
        Row("processor of one window", 1e3 * spent / windows, "ms"),
    ]


async def _answered(suite: Suite) -> str:
    """Ask a question of the handbook; the session of its answer."""
    terms = Terms("SOURCE_TYPE_INTERNAL")
    await ingest_all(suite, documents([resource_path("examples/handbook")])[:DOCUMENTS], terms, Output(as_json=True))
    request = dispatch.DispatchRequest(request_id=str(uuid.uuid4()), query=conversation()[0])
    response: dispatch.DispatchResponse = await suite.call(suite.dispatch.Dispatch, request, timeout_s=TIMEOUT_S)
    return response.answer.session_id


async def _copies(settings: Settings, session_id: str, windows: int) -> int:
    """Store the session's report under further ids, in the tenant's other sessions; its size in bytes."""
    async with Adapters(settings) as adapters:
        inner = await adapters.session_store()
        master_keys = await usable_master_keys(settings.dag, settings.store.data_dir, adapters.clock, inner)
        store = SealedSessionStore(inner, Sealer(master_keys))
        found = await store.snapshot(TENANT, session_id)
        if found is None:
            raise SystemExit("the answered session is not in the store")
        (report,) = await store.page_reports(TENANT, session_id, after="", limit=2)
        if not isinstance(report, ReportRecord):
            raise report
        for start in range(1, windows, PER_CHANGE):
            count = min(PER_CHANGE, windows - start)
            await store.write(_change(found, report, start, count))
        return len(report.body) + len(report.inputs)


def _change(found: SessionSnapshot, report: ReportRecord, start: int, count: int) -> SessionChange:
    session: SessionRecord = replace(found.session, session_id=f"crp_sess_{start:032d}", version=1)
    reports = tuple(
        replace(report, session_id=session.session_id, report_id=str(uuid.uuid4()), window_id=f"crp_win_{number:016d}")
        for number in range(start, start + count)
    )
    return SessionChange(session, reports=reports)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=10_000)
    arguments = parser.parse_args()
    configure_logs(TelemetrySettings(log_level="warning"))
    with tempfile.TemporaryDirectory() as folder:
        show("Trying a policy", asyncio.run(measure(arguments.windows, Path(folder))))


if __name__ == "__main__":
    main()
