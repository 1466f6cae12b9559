"""``groundtrail policy show | set | try``: the tenant's safety policy (CRP-SPEC-006 facts; ADR 0152)."""

import time
import uuid
from typing import Final

from crp.gateway.v1 import admin_pb2
from crp.gateway.v1 import admin_service_pb2 as service

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.common.settings import Settings

_SHOWN: Final = 20
_NONE: Final = "-"


async def show(settings: Settings, output: Output) -> Exit:
    """Show the policy."""
    async with connect(settings, Part.ADMIN) as suite:
        found: service.GetTenantPolicyResponse = await suite.call(
            suite.admin.GetTenantPolicy, service.GetTenantPolicyRequest()
        )
    _tell(found.policy, output)
    output.result(render.response_json(found.policy))
    return Exit.OK


async def set_policy(
    settings: Settings, output: Output, directives: str, sink_hosts: list[str] | None, expected_version: int | None
) -> Exit:
    """Set the policy; hosts and residency that are not named stay."""
    async with connect(settings, Part.ADMIN) as suite:
        found: service.GetTenantPolicyResponse = await suite.call(
            suite.admin.GetTenantPolicy, service.GetTenantPolicyRequest()
        )
        policy = found.policy
        version = policy.version if expected_version is None else expected_version
        policy.safety_policy = directives
        if sink_hosts is not None:
            del policy.allowed_sink_hosts[:]
            policy.allowed_sink_hosts.extend(host for host in sink_hosts if host != _NONE)
        request = service.SetTenantPolicyRequest(request_id=str(uuid.uuid4()), policy=policy, expected_version=version)
        kept: service.SetTenantPolicyResponse = await suite.call(suite.admin.SetTenantPolicy, request)
    _tell(kept.policy, output)
    output.result(render.response_json(kept.policy))
    return Exit.OK


async def try_policy(settings: Settings, output: Output, directives: str, limit: int) -> Exit:
    """Say what a policy would have done to stored windows."""
    request = service.TryTenantPolicyRequest(safety_policy=directives, max_windows=limit)
    async with connect(settings, Part.SESSIONS, Part.ADMIN) as suite:
        began = time.monotonic()
        tried: service.TryTenantPolicyResponse = await suite.call(suite.admin.TryTenantPolicy, request)
        took_s = time.monotonic() - began
    output.say(
        f"of {tried.windows} stored windows {tried.halted} would have been halted, {tried.held} held for review, "
        f"{tried.warned} delivered with a warning; {tried.unreadable} were erased or cannot be read ({took_s:.1f} s)"
    )
    rows: list[tuple[str, ...]] = [
        (f"{one.session_id}\n{one.window_id}", one.report_id, one.halt_reason) for one in tried.withheld[:_SHOWN]
    ]
    if rows:
        output.table(f"The first {len(rows)} withheld", ("session, window", "report", "why"), rows)
    output.result(render.response_json(tried))
    return Exit.OK


def _tell(policy: admin_pb2.TenantPolicy, output: Output) -> None:
    output.say(policy.safety_policy or "no policy: the deployment's default holds where a request names none")
    output.say(f"version {policy.version}", style="dim")
    if policy.allowed_sink_hosts:
        output.say(f"reports may go to {', '.join(policy.allowed_sink_hosts)}", style="dim")
